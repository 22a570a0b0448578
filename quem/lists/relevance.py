"""Measures of lists by relevant items."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.measure import (
    EMPTY_LIST,
    GRADE,
    NOTHING_RELEVANT,
    TOP,
    UNJUDGED_ITEMS,
    Definition,
    Parameter,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.lists.lists import Hits, Lists
    from quem.lists.measure import Outcome

    Floats = NDArray[np.float64]


def of_relevant(hits: Hits, score: Floats) -> Outcome:
    """Make a score undefined where nothing is relevant."""
    return score, ((hits.relevant == 0, NOTHING_RELEVANT),)


def _held(lists: Lists, rel: float, k: int | None) -> tuple[Hits, Floats]:
    """The number of relevant items among the best k, averaged over orders of ties."""
    hits = lists.hits(rel)
    held = hits.found.astype(np.float64)
    return hits, held if k is None else hits.sum(hits.places.within(k))


def _precision(lists: Lists, rel: float, k: int | None) -> Outcome:
    hits, held = _held(lists, rel, k)
    return of_relevant(hits, held / (np.maximum(lists.run.sizes, 1) if k is None else k))


def _recall(lists: Lists, rel: float, k: int | None) -> Outcome:
    hits, held = _held(lists, rel, k)
    return of_relevant(hits, held / np.maximum(hits.relevant, 1))


def _f1(lists: Lists, rel: float, k: int | None) -> Outcome:
    hits, held = _held(lists, rel, k)
    # By precision and recall as trec_eval computes it, to the last bit.
    precision = held / (np.maximum(lists.run.sizes, 1) if k is None else k)
    recall = held / np.maximum(hits.relevant, 1)
    return of_relevant(hits, 2 * precision * recall / np.where(held > 0, recall + precision, 1))


def _r_precision(lists: Lists, rel: float) -> Outcome:
    hits = lists.hits(rel)
    held = hits.sum(hits.places.within(hits.relevant[hits.query]))
    return of_relevant(hits, held / np.maximum(hits.relevant, 1))


def precisions(hits: Hits, k: int | None = None) -> Floats:
    r"""The summed precision at each relevant item of a list, averaged over orders of ties.

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


def _average_precision(lists: Lists, rel: float, k: int | None) -> Outcome:
    hits = lists.hits(rel)
    return of_relevant(hits, precisions(hits, k) / np.maximum(hits.relevant, 1))


def mean_at_first(hits: Hits, weight: Floats, k: int | None = None) -> Floats:
    """The mean weight of the position of the first relevant item; 0 without one."""
    first = hits.nth == 1
    place, size = hits.places.first[first], hits.places.size[first]
    relevant = hits.tied[1][first]
    score = np.zeros(len(hits.found))
    # The first of r relevant items among n tied ones is the j-th with probability C(n - j, r - 1) /
    # C(n, r); each follows from the last.
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


def reciprocal_rank(hits: Hits, k: int | None = None) -> Floats:
    """The reciprocal of the position of the first relevant item; 0 without one."""
    return mean_at_first(hits, 1 / np.arange(1, hits.places.last.max(initial=0) + 1), k)


def _reciprocal_rank(lists: Lists, rel: float, k: int | None) -> Outcome:
    hits = lists.hits(rel)
    return of_relevant(hits, reciprocal_rank(hits, k))


def _success(lists: Lists, rel: float, k: int | None) -> Outcome:
    hits = lists.hits(rel)
    return of_relevant(hits, mean_at_first(hits, np.ones(lists.run.sizes.max(initial=0)), k))


def _bpref(lists: Lists, rel: float) -> Outcome:
    hits, known = lists.hits(rel), lists.true_relevance
    wrong = lists.truth.only((known >= 0) & (known < rel)).sizes
    most = np.minimum(wrong, hits.relevant)[hits.query]
    # Items judged not relevant before the tie of each hit, and in it.
    counted = np.concatenate([[0], np.cumsum((lists.relevance >= 0) & (lists.relevance < rel))])
    start = lists.run.starts[hits.query]
    first, last = start + hits.places.first - 1, start + hits.places.last
    before, among = counted[first] - counted[start], counted[last] - counted[first]
    # Of the c items in the tie, each number from 0 to c is equally likely to come first.
    rising = np.clip(most - before, 0, among + 1)
    total = rising * before + rising * (rising - 1) / 2 + (among + 1 - rising) * most
    share = total / (among + 1) / np.maximum(most, 1)
    return of_relevant(hits, hits.sum(1 - share) / np.maximum(hits.relevant, 1))


def _judged(lists: Lists, k: int | None) -> Outcome:
    sizes = lists.run.sizes
    chance = np.ones(lists.run.total) if k is None else lists.places.within(k)
    held = lists.run.sum(np.where(lists.known, chance, 0))
    looked = np.maximum(sizes if k is None else np.minimum(sizes, k), 1)
    return held / looked, ((sizes == 0, EMPTY_LIST),)


def _half_life(lists: Lists, rel: float) -> Outcome:
    hits = lists.hits(rel)
    before, among = hits.tied
    # The mean position of the j-th of r relevant items in a tie of s is j (s + 1)/(r + 1).
    place = hits.places.first - 1 + (hits.nth - before) * (hits.places.size + 1) / (among + 1)
    middle = (hits.found + 1) // 2
    is_middle = hits.nth == middle[hits.query]
    score = hits.sum(np.where(is_middle, place, 0)) + hits.found / 2 - middle
    none = (hits.found == 0) & (hits.relevant > 0)
    undefined = (hits.relevant == 0, NOTHING_RELEVANT), (none, "the list has no relevant item")
    return score, undefined


def _search_length(lists: Lists, rel: float, wanted: int) -> Outcome:
    hits, sizes = lists.hits(rel), lists.run.sizes
    before, among = hits.tied
    # In a tie of r relevant items and i others, i s/(r + 1) are before the s-th relevant one.
    others = (hits.places.size - among) * (hits.nth - before) / (among + 1)
    found = hits.sum(np.where(hits.nth == wanted, hits.places.first - 1 - before + others, 0))
    # Judged items that are not listed come last, as one tie.
    judged_wrong = lists.truth.only(lists.true_relevance < rel).sizes
    wrong = judged_wrong - lists.run.sum(lists.relevance < rel)
    unlisted = wrong * (wanted - hits.found) / (hits.relevant - hits.found + 1)
    score = np.where(hits.found >= wanted, found, sizes - hits.found + unlisted)
    few = (hits.relevant > 0) & (hits.relevant < wanted)
    undefined = (
        (hits.relevant == 0, NOTHING_RELEVANT),
        (few, "fewer items are relevant than wanted"),
    )
    return score, undefined


_UNJUDGED = "An item that the ground truth does not have is not relevant, and holds its position."
_NOTHING = "Undefined where no item is relevant."
_JUDGED_ONCE = (GRADE, UNJUDGED_ITEMS)
_measure = partial(
    Definition,
    family="relevance",
    low=0,
    high=1,
    notes=f"What the list lacks counts 0. {_UNJUDGED} {_NOTHING}",
    parameters=(*_JUDGED_ONCE, TOP),
)

RELEVANCE = (
    _measure(
        name="P",
        summary="Precision: the share of the k best items that are relevant.",
        formula="relevant items among the k best / k; without k, relevant items / length of the "
        "list",
        compute=_precision,
        notes=f"With k it is divided by k, also where the list is shorter; an empty one has 0. "
        f"{_UNJUDGED} {_NOTHING}",
        citation="Van Rijsbergen (1979), Information Retrieval",
        aliases=("precision", "prec", "set_p", "setp"),
    ),
    _measure(
        name="R",
        summary="Recall: the share of the relevant items that are among the k best.",
        formula="relevant items among the k best / R, with R relevant items in all",
        compute=_recall,
        citation="Van Rijsbergen (1979), Information Retrieval",
        aliases=("recall", "rec", "set_recall", "setr"),
    ),
    _measure(
        name="F1",
        summary="The harmonic mean of precision and recall.",
        formula="2 f / (n + R), with f of the R relevant items among the n of the list; "
        "2 f / (k + R), with f among its k best",
        compute=_f1,
        citation="Van Rijsbergen (1979), Information Retrieval",
        aliases=("f", "set_f", "setf"),
    ),
    _measure(
        name="AP",
        summary="Average precision: the precision at each relevant item, averaged over all of "
        "them.",
        formula="Σ P(i) over the positions i of relevant items / R, with P(i) the share of "
        "relevant items up to i, and R relevant items in all",
        compute=_average_precision,
        citation="Harman (1992), Evaluation Issues in Information Retrieval, Information "
        "Processing & Management",
        aliases=("map", "map_cut", "average_precision", "mean_average_precision"),
    ),
    _measure(
        name="RR",
        summary="One over the position of the first relevant item.",
        formula="1 / position of the first relevant item; 0 where the list has none",
        compute=_reciprocal_rank,
        citation="Kantor & Voorhees (2000), The TREC-5 Confusion Track, Information Retrieval",
        aliases=("mrr", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank"),
    ),
    _measure(
        name="Success",
        summary="Whether a relevant item is among the k best.",
        formula="1 if a relevant item is among the k best, else 0",
        compute=_success,
        citation="Craswell & Hawking (2004), Overview of the TREC 2004 Web Track, TREC",
        aliases=("hit_rate", "accuracy", "match"),
    ),
    _measure(
        name="Rprec",
        summary="R-precision: precision at the position that is the number of relevant items.",
        formula="relevant items among the R best / R, with R relevant items in all",
        compute=_r_precision,
        citation="Buckley & Voorhees (2000), Evaluating Evaluation Measure Stability, SIGIR",
        parameters=_JUDGED_ONCE,
        aliases=("r_precision",),
    ),
    _measure(
        name="bpref",
        summary="How seldom items judged not relevant are before relevant ones.",
        formula="Σ (1 - min(n(i), m) / m) / R over the relevant items i of the list, with n(i) "
        "items judged not relevant before i, R relevant items and N not relevant ones in all, "
        "m = min(R, N); without N, each term is 1",
        compute=_bpref,
        notes="What the list lacks counts 0. Items that the ground truth does not have are passed "
        f"over; so are those of a grade below 0. {_NOTHING}",
        citation="Buckley & Voorhees (2004), Retrieval Evaluation with Incomplete Information, "
        "SIGIR",
        parameters=(GRADE,),
    ),
    _measure(
        name="Judged",
        summary="The share of the k best items that the ground truth has.",
        formula="judged items among the k best / k, or the length of the list if that is less",
        compute=_judged,
        notes="Undefined for an empty list.",
        citation="MacAvaney, Macdonald & Ounis (2022), Streamlining Evaluation with ir-measures, "
        "ECIR",
        parameters=(TOP,),
    ),
    _measure(
        name="RHL",
        summary="Ranked half-life: the position where half of the relevant items of a list are "
        "reached.",
        formula="L + n/2 - m, with n relevant items in the list, and m of them before position "
        "L + 1, which holds the next one and reaches n/2: the median of grouped data, with "
        "positions as classes",
        compute=_half_life,
        high=math.inf,
        better="lower",
        notes="Only what the list holds counts: one relevant item at the top has 0.5, whatever the "
        f"list lacks; read it beside recall. {_UNJUDGED} Undefined where the list has no relevant "
        "item.",
        citation="Borlund & Ingwersen (1998), Measures of Relative Relevance and Ranked "
        "Half-Life, SIGIR",
        parameters=_JUDGED_ONCE,
        aliases=("ranked_half_life", "half_life"),
    ),
    _measure(
        name="ESL",
        summary="Expected search length: the number of items that are not relevant before the "
        "wanted number of relevant ones.",
        formula="not relevant items before the wanted relevant one; in a tie of r relevant items "
        "and i others, i s/(r + 1) others come before the s-th relevant one",
        compute=_search_length,
        high=math.inf,
        better="lower",
        notes="What the list lacks comes after its end: the judged items as one tie. "
        f"{_UNJUDGED} Undefined where fewer items are relevant than wanted.",
        citation="Cooper (1968), Expected Search Length: A Single Measure of Retrieval "
        "Effectiveness Based on the Weak Ordering Action of Retrieval Systems, American "
        "Documentation",
        parameters=(
            Parameter("wanted", 1, "wanted number of relevant items", least=1),
            *_JUDGED_ONCE,
        ),
        aliases=("expected_search_length",),
    ),
)
