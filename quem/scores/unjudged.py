"""What unjudged cases could change: the bounds of a mean difference, and which cases to judge.

The unjudged cases of two systems are those that either lists down to where the measure looks, and
that the judgments lack; for R and nDCG those listed beyond as well, since an ideal list has them.
Each could have any grade from 0 to the highest. Queries are independent, so that the extremes of
the mean are the means of the extremes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quem.scores.bounds import Problem, Side, difference_range, greatest, scale_of, weights_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.lists.lists import Lists
    from quem.lists.measure import Measure
    from quem.scores.bounds import Scale

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

# Cases of each query, and in all, of which it is tried what judging each alone would do: those
# that weigh most; fewer where queries have many cases.
_MOST_TRIED, _MOST_ROWS, _MOST_CELLS = 20, 20_000, 1_000_000
# Nobody judges more to settle a claim.
MOST_JUDGED, _MOST_NAMED = 10_000, 1000
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Listed:
    """The lists of a system, and keys that are equal for the same case of a query."""

    lists: Lists
    keys: NDArray[np.uint64]  # of shape (n,), as the items of the lists


class Case(NamedTuple):
    """An unjudged case."""

    query: str
    case: str


class ToJudge(NamedTuple):
    """Cases after which the sign of a mean difference is sure if they are judged not relevant."""

    n: int | None  # None where more than `MOST_JUDGED` would be needed
    cases: list[Case]  # the first 1,000 of them, the most telling first


@dataclass(frozen=True)
class Unjudged:
    """The unjudged cases of two systems, and how far they could move the difference."""

    scale: Scale
    now: Floats  # of shape (queries,): the difference as judged; NaN where there is none
    query: Places  # of shape (u,): of each unjudged case, ascending
    item: Places  # of shape (u,): where the first system's items, then the second's, have it
    listed: tuple[Listed, Listed]
    rows: Places  # of shape (q,): the queries with unjudged cases
    problem: Problem  # of these
    cell: Places  # of shape (u,): the column of each case in the problem; -1 without a weight

    def __len__(self) -> int:
        """Count the unjudged cases."""
        return len(self.query)

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """The least and the greatest difference of each query, shape (queries,) each."""
        low, high = self.now.copy(), self.now.copy()
        for end, found in zip((low, high), difference_range(self.scale, self.problem), strict=True):
            # Without a score now, none is possible either where no case can be relevant.
            end[self.rows] = np.where(np.isnan(found), self.now[self.rows], found)
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
        """What to judge; nothing where the sign is sure already, or there is no difference."""
        mean = float(np.nanmean(self.now)) if not np.isnan(self.now).all() else 0.0
        if abs(mean) <= _ROUNDING or self.low > _ROUNDING or self.high < -_ROUNDING:
            return ToJudge(0, [])
        sign = 1 if mean > 0 else -1
        worst = self.problem.swapped() if sign > 0 else self.problem
        ordered = self._most_telling_first(worst)
        least, most = 0, min(len(ordered), MOST_JUDGED)
        if most < len(ordered) and not self._is_sure(worst, sign, ordered[:most]):
            return ToJudge(None, [])
        while most - least > 1:
            middle = (least + most) // 2
            sure = self._is_sure(worst, sign, ordered[:middle])
            least, most = (least, middle) if sure else (middle, most)
        return ToJudge(most, self._named(ordered[: min(most, _MOST_NAMED)]))

    def _most_telling_first(self, worst: Problem) -> Places:
        """The cases by how much judging each alone as not relevant moves the nearer end."""
        helps, row = np.zeros(len(self)), np.searchsorted(self.rows, self.query)
        with_cell = self.cell >= 0
        weight = np.zeros(len(self))
        cells = row[with_cell], self.cell[with_cell]
        weight[with_cell] = np.maximum(worst.first.best, worst.second.best)[cells]
        before = greatest(self.scale, worst)
        tried = np.lexsort((-weight, row))
        tried = tried[np.arange(len(row)) - np.searchsorted(row, row) < _MOST_TRIED]
        tried = tried[with_cell[tried]]
        most = min(_MOST_ROWS, _MOST_CELLS // max(worst.there.shape[1], 1))
        tried = tried[np.argsort(-weight[tried], kind="stable")[:most]]
        if len(tried):
            each = worst.only(row[tried])
            each.there[np.arange(len(tried)), self.cell[tried]] = False
            helps[tried] = np.nan_to_num(before[row[tried]] - greatest(self.scale, each))
        if not with_cell.all():
            after = greatest(self.scale, replace(worst, spare=np.zeros_like(worst.spare)))
            share = np.nan_to_num(before - after) / np.maximum(worst.spare, 1)
            helps[~with_cell] = share[row[~with_cell]]
        return np.lexsort((-weight, -helps))

    def _is_sure(self, worst: Problem, sign: int, judged: Places) -> bool:
        """Whether the sign cannot turn any more once cases are judged not relevant."""
        row, cell = np.searchsorted(self.rows, self.query[judged]), self.cell[judged]
        changed = np.unique(row)
        at, weighs = np.searchsorted(changed, row), cell >= 0
        part = worst.only(changed)
        part.there[at[weighs], cell[weighs]] = False
        part.spare[:] -= np.bincount(at[~weighs], minlength=len(changed))
        ends = -sign * self.ends[0 if sign > 0 else 1]
        now = -sign * self.now
        rows, is_open = self.rows[changed], part.there.any(axis=1) | (part.spare > 0)
        found = greatest(self.scale, part)
        ends[rows] = np.where(is_open & ~np.isnan(found), found, now[rows])
        return _greatest_mean(now, ends) < -_ROUNDING

    def _named(self, which: Places) -> list[Case]:
        first, second = (one.lists for one in self.listed)
        item = self.item[which]
        in_first = item < first.run.total
        names = np.empty(len(which), dtype=object)
        for lists, mine, at in (
            (first, in_first, item),
            (second, ~in_first, item - first.run.total),
        ):
            if lists.names is not None:
                names[mine] = lists.names.only(at[mine]).all()
        queries = [str(first.queries[query]) for query in self.query[which].tolist()]
        return [Case(*one) for one in zip(queries, map(str, names), strict=True)]


def find_unjudged(
    first: Listed, second: Listed, measure: Measure, now: Floats, top: float
) -> Unjudged | None:
    """The unjudged cases of two systems; None where the measure has no bounds.

    Shapes: `now` (queries,), the difference of each query; `top` is the highest grade.
    """
    scale = scale_of(measure, first.lists, second.lists, top)
    if scale is None:
        return None
    both = first, second
    depth = None if scale.counts_all else measure.depth
    near = [np.flatnonzero(_is_open(one.lists, depth)) for one in both]
    of_query = np.concatenate([one.lists.run.row[at] for one, at in zip(both, near, strict=True)])
    keys = np.concatenate([one.keys[at] for one, at in zip(both, near, strict=True)])
    order = np.lexsort((keys, of_query))
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (of_query[order][1:] != of_query[order][:-1]) | (
        keys[order][1:] != keys[order][:-1]
    )
    case = np.empty(len(order), dtype=np.intp)
    case[order] = np.cumsum(is_new) - 1
    query = of_query[order][is_new]
    item = np.concatenate([near[0], near[1] + first.lists.run.total])[order][is_new]
    cases = np.split(case, [len(near[0])])
    rows, row = np.unique(query, return_inverse=True)
    weights = [weights_of(measure, scale, one.lists) for one in both]
    weighs = np.full(len(query), not scale.counts_all)
    for at in range(2):
        weighs[cases[at][weights[at][0][near[at]] > 0]] = True
    sizes = np.bincount(row[weighs], minlength=len(rows))
    cell = np.full(len(query), -1, dtype=np.intp)
    cell[weighs] = np.arange(weighs.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    there = np.arange(int(sizes.max(initial=0))) < sizes[:, np.newaxis]
    sides = []
    for at, one in enumerate(both):
        mine = weighs[cases[at]]
        where, item_at = cases[at][mine], near[at][mine]
        ends = []
        for weight in weights[at]:
            laid = np.zeros(there.shape)
            laid[row[where], cell[where]] = weight[item_at]
            ends.append((laid, _known(scale, one.lists, weight)[rows]))
        (best, known_best), (worst, known_worst) = ends
        sides.append(Side(best, worst, known_best, known_worst))
    spare = np.bincount(row[~weighs], minlength=len(rows))
    judged = scale.judged(first.lists)[rows]
    problem = Problem(sides[0], sides[1], there, spare, judged)
    return Unjudged(scale, now, query, item, both, rows, problem, cell)


def _is_open(lists: Lists, depth: int | None) -> NDArray[np.bool_]:
    """Which items are unjudged, and could be among the first ones, shape (n,)."""
    return ~lists.known if depth is None else ~lists.known & (lists.places.first <= depth)


def _known(scale: Scale, lists: Lists, weight: Floats) -> Floats:
    """What the judged cases give each list: a sum, or the weight of the first relevant one."""
    gained = weight * scale.gain(lists.relevance if scale.is_binary else lists.value)
    if scale.kind != "first":
        return lists.run.sum(gained)
    total = np.zeros(len(lists))
    np.maximum.at(total, lists.run.row, gained)
    return total


def _greatest_mean(now: Floats, ends: Floats) -> float:
    """The greatest mean: over the queries with a score, and those that raise it."""
    has = ~np.isnan(now)
    total, n = float(ends[has].sum()), int(has.sum())
    for end in np.sort(ends[~has & ~np.isnan(ends)])[::-1].tolist():
        if n and end <= total / n:
            break
        total, n = total + end, n + 1
    return total / n if n else float("nan")
