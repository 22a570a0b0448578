"""Case base and query base, read together: an attribute has one type in both."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning
from quem.io.columns import column_of
from quem.io.delimited import read_delimited
from quem.io.numbers import BLANKS, nearly_numeric, not_finite, numeric_looks, parse_number
from quem.io.parquet import is_parquet, read_parquet
from quem.io.records import is_json, read_records, text_of
from quem.io.tables import MOST_NAMED, SourceTable, all_columns, repeats
from quem.io.text import nearest, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.io.columns import CodedColumn

Value = float | str | None


class Case(dict[str, Any]):
    """A case or a query: its attributes by name, and its id."""

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
    """Cases, each with an id, in the order of their file."""

    name: str  # the file as the user named it; empty where the ids alone are known
    ids: tuple[str, ...]
    attributes: tuple[str, ...] = ()  # the names of all attributes
    # The values of an attribute, in the order of the ids.
    columns: dict[str, list[Any]] = field(default_factory=dict, repr=False)
    solution: tuple[str, ...] = ()  # those attributes that are the outcome of a case
    ignored: tuple[str, ...] = ()  # columns that are not attributes

    def __len__(self) -> int:
        """Count the cases."""
        return len(self.ids)

    @cached_property
    def index(self) -> dict[str, int]:
        """The place of each id."""
        return {name: place for place, name in enumerate(self.ids)}

    @cached_property
    def problem(self) -> tuple[str, ...]:
        """The attributes that describe a case, without its solution."""
        return tuple(name for name in self.attributes if name not in self.solution)

    def case(self, place: int, *, solved: bool = True) -> Case:
        """Make a case, new each time, so that nobody can spoil it for others."""
        names = self.attributes if solved else self.problem
        return Case(self.ids[place], {name: self.columns[name][place] for name in names})

    def cases(self) -> dict[str, Case]:
        """Make all cases, by id."""
        return {name: self.case(place) for place, name in enumerate(self.ids)}


def named_only(ids: Iterable[str]) -> CaseBase:
    """Make a case base of ids alone, each once."""
    return CaseBase("", tuple(dict.fromkeys(ids)))


_MISSING = BLANKS | {"?"}
# The column of the ids, if the study names none; and as the files of BEIR have it.
_ID, _BEIR_ID = "id", "_id"
_LEAVE = "leave the cell empty if the value is missing"


@dataclass(frozen=True)
class Roles:
    """What the study file says of columns."""

    solution: tuple[str, ...] = ()  # the outcome of a case
    ignore: tuple[str, ...] = ()  # columns that are not attributes
    words: Collection[str] = ()  # attributes that are declared categorical


def read_bases(
    files: list[tuple[Path, str, str, str]], roles: Roles | None = None
) -> tuple[list[CaseBase], list[StudyWarning]]:
    """Read files of cases: CSV, JSON, or Parquet; an attribute has one type in all of them.

    An attribute is numeric where each of its values in all files is a number, or missing; else it
    is text, with a warning where a few values make the difference.
    """
    roles = roles or Roles()
    raw: list[tuple[tuple[str, ...], SourceTable[object]]] = []
    mistakes: list[Mistake] = []
    for file in files:
        try:
            raw.append(_read_base(*file))
        except QuemError as error:
            mistakes += error.mistakes
    if mistakes:
        raise QuemError(mistakes)
    return make_bases(raw, roles)


def make_bases(
    raw: list[tuple[tuple[str, ...], SourceTable[object]]], roles: Roles
) -> tuple[list[CaseBase], list[StudyWarning]]:
    """Give each attribute one type in all bases; see `read_bases`."""
    mistakes: list[Mistake] = []
    warnings: list[StudyWarning] = []
    tables = [table for _, table in raw]
    names = dict.fromkeys(name for table in tables for name in table.columns)
    numeric = {
        name: _is_numeric(name, [t for t in tables if name in t.columns], roles, mistakes, warnings)
        for name in names
        if name not in roles.ignore
    }
    if mistakes:
        raise QuemError(mistakes[:MOST_NAMED])
    bases = [
        CaseBase(
            table.name,
            ids,
            tuple(name for name in table.columns if name in numeric),
            {
                name: _typed(column, numeric=numeric[name])
                for name, column in table.columns.items()
                if name in numeric
            },
            tuple(name for name in roles.solution if name in table.columns),
            tuple(name for name in roles.ignore if name in table.columns),
        )
        for ids, table in raw
    ]
    return bases, warnings


def _read_base(
    path: Path, name: str, what: str, id_name: str
) -> tuple[tuple[str, ...], SourceTable[object]]:
    """The ids of one file and its attributes: JSON or Parquet by its ending, else CSV."""
    table = (_from_json if is_json(path) else _from_columns)(path, name, what, id_name)
    own = _id_column(table.columns, id_name)
    if not own:
        raise QuemError(
            Mistake(
                name,
                1,
                message=(
                    f"column {shown(id_name)} with the ids of the {what} not found"
                    f"{nearest(id_name, table.columns)}; name it, as in {{file: ..., id: "
                    f"NAME}}; the "
                    f"columns are {', '.join(list(table.columns)[:MOST_NAMED])}"
                ),
            )
        )
    ids = table.columns[own]
    mistakes: list[Mistake] = []
    if not table.lacking([own], mistakes).any():
        for row, first in repeats(ids.codes.astype(np.int64))[0]:
            line = table.place(first, own).line
            message = f"duplicate id {shown(str(ids.cell(row)))}; line {line} has it too"
            mistakes.append(table.mistake(row, own, message))
    if mistakes:
        raise QuemError(mistakes)
    others = {name: column for name, column in table.columns.items() if name != own}
    return tuple(map(str, ids.cells())), replace(table, columns=others)


def _id_column(columns: Collection[str], id_name: str) -> str:
    """Find the column of the ids, in whatever case; empty where there is none."""
    wanted = [id_name, _BEIR_ID] if id_name == _ID else [id_name]
    folded = {column.casefold(): column for column in reversed(list(columns))}
    return next(
        (w if w in columns else folded[w.casefold()] for w in wanted if w.casefold() in folded), ""
    )


def _from_json(path: Path, name: str, what: str, id_name: str) -> SourceTable[object]:
    example = f'{{"{id_name}": "c1", "price": 7}}'
    records = read_records(path, name, what=what, example=example, key=id_name)
    columns = records.columns()
    lines: list[int] = []

    def place(row: int, key: str) -> Mistake:
        lines.extend(() if lines else records.lines())
        return Mistake(name, lines[row], key=key)

    if own := _id_column(columns, id_name):
        texts = [text_of(value) or "" for value in columns[own].values]
        columns[own] = column_of(texts[code] for code in columns[own].codes.tolist())
    return SourceTable(name, columns, place)


def _from_columns(path: Path, name: str, what: str, _id_name: str) -> SourceTable[object]:
    read = read_parquet if is_parquet(path) else read_delimited
    table = all_columns(read(path, name, what=what), unnamed=True)
    if not len(table):
        raise QuemError(Mistake(name, message=f"holds no line below the header; add the {what}"))
    return table


def _is_numeric(
    name: str,
    tables: list[SourceTable[object]],
    roles: Roles,
    mistakes: list[Mistake],
    warnings: list[StudyWarning],
) -> bool:
    """Whether an attribute is numeric, by its looks; says what speaks against it."""
    cells: Counter[str] = Counter()
    values: dict[str, float | None] = {}
    for table in tables:
        for value, count in table.counts(name):
            if text := _text(value):
                cells[text] += count
                values[text] = _number(value)
    looks = numeric_looks(values, cells, 0)
    if name in roles.words:
        return looks.numeric and not looks.endless
    if looks.nearly:
        table, rows = next((t, r) for t in tables if len(r := _rows(t, name, looks.odd)))
        remedy = (
            f"correct it, {_LEAVE}, or declare the attribute categorical or the column under ignore"
        )
        others = sum(cells[text] for text in looks.odd) - 1
        text = str(table.columns[name].cell(int(rows[0])))
        warnings.append(nearly_numeric(table.place(int(rows[0]), name), text, others, remedy))
    for table in tables if looks.refused else ():

        def message(cell: object) -> str:
            return not_finite(str(cell), f"correct it, {_LEAVE}, or name the column under ignore")

        table.refuse(name, _rows(table, name, looks.refused), message, mistakes)
    return looks.numeric


def _rows(table: SourceTable[object], name: str, texts: Collection[str]) -> NDArray[np.int64]:
    """The rows whose cell of an attribute holds one of these texts."""
    column = table.columns[name]
    rows = np.flatnonzero(column.lookup((_text(v) in texts for v in column.values), np.bool_))
    return rows.astype(np.int64)


def _text(value: object) -> str:
    """A cell as text, nothing for a missing one."""
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True) if value else ""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    text = str(value).strip()
    return "" if text.casefold() in _MISSING else text


def is_number(value: object) -> bool:
    """Whether a cell holds a finite number, or nothing."""
    number = _number(value)
    return not _text(value) or (number is not None and math.isfinite(number))


def _number(value: object) -> float | None:
    """The number that a cell holds; None for other texts."""
    return parse_number(_text(value) if isinstance(value, str) else value)


def _typed(column: CodedColumn[object], *, numeric: bool) -> list[Any]:
    typed = [_one(value, numeric=numeric) for value in column.values]
    return [typed[code] for code in column.codes.tolist()]


def _one(value: object, *, numeric: bool) -> object:
    if not _text(value):
        return None
    if isinstance(value, list | dict):
        return value
    if numeric:
        return _number(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.15g}" if isinstance(value, float) else str(value)
