"""Reciprocal rank: how soon the first relevant item comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.measures.measure import Definition
from quem.measures.wording import GRADE, NOTHING_RELEVANT, TIES_BY_ORDER, TOP, UNJUDGED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.measures.lists import Hits, Lists
    from quem.measures.measure import Outcome

__all__ = ["MEASURES", "reciprocal_rank"]


def reciprocal_rank(hits: Hits, k: int | None = None) -> NDArray[np.float64]:
    """One over the position of the first relevant item; 0 where a list has none.

    Parameters
    ----------
    hits : Hits
    k : int, optional
        How many of the best items are looked at; all by default.

    Returns
    -------
    array of float, shape (q,)
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
        if k is not None:
            within &= place + j <= k
        mean += np.where(within, chance / (place + j), 0)
        left = size - j - 1
        chance = np.where(within, chance * (left - relevant + 1) / np.maximum(left, 1), 0)
    score[hits.query[first]] = mean
    return score


def _rr(lists: Lists, rel: float, k: int | None) -> Outcome:
    hits = lists.hits(rel)
    return reciprocal_rank(hits, k), ((hits.relevant == 0, NOTHING_RELEVANT),)


MEASURES = (
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
        parameters=(GRADE, TOP),
        shown_with=("", "@1"),
    ),
)
