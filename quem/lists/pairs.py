"""Pairs of items: how many of a row are in the wrong order, and ties across the best k."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.binary import common
from quem.lists.measure import (
    FEW_COMMON,
    LIST_TIED,
    PROCAKE,
    TOP,
    TRUTH_TIED,
    Definition,
    Parameter,
)
from quem.lists.ragged import Ragged, sum_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.lists.lists import Lists
    from quem.lists.measure import Outcome
    from quem.lists.ragged import Places

# Choices that are tried; of more, as many random ones.
_MOST = 100


def best_choices(lists: Lists, k: int) -> tuple[NDArray[np.intp], list[NDArray[np.intp]]] | None:
    """Choose the items that are among the best k of both list and ground truth.

    Each choice out of a tie across k has the same chance: all choices where they are at most
    100, and 100 random ones else, the same ones for the same list.

    Shapes: `query` (choices,).
    """
    places, true = lists.places, lists.true_places
    across = _across(places, k) | (lists.known & _across(true, k))
    if not across.any():
        return None
    open_queries = set(np.unique(lists.run.row[across]).tolist())
    query: list[int] = []
    cells: list[NDArray[np.intp]] = []
    for number, (start, size) in enumerate(zip(lists.run.starts, lists.run.sizes, strict=True)):
        at = np.arange(start, start + size)
        own, own_true, known = places.only(at), true.only(at), lists.known[at]
        chosen = (
            _choices(own, own_true, known, k)
            if number in open_queries
            else [(own.last <= k) & known & (own_true.last <= k)]
        )
        for mask in chosen:
            query.append(number)
            cells.append(at[mask])
    return np.array(query), cells


def _across(places: Places, k: int) -> NDArray[np.bool_]:
    return (places.first <= k) & (k < places.last)


def _choices(
    own: Places, true: Places, known: NDArray[np.bool_], k: int
) -> Iterator[NDArray[np.bool_]]:
    """Say of each item of one list whether it is among the best k of both, choice by choice."""
    sides = [(own, own.last > 0), (true, known)]
    ties = [_tie(places, there, k) for places, there in sides]
    sure = [there & (places.last <= k) for places, there in sides]
    for picked in _picked([(n, m) for _, n, m in ties]):
        masks = [side.copy() for side in sure]
        for side, (members, _, _), best in zip(masks, ties, picked, strict=True):
            side[[int(members[one]) for one in best if one < len(members)]] = True
        yield masks[0] & masks[1]


def _tie(places: Places, there: NDArray[np.bool_], k: int) -> tuple[NDArray[np.intp], int, int]:
    """The items of a list in the tie across k, how many are tied, and how many of them are kept.

    A tie of the ground truth may hold others, which come after those of the list.
    """
    members = np.flatnonzero(there & _across(places, k))
    if not len(members):
        return members, 0, 0
    return members, int(places.size[members[0]]), k - int(places.first[members[0]]) + 1


def _picked(ties: Sequence[tuple[int, int]]) -> Iterable[Sequence[Iterable[int]]]:
    """Which of each tie are kept: m of n each, in all ways or in random ones."""
    if np.prod([float(comb(n, m)) for n, m in ties]) <= _MOST:
        return product(*(list(combinations(range(n), m)) for n, m in ties))
    rng = np.random.default_rng(0)
    return [[rng.permutation(n)[:m].tolist() for n, m in ties] for _ in range(_MOST)]


def mean_outcome(outcome: Outcome, query: NDArray[np.intp], queries: int) -> Outcome:
    """Average the scores of choices over those of each query where they are defined.

    Shapes: `query` (choices,).
    """
    score, undefined = outcome
    defined = ~np.any([where for where, _ in undefined], axis=0)
    count = sum_by(query, defined, queries)
    mean = sum_by(query, np.where(defined, score, 0), queries) / np.maximum(count, 1)
    return mean, tuple(
        ((count == 0) & (sum_by(query, where, queries) > 0), why) for where, why in undefined
    )


# The longest row whose codes, and whose counts for one cell, fit into a byte.
_BYTE = 255


def ascents(rows: Ragged, codes: NDArray[np.intp]) -> NDArray[np.int64]:
    """Count the pairs of each row whose first cell is less than the second.

    Shapes: `codes` (n,).
    """
    count = np.zeros(len(rows), dtype=np.int64)
    if rows.sizes.max(initial=0) <= _BYTE:
        # Padding is 0, and so greater than nothing before it.
        for members, block in rows.rectangles(codes.astype(np.uint8), 0):
            count[members] = _pair_by_pair(block)
        return count
    return _bit_by_bit(rows, codes)


def _pair_by_pair(block: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Compare each cell with that before it, then with that before that, and so on: n² bytes."""
    column = np.ascontiguousarray(block.T)
    count = np.zeros(column.shape, dtype=np.uint8)
    for off in range(1, len(column)):
        count[off:] += column[off:] > column[:-off]
    total: NDArray[np.int64] = count.sum(axis=0, dtype=np.int64)
    return total


def _bit_by_bit(rows: Ragged, codes: NDArray[np.intp]) -> NDArray[np.int64]:
    """Count by the highest bit in which the two cells differ: n log n.

    At each bit, cells that agree in all higher bits form a group in which they keep their first
    order. A cell with the bit makes a pair with each cell without it that is before it
    in its group. Then each group is parted in two, which keeps that order.
    """
    bits = int(codes.max(initial=0)).bit_length()
    cells = (rows.row << bits) | codes
    at = np.arange(len(cells))
    count = np.zeros(len(rows), dtype=np.int64)
    for bit in reversed(range(bits)):
        group = Ragged(_lengths(cells >> (bit + 1)))
        lacks = (cells >> bit & 1) == 0
        up_to = np.cumsum(lacks)
        lacking_before_group = (up_to - lacks)[group.starts]
        before = up_to - np.repeat(lacking_before_group, group.sizes)
        count += np.bincount(
            rows.row, weights=np.where(lacks, 0, before), minlength=len(rows)
        ).astype(np.int64)
        lacking = np.repeat(np.add.reduceat(lacks, group.starts, dtype=np.intp), group.sizes)
        start = np.repeat(group.starts, group.sizes)
        place = np.where(lacks, start + before - 1, lacking + at - before)
        parted = np.empty_like(cells)
        parted[place] = cells
        cells = parted
    return count


def _lengths(values: NDArray[np.intp]) -> NDArray[np.intp]:
    """The lengths of the runs of equal values."""
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    return np.diff(ends, prepend=-1)


_CHENG = (
    "Cheng, Rademaker, De Baets & Hüllermeier (2010), Predicting Partial Orders: Ranking with "
    "Abstention, ECML PKDD"
)


@dataclass(frozen=True)
class Pairs:
    """How many pairs of common items each query has."""

    # Of shape (q,): pairs that list and ground truth order alike, and otherwise
    concordant: NDArray[np.int64]
    discordant: NDArray[np.int64]
    all: NDArray[np.int64]  # of shape (q,)
    # Of shape (q,)
    untied_in_list: NDArray[np.int64]
    untied_in_truth: NDArray[np.int64]


def count_pairs(lists: Lists, k: int | None) -> Pairs:
    """Count the pairs of common items."""
    return lists.once(("pairs", k), lambda: _count_common(lists, k))


def _count_common(lists: Lists, k: int | None) -> Pairs:
    mask = common(lists, k)
    rows, score, value = lists.run, lists.score, lists.value
    if not mask.all():
        rows, score, value = rows.only(mask), score[mask], value[mask]
    return _count(rows, score, value)


def _among_best(lists: Lists, k: int | None, compute: Callable[[Pairs], Outcome]) -> Outcome:
    """Compute from the pairs among the best k, in the mean over what a tie across k may leave."""
    choices = best_choices(lists, k) if k is not None and lists.all_orders else None
    if choices is None:
        return compute(count_pairs(lists, k))
    query, cells = choices
    rows = Ragged(np.array([len(own) for own in cells], dtype=np.intp))
    at = np.concatenate(cells)
    counted = _count(rows, lists.score[at], lists.value[at])
    return mean_outcome(compute(counted), query, len(lists))


def _count(rows: Ragged, score: NDArray[np.float64], value: NDArray[np.float64]) -> Pairs:
    """Count as Knight (1966) does: pairs that are tied somewhere, and discordant ones."""
    code, in_truth = _codes(rows, value)
    whole = _choose_two(rows.sizes)
    in_list, in_both = np.zeros_like(whole), np.zeros_like(whole)
    if ((score[1:] == score[:-1]) & (rows.row[1:] == rows.row[:-1])).any():
        # Within a tie of the list the best stand first, so that no pair of it looks discordant.
        list_tie = rows.ties(score)
        key = (list_tie * int(rows.sizes.max()) - code).astype(np.float64)
        within, tied = rows.argsort(key)
        code = code[within]
        in_list = _tied_pairs(rows, list_tie)
        if tied:
            in_both = _tied_pairs(rows, rows.ties(key[within]))
    discordant = ascents(rows, code)
    untied = whole - in_list - in_truth + in_both
    return Pairs(untied - discordant, discordant, whole, whole - in_list, whole - in_truth)


def _codes(rows: Ragged, values: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Number the values of each row from 0 for the least, and count its pairs of equal ones."""
    order, tied = rows.argsort(values)
    code = np.empty(rows.total, dtype=np.intp)
    if not tied:
        code[order] = rows.position - 1
        return code, np.zeros(len(rows), dtype=np.int64)
    tie = rows.ties(values[order])
    first = np.zeros(len(rows), dtype=np.intp)
    first[rows.sizes > 0] = tie[rows.starts[rows.sizes > 0]]
    code[order] = tie - np.repeat(first, rows.sizes)
    return code, _tied_pairs(rows, tie)


def _tied_pairs(rows: Ragged, tie: NDArray[np.intp]) -> NDArray[np.int64]:
    """How many pairs of each row are tied, given the number of each sorted cell's tie."""
    size = np.bincount(tie)
    # All cells of a tie are in one row; each shares in its pairs.
    share = (size[tie] - 1) / 2
    return np.rint(np.bincount(rows.row, weights=share, minlength=len(rows))).astype(np.int64)


def _choose_two(n: NDArray[np.intp]) -> NDArray[np.int64]:
    return n.astype(np.int64) * (n - 1) // 2


def _correctness(lists: Lists, k: int | None) -> Outcome:
    return _among_best(lists, k, _surplus)


def _surplus(pairs: Pairs) -> Outcome:
    ordered = pairs.concordant + pairs.discordant
    score = (pairs.concordant - pairs.discordant) / np.maximum(ordered, 1)
    return score, (
        (pairs.all == 0, FEW_COMMON),
        (ordered == 0, "each pair is tied in list or ground truth"),
    )


def _completeness(lists: Lists, k: int | None) -> Outcome:
    return _among_best(lists, k, _ordered)


def _ordered(pairs: Pairs) -> Outcome:
    ordered = pairs.concordant + pairs.discordant
    return ordered / np.maximum(pairs.untied_in_truth, 1), (
        (pairs.all == 0, FEW_COMMON),
        (pairs.untied_in_truth == 0, TRUTH_TIED),
    )


def _kendall(lists: Lists, variant: str) -> Outcome:
    pairs = count_pairs(lists, None)
    excess = pairs.concordant - pairs.discordant
    if variant == "a":
        return excess / np.maximum(pairs.all, 1), ((pairs.all == 0, FEW_COMMON),)
    # The product of square roots, as of integers it could overflow.
    root = np.sqrt(pairs.untied_in_list) * np.sqrt(pairs.untied_in_truth)
    return excess / np.where(root > 0, root, 1), (
        (pairs.all == 0, FEW_COMMON),
        (pairs.untied_in_truth == 0, TRUTH_TIED),
        (pairs.untied_in_list == 0, LIST_TIED),
    )


_COMMON = "Only items that both list and ground truth have are compared."

_ACROSS = (
    "Where a tie goes across k, the score is the mean over the choices of its items where it is "
    "defined: all choices up to 100, and 100 random ones of more; with ties as given or as "
    "trec_eval has them there is one choice."
)

PAIRS = (
    Definition(
        name="correctness",
        family="retrieval",
        summary="Of the pairs that both order, how many more the list orders rightly than wrongly.",
        formula="(C - D) / (C + D), with C concordant and D discordant pairs",
        compute=_correctness,
        low=-1,
        high=1,
        better="higher",
        truth="both",
        ties="A pair that is tied in list or ground truth is neither concordant nor discordant. "
        f"{_ACROSS}",
        short=_COMMON,
        unknown=_COMMON,
        undefined="With fewer than two common items, or where each pair is tied.",
        citation=f"{_CHENG}; {PROCAKE}",
        parameters=(TOP,),
        shown_with=("", "@2"),
    ),
    Definition(
        name="completeness",
        family="retrieval",
        summary="The share of the pairs which the ground truth orders that the list orders too.",
        formula="(C + D) / pairs that are not tied in the ground truth",
        compute=_completeness,
        low=0,
        high=1,
        better="higher",
        truth="both",
        ties=f"Ties in the list lower it; pairs tied in the ground truth do not count. {_ACROSS}",
        short=_COMMON,
        unknown=_COMMON,
        undefined="With fewer than two common items, or where the ground truth ties them all.",
        citation=f"{_CHENG}; {PROCAKE}",
        parameters=(TOP,),
        shown_with=("",),
    ),
    Definition(
        name="kendall",
        family="retrieval",
        summary="The rank correlation of list and ground truth, by pairs.",
        formula="tau-a = (C - D) / (n (n - 1) / 2); "
        "tau-b = (C - D) / √(pairs untied in the list × pairs untied in the ground truth)",
        compute=_kendall,
        low=-1,
        high=1,
        better="higher",
        truth="both",
        ties="tau-a counts a tied pair as half right and half wrong; tau-b corrects for ties.",
        short=_COMMON,
        unknown=_COMMON,
        undefined="With fewer than two common items; tau-b also where all are tied.",
        citation=f"Kendall (1938), A New Measure of Rank Correlation, Biometrika; {PROCAKE}",
        parameters=(Parameter("variant", "a", "which tau", kind=str, choices=("a", "b")),),
        shown_with=("", "(variant=b)"),
    ),
)
