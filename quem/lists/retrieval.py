"""ProCAKE's measures of a retrieval against the true similarities; pairs are in `pairs`."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.measure import (
    EMPTY_LIST,
    EMPTY_TRUTH,
    FEW_COMMON,
    LIST_TIED,
    NO_SIMILARITIES,
    NOTHING_IN_COMMON,
    PROCAKE,
    TOP,
    TRUTH_TIED,
    Definition,
    Parameter,
)
from quem.lists.ragged import mean_gap, sum_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.lists.lists import Lists
    from quem.lists.measure import Outcome

    Floats = NDArray[np.float64]


def _in_both(lists: Lists, k: int | None) -> Floats:
    """The overlap of the best k of list and truth, averaged over orders of ties."""
    if k is None:
        return lists.run.sum(lists.known)
    chance = lists.places.within(k) * lists.true_places.within(k)
    return lists.run.sum(np.where(lists.known, chance, 0))


def _hits(lists: Lists, k: int | None) -> Outcome:
    return _in_both(lists, k), ()


def _hits_norm(lists: Lists, k: int | None) -> Outcome:
    held = _in_both(lists, k)
    if k is not None:
        return held / k, ()
    return held / np.maximum(lists.run.sizes, 1), ((lists.run.sizes == 0, EMPTY_LIST),)


def _error(lists: Lists, by: str, loss: np.ufunc) -> Outcome:
    compared, truth = _by_case(lists) if by == "case" else _by_position(lists)
    lost = loss(lists.score[compared] - truth)
    row = lists.run.row[compared]
    count = np.bincount(row, minlength=len(lists))
    none = NOTHING_IN_COMMON if by == "case" else "the list or the ground truth is empty"
    undefined = ((~lists.scored, NO_SIMILARITIES), (count == 0, none))
    return sum_by(row, lost, len(lists)) / np.maximum(count, 1), undefined


def _by_case(lists: Lists) -> tuple[NDArray[np.bool_], Floats]:
    return lists.known, lists.value[lists.known]


def _by_position(lists: Lists) -> tuple[NDArray[np.bool_], Floats]:
    run, truth = lists.run, lists.truth
    compared = run.position <= truth.sizes[run.row]
    at = truth.starts[run.row[compared]] + run.position[compared] - 1
    return compared, lists.true_value[at]


def _stromer(lists: Lists, k: int | None) -> Outcome:
    run, sizes = lists.run, lists.truth.sizes
    # With k beyond the ground truth, a perfect list could not reach 1.
    depth = sizes if k is None else np.minimum(sizes, k)
    places, true, limit = lists.places, lists.true_places, depth[run.row]
    # Both have each position from first to last with the same probability, and no other.
    first = np.maximum(places.first, true.first)
    last = np.minimum(np.minimum(places.last, true.last), limit)
    count = np.maximum(last - first + 1, 0)
    weight = count * (2 + limit - (first + last) / 2) / (places.size * true.size)
    # The sum of 2 + k - i for i from 1 to k.
    whole = depth * (depth + 3) / 2
    return run.sum(weight) / np.maximum(whole, 1), ((sizes == 0, EMPTY_TRUTH),)


def _mueller(lists: Lists, k: int | None) -> Outcome:
    run, truth = lists.run, lists.truth
    depth = run.sizes if k is None else np.minimum(run.sizes, k)
    wanted = truth.sum(np.where(truth.position <= depth[truth.row], lists.true_value, 0))
    limit = depth[run.row]
    present = lists.places.within(limit) * lists.true_places.within(limit)
    missing = wanted - run.sum(np.where(lists.known, lists.value * present, 0))
    undefined = ((truth.sizes == 0, EMPTY_TRUTH), (run.sizes == 0, EMPTY_LIST))
    return 1 - missing / np.maximum(depth, 1), undefined


def _distance(lists: Lists) -> Outcome:
    known = lists.true_position > 0
    off = np.where(known, mean_gap(lists.places, lists.true_places), 0)
    count = lists.run.sum(known)
    return lists.run.sum(off) / np.maximum(count, 1), ((count == 0, NOTHING_IN_COMMON),)


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


_of_order = partial(
    Definition,
    family="retrieval",
    low=0,
    high=1,
    truth="order",
    citation=PROCAKE,
    parameters=(TOP,),
)
_error_of = partial(
    Definition,
    family="retrieval",
    low=0,
    high=1,
    better="lower",
    ties="They do not matter.",
    notes="By position, as many are compared as both have; by case, the common ones. Undefined "
    "where nothing can be compared, and for a list without similarities.",
    citation=PROCAKE,
    parameters=(
        Parameter(
            "by",
            "position",
            "pairs of similarities: at the same position, or of the same case",
            kind=str,
            choices=("position", "case"),
        ),
    ),
)

RETRIEVAL = (
    _of_order(
        name="hits",
        summary="The number of the k best items of the ground truth among the list's k best.",
        formula="|top k of the list ∩ top k of the ground truth|",
        compute=_hits,
        high=math.inf,
        notes="An item that the ground truth does not have is not a hit. In ranx, hits@k "
        "is k times P@k.",
    ),
    _of_order(
        name="hits_norm",
        summary="The share of the k best items that are hits.",
        formula="hits / k; without k, hits / length of the list",
        compute=_hits_norm,
        notes="With k it is divided by k, also where the list or the ground truth is shorter. "
        "Without k, undefined for an empty list.",
    ),
    _error_of(
        name="MAE",
        summary="The mean absolute error of the similarities, by position or by case.",
        formula="Σ |sim - true sim| / number compared",
        compute=partial(_error, loss=np.abs),
    ),
    _error_of(
        name="MSE",
        summary="The mean squared error of the similarities, by position or by case.",
        formula="Σ (sim - true sim)² / number compared",
        compute=partial(_error, loss=np.square),
    ),
    _of_order(
        name="quality_stromer",
        summary="The weighted share of positions that hold the very case they should hold.",
        formula="Σ match(i) (2 + k - i) / Σ (2 + k - i), i = 1..k; match(i) = 1 if list and "
        "ground truth have the same case at position i, else 0",
        compute=_stromer,
        notes="k is at most the length of the ground truth, so that a perfect list has 1. "
        "Undefined for an empty ground truth.",
        citation="Bergmann & Stromer (2013), MAC/FAC Retrieval of Semantic Workflows, FLAIRS; "
        f"{PROCAKE}. The words there define err(i) as 1 for a missing case, the example counts "
        "matches; here the example is followed.",
    ),
    _of_order(
        name="quality_mueller",
        summary="The most similar cases that the list lacks, by their true similarity.",
        formula="1 - Σ true sim(c) / |RL|, over the cases c that are among the |RL| best of the "
        "ground truth but not in RL; RL = the list, or its k best",
        compute=_mueller,
        notes="It is compared with as many true cases as it has, so that a short list is not "
        "punished for its length. Undefined for an empty list or ground truth.",
        citation="Müller & Bergmann (2014), A Cluster-Based Approach to Improve Similarity-Based "
        f"Retrieval for Process-Oriented Case-Based Reasoning, ECAI; {PROCAKE}",
    ),
    _of_order(
        name="distance",
        summary="The mean displacement of an item, in positions.",
        formula="Σ |position in the list - position in the ground truth| / common items",
        compute=_distance,
        high=math.inf,
        better="lower",
        notes="An unknown item is left out, but holds its position. A whole list of n is off by "
        "⌊n²/2⌋/n at most. Undefined without common items.",
        parameters=(),
    ),
    _of_order(
        name="spearman",
        summary="The rank correlation of list and ground truth, by ranks.",
        formula="Pearson's correlation of the ranks among the common items",
        compute=_spearman,
        low=-1,
        truth="both",
        ties="Tied items share the mean of their ranks.",
        notes="Undefined with fewer than two common items, or where all are tied in list or truth.",
        citation="Spearman (1904), The Proof and Measurement of Association between Two Things, "
        f"American Journal of Psychology; {PROCAKE}",
        parameters=(),
        aliases=("rho",),
    ),
)
