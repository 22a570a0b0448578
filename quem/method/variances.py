"""Variance of places by problem and judge, and of a system beyond subjects.

A variance of places is stated as a dispersion: divided by w = p(1 - p), to which it is
proportional.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quem.method.averages import averages_beside

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.method.averages import Averages
    from quem.method.cells import RankCells

    Floats = NDArray[np.float64]

# From this ratio of standard deviations on, a single level describes a system poorly.
TWICE = 2.0
_LARGEST = 20_000_000  # cells of a table of places
_ROUNDING = 1e-12


class Components(NamedTuple):
    """Variances of places; each of shape (...), for one study or many."""

    solution: Floats  # of a solver over problems
    taste: Floats  # of a solver over judges
    rest: Floats


class Variance(NamedTuple):
    """A dispersion with its degrees of freedom: scalars, or arrays over studies."""

    value: Any
    df: Any


NONE = Variance(0.0, 1.0)


@dataclass(frozen=True)
class Variation:
    """The variance of a system's average beyond that of subjects, by component."""

    incidence: Variance = NONE  # of fewer or less evenly spread cells than subjects have
    problems: Variance = NONE
    judges: Variance = NONE
    more: tuple[Variance, ...] = ()  # from parts
    # SD ratio of system to subjects; None where unknown
    ratio_problems: float | None = None
    ratio_judges: float | None = None
    own: Variance = NONE  # of the average, by its cells alone

    @property
    def added(self) -> Variance:
        """The sum, with degrees of freedom by Welch and Satterthwaite."""
        return total([self.incidence, self.problems, self.judges, *self.more])

    @property
    def error(self) -> Variance:
        """The variance of a typical system's average, without the person component."""
        return total([self.own, self.problems, self.judges, *self.more])

    @property
    def is_uneven(self) -> bool:
        """Whether years on the paper's line would claim too much."""
        ratios = (self.ratio_problems or 0.0, self.ratio_judges or 0.0)
        beyond = total([self.incidence, *self.more]).value
        return beyond > 0 or max(ratios) >= TWICE


def total(parts: list[Variance]) -> Variance:
    """Sum of variances, also of many studies; degrees of freedom by Welch and Satterthwaite."""
    value = np.sum([part.value for part in parts], axis=0)
    squares = np.sum([part.value**2 / part.df for part in parts], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Variance(value, np.where(value > 0, value**2 / squares, np.inf)[()])


def variations(
    cells: RankCells | None, averages: Averages, solvers: NDArray[np.int64] | None = None
) -> dict[str, Variation]:
    """The variation of each ranked system, or of other solvers, by id.

    Shapes: `solvers` (n,): indices.
    """
    problems, judges = averages.problems, averages.judges
    people = averages.of_kind("subject")
    systems = averages.of_kind("system") if solvers is None else solvers
    if cells is None or problems is None or judges is None:
        return {averages.solvers[k]: Variation() for k in systems}
    weight = averages.weight
    of = components(place_table(cells, people))
    count = averages.n_ranks.astype(np.float64)
    count[count == 0] = np.nan
    spread = (
        (problems.count**2).sum(axis=0) / count**2,
        (judges.count**2).sum(axis=0) / count**2,
        1 / count,
    )
    parts = zip(of, spread, strict=True)
    phi = np.asarray(sum(v * share for v, share in parts)) / weight[people].mean()
    usual = phi[people].mean()
    n, is_person = len(people), np.isin(np.arange(len(weight)), people)
    n_problems, n_judges = (int((s.count > 0).any(axis=1).sum()) for s in (problems, judges))
    df_incidence = n * max(n_judges - 1, 1)
    df_own = df_incidence * max(n_problems - 1, 1)
    found = {}
    for k in systems.tolist():
        lacking = phi[k] - usual if averages.n_ranks[k] < cells.n_groups else 0.0
        own = averages_beside(cells, averages, k)
        (more_problems, by_problems), (more_judges, by_judges) = (
            excess(sums.places, weight, is_person, k) for sums in (own.problems, own.judges) if sums
        )
        found[averages.solvers[k]] = Variation(
            Variance(lacking if lacking > _ROUNDING else 0.0, df_incidence),
            more_problems,
            more_judges,
            ratio_problems=None if np.isnan(by_problems) else float(by_problems),
            ratio_judges=None if np.isnan(by_judges) else float(by_judges),
            own=Variance(float(phi[k]), df_own),
        )
    return found


@np.errstate(divide="ignore", invalid="ignore")
def excess(
    means: Floats, weight: Floats, is_person: NDArray[np.bool_], k: int
) -> tuple[Variance, Floats]:
    """A system's variance over units beyond that of subjects, and the ratio (NaN: unknown).

    Shapes: `means` (..., units, solvers), NaN where missing; `weight`, `is_person` (..., solvers).
    """
    held = np.isfinite(means).sum(axis=-2)
    off = means - (np.nansum(means, axis=-2) / held)[..., np.newaxis, :]
    squares = np.nansum(off**2, axis=-2) / weight
    of_people = np.where(is_person & (held > 1), held - 1, 0)
    own = squares[..., k] / (held[..., k] - 1)
    usual = np.where(of_people > 0, squares, 0).sum(axis=-1) / of_people.sum(axis=-1)
    known = (held[..., k] > 1) & ~np.isnan(usual)
    own, usual = (np.where(value > _ROUNDING, value, 0.0) for value in (own, usual))
    more = np.where(known, np.maximum(0.0, own - usual) / held[..., k], 0.0)
    ratio = np.where(known, np.sqrt(own / usual), np.nan)
    return Variance(more[()], np.maximum(held[..., k] - 1, 1)), ratio


def place_table(cells: RankCells, solvers: NDArray[np.int64]) -> Floats:
    """Places as a table (judges, problems, solvers), NaN where missing.

    Limited to the first problems if the table would take too much memory.
    """
    judges, problems, n = len(cells.judges), len(cells.problems), len(solvers)
    most = max(2, _LARGEST // max(judges * n, 1))
    at = np.full(len(cells.solvers), -1)
    at[solvers] = np.arange(n)
    rows = np.flatnonzero((at[cells.solver] >= 0) & (cells.problem < most))
    table = np.full((judges, min(problems, most), n), np.nan)
    table[cells.judge[rows], cells.problem[rows], at[cells.solver[rows]]] = cells.place[rows]
    return table


def components(places: Floats) -> Components:
    r"""Variance components by the method of moments, for one study or many.

    The difference of two solvers cancels all effects of a judge's ranking of a problem. Means are
    over all pairs of solvers and of their common cells. For complete data this gives the estimates
    of the three-way analysis of variance (Searle, Casella & McCulloch 1992); with missing cells,
    each mean stays unbiased.

    Shapes: `places` (..., judges, problems, solvers).
    """
    of_judge = _moments(places)
    of_problem = _moments(np.swapaxes(places, -3, -2))
    every = [moment.sum(axis=-3, keepdims=True) for moment in of_problem]
    same_judge, same_problem, pairs = (
        _changes(*moments) for moments in (of_judge, of_problem, every)
    )
    totals = np.stack([same_problem, same_judge, pairs - same_problem - same_judge])
    changed, count = totals[..., 0], totals[..., 1]
    # A quarter of the mean squared change of the difference of two solvers from cell to cell.
    other_judge, other_problem, both = np.where(
        count > 0, changed / np.maximum(count, 1) / 4, np.nan
    )
    rest = other_judge + other_problem - both
    alone = np.where(np.isnan(other_judge), other_problem, other_judge)
    rest = np.where(np.isnan(rest), alone, rest)
    # Replace negative and unidentified components by 0.
    return Components(*(np.fmax(v, 0.0) for v in (both - other_judge, both - other_problem, rest)))


def _moments(places: Floats) -> tuple[Floats, Floats, Floats]:
    """Number, summed differences, and squares of the common cells of each pair of solvers.

    Each of shape (..., groups, solvers, solvers).
    """
    held = np.isfinite(places).astype(np.float64)
    # Centered, so that sums of squares lose no digits.
    center = np.nansum(places) / max(held.sum(), 1)
    values = np.where(held > 0, places - center, 0.0)
    across = np.swapaxes(held, -2, -1)
    sums, squares = across @ values, across @ values**2
    both = np.swapaxes(values, -2, -1) @ values
    return (
        across @ held,
        np.swapaxes(sums, -2, -1) - sums,
        squares + np.swapaxes(squares, -2, -1) - 2 * both,
    )


def _changes(count: Floats, sums: Floats, squares: Floats) -> Floats:
    """The summed squared changes over all pairs of cells, and their number, shape (..., 2)."""
    axes = (-3, -2, -1)
    changed = (count * squares - sums**2).sum(axis=axes)
    # Exclude pairs of a solver with itself, whose change is 0.
    pairs = count * (count - 1)
    own = np.trace(pairs, axis1=-2, axis2=-1).sum(axis=-1)
    return np.stack([changed / 2, (pairs.sum(axis=axes) - own) / 4], axis=-1)
