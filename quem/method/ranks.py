"""Step 4: adjusted ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray


def dense_order(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], int]:
    """Number the distinct values from 0 in increasing order.

    Shapes: `values` (n,); `codes` (n,).
    """
    codes, distinct = pd.factorize(values)
    place = np.empty(len(distinct), dtype=np.int64)
    place[np.argsort(distinct)] = np.arange(len(distinct))
    return place[codes], len(distinct)


def adjusted_ranks(
    group: NDArray[np.int64], order: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    r"""The adjusted rank of each solution of a group, lowest (worst) first.

    The adjusted rank is the mean of the consecutive positions that a solution's tie group
    occupies: 1, 1, 2, 2, 2, 3 becomes 1.5, 1.5, 4, 4, 4, 6. Over a group of :math:`n` the
    ranks sum to :math:`n(n+1)/2`, in whatever way ties were written (Hayes & Parzen 1997,
    step 4).

    Shapes: `group` (n,); `order` (n,); `ranks` (n,); `sizes` (n,).
    """
    if not len(group):
        return np.empty(0), np.empty(0, dtype=np.int64)
    by_key, key, n_codes = _sorted_by_order(group, order)
    ties = _runs(key)
    first_tie = _runs(key[ties[:-1]] // n_codes)
    members, ties_per_group = np.diff(ties), np.diff(first_tie)
    below = ties[:-1] - np.repeat(ties[first_tie[:-1]], ties_per_group)
    size = np.repeat(np.diff(ties[first_tie]), ties_per_group)
    sizes = np.empty(len(key), dtype=np.int64)
    sizes[by_key] = np.repeat(size, members)
    ranks = np.empty(len(key))
    ranks[by_key] = np.repeat(below + (members + 1) / 2, members)
    return ranks, sizes


def unused_ranks(group: NDArray[np.int64], rank: NDArray[np.float64]) -> dict[int, list[int]]:
    """The gaps: unused ranks, in groups of untied whole ranks.

    A gap means that the judge saw a solution which is not in the data. If k solutions of a group
    failed, a judge may have left them the ranks 1 to k, so these are not a gap.

    Shapes: `group` (n,); `rank` (n,).
    """
    ranked = rank != -np.inf
    if not ranked.any():
        return {}
    failed = np.bincount(group[~ranked], minlength=int(group.max()) + 1)
    if not ranked.all():
        group, rank = group[ranked], rank[ranked]
    at, _, _ = _sorted_by_order(group, rank)
    group, rank = group[at], rank[at]
    starts = _runs(group)
    step = np.empty(len(rank))
    step[1:] = np.diff(rank)
    # The first of a group is a step from the rank below the lowest possible one.
    step[starts[:-1]] = np.maximum(rank[starts[:-1]] - failed[group[starts[:-1]]], 1)
    plain = np.logical_and.reduceat((rank == np.floor(rank)) & (step > 0), starts[:-1])
    gap = plain & np.logical_or.reduceat(step > 1, starts[:-1])
    gaps = {}
    for index in np.flatnonzero(gap):
        ranks = rank[starts[index] : starts[index + 1]]
        # A stray 1000000 is a gap of a million ranks; the first thousand suffice.
        lowest = min(1, int(ranks[0]))
        top = min(int(ranks[-1]), lowest + len(ranks) + 1000)
        unused = set(range(lowest, top + 1)) - set(ranks.astype(int).tolist())
        of = int(group[starts[index]])
        gaps[of] = sorted(unused.difference(range(1, failed[of] + 1)))
    return gaps


def _runs(values: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """The start of each run of equal values, and the end of the values."""
    changes = np.flatnonzero(values[1:] != values[:-1]) + 1
    # 32 bits count the ranks of any study, in half the memory.
    return np.concatenate([[0], changes, [len(values)]], dtype=np.int32)


def _sorted_by_order(
    group: NDArray[np.int64], order: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Rows by group and order; the sorted key ``group * n_codes + code``; and n_codes."""
    codes, n_codes = dense_order(order)
    key = group * n_codes + codes
    at = np.argsort(key, kind="stable")
    return at, key[at], n_codes


def tau_b(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Kendall's tau-b over the solutions that both ranked; NaN without variance.

    Shapes: `a`, `b` (n,).
    """
    both = np.isfinite(a) & np.isfinite(b)
    one, other = (np.sign(np.subtract.outer(of[both], of[both])) for of in (a, b))
    pairs = np.sqrt((one**2).sum() * (other**2).sum())
    return float((one * other).sum() / pairs) if pairs else np.nan
