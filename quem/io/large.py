"""Large CSV files, read in parts: never the whole text in memory.

What is unusual in a file (another encoding, a line end inside a cell, a line with too many cells)
is left to the reader of whole files, which understands it or says what is wrong. Both give the
same columns.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from quem.errors import QuemError
from quem.io.columns import ColumnParts
from quem.io.delimited import Delimited, beginning, parse_columns, read_delimited

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

# Bytes: of files that are worth it, of the top of a file, and of a part.
_LARGE = 30_000_000
_TOP, _PART = 1 << 16, 1 << 23
_MARK = b"\xef\xbb\xbf"


def read_large(path: Path, name: str) -> Delimited | None:
    """Read a large file with one header row as `quem.io.delimited.read_delimited` does."""
    try:
        if path.stat().st_size < _LARGE:
            return None
        with path.open("rb") as file:
            top = file.read(_TOP)
    except OSError:
        return None
    head = _header(top)
    if head is None:
        return None
    header, line, delimiter, start = head
    parts = [ColumnParts() for _ in header]
    read = _by_arrow if _has_arrow() else _by_pandas
    try:
        read(path, start, delimiter, parts)
    except _UnusualError:
        return None

    def starts() -> Iterable[int]:
        # Only messages need it.
        return read_delimited(path, name, what="table").lines()

    return Delimited(name, [header], [part.column() for part in parts], [line], starts)


class _UnusualError(Exception):
    """The file has to be read as a whole."""


def _header(top: bytes) -> tuple[list[str], int, str, int] | None:
    """The header, its line, the separator, and where the rows below it start."""
    if b"\r" in top.replace(b"\r\n", b""):
        return None
    mark = _MARK if top.startswith(_MARK) else b""
    try:
        text = top[len(mark) : top.rfind(b"\n") + 1].decode("utf-8")
    except UnicodeDecodeError:
        return None
    at, delimiter = beginning(text)
    first, newline, _ = text[at:].partition("\n")
    header = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter))]
    if not newline or not all(header):
        return None
    body = len(mark) + len(text[: at + len(first) + 1].encode())
    return header, text.count("\n", 0, at) + 1, delimiter, body


def _has_arrow() -> bool:
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


def _by_arrow(path: Path, start: int, delimiter: str, parts: list[ColumnParts]) -> None:
    """Read rows by pyarrow, which finds the distinct cells of each part itself."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    names = [str(column) for column in range(len(parts))]
    text = pa.dictionary(pa.int32(), pa.string())
    try:
        with pa.OSFile(str(path), "rb") as file:
            file.seek(start)
            reader = arrow.open_csv(
                file,
                arrow.ReadOptions(use_threads=False, block_size=_PART, column_names=names),
                arrow.ParseOptions(delimiter=delimiter, ignore_empty_lines=False),
                arrow.ConvertOptions(
                    column_types=dict.fromkeys(names, text),
                    strings_can_be_null=False,
                    check_utf8=True,
                ),
            )
            for batch in reader:
                for part, column in zip(parts, batch.columns, strict=True):
                    texts = column.dictionary.to_pylist()
                    if any("\0" in word for word in texts):
                        raise _UnusualError
                    part.add(column.indices.to_numpy(), texts)
    except pa.ArrowInvalid:
        raise _UnusualError from None


def _by_pandas(path: Path, start: int, delimiter: str, parts: list[ColumnParts]) -> None:
    """Read rows by pandas, a few megabytes at a time."""
    for rows in _texts(path, start):
        try:
            columns = parse_columns(rows, delimiter, "", len(parts), 0)
        except QuemError:
            raise _UnusualError from None
        for part, column in zip(parts, columns, strict=True):
            part.add(column.codes, column.values)


def _texts(path: Path, start: int) -> Iterator[str]:
    """Whole lines of a file, some megabytes at a time."""
    with path.open("rb") as file:
        file.seek(start)
        rest = b""
        while part := file.read(_PART):
            whole, newline, after = part.rpartition(b"\n")
            yield _decoded(rest + whole + newline)
            rest = after
        if rest:
            yield _decoded(rest + b"\n")


def _decoded(part: bytes) -> str:
    if b"\0" in part:
        raise _UnusualError
    try:
        text = part.decode("utf-8")
    except UnicodeDecodeError:
        raise _UnusualError from None
    text = text.replace("\r\n", "\n")
    if "\r" in text:
        raise _UnusualError
    return text
