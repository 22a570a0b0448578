r"""Bounds of the difference of two lists on a query over all grades of unjudged cases.

A case in both lists has one grade. The bounds are exact, except in the last line, for measures of
these kinds:

- ``sum``: the score is a weighted sum of gains (P, RBP), and each case is chosen separately.
- ``share``: hits divided by the number R of relevant cases (R). With m unjudged cases relevant,
  those count whose weights differ most in favor of the first list, so that all m are tried.
- ``gain``: nDCG. With :math:`\Delta_l` the step in gain from one grade to the next, :math:`m_l`
  the unjudged cases of at least grade l, :math:`J_l` the judged ones, V(m) the sum of the m
  largest differences of discounts, and C(j) the sum of the first j discounts, k at most, the
  difference is :math:`\sum \Delta_l V(m_l) / \sum \Delta_l C(J_l + m_l)`. Its maximum over
  :math:`m_1 \ge m_2 \ge \dots` is found by Dinkelbach's method, whose steps are maximized level by
  level.
- ``first``: the position of the first relevant case (RR, Success). More than one unjudged
  relevant case never helps either list more than the best one of them. Where cases are tied, the
  one list has them at their best place and the other at their worst: bounds that hold, though
  closer ones may.

References
----------
Dinkelbach, W. (1967). On nonlinear fractional programming. Management Science, 13(7), 492-498.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.lists.ragged import Places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.lists.lists import Lists
    from quem.lists.measure import Measure

    Floats = NDArray[np.float64]

_CELLS = 500_000  # cells per block
_MOST_LEVELS = 1000
_MOST_STEPS = 60
_ROUNDING = 1e-13

Kind = Literal["sum", "share", "first", "gain"]
_KINDS: dict[str, Kind] = {
    "P": "sum",
    "RBP": "sum",
    "R": "share",
    "RR": "first",
    "Success": "first",
    "nDCG": "gain",
}


@dataclass(frozen=True)
class Scale:
    """The gain of grades in a measure."""

    kind: Kind
    levels: Floats  # of shape (l,): grades with a higher gain than the one before, ascending
    steps: Floats  # of shape (l,): increase of the gain
    reach: int  # number of levels that an unjudged case can have
    discount: Floats  # cumulative discounts of an ideal list, from 0
    never_undefined: bool = False  # whether a score exists without relevant cases
    is_binary: bool = True  # whether only relevance counts

    @property
    def counts_all(self) -> bool:
        """Whether relevant cases beyond k count, since an ideal list has them."""
        return self.kind in {"share", "gain"}

    def judged(self, lists: Lists) -> NDArray[np.int64]:
        """The number of judged cases of each query with at least each level, shape (queries, l)."""
        grades = lists.true_relevance if self.is_binary else lists.true_value
        counts = [
            np.bincount(lists.truth.row[grades >= level], minlength=len(lists))
            for level in self.levels
        ]
        return np.stack(counts, axis=1)

    def gain(self, grade: Floats) -> Floats:
        """The gain of a grade; 0 for an unjudged case."""
        total = np.concatenate([[0.0], np.cumsum(self.steps)])
        known = np.where(np.isnan(grade), -np.inf, grade)
        return np.asarray(total[np.searchsorted(self.levels, known, side="right")])


def scale_of(measure: Measure, first: Lists, second: Lists, top: float) -> Scale | None:
    """The gain of grades in two lists by a measure; None if it has no bounds.

    An unjudged case has a grade of at most `top`.
    """
    kind = _KINDS.get(measure.definition.name)
    values = dict(measure.values)
    # Lists without unjudged cases get longer with every grade.
    if kind is None or values.get("unjudged") == "skip":
        return None
    top, none = max(top, 1.0), np.zeros(1)
    highest = values.get("top")
    if kind != "gain" and highest is None:
        level = np.array([float(values["rel"] or 0)])
        never = measure.definition.name == "RBP"
        return Scale(kind, level, np.ones(1), int(level[0] <= top), none, never)
    grades = first.true_value
    levels = np.unique(np.append(grades[grades > 0], top))
    if len(levels) > _MOST_LEVELS:
        return None
    if highest is not None:
        gains = np.minimum(levels / float(highest), 1)
    else:
        gains = np.exp2(levels) - 1 if values["gain"] == "exponential" else levels
    steps = np.diff(gains, prepend=0.0)
    reach = int((levels <= top).sum())
    ideal = int((first.truth.sizes + first.run.sizes + second.run.sizes).max(initial=0))
    n = min(ideal, measure.depth or ideal)
    discount = np.concatenate([none, np.cumsum(1 / np.log2(np.arange(2, n + 2)))])
    return Scale(kind, levels, steps, reach, discount, kind == "sum", is_binary=False)


def weights_of(measure: Measure, scale: Scale, lists: Lists) -> tuple[Floats, Floats]:
    """The weight of each item's gain at its best position and at its worst; shapes (n,)."""
    places = lists.places
    if scale.kind != "first":
        weight = _weights(measure, places, lists)
        return weight, weight
    best = _weights(measure, Places(places.first, places.first), lists)
    if places.last is places.first:
        return best, best
    return best, _weights(measure, Places(places.last, places.last), lists)


def _weights(measure: Measure, places: Places, lists: Lists) -> Floats:
    name, k = measure.definition.name, measure.depth
    position = np.arange(1, int(places.last.max(initial=0)) + 1)
    if name == "RBP":
        p = float(dict(measure.values)["p"] or 0)
        return np.asarray((1 - p) * places.mean(np.power(p, position - 1.0), k))
    if name == "nDCG":
        return places.mean(1 / np.log2(position + 1), k)
    if name == "RR":
        return places.mean(1 / position, k)
    within = np.ones(len(places.first)) if k is None else places.within(k)
    if name == "P":
        return np.asarray(within / (lists.run.sizes[lists.run.row] if k is None else k))
    return within


@dataclass(frozen=True)
class Side:
    """The contributions of each query's cases to one of two lists."""

    # Of shape (q, u): the weight of each unjudged case at its best and worst position, 0 if not
    # listed; and of shape (q,): the judged cases' contribution, a sum, or the weight of the first
    # relevant one
    best: Floats
    known_best: Floats
    worst: Floats
    known_worst: Floats

    def only(self, rows: NDArray[np.integer]) -> Side:
        """Some of the queries, possibly repeated."""
        ends = self.best[rows], self.known_best[rows]
        if self.worst is self.best:
            return Side(*ends, *ends)
        return Side(*ends, self.worst[rows], self.known_worst[rows])


@dataclass(frozen=True)
class Problem:
    """The unjudged cases of two lists, query by query, with the judged ones."""

    first: Side
    second: Side
    there: NDArray[np.bool_]  # of shape (q, u): which cells are cases
    spare: NDArray[np.int64]  # of shape (q,): number of further ones without a weight
    judged: NDArray[np.int64]  # of shape (q, l): number of judged cases with at least each level
    now: Floats  # of shape (q,): the current difference; NaN where undefined

    def only(self, rows: NDArray[np.integer]) -> Problem:
        """Some of the queries, possibly repeated."""
        rest = self.there[rows], self.spare[rows], self.judged[rows], self.now[rows]
        return Problem(self.first.only(rows), self.second.only(rows), *rest)

    def swapped(self) -> Problem:
        """The problem with both lists swapped."""
        return replace(self, first=self.second, second=self.first, now=-self.now)


def greatest(scale: Scale, problem: Problem) -> Floats:
    """The greatest difference of each query, first minus second, shape (q,).

    Without a score now, it is over grades that yield one; NaN if none do.
    """
    n = len(problem.there)
    high = np.full(n, np.nan)
    width = problem.there.shape[1] + min(len(scale.discount), int(problem.spare.max(initial=0)))
    step = max(1, _CELLS // (max(width, 1) * len(scale.levels)))
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        high[rows] = _greatest(scale, problem.only(rows))
    return np.asarray(np.fmax(high, problem.now))


def _greatest(scale: Scale, problem: Problem) -> Floats:
    there = problem.there & (scale.reach > 0)
    spare = problem.spare * (scale.reach > 0)
    undefined = np.isnan(problem.now) | (not scale.never_undefined)
    needed = (problem.judged[:, 0] == 0) & undefined
    none = ~there.any(axis=1) & (spare == 0)
    first, second = problem.first, problem.second
    base = first.known_best - second.known_worst
    if scale.kind == "first":
        each = np.maximum(first.known_best[:, np.newaxis], first.best)
        each = each - np.maximum(second.known_worst[:, np.newaxis], second.worst)
        best = np.where(there, each, -np.inf).max(axis=1, initial=-np.inf)
        high = np.where(needed, best, np.maximum(best, base))
        return np.where((needed & none) | ~np.isfinite(high), np.nan, high)
    apart = np.where(there, first.best - second.worst, -np.inf)
    if scale.kind == "sum":
        apart *= float(scale.steps[: scale.reach].sum()) or 1
        some = np.where(apart > 0, apart, 0.0).sum(axis=1)
        least = np.minimum(apart.max(axis=1, initial=-np.inf), 0.0)
        high = base + np.where(needed, some + least, some)
    elif scale.kind == "share":
        sums = _largest_sums(apart)
        relevant = problem.judged[:, :1] + np.arange(sums.shape[1])
        # All the cases without a weight, or none of them.
        counts = np.concatenate([relevant, relevant + spare[:, np.newaxis]], axis=1)
        total = base[:, np.newaxis] + np.concatenate([sums, sums], axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = total / counts
        ratio[counts == 0] = -np.inf
        high = ratio.max(axis=1)
    else:
        # An ideal list has no more of them than discounts.
        most = np.minimum(spare, len(scale.discount) - 1)
        more = np.arange(int(most.max(initial=0))) < most[:, np.newaxis]
        sums = _largest_sums(np.concatenate([apart, np.where(more, 0.0, -np.inf)], axis=1))
        high = _greatest_gain(scale, problem.judged, base, sums, needed)
    return np.where((needed & none) | ~np.isfinite(high), np.nan, high)


def _largest_sums(apart: Floats) -> Floats:
    """The sums of the 0, 1, ... largest of each row; missing cells are excluded."""
    ordered = -np.sort(-apart, axis=1)
    return np.concatenate([np.zeros((len(apart), 1)), np.cumsum(ordered, axis=1)], axis=1)


def _greatest_gain(
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
            # The last position up to each with the running maximum.
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
