"""Where items are in their list: at one position or, tied, at any of several."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.lists.ragged import Ragged

__all__ = ["Places", "mean_gap", "tied_places"]


@dataclass(frozen=True)
class Places:
    """The positions between which each item is; every order of tied items is as likely.

    Parameters
    ----------
    first, last : arrays of int, shape (n,)
        From 1, inclusive; equal for an item whose position is known.
    """

    first: NDArray[np.intp]
    last: NDArray[np.intp]

    @cached_property
    def size(self) -> NDArray[np.intp]:
        """How many positions each item can have, shape (n,)."""
        return self.last - self.first + 1

    def only(self, kept: NDArray[np.bool_] | NDArray[np.intp]) -> Places:
        """The places of some items."""
        return Places(self.first[kept], self.last[kept])

    def within(self, k: NDArray[np.intp] | int) -> NDArray[np.float64]:
        """Give the chance that each item is among the best k, shape (n,)."""
        share: NDArray[np.float64] = np.clip(k - self.first + 1, 0, self.size) / self.size
        return share

    def mean(self, weight: NDArray[np.float64], k: int | None = None) -> NDArray[np.float64]:
        """Average a weight of positions over those that each item can have.

        Parameters
        ----------
        weight : array of float, shape (m,)
            Of each position from 1, at least as many as there are.
        k : int, optional
            Positions beyond it have no weight.

        Returns
        -------
        array of float, shape (n,)
        """
        up_to = self.last if k is None else np.minimum(self.last, k)
        known = np.where(self.first <= up_to, weight[self.first - 1], 0.0)
        if (self.size == 1).all():
            return known
        total = np.concatenate([[0.0], np.cumsum(weight)])
        reached = np.maximum(up_to, self.first - 1)
        spread = (total[reached] - total[self.first - 1]) / self.size
        return np.where(self.size == 1, known, spread)


def tied_places(rows: Ragged, ordered: NDArray[np.float64]) -> Places:
    """Give the places of items that are tied where their values are equal.

    Parameters
    ----------
    ordered : array of float, shape (n,)
        Values, sorted within their rows.
    """
    tie = rows.ties(ordered)
    size = np.bincount(tie)
    start = np.cumsum(size) - size
    first = rows.position[start][tie]
    return Places(first, first + size[tie] - 1)


def mean_gap(one: Places, other: Places) -> NDArray[np.float64]:
    r"""Average :math:`|i - j|` over all positions i and j that items can have in two lists.

    With :math:`Q(t) = |t|(t^2 - 1)/6`, whose second difference is :math:`|t|`, the sum over
    i = a..b and j = c..d is Q(b - c + 1) - Q(a - c) - Q(b - d) + Q(a - d - 1).

    Returns
    -------
    array of float, shape (n,)
    """

    def q(gap: NDArray[np.intp]) -> NDArray[np.float64]:
        size: NDArray[np.float64] = np.abs(gap).astype(np.float64)
        return size * (size * size - 1) / 6

    if ((one.size == 1) & (other.size == 1)).all():
        known: NDArray[np.float64] = np.abs(one.first - other.first).astype(np.float64)
        return known
    total = (
        q(one.last - other.first + 1)
        - q(one.first - other.first)
        - q(one.last - other.last)
        + q(one.first - other.last - 1)
    )
    mean: NDArray[np.float64] = total / (one.size * other.size)
    return mean
