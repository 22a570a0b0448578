"""What unjudged cases could change: how far apart retrievers could be, and what to judge next.

The unjudged cases of a pair of retrievers are those that either list has down to where the
headline looks, and that the ground truth lacks. Each could have any grade from 0 to the highest;
what both lists lack stays unjudged. Queries are independent, so that the extremes of the mean are
made of those of the queries (see `quem.retrieval.bounds`). A query that has no score now, since no
judged case is relevant, counts in an extreme where it makes it more extreme. A query without any
judgment stays out. Some measures have no bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from quem.lists import measure
from quem.retrieval.bounds import (
    Items,
    Problem,
    difference_range,
    items_of,
    scale_of,
    weights_of,
)
from quem.retrieval.lists import score_lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quem.lists import Measure
    from quem.lists.lists import Ties
    from quem.retrieval.bounds import Scale
    from quem.retrieval.lists import CaseLists, QueryScores

    Floats = NDArray[np.float64]

# More retrievers than that are not compared with each other.
_MOST_COMPARED = 6
# Cases of each query whose judging is tried, and queries times cases in all; fewer where queries
# have many cases.
_MOST_TRIED, _MOST_ROWS, _MOST_CELLS = 20, 20_000, 1_000_000
# Where the measures do not say it.
DEFAULT_K = 10
_ROUNDING = 1e-9


# How many unjudged cases are named that should be judged next.
_JUDGE_NEXT = 10


@dataclass(frozen=True)
class Compared:
    """A retriever that is compared with others."""

    at: int  # its place among those that are scored
    id: str
    lists: CaseLists
    scores: QueryScores


@dataclass(frozen=True)
class Flip:
    """How far the difference of two retrievers could move."""

    # Their places among those that are scored
    first: int
    second: int
    difference: float  # of the means by the headline, on the queries where both have a score
    # Over all grades that the unjudged cases could have
    low: float
    high: float
    unjudged: int  # how many of these there are
    # How many of the unjudged cases would have to be judged, the most telling ones first, so that
    # the sign cannot flip any more if none of them is relevant. None where it cannot flip.
    to_settle: int | None = None

    @property
    def could_flip(self) -> bool:
        """Whether some grades of the unjudged cases would change the sign, or make or undo one."""
        if abs(self.difference) <= _ROUNDING:
            return self.low < -_ROUNDING or self.high > _ROUNDING
        return self.low <= _ROUNDING if self.difference > 0 else self.high >= -_ROUNDING


@dataclass(frozen=True)
class Next:
    """An unjudged case that should be judged."""

    query: str
    case: str
    positions: dict[str, int]  # where retrievers have it, the first of tied positions, by their ids
    # By how much it narrows the bounds of the differences that could flip, summed over these, in
    # the mean of the lowest and the highest grade.
    removes: float


@dataclass(frozen=True)
class Unjudged:
    """What is not judged in the lists, and what that means for comparisons."""

    k: int | None  # down to where the headline looks; None for whole lists
    top: float  # the highest grade that an unjudged case could have
    flips: tuple[Flip, ...] = ()  # the pairs of the best retrievers whose difference has bounds
    next: tuple[Next, ...] = ()  # the most telling first
    n_cases: int = 0  # unjudged cases of the best retrievers in all
    n_unbounded: int = 0  # pairs of these whose difference has no bounds


def judged_shares(
    lists: CaseLists, truth: CaseLists, measures: Sequence[Measure], ties: Ties
) -> dict[int | None, float]:
    """Give Judged in the mean over queries, by k: of the measures, and at 10."""
    depths = [one.depth for one in measures] + [DEFAULT_K]
    wanted = list(dict.fromkeys(depths))
    by = [measure("Judged", k=k) for k in wanted]
    means = score_lists(lists, truth, by, ties).mean
    return dict(zip(wanted, means.tolist(), strict=True))


@dataclass
class _Pair:
    """Two retrievers, with the extremes of each query."""

    first: Compared
    second: Compared
    now: Floats
    low: Floats
    high: Floats
    # By query and unjudged case: how much judging it narrows the query's range, and how much of
    # that is gained on the low side and on the high one if it is not relevant.
    key: NDArray[np.int64]
    removes: Floats
    kept_low: Floats
    kept_high: Floats
    problem: Problem | None = None
    query: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))
    cells: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 0), np.int64))

    @property
    def n(self) -> int:
        """How many queries have a score of both now."""
        return int((~np.isnan(self.now)).sum())


def find_unjudged(
    compared: Sequence[Compared],
    truth: CaseLists,
    by: Measure,
    column: int,
    *,
    ties: Ties,
) -> Unjudged | None:
    """Say what unjudged cases could change; None where there are none."""
    compared = compared[:_MOST_COMPARED]
    k = by.depth
    highest = max(float(truth.similarity.max(initial=1)), 1.0)
    items = {one.at: items_of(one.lists, truth, k, ties) for one in compared}
    if not any(one.unjudged.any() for one in items.values()):
        return None
    keys = [each.key[each.unjudged] for each in items.values()]
    n_cases = len(np.unique(np.concatenate(keys)))
    both = list(combinations(sorted(compared, key=lambda one: one.at), 2))
    scale = scale_of(by, truth, highest)
    if scale is None:
        return Unjudged(k, highest, n_cases=n_cases, n_unbounded=len(both))
    pairs = [
        _pair(first, second, items, truth, by, column, scale)
        for first, second in both
        if _has_bounds(items[first.at], items[second.at], scale)
    ]
    flips = tuple(_flip(pair, scale) for pair in pairs)
    open_pairs = [pair for pair, flip in zip(pairs, flips, strict=True) if flip.could_flip]
    following = tuple(_next(open_pairs, compared, items))
    return Unjudged(k, highest, flips, following, n_cases, len(both) - len(pairs))


def _has_bounds(a: Items, b: Items, scale: Scale) -> bool:
    """Say whether a pair has bounds: no list has a first relevant position where cases are tied."""
    queries = np.concatenate([a.query[a.unjudged], b.query[b.unjudged]])
    return scale.kind != "first" or not (a.tied | b.tied)[queries].any()


def _pair(
    first: Compared,
    second: Compared,
    items: dict[int, Items],
    truth: CaseLists,
    by: Measure,
    column: int,
    scale: Scale,
) -> _Pair:
    a, b = items[first.at], items[second.at]
    now = first.scores.values[:, column] - second.scores.values[:, column]
    n_cases = len(first.lists.cases)
    keys = np.unique(np.concatenate([a.key[a.unjudged], b.key[b.unjudged]]))
    pair = _Pair(
        first,
        second,
        now,
        now.copy(),
        now.copy(),
        key=keys,
        removes=np.zeros(len(keys)),
        kept_low=np.zeros(len(keys)),
        kept_high=np.zeros(len(keys)),
    )
    queries = np.unique(keys // n_cases)
    if len(queries):
        _bound(pair, queries, a, b, truth, by, scale, n_cases)
    return pair


def _weights(keys: NDArray[np.int64], items: Items, weight: Floats) -> Floats:
    """Give the weight of each unjudged case in a list; 0 where it lacks the case."""
    given = np.zeros(len(keys))
    at = np.searchsorted(keys, items.key[items.unjudged])
    given[at] = weight[items.unjudged]
    return given


def _bound(
    pair: _Pair,
    queries: NDArray[np.int64],
    a: Items,
    b: Items,
    truth: CaseLists,
    by: Measure,
    scale: Scale,
    n_cases: int,
) -> None:
    """Compute the exact bounds of some queries, and what judging each case would do to them."""
    of_query = pair.key // n_cases
    mine = np.isin(of_query, queries)
    row = np.searchsorted(queries, of_query[mine])
    sizes = np.bincount(row, minlength=len(queries))
    place = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    shape = len(queries), int(sizes.max())
    there, cells = np.zeros(shape, dtype=bool), np.full(shape, -1)
    there[row, place] = True
    cells[row, place] = np.flatnonzero(mine)
    weights, known = [], []
    for items in (a, b):
        weight = weights_of(by, items)
        table = np.zeros(shape)
        table[row, place] = _weights(pair.key, items, weight)[mine]
        weights.append(table)
        gained = weight * scale.gain(items.grade)
        total = np.zeros(len(truth.queries))
        if scale.kind == "first":
            np.maximum.at(total, items.query, gained)
        else:
            np.add.at(total, items.query, gained)
        known.append(total[queries])
    query_of_grade = np.repeat(np.arange(len(truth.queries)), truth.sizes)
    judged = np.stack(
        [
            np.bincount(query_of_grade[truth.similarity >= level], minlength=len(truth.queries))
            for level in scale.levels
        ],
        axis=1,
    )[queries]
    problem = Problem(weights[0], weights[1], there, known[0], known[1], judged)
    low, high = difference_range(scale, problem)
    # Without a score now, none is possible either where no case can be relevant.
    pair.low[queries] = np.where(np.isnan(low), pair.now[queries], low)
    pair.high[queries] = np.where(np.isnan(high), pair.now[queries], high)
    pair.problem, pair.query, pair.cells = problem, queries, cells
    _try_each(pair, scale, low, high)


def _try_each(pair: _Pair, scale: Scale, low: Floats, high: Floats) -> None:
    """Say how much the range of a query narrows when one of its cases is judged."""
    problem = pair.problem
    assert problem is not None  # noqa: S101  made just now
    weight = np.where(problem.there, np.abs(problem.first) + np.abs(problem.second), -1.0)
    order = np.argsort(-weight, axis=1, kind="stable")[:, :_MOST_TRIED]
    rows = np.repeat(np.arange(len(problem)), order.shape[1])
    column = order.ravel()
    use = problem.there[rows, column] & ~np.isnan(high[rows])
    # Of very many, those of the queries with the widest range.
    width = (high - low)[rows]
    most = min(_MOST_ROWS, max(_MOST_TRIED, _MOST_CELLS // problem.there.shape[1]))
    first = np.argsort(-np.where(use, width, -np.inf), kind="stable")[:most]
    first = first[use[first]]
    rows, column = rows[first], column[first]
    if not len(rows):
        return
    each = problem.only(rows)
    chosen = np.zeros(each.there.shape, dtype=bool)
    chosen[np.arange(len(rows)), column] = True
    at = pair.cells[rows, column]
    width = (high - low)[rows]
    left = np.zeros(len(rows))
    for best in (False, True):
        new_low, new_high = difference_range(scale, each.after(scale, chosen, best=best))
        # Without anything that could be relevant there is no score, and nothing is open.
        left += np.nan_to_num(new_high - new_low) / 2
        if not best:
            pair.kept_low[at] = np.nan_to_num(new_low - low[rows])
            pair.kept_high[at] = np.nan_to_num(high[rows] - new_high)
    pair.removes[at] = np.maximum(width - left, 0)


def _extreme(now: Floats, ends: Floats) -> float:
    """Give the greatest mean: over the queries with a score, and those that raise it."""
    has = ~np.isnan(now)
    total, n = float(ends[has].sum()), int(has.sum())
    for end in np.sort(ends[~has & ~np.isnan(ends)])[::-1].tolist():
        if n and end <= total / n:
            break
        total, n = total + end, n + 1
    return total / n if n else float("nan")


def _flip(pair: _Pair, scale: Scale) -> Flip:
    difference = float(np.nanmean(pair.now)) if pair.n else float("nan")
    low, high = -_extreme(pair.now, -pair.low), _extreme(pair.now, pair.high)
    found = Flip(pair.first.at, pair.second.at, difference, low, high, len(pair.key))
    if not found.could_flip or pair.problem is None or abs(difference) <= _ROUNDING:
        return found
    return replace(found, to_settle=_to_settle(pair, scale, sign=1 if difference > 0 else -1))


def _to_settle(pair: _Pair, scale: Scale, sign: int) -> int:
    """Count the cases to judge as not relevant until the sign is sure, by halving."""
    problem = pair.problem
    assert problem is not None  # noqa: S101  asked before
    helps = pair.kept_low if sign > 0 else pair.kept_high
    order = np.argsort(-helps, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    ranks = np.where(pair.cells >= 0, rank[pair.cells], len(order))

    def is_sure(count: int) -> bool:
        low, high = difference_range(scale, problem.after(scale, ranks < count, best=False))
        ends = pair.now.copy()
        worst = low if sign > 0 else -high
        ends[pair.query] = np.where(np.isnan(worst), sign * pair.now[pair.query], worst)
        known = np.isin(np.arange(len(ends)), pair.query)
        ends = np.where(known, ends, sign * pair.now)
        return -_extreme(sign * pair.now, -ends) > _ROUNDING

    least, most = 0, len(order)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if is_sure(middle) else (middle, most)
    return most


def _next(
    pairs: Sequence[_Pair], compared: Sequence[Compared], items: dict[int, Items]
) -> list[Next]:
    if not pairs:
        return []
    keys = np.concatenate([pair.key for pair in pairs])
    removes = np.concatenate([pair.removes / max(pair.n, 1) for pair in pairs])
    cases, place = np.unique(keys, return_inverse=True)
    total = np.bincount(place.ravel(), removes, len(cases))
    order = [at for at in np.argsort(-total, kind="stable").tolist() if total[at] > 0][:_JUDGE_NEXT]
    lists = compared[0].lists
    named = []
    for at in order:
        query, case = divmod(int(cases[at]), len(lists.cases))
        positions = {
            one.id: int(items[one.at].places.first[where[0]])
            for one in compared
            if len(where := np.flatnonzero(items[one.at].key == cases[at]))
        }
        named.append(Next(lists.queries[query], lists.cases[case], positions, float(total[at])))
    return named
