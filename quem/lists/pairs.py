"""Pairs of items: concordant, discordant, and tied."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.measure import (
    FEW_COMMON,
    LIST_TIED,
    PROCAKE,
    TRUTH_TIED,
    Definition,
    Parameter,
)
from quem.lists.ragged import Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.lists.lists import Lists
    from quem.lists.measure import Outcome

    Integers = NDArray[np.int64]


def ascents(rows: Ragged, codes: NDArray[np.intp]) -> Integers:
    """The number of pairs of each row whose first cell is less than the second, in n log n.

    They are counted by the highest bit in which the two cells differ. At each bit, cells that
    agree in all higher bits form a group in which they keep their first order. A cell with the
    bit makes a pair with each cell without it that is before it in its group. Then each group is
    parted in two, which keeps that order.

    Shapes: `codes` (n,).
    """
    bits = int(codes.max(initial=0)).bit_length()
    cells = (rows.row << bits) | codes
    at = np.arange(len(cells))
    count = np.zeros(len(rows))
    for bit in reversed(range(bits)):
        group = Ragged(_lengths(cells >> (bit + 1)))
        lacks = (cells >> bit & 1) == 0
        up_to = np.cumsum(lacks)
        before = up_to - np.repeat((up_to - lacks)[group.starts], group.sizes)
        count += rows.sum(np.where(lacks, 0, before))
        lacking = np.repeat(np.add.reduceat(lacks, group.starts, dtype=np.intp), group.sizes)
        start = np.repeat(group.starts, group.sizes)
        place = np.where(lacks, start + before - 1, lacking + at - before)
        parted = np.empty_like(cells)
        parted[place] = cells
        cells = parted
    return count.astype(np.int64)


def _lengths(values: NDArray[np.intp]) -> NDArray[np.intp]:
    """The lengths of the runs of equal values."""
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    return np.diff(ends, prepend=-1)


@dataclass(frozen=True)
class _Pairs:
    """Counts of pairs of items per query, of shape (q,)."""

    concordant: Integers  # list and ground truth agree
    discordant: Integers  # they disagree
    listed: Integers  # pairs of common items
    listed_untied: Integers  # those that the ground truth orders
    untied_in_list: Integers  # those that the list orders
    untied: Integers  # all pairs that the ground truth orders


def _pairs(lists: Lists) -> _Pairs:
    return lists.once("pairs", lambda: _count(lists))


def _count(lists: Lists) -> _Pairs:
    """Count tied and discordant pairs by Knight's algorithm (1966)."""
    rows, score, value = lists.run, lists.score, lists.value
    if not lists.known.all():
        rows, score, value = rows.only(lists.known), score[lists.known], value[lists.known]
    code, in_truth = _codes(rows, value)
    whole = _choose_two(rows.sizes)
    # Within a tie of the list the best come first, so that no pair of it counts as discordant.
    list_tie = rows.ties(score)
    key = (list_tie * (int(rows.sizes.max(initial=0)) + 1) - code).astype(np.float64)
    within, _ = rows.argsort(key)
    in_list = _tied(rows, list_tie)
    in_both = _tied(rows, rows.ties(key[within]))
    discordant = ascents(rows, code[within])
    truth = lists.truth
    return _Pairs(
        concordant=whole - in_list - in_truth + in_both - discordant,
        discordant=discordant,
        listed=whole,
        listed_untied=whole - in_truth,
        untied_in_list=whole - in_list,
        untied=_choose_two(truth.sizes) - _tied(truth, truth.ties(lists.true_value)),
    )


def _codes(rows: Ragged, values: NDArray[np.float64]) -> tuple[NDArray[np.intp], Integers]:
    """Dense ranks of each row from 0 for the least, and its number of tied pairs."""
    order, _ = rows.argsort(values)
    tie = rows.ties(values[order])
    first = np.zeros(len(rows), dtype=np.intp)
    first[rows.sizes > 0] = tie[rows.starts[rows.sizes > 0]]
    code = np.empty(rows.total, dtype=np.intp)
    code[order] = tie - np.repeat(first, rows.sizes)
    return code, _tied(rows, tie)


def _tied(rows: Ragged, tie: NDArray[np.intp]) -> Integers:
    """Tied pairs of each row, by the tie number of each sorted cell."""
    # All cells of a tie are in one row; each has a share of its pairs.
    share = (np.bincount(tie)[tie] - 1) / 2 if len(tie) else np.zeros(0)
    return np.rint(rows.sum(share)).astype(np.int64)


def _choose_two(n: NDArray[np.intp]) -> Integers:
    return n.astype(np.int64) * (n - 1) // 2


def _correctness(lists: Lists) -> Outcome:
    pairs = _pairs(lists)
    ordered = pairs.concordant + pairs.discordant
    return (pairs.concordant - pairs.discordant) / np.maximum(ordered, 1), (
        (pairs.listed == 0, FEW_COMMON),
        (ordered == 0, "each pair is tied in list or ground truth"),
    )


def _completeness(lists: Lists, of: str) -> Outcome:
    pairs = _pairs(lists)
    ordered = pairs.concordant + pairs.discordant
    if of == "listed":
        return ordered / np.maximum(pairs.listed_untied, 1), (
            (pairs.listed == 0, FEW_COMMON),
            (pairs.listed_untied == 0, TRUTH_TIED),
        )
    none = "the ground truth orders no pair"
    return ordered / np.maximum(pairs.untied, 1), ((pairs.untied == 0, none),)


def _kendall(lists: Lists, variant: str) -> Outcome:
    pairs = _pairs(lists)
    excess = pairs.concordant - pairs.discordant
    if variant == "a":
        return excess / np.maximum(pairs.listed, 1), ((pairs.listed == 0, FEW_COMMON),)
    # A product of square roots, since one of integers could overflow.
    root = np.sqrt(pairs.untied_in_list) * np.sqrt(pairs.listed_untied)
    return excess / np.where(root > 0, root, 1), (
        (pairs.listed == 0, FEW_COMMON),
        (pairs.listed_untied == 0, TRUTH_TIED),
        (pairs.untied_in_list == 0, LIST_TIED),
    )


_CHENG = (
    "Cheng, Rademaker, De Baets & Hüllermeier (2010), Predicting Partial Orders: Ranking with "
    "Abstention, ECML PKDD"
)
_COMMON = "Only pairs of items that both list and ground truth have are compared."
_measure = partial(Definition, family="retrieval", low=-1, high=1, truth="both")

PAIRS = (
    _measure(
        name="correctness",
        summary="Concordant minus discordant pairs, as a share of the pairs that both order.",
        formula="(C - D) / (C + D), with C concordant and D discordant pairs",
        compute=_correctness,
        ties="A pair that is tied in list or ground truth is neither concordant nor discordant.",
        notes=f"{_COMMON} Undefined with fewer than two common items, or where each pair is tied.",
        citation=f"{_CHENG}; {PROCAKE}",
    ),
    _measure(
        name="completeness",
        summary="The share of the ground truth's ordered pairs that the list orders, too.",
        formula="(C + D) / pairs that are not tied in the ground truth",
        compute=_completeness,
        low=0,
        ties="Ties in the list lower it; pairs tied in the ground truth do not count.",
        notes="A case that the list lacks lowers it; with of=listed only pairs of listed cases "
        "count. Undefined where the ground truth orders no pair.",
        citation=f"{_CHENG}; {PROCAKE}",
        parameters=(
            Parameter(
                "of",
                "all",
                "pairs that count: all that the ground truth orders, or the listed ones",
                kind=str,
                choices=("all", "listed"),
            ),
        ),
    ),
    _measure(
        name="kendall",
        summary="The rank correlation of list and ground truth, by pairs.",
        formula="tau-a = (C - D) / (n (n - 1) / 2), with n common items; "
        "tau-b = (C - D) / √(pairs untied in the list × pairs untied in the ground truth)",
        compute=_kendall,
        ties="tau-a counts a tied pair as half right and half wrong; tau-b corrects for ties.",
        notes=f"{_COMMON} Undefined with fewer than two common items; tau-b also where all are "
        "tied.",
        citation=f"Kendall (1938), A New Measure of Rank Correlation, Biometrika; {PROCAKE}",
        parameters=(Parameter("variant", "a", "which tau", kind=str, choices=("a", "b")),),
        aliases=("kendall_tau", "tau"),
    ),
)
