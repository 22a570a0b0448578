"""Rank-biased precision, and what it is where the length of a list matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.measures.measure import Definition, Parameter
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

    from quem.measures.lists import Hits, Lists
    from quem.measures.measure import Outcome

__all__ = ["MEASURES"]


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
    "p", 0.5, "with which probability the reader goes on to the next item", float, 0, 0.999999
)
_HIGHEST = Parameter(
    "top", None, "the highest grade; with it, an item of grade g counts g/top", float, 1e-9
)

MEASURES = (
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
        parameters=(_PATIENCE, GRADE, _HIGHEST, TOP),
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
