"""Cases and queries: attributes by name, from CSV or JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from quem.errors import Mistake, QuemError
from quem.rankings.delimited import read_delimited
from quem.text import nearest, read_text, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from quem.rankings.delimited import Delimited

__all__ = ["Case", "CaseBase", "Value", "is_number", "named_only", "read_bases"]

Value = float | str | None
_MISSING = {"", "?", "na", "n/a", "nan", "null"}
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_MOST_NAMED = 20
# What a distinct cell becomes where no rule says otherwise.
_Cells = dict[str, list[Any]]


class Case(dict[str, Any]):
    """A case or a query: its attributes by name, and its id.

    Parameters
    ----------
    id : str
    attributes : mapping of str to float, str or None
        None where the value is missing.
    """

    __slots__ = ("id",)

    def __init__(self, id: str, attributes: Mapping[str, Any] | Iterable[Any] = ()) -> None:  # noqa: A002  what else is it
        super().__init__(attributes)
        self.id = id

    def __repr__(self) -> str:
        """As it is made."""
        return f"Case({self.id!r}, {super().__repr__()})"

    def __reduce__(self) -> tuple[type[Case], tuple[str, dict[str, Any]]]:
        """Let a case be copied and sent to another process with its id."""
        return Case, (self.id, dict(self))


@dataclass(frozen=True)
class CaseBase:
    """Cases, each with an id, in the order of their file.

    Parameters
    ----------
    name : str
        The file as the user named it; empty where the ids alone are known.
    ids : tuple of str
    attributes : tuple of str
        The names of all attributes.
    columns : dict of str to list
        The values of an attribute, in the order of the ids.
    """

    name: str
    ids: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    columns: dict[str, list[Any]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        """Count the cases."""
        return len(self.ids)

    @cached_property
    def index(self) -> dict[str, int]:
        """The place of each id."""
        return {name: place for place, name in enumerate(self.ids)}

    def case(self, place: int) -> Case:
        """Make a case, new each time, so that nobody can spoil it for others."""
        values = {name: self.columns[name][place] for name in self.attributes}
        return Case(self.ids[place], values)

    def cases(self) -> dict[str, Case]:
        """Make all cases, by id."""
        return {name: self.case(place) for place, name in enumerate(self.ids)}


def named_only(ids: Iterable[str]) -> CaseBase:
    """Make a case base of ids alone, each once."""
    return CaseBase("", tuple(dict.fromkeys(ids)))


def read_bases(files: list[tuple[Path, str, str, str]]) -> list[CaseBase]:
    """Read files of cases, CSV or JSON, so that an attribute has one type in all of them.

    An attribute is a number where each of its values in all files is one, or missing; else it
    is text.

    Parameters
    ----------
    files : list of (Path, str, str, str)
        Of each file its path, its name for messages, what it holds ("case base"), and the
        name of the column with the ids.

    Raises
    ------
    QuemError
        With every mistake in them.
    """
    raw: list[tuple[str, list[str], _Cells]] = []
    mistakes: list[Mistake] = []
    for path, name, what, id_name in files:
        try:
            read = _read_json if path.suffix.casefold() == ".json" else _read_csv
            raw.append(read(path, name, what, id_name))
        except QuemError as error:
            mistakes += error.mistakes
    if mistakes:
        raise QuemError(mistakes)
    names = list(dict.fromkeys(name for _, _, columns in raw for name in columns))
    numeric = {
        name: all(_is_numeric(columns[name]) for _, _, columns in raw if name in columns)
        for name in names
    }
    return [
        CaseBase(
            file_name,
            tuple(ids),
            tuple(columns),
            {name: _typed(values, numeric=numeric[name]) for name, values in columns.items()},
        )
        for file_name, ids, columns in raw
    ]


def _is_numeric(values: list[Any]) -> bool:
    return all(map(is_number, dict.fromkeys(map(_key, values))))


def _key(value: Any) -> Any:  # noqa: ANN401  a cell
    return json.dumps(value, sort_keys=True) if isinstance(value, list | dict) else value


def is_number(value: Any) -> bool:  # noqa: ANN401  a cell
    """Whether a cell holds a number, or nothing."""
    return _number(value) is not None


def _number(value: Any) -> float | None:  # noqa: ANN401  a cell
    """The number that a cell holds, NaN for a missing one, None for other texts."""
    if value is None:
        return float("nan")
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    text = str(value).strip()
    if text.casefold() in _MISSING:
        return float("nan")
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text.replace(",", "."))
    return number if abs(number) < float("inf") else None


def _typed(values: list[Any], *, numeric: bool) -> list[Any]:
    made: dict[Any, Any] = {}
    typed = []
    for value in values:
        if isinstance(value, list | dict):
            typed.append(value)
            continue
        # 1 and True are the same key, and not the same value.
        key = (value, type(value))
        if key not in made:
            made[key] = _one(value, numeric=numeric)
        typed.append(made[key])
    return typed


def _one(value: Any, *, numeric: bool) -> Value:  # noqa: ANN401  a cell
    if numeric:
        number = _number(value)
        return None if number is None or number != number else number  # noqa: PLR0124  NaN
    if value is None or (isinstance(value, str) and value.strip().casefold() in _MISSING):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return None if value != value else f"{value:.15g}"  # noqa: PLR0124  NaN
    return str(value)


def _read_csv(path: Path, name: str, what: str, id_name: str) -> tuple[str, list[str], _Cells]:
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
    return name, [ids[row] for row in kept], columns


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


def _read_json(path: Path, name: str, what: str, id_name: str) -> tuple[str, list[str], _Cells]:
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
    return name, ids, {key: [entry.get(key) for entry in entries] for key in names}
