"""Small tables beside a study file as rows of texts, without NumPy."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING

from quem.errors import Mistake, QuemError
from quem.io.text import read_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Rows:
    """A table and its errors."""

    name: str  # as the user named it
    header: list[str]
    rows: list[tuple[int, dict[str, str]]]  # first line and cells
    mistakes: list[Mistake] = field(default_factory=list)

    def refuse(self, line: int, column: str, message: str) -> None:
        """Note an error in a cell."""
        at = self.header.index(column) + 1
        self.mistakes.append(Mistake(self.name, line, at, column, message))


def read_rows(
    path: Path, *, what: str, known: Collection[str], required: Sequence[str] = ()
) -> Rows:
    """Read a table whose first line names its columns, regardless of case.

    Spreadsheets write semicolons where the comma is the decimal sign. Without a required column
    there are no rows.
    """
    name = str(path)
    text = read_text(path, name, what=what, legacy=True)
    first = text.partition("\n")[0]
    reader = csv.reader(StringIO(text), delimiter=max(",;\t", key=first.count), strict=True)
    lines, begins = [], 1
    try:
        for cells in reader:
            lines.append((begins, [cell.strip() for cell in cells]))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise QuemError(Mistake(name, begins, message=f"is not CSV: {error}")) from None
    lines = [(line, cells) for line, cells in lines if any(cells)]
    title = lines.pop(0)[1] if lines else []
    table = Rows(name, [cell.lower() if cell.lower() in known else cell for cell in title], [])
    for column in required:
        if column not in table.header:
            message = f"has no column {column}; add it"
            table.mistakes.append(Mistake(name, 1, message=message))
    for at, column in enumerate(table.header, 1):
        if column and column in table.header[: at - 1]:
            message = "is there twice; leave one out"
            table.mistakes.append(Mistake(name, 1, at, column, message))
    if not table.mistakes:
        table.rows.extend(_filled(table, lines))
    return table


def _filled(
    table: Rows, lines: Iterable[tuple[int, list[str]]]
) -> Iterable[tuple[int, dict[str, str]]]:
    """The cells of each row by column; a row longer than the header is an error."""
    width = len(table.header)
    for line, cells in lines:
        if any(cells[width:]):
            message = f"has {len(cells)} cells, but the first line {width}; quote commas"
            table.mistakes.append(Mistake(table.name, line, message=message))
        else:
            yield line, dict(zip(table.header, [*cells, *[""] * width], strict=False))


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as a CSV file."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
