r"""How far apart two lists could be on a query, whatever the grades of unjudged cases are.

A case that is in both lists has one grade. The bounds are exact, for measures of these kinds:

- ``sum``: the score is a weighted sum of gains (P, RBP), and each case is chosen separately.
- ``share``: hits divided by the number R of relevant cases (R). With m unjudged cases relevant,
  those count whose weights differ most in favor of the first list, so that all m are tried.
- ``first``: the position of the first relevant case (RR, Success). More than one unjudged
  relevant case never helps either list more than the best one of them.
- ``gain``: nDCG. With :math:`\Delta_l` the step in gain from one grade to the next, :math:`m_l`
  the unjudged cases of at least grade l, :math:`J_l` the judged ones, V(m) the sum of the m
  largest differences of discounts, and C(j) the sum of the first j discounts, k at most, the
  difference is :math:`\sum \Delta_l V(m_l) / \sum \Delta_l C(J_l + m_l)`. Its maximum over
  :math:`m_1 \ge m_2 \ge \dots` is found by Dinkelbach's method, whose steps are maximized level by
  level.

References
----------
Dinkelbach, W. (1967). On nonlinear fractional programming. Management Science, 13(7), 492-498.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.lists.lists import Lists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.lists import Measure
    from quem.lists.lists import Ties
    from quem.lists.ragged import Places
    from quem.retrieval.lists import CaseLists

    Floats = NDArray[np.float64]

_AT_ONCE = 100_000
_MOST_STEPS = 60
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Items:
    """What a measure looks at of the lists of a retriever."""

    key: NDArray[np.int64]  # of shape (n,): the query times the number of cases, plus the case
    query: NDArray[np.int64]  # of shape (n,)
    places: Places  # between which positions each is
    grade: Floats  # of shape (n,): NaN for an unjudged one
    sizes: NDArray[np.int64]  # of shape (queries,): the length of each whole list

    @property
    def unjudged(self) -> NDArray[np.bool_]:
        """Which items the ground truth does not have, shape (n,)."""
        return np.isnan(self.grade)

    @property
    def tied(self) -> NDArray[np.bool_]:
        """In which lists an item has several positions, shape (queries,)."""
        return np.bincount(self.query[self.places.size > 1], minlength=len(self.sizes)) > 0


def items_of(lists: CaseLists, truth: CaseLists, k: int | None, ties: Ties) -> Items:
    """Give the items of lists down to k, of queries that have a ground truth."""
    cut = lists if k is None else lists.top(k)
    names = np.array(lists.cases, dtype=object)
    where = {name: at for at, name in enumerate(lists.cases)}
    n_cases = len(lists.cases)
    queries = np.flatnonzero((truth.sizes > 0) & (cut.sizes > 0))
    keys, firsts, lasts = [np.empty(0, np.int64)], [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    parts = np.cumsum(cut.sizes[queries]) // _AT_ONCE
    for part in np.unique(parts).tolist():
        chosen = queries[parts == part]
        run, true = [], []
        for query in chosen.tolist():
            case, similarity = cut.of(query)
            ids = names[case].tolist()
            score = similarity if cut.scored else -np.arange(len(ids), dtype=float)
            run.append(dict(zip(ids, score.tolist(), strict=True)))
            # The place of each case stands for its grade, so that it is known after sorting.
            true.append({name: float(where[name]) for name in ids})
        made = Lists.of(run, true, ties=ties)
        keys.append(chosen[made.run.row] * n_cases + made.value.astype(np.int64))
        firsts.append(made.places.first)
        lasts.append(made.places.last)
    key, first, last = (np.concatenate(each) for each in (keys, firsts, lasts))
    if k is not None:
        key, first, last = (each[first <= k] for each in (key, first, last))
    from quem.lists.ragged import Places

    true_key = np.repeat(np.arange(len(truth.queries)), truth.sizes) * n_cases + truth.case
    order = np.argsort(true_key)
    at = np.minimum(np.searchsorted(true_key[order], key), max(len(order) - 1, 0))
    found = true_key[order][at] == key if len(order) else np.zeros(len(key), bool)
    grade = np.where(found, truth.similarity[order][at] if len(order) else np.nan, np.nan)
    return Items(key, key // n_cases, Places(first, last), grade, lists.sizes)


@dataclass(frozen=True)
class Scale:
    """How a measure counts grades."""

    kind: Literal["sum", "share", "first", "gain"]  # see the module
    levels: Floats  # of shape (l,): grades that count more than the one before, ascending
    steps: Floats  # of shape (l,): how much more
    reach: int  # how many of the levels an unjudged case can have
    never_undefined: bool = False  # whether there is a score where no case is relevant
    # The sums of the first 0, 1, ... discounts of an ideal list.
    discount: Floats = None  # type: ignore[assignment]

    def gain(self, grade: Floats) -> Floats:
        """What a grade counts; 0 for an unjudged case."""
        total = np.concatenate([[0.0], np.cumsum(self.steps)])
        known = np.where(np.isnan(grade), -np.inf, grade)
        return np.asarray(total[np.searchsorted(self.levels, known, side="right")])


_KINDS: dict[str, Literal["sum", "share", "first", "gain"]] = {
    "P": "sum",
    "RBP": "sum",
    "R": "share",
    "RR": "first",
    "Success": "first",
    "nDCG": "gain",
}


def scale_of(measure: Measure, truth: CaseLists, top: float) -> Scale | None:
    """Say how a measure counts grades; None where it has no bounds."""
    kind = _KINDS.get(measure.definition.name)
    values = dict(measure.values)
    # Lists without unjudged cases get longer with every grade.
    if kind is None or values.get("unjudged") == "skip":
        return None
    highest = values.get("top")
    if kind != "gain" and highest is None:
        level = np.array([float(values["rel"] or 0)])
        never = measure.definition.name == "RBP"
        return Scale(kind, level, np.ones(1), int(level[0] <= top), never)
    grades = np.concatenate([truth.similarity, np.arange(1, np.floor(top) + 1), [top]])
    levels = np.unique(grades[grades > 0])
    if highest is not None:
        gains = np.minimum(levels / float(highest), 1)
    else:
        gains = np.exp2(levels) - 1 if values["gain"] == "exponential" else levels
    steps = np.diff(gains, prepend=0.0)
    reach = int((levels <= top).sum())
    k = values.get("k")
    n = k if isinstance(k, int) else len(truth.cases)
    return Scale(kind, levels, steps, reach, kind == "sum", _discounts(n))


def _discounts(n: int) -> Floats:
    """Sum the discounts of the first 0, 1, ..., n positions."""
    return np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, n + 2)))])


def weights_of(measure: Measure, items: Items) -> Floats:
    """Give the weight of the gain of each item in the score of its list, shape (n,)."""
    values = dict(measure.values)
    k = values.get("k")
    k = k if isinstance(k, int) else None
    places = items.places
    most = int(places.last.max(initial=0))
    position = np.arange(1, most + 1)
    name = measure.definition.name
    if name == "RBP":
        p = float(values["p"] or 0)
        return np.asarray((1 - p) * places.mean(np.power(p, position - 1.0), k))
    if name == "nDCG":
        return places.mean(1 / np.log2(position + 1), k)
    if name == "RR":
        return places.mean(1 / position, k)
    within = np.ones(len(items.key)) if k is None else places.within(k)
    if name == "P":
        return np.asarray(within / (items.sizes[items.query] if k is None else k))
    return within


@dataclass(frozen=True)
class Problem:
    """The unjudged cases of two lists, query by query, and what is known beside them."""

    # Of shape (q, u): the weight of each unjudged case in each list; 0 where it lacks the case
    first: Floats
    second: Floats
    there: NDArray[np.bool_]  # of shape (q, u): which cells are cases
    # Of shape (q,): what the judged cases give each list: a sum, or the weight of the first
    # relevant one
    known_first: Floats
    known_second: Floats
    judged: NDArray[np.int64]  # of shape (q, l): how many judged cases have at least each level

    def __len__(self) -> int:
        """Count the queries."""
        return len(self.there)

    def only(self, rows: NDArray[np.intp]) -> Problem:
        """Some of the queries, each as often as it is named."""
        return Problem(
            self.first[rows],
            self.second[rows],
            self.there[rows],
            self.known_first[rows],
            self.known_second[rows],
            self.judged[rows],
        )

    def swapped(self) -> Problem:
        """The same with the other list first."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            known_first=self.known_second,
            known_second=self.known_first,
        )

    def after(self, scale: Scale, chosen: NDArray[np.bool_], *, best: bool) -> Problem:
        """Judge some cases: as the highest that they can be, or as not relevant.

        Shapes: `chosen` (q, u).
        """
        chosen = chosen & self.there
        left = replace(self, there=self.there & ~chosen)
        if not best:
            return left
        gain = float(scale.steps[: scale.reach].sum())
        known = []
        pairs = ((self.first, self.known_first), (self.second, self.known_second))
        for weight, base in pairs:
            added = np.where(chosen, weight, 0.0) * gain
            if scale.kind == "first":
                known.append(np.maximum(base, added.max(axis=1, initial=0.0)))
            else:
                known.append(base + added.sum(axis=1))
        more = chosen.sum(axis=1)[:, np.newaxis] * (np.arange(len(scale.levels)) < scale.reach)
        return replace(left, known_first=known[0], known_second=known[1], judged=self.judged + more)


def difference_range(scale: Scale, problem: Problem) -> tuple[Floats, Floats]:
    """Give the least and the greatest difference of each query, first minus second.

    Where no judged case is relevant, and so there is no score now, the ends are over what grades
    give one; NaN where none do.

    Shapes: `low`, `high` (q,).
    """
    low, high = np.full((2, len(problem)), np.nan)
    width = max(1, problem.there.shape[1])
    for rows in _chunks(len(problem), max(1, _AT_ONCE * 5 // (width * len(scale.levels)))):
        part = problem.only(rows)
        high[rows] = _highest(scale, part)
        low[rows] = -_highest(scale, part.swapped())
    return low, high


def _chunks(n: int, size: int) -> Iterator[NDArray[np.intp]]:
    for start in range(0, n, size):
        yield np.arange(start, min(start + size, n))


def _highest(scale: Scale, problem: Problem) -> Floats:
    there = problem.there & (scale.reach > 0)
    needed = (problem.judged[:, 0] == 0) & (not scale.never_undefined)
    base = problem.known_first - problem.known_second
    none = ~there.any(axis=1)
    if scale.kind == "first":
        known_a, known_b = (
            one[:, np.newaxis] for one in (problem.known_first, problem.known_second)
        )
        each = np.maximum(known_a, problem.first) - np.maximum(known_b, problem.second)
        best = np.where(there, each, -np.inf).max(axis=1, initial=-np.inf)
        high = np.where(needed, best, np.maximum(best, base))
    elif scale.kind == "sum":
        gain = float(scale.steps[: scale.reach].sum())
        apart = np.where(there, problem.first - problem.second, -np.inf) * (gain or 1)
        some = np.where(apart > 0, apart, 0.0).sum(axis=1)
        least = np.minimum(apart.max(axis=1, initial=-np.inf), 0.0)
        high = base + np.where(needed, some + least, some)
    else:
        apart = np.where(there, problem.first - problem.second, -np.inf)
        apart = -np.sort(-apart, axis=1)
        # Sums over the m best; what is not there cannot be chosen.
        sums = np.concatenate([np.zeros((len(base), 1)), np.cumsum(apart, axis=1)], axis=1)
        if scale.kind == "share":
            relevant = problem.judged[:, :1] + np.arange(sums.shape[1])
            with np.errstate(invalid="ignore", divide="ignore"):
                ratio = (base[:, np.newaxis] + sums) / relevant
            ratio[relevant == 0] = -np.inf
            high = ratio.max(axis=1)
        else:
            high = _highest_gain(scale, problem.judged, base, sums, needed)
    return np.where((needed & none) | ~np.isfinite(high), np.nan, high)


def _highest_gain(
    scale: Scale,
    judged: NDArray[np.int64],
    base: Floats,
    sums: Floats,
    needed: NDArray[np.bool_],
) -> Floats:
    """Maximize the difference of two nDCG; see the module."""
    n, width = sums.shape
    rows = np.arange(n)
    m = np.arange(width)
    most = len(scale.discount) - 1
    ideal = [
        scale.discount[np.minimum(judged[:, at, np.newaxis] + m * (at < scale.reach), most)]
        for at in range(len(scale.levels))
    ]
    fixed = sum(
        (step * ideal[at][:, 0] for at, step in enumerate(scale.steps) if at >= scale.reach),
        np.zeros(n),
    )
    best = np.full(n, -2.0)
    high = np.full(n, -np.inf)
    for _ in range(_MOST_STEPS):
        picks = []
        inner = np.zeros((n, width))
        for at in range(scale.reach - 1, -1, -1):
            total = scale.steps[at] * (sums - best[:, np.newaxis] * ideal[at]) + inner
            if at == 0:
                total[needed, 0] = -np.inf
            inner = np.maximum.accumulate(total, axis=1)
            # The last place up to each at which the greatest value so far is reached.
            picks.append(np.maximum.accumulate(np.where(total >= inner, m, 0), axis=1))
        top = base.copy()
        below = fixed.copy()
        chosen = np.full(n, width - 1)
        for at, pick in enumerate(reversed(picks)):
            chosen = pick[rows, chosen]
            top += scale.steps[at] * sums[rows, chosen]
            below += scale.steps[at] * ideal[at][rows, chosen]
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(below > 0, top / below, -np.inf)
        better = ratio > high + _ROUNDING
        high = np.maximum(high, ratio)
        if not better.any():
            break
        best = np.where(np.isfinite(high), high, best)
    return high
