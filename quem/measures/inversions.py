"""Inversions: how many pairs of a row stand in the wrong order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.measures.ragged import Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ascents"]

# The longest row whose codes, and whose counts for one cell, fit into a byte.
_BYTE = 255


def ascents(rows: Ragged, codes: NDArray[np.intp]) -> NDArray[np.int64]:
    """Count the pairs of each row whose first cell is less than the second.

    Parameters
    ----------
    rows : Ragged
    codes : array of int, shape (n,)
        At least 0, and less than the length of the row.

    Returns
    -------
    array of int, shape (rows,)
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

    At each bit, cells that agree in all higher bits form a group in which they stand in their
    first order. A cell with the bit makes a pair with each cell without it that is before it
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
