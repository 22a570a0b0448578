"""Bounds of differences by measures that allow no exact ones: grades of unjudged cases are tried.

Where a query has few unjudged cases, all ways to grade them are tried, and its bounds are exact.
Else the search starts from the lowest grade for all, from the highest for all, for each case
alone, and for those cases only that are farthest up in one list compared with the other, in
different numbers. From the best of these it changes one grade at a time while that helps. The
true bounds can only be wider.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from quem.lists import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from quem.lists import Measure
    from quem.retrieval.lists import CaseLists, Ties

    Floats = NDArray[np.float64]

# Ways to grade the unjudged cases of a query that are all tried.
_MOST_WAYS = 128
_STARTS, _FEW_STARTS = 8, 3
_SWEEPS = 3
# Cases of a query that are tried alone, and changed one at a time.
_MOST_CASES = 40
# Measures by which an unjudged case counts as one of grade 0.
_AS_ZERO = {"P", "R", "AP", "RR", "Success", "Rprec", "ERR", "nDCG", "RBP"}
_UNJUDGED = -np.inf
_BETTER = 1e-12
_AT_ONCE = 20_000

Way = tuple[float, ...]


@dataclass(frozen=True)
class Candidates:
    """The unjudged cases of a query."""

    query: int
    case: NDArray[np.int64]  # of shape (u,)
    lead: Floats  # of shape (u,): how much farther up the first list has each than the second


@dataclass
class Searched:
    """What was found for one query."""

    # NaN where no way to grade gives a score
    low: float
    high: float
    exact: bool  # whether all ways were tried
    # Of shape (u,): how far the highest grade of each case alone moves the difference; 0 where not
    # tried.
    effect: Floats


class _Trial:
    """Scores the two lists of queries with unjudged cases graded in some way."""

    def __init__(
        self,
        measure: Measure,
        lists: tuple[CaseLists, CaseLists],
        truth: CaseLists,
        each: Sequence[Candidates],
        ties: Ties,
    ) -> None:
        names = np.array(lists[0].cases, dtype=object)
        true_names = np.array(truth.cases, dtype=object)
        self.measure, self.ties = measure, ties
        self.runs = [[one.items(c.query, names) for c in each] for one in lists]
        self.judged = []
        for one in each:
            case, grade = truth.of(one.query)
            ids = true_names[case].tolist()
            self.judged.append(dict(zip(ids, grade.tolist(), strict=True)))
        self.names: list[list[str]] = [names[one.case].tolist() for one in each]

    def differences(self, ways: Sequence[tuple[int, Way]]) -> Floats:
        """Score queries, each in a way; NaN where a list has no score."""
        parts = [
            self._part(ways[start : start + _AT_ONCE]) for start in range(0, len(ways), _AT_ONCE)
        ]
        return np.concatenate([np.empty(0), *parts])

    def _part(self, ways: Sequence[tuple[int, Way]]) -> Floats:
        truth = {at: self._truth(query, way) for at, (query, way) in enumerate(ways)}
        scores = [
            evaluate(
                {at: runs[query] for at, (query, _) in enumerate(ways)},
                truth,
                [self.measure],
                ties="given" if self.ties == "input" else self.ties,
            ).values[:, 0]
            for runs in self.runs
        ]
        return np.asarray(scores[0] - scores[1])

    def _truth(self, query: int, way: Way) -> dict[str, float]:
        graded = zip(self.names[query], way, strict=True)
        return {**self.judged[query], **{n: g for n, g in graded if g != _UNJUDGED}}


def search_range(
    measure: Measure,
    lists: tuple[CaseLists, CaseLists],
    truth: CaseLists,
    each: Sequence[Candidates],
    *,
    top: float,
    ties: Ties,
    budget: int,
) -> list[Searched]:
    """Search for the least and the greatest difference of each query, first minus second."""
    binary = "rel" in dict(measure.values) and not dict(measure.values).get("top")
    levels = [0.0, *([top] if binary else np.unique([*np.arange(1.0, top), top]).tolist())]
    skipped = dict(measure.values).get("unjudged") == "skip"
    if skipped or measure.definition.name not in _AS_ZERO:
        levels.insert(0, _UNJUDGED)
    trial = _Trial(measure, lists, truth, each, ties)
    most = _cases_within(budget, each, len(levels))
    n_starts = _STARTS if 4 * _STARTS * len(each) <= budget else _FEW_STARTS
    ways: list[tuple[int, Way]] = []
    exact = [len(levels) ** len(one.case) <= _MOST_WAYS for one in each]
    for query, one in enumerate(each):
        tried: Iterable[Way] = (
            product(levels, repeat=len(one.case))
            if exact[query]
            else _starts(one, levels, most, n_starts)
        )
        ways += [(query, way) for way in dict.fromkeys(tried)]
    found = [
        Searched(np.nan, np.nan, e, np.zeros(len(c.case))) for c, e in zip(each, exact, strict=True)
    ]
    best: list[dict[int, tuple[float, Way]]] = [{}, {}]
    scores = trial.differences(ways).tolist()
    zero = {query: d for (query, way), d in zip(ways, scores, strict=True) if _is_zero(way, levels)}
    for (query, way), difference in zip(ways, scores, strict=True):
        if np.isnan(difference):
            continue
        for side, sign in zip(best, (1, -1), strict=True):
            if query not in side or sign * difference > sign * side[query][0] + _BETTER:
                side[query] = difference, way
        alone = np.flatnonzero(np.array(way) == top)
        if len(alone) == 1 and set(way) <= {levels[0], top}:
            before = zero.get(query, np.nan)
            moved = abs(difference - (0.0 if np.isnan(before) else before))
            found[query].effect[alone[0]] = moved
    for side, sign in zip(best, (1, -1), strict=True):
        _climb(
            trial,
            side,
            sign,
            levels,
            [() if e else _order(c, most) for c, e in zip(each, exact, strict=True)],
        )
    for query, (difference, _) in best[0].items():
        found[query].high = difference
        found[query].low = best[1][query][0]
    return found


def _is_zero(way: Way, levels: list[float]) -> bool:
    return all(grade == levels[0] for grade in way)


def _cases_within(budget: int, each: Sequence[Candidates], n_levels: int) -> int:
    """Say how many cases of each query are tried by themselves."""
    of_each = 1 + 2 * _SWEEPS * (n_levels - 1)
    for most in range(_MOST_CASES, 0, -1):
        if 2 * sum(min(len(one.case), most) * of_each for one in each) <= budget:
            return most
    return 0


def _order(one: Candidates, most: int) -> tuple[int, ...]:
    """The cases that are changed one at a time, those first that the lists differ most in."""
    return tuple(np.argsort(-np.abs(one.lead), kind="stable")[:most].tolist())


def _starts(one: Candidates, levels: list[float], most: int, n_starts: int) -> Iterable[Way]:
    n = len(one.case)
    low, high = levels[0], levels[-1]
    for grade in levels:
        yield (grade,) * n
    by_lead = np.argsort(-one.lead, kind="stable")
    spread = np.geomspace(1, n, n_starts).astype(int)
    for order, ahead in ((by_lead, one.lead > 0), (by_lead[::-1], one.lead < 0)):
        for size in np.unique([*spread, int(ahead.sum())]).tolist():
            for rest in levels[: 1 + (low == _UNJUDGED)]:
                way = np.full(n, rest)
                way[order[:size]] = high
                yield tuple(way.tolist())
                if low == _UNJUDGED:
                    # Cases that are judged not relevant hurt a list by some measures.
                    way[order[size:]] = low
                    way[order[::-1][: n - size]] = 0.0
                    yield tuple(way.tolist())
    for at in _order(one, most):
        way = np.full(n, low)
        way[at] = high
        yield tuple(way.tolist())


def _climb(
    trial: _Trial,
    best: dict[int, tuple[float, Way]],
    sign: int,
    levels: list[float],
    orders: Sequence[tuple[int, ...]],
) -> None:
    """Change one grade at a time, in all queries at once, while that helps."""
    active = [query for query in best if orders[query]]
    for _ in range(_SWEEPS):
        moved = set()
        for step in range(max((len(orders[query]) for query in active), default=0)):
            ways = []
            for query in active:
                if step >= len(orders[query]):
                    continue
                at, way = orders[query][step], best[query][1]
                changed = [(*way[:at], level, *way[at + 1 :]) for level in levels]
                ways += [(query, one) for one in changed if one != way]
            for (query, way), difference in zip(
                ways, trial.differences(ways).tolist(), strict=True
            ):
                if sign * difference > sign * best[query][0] + _BETTER:
                    best[query] = difference, way
                    moved.add(query)
        active = [query for query in active if query in moved]
