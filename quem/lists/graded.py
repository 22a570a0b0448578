"""Measures of graded relevance: discounted cumulative gain, rank-biased precision, ERR."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.measure import GRADE, TOP, UNJUDGED_ITEMS, Definition, Outcome, Parameter
from quem.lists.ragged import Places, Ragged, sum_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.lists.lists import Hits, Lists

    Floats = NDArray[np.float64]


def _ndcg(lists: Lists, gain: str, k: int | None) -> Outcome:
    truth = Places(lists.truth.position, lists.truth.position)
    score = _dcg(lists.run, lists.places, lists.value, gain, k)
    ideal = _dcg(lists.truth, truth, lists.true_value, gain, k)
    none = "no item has a gain for this query"
    return score / np.where(ideal > 0, ideal, 1), ((ideal == 0, none),)


def _dcg(rows: Ragged, places: Places, grade: Floats, gain: str, k: int | None) -> Floats:
    gaining = grade > 0
    if k is not None:
        gaining &= places.first <= k
    # In most lists, few items have a gain.
    at = np.flatnonzero(gaining)
    gains = grade[at] if gain == "linear" else np.exp2(grade[at]) - 1
    places = places.only(at)
    divisor = discount_divisor(rows)
    # Multiplying by the inverse would change the last digit.
    known = gains / divisor[places.first - 1]
    if (places.size > 1).any():
        known = np.where(places.size == 1, known, gains * places.mean(1 / divisor, k))
    return sum_by(rows.row[at], known, len(rows))


def discount_divisor(rows: Ragged) -> Floats:
    """The divisor of the gain at each existing position, from 1."""
    divisor: Floats = np.log2(np.arange(int(rows.sizes.max(initial=0))) + 2)
    return divisor


def _rbp(lists: Lists, p: float, rel: float, top: float | None, k: int | None) -> Outcome:
    if top is None:
        return relevance_rate(lists, lists.hits(rel), p, k), ()
    # In most lists, few items have a gain.
    at = np.flatnonzero(lists.value > 0)
    gain = np.minimum(lists.value[at] / top, 1) * lists.places.only(at).mean(_reach(lists, p), k)
    return (1 - p) * sum_by(lists.run.row[at], gain, len(lists)), ()


def relevance_rate(lists: Lists, hits: Hits, p: float, k: int | None) -> Floats:
    """The rate at which a reader with persistence p meets relevant items."""
    return (1 - p) * hits.sum(hits.places.mean(_reach(lists, p), k))


def _reach(lists: Lists, p: float) -> Floats:
    """The probability that the reader reaches each existing position, from 1."""
    reach: Floats = np.power(p, np.arange(int(lists.run.sizes.max(initial=0)) * 1.0))
    return reach


def _err(lists: Lists, top: float, k: int | None) -> Outcome:
    at = np.flatnonzero(lists.value > 0)
    stops = (np.exp2(np.minimum(lists.value[at], top)) - 1) / 2**top
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
    """The mean contribution of a tie over all its orders, for a reader who reaches it."""
    # The mean, over all choices of j items, of the probability to continue after all of them.
    left = np.ones(size + 1)
    for n, factor in enumerate(goes_on.tolist(), size - len(goes_on) + 1):
        j = np.arange(1, n + 1)
        left[1 : n + 1] = ((n - j) * left[1 : n + 1] + j * factor * left[:n]) / n
    position = np.arange(first, first + size)
    stops = np.where(position <= (k or np.inf), -np.diff(left), 0)
    return float((stops / position).sum())


PATIENCE = Parameter(
    "p", 0.5, "probability that the reader continues to the next item", float, 0, 0.999999
)
_measure = partial(Definition, family="relevance", low=0, high=1)

GRADED = (
    _measure(
        name="nDCG",
        summary="The gain of the items, discounted by position, as a share of what is possible.",
        formula="DCG / DCG of the ideal list, DCG = Σ gain(i) / log2(i + 1)",
        compute=_ndcg,
        notes="What the list lacks is not gained. An item that the ground truth does not have, or "
        "of a grade below 0, has no gain, and holds its position. Undefined where no item has a "
        "gain.",
        citation="Järvelin & Kekäläinen (2002), Cumulated Gain-Based Evaluation of IR Techniques, "
        "ACM TOIS",
        parameters=(
            Parameter(
                "gain",
                "linear",
                "the gain of an item: its grade, or 2^grade - 1",
                kind=str,
                choices=("linear", "exponential"),
            ),
            UNJUDGED_ITEMS,
            TOP,
        ),
        aliases=("ndcg_cut",),
    ),
    _measure(
        name="RBP",
        summary="The rate at which a reader of some patience meets relevant items.",
        formula="(1 - p) Σ g(i) p^(i - 1), with g(i) = 1 for a relevant item, else 0",
        compute=_rbp,
        notes="Nothing follows the end of the list, so that a perfect list has 1 - p^n. 0 where "
        "no item is relevant.",
        citation="Moffat & Zobel (2008), Rank-Biased Precision for Measurement of Retrieval "
        "Effectiveness, ACM TOIS",
        parameters=(
            PATIENCE,
            GRADE,
            Parameter(
                "top",
                None,
                "the highest grade; with it, an item of grade g counts g/top",
                float,
                1e-9,
            ),
            UNJUDGED_ITEMS,
            TOP,
        ),
        aliases=("rank_biased_precision",),
    ),
    _measure(
        name="ERR",
        summary="Expected reciprocal rank: how soon a reader is satisfied and stops.",
        formula="Σ s(i)/i Π (1 - s(j)) over the j before i, s(i) = (2^g(i) - 1) / 2^top, of grade "
        "g(i)",
        compute=_err,
        notes="An item that the ground truth does not have, or of a grade below 0, satisfies "
        "nobody, and holds its position. 0 where no item has a gain.",
        citation="Chapelle, Metzler, Zhang & Grinspan (2009), Expected Reciprocal Rank for Graded "
        "Relevance, CIKM",
        parameters=(
            Parameter(
                "top",
                4.0,
                "the highest possible grade; a higher one counts as it",
                float,
                1e-9,
                60,
            ),
            UNJUDGED_ITEMS,
            TOP,
        ),
        aliases=("expected_reciprocal_rank",),
    ),
)
