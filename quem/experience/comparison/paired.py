"""What two systems got in the same rankings, judge by judge and problem by problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.cells import Cells

__all__ = ["Paired", "pair_up"]


@dataclass(frozen=True)
class Paired:
    """Two systems a and b, wherever a judge ranked both in one group.

    Parameters
    ----------
    judges, problems : tuple of str
        Those with such a ranking, in the order of the study.
    difference : array of float, shape (n_judges, n_problems)
        Score of b less score of a; NaN where a judge did not rank both. The mean over the
        blocks where there are several.
    won : array of float, shape (n_judges, n_problems)
        1 where the judge put b above a, 0 below, 1/2 for a tie; NaN as above.
    alone : int
        Rankings that hold one of the two and not the other.
    """

    judges: tuple[str, ...]
    problems: tuple[str, ...]
    difference: NDArray[np.float64]
    won: NDArray[np.float64]
    alone: int

    @property
    def n_cells(self) -> int:
        """Pairs of judge and problem with a ranking of both."""
        return int(np.isfinite(self.difference).sum())

    @property
    def by_problem(self) -> NDArray[np.float64]:
        """D_p: mean over the judges of the difference on each problem, shape (n_problems,)."""
        return np.asarray(np.nanmean(self.difference, axis=0))

    @property
    def mean(self) -> float:
        """D-bar: the mean of D_p over the problems; NaN where the two never met."""
        return float(self.by_problem.mean()) if self.problems else float("nan")

    @property
    def share_won(self) -> float:
        """The share of cells in which b is above a, ties one half; NaN where they never met."""
        return float(np.nanmean(self.won)) if self.problems else float("nan")

    @property
    def share_won_by_problem(self) -> NDArray[np.float64]:
        """The same for each problem, shape (n_problems,)."""
        return np.asarray(np.nanmean(self.won, axis=0))


def pair_up(cells: Cells, a: str, b: str) -> Paired:
    """Find the rankings that hold both systems, and how far apart they are in each.

    Parameters
    ----------
    cells : Cells
        Whose scores are compared. Who is above whom is read off the order that the judge
        gave, which no setting changes.
    a, b : str
        Ids of two solvers.
    """
    of_a, of_b = (
        np.flatnonzero((cells.solver == cells.solvers.index(name)) & np.isfinite(cells.score))
        for name in (a, b)
    )
    _, in_a, in_b = np.intersect1d(cells.group[of_a], cells.group[of_b], return_indices=True)
    rows_a, rows_b = of_a[in_a], of_b[in_b]
    judges, judge = np.unique(cells.judge[rows_a], return_inverse=True)
    problems, problem = np.unique(cells.problem[rows_a], return_inverse=True)
    given_a, given_b = cells.given[rows_a], cells.given[rows_b]
    above = np.where(given_a == given_b, 0.5, given_b > given_a)
    shape = (len(judges), len(problems))
    key = judge * shape[1] + problem
    count = np.bincount(key, minlength=shape[0] * shape[1])

    def mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.bincount(key, values, minlength=len(count))
        with np.errstate(invalid="ignore"):
            return (total / count).reshape(shape)

    return Paired(
        tuple(cells.judges[i] for i in judges),
        tuple(cells.problems[i] for i in problems),
        mean(cells.score[rows_b] - cells.score[rows_a]),
        mean(above),
        len(of_a) + len(of_b) - 2 * len(rows_a),
    )
