"""Precision, average precision, and what it is where the length of a list matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.measures.measure import Definition
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
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.measures.lists import Hits, Lists
    from quem.measures.measure import Outcome

__all__ = ["MEASURES"]


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
        parameters=(GRADE, TOP) if name in _ANY_LIST else (GRADE,),
        shown_with=("", "@2") if name in _ANY_LIST else ("",),
    )


MEASURES = (
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
