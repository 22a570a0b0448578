"""Measures of graded relevance: discounted cumulative gain and rank-biased precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.lists.measure import (
    ATANASOVA,
    GRADE,
    LIU,
    NOTHING_RELEVANT,
    TIES_BY_ORDER,
    TOP,
    UNJUDGED,
    UNJUDGED_ITEMS,
    Definition,
    Parameter,
)
from quem.lists.ragged import Places, sum_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.lists.lists import Hits, Lists
    from quem.lists.measure import Outcome
    from quem.lists.ragged import Ragged


def _ndcg(lists: Lists, gain: str, k: int | None) -> Outcome:
    truth = Places(lists.truth.position, lists.truth.position)
    score = _dcg(lists.run, lists.places, lists.value, gain, k)
    ideal = _dcg(lists.truth, truth, lists.true_value, gain, k)
    none = "no item has a gain for this query"
    return score / np.where(ideal > 0, ideal, 1), ((ideal == 0, none),)


def _dcg(
    rows: Ragged, places: Places, grade: NDArray[np.float64], gain: str, k: int | None
) -> NDArray[np.float64]:
    gaining = grade > 0
    if k is not None:
        gaining &= places.first <= k
    # Few items have a gain, in most lists.
    at = np.flatnonzero(gaining)
    gains = grade[at] if gain == "linear" else np.exp2(grade[at]) - 1
    places = places.only(at)
    divisor = _divisor(rows)
    # To multiply by the inverse would be off in the last digit.
    known = gains / divisor[places.first - 1]
    if (places.size > 1).any():
        known = np.where(places.size == 1, known, gains * places.mean(1 / divisor, k))
    return sum_by(rows.row[at], known, len(rows))


def _divisor(rows: Ragged) -> NDArray[np.float64]:
    """What the gain at each position that there is, from 1, is divided by."""
    divisor: NDArray[np.float64] = np.log2(np.arange(int(rows.sizes.max(initial=0))) + 2)
    return divisor


def _ndcgl(lists: Lists, rel: float) -> Outcome:
    hits, sizes = lists.hits(rel), lists.run.sizes
    terminal = hits.found / np.maximum(hits.relevant, 1)
    gained = hits.sum(hits.places.mean(1 / _divisor(lists.run)))
    score = gained + terminal / np.log2(sizes + 2)
    # All relevant items, and then the terminal one, whose gain is 1.
    most = int(hits.relevant.max(initial=0)) + 1
    ideal = np.cumsum(1 / np.log2(np.arange(most) + 2))[hits.relevant]
    return score / ideal, ((hits.relevant == 0, NOTHING_RELEVANT),)


_GAIN = Parameter(
    "gain",
    "linear",
    "the gain of an item: its grade, or 2^grade - 1",
    kind=str,
    choices=("linear", "exponential"),
)

GAIN = (
    Definition(
        name="nDCG",
        family="relevance",
        summary="The gain of the items, discounted by position, as a share of what is possible.",
        formula="DCG / DCG of the ideal list, DCG = Σ gain(i) / log2(i + 1)",
        compute=_ndcg,
        low=0,
        high=1,
        better="higher",
        truth="grades",
        ties=TIES_BY_ORDER,
        short="What the list lacks is not gained; what follows the last gain does not matter.",
        unknown="An item that the ground truth does not have has no gain, and holds its position; "
        "so has one of a grade below 0.",
        undefined="Where no item has a gain.",
        citation="Järvelin & Kekäläinen (2002), Cumulated Gain-Based Evaluation of IR Techniques, "
        "ACM TOIS",
        parameters=(_GAIN, UNJUDGED_ITEMS, TOP),
        shown_with=("", "(gain=exponential)", "(unjudged=skip)", "@2"),
    ),
    Definition(
        name="nDCGL",
        family="options",
        summary="nDCG, length-aware: of the list with a terminal item at its end.",
        formula="DCG(list + terminal item of gain t) / DCG(R relevant items + one of gain 1), "
        "t = f/R, with f of the R relevant items in the list, each of gain 1",
        compute=_ndcgl,
        low=0,
        high=1,
        better="higher",
        truth="grades",
        ties=TIES_BY_ORDER,
        short="The longer the list, the less its end counts; an empty one has 0.",
        unknown=UNJUDGED,
        undefined="Where no item is relevant.",
        citation=f"{LIU}; {ATANASOVA}",
        parameters=(GRADE,),
    ),
)


def _rbp(lists: Lists, p: float, rel: float, top: float | None, k: int | None) -> Outcome:
    if top is None:
        hits = lists.hits(rel)
        return _rate(lists, hits, p, k), ()
    # Few items have a gain, in most lists.
    at = np.flatnonzero(lists.value > 0)
    gain = np.minimum(lists.value[at] / top, 1) * lists.places.only(at).mean(_reach(lists, p), k)
    return (1 - p) * sum_by(lists.run.row[at], gain, len(lists)), ()


def _rbpl(lists: Lists, p: float, rel: float) -> Outcome:
    hits = lists.hits(rel)
    terminal = hits.found / np.maximum(hits.relevant, 1)
    score = _rate(lists, hits, p, None) + terminal * p ** lists.run.sizes.astype(np.float64)
    return score, ((hits.relevant == 0, NOTHING_RELEVANT),)


def _rate(lists: Lists, hits: Hits, p: float, k: int | None) -> NDArray[np.float64]:
    """The rate at which somebody who reads on with probability p meets what is relevant."""
    return (1 - p) * hits.sum(hits.places.mean(_reach(lists, p), k))


def _reach(lists: Lists, p: float) -> NDArray[np.float64]:
    """The chance that the reader comes to each position that there is, from 1."""
    reach: NDArray[np.float64] = np.power(p, np.arange(int(lists.run.sizes.max(initial=0)) * 1.0))
    return reach


_PATIENCE = Parameter(
    "p", 0.5, "with which probability the reader continues to the next item", float, 0, 0.999999
)

_HIGHEST = Parameter(
    "top", None, "the highest grade; with it, an item of grade g counts g/top", float, 1e-9
)

RANK_BIASED = (
    Definition(
        name="RBP",
        family="relevance",
        summary="The rate at which a reader of some patience meets relevant items.",
        formula="(1 - p) Σ g(i) p^(i - 1), with g(i) = 1 for a relevant item, else 0",
        compute=_rbp,
        low=0,
        high=1,
        better="higher",
        truth="grades",
        ties=TIES_BY_ORDER,
        short="Nothing follows the end of the list, so that a perfect list has 1 - p^n.",
        unknown=UNJUDGED,
        undefined="Never; 0 where no item is relevant.",
        citation="Moffat & Zobel (2008), Rank-Biased Precision for Measurement of Retrieval "
        "Effectiveness, ACM TOIS",
        parameters=(_PATIENCE, GRADE, _HIGHEST, UNJUDGED_ITEMS, TOP),
        shown_with=("", "(p=0.8)", "(top=3)"),
    ),
    Definition(
        name="RBPL",
        family="options",
        summary="RBP, length-aware: a terminal item takes what the list leaves over.",
        formula="RBP + t p^n, with t = f/R, and f of the R relevant items among the n of the list",
        compute=_rbpl,
        low=0,
        high=1,
        better="higher",
        truth="grades",
        ties=TIES_BY_ORDER,
        short="The shorter the list, the more its terminal item counts; an empty one has 0.",
        unknown=UNJUDGED,
        undefined="Where no item is relevant.",
        citation=f"{LIU}; {ATANASOVA}",
        parameters=(_PATIENCE, GRADE),
        shown_with=("", "(p=0.8)"),
    ),
)
