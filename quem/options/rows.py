"""A file of lists, from what it says to a row for each option."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quem.errors import Mistake
from quem.io.columns import column_of
from quem.io.numbers import finite_number
from quem.io.records import is_json, read_records, text_of
from quem.io.tables import MOST_NAMED, Table, read_table
from quem.io.text import nearest

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_rows"]

_FIELDS = {
    "question": ("question",),
    "system": ("system",),
    "option": ("option",),
    "position": ("position",),
    "confidence": ("confidence", "score"),
}
_KEYS = ("question", "system", "options")


def read_rows(path: Path, name: str) -> Table[object]:
    """Read lists: CSV with one line per option, or JSON or JSON Lines with one record per list.

    Parameters
    ----------
    path : Path
    name : str
        The file as the user named it.

    Returns
    -------
    Table
        One row per option, or a row without one for an empty list, with the columns question
        and option, and any of system, position and confidence.

    Raises
    ------
    QuemError
        The file cannot be read, or a column is missing.
    """
    if is_json(path):
        return _rows_of_json(path, name)
    required = ("question", "option")
    table = read_table(path, name, what="table of lists", fields=_FIELDS, required=required)
    return table.without_blank_rows()


def _rows_of_json(path: Path, name: str) -> Table[object]:
    example = '{"question": "Q1", "options": ["a", "b"]}'
    records = read_records(path, name, what="lists", example=example, key="question")
    questions: list[object] = []
    systems: list[object] = []
    options: list[str] = []
    confidences: list[float | None] = []
    lines: list[int] = []
    mistakes: list[Mistake] = []
    first: dict[tuple[object, object], int] = {}
    for line, record in zip(records.lines(), records.entries, strict=True):
        listed, wrong = _options(record)
        question, system = text_of(record.get("question")), text_of(record.get("system", "-"))
        if question is None:
            wrong.append(("question", "must be the id of a question"))
        if system is None:
            wrong.append(("system", "must be the id of a system"))
        wrong += [
            (key, f"unknown key{nearest(key, _KEYS)}; known here: {', '.join(_KEYS)}")
            for key in record
            if key not in _KEYS
        ]
        if not wrong and (of := first.setdefault((question, system), line)) != line:
            wrong.append(("question", f"duplicate: this list is also on line {of}; keep one"))
        mistakes += [Mistake(name, line, key=key, message=message) for key, message in wrong]
        listed = listed or [("", None)]
        options += [option for option, _ in listed]
        confidences += [confidence for _, confidence in listed]
        questions += [question] * len(listed)
        systems += [system] * len(listed)
        lines += [line] * len(listed)
    cells: dict[str, list[Any]] = {"question": questions, "option": options}
    cells |= {"confidence": confidences}
    if any("system" in record for record in records.entries):
        cells["system"] = systems
    return Table(
        name,
        {key: column_of(column) for key, column in cells.items()},
        lambda row, key: Mistake(name, lines[row], key=key),
        mistakes=tuple(mistakes[:MOST_NAMED]),
    )


def _options(
    record: dict[str, object],
) -> tuple[list[tuple[str, float | None]], list[tuple[str, str]]]:
    """The options of one list with their confidences; and the key and fault of what is wrong."""
    entries = record.get("options")
    if not isinstance(entries, list):
        return [], [("options", "must be a list of options, empty where there are none")]
    options = []
    for number, entry in enumerate(entries, 1):
        option = _option(entry)
        if isinstance(option, str):
            return [], [(f"options[{number}]", option)]
        options.append(option)
    return options, []


def _option(entry: object) -> tuple[str, float | None] | str:
    """An option with its confidence, None where it has none; or what is wrong with it."""
    confidence: object = None
    if isinstance(entry, dict):
        unknown = entry.keys() - {"option", "confidence", "score"}
        if unknown or "option" not in entry or {"confidence", "score"} <= entry.keys():
            return "must be an option or {option: ..., confidence: ...}"
        confidence = entry.get("confidence", entry.get("score"))
        entry = entry["option"]
    option = text_of(entry)
    if option is None:
        return "must be the text of an option, or a whole number"
    number = None if isinstance(confidence, str) else finite_number(confidence)
    if confidence is not None and number is None:
        return f"the confidence must be a finite number, not {str(confidence)[:60]}"
    return option, number
