"""Length-aware measures of option lists (Atanasova et al. 2019)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.graded import PATIENCE, discount_divisor, relevance_rate
from quem.lists.measure import (
    ATANASOVA,
    EMPTY_LIST,
    GRADE,
    NOTHING_RELEVANT,
    UNORDERED,
    Definition,
    Parameter,
)
from quem.lists.relevance import of_relevant, precisions, reciprocal_rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.lists.lists import Hits, Lists
    from quem.lists.measure import Outcome


def _gain(hits: Hits) -> NDArray[np.float64]:
    """The gain of the terminal item: recall."""
    return hits.found / np.maximum(hits.relevant, 1)


def _f1s(lists: Lists, rel: float) -> Outcome:
    hits = lists.hits(rel)
    return of_relevant(hits, 2 * (hits.found + 1) / (lists.run.sizes + hits.relevant + 2))


def _aps(lists: Lists, rel: float) -> Outcome:
    hits = lists.hits(rel)
    last = (hits.found + 1) / (lists.run.sizes + 1)
    return of_relevant(hits, (precisions(hits) + last) / (hits.relevant + 1))


def _apl(lists: Lists, rel: float) -> Outcome:
    hits = lists.hits(rel)
    gain = _gain(hits)
    last = gain * (hits.found + gain) / (lists.run.sizes + 1)
    return of_relevant(hits, (precisions(hits) + last) / (hits.relevant + 1))


def _ndcgl(lists: Lists, rel: float) -> Outcome:
    hits = lists.hits(rel)
    gained = hits.sum(hits.places.mean(1 / discount_divisor(lists.run)))
    score = gained + _gain(hits) / np.log2(lists.run.sizes + 2)
    # All relevant items, then the terminal one with gain 1.
    most = int(hits.relevant.max(initial=0)) + 1
    ideal = np.cumsum(1 / np.log2(np.arange(most) + 2))[hits.relevant]
    return of_relevant(hits, score / ideal)


def _rbpl(lists: Lists, p: float, rel: float) -> Outcome:
    hits = lists.hits(rel)
    last = _gain(hits) * p ** lists.run.sizes.astype(np.float64)
    return of_relevant(hits, relevance_rate(lists, hits, p, None) + last)


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


_LIU = "Liu, Moffat, Baldwin & Zhang (2016), Quit While Ahead: Evaluating Truncated Rankings, SIGIR"
_LONGER = "The longer the list, the less its end counts; an empty one has"
_NOTHING = "Undefined where no item is relevant."
_SEVERAL = "Undefined for an empty list, and where no item is relevant."
_measure = partial(
    Definition, family="options", low=0, high=1, citation=ATANASOVA, parameters=(GRADE,)
)
_terminal = partial(_measure, citation=f"{_LIU}; {ATANASOVA}", notes=f"{_LONGER} 0. {_NOTHING}")

LENGTH_AWARE = (
    _measure(
        name="F1s",
        summary="F1, smoothed: of the list with one more relevant item.",
        formula="2 (f + 1) / (n + R + 2), with f of the R relevant items among the n of the list",
        compute=_f1s,
        ties=UNORDERED,
        notes=f"An empty list has 2/(R + 2). {_NOTHING}",
    ),
    _measure(
        name="APs",
        summary="Average precision, smoothed: of the list with one more relevant item at its end.",
        formula="(Σ P(i) + (f + 1)/(n + 1)) / (R + 1), with f relevant items among the n of the "
        "list",
        compute=_aps,
        notes=f"{_LONGER} 1/(R + 1). {_NOTHING}",
    ),
    _terminal(
        name="APL",
        summary="Average precision, length-aware: of the list with a terminal item at its end.",
        formula="(Σ P(i) + t (f + t)/(n + 1)) / (R + 1), with gain t = f/R of the terminal item, "
        "and f relevant items among the n of the list",
        compute=_apl,
    ),
    _terminal(
        name="nDCGL",
        summary="nDCG, length-aware: of the list with a terminal item at its end.",
        formula="DCG(list + terminal item of gain t) / DCG(R relevant items + one of gain 1), "
        "t = f/R, with f of the R relevant items in the list, each of gain 1",
        compute=_ndcgl,
    ),
    _terminal(
        name="RBPL",
        summary="RBP, length-aware: a terminal item takes what the list leaves over.",
        formula="RBP + t p^n, with t = f/R, and f of the R relevant items among the n of the list",
        compute=_rbpl,
        parameters=(PATIENCE, GRADE),
    ),
    _measure(
        name="LAR",
        summary="Length-aware recall: whether a list has the correct option, and is short.",
        formula="(f + 1/n) / 2, with f = 1 if a correct option is in the list, else 0, and n the "
        "length of the list; the source has one correct option, and of several one is enough here",
        compute=_lar,
        ties=UNORDERED,
        notes=f"A list of one wrong option has 1/2; any longer wrong list has less. {_SEVERAL}",
        aliases=("length_aware_recall",),
    ),
    _measure(
        name="OLAR",
        summary="LAR where the order matters too, but less than the length.",
        formula="(f + 1/n + m RR) / (2 + m), with m = 0.998 / (N (N - 1)) for lists of up to N "
        "options, f as in LAR, and RR of the first correct option; of two lists, that with a "
        "correct option is better, else the shorter, else that which has it sooner, as long as "
        "m < 1 / (N (N - 2))",
        compute=_olar,
        notes=f"{_SEVERAL} Also where the list is longer than max_length, unless m is given.",
        parameters=(
            GRADE,
            Parameter("max_length", 5, "N, greatest length of a list", least=1),
            Parameter("m", None, "the weight of the order, instead of that from N", float, 0),
        ),
        aliases=("ordered_length_aware_recall",),
    ),
)
