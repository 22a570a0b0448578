"""Rows of different lengths in flat arrays, with operations on all rows at once.

An item has one position in its row or, tied, several possible ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# Cells per block: they fit into the processor's cache, and memory stays bounded.
_AT_ONCE = 1 << 17


class Ragged:
    """Rows of different lengths, one after another in flat arrays."""

    def __init__(self, sizes: NDArray[np.intp]) -> None:
        self.sizes = sizes

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.sizes)

    @cached_property
    def total(self) -> int:
        """Number of cells."""
        return int(self.sizes.sum())

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """The start of each row in a flat array."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def row(self) -> NDArray[np.intp]:
        """The row of each cell."""
        return np.repeat(np.arange(len(self), dtype=np.intp), self.sizes)

    @cached_property
    def position(self) -> NDArray[np.intp]:
        """The position of each cell in its row, from 1."""
        return np.arange(1, self.total + 1, dtype=np.intp) - np.repeat(self.starts, self.sizes)

    def cells(self, rows: slice | int) -> slice:
        """The slice of a row or of consecutive rows."""
        first, last = (rows, rows) if isinstance(rows, int) else (rows.start, rows.stop - 1)
        return slice(int(self.starts[first]), int(self.starts[last] + self.sizes[last]))

    def parts(self) -> Iterator[slice]:
        """Consecutive rows in parts of bounded size."""
        ends = np.searchsorted(np.cumsum(self.sizes), np.arange(_AT_ONCE, self.total, _AT_ONCE)) + 1
        for start, end in pairwise(sorted({0, *ends.tolist(), len(self)})):
            yield slice(start, end)

    @cached_property
    def _width(self) -> int:
        """The common length of all rows, else 0."""
        return int(self.sizes[0]) if len(self) and np.ptp(self.sizes) == 0 else 0

    def only(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> Ragged:
        """The rows restricted to some cells."""
        return Ragged(np.bincount(self.row[which], minlength=len(self)).astype(np.intp))

    def sum(self, values: NDArray[np.float64] | NDArray[np.bool_]) -> NDArray[np.float64]:
        """Sum each row; 0 for one without cells."""
        return sum_by(self.row, values, len(self))

    def _blocks(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]]:
        """Rows of similar length, where their cells are, and which cells are not padding."""
        exponent = np.frexp(np.maximum(self.sizes - 1, 0))[1]
        exponent[self.sizes == 0] = -1
        for power in np.unique(exponent[exponent >= 0]):
            rows = np.flatnonzero(exponent == power)
            cell = np.arange(int(self.sizes[rows].max()))
            valid = cell < self.sizes[rows, np.newaxis]
            yield rows, np.where(valid, self.starts[rows, np.newaxis] + cell, 0), valid

    def ascends(self, values: NDArray[np.float64]) -> bool:
        """Whether any cell is less than the next of its row."""
        up = values[1:] > values[:-1]
        inner = self.starts[(self.starts > 0) & (self.starts < self.total)]
        up[inner - 1] = False
        return bool(up.any())

    def argsort(self, values: NDArray[np.float64]) -> tuple[NDArray[np.intp], bool]:
        """Sort each row in increasing order, stable."""
        if self._width:
            order, tied = _argsort(values.reshape(-1, self._width))
            return order.ravel(), tied
        order = np.empty(self.total, dtype=np.intp)
        tied = False
        for _, index, valid in self._blocks():
            within, more = _argsort(np.where(valid, values[index], np.inf))
            # Padding is last in its row, before and after.
            order[index[valid]] = index.ravel()[within][valid]
            tied |= more
        return order, tied

    def ties(self, values: NDArray[np.float64]) -> NDArray[np.intp]:
        """Number the runs of equal cells in sorted rows."""
        new = np.ones(self.total, dtype=bool)
        np.not_equal(values[1:], values[:-1], out=new[1:])
        new[self.starts[self.sizes > 0]] = True
        return np.cumsum(new) - 1

    def average_ranks(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rank each row from 1 for the least; ties have mid-ranks."""
        order, tied = self.argsort(values)
        ranks = np.empty(self.total)
        if not tied:
            ranks[order] = self.position
            return ranks
        tie = self.ties(values[order])
        mean = np.bincount(tie, weights=self.position) / np.bincount(tie)
        ranks[order] = mean[tie]
        return ranks


def sum_by(
    group: NDArray[np.intp], values: NDArray[np.float64] | NDArray[np.bool_], groups: int
) -> NDArray[np.float64]:
    """Sum values by group."""
    # Without values NumPy returns integers.
    return np.bincount(group, weights=values, minlength=groups).astype(np.float64, copy=False)


def _argsort(rows: NDArray[np.float64]) -> tuple[NDArray[np.intp], bool]:
    """Stable argsort of each row as indices into the flat array; also whether finite cells tie.

    Unstable sorting is much quicker, and sufficient without ties.
    """
    starts = np.arange(0, rows.size, rows.shape[1] or 1)[:, np.newaxis]
    order = np.argsort(rows, axis=1) + starts
    ordered = rows.ravel()[order]
    equal = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] < np.inf)
    tied = bool(equal.any())
    return (np.argsort(rows, axis=1, kind="stable") + starts if tied else order), tied


@dataclass(frozen=True)
class Places:
    """The possible positions of each item; every order of tied items is equally likely."""

    # Of shape (n,): from 1, inclusive; equal for an item with one position
    first: NDArray[np.intp]
    last: NDArray[np.intp]

    @cached_property
    def size(self) -> NDArray[np.intp]:
        """The number of possible positions of each item, shape (n,)."""
        return self.last - self.first + 1

    def only(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> Places:
        """The positions of some items."""
        return Places(self.first[which], self.last[which])

    def within(self, k: NDArray[np.intp] | int) -> NDArray[np.float64]:
        """The probability that each item is among the best k, shape (n,)."""
        share: NDArray[np.float64] = np.clip(k - self.first + 1, 0, self.size) / self.size
        return share

    def mean(self, weight: NDArray[np.float64], k: int | None = None) -> NDArray[np.float64]:
        """The mean weight over the possible positions of each item."""
        up_to = self.last if k is None else np.minimum(self.last, k)
        known = np.where(self.first <= up_to, weight[self.first - 1], 0.0)
        if (self.size == 1).all():
            return known
        total = np.concatenate([[0.0], np.cumsum(weight)])
        reached = np.maximum(up_to, self.first - 1)
        spread = (total[reached] - total[self.first - 1]) / self.size
        return np.where(self.size == 1, known, spread)


def tied_places(rows: Ragged, ordered: NDArray[np.float64]) -> Places:
    """The positions of items that tie where their values are equal."""
    tie = rows.ties(ordered)
    if not len(tie) or tie[-1] == len(tie) - 1:
        # No ties.
        return Places(rows.position, rows.position)
    size = np.bincount(tie)
    start = np.cumsum(size) - size
    first = rows.position[start][tie]
    return Places(first, first + size[tie] - 1)


def mean_gap(one: Places, other: Places) -> NDArray[np.float64]:
    r"""The mean of :math:`|i - j|` over all possible positions i and j in two lists.

    With :math:`Q(t) = |t|(t^2 - 1)/6`, whose second difference is :math:`|t|`, the sum over
    i = a..b and j = c..d is Q(b - c + 1) - Q(a - c) - Q(b - d) + Q(a - d - 1).
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
