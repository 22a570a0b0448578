"""Hits: how many of the best items are among the best."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from quem.measures.measure import Definition
from quem.measures.wording import EMPTY_LIST, PROCAKE, TOP, TRUTH_TIES_BY_ORDER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.measures.lists import Lists
    from quem.measures.measure import Outcome

__all__ = ["MEASURES", "common"]


def common(lists: Lists, k: int | None) -> NDArray[np.bool_]:
    """Say which items of the lists are among the best k of both list and ground truth.

    Parameters
    ----------
    lists : Lists
    k : int, optional
        All items by default.

    Returns
    -------
    array of bool, shape (n,)
    """
    if k is None:
        return lists.known
    true = lists.true_position
    return (lists.run.position <= k) & (true > 0) & (true <= k)


def _held(lists: Lists, k: int | None) -> NDArray[np.float64]:
    """How many items of each list are hits, in the mean over the orders of tied ones."""
    if k is None or not lists.all_orders:
        return lists.run.sum(common(lists, k))
    chance = lists.places.within(k) * lists.true_places.within(k)
    return lists.run.sum(np.where(lists.known, chance, 0))


def _hits(lists: Lists, k: int | None) -> Outcome:
    return _held(lists, k), ()


def _hits_norm(lists: Lists, k: int | None) -> Outcome:
    held = _held(lists, k)
    if k is not None:
        return held / k, ()
    empty = lists.run.sizes == 0
    return held / np.maximum(lists.run.sizes, 1), ((empty, EMPTY_LIST),)


_UNKNOWN = "An item that the ground truth does not have is no hit."

MEASURES = (
    Definition(
        name="hits",
        family="retrieval",
        summary="How many of the k best items of the ground truth the list has among its k best.",
        formula="|top k of the list ∩ top k of the ground truth|",
        compute=_hits,
        low=0,
        high=math.inf,
        better="higher",
        truth="order",
        ties=TRUTH_TIES_BY_ORDER,
        short="A short list can hit less; an empty one has 0.",
        unknown=_UNKNOWN,
        undefined="Never.",
        citation=PROCAKE,
        parameters=(TOP,),
        shown_with=("", "@2"),
    ),
    Definition(
        name="hits_norm",
        family="retrieval",
        summary="The share of the k best items that are hits.",
        formula="hits / k; without k, hits / length of the list",
        compute=_hits_norm,
        low=0,
        high=1,
        better="higher",
        truth="order",
        ties=TRUTH_TIES_BY_ORDER,
        short="With k it is divided by k, also where the list or the ground truth is shorter.",
        unknown=_UNKNOWN,
        undefined="Without k, for an empty list.",
        citation=PROCAKE,
        parameters=(TOP,),
        shown_with=("", "@2"),
    ),
)
