"""Case base and query base, so that an attribute has one type in both."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.numerals import endless_message, nearly_numeric, numerals, parsed
from quem.retrieval.base_files import read_base_file
from quem.retrieval.cases import CaseBase

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from quem.retrieval.base_files import BaseFile
    from quem.retrieval.cases import Value

__all__ = ["Roles", "is_number", "read_bases"]

_MISSING = {"", "?", "na", "n/a", "nan", "null"}
_MOST_NAMED = 20
_LEAVE = "leave the cell empty if the value is missing"


@dataclass(frozen=True)
class Roles:
    """What the study file says of columns.

    Parameters
    ----------
    solution : tuple of str
        What is the outcome of a case.
    ignore : tuple of str
        What is no attribute.
    words : collection of str
        Attributes that are declared categorical.
    """

    solution: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    words: Collection[str] = ()


def read_bases(
    files: list[tuple[Path, str, str, str]], roles: Roles | None = None
) -> tuple[list[CaseBase], list[StudyWarning]]:
    """Read files of cases, CSV or JSON, so that an attribute has one type in all of them.

    An attribute is numeric where each of its values in all files is a number, or missing; else it
    is text, with a doubt where a few values make the difference.

    Parameters
    ----------
    files : list of (Path, str, str, str)
        Of each file its path, its name for messages, what it holds ("case base"), and the
        name of the column with the ids.
    roles : Roles, optional

    Raises
    ------
    QuemError
        With every mistake in them.
    """
    roles = roles or Roles()
    raw: list[BaseFile] = []
    mistakes: list[Mistake] = []
    warnings: list[StudyWarning] = []
    for file in files:
        try:
            raw.append(read_base_file(*file))
        except QuemError as error:
            mistakes += error.mistakes
    if mistakes:
        raise QuemError(mistakes)
    names = dict.fromkeys(name for base in raw for name in base.columns)
    numeric = {
        name: _is_numeric(name, [b for b in raw if name in b.columns], roles, mistakes, warnings)
        for name in names
        if name not in roles.ignore
    }
    if mistakes:
        raise QuemError(mistakes[:_MOST_NAMED])
    bases = [
        CaseBase(
            base.name,
            tuple(base.ids),
            tuple(name for name in base.columns if name in numeric),
            {
                name: _typed(values, numeric=numeric[name])
                for name, values in base.columns.items()
                if name in numeric
            },
            tuple(name for name in roles.solution if name in base.columns),
            tuple(name for name in roles.ignore if name in base.columns),
        )
        for base in raw
    ]
    return bases, warnings


def _is_numeric(
    name: str,
    raw: list[BaseFile],
    roles: Roles,
    mistakes: list[Mistake],
    warnings: list[StudyWarning],
) -> bool:
    """Whether an attribute is numeric, by its looks; says what speaks against it."""
    cells: Counter[str] = Counter()
    values: dict[str, float | None] = {}
    for base in raw:
        for (_, value), count in Counter(map(_key, base.columns[name])).items():
            if text := _text(value):
                cells[text] += count
                values[text] = _number(value)
    looks = numerals(values, cells, 0)
    if name in roles.words:
        return looks.numeric and not looks.endless
    if looks.nearly:
        base, row = next(_rows(name, raw, looks.odd))
        remedy = (
            f"correct it, {_LEAVE}, or declare the attribute categorical or the column under ignore"
        )
        others = sum(cells[text] for text in looks.odd) - 1
        text = str(base.columns[name][row])
        warnings.append(nearly_numeric(base.place(row, name), text, others, remedy))
    for base, row in _rows(name, raw, looks.refused):
        at = base.place(row, name)
        message = endless_message(
            str(base.columns[name][row]), f"correct it, {_LEAVE}, or name the column under ignore"
        )
        mistakes.append(Mistake(at.path, at.line, at.column, at.key, message))
    return looks.numeric


def _rows(name: str, raw: list[BaseFile], texts: Collection[str]) -> Iterator[tuple[BaseFile, int]]:
    """Where cells of an attribute are that hold one of these texts."""
    for base in raw if texts else ():
        for row, value in enumerate(base.columns[name]):
            if _text(value) in texts:
                yield base, row


def _key(value: Any) -> tuple[type, Any]:  # noqa: ANN401  a cell
    """What tells cells apart: 1 and True are the same key, and not the same value."""
    return type(value), json.dumps(value, sort_keys=True) if isinstance(
        value, list | dict
    ) else value


def _text(value: Any) -> str:  # noqa: ANN401  a cell
    """A cell as text, nothing for a missing one."""
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    text = str(value).strip()
    return "" if text.casefold() in _MISSING else text


def is_number(value: Any) -> bool:  # noqa: ANN401  a cell
    """Whether a cell holds a finite number, or nothing."""
    number = _number(value)
    return not _text(value) or (number is not None and math.isfinite(number))


def _number(value: Any) -> float | None:  # noqa: ANN401  a cell
    """The number that a cell holds; None for other texts."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    return parsed(_text(value))


def _typed(values: list[Any], *, numeric: bool) -> list[Any]:
    made: dict[Any, Any] = {}
    typed = []
    for value in values:
        if isinstance(value, list | dict):
            typed.append(value)
            continue
        key = _key(value)
        if key not in made:
            made[key] = _one(value, numeric=numeric)
        typed.append(made[key])
    return typed


def _one(value: Any, *, numeric: bool) -> Value:  # noqa: ANN401  a cell
    if not _text(value):
        return None
    if numeric:
        return _number(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.15g}" if isinstance(value, float) else str(value)
