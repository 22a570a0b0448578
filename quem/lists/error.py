"""Measures that compare the ranks of cases directly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.measure import (
    FEW_COMMON,
    LIST_TIED,
    NO_SIMILARITIES,
    PROCAKE,
    TRUTH_TIED,
    TRUTH_TIES_BY_ORDER,
    Definition,
    Parameter,
)
from quem.lists.ragged import mean_gap, sum_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.lists.lists import Lists
    from quem.lists.measure import Outcome

_BY = Parameter(
    "by",
    "position",
    "what is compared: the similarities at the same position, or of the same case",
    kind=str,
    choices=("position", "case"),
)

_NO_PAIR = {
    "position": "the list or the ground truth is empty",
    "case": "list and ground truth have no item in common",
}


def _mae(lists: Lists, by: str) -> Outcome:
    return _mean(lists, by, np.abs)


def _mse(lists: Lists, by: str) -> Outcome:
    return _mean(lists, by, np.square)


def _mean(lists: Lists, by: str, loss: np.ufunc) -> Outcome:
    compared, truth = _by_case(lists) if by == "case" else _by_position(lists)
    lost = loss(lists.score[compared] - truth)
    row = lists.run.row[compared]
    count = np.bincount(row, minlength=len(lists))
    total = sum_by(row, lost, len(lists))
    undefined = ((~lists.scored, NO_SIMILARITIES), (count == 0, _NO_PAIR[by]))
    return total / np.maximum(count, 1), undefined


def _by_case(lists: Lists) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    return lists.known, lists.value[lists.known]


def _by_position(lists: Lists) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    run, truth = lists.run, lists.truth
    compared = run.position <= truth.sizes[run.row]
    at = truth.starts[run.row[compared]] + run.position[compared] - 1
    return compared, lists.true_value[at]


def _definition(name: str, noun: str, formula: str, compute: Callable[..., Outcome]) -> Definition:
    return Definition(
        name=name,
        family="retrieval",
        summary=f"The mean {noun} of the similarities, by position or by case.",
        formula=formula,
        compute=compute,
        low=0,
        high=1,
        better="lower",
        truth="grades",
        ties="By position they do not matter, nor by case.",
        short="By position, as many positions are compared as both have; by case, the common ones.",
        unknown="By position its similarity counts like any other; by case it is left out.",
        undefined="Where nothing can be compared, and for a list without similarities.",
        citation=PROCAKE,
        parameters=(_BY,),
        shown_with=("", "(by=case)"),
    )


ERROR = (
    _definition("MAE", "absolute error", "Σ |sim - true sim| / number compared", _mae),
    _definition("MSE", "squared error", "Σ (sim - true sim)² / number compared", _mse),
)


def _distance(lists: Lists) -> Outcome:
    true = lists.true_position
    known = true > 0
    off = np.where(known, mean_gap(lists.places, lists.true_places), 0)
    count = lists.run.sum(known)
    none = "list and ground truth have no item in common"
    return lists.run.sum(off) / np.maximum(count, 1), ((count == 0, none),)


def _spearman(lists: Lists) -> Outcome:
    rows = lists.run.only(lists.known)
    middle = np.repeat((rows.sizes + 1) / 2, rows.sizes)
    listed = rows.average_ranks(lists.score[lists.known]) - middle
    true = rows.average_ranks(lists.value[lists.known]) - middle
    spread, true_spread = rows.sum(listed * listed), rows.sum(true * true)
    root = np.sqrt(spread) * np.sqrt(true_spread)
    score = np.clip(rows.sum(listed * true) / np.where(root > 0, root, 1), -1, 1)
    return score, (
        (rows.sizes < 2, FEW_COMMON),  # noqa: PLR2004  a pair
        (true_spread == 0, TRUTH_TIED),
        (spread == 0, LIST_TIED),
    )


_COMMON = "Only items that both list and ground truth have are compared."

RANKS = (
    Definition(
        name="distance",
        family="retrieval",
        summary="By how many positions an item is off, in the mean.",
        formula="Σ |position in the list - position in the ground truth| / common items",
        compute=_distance,
        low=0,
        high=math.inf,
        better="lower",
        truth="order",
        ties=TRUTH_TIES_BY_ORDER,
        short="The mean is over the common items. A whole list of n is off by ⌊n²/2⌋/n at most.",
        unknown="It is left out, but holds its position, so that those behind it are off.",
        undefined="Without common items.",
        citation=PROCAKE,
    ),
    Definition(
        name="spearman",
        family="retrieval",
        summary="The rank correlation of list and ground truth, by ranks.",
        formula="Pearson's correlation of the ranks among the common items",
        compute=_spearman,
        low=-1,
        high=1,
        better="higher",
        truth="both",
        ties="Tied items share the mean of their ranks.",
        short=_COMMON,
        unknown=_COMMON,
        undefined="With fewer than two common items, or where all are tied in list or truth.",
        citation="Spearman (1904), The Proof and Measurement of Association between Two Things, "
        f"American Journal of Psychology; {PROCAKE}",
    ),
)
