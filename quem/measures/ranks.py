"""Ranks: how far items stand from where they should."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from quem.measures.measure import Definition
from quem.measures.places import mean_gap
from quem.measures.wording import FEW_COMMON, LIST_TIED, PROCAKE, TRUTH_TIED, TRUTH_TIES_BY_ORDER

if TYPE_CHECKING:
    from quem.measures.lists import Lists
    from quem.measures.measure import Outcome

__all__ = ["MEASURES"]


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

MEASURES = (
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
