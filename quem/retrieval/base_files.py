"""Files of cases or queries, CSV or JSON, before their values have types."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from quem.errors import Mistake, QuemError
from quem.io.tables import Column, read_delimited
from quem.io.text import nearest, read_text, shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from quem.io.tables import Delimited

__all__ = ["QREL_FIELDS", "RUN_FIELDS", "BaseFile", "read_base_file", "read_words"]


_MOST_NAMED = 20


@dataclass(frozen=True)
class BaseFile:
    """What a file of cases or queries holds.

    Parameters
    ----------
    name : str
        The file as the user named it.
    ids : list of str
    columns : dict of str to list
        The cells of each attribute, in the order of the ids.
    place : callable
        From a row and an attribute to where that cell is, without a message.
    """

    name: str
    ids: list[str]
    columns: dict[str, list[Any]]
    place: Callable[[int, str], Mistake]


def read_base_file(path: Path, name: str, what: str, id_name: str) -> BaseFile:
    """Read a file, JSON by its ending, else CSV.

    Parameters
    ----------
    path : Path
    name : str
        The file as the user named it, for messages.
    what : str
        What it holds, for messages: "case base".
    id_name : str
        The column with the ids.

    Raises
    ------
    QuemError
        With the mistakes in it.
    """
    read = _read_json if path.suffix.casefold() == ".json" else _read_csv
    return read(path, name, what, id_name)


def _read_csv(path: Path, name: str, what: str, id_name: str) -> BaseFile:
    table = read_delimited(path, name, what=what)
    header = table.header[0]
    folded = [cell.casefold() for cell in header]
    mistakes = [
        Mistake(name, table.header_lines[0], at + 1, message=f"the column {cell!r} stands twice")
        for at, cell in enumerate(folded)
        if cell and cell in folded[:at]
    ]
    if id_name.casefold() not in folded:
        message = _no_ids(id_name, header, what)
        mistakes.append(Mistake(name, table.header_lines[0], message=message))
    if mistakes:
        raise QuemError(mistakes)
    at = folded.index(id_name.casefold())
    texts = {
        cell or f"column {place + 1}": [column.values[code] for code in column.codes.tolist()]
        for place, (cell, column) in enumerate(zip(header, table.columns, strict=True))
        if place != at
    }
    ids = [table.columns[at].values[code] for code in table.columns[at].codes.tolist()]
    kept = [
        row for row in range(len(ids)) if ids[row] or any(cells[row] for cells in texts.values())
    ]
    if not kept:
        raise QuemError([Mistake(name, message=f"holds no line below the header; add the {what}")])
    _check_ids([(row, ids[row]) for row in kept], lambda row: _line(table, row), name, at + 1)
    columns = {cell: [cells[row] for row in kept] for cell, cells in texts.items()}
    # A spreadsheet's empty columns are none.
    columns = {
        cell: cells
        for cell, cells in columns.items()
        if not cell.startswith("column ") or any(cells)
    }
    header_at = {cell: place + 1 for place, cell in enumerate(header)}
    lines: list[int] = []

    def place(row: int, attribute: str) -> Mistake:
        if not lines:
            lines.extend(table.lines())
        return Mistake(name, lines[kept[row]], header_at.get(attribute, 0), attribute)

    return BaseFile(name, [ids[row] for row in kept], columns, place)


def _line(table: Delimited, row: int) -> int:
    return table.lines()[row]


def _no_ids(id_name: str, known: list[str], what: str) -> str:
    hint = nearest(id_name, [word for word in known if word])
    there = ", ".join(word for word in known[:_MOST_NAMED] if word)
    return (
        f"there is no column {shown(id_name)} with the ids of the {what}{hint}; say which it is, "
        f"as in {{file: ..., id: NAME}}; the columns are {there}"
    )


def _check_ids(ids: list[tuple[int, str]], line: Any, name: str, column: int) -> None:  # noqa: ANN401  a callable
    first: dict[str, int] = {}
    mistakes = []
    for row, given in ids:
        if not given:
            mistakes.append(Mistake(name, line(row), column, message="this line has no id; add it"))
        elif given in first:
            message = (
                f"the id {shown(given)} is already used on line {line(first[given])}; "
                "give each its own"
            )
            mistakes.append(Mistake(name, line(row), column, message=message))
        else:
            first[given] = row
        if len(mistakes) == _MOST_NAMED:
            break
    if mistakes:
        raise QuemError(mistakes)


def _json_entries(path: Path, name: str, what: str, id_name: str) -> list[Any]:
    """The cases of a list, or of an object of them by id."""
    text = read_text(path, name, what=what)
    try:
        content = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        message = f"is no JSON: {error.msg.lower()}"
        raise QuemError([Mistake(name, error.lineno, error.colno, message=message)]) from None
    except RecursionError:
        raise QuemError([Mistake(name, message="is nested too deeply to be read")]) from None
    if isinstance(content, dict):
        entries: list[Any] = [
            {id_name: key, **value} if isinstance(value, dict) else None
            for key, value in content.items()
        ]
    else:
        entries = list(content) if isinstance(content, list) else []
    if not entries:
        message = (
            f"should hold the {what} as a list of objects such as "
            f'{{"{id_name}": "c1", "price": 7}}, or an object of them by id'
        )
        raise QuemError([Mistake(name, message=message)])
    return entries


def _read_json(path: Path, name: str, what: str, id_name: str) -> BaseFile:
    entries = _json_entries(path, name, what, id_name)
    ids, mistakes = [], []
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            mistakes.append(f"entry {number} should be an object of attributes")
        elif not isinstance(entry.get(id_name), str | int) or isinstance(entry[id_name], bool):
            mistakes.append(f"entry {number} has no {shown(id_name)} that is a text or a number")
        elif not str(entry[id_name]).isprintable() or not str(entry[id_name]):
            mistakes.append(f"the id of entry {number} should be a line of printable text")
        else:
            ids.append(str(entry[id_name]))
    counts = Counter(ids)
    mistakes += [
        f"the id {shown(given)} stands {count} times; give each entry its own"
        for given, count in counts.items()
        if count > 1
    ]
    if mistakes:
        raise QuemError([Mistake(name, message=message) for message in mistakes[:_MOST_NAMED]])
    names = dict.fromkeys(key for entry in entries for key in entry if key != id_name)

    def place(row: int, attribute: str) -> Mistake:
        return Mistake(name, key=f"{attribute} of {shown(ids[row])}")

    columns = {key: [entry.get(key) for entry in entries] for key in names}
    return BaseFile(name, ids, columns, place)


RUN_FIELDS, QREL_FIELDS = 6, 4


_MOST_NAMED_WORDS = 20


_RUN_SHAPE = "query Q0 case rank score tag"


_QREL_SHAPE = "query iteration case grade"


def read_words(
    path: Path, name: str, what: str, fields: int
) -> tuple[list[Column], Callable[[int], int]] | None:
    """Read lines of words between spaces; None where the file is no such file."""
    text = read_text(path, name, what=what, legacy=True)
    first = next((line for line in text.split("\n") if line.strip()), "")
    words = first.split()
    if not first:
        raise QuemError([Mistake(name, message=f"is empty; it should hold the {what}")])
    is_csv = any(mark in first for mark in ",;|") or len(words) < fields - 1
    if is_csv or {word.casefold() for word in words} & {"query", "case", "qid", "docno"}:
        return None
    if len(words) == fields - 1 and fields == QREL_FIELDS:
        # query, case, grade between tabs, without a header
        message = f"line 1 has {len(words)} words, and judgements have {fields}: {_QREL_SHAPE}"
        raise QuemError([Mistake(name, 1, message=message)])
    lines = text.split("\n")
    lengths = np.fromiter((len(line.split()) for line in lines), dtype=np.int64, count=len(lines))
    shape = _RUN_SHAPE if fields == RUN_FIELDS else _QREL_SHAPE
    # The tag at the end of a run may hold spaces, or be left out.
    wrong = (lengths > 0) & (lengths != fields)
    if fields == RUN_FIELDS:
        wrong &= lengths < fields - 1
    if wrong.any():
        mistakes = [
            Mistake(
                name, row + 1, message=f"this line has {lengths[row]} words; it should be {shape}"
            )
            for row in np.flatnonzero(wrong)[:_MOST_NAMED_WORDS].tolist()
        ]
        raise QuemError(mistakes)
    held = np.flatnonzero(lengths)
    usecols = min(fields, 5)
    frame = pd.read_csv(
        io.StringIO(text),
        sep=r"\s+",
        header=None,
        names=list(map(str, range(int(lengths.max())))),
        usecols=list(map(str, range(usecols))),
        dtype=object,  # as category, pandas 3.1 makes 7 of 007
        quoting=csv.QUOTE_NONE,
        keep_default_na=False,
        na_filter=False,
    )
    columns = []
    for at in range(usecols):
        codes, found = pd.factorize(frame.pop(str(at)).to_numpy())
        columns.append(Column(codes.astype(np.int64), [str(word) for word in found]))
    return columns, lambda row: int(held[row]) + 1
