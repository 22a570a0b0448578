"""Measures of relevance that have no relative: recall, success, R-precision, ERR, bpref, Judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.lists.binary import mean_at_first
from quem.lists.measure import (
    EMPTY_LIST,
    GRADE,
    NOTHING_RELEVANT,
    TIES_BY_ORDER,
    TOP,
    UNJUDGED,
    UNJUDGED_ITEMS,
    Definition,
    Parameter,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.lists.lists import Lists
    from quem.lists.measure import Outcome

    Floats = NDArray[np.float64]


def _recall(lists: Lists, rel: float, k: int | None) -> Outcome:
    hits = lists.hits(rel)
    held = hits.found if k is None else hits.sum(hits.places.within(k))
    return held / np.maximum(hits.relevant, 1), ((hits.relevant == 0, NOTHING_RELEVANT),)


def _success(lists: Lists, rel: float, k: int | None) -> Outcome:
    hits = lists.hits(rel)
    score = mean_at_first(hits, np.ones(int(lists.run.sizes.max(initial=0))), k)
    return score, ((hits.relevant == 0, NOTHING_RELEVANT),)


def _r_precision(lists: Lists, rel: float) -> Outcome:
    hits = lists.hits(rel)
    held = hits.sum(hits.places.within(hits.relevant[hits.query]))
    return held / np.maximum(hits.relevant, 1), ((hits.relevant == 0, NOTHING_RELEVANT),)


def nonrelevant_before(lists: Lists, rel: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Count the items judged not relevant that are before each hit, and those in its tie.

    Shapes: `before`, `among` (h,).
    """
    hits, rows = lists.hits(rel), lists.run
    counted = np.concatenate([[0], np.cumsum((lists.relevance >= 0) & (lists.relevance < rel))])
    start = rows.starts[hits.query]
    first, last = start + hits.places.first - 1, start + hits.places.last
    return counted[first] - counted[start], counted[last] - counted[first]


def _bpref(lists: Lists, rel: float) -> Outcome:
    hits = lists.hits(rel)
    known = lists.true_relevance
    wrong = lists.truth.only((known >= 0) & (known < rel)).sizes
    most = np.minimum(wrong, hits.relevant)[hits.query]
    before, among = nonrelevant_before(lists, rel)
    # Of the c items in the tie, each number from 0 to c is as likely to come first.
    rising = np.clip(most - before, 0, among + 1)
    total = rising * before + rising * (rising - 1) / 2 + (among + 1 - rising) * most
    share = total / (among + 1) / np.maximum(most, 1)
    score = hits.sum(1 - share) / np.maximum(hits.relevant, 1)
    return score, ((hits.relevant == 0, NOTHING_RELEVANT),)


def gains_of_a_cascade(lists: Lists, top: float) -> tuple[NDArray[np.intp], Floats]:
    """Give the items that can satisfy a reader, and each one's probability to do so.

    Shapes: `at` (g,); `stops` (g,).
    """
    at = np.flatnonzero(lists.value > 0)
    return at, (np.exp2(np.minimum(lists.value[at], top)) - 1) / 2**top


def _err(lists: Lists, top: float, k: int | None) -> Outcome:
    at, stops = gains_of_a_cascade(lists, top)
    places, row = lists.places.only(at), lists.run.row[at]
    weight = np.where(places.first <= (k or np.inf), stops / places.first, 0)
    goes_on = 1 - stops
    if (places.size > 1).any():
        new = np.flatnonzero(np.diff(row, prepend=-1) | np.diff(places.first, prepend=0))
        ties = np.split(goes_on, new[1:])
        place, row = places.only(new), row[new]
        spans = zip(ties, place.first.tolist(), place.size.tolist(), strict=True)
        weight = np.array([_of_tie(tie, first, size, k) for tie, first, size in spans])
        goes_on = np.multiply.reduceat(goes_on, new)
    score, here = np.zeros(len(lists)), np.ones(len(lists))
    start = np.flatnonzero(np.diff(row, prepend=-1))
    nth = np.arange(len(row)) - np.repeat(start, np.diff(np.append(start, len(row))))
    by_turn = np.split(np.argsort(nth, kind="stable"), np.cumsum(np.bincount(nth))[:-1])
    for turn in by_turn:
        score[row[turn]] += here[row[turn]] * weight[turn]
        here[row[turn]] *= goes_on[turn]
    return score, ()


def _of_tie(goes_on: Floats, first: int, size: int, k: int | None) -> float:
    """Average what a tie adds over all its orders, for a reader who comes to it.

    Shapes: `goes_on` (m,).
    """
    # The mean, over the choices of j items, of the probability to go on after all of them.
    left = np.ones(size + 1)
    for n, factor in enumerate(goes_on.tolist(), size - len(goes_on) + 1):
        j = np.arange(1, n + 1)
        left[1 : n + 1] = ((n - j) * left[1 : n + 1] + j * factor * left[:n]) / n
    position = np.arange(first, first + size)
    stops = np.where(position <= (k or np.inf), -np.diff(left), 0)
    return float((stops / position).sum())


def _judged(lists: Lists, k: int | None) -> Outcome:
    sizes = lists.run.sizes
    chance = np.ones(lists.run.total) if k is None else lists.places.within(k)
    held = lists.run.sum(np.where(lists.known, chance, 0))
    looked = np.maximum(sizes if k is None else np.minimum(sizes, k), 1)
    return held / looked, ((sizes == 0, EMPTY_LIST),)


_HIGHEST = Parameter(
    "top", 4.0, "the highest grade that there can be; a higher one counts as it", float, 1e-9, 60
)
_NOTHING = "Where no item is relevant."


def _definition(
    name: str,
    summary: str,
    formula: str,
    compute: Callable[..., Outcome],
    short: str,
    citation: str,
    *parameters: Parameter,
    unknown: str = UNJUDGED,
    undefined: str = _NOTHING,
    shown_with: tuple[str, ...] = ("", "@2"),
) -> Definition:
    return Definition(
        name=name,
        family="relevance",
        summary=summary,
        formula=formula,
        compute=compute,
        low=0,
        high=1,
        better="higher",
        truth="grades",
        ties=TIES_BY_ORDER,
        short=short,
        unknown=unknown,
        undefined=undefined,
        citation=citation,
        parameters=parameters,
        shown_with=shown_with,
    )


RELEVANCE = (
    _definition(
        "R",
        "Recall: the share of the relevant items that are among the k best.",
        "relevant items among the k best / R, with R relevant items in all",
        _recall,
        "What the list lacks counts 0.",
        "Van Rijsbergen (1979), Information Retrieval",
        GRADE,
        UNJUDGED_ITEMS,
        TOP,
    ),
    _definition(
        "Success",
        "Whether a relevant item is among the k best.",
        "1 if a relevant item is among the k best, else 0",
        _success,
        "0 where the list has no relevant item.",
        "Craswell & Hawking (2004), Overview of the TREC 2004 Web Track, TREC",
        GRADE,
        UNJUDGED_ITEMS,
        TOP,
        shown_with=("", "@1"),
    ),
    _definition(
        "Rprec",
        "R-precision: precision at the position that is the number of relevant items.",
        "relevant items among the R best / R, with R relevant items in all",
        _r_precision,
        "It is divided by R, also where the list is shorter.",
        "Buckley & Voorhees (2000), Evaluating Evaluation Measure Stability, SIGIR",
        GRADE,
        UNJUDGED_ITEMS,
        shown_with=("",),
    ),
    _definition(
        "ERR",
        "Expected reciprocal rank: how soon a reader stops who is satisfied by what they read.",
        "Σ s(i)/i Π (1 - s(j)) over the j before i, s(i) = (2^g(i) - 1) / 2^top, of grade g(i)",
        _err,
        "What the list lacks counts 0.",
        "Chapelle, Metzler, Zhang & Grinspan (2009), Expected Reciprocal Rank for Graded "
        "Relevance, CIKM",
        _HIGHEST,
        UNJUDGED_ITEMS,
        TOP,
        unknown="An item that the ground truth does not have satisfies nobody, and holds its "
        "position; so does one of a grade below 0.",
        undefined="Never; 0 where no item has a gain.",
        shown_with=("", "(top=3)", "@2"),
    ),
    _definition(
        "bpref",
        "How seldom items judged not relevant are before relevant ones.",
        "Σ (1 - min(n(i), m) / m) / R over the relevant items i of the list, with n(i) items "
        "judged not relevant before i, R relevant items and N not relevant ones in all, "
        "m = min(R, N); without N, each term is 1",
        _bpref,
        "What the list lacks counts 0.",
        "Buckley & Voorhees (2004), Retrieval Evaluation with Incomplete Information, SIGIR",
        GRADE,
        unknown="Items that the ground truth does not have are passed over; so are those of a "
        "grade below 0.",
        shown_with=("",),
    ),
    _definition(
        "Judged",
        "The share of the k best items that the ground truth has.",
        "judged items among the k best / k, or the length of the list if that is less",
        _judged,
        "It is divided by the length of the list where that is less than k.",
        "MacAvaney, Macdonald & Ounis (2022), Streamlining Evaluation with ir-measures, ECIR",
        TOP,
        unknown="They are what it counts.",
        undefined="For an empty list.",
    ),
)
