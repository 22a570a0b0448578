"""Rank quality of the candidates of a dialogue (Bogaerts & Leake 2006)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.lists.measure import EMPTY_LIST, NO_SIMILARITIES, Definition, Outcome, Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.lists.lists import Lists

# Smaller differences are rounding errors: sums are taken in different orders.
_DECIMALS = 9


def rank_weights(
    n: int, k: int, *, lam: float = 2, lowest: float = 0, highest: float = 1
) -> NDArray[np.float64]:
    r"""The weight of each position.

    .. math:: w_i = v_{min} + (v_{max} - v_{min}) \left(\frac{i-(k-1)}{k-1}\right)^{2\lambda}

    from position 0. The power is even, so weights fall to the lowest at position k - 1 and rise
    again beyond it. For k = 1, where the formula divides by 0, each weight is the highest.

    Parameters
    ----------
    n : int
        How many weights.
    k : int
        How many cases are compared.
    lam : float
        The rate of the decrease.

    Returns
    -------
    array of float, shape (n,)
    """
    if k == 1:
        return np.full(n, float(highest))
    fall: NDArray[np.float64] = (np.abs(np.arange(n) - (k - 1)) / (k - 1)) ** (2 * lam)
    return lowest + (highest - lowest) * fall


def boundary(partial: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """The number of candidates compared, so that no tie is split.

    Where cases k and k + 1 are tied, the list is cut before their tie or continues to its end,
    whichever changes its length less; if both do alike, it continues.
    """
    rows, n = partial.shape
    if k >= n:
        return np.full(rows, n, dtype=np.intp)
    near = np.round(partial, _DECIMALS)
    edge = near[:, k - 1, np.newaxis]
    start, end = (near < edge).sum(axis=1), (near <= edge).sum(axis=1)
    shrinks = k - start < (end - start) / 2
    return np.where(end == k, k, np.where(shrinks, start, end))


def rank_quality(
    partial: NDArray[np.float64],
    true: NDArray[np.float64],
    k: int,
    *,
    ideal: NDArray[np.float64] | None = None,
    lam: float = 2,
    lowest: float = 0,
    highest: float = 1,
) -> NDArray[np.float64]:
    r"""Compare lists of candidates with the ideal list (Bogaerts & Leake, section 4).

    .. math:: c = 1 - \frac{\sum_{i<\hat k} \hat w_i d(t, \hat L_i) - \sum_{i<k} w_i d(t, L_i)}
        {\sum_{i<\hat k} w_i}

    with the candidates' list :math:`\hat L`, by partial distance, the ideal list :math:`L`, by
    true distance d, weights w from `rank_weights`, their mean over a tie :math:`\hat w`, and
    :math:`\hat k` from `boundary`; 0 where that is 0.

    Parameters
    ----------
    partial, true : arrays of float, shape (q, n)
        For each query, the distance of each case as far as it is known, and in truth. Only for
        distances from 0 to 1 is the quality at least 0.
    k : int
        How many cases are compared; all n if there are fewer.
    ideal : array of float, shape (q, m), optional
        The true distances of all cases, where not all of them are candidates.
    lam, lowest, highest : float
        See `rank_weights`.

    Returns
    -------
    array of float, shape (q,)
    """
    n = partial.shape[1]
    k = min(k, n)
    order = np.argsort(partial, axis=1, kind="stable")
    ordered = np.take_along_axis(partial, order, axis=1)
    weight = rank_weights(n, k, lam=lam, lowest=lowest, highest=highest)
    up_to = boundary(ordered, k)
    compared = np.arange(n) < up_to[:, np.newaxis]
    loss = mean_weights(ordered, weight) * np.take_along_axis(true, order, axis=1)
    nearest = np.sort(true if ideal is None else ideal, axis=1)[:, :k]
    excess = np.where(compared, loss, 0).sum(axis=1) - nearest @ weight[:k]
    whole = np.where(compared, weight, 0).sum(axis=1)
    quality: NDArray[np.float64] = np.where(
        up_to > 0, 1 - excess / np.where(whole > 0, whole, 1), 0.0
    )
    return quality


def mean_weights(ordered: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean weight of the tie at each position."""
    near = np.round(ordered, _DECIMALS)
    new = np.ones(ordered.shape, dtype=bool)
    new[:, 1:] = near[:, 1:] != near[:, :-1]
    tie = np.cumsum(new.ravel()) - 1
    laid = np.broadcast_to(weight, ordered.shape).ravel()
    mean: NDArray[np.float64] = np.bincount(tie, weights=laid) / np.bincount(tie)
    averaged: NDArray[np.float64] = mean[tie].reshape(ordered.shape)
    return averaged


def granularity(distances: NDArray[np.float64]) -> float:
    """How finely distances distinguish cases (Bogaerts & Leake, section 4).

    The mean number of distinct distances of a case to the others, as a share of the case base. If
    it is low, lists of candidates have many ties and may contract to nothing.

    Parameters
    ----------
    distances : array of float, shape (n, n)
        Between all cases.
    """
    n = len(distances)
    others = np.round(distances[~np.eye(n, dtype=bool)].reshape(n, n - 1), _DECIMALS)
    others.sort(axis=1)
    distinct = (others[:, 1:] != others[:, :-1]).sum(axis=1) + (n > 1)
    return float(distinct.mean() / n)


def _rank_quality(lists: Lists, k: int, lam: float, low: float, high: float) -> Outcome:
    run, truth = lists.run, lists.truth
    score = np.full(len(lists), np.nan)
    outside = _outside(lists)
    unknown = run.sum(~lists.known) > 0
    defined = lists.scored & ~outside & ~unknown & (run.sizes > 0)
    # Lists of one length, with ground truths of one length, at once.
    shapes = np.stack([run.sizes, truth.sizes], axis=1)
    for shape in np.unique(shapes[defined], axis=0):
        queries = np.flatnonzero(defined & (shapes == shape).all(axis=1))
        cell = run.starts[queries, np.newaxis] + np.arange(shape[0])
        true_cell = truth.starts[queries, np.newaxis] + np.arange(shape[1])
        score[queries] = rank_quality(
            1 - lists.score[cell],
            1 - lists.value[cell],
            k,
            ideal=1 - lists.true_value[true_cell],
            lam=lam,
            lowest=low,
            highest=high,
        )
    return score, (
        (~lists.scored, NO_SIMILARITIES),
        (run.sizes == 0, EMPTY_LIST),
        (unknown, "the list has an item that the ground truth does not have"),
        (outside, "a similarity is not between 0 and 1"),
    )


def _outside(lists: Lists) -> NDArray[np.bool_]:
    """Which queries have similarities outside 0 to 1."""
    listed = (lists.score < 0) | (lists.score > 1)
    true = (lists.true_value < 0) | (lists.true_value > 1)
    return (lists.run.sum(listed) + lists.truth.sum(true)) > 0


RANK_QUALITY = (
    Definition(
        name="rank_quality",
        family="dialogue",
        summary="How near the best k candidates are to the query, relative to the k nearest cases.",
        formula="1 - (Σ ŵ(i) d(candidate i) - Σ w(i) d(nearest i)) / Σ w(i), with d = 1 - true "
        "similarity, weights w(i) = low + (high - low) ((i - k)/(k - 1))^(2 lam), ŵ(i) their mean "
        "over a tie, and the sums over the candidates up to k, or to the nearer end of the tie "
        "that k would split",
        compute=_rank_quality,
        low=0,
        ties="Tied candidates (to 9 decimals) share the mean weight. A tie at k is taken in or "
        "left out whole; if nothing is left, the score is 0. With such a tie even the ideal list "
        "may have more or less than 1.",
        notes="k is at most the length of the list. Undefined for an empty list, for one without "
        "similarities or with a case that the ground truth does not have, and where a similarity "
        "is not between 0 and 1.",
        citation="Bogaerts & Leake (2006), What Evaluation Criteria Are Right for CCBR? "
        "Considering Rank Quality, ECCBR",
        parameters=(
            Parameter("k", 10, "number of candidates compared", least=1),
            Parameter("lam", 2, "λ, rate of the weights' decrease", least=1),
            Parameter("low", 0.0, "minV, the least weight", float, 0),
            Parameter("high", 1.0, "maxV, the greatest weight", float, 1e-9),
        ),
    ),
)
