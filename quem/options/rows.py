"""A table of lists, from what it says to a row for each option."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Doubt, Mistake, QuemError
from quem.rankings.delimited import Column, read_delimited
from quem.rankings.layouts import named_columns
from quem.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["MOST_OF_A_KIND", "Rows", "rows_of_table"]

MOST_OF_A_KIND = 20
_FIELDS = ("question", "system", "option", "position", "confidence", "score")
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_LONGEST_NUMBER = 400


@dataclass(frozen=True)
class Rows:
    """What one file says: a row an option, or a row without one for an empty list.

    Parameters
    ----------
    name : str
        The file as the user named it.
    question, option : Column
    system : Column or None
        None where the file does not name systems.
    position : array of float, shape (n,)
        NaN where none is told.
    confidence : array of float, shape (n,)
        NaN where none is told.
    place : callable
        From row and field to line and column.
    doubts : tuple of Doubt
    mistakes : tuple of Mistake
        Cells that cannot be read.
    """

    name: str
    question: Column
    option: Column
    system: Column | None
    position: Floats
    confidence: Floats
    place: Callable[[int, str], tuple[int, int]]
    doubts: tuple[Doubt, ...] = ()
    mistakes: tuple[Mistake, ...] = ()

    def mistake(self, row: int, field: str, message: str) -> Mistake:
        """Describe what is wrong with one cell."""
        return Mistake(self.name, *self.place(row, field), field, message)


def rows_of_table(path: Path, name: str) -> Rows:
    """Read a table of lists.

    Parameters
    ----------
    path : Path
    name : str
        The file as the user named it.

    Raises
    ------
    QuemError
        The file cannot be read, or a column is missing.
    """
    table = read_delimited(path, name, what="table of lists")
    at, doubts = named_columns(table, _FIELDS, required=("question", "option"))
    if "confidence" in at and "score" in at:
        message = "there is a column confidence too; keep one of them"
        line = table.header_lines[0]
        raise QuemError([Mistake(table.name, line, at["score"] + 1, "score", message)])
    lines: list[int] = []

    def place(row: int, field: str) -> tuple[int, int]:
        if not lines:
            lines.extend(table.lines())
        return lines[row], at.get(field, 0) + 1

    told = "score" if "score" in at else "confidence"
    columns = {field: table.columns[index] for field, index in at.items()}
    n_rows = len(columns["question"].codes)
    filled = np.zeros(n_rows, dtype=bool)
    for column in columns.values():
        filled |= np.array([bool(word) for word in column.values] or [False])[column.codes]
    rows = Rows(
        table.name,
        columns["question"],
        columns["option"],
        columns.get("system"),
        np.full(n_rows, np.nan),
        np.full(n_rows, np.nan),
        place,
        doubts,
    )
    mistakes: list[Mistake] = []
    numbers = {}
    for field in ("position", told):
        if field in columns:
            numbers[field] = _numbers(rows, field, columns[field], mistakes)
    return _kept(
        Rows(
            rows.name,
            rows.question,
            rows.option,
            rows.system,
            numbers.get("position", rows.position),
            numbers.get(told, rows.confidence),
            place,
            doubts,
            tuple(mistakes),
        ),
        np.flatnonzero(filled),
    )


def _kept(rows: Rows, kept: NDArray[np.int64]) -> Rows:
    """Leave out rows, such as blank lines."""

    def only(column: Column) -> Column:
        return Column(column.codes[kept], column.values)

    return Rows(
        rows.name,
        only(rows.question),
        only(rows.option),
        None if rows.system is None else only(rows.system),
        rows.position[kept],
        rows.confidence[kept],
        lambda row, field: rows.place(int(kept[row]), field),
        rows.doubts,
        rows.mistakes,
    )


def _numbers(rows: Rows, field: str, column: Column, mistakes: list[Mistake]) -> Floats:
    """The numbers of a column; NaN where a cell is empty."""
    values = []
    for code, word in enumerate(column.values):
        value = _number(word) if word else float("nan")
        if value is None or (word and not math.isfinite(value)):
            at = column.rows_of(code)
            value = float("nan")
            if len(at) and len(mistakes) < MOST_OF_A_KIND:
                message = f"{shown(word)} is no finite number; write one such as {_such[field]}"
                mistakes.append(rows.mistake(int(at[0]), field, message))
        values.append(value)
    return np.asarray(np.array(values or [float("nan")])[column.codes])


_such = {"position": "1", "confidence": "0.8", "score": "0.8"}


def _number(word: str) -> float | None:
    if len(word) > _LONGEST_NUMBER or not _NUMBER.fullmatch(word):
        return None
    return float(word.replace(",", "."))
