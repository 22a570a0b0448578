"""Delimited text files (CSV) in their many dialects, as columns of texts."""

from __future__ import annotations

import csv
import io
import re
import warnings
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError, refuse
from quem.io.columns import CodedColumn, column_of
from quem.io.text import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import pandas as pd

# The csv module refuses cells of more than 131,072 characters, which texts may have.
csv.field_size_limit(1_000_000_000)
_DELIMITERS = "\t;,|"
_UNCLOSED = re.compile(r"EOF inside string starting at row (\d+)")
_HEAD = 4096
# Fewer rows are read one by one.
_FEW_ROWS = 5000
# Cells that are longer on average are texts.
_LONG_CELL = 100
# A first row of these keeps pandas from parsing texts as numbers, and 007 as 7. It is not a
# character, and sorts last.
_MARK = "\U0010ffff"
_CONTENT = re.compile(r"[^\s\t;,|]")


@dataclass(frozen=True)
class Delimited:
    """A delimited text file."""

    name: str  # as the user named it
    header: list[list[str]]  # header rows, stripped, each as wide as the table
    columns: list[CodedColumn[str]]  # one per header cell, without the header rows
    header_lines: list[int]  # first line of each header row
    _starts: Callable[[], Iterable[int]]

    def lines(self) -> list[int]:
        """The first line of each row, 0 where unknown.

        Computed lazily, since only messages need it.
        """
        starts: list[int] = []
        with suppress(csv.Error):
            starts.extend(self._starts())
        n_rows = len(self.columns[0].codes) if self.columns else 0
        return [*starts, *[0] * (n_rows - len(starts))]


def read_delimited(
    path: Path, name: str, *, what: str, header_rows: Callable[[list[str]], int] = lambda _: 1
) -> Delimited:
    """Read a delimited text file.

    Cells are separated by commas, semicolons, tabs, or bars, whichever is most frequent in the
    first line; they may be quoted; padding is stripped.
    """
    text = read_text(path, name, what=what, legacy=True)
    start, delimiter = beginning(text)
    if start == len(text):
        raise QuemError(Mistake(name, message=f"is empty; it must hold the {what}"))
    above = text.count("\n", 0, start)
    reader = csv.reader(_lines(text, start), delimiter=delimiter)
    header: list[list[str]] = []
    header_lines: list[int] = []
    try:
        _refuse_title(csv.reader(_lines(text, start), delimiter=delimiter), name, above + 1)
        while not header or len(header) < header_rows(header[0]):
            header_lines.append(above + reader.line_num + 1)
            header.append([cell.strip() for cell in next(reader, [])])
        body, above_body = start, above
        if header_rows(header[0]):
            above_body += reader.line_num
            for _ in range(reader.line_num):
                body = text.find("\n", body) + 1 or len(text)
        width = max(len(row) for row in header)
        while width and not any(row[width - 1] for row in header if len(row) >= width):
            width -= 1
        body_line = above_body + 1
        text = text[body:]
        columns = parse_columns(text, delimiter, name, width, body_line)
    except csv.Error as error:
        line = above + reader.line_num
        message = f"is not a CSV file: {error}; save it from the spreadsheet again"
        raise QuemError(Mistake(name, line, message=message)) from None
    header = [[*row, *[""] * width][:width] for row in header]
    return Delimited(
        name, header, columns, header_lines, lambda: _starts(text, delimiter, body_line)
    )


def _lines(text: str, start: int = 0) -> Iterator[str]:
    """The lines of a text one by one, so that reading a header does not split a large file."""
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _starts(body: str, delimiter: str, first_line: int) -> Iterator[int]:
    """The first line of each row."""
    reader = csv.reader(_lines(body), delimiter=delimiter)
    line = first_line
    for _ in reader:
        yield line
        line = first_line + reader.line_num


def beginning(text: str) -> tuple[int, str]:
    """The start of the header, after blank lines and ``sep=;``, and the delimiter."""
    start, delimiter = _content(text, 0), ""
    line = text[start:].split("\n", 1)[0]
    if line.casefold().startswith("sep=") and len(line.strip()) <= len("sep=;"):
        delimiter = line[4:5] or ","
        start = _content(text, start + len(line))
        line = text[start:].split("\n", 1)[0]
    if delimiter and delimiter in _DELIMITERS:
        return start, delimiter
    # A line without a delimiter is a title; then the next lines decide.
    head = text[start : start + _HEAD]
    return start, max(_DELIMITERS, key=lambda mark: (line.count(mark), head.count(mark)))


def _refuse_title(rows: Iterable[list[str]], name: str, line: int) -> None:
    """Refuse a header of one cell above a line of several, which is a title."""
    filled = (row for row in rows if any(cell.strip() for cell in row))
    first, second = ([*islice(filled, 2), [], []])[:2]
    if not any(cell.strip() for cell in first[1:]) and any(cell.strip() for cell in second[1:]):
        message = (
            "the first line has fewer cells than those below; is it a title? remove the lines "
            "above the header"
        )
        raise QuemError(Mistake(name, line, message=message))


def _content(text: str, start: int) -> int:
    """The start of the first line that holds more than delimiters."""
    match = _CONTENT.search(text, start)
    return text.rfind("\n", 0, match.start()) + 1 if match else len(text)


def parse_columns(
    body: str, delimiter: str, name: str, width: int, first_line: int
) -> list[CodedColumn[str]]:
    """Parse the rows below the header."""
    if not body.strip():
        return [CodedColumn(np.empty(0, dtype=np.int64), []) for _ in range(width)]
    n_rows = body.count("\n")
    if n_rows < _FEW_ROWS or len(body) > _LONG_CELL * width * n_rows:
        # pandas' overhead per column exceeds the rows of a wide table, and texts, which all differ,
        # take more memory there.
        with suppress(csv.Error):
            return _columns_of_rows(body, delimiter, name, width, first_line, strict=True)
    import pandas as pd

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # One extra name for cells beyond the columns.
            frame = pd.read_csv(
                _Marked(delimiter.join([_MARK] * width) + "\n", body),
                sep=delimiter,
                header=None,
                names=list(map(str, range(width + 1))),
                index_col=False,
                dtype="category",
                keep_default_na=False,
                na_filter=False,
                skip_blank_lines=False,
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        if unclosed := _UNCLOSED.search(str(error)):
            line = list(islice(_starts(body, delimiter, first_line), int(unclosed[1])))[-1]
            raise QuemError(
                Mistake(
                    name,
                    line,
                    message='a cell begins with a " that never ends; close it or leave it out',
                )
            ) from None
        return _columns_of_rows(body, delimiter, name, width, first_line)
    columns = [_stripped(cells) for _, cells in frame.items()]
    overflow = columns.pop()
    if any(overflow.values[code] for code in overflow.used()):
        return _columns_of_rows(body, delimiter, name, width, first_line)
    return columns


class _Marked(io.TextIOBase):
    """A row followed by a text, without a copy of both."""

    def __init__(self, row: str, body: str) -> None:
        self._row, self._body, self._at = row, body, 0

    def read(self, size: int | None = -1) -> str:
        """The row first, then pieces of the text."""
        if row := self._row:
            self._row = ""
            return row
        start = self._at
        self._at = len(self._body) if size is None or size < 0 else start + size
        return self._body[start : self._at]


def _stripped(cells: pd.Series) -> CodedColumn[str]:
    """Remove the mark, and merge categories that differ only in padding."""
    texts = [str(text).strip() for text in cells.cat.categories]
    codes = cells.cat.codes.to_numpy()[1:]
    if _MARK in texts:
        at = texts.index(_MARK)
        texts.pop(at)
        if at < len(texts):
            codes = codes - (codes > at)
    merged = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    if len(merged) == len(texts):
        return CodedColumn(codes, texts)
    place = np.array([merged[text] for text in texts], dtype=np.int64)
    return CodedColumn(place[codes], list(merged))


def _columns_of_rows(
    body: str, delimiter: str, name: str, width: int, first_line: int, *, strict: bool = False
) -> list[CodedColumn[str]]:
    """Parse row by row; cells beyond the header must be blank."""
    rows, mistakes = [], []
    # In strict mode, an unclosed quote is an error.
    reader = csv.reader(_lines(body), delimiter=delimiter, strict=strict)
    line = first_line
    n_filled = 0
    for row in reader:
        cells = [cell.strip() for cell in row]
        n_filled += any(cells)
        if any(cells[width:]):
            message = (
                f"this line has {len(row)} cells, the header {width}; "
                "quote a cell that holds the separator, also a decimal comma"
            )
            mistakes.append(Mistake(name, line, width + 1, message=message))
        rows.append([*cells, *[""] * width][:width])
        line = first_line + reader.line_num
    if len(mistakes) == n_filled > 1:
        message = (
            f"the header has fewer cells ({width}) than every line below it; is it a title? or "
            "else quote the cells that hold the separator, also as a decimal comma"
        )
        raise QuemError(Mistake(name, first_line - 1, message=message))
    refuse(mistakes)
    return [column_of(list(column)) for column in zip(*rows, strict=True)]
