"""F1, and recall that is aware of the length of a list of options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.lists.binary import reciprocal_rank
from quem.lists.measure import (
    ATANASOVA,
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
    from numpy.typing import NDArray

    from quem.lists.lists import Hits, Lists
    from quem.lists.measure import Outcome


def _f1(lists: Lists, rel: float, k: int | None) -> Outcome:
    hits = lists.hits(rel)
    held = hits.found if k is None else hits.sum(hits.places.within(k))
    # By precision and recall as trec_eval computes it, to the last bit.
    precision = held / (np.maximum(lists.run.sizes, 1) if k is None else k)
    recall = held / np.maximum(hits.relevant, 1)
    score = 2 * precision * recall / np.where(held > 0, recall + precision, 1)
    return score, ((hits.relevant == 0, NOTHING_RELEVANT),)


def _f1s(lists: Lists, rel: float) -> Outcome:
    hits = lists.hits(rel)
    score = 2 * (hits.found + 1) / (lists.run.sizes + hits.relevant + 2)
    return score, ((hits.relevant == 0, NOTHING_RELEVANT),)


def _lar(lists: Lists, rel: float) -> Outcome:
    hits, sizes = lists.hits(rel), lists.run.sizes
    return ((hits.found > 0) + 1 / np.maximum(sizes, 1)) / 2, _some_correct(hits, sizes)


def _olar(lists: Lists, rel: float, max_length: int, m: float | None) -> Outcome:
    hits, sizes = lists.hits(rel), lists.run.sizes
    undefined = _some_correct(hits, sizes)
    if m is None:
        m = 0.998 / (max_length * (max_length - 1)) if max_length > 1 else 0
        too_long = f"the list is longer than max_length, {max_length}; name a larger one"
        undefined += ((sizes > max_length, too_long),)
    score = (hits.found > 0) + 1 / np.maximum(sizes, 1) + m * reciprocal_rank(hits)
    return score / (2 + m), undefined


def _some_correct(hits: Hits, sizes: NDArray[np.intp]) -> tuple[tuple[NDArray[np.bool_], str], ...]:
    return (hits.relevant == 0, NOTHING_RELEVANT), (sizes == 0, EMPTY_LIST)


_UNORDERED = "The order does not matter."
_NO_RELEVANT = "Where no item is relevant."
_ONE = "For an empty list, and where no item is relevant."

LENGTH_AWARE = (
    Definition(
        name="F1",
        family="options",
        summary="The harmonic mean of precision and recall.",
        formula="2 f / (n + R), with f of the R relevant items among the n of the list; "
        "2 f / (k + R), with f among its k best",
        compute=_f1,
        low=0,
        high=1,
        better="higher",
        truth="grades",
        ties=f"{_UNORDERED} With k it does: {TIES_BY_ORDER[0].lower()}{TIES_BY_ORDER[1:]}",
        short="An empty list has 0, as has any without relevant items.",
        unknown=UNJUDGED,
        undefined=_NO_RELEVANT,
        citation=f"Van Rijsbergen (1979), Information Retrieval; {ATANASOVA}",
        parameters=(GRADE, UNJUDGED_ITEMS, TOP),
        shown_with=("", "@2"),
    ),
    Definition(
        name="F1s",
        family="options",
        summary="F1, smoothed: of the list with one more relevant item.",
        formula="2 (f + 1) / (n + R + 2), with f of the R relevant items among the n of the list",
        compute=_f1s,
        low=0,
        high=1,
        better="higher",
        truth="grades",
        ties=_UNORDERED,
        short="An empty list has 2/(R + 2).",
        unknown=UNJUDGED,
        undefined=_NO_RELEVANT,
        citation=ATANASOVA,
        parameters=(GRADE,),
    ),
    Definition(
        name="LAR",
        family="options",
        summary="Length-aware recall: whether a list has the correct option, and is short.",
        formula="(f + 1/n) / 2, with f = 1 if a correct option is in the list, else 0, and n the "
        "length of the list; the source has one correct option, and of several one is enough here",
        compute=_lar,
        low=0,
        high=1,
        better="higher",
        truth="grades",
        ties=_UNORDERED,
        short="A list of one wrong option has 1/2; any longer wrong list has less.",
        unknown="It is a wrong option.",
        undefined=_ONE,
        citation=ATANASOVA,
        parameters=(GRADE,),
    ),
    Definition(
        name="OLAR",
        family="options",
        summary="LAR where the order matters too, but less than the length.",
        formula="(f + 1/n + m RR) / (2 + m), with m = 0.998 / (N (N - 1)) for lists of up to N "
        "options, f as in LAR, and RR of the first correct option; of two lists, that with a "
        "correct option is better, else the shorter, else that which has it sooner, as long as "
        "m < 1 / (N (N - 2))",
        compute=_olar,
        low=0,
        high=1,
        better="higher",
        truth="grades",
        ties=TIES_BY_ORDER,
        short="Shorter is better; m depends on the longest list there can be.",
        unknown="It is a wrong option.",
        undefined=f"{_ONE} Where the list is longer than max_length, unless m is given.",
        citation=ATANASOVA,
        parameters=(
            GRADE,
            Parameter("max_length", 5, "N, how many options a list can have", least=1),
            Parameter("m", None, "the weight of the order, instead of that from N", float, 0),
        ),
        shown_with=("", "(max_length=10)"),
    ),
)
