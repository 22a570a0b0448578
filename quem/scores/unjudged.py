"""Unjudged cases: bounds of a mean difference, and which cases to judge.

The unjudged cases of two systems are those that either lists within the measure's cutoff, and that
the judgments lack; for R and nDCG those listed beyond as well, since an ideal list has them. Each
could have any grade from 0 to the highest. Queries are independent, so the extremes of the mean
are the means of the extremes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quem.lists.ragged import Ragged
from quem.scores.bounds import Problem, Scale, Side, greatest, scale_of, weights_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quem.lists.lists import Lists
    from quem.lists.measure import Measure
    from quem.scores.scoring import Scored

    Floats = NDArray[np.float64]
    Places = NDArray[np.integer]

# Limits per query and in total of cases whose single effect is computed, by decreasing weight;
# lower for queries with many cases.
_MOST_TRIED, _MOST_ROWS, _MOST_CELLS = 20, 20_000, 1_000_000
# Limit of cases that are worth judging to settle a claim.
MOST_JUDGED, _MOST_NAMED = 10_000, 1000
_ROUNDING = 1e-9


class Case(NamedTuple):
    """An unjudged case."""

    query: str
    case: str


class ToJudge(NamedTuple):
    """Cases that settle the sign of a mean difference if they are judged not relevant."""

    n: int | None  # None where more than `MOST_JUDGED` would be needed
    cases: list[Case]  # the first 1,000, by decreasing effect


class _Told(NamedTuple):
    """The cases with the greatest effect in some queries, of shape (c,) each."""

    part: Places
    case: Places
    helps: Floats  # shift of the nearer end if judged alone as not relevant
    weight: Floats


@dataclass(frozen=True)
class _Part:
    """The unjudged cases of some queries."""

    query: Places  # of shape (u,): of each case, ascending
    item: Places  # of shape (u,): index into the first system's items, then the second's
    rows: Places  # of shape (q,): queries with unjudged cases
    row: Places  # of shape (u,): index of each case's query in these
    problem: Problem  # of these
    cell: Places  # of shape (u,): column of each case in the problem; -1 without a weight

    def told(self, number: int, scale: Scale, worst: Problem, most: int) -> _Told:
        """The cases with the greatest effect; computed for the `most` with the highest weights."""
        row, with_cell = self.row, self.cell >= 0
        helps, weight = np.zeros((2, len(row)))
        cells = row[with_cell], self.cell[with_cell]
        weight[with_cell] = np.maximum(worst.first.best[cells], worst.second.best[cells])
        before = greatest(scale, worst)
        tried = np.lexsort((-weight, row))
        tried = tried[np.arange(len(row)) - np.searchsorted(row, row) < _MOST_TRIED]
        tried = tried[with_cell[tried]]
        tried = tried[np.argsort(-weight[tried], kind="stable")[:most]]
        if len(tried):
            each = worst.only(row[tried])
            each.there[np.arange(len(tried)), self.cell[tried]] = False
            helps[tried] = np.nan_to_num(before[row[tried]] - greatest(scale, each))
        if not with_cell.all():
            after = greatest(scale, replace(worst, spare=np.zeros_like(worst.spare)))
            share = np.nan_to_num(before - after) / np.maximum(worst.spare, 1)
            helps[~with_cell] = share[row[~with_cell]]
        case = np.lexsort((-weight, -helps))[:MOST_JUDGED]
        return _Told(np.full(len(case), number), case, helps[case], weight[case])

    def judged(self, scale: Scale, worst: Problem, cases: Places) -> tuple[Places, Floats]:
        """The greatest differences of queries once cases are not relevant; NaN where known."""
        changed, at = np.unique(self.row[cases], return_inverse=True)
        cell, weighs = self.cell[cases], self.cell[cases] >= 0
        part = worst.only(changed)
        part.there[at[weighs], cell[weighs]] = False
        part.spare[:] -= np.bincount(at[~weighs], minlength=len(changed))
        is_open = part.there.any(axis=1) | (part.spare > 0)
        return self.rows[changed], np.where(is_open, greatest(scale, part), np.nan)


@dataclass(frozen=True)
class Unjudged:
    """The unjudged cases of two systems, and the bounds of the difference."""

    scale: Scale
    now: Floats  # of shape (queries,): the current difference; NaN where undefined
    listed: tuple[Lists, Lists]
    parts: tuple[_Part, ...]

    def __len__(self) -> int:
        """Number of unjudged cases."""
        return sum(len(part.query) for part in self.parts)

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """The least and the greatest difference of each query, shape (queries,) each."""
        low, high = self.now.copy(), self.now.copy()
        for part in self.parts:
            # Without a score now, none is possible either if no case can be relevant.
            now, problem = self.now[part.rows], part.problem
            least = -greatest(self.scale, problem.swapped())
            most = greatest(self.scale, problem)
            low[part.rows] = np.where(np.isnan(least), now, least)
            high[part.rows] = np.where(np.isnan(most), now, most)
        return low, high

    @property
    def low(self) -> float:
        """The least mean difference."""
        return -_greatest_mean(-self.now, -self.ends[0])

    @property
    def high(self) -> float:
        """The greatest mean difference."""
        return _greatest_mean(self.now, self.ends[1])

    def to_judge(self) -> ToJudge:
        """The cases to judge; empty if the sign is sure already, or there is no difference."""
        mean = float(np.nanmean(self.now)) if not np.isnan(self.now).all() else 0.0
        if abs(mean) <= _ROUNDING or self.low > _ROUNDING or self.high < -_ROUNDING:
            return ToJudge(0, [])
        sign = 1 if mean > 0 else -1
        worst = [part.problem.swapped() if sign > 0 else part.problem for part in self.parts]
        told = self._told(worst)
        least, most = 0, len(told.case)
        if most < len(self) and not self._is_sure(worst, sign, told, most):
            return ToJudge(None, [])
        while most - least > 1:
            middle = (least + most) // 2
            sure = self._is_sure(worst, sign, told, middle)
            least, most = (least, middle) if sure else (middle, most)
        return ToJudge(most, self._named(told, min(most, _MOST_NAMED)))

    def _told(self, worst: Sequence[Problem]) -> _Told:
        """The cases by decreasing effect."""
        width = max(problem.there.shape[1] for problem in worst)
        most = min(_MOST_ROWS, _MOST_CELLS // max(width, 1)) // len(worst)
        told = [
            part.told(number, self.scale, problem, most)
            for number, (part, problem) in enumerate(zip(self.parts, worst, strict=True))
        ]
        every = _Told._make(map(np.concatenate, zip(*told, strict=True)))
        order = np.lexsort((-every.weight, -every.helps))[:MOST_JUDGED]
        return _Told._make(values[order] for values in every)

    def _is_sure(self, worst: Sequence[Problem], sign: int, told: _Told, n: int) -> bool:
        """Whether the sign is sure once the first cases are judged not relevant."""
        now, ends = -sign * self.now, -sign * self.ends[0 if sign > 0 else 1]
        for number, (part, problem) in enumerate(zip(self.parts, worst, strict=True)):
            cases = told.case[:n][told.part[:n] == number]
            rows, found = part.judged(self.scale, problem, cases)
            ends[rows] = np.where(np.isnan(found), now[rows], found)
        return _greatest_mean(now, ends) < -_ROUNDING

    def _named(self, told: _Told, n: int) -> list[Case]:
        first, second = self.listed
        cases = []
        for part, case in zip(told.part[:n].tolist(), told.case[:n].tolist(), strict=True):
            query, item = int(self.parts[part].query[case]), int(self.parts[part].item[case])
            lists, at = (
                (first, item) if item < first.run.total else (second, item - first.run.total)
            )
            (name,) = lists.names.only(np.array([at])).all() if lists.names else [""]
            cases.append(Case(str(first.queries[query]), str(name)))
        return cases


def find_unjudged(
    scored: Scored, systems: Sequence[int], measure: Measure, now: Floats
) -> Unjudged | None:
    """The unjudged cases of two systems; None where the measure has no bounds."""
    first, second = (scored.lists(at) for at in systems)
    scale = scale_of(measure, first, second, scored.highest_grade)
    if scale is None:
        return None
    keys = [scored.keys(at) for at in systems]
    parts = tuple(
        _of_queries(measure, scale, (first, second), keys, queries)
        for queries in Ragged(first.run.sizes + second.run.sizes).parts()
    )
    return Unjudged(scale, now, (first, second), parts)


def _of_queries(
    measure: Measure,
    scale: Scale,
    listed: tuple[Lists, Lists],
    keys: Sequence[NDArray[np.uint64]],
    queries: slice,
) -> _Part:
    both = [one.part(queries) for one in listed]
    starts = [one.run.cells(queries).start for one in listed]
    depth = None if scale.counts_all else measure.depth
    near = [np.flatnonzero(_is_open(one, depth)) for one in both]
    of_query = np.concatenate([one.run.row[at] for one, at in zip(both, near, strict=True)])
    placed = [start + at for start, at in zip(starts, near, strict=True)]
    key = np.concatenate([own[at] for own, at in zip(keys, placed, strict=True)])
    # A case in both lists is one case.
    order = np.lexsort((key, of_query))
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (np.diff(of_query[order]) != 0) | (key[order][1:] != key[order][:-1])
    case = np.empty(len(order), dtype=np.intp)
    case[order] = np.cumsum(is_new) - 1
    query = of_query[order][is_new]
    item = np.concatenate([placed[0], placed[1] + listed[0].run.total])[order][is_new]
    cases = np.split(case, [len(near[0])])
    rows, row = np.unique(query, return_inverse=True)
    weights = [weights_of(measure, scale, one) for one in both]
    weighs = np.full(len(query), not scale.counts_all)
    for at in range(2):
        weighs[cases[at][weights[at][0][near[at]] > 0]] = True
    sizes = np.bincount(row[weighs], minlength=len(rows))
    cell = np.full(len(query), -1)
    cell[weighs] = np.arange(weighs.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    there = np.arange(int(sizes.max(initial=0))) < sizes[:, np.newaxis]

    def laid(at: int, weight: Floats) -> tuple[Floats, Floats]:
        """The weights of a system's cases in the cells, and its judged cases' contribution."""
        mine = weighs[cases[at]]
        where = cases[at][mine]
        cells = np.zeros(there.shape)
        cells[row[where], cell[where]] = weight[near[at][mine]]
        return cells, _known(scale, both[at], weight)[rows]

    def side(at: int) -> Side:
        best, worst = weights[at]
        ends = laid(at, best)
        return Side(*ends, *(ends if worst is best else laid(at, worst)))

    spare = np.bincount(row[~weighs], minlength=len(rows))
    problem = Problem(side(0), side(1), there, spare, scale.judged(both[0])[rows])
    return _Part(
        query=(query + queries.start).astype(np.int32),
        item=item.astype(np.int32),
        rows=rows + queries.start,
        row=row.astype(np.int32),
        problem=problem,
        cell=cell.astype(np.int32),
    )


def _is_open(lists: Lists, depth: int | None) -> NDArray[np.bool_]:
    """Which items are unjudged, and could be within the cutoff, shape (n,)."""
    return ~lists.known if depth is None else ~lists.known & (lists.places.first <= depth)


def _known(scale: Scale, lists: Lists, weight: Floats) -> Floats:
    """The judged cases' part of each list: a sum, or the weight of the first relevant one."""
    gained = weight * scale.gain(lists.relevance if scale.is_binary else lists.value)
    if scale.kind != "first":
        return lists.run.sum(gained)
    total = np.zeros(len(lists))
    np.maximum.at(total, lists.run.row, gained)
    return total


def _greatest_mean(now: Floats, ends: Floats) -> float:
    """The greatest mean: over the queries with a score, and others that raise it."""
    has = ~np.isnan(now)
    total, n = float(ends[has].sum()), int(has.sum())
    for end in np.sort(ends[~has & ~np.isnan(ends)])[::-1].tolist():
        if n and end <= total / n:
            break
        total, n = total + end, n + 1
    return total / n if n else float("nan")
