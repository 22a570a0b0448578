"""Variance components of ranks, and how much of them is left in each solver's average.

A rank is taken to vary with the solver, the solver on this problem (solution), the solver as this
judge sees them (taste), and the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import NDArray

    from quem.experience.cells import RankCells

    Floats = NDArray[np.float64]
    Spread = tuple[Floats, Floats, Floats]


@dataclass(frozen=True)
class Components:
    """What cells that differ in their judge, their problem, or both have unlike.

    A quarter of the mean squared change of the difference of two solvers from one cell to
    another; NaN where no two cells differ in that way.
    """

    of_judges: Floats  # of shape (...): same problem, other judge: rest + taste
    of_problems: Floats  # of shape (...): same judge, other problem: rest + solution
    of_both: Floats  # of shape (...): other judge and problem: rest + solution + taste

    @property
    def solution(self) -> Floats:
        """The variance of a solver over problems; 0 where it cannot be separated from the rest."""
        return _known(self.of_both - self.of_judges)

    @property
    def taste(self) -> Floats:
        """The variance of a solver over judges; 0 where it cannot be separated from the rest."""
        return _known(self.of_both - self.of_problems)

    @property
    def rest(self) -> Floats:
        """What is left, with what cannot be separated from it."""
        each = self.of_judges + self.of_problems - self.of_both
        alone = np.where(np.isnan(self.of_judges), self.of_problems, self.of_judges)
        return _known(np.where(np.isnan(each), alone, each))


def _known(variance: Floats) -> Floats:
    """Count less than nothing, and what is unknown, as 0."""
    return np.fmax(variance, 0.0)


def components(ranks: Floats) -> Components:
    r"""Estimate variance components by moments, for one study or many.

    In the difference of two solvers everything drops out that a judge's ranking of a problem has
    for both. Means are over all pairs of solvers and of cells that have both. Where no rank is
    missing this gives the estimates of the three-way analysis of variance (Searle, Casella &
    McCulloch 1992); where some are, each mean stays unbiased.

    Shapes: `ranks` (..., judges, problems, solvers).
    """
    of_judge = _moments(ranks)
    of_problem = _moments(np.swapaxes(ranks, -3, -2))
    every = [moment.sum(axis=-3, keepdims=True) for moment in of_problem]
    same_judge, same_problem, pairs = (
        _changes(*moments) for moments in (of_judge, of_problem, every)
    )
    totals = np.stack([same_problem, same_judge, pairs - same_problem - same_judge])
    changed, count = totals[..., 0], totals[..., 1]
    return Components(*np.where(count > 0, changed / np.maximum(count, 1) / 4, np.nan))


def _moments(ranks: Floats) -> tuple[Floats, Floats, Floats]:
    """Count the cells of each two solvers in a group, and sum their differences and squares.

    Each of shape (..., groups, solvers, solvers).
    """
    held = np.isfinite(ranks).astype(np.float64)
    # Close to 0, so that sums of squares lose no digits.
    center = np.nansum(ranks) / max(held.sum(), 1)
    values = np.where(held > 0, ranks - center, 0.0)
    across = np.swapaxes(held, -2, -1)
    sums, squares = across @ values, across @ values**2
    both = np.swapaxes(values, -2, -1) @ values
    return (
        across @ held,
        np.swapaxes(sums, -2, -1) - sums,
        squares + np.swapaxes(squares, -2, -1) - 2 * both,
    )


def _changes(count: Floats, total: Floats, squares: Floats) -> Floats:
    """Sum the squared changes over all pairs of cells; with how many these are, shape (..., 2)."""
    axes = (-3, -2, -1)
    changed = (count * squares - total**2).sum(axis=axes)
    # The difference of a solver with themselves changes by 0, and is no pair.
    pairs = count * (count - 1)
    own = np.trace(pairs, axis1=-2, axis2=-1).sum(axis=-1)
    return np.stack([changed / 2, (pairs.sum(axis=axes) - own) / 4], axis=-1)


@dataclass(frozen=True)
class Incidence:
    """On which problems, and by which judges, each solver was ranked."""

    problems: NDArray[np.int64]  # of shape (..., problems, solvers): the number of cells
    judges: NDArray[np.int64]  # of shape (..., judges, solvers)

    @staticmethod
    def of(ranks: Floats) -> Incidence:
        """Count the ranks, shape (..., judges, problems, solvers), that are not NaN."""
        held = np.isfinite(ranks)
        return Incidence(held.sum(axis=-3), held.sum(axis=-2))

    @property
    def spread(self) -> Spread:
        r"""How evenly the cells of each solver spread over problems, judges, and both.

        :math:`\sum_p (c_{sp}/c_s)^2`, :math:`\sum_j (c_{sj}/c_s)^2` and :math:`1/c_s`, shape
        (..., solvers); NaN for a solver without cells.
        """
        count = self.problems.sum(axis=-2)
        return _spread(count, *((of**2).sum(axis=-2) for of in (self.problems, self.judges)))

    @property
    def is_uneven(self) -> bool:
        """Whether some solvers who were ranked have more cells than others, or other ones."""
        spread = np.stack(self.spread)
        spread = spread[:, np.isfinite(spread[0])]
        return bool(spread.size) and not np.allclose(spread, spread[:, :1])


def _spread(
    count: NDArray[np.int64], problems: NDArray[np.int64], judges: NDArray[np.int64]
) -> Spread:
    """Divide sums of squared counts by the squares of the counts of all cells."""
    with np.errstate(invalid="ignore", divide="ignore"):
        all_cells = np.where(count > 0, count, np.nan)
        return problems / all_cells**2, judges / all_cells**2, 1 / all_cells


def spread_without(
    cells: RankCells, what: Literal["judge", "problem"], incidence: Incidence
) -> Spread:
    """Give the spread of each solver's cells without each judge, or without each problem."""
    known = np.isfinite(cells.score)
    judge, problem, solver = (of[known] for of in (cells.judge, cells.problem, cells.solver))
    n = len(cells.solvers)
    own, other = incidence.judges, incidence.problems
    codes, others = judge, problem
    if what == "problem":
        own, other, codes, others = other, own, others, codes
    met = np.bincount(codes * n + solver, other[others, solver], minlength=own.size)
    squares = (own**2).sum(axis=0) - own**2
    # A cell counts once with the others that it leaves.
    crossed = (other**2).sum(axis=0) - 2 * met.reshape(own.shape) + own
    count = own.sum(axis=0) - own
    return _spread(count, *((crossed, squares) if what == "judge" else (squares, crossed)))


def average_variances(of: Components, spread: Spread) -> Floats:
    r"""Give the variance of each solver's average that comes from problems and judges.

    :math:`v_s = \sigma^2_{SP} A_s + \sigma^2_{SJ} B_s + \sigma^2_E E_s`, with the spread of
    the solver's cells.

    Shapes: `spread` (..., solvers).
    """
    parts = zip((of.solution, of.taste, of.rest), spread, strict=True)
    return np.asarray(sum(variance[..., np.newaxis] * share for variance, share in parts))
