"""Discounted cumulative gain, normalised, and what it is where the length of a list matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.measures.measure import Definition, Parameter
from quem.measures.places import Places
from quem.measures.ragged import sum_by
from quem.measures.wording import (
    ATANASOVA,
    GRADE,
    LIU,
    NOTHING_RELEVANT,
    TIES_BY_ORDER,
    TOP,
    UNJUDGED,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.measures.lists import Lists
    from quem.measures.measure import Outcome
    from quem.measures.ragged import Ragged

__all__ = ["MEASURES"]


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
    return sum_by(rows.row[at], gains * places.only(at).mean(_discount(rows), k), len(rows))


def _discount(rows: Ragged) -> NDArray[np.float64]:
    """The discount of each position that there is, from 1."""
    discount: NDArray[np.float64] = 1 / np.log2(np.arange(int(rows.sizes.max(initial=0))) + 2)
    return discount


def _ndcgl(lists: Lists, rel: float) -> Outcome:
    hits, sizes = lists.hits(rel), lists.run.sizes
    terminal = hits.found / np.maximum(hits.relevant, 1)
    gained = hits.sum(hits.places.mean(_discount(lists.run)))
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

MEASURES = (
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
        parameters=(_GAIN, TOP),
        shown_with=("", "(gain=exponential)", "@2"),
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
