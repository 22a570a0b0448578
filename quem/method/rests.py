"""Influence: the judge, problem, and subject whose omission moves an estimate most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quem.errors import QuemError
from quem.method.averages import average_cells
from quem.method.line import design

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.method.averages import Averages, Sums
    from quem.method.cells import RankCells
    from quem.method.line import FormName

    Floats = NDArray[np.float64]

_FEWEST = 3
# Limit of rankings to refit, over all judges or problems that are left out in turn.
_MOST_AGAIN = 10_000_000


class LeftOut(NamedTuple):
    """Leave-one-out estimates by the paper: without each judge, problem, or subject."""

    what: str  # judge, problem, or subject
    ids: Sequence[str]
    estimates: Floats  # of shape (ids, systems); NaN where no line can be fitted


@dataclass(frozen=True)
class Rest:
    """An influential judge, problem, or subject."""

    what: str  # judge, problem, or subject
    id: str
    experience: float  # leave-one-out estimate by the paper


def rests_on(averages: Averages, form: FormName, left: Iterable[LeftOut]) -> dict[str, list[Rest]]:
    """The most influential judge, problem, and subject for the paper's estimate, by system."""
    systems = averages.of_kind("system")
    found: dict[str, list[Rest]] = {averages.solvers[k]: [] for k in systems}
    subjects = averages.of_kind("subject")
    full = _estimates(averages.rank[np.newaxis], averages.years, subjects, systems, form)[0]
    for of in left:
        moved = np.abs(of.estimates - full)
        for rests, far, own in zip(found.values(), moved.T, of.estimates.T, strict=True):
            if np.isfinite(far).any():
                at = int(np.nanargmax(far))
                rests.append(Rest(of.what, of.ids[at], float(own[at])))
    return found


def left_out(
    averages: Averages,
    form: FormName,
    cells: RankCells | None,
    again: Callable[[RankCells], Averages] | None,
) -> Iterator[LeftOut]:
    """Leave-one-out estimates by the paper: without each judge, problem, and subject.

    Averages without a judge or a problem follow from sums over cells; with `again`, they are
    recomputed from the other cells.
    """
    systems, subjects = averages.of_kind("system"), averages.of_kind("subject")
    for what, ids, ranks in _without(averages, cells, again):
        yield LeftOut(what, ids, _estimates(ranks, averages.years, subjects, systems, form))
    alone = np.tile(averages.rank, (len(subjects), 1))
    alone[np.arange(len(subjects)), subjects] = np.nan
    estimates = _estimates(alone, averages.years, subjects, systems, form)
    yield LeftOut("subject", [averages.solvers[s] for s in subjects], estimates)


def estimates_of(
    cells: RankCells,
    of: Averages,
    form: FormName,
    again: Callable[[RankCells], Averages] | None = None,
) -> Floats:
    """The paper's estimates of the systems from other cells, shape (n_systems,)."""
    ranks = _ranks_again(again, cells) if again else average_cells(cells, of.years).rank
    subjects, systems = of.of_kind("subject"), of.of_kind("system")
    return np.asarray(_estimates(ranks[np.newaxis], of.years, subjects, systems, form)[0])


def _without(
    averages: Averages,
    cells: RankCells | None,
    again: Callable[[RankCells], Averages] | None,
) -> Iterator[tuple[str, Sequence[str], Floats]]:
    """Average ranks without each judge, and without each problem: shape (units, n_solvers)."""
    if cells is None:
        return
    for what, sums in (("judge", averages.judges), ("problem", averages.problems)):
        names = cells.judges if what == "judge" else cells.problems
        if again is not None:
            if cells.n_groups > _MOST_AGAIN // 2:
                continue
            codes = cells.judge if what == "judge" else cells.problem
            units = np.flatnonzero(np.bincount(codes))
            if 1 < len(units) <= _MOST_AGAIN // cells.n_groups:
                rows = [_ranks_again(again, cells.keep(codes != unit)) for unit in units]
                yield what, [names[unit] for unit in units], np.array(rows)
        elif sums is not None:
            units = np.flatnonzero((sums.count > 0).any(axis=1))
            if len(units) > 1:
                yield what, [names[unit] for unit in units], _ranks_without(sums, units)


def _ranks_again(again: Callable[[RankCells], Averages], cells: RankCells) -> Floats:
    """Average ranks from some cells; NaN where they are not on one scale."""
    try:
        return again(cells).rank
    except QuemError:
        return np.full(len(cells.solvers), np.nan)


def _ranks_without(sums: Sums, units: NDArray[np.int64]) -> Floats:
    left = sums.count.sum(axis=0) - sums.count[units]
    total = sums.rank.sum(axis=0) - sums.rank[units]
    return np.asarray(total / np.where(left > 0, left, np.nan))


def _estimates(
    ranks: Floats,
    years: Floats,
    subjects: NDArray[np.int64],
    systems: NDArray[np.int64],
    form: FormName,
) -> Floats:
    """The paper's estimates from average ranks, shape (units, n_systems); NaN where undefined."""
    found = np.full((len(ranks), len(systems)), np.nan)
    x = ranks[:, subjects]
    known = np.isfinite(x)
    if form == "linear":
        n = known.sum(axis=1)
        highest, lowest = (np.where(known, x, none) for none in (-np.inf, np.inf))
        enough = (n >= _FEWEST) & (highest.max(axis=1) > lowest.min(axis=1))
        x, known, n = x[enough], known[enough], n[enough, np.newaxis]
        y = np.where(known, years[subjects], 0.0)
        x = np.where(known, x, 0.0)
        mean_x, mean_y = (of.sum(axis=1, keepdims=True) / n for of in (x, y))
        off = np.where(known, x - mean_x, 0.0)
        slope = (off * (y - mean_y)).sum(axis=1, keepdims=True) / (off**2).sum(
            axis=1, keepdims=True
        )
        found[enough] = mean_y + slope * (ranks[enough][:, systems] - mean_x)
        return found
    for at, (row, use) in enumerate(zip(x, known, strict=True)):
        rows = design(form, row[use])
        if len(rows) >= _FEWEST and np.linalg.matrix_rank(rows) == rows.shape[1]:
            fitted = np.linalg.lstsq(rows, years[subjects][use], rcond=None)[0]
            found[at] = design(form, ranks[at, systems]) @ fitted
    return found
