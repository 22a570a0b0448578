"""CSV files as people really save them, as columns of codes and texts.

A column of a million cells holds few distinct texts, so each column is kept as integer codes
into its distinct cells: the distinct cells are checked, not the million.
"""

from __future__ import annotations

import csv
import io
import warnings
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from quem.errors import Mistake, QuemError
from quem.text import read_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Column", "Delimited", "column_of", "read_delimited"]

_DELIMITERS = "\t;,|"


class Column(NamedTuple):
    """The cells of one column: ``values[codes[i]]`` is the text of row ``i``."""

    codes: NDArray[np.int64]
    values: list[str]

    def text(self, row: int) -> str:
        """Give the text of one cell."""
        return self.values[self.codes[row]]

    def rows_of(self, code: int) -> NDArray[np.int64]:
        """Give the rows that hold a distinct value."""
        return np.flatnonzero(self.codes == code)

    def used(self) -> list[int]:
        """Give the codes that some row holds."""
        counts = np.bincount(self.codes, minlength=len(self.values))
        return [int(code) for code in np.flatnonzero(counts)]


@dataclass(frozen=True)
class Delimited:
    """A delimited text file.

    Parameters
    ----------
    name : str
        The file as the user named it.
    header : list of list of str
        The header rows, padding stripped, each as wide as the table.
    columns : list of Column
        One a header cell, without the header rows.
    """

    name: str
    header: list[list[str]]
    columns: list[Column]
    _text: str
    _delimiter: str
    _first_row: int

    def lines(self) -> list[int]:
        """Give the line on which each row begins.

        Only messages need it, so it is worked out only then.
        """
        starts, line = [], 1
        reader = csv.reader(io.StringIO(self._text, newline=""), delimiter=self._delimiter)
        for _ in reader:
            starts.append(line)
            line = reader.line_num + 1
        return starts[self._first_row :]


def column_of(texts: list[str]) -> Column:
    """Make a column of cells."""
    codes, values = pd.factorize(np.array(texts, dtype=object))
    return Column(codes.astype(np.int64), [str(value) for value in values])


def read_delimited(
    path: Path, name: str, *, what: str, header_rows: Callable[[list[str]], int] = lambda _: 1
) -> Delimited:
    """Read a delimited text file.

    Commas, semicolons, tabs and bars separate cells, whichever the first line has most of;
    cells may be quoted; padding is stripped.

    Parameters
    ----------
    path : Path
    name : str
        The file as the user named it, for messages.
    what : str
        What the file is meant to be, for messages.
    header_rows : callable
        From the cells of the first row to how many rows at the top are no data.

    Raises
    ------
    QuemError
        The file is missing, no text, empty, or some line has more cells than the header.
    """
    text = read_text(path, name, what=what, legacy=True)
    skipped = 0
    while skipped < len(text) and text[skipped] in "\n\t ":
        skipped += 1
    start = text.rfind("\n", 0, skipped) + 1
    first_line = text[start:].split("\n", 1)[0]
    delimiter = ""
    if first_line.casefold().startswith("sep=") and len(first_line.strip()) <= 5:
        delimiter = first_line[4:5] or ","
        start += len(first_line) + 1
        first_line = text[start:].split("\n", 1)[0]
    if not first_line.strip():
        raise QuemError([Mistake(name, message=f"is empty; it should hold the {what}")])
    if delimiter not in tuple(_DELIMITERS):
        delimiter = max(_DELIMITERS, key=first_line.count)

    reader = csv.reader(io.StringIO(text[start:], newline=""), delimiter=delimiter)
    try:
        header = [[cell.strip() for cell in next(reader)]]
        header += islice(reader, header_rows(header[0]) - 1)
        consumed = reader.line_num
        lines_before = text.count("\n", 0, start)
        width = max(len(row) for row in header)
        while width and not any(row[width - 1].strip() for row in header if len(row) >= width):
            width -= 1
        body = start
        for _ in range(consumed):
            body = text.find("\n", body) + 1 or len(text)
        columns = _body_columns(text[body:] if body else text, delimiter, width)
        if columns is None:
            raise QuemError(_too_wide(text, delimiter, name, width))
    except csv.Error as error:
        message = f"is no CSV file: {error}; save it from the spreadsheet once more"
        raise QuemError([Mistake(name, reader.line_num or 1, message=message)]) from None
    padded = [[*(cell.strip() for cell in row), *[""] * width][:width] for row in header]
    return Delimited(name, padded, columns, text, delimiter, lines_before + len(header))


def _body_columns(body: str, delimiter: str, width: int) -> list[Column] | None:
    """Parse the rows below the header; None where some row is wider than the header."""
    if not body.strip():
        return [Column(np.empty(0, dtype=np.int64), []) for _ in range(width)]
    raw = body.encode("utf-8", "surrogatepass")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # One name more than there are columns: cells that overflow land there.
            frame = pd.read_csv(
                io.BytesIO(raw),
                sep=delimiter,
                header=None,
                names=list(range(width + 1)),
                index_col=False,
                dtype="category",
                keep_default_na=False,
                na_filter=False,
                skip_blank_lines=False,
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning):
        return None
    columns = [_stripped(frame[index]) for index in range(width + 1)]
    overflow = columns.pop()
    return None if any(overflow.values[code] for code in overflow.used()) else columns


def _stripped(cells: pd.Series) -> Column:
    """Merge the categories that differ only in padding."""
    texts = [str(text).strip() for text in cells.cat.categories]
    merged = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    codes = cells.cat.codes.to_numpy()
    if len(merged) == len(texts):
        return Column(codes.astype(np.int64), texts)
    place = np.array([merged[text] for text in texts], dtype=np.int64)
    return Column(place[codes], list(merged))


def _too_wide(text: str, delimiter: str, name: str, width: int) -> list[Mistake]:
    """Name each line that has more cells than the header, or a quote that never ends."""
    mistakes = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    line = 1
    for row in reader:
        if any(cell.strip() for cell in row[width:]):
            message = (
                f"this line has {len(row)} cells, the header {width}; "
                "quote a cell that holds the separator, also a decimal comma"
            )
            mistakes.append(Mistake(name, line, width + 1, message=message))
        line = reader.line_num + 1
    if not mistakes:
        message = 'a cell begins with a " that never ends; close it or leave it out'
        mistakes.append(Mistake(name, message=message))
    return mistakes
