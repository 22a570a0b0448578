"""Lists in JSON Lines, from what they say to a row for each option."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, QuemError
from quem.options.rows import MOST_OF_A_KIND, Rows
from quem.rankings.delimited import column_of
from quem.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["JSON_LINES", "json_lines", "rows_of_json", "text_of"]

JSON_LINES = (".jsonl", ".ndjson")
_KEYS = ("question", "system", "options")


def json_lines(path: Path, name: str, what: str) -> Iterator[tuple[int, Any]]:
    """Read the records of a JSON Lines file, with their lines.

    Parameters
    ----------
    path : Path
    name, what : str
        As in `quem.text.read_text`.

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
