"""Step 5: the average rank of each solver, and its place on a scale from 0 to 1."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.method.cells import RankCells

    Floats = NDArray[np.float64]

_LEAST_WEIGHT = 0.0196  # of a place of .02 or .98


@dataclass(frozen=True)
class Sums:
    """The cells of each solver, summed by judge or by problem; all of shape (units, solvers)."""

    count: NDArray[np.int64]
    rank: Floats
    place: Floats

    @property
    def places(self) -> Floats:
        """The mean place of each solver in each unit; NaN without cells."""
        return self.place / np.where(self.count > 0, self.count, np.nan)


@dataclass(frozen=True)
class Averages:
    """The input of the fit; of shape (n_solvers,), or (studies, n_solvers)."""

    called: ClassVar[str] = "average rank"
    solvers: tuple[str, ...]
    kinds: tuple[str, ...]
    years: Floats  # NaN for all but subjects
    rank: Floats  # average rank; NaN for a solver without ranks
    place: Floats  # mean place, (rank - 1/2)/N
    n_ranks: NDArray[np.int64]  # 0 where averages were computed elsewhere
    # None where cells are unknown, or not averaged one by one
    problems: Sums | None = None
    judges: Sums | None = None

    def of_kind(self, kind: str) -> NDArray[np.int64]:
        """The indices of the solvers of a kind that have an average."""
        is_kind = np.array([one == kind for one in self.kinds], dtype=bool)
        return np.flatnonzero(is_kind & np.isfinite(self.rank))

    @property
    def z(self) -> Floats:
        """The logit of the place: an unbounded scale."""
        with np.errstate(divide="ignore"):
            return np.log(self.place / (1 - self.place))

    @property
    def weight(self) -> Floats:
        """The weight w = p(1 - p); the variance of a place is proportional to w, of z to 1/w."""
        return np.clip(self.place * (1 - self.place), _LEAST_WEIGHT, None)


def averages_beside(cells: RankCells, averages: Averages, solver: int) -> Averages:
    """Averages of judges' own ranks over the rankings that include a solver.

    So all have the same judges; an adjustment by machines would hide how uneven a solver is.
    """
    held = np.zeros(cells.n_groups, dtype=bool)
    held[cells.group[cells.solver == solver]] = True
    if held.all() and cells.score is cells.adjusted:
        return averages
    kept = cells.keep(held[cells.group])
    return average_cells(replace(kept, score=kept.adjusted), averages.years)


def average_cells(cells: RankCells, years: Floats) -> Averages:
    """Average ranks and places over the cells of each solver.

    Shapes: `years` (n_solvers,).
    """
    n, place = len(cells.solvers), cells.place

    def sums(unit: NDArray[np.int64], n_units: int) -> Sums:
        key, size = unit * n + cells.solver, n_units * n
        count = np.bincount(key, minlength=size).reshape(n_units, n)
        rank, places = (
            np.asarray(np.bincount(key, values, size), dtype=np.float64).reshape(n_units, n)
            for values in (cells.score, place)
        )
        return Sums(count, rank, places)

    problems = sums(cells.problem, len(cells.problems))
    judges = sums(cells.judge, len(cells.judges))
    count = problems.count.sum(axis=0)
    divisor = np.where(count > 0, count, np.nan)
    rank, mean_place = (of.sum(axis=0) / divisor for of in (problems.rank, problems.place))
    # Adjustments by machine judges do not exceed the first or the last rank.
    end = np.bincount(cells.solver, 0.5 / cells.size, n) / divisor
    averages = (rank, np.clip(mean_place, end, 1 - end), count, problems, judges)
    return Averages(cells.solvers, cells.kinds, years, *averages)
