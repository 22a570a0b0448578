"""Ranked half-life: where a list has given half of the relevance that it holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.measure import UNJUDGED_ITEMS, Definition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.lists.lists import Lists
    from quem.lists.measure import Outcome

    Floats = NDArray[np.float64]

_NOTHING_HELD = "no item of the list has a grade above 0"
# Sums of grades that differ by less, as a share of all, differ by rounding.
_SAME = 1e-9
# Of what can come before the median in a tie; beyond it orders are drawn.
_MOST_WAYS = 20_000
_DRAWN = 100


def half_of(lists: Lists) -> tuple[NDArray[np.bool_], NDArray[np.intp], Floats, Floats]:
    """Find where the lists reach half of their relevance, in the order in which they are.

    Shapes: `some` (q,); `at` (s,); `missing` (s,); `grade` (s,).
    """
    gain = np.nan_to_num(np.maximum(lists.value, 0))
    total = lists.run.sum(gain)
    some = total > 0
    reached = np.zeros(len(gain))
    for query in np.flatnonzero(some).tolist():
        start = int(lists.run.starts[query])
        end = start + int(lists.run.sizes[query])
        reached[start:end] = np.cumsum(gain[start:end])
    half = total / 2
    row = lists.run.row
    there = some[row] & (reached >= half[row] - _SAME * total[row])
    at = np.flatnonzero(there)[np.unique(row[there], return_index=True)[1]]
    before = reached[at] - gain[at]
    return some, at, np.minimum(half[some] - before, gain[at]), gain[at]


def _half_life(lists: Lists) -> Outcome:
    some, at, missing, grade = half_of(lists)
    score = np.zeros(len(lists))
    score[some] = lists.run.position[at] - 1 + missing / grade
    undefined = ((~some, _NOTHING_HELD),)
    if not lists.all_orders:
        return score, undefined
    gain = np.nan_to_num(np.maximum(lists.value, 0))
    for place, query in zip(at.tolist(), np.flatnonzero(some).tolist(), strict=True):
        start = int(lists.run.starts[query])
        # In whatever order, half is reached in the same tie.
        first = start + int(lists.places.first[place]) - 1
        last = start + int(lists.places.last[place])
        if last - first > 1:
            total = gain[start : start + int(lists.run.sizes[query])].sum()
            wanted = total / 2 - gain[start:first].sum()
            inside = _in_a_tie(gain[first:last], wanted, _SAME * total)
            score[query] = first - start + inside
    return score, undefined


def _in_a_tie(gain: Floats, wanted: float, same: float) -> float:
    """Average over the orders of tied items where their gains reach a sum.

    Shapes: `gain` (s,).
    """
    grades, counts = np.unique(gain[gain > 0], return_counts=True)
    if np.prod(counts + 1.0) > _MOST_WAYS:
        random = np.random.default_rng(0)
        drawn = [_reached(random.permutation(gain), wanted, same) for _ in range(_DRAWN)]
        return math.fsum(drawn) / _DRAWN
    # Each way to take some of each grade, with the chance that exactly they come before the next.
    taken = np.indices((counts + 1).tolist()).reshape(len(counts), -1).T
    many, m = taken.sum(axis=1), int(counts.sum())
    log = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, m + 1)))])
    ways = (log[counts] - log[taken] - log[counts - taken]).sum(axis=1)
    chance = np.exp(ways - (log[m] - log[many] - log[m - many]))
    held = taken @ grades
    # The i-th of m items with a gain is at the place i (s + 1)/(m + 1) of s, in the mean.
    place = (many + 1) * (len(gain) + 1) / (m + 1)
    inside = 0.0
    for grade, left in zip(grades.tolist(), (counts - taken).T, strict=True):
        median = (held < wanted - same) & (held + grade >= wanted - same) & (left > 0)
        next_is = chance[median] * left[median] / (m - many[median])
        share = np.minimum((wanted - held[median]) / grade, 1)
        inside += float((next_is * (place[median] - 1 + share)).sum())
    return inside


def _reached(gain: Floats, wanted: float, same: float) -> float:
    reached = np.cumsum(gain)
    at = int((reached >= wanted - same).argmax())
    return at + min(float((wanted - reached[at] + gain[at]) / gain[at]), 1.0)


HALF_LIFE = (
    Definition(
        name="RHL",
        family="relevance",
        summary="Ranked half-life: the position where half of what a list holds is reached.",
        formula="L + (n/2 - Σf)/F, with n the sum of the grades in the list, position L + 1 the "
        "first up to which they sum to n/2 or more, Σf their sum up to L, and F the grade at L + 1",
        compute=_half_life,
        low=0,
        high=math.inf,
        better="lower",
        truth="grades",
        ties="Items of equal score keep the order in which they are given; with ties by id, the "
        "last id first; with expected ties, the score is the mean over all their orders: exact, "
        "or over 100 of them where a tie has very many different grades.",
        short="Only what the list holds counts: a list of one relevant item at the top has 0.5, "
        "whatever it lacks. So it is read beside recall or precision.",
        unknown="An item that the ground truth does not have, or of a grade below 0, has no "
        "relevance, and holds its position.",
        undefined="Where the list holds no item of a grade above 0.",
        citation="Borlund & Ingwersen (1998), Measures of Relative Relevance and Ranked Half-Life, "
        "SIGIR: the median of grouped data, with positions as classes of width 1. The lower limit "
        "of position i is taken as i - 1; with i - 0.5, all scores would be 0.5 greater.",
        parameters=(UNJUDGED_ITEMS,),
        shown_with=("", "(unjudged=skip)"),
    ),
)
