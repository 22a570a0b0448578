"""Measures of binary relevance: hits, precision and recall, average precision, reciprocal rank."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.measure import (
    ATANASOVA,
    EMPTY_LIST,
    GRADE,
    LIU,
    NOTHING_RELEVANT,
    PROCAKE,
    TIES_BY_ORDER,
    TOP,
    TRUTH_TIES_BY_ORDER,
    UNJUDGED,
    UNJUDGED_ITEMS,
    Definition,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.lists.lists import Hits, Lists
    from quem.lists.measure import Outcome


def common(lists: Lists, k: int | None) -> NDArray[np.bool_]:
    """Say which items of the lists are among the best k of both list and ground truth."""
    if k is None:
        return lists.known
    true = lists.true_position
    return (lists.run.position <= k) & (true > 0) & (true <= k)


def _held(lists: Lists, k: int | None) -> NDArray[np.float64]:
    """How many items of each list are hits, in the mean over the orders of tied ones."""
    if k is None or not lists.all_orders:
        return lists.run.sum(common(lists, k))
    chance = lists.places.within(k) * lists.true_places.within(k)
    return lists.run.sum(np.where(lists.known, chance, 0))


def _hits(lists: Lists, k: int | None) -> Outcome:
    return _held(lists, k), ()


def _hits_norm(lists: Lists, k: int | None) -> Outcome:
    held = _held(lists, k)
    if k is not None:
        return held / k, ()
    empty = lists.run.sizes == 0
    return held / np.maximum(lists.run.sizes, 1), ((empty, EMPTY_LIST),)


_UNKNOWN = "An item that the ground truth does not have is not a hit."

HITS = (
    Definition(
        name="hits",
        family="retrieval",
        summary="How many of the k best items of the ground truth the list has among its k best.",
        formula="|top k of the list ∩ top k of the ground truth|",
        compute=_hits,
        low=0,
        high=math.inf,
        better="higher",
        truth="order",
        ties=TRUTH_TIES_BY_ORDER,
        short="A short list can hit less; an empty one has 0.",
        unknown=_UNKNOWN,
        undefined="Never.",
        citation=PROCAKE,
        parameters=(TOP,),
        shown_with=("", "@2"),
    ),
    Definition(
        name="hits_norm",
        family="retrieval",
        summary="The share of the k best items that are hits.",
        formula="hits / k; without k, hits / length of the list",
        compute=_hits_norm,
        low=0,
        high=1,
        better="higher",
        truth="order",
        ties=TRUTH_TIES_BY_ORDER,
        short="With k it is divided by k, also where the list or the ground truth is shorter.",
        unknown=_UNKNOWN,
        undefined="Without k, for an empty list.",
        citation=PROCAKE,
        parameters=(TOP,),
        shown_with=("", "@2"),
    ),
)


def _precisions(hits: Hits, k: int | None = None) -> NDArray[np.float64]:
    r"""Sum the precision at each relevant item of a list, in the mean over orders of tied ones.

    A relevant item that is one of r in a tie of n, behind b others, has at position i of them,
    the j-th of the tie, an expected precision of :math:`(b + 1 + (j - 1)(r - 1)/(n - 1)) / i`
    (McSherry & Najork 2008, Computing Information Retrieval Performance Measures Efficiently in
    the Presence of Tied Scores, ECIR).
    """
    places = hits.places
    up_to = places.last if k is None else np.minimum(places.last, k)
    known = np.where(hits.position <= up_to, hits.nth / hits.position, 0)
    if (places.size == 1).all():
        return hits.sum(known)
    before, among = hits.tied
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, int(places.last.max()) + 1))])
    count = np.maximum(up_to - places.first + 1, 0)
    inverse = harmonic[places.first - 1 + count] - harmonic[places.first - 1]
    share = (among - 1) / np.maximum(places.size - 1, 1)
    spread = (before + 1) * inverse + share * (count - places.first * inverse)
    return hits.sum(np.where(places.size == 1, known, spread / places.size))


def _p(lists: Lists, rel: float, k: int | None) -> Outcome:
    hits, sizes = lists.hits(rel), lists.run.sizes
    held = hits.found if k is None else hits.sum(hits.places.within(k))
    score = held / (np.maximum(sizes, 1) if k is None else k)
    return score, ((hits.relevant == 0, NOTHING_RELEVANT),)


def _ap(lists: Lists, rel: float, k: int | None) -> Outcome:
    hits = lists.hits(rel)
    score = _precisions(hits, k) / np.maximum(hits.relevant, 1)
    return score, ((hits.relevant == 0, NOTHING_RELEVANT),)


def _aps(lists: Lists, rel: float) -> Outcome:
    hits = lists.hits(rel)
    last = (hits.found + 1) / (lists.run.sizes + 1)
    score = (_precisions(hits) + last) / (hits.relevant + 1)
    return score, ((hits.relevant == 0, NOTHING_RELEVANT),)


def _apl(lists: Lists, rel: float) -> Outcome:
    hits = lists.hits(rel)
    gain = hits.found / np.maximum(hits.relevant, 1)
    last = gain * (hits.found + gain) / (lists.run.sizes + 1)
    score = (_precisions(hits) + last) / (hits.relevant + 1)
    return score, ((hits.relevant == 0, NOTHING_RELEVANT),)


_ANY_LIST = ("P", "AP")


def _definition(
    name: str,
    summary: str,
    formula: str,
    compute: Callable[..., Outcome],
    short: str,
    citation: str,
) -> Definition:
    return Definition(
        name=name,
        family="relevance" if name in _ANY_LIST else "options",
        summary=summary,
        formula=formula,
        compute=compute,
        low=0,
        high=1,
        better="higher",
        truth="grades",
        ties=TIES_BY_ORDER,
        short=short,
        unknown=UNJUDGED,
        undefined="Where no item is relevant.",
        citation=citation,
        parameters=(GRADE, UNJUDGED_ITEMS, TOP) if name in _ANY_LIST else (GRADE,),
        shown_with=("", "(unjudged=skip)", "@2") if name in _ANY_LIST else ("",),
    )


PRECISION = (
    _definition(
        "P",
        "Precision: the share of the k best items that are relevant.",
        "relevant items among the k best / k; without k, relevant items / length of the list",
        _p,
        "With k it is divided by k, also where the list is shorter; an empty one has 0.",
        "Van Rijsbergen (1979), Information Retrieval",
    ),
    _definition(
        "AP",
        "Average precision: the precision at each relevant item, averaged over all of them.",
        "Σ P(i) over the positions i of relevant items / R, with P(i) the share of relevant items "
        "up to i, and R relevant items in all",
        _ap,
        "What the list lacks counts 0; what follows the last relevant item does not matter.",
        "Harman (1992), Evaluation Issues in Information Retrieval, Information Processing & "
        "Management",
    ),
    _definition(
        "APs",
        "Average precision, smoothed: of the list with one more relevant item at its end.",
        "(Σ P(i) + (f + 1)/(n + 1)) / (R + 1), with f relevant items among the n of the list",
        _aps,
        "The longer the list, the less its end counts; an empty one has 1/(R + 1).",
        ATANASOVA,
    ),
    _definition(
        "APL",
        "Average precision, length-aware: of the list with a terminal item at its end.",
        "(Σ P(i) + t (f + t)/(n + 1)) / (R + 1), with gain t = f/R of the terminal item, and f "
        "relevant items among the n of the list",
        _apl,
        "The longer the list, the less its end counts; an empty one has 0.",
        f"{LIU}; {ATANASOVA}",
    ),
)


def reciprocal_rank(hits: Hits, k: int | None = None) -> NDArray[np.float64]:
    """One over the position of the first relevant item; 0 where a list has none."""
    return mean_at_first(hits, 1 / np.arange(1, hits.places.last.max(initial=0) + 1), k)


def mean_at_first(
    hits: Hits, weight: NDArray[np.float64], k: int | None = None
) -> NDArray[np.float64]:
    """Give the weight of the position of the first relevant item; 0 where a list has none.

    Shapes: `weight` (m,).
    """
    first = hits.nth == 1
    place, size = hits.places.first[first], hits.places.size[first]
    _, relevant = hits.tied
    relevant = relevant[first]
    score = np.zeros(len(hits.found))
    # That the first relevant item of its tie is the j-th of all items there has the chance
    # C(n - j, r - 1) / C(n, r), with r relevant ones among n; each follows from the last.
    chance = relevant / size
    mean = np.zeros(len(place))
    for j in range(int((size - relevant).max(initial=-1)) + 1):
        if k is not None and j >= k:
            break
        within = j <= size - relevant
        at = np.where(within, place + j, 1)
        mean += np.where(within & (at <= (k or np.inf)), chance * weight[at - 1], 0)
        left = size - j - 1
        chance = np.where(within, chance * (left - relevant + 1) / np.maximum(left, 1), 0)
    score[hits.query[first]] = mean
    return score


def _rr(lists: Lists, rel: float, k: int | None) -> Outcome:
    hits = lists.hits(rel)
    return reciprocal_rank(hits, k), ((hits.relevant == 0, NOTHING_RELEVANT),)


RECIPROCAL_RANK = (
    Definition(
        name="RR",
        family="relevance",
        summary="One over the position of the first relevant item.",
        formula="1 / position of the first relevant item; 0 where the list has none",
        compute=_rr,
        low=0,
        high=1,
        better="higher",
        truth="grades",
        ties=TIES_BY_ORDER,
        short="0 where the list has no relevant item.",
        unknown=UNJUDGED,
        undefined="Where no item is relevant.",
        citation="Kantor & Voorhees (2000), The TREC-5 Confusion Track, Information Retrieval",
        parameters=(GRADE, UNJUDGED_ITEMS, TOP),
        shown_with=("", "(unjudged=skip)", "@1"),
    ),
)
