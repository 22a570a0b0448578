"""A table of lists, from what it says to a row for each option."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.tables import Column, column_of, read_delimited
from quem.io.text import read_text, shown
from quem.rankings.layouts import named_columns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    from collections.abc import Iterator

__all__ = [
    "JSON_LINES",
    "MOST_OF_A_KIND",
    "Rows",
    "json_lines",
    "rows_of_json",
    "rows_of_table",
    "text_of",
]


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
    warnings : tuple of StudyWarning
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
    warnings: tuple[StudyWarning, ...] = ()
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
    at, warnings = named_columns(table, _FIELDS, required=("question", "option"))
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
        warnings,
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
            warnings,
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
        rows.warnings,
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


JSON_LINES = (".jsonl", ".ndjson")


_KEYS = ("question", "system", "options")


def json_lines(path: Path, name: str, what: str) -> Iterator[tuple[int, Any]]:
    """Read the records of a JSON Lines file, with their lines.

    Parameters
    ----------
    path : Path
    name, what : str
        As in `quem.io.text.read_text`.

    Raises
    ------
    QuemError
        The file cannot be read, holds nothing, or a line is no JSON; at the first such line.
    """
    text = read_text(path, name, what=what)
    if not text.strip():
        raise QuemError([Mistake(name, message=f"is empty; it should hold the {what}")])
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            message = f"is no JSON: {getattr(error, 'msg', error)}; write one record a line"
            column = getattr(error, "colno", 0)
            raise QuemError([Mistake(name, number, column, message=message)]) from None
        if not isinstance(record, dict):
            message = 'a line should be a record such as {"question": "Q1", ...}'
            raise QuemError([Mistake(name, number, message=message)])
        yield number, record


def text_of(value: object) -> str | None:
    """Give a name out of JSON as text; None where it is none."""
    if isinstance(value, str):
        return value.strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def rows_of_json(path: Path, name: str) -> Rows:
    """Read lists from JSON Lines, a list a line.

    Parameters
    ----------
    path : Path
    name : str
        The file as the user named it.

    Raises
    ------
    QuemError
        The file cannot be read, holds nothing, or a line is no JSON.
    """
    questions: list[str] = []
    systems: list[str] = []
    options: list[str] = []
    confidences: list[float] = []
    lines: list[int] = []
    mistakes: list[Mistake] = []
    seen: dict[tuple[str, str], int] = {}
    named = False
    for line, record in json_lines(path, name, "lists"):
        found = _record(name, line, record, mistakes)
        if found is None:
            continue
        question, system, listed = found
        named |= "system" in record
        first = seen.setdefault((question, system), line)
        if first != line:
            message = f"this list is also on line {first}; keep one of them"
            mistakes.append(Mistake(name, line, key="question", message=message))
        for option, confidence in listed or [("", float("nan"))]:
            questions.append(question)
            systems.append(system)
            options.append(option)
            confidences.append(confidence)
            lines.append(line)
    return Rows(
        name,
        column_of(questions),
        column_of(options),
        column_of(systems) if named else None,
        np.full(len(lines), np.nan),
        np.array(confidences, dtype=float),
        lambda row, _: (lines[row], 0),
        mistakes=tuple(mistakes[:MOST_OF_A_KIND]),
    )


def _record(
    name: str, line: int, record: dict[str, Any], mistakes: list[Mistake]
) -> tuple[str, str, list[tuple[str, float]]] | None:
    """One list: question, system and options with their confidences."""
    question, system = text_of(record.get("question")), ""
    wrong: list[tuple[str, str]] = []
    if question is None:
        wrong.append(("question", "should be the id of a question"))
    if "system" in record:
        system = text_of(record["system"]) or ""
        if not system:
            wrong.append(("system", "should be the id of a system"))
    given = record.get("options")
    listed: list[tuple[str, float]] = []
    if not isinstance(given, list):
        wrong.append(("options", "should be a list of options, empty where there are none"))
    else:
        for number, entry in enumerate(given, 1):
            option = _option(entry)
            if isinstance(option, str):
                wrong.append((f"options[{number}]", option))
                break
            listed.append(option)
    message = f"unknown key; known here: {', '.join(_KEYS)}"
    wrong += [(key, message) for key in record.keys() - set(_KEYS)]
    if len(mistakes) < MOST_OF_A_KIND:
        mistakes += [Mistake(name, line, key=key, message=message) for key, message in wrong]
    return None if wrong or question is None else (question, system, listed)


def _option(entry: object) -> tuple[str, float] | str:
    """An option with its confidence, NaN where it has none; or what is wrong with it."""
    confidence: object = None
    if isinstance(entry, dict):
        unknown = entry.keys() - {"option", "confidence", "score"}
        if unknown or "option" not in entry or {"confidence", "score"} <= entry.keys():
            return "should be an option or {option: ..., confidence: ...}"
        confidence = entry.get("confidence", entry.get("score"))
        entry = entry["option"]
    option = text_of(entry)
    if option is None:
        return "should be the text of an option, or a whole number"
    if confidence is None:
        return option, float("nan")
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    try:
        number = float(confidence) if is_number else float("nan")  # type: ignore[arg-type]
    except OverflowError:
        number = float("inf")
    if not math.isfinite(number):
        return f"the confidence should be a finite number, and not {str(confidence)[:60]}"
    return option, number
