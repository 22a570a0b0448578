"""Columns of cells as integer codes into their distinct cells.

A column of a million cells holds few distinct ones, and only these are checked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

Cell_co = TypeVar("Cell_co", covariant=True)
Item = TypeVar("Item")
Scalar = TypeVar("Scalar", bound=np.generic)


class CodedColumn(NamedTuple, Generic[Cell_co]):
    """The cells of one column: ``values[codes[i]]`` is the cell of row ``i``."""

    codes: NDArray[np.integer[Any]]
    values: Sequence[Cell_co]

    def cell(self, row: int) -> Cell_co:
        return self.values[int(self.codes[row])]

    def cells(self) -> list[Cell_co]:
        """The cells of all rows."""
        return [self.values[code] for code in self.codes.tolist()]

    def only(self, rows: NDArray[np.int64]) -> CodedColumn[Cell_co]:
        """Some of the rows."""
        return CodedColumn(self.codes[rows], self.values)

    def used(self) -> list[int]:
        """The codes that occur."""
        counts = np.bincount(self.codes, minlength=len(self.values))
        return [int(code) for code in np.flatnonzero(counts)]

    def lookup(self, meanings: Iterable[object], dtype: type[Scalar]) -> NDArray[Scalar]:
        """Map each cell by the value of its distinct cell."""
        meaning = np.array(list(meanings), dtype=dtype)
        if not len(self.codes):
            return np.empty(0, dtype=dtype)
        if (meaning == meaning[0]).all():
            # A single repeated value takes no memory.
            return np.broadcast_to(meaning[0], len(self.codes))
        return np.asarray(meaning[self.codes])


def column_of(
    cells: Iterable[Item], key: Callable[[Item], Hashable] | None = None
) -> CodedColumn[Item]:
    """A column of cells; cells with equal keys are the same."""
    if key is not None:
        cells = list(cells)
        codes = column_of(map(key, cells)).codes
        _, first = np.unique(codes, return_index=True)
        return CodedColumn(codes, [cells[row] for row in first.tolist()])
    seen: dict[Item, int] = {}
    places = [seen.setdefault(cell, len(seen)) for cell in cells]
    return CodedColumn(np.array(places, dtype=np.int64), list(seen))


def distinct_key(value: object) -> Hashable:
    """A key that distinguishes 1 from True, which are equal in Python."""
    if isinstance(value, list | dict):
        return type(value), json.dumps(value, sort_keys=True, default=repr)
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return type(value), value
