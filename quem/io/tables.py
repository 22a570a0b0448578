"""Tables of named columns from CSV, JSON Lines, or JSON: one reader for all kinds.

A table knows the location of each cell, so errors read ``path:line:column: key: message``: each
wrong cell text once, at its first place, with the number of further lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import pandas as pd

from quem.errors import Mistake, StudyWarning, refuse
from quem.io.columns import Cell_co, CodedColumn, column_of
from quem.io.delimited import Delimited, read_delimited
from quem.io.numbers import finite_number, not_finite
from quem.io.parquet import is_parquet, read_parquet
from quem.io.records import is_json, read_records
from quem.io.text import nearest, shown

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


# Greatest number of errors of one kind that are listed.
MOST_NAMED = 20
_MOST_COMPARED = 10_000


@dataclass(frozen=True)
class SourceTable(Generic[Cell_co]):
    """Rows with named columns."""

    name: str  # as the user named it
    columns: Mapping[str, CodedColumn[Cell_co]]  # all of equal length
    # From row and column name to the location of that cell, without a message.
    place: Callable[[int, str], Mistake] = field(repr=False)
    warnings: tuple[StudyWarning, ...] = ()
    mistakes: tuple[Mistake, ...] = ()  # errors of the file as a whole

    def __len__(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())).codes)

    def column(self, name: str) -> CodedColumn[Cell_co | str]:
        """A column; empty cells if it is missing."""
        if name in self.columns:
            return self.columns[name]
        return CodedColumn(np.broadcast_to(np.int64(0), len(self)), [""])

    def only(self, rows: NDArray[np.int64]) -> SourceTable[Cell_co]:
        """Some of the rows."""
        if len(rows) == len(self):
            return self
        return replace(
            self,
            columns={name: column.only(rows) for name, column in self.columns.items()},
            place=lambda row, name: self.place(int(rows[row]), name),
        )

    def without_blank_rows(self) -> SourceTable[Cell_co]:
        """The rows with at least one cell that is not empty."""
        blank = np.ones(len(self), dtype=bool)
        for column in self.columns.values():
            if "" not in column.values and None not in column.values:
                return self
            blank &= column.lookup([cell in ("", None) for cell in column.values], np.bool_)
        return self.only(np.flatnonzero(~blank))

    def counts(self, name: str) -> list[tuple[Cell_co, int]]:
        """Counts of the distinct values of a column; JSON values may be lists."""
        column = self.columns[name]
        numbers = np.bincount(column.codes, minlength=len(column.values)).tolist()
        return [(cell, n) for cell, n in zip(column.values, numbers, strict=True) if n]

    def mistake(self, row: int, name: str, message: str) -> Mistake:
        """The error on one cell."""
        return replace(self.place(row, name), message=message)

    def refuse(
        self,
        name: str,
        rows: NDArray[np.int64],
        message: Callable[[Cell_co | str], str],
        mistakes: list[Mistake],
    ) -> None:
        """Report each distinct cell of some rows as wrong, at its first place."""
        column = self.column(name)
        codes = column.codes[rows]
        _, first = np.unique(codes, return_index=True)
        for at in np.sort(first)[:MOST_NAMED].tolist():
            text = message(column.values[int(codes[at])])
            more = self.more_lines(rows[codes == codes[at]], name)
            mistakes.append(self.mistake(int(rows[at]), name, text + more))
        if len(first) > MOST_NAMED:
            message_of_rest = f"and {len(first) - MOST_NAMED:,} more cells like these"
            where = self.place(int(rows[0]), name)
            mistakes.append(Mistake(where.path, key=where.key, message=message_of_rest))

    def more_lines(self, rows: NDArray[np.int64], name: str) -> str:
        """The number of further lines with the cells of these rows, in words."""
        places = [self.place(row, name) for row in rows.tolist()]
        more = len({(place.path, place.line) for place in places}) - 1
        return f" (and on {more:,} more line{'' if more == 1 else 's'})" if more else ""

    def lacking(self, names: Sequence[str], mistakes: list[Mistake]) -> NDArray[np.bool_]:
        """Which rows lack an id; each set of missing ids is one error."""
        pattern = np.zeros(len(self), dtype=np.uint8)
        for bit, name in enumerate(names):
            column = self.column(name)
            blank = [cell in ("", None) for cell in column.values]
            if any(blank):
                pattern |= column.lookup(blank, np.bool_).astype(np.uint8) << np.uint8(bit)
        for bits in np.unique(pattern[pattern > 0]).tolist():
            empty = [name for bit, name in enumerate(names) if bits >> bit & 1]
            rows = np.flatnonzero(pattern == bits)
            others = f", as is the {' and the '.join(empty[1:])}" if empty[1:] else ""
            remedy = "complete the line or remove it" if others else f"add the {empty[0]}"
            message = f"is empty{others}; {remedy}{self.more_lines(rows, empty[0])}"
            mistakes.append(self.mistake(int(rows[0]), empty[0], message))
        return pattern > 0

    def codes(
        self,
        name: str,
        known: Mapping[str, int],
        mistakes: list[Mistake],
        where: str,
        *,
        noun: str = "",
        dtype: type[np.signedinteger[Any]] = np.int64,
    ) -> NDArray[np.signedinteger[Any]]:
        """The code of each id; -1 for an unknown one, which is an error."""
        column = self.columns[name]
        codes = column.lookup((known.get(str(cell), -1) for cell in column.values), dtype)
        if (wrong := np.flatnonzero(codes < 0)).size:

            def message(cell: object) -> str:
                # The search for similar words is slow if many are known.
                hint = nearest(str(cell), known) if len(known) < _MOST_COMPARED else ""
                return f"unknown {noun or name} {shown(str(cell))}{hint or f'; add it to {where}'}"

            self.refuse(name, wrong, message, mistakes)
        return codes

    def numbers(
        self, name: str, mistakes: list[Mistake], *, such: str, required: bool = False
    ) -> NDArray[np.float64]:
        """Parse a column of finite numbers."""
        column = self.column(name)
        numbers = [finite_number(cell) for cell in column.values]
        required &= name in self.columns
        wrong = [
            number is None and (required or cell not in ("", None))
            for number, cell in zip(numbers, column.values, strict=True)
        ]
        if any(wrong):

            def message(cell: object) -> str:
                if cell in ("", None):
                    return f"is empty; add a number such as {such}"
                return not_finite(str(cell), f"use a value such as {such}")

            self.refuse(name, np.flatnonzero(column.lookup(wrong, np.bool_)), message, mistakes)
        # NumPy converts None to NaN.
        return column.lookup(numbers, np.float64)


def read_table(
    path: Path,
    name: str,
    *,
    what: str,
    fields: Mapping[str, Sequence[str]] | Sequence[str],
    required: Sequence[str],
    otherwise: str = "",
    strict: bool = True,
) -> SourceTable[str]:
    """Read the known columns of a table: JSON, Parquet by its extension, else CSV."""
    if is_parquet(path):
        table = read_parquet(path, name, what=what)
        return named_columns(table, fields, required, otherwise)
    if not is_json(path):
        return named_columns(read_delimited(path, name, what=what), fields, required, otherwise)
    names = _names(fields)
    first = [names[field][0] for field in required]
    example = "{" + ", ".join(f'"{key}": ...' for key in first) + "}"
    records = read_records(path, name, what=what, example=example, key=first[0])
    meaning = {alias: own for own, aliases in names.items() for alias in aliases}
    mistakes, unread = [], []
    columns = dict.fromkeys(required, column_of([""] * len(records.entries)))
    for key, column in records.columns().items():
        if not strict and field_name(key) not in meaning:
            unread.append(key)
            continue
        texts = [_text(value) for value in column.values]
        columns[meaning.get(field_name(key), key)] = CodedColumn(
            column.codes, [text or "" for text in texts]
        )
        message = "must be a text or a number"
        wrong = column.lookup((text is None for text in texts), np.bool_)
        if field_name(key) not in meaning:
            message = f"unknown key{nearest(key, meaning)}; known here: {', '.join(meaning)}"
            wrong = np.array([key in entry for entry in records.entries])
        if wrong.any():
            mistakes.append(replace(records.place(int(np.argmax(wrong)), key), message=message))
    refuse(mistakes[:MOST_NAMED])
    return SourceTable(name, columns, records.place, _unread(name, unread, meaning))


def _unread(name: str, columns: list[str], known: Iterable[str]) -> tuple[StudyWarning, ...]:
    return tuple(
        StudyWarning(
            "ignored-column", f"{name}: the column {shown(cell)} is not read{nearest(cell, known)}"
        )
        for cell in columns
    )


def field_name(header: str) -> str:
    """A column name as a field name: in lower case, with ``_`` for blanks."""
    return re.sub("[ -]", "_", header.casefold())


def _text(value: object) -> str | None:
    """A JSON value as the text of a cell; None for a list or object."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return None
    return "" if value is None else str(value).strip()


def named_columns(
    table: Delimited,
    fields: Mapping[str, Sequence[str]] | Sequence[str],
    required: Sequence[str],
    otherwise: str = "",
) -> SourceTable[str]:
    """The columns of a delimited file by header name."""
    names = _names(fields)
    meaning = {alias: own for own, aliases in names.items() for alias in aliases}
    header, line = table.header[-1], table.header_lines[-1]
    at: dict[str, int] = {}
    mistakes, unknown = [], []
    for index, cell in enumerate(header):
        field = meaning.get(field_name(cell), "")
        if field in at:
            message = f"duplicate column: column {at[field] + 1} is the {field} too; keep one"
            mistakes.append(Mistake(table.name, line, index + 1, cell, message))
        elif field:
            at[field] = index
        elif cell:
            unknown.append(cell)
    if missing := [names[field][0] for field in required if field not in at]:
        hint = nearest(missing[0], unknown).replace("did you mean", "is it")
        spelled = ", ".join(names[field][0] for field in required)
        message = (
            f"column{'s' if missing[1:] else ''} {', '.join(map(repr, missing))} not found; the "
            f"header must name {spelled}{hint}{otherwise}"
        )
        mistakes.append(Mistake(table.name, line, key=missing[0], message=message))
    refuse(mistakes)
    warnings = _unread(table.name, unknown, meaning)
    columns = {field: table.columns[index] for field, index in at.items()}
    titles = {field: header[index] for field, index in at.items()}
    return SourceTable(table.name, columns, _places(table, at, titles), warnings)


def _names(fields: Mapping[str, Sequence[str]] | Sequence[str]) -> Mapping[str, Sequence[str]]:
    return fields if isinstance(fields, Mapping) else {field: (field,) for field in fields}


def all_columns(
    table: Delimited, names: Sequence[str] = (), *, unnamed: bool = False
) -> SourceTable[str]:
    """Every column of a delimited file by its own name, without blank rows."""
    at: dict[str, int] = {}
    mistakes = []
    for index, (cell, column) in enumerate(
        zip(names or table.header[0], table.columns, strict=True)
    ):
        if cell in at:
            message = f"several columns are named {shown(cell)}; give each its own name"
            mistakes.append(Mistake(table.name, table.header_lines[0], index + 1, message=message))
        elif cell or (unnamed and any(column.values)):
            at[cell or f"column {index + 1}"] = index
    refuse(mistakes)
    columns = {name: table.columns[index] for name, index in at.items()}
    return SourceTable(table.name, columns, _places(table, at, {})).without_blank_rows()


def _places(
    table: Delimited, at: Mapping[str, int], titles: Mapping[str, str]
) -> Callable[[int, str], Mistake]:
    lines: list[int] = []

    def place(row: int, name: str) -> Mistake:
        lines.extend(() if lines else table.lines())
        return Mistake(table.name, lines[row], at.get(name, -1) + 1, titles.get(name, name))

    return place


def stack(tables: Sequence[SourceTable[Cell_co]]) -> SourceTable[Cell_co | str]:
    """Concatenate the rows of several files; missing columns are filled with empty cells."""
    if len(tables) == 1:
        return tables[0]
    starts = np.cumsum([0, *map(len, tables)])
    columns: dict[str, CodedColumn[Cell_co | str]] = {}
    for name in dict.fromkeys(name for table in tables for name in table.columns):
        parts = [table.column(name) for table in tables]
        values = column_of([cell for part in parts for cell in part.values])
        ends = np.cumsum([len(part.values) for part in parts])[:-1]
        meaning = np.split(values.codes, ends)
        codes = [new[part.codes] for new, part in zip(meaning, parts, strict=True)]
        columns[name] = CodedColumn(np.concatenate(codes), values.values)

    def place(row: int, name: str) -> Mistake:
        file = int(np.searchsorted(starts, row, side="right")) - 1
        return tables[file].place(row - int(starts[file]), name)

    return SourceTable(
        ", ".join(dict.fromkeys(table.name for table in tables)),
        columns,
        place,
        tuple(warning for table in tables for warning in table.warnings),
        tuple(mistake for table in tables for mistake in table.mistakes),
    )


def repeats(keys: NDArray[np.integer[Any]]) -> tuple[list[tuple[int, int]], int]:
    """Rows that repeat the key of an earlier row.

    Shapes: `keys` (n,).
    """
    again = np.flatnonzero(pd.Series(keys).duplicated().to_numpy())
    pairs = [(row, int(np.argmax(keys == keys[row]))) for row in again[:MOST_NAMED].tolist()]
    return pairs, len(again)
