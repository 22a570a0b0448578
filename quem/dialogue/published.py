"""Published results to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from quem.errors import Mistake, QuemError
from quem.io.numbers import finite_number
from quem.io.tables import read_table, repeats
from quem.io.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.io.tables import Table

__all__ = ["MEASURES", "Published", "constant_error", "error", "read_published"]

MEASURES = ("efficiency", "precision")
_COLUMNS = ("measure", "user", "strategy", "value")
Key = TypeVar("Key")


@dataclass(frozen=True)
class Published:
    """Efficiency and precision as printed somewhere.

    Parameters
    ----------
    values : array of float, shape (2, strategies, users)
        Efficiency, then precision; NaN where nothing is printed.
    """

    values: NDArray[np.float64]


def read_published(
    path: Path, name: str, strategies: Sequence[str], users: Sequence[str]
) -> Published:
    """Read published results from a table.

    Parameters
    ----------
    name : str
        For messages.
    strategies, users : sequences of str
        Those of the study; those of others are left out.

    Raises
    ------
    QuemError
        With every mistake in the file.
    """
    table = read_table(
        path, name, what="table of published results", fields=_COLUMNS, required=_COLUMNS
    )
    given = table.column("value")
    table = table.only(np.flatnonzero(given.lookup(map(bool, given.values), np.bool_)))
    mistakes: list[Mistake] = []
    value = table.numbers("value", mistakes, such="0.45")
    codes = [
        _codes(table, "measure", {measure: at for at, measure in enumerate(MEASURES)}, str),
        _codes(table, "strategy", {strategy: at for at, strategy in enumerate(strategies)}, str),
        _codes(table, "user", {_folded(user): at for at, user in enumerate(users)}, _folded),
    ]
    table.refuse(
        "measure",
        np.flatnonzero(codes[0] < 0),
        lambda text: f"{shown(text)} is neither efficiency nor precision",
        mistakes,
    )
    rows = np.flatnonzero(np.min(codes, axis=0, initial=0) >= 0)
    values = np.full((len(MEASURES), len(strategies), len(users)), np.nan)
    cells = tuple(code[rows] for code in codes)
    values[cells] = value[rows]
    for row, first in repeats(np.ravel_multi_index(cells, values.shape))[0]:
        line = table.place(int(rows[first]), "measure").line
        message = f"duplicate: this value is also on line {line}; keep one"
        mistakes.append(table.mistake(int(rows[row]), "measure", message))
    if not mistakes and np.isnan(values).all():
        mistakes.append(Mistake(name, message="names no strategy and user of the study together"))
    if mistakes:
        raise QuemError(mistakes)
    return Published(values)


def _codes(
    table: Table[str], name: str, known: dict[Key, int], key: Callable[[str], Key]
) -> NDArray[np.int64]:
    column = table.columns[name]
    return column.lookup((known.get(key(text), -1) for text in column.values), np.int64)


def _folded(user: str) -> tuple[str, float]:
    """Users are written "T5 0.30" or "T5 0.3"."""
    name, _, b = user.strip().partition(" ")
    number = finite_number(b)
    return name.upper(), -1.0 if number is None else number


def error(computed: NDArray[np.float64], published: NDArray[np.float64]) -> float:
    """The mean absolute difference, where both are there; NaN where none is.

    Parameters
    ----------
    computed, published : arrays of float, of one shape
    """
    apart = np.abs(computed - published)
    there = ~np.isnan(apart)
    return float(apart[there].mean()) if there.any() else np.nan


def constant_error(published: NDArray[np.float64]) -> float:
    """The least mean absolute difference that one number for all can have: the median's.

    What agrees no better than this does not show the order of figures.

    Parameters
    ----------
    published : array of float
    """
    there = published[~np.isnan(published)]
    return float(np.abs(there - np.median(there)).mean()) if len(there) else np.nan
