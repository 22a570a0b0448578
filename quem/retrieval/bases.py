"""Case base and query base, read together: an attribute has one type in both."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quem.errors import Mistake, QuemError, StudyWarning, collecting, refuse
from quem.io.columns import CodedColumn, column_of
from quem.io.delimited import read_delimited
from quem.io.memory import rows_table
from quem.io.numbers import BLANKS, nearly_numeric, not_finite, numeric_looks, parse_number
from quem.io.parquet import is_parquet, read_parquet
from quem.io.records import is_json, read_records, text_of
from quem.io.tables import MOST_NAMED, SourceTable, all_columns, repeats
from quem.io.text import nearest, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray


Value = float | str | None


class Case(dict[str, Any]):
    """A case or a query: its attributes by name, and its id."""

    __slots__ = ("id",)

    def __init__(self, id: str, attributes: Mapping[str, Any] | Iterable[Any] = ()) -> None:  # noqa: A002  what else is it
        super().__init__(attributes)
        self.id = id

    def __repr__(self) -> str:
        """The constructor call."""
        return f"Case({self.id!r}, {super().__repr__()})"

    def __reduce__(self) -> tuple[type[Case], tuple[str, dict[str, Any]]]:
        """Support copying and pickling with the id."""
        return Case, (self.id, dict(self))


@dataclass(frozen=True)
class CaseBase:
    """Cases, each with an id, in the order of their file."""

    name: str  # as the user named it; empty for ids alone
    ids: tuple[str, ...]
    # The values of each attribute, in the order of the ids
    columns: dict[str, list[Any]] = field(default_factory=dict, repr=False)
    solution: tuple[str, ...] = ()  # attributes of the outcome of a case
    ignored: tuple[str, ...] = ()  # columns that are not attributes

    def __len__(self) -> int:
        """Number of cases."""
        return len(self.ids)

    @cached_property
    def index(self) -> dict[str, int]:
        """The index of each id."""
        return {name: place for place, name in enumerate(self.ids)}

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(self.columns)

    @cached_property
    def problem(self) -> tuple[str, ...]:
        """The attributes that describe a case, without its solution."""
        return tuple(name for name in self.attributes if name not in self.solution)

    def case(self, place: int, *, solved: bool = True) -> Case:
        """A case, new each time, so that changes do not affect others."""
        names = self.attributes if solved else self.problem
        return Case(self.ids[place], {name: self.columns[name][place] for name in names})

    def cases(self) -> dict[str, Case]:
        """All cases by id."""
        return {name: self.case(place) for place, name in enumerate(self.ids)}


def named_only(ids: Iterable[str]) -> CaseBase:
    """A case base of distinct ids alone."""
    return CaseBase("", tuple(dict.fromkeys(ids)))


@dataclass(frozen=True)
class Task:
    """The queries and cases of a retrieval."""

    queries: CaseBase
    cases: CaseBase
    leave_one_out: bool = False

    def own(self, query: int) -> int:
        """The index of the case that is the query and left out; -1 for none."""
        return query if self.leave_one_out else -1

    @property
    def n_candidates(self) -> int:
        """The number of candidates per query."""
        return len(self.cases) - self.leave_one_out


_MISSING = BLANKS | {"?"}
# Default column of the ids, and that of BEIR's files.
ID, _BEIR_ID = "id", "_id"
_LEAVE = "leave the cell empty if the value is missing"


@dataclass(frozen=True)
class Roles:
    """The roles of columns."""

    solution: tuple[str, ...] = ()  # outcome of a case
    ignore: tuple[str, ...] = ()  # columns that are not attributes
    words: Collection[str] = ()  # attributes declared categorical


class Given(NamedTuple):
    """The source of a case base."""

    base: object  # a path, or an object in memory
    name: str  # for messages
    what: str  # the noun
    id: str = ID  # column of the ids


def read_bases(given: Iterable[Given], roles: Roles) -> tuple[list[CaseBase], list[StudyWarning]]:
    """Read cases: CSV, JSON, or Parquet, a dict, records, a DataFrame, or ids alone.

    An attribute is numeric if each of its values in all of them is a number or missing; else it is
    text, with a warning if a few values make the difference.
    """
    mistakes: list[Mistake] = []
    warnings: list[StudyWarning] = []
    raw: list[tuple[tuple[str, ...], SourceTable[object]]] = []
    for one in given:
        with collecting(mistakes):
            raw.append(_read_base(one))
    refuse(mistakes)
    tables = [table for _, table in raw]
    names = dict.fromkeys(name for table in tables for name in table.columns)
    numeric = {
        name: _is_numeric(name, [t for t in tables if name in t.columns], roles, mistakes, warnings)
        for name in names
        if name not in roles.ignore
    }
    refuse(mistakes[:MOST_NAMED])
    bases = [
        CaseBase(
            table.name,
            ids,
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


def _read_base(given: Given) -> tuple[tuple[str, ...], SourceTable[object]]:
    """The ids of one case base with its attributes."""
    if not isinstance(given.base, str | PathLike):
        table = _in_memory(given.base, given.name)
    else:
        table = (_from_json if is_json(Path(given.base)) else _from_columns)(given)
    own = _id_column(table.columns, given.id)
    if not own:
        message = (
            f"column {shown(given.id)} with the ids of the {given.what} not found"
            f"{nearest(given.id, table.columns)}; name it, as in {{file: ..., id: NAME}}; the "
            f"columns are {', '.join(list(table.columns)[:MOST_NAMED])}"
        )
        raise QuemError(Mistake(given.name, 1, message=message))
    ids = table.columns[own]
    mistakes: list[Mistake] = []
    if not table.lacking([own], mistakes).any():
        for row, first in repeats(ids.codes.astype(np.int64))[0]:
            line = table.place(first, own).line
            where = f"line {line} has it too" if line else "give each its own"
            message = f"duplicate id {shown(str(ids.cell(row)))}; {where}"
            mistakes.append(table.mistake(row, own, message))
    refuse(mistakes)
    others = {name: column for name, column in table.columns.items() if name != own}
    return tuple(map(str, ids.cells())), replace(table, columns=others)


def _in_memory(given: Any, name: str) -> SourceTable[object]:  # noqa: ANN401  a table
    if hasattr(given, "iloc"):
        frame = given if ID in given.columns else given.rename_axis(ID).reset_index()
        records = frame.to_dict("records")
    elif isinstance(given, Mapping):
        wrong = next((key for key, one in given.items() if not isinstance(one, Mapping)), None)
        if wrong is not None:
            message = f"{wrong!r}: should be a dict of attributes, and not {given[wrong]!r}"
            raise QuemError(Mistake(name, message=message))
        records = [{**attributes, ID: key} for key, attributes in given.items()]
    elif isinstance(given, Sequence):
        records = [
            {ID: getattr(one, "id", None), **one} if isinstance(one, Mapping) else {ID: one}
            for one in given
        ]
    else:
        message = f"should be a dict of id to attributes, or a DataFrame, and not {given!r}"[:200]
        raise QuemError(Mistake(name, message=message))
    if not records:
        raise QuemError(Mistake(name, message="is empty"))
    plain = [{str(title): cell for title, cell in one.items()} for one in records]
    titles = dict.fromkeys(title for one in plain for title in one)
    columns = {title: [one.get(title) for one in plain] for title in titles}
    return rows_table(name, columns, (ID,), lambda ids: shown(ids[ID]))


def _id_column(columns: Collection[str], id_name: str) -> str:
    """The column of the ids, regardless of case; empty if there is none."""
    wanted = [id_name, _BEIR_ID] if id_name == ID else [id_name]
    folded = {column.casefold(): column for column in reversed(list(columns))}
    return next(
        (w if w in columns else folded[w.casefold()] for w in wanted if w.casefold() in folded), ""
    )


def _from_json(given: Given) -> SourceTable[object]:
    example = f'{{"{given.id}": "c1", "price": 7}}'
    path, name = Path(str(given.base)), given.name
    records = read_records(path, name, what=given.what, example=example, key=given.id)
    columns = records.columns()
    if own := _id_column(columns, given.id):
        texts = [text_of(value) or "" for value in columns[own].values]
        columns[own] = column_of(texts[code] for code in columns[own].codes.tolist())
    return SourceTable(name, columns, records.place)


def _from_columns(given: Given) -> SourceTable[object]:
    path = Path(str(given.base))
    read = read_parquet if is_parquet(path) else read_delimited
    table = all_columns(read(path, given.name, what=given.what), unnamed=True)
    if not len(table):
        message = f"holds no line below the header; add the {given.what}"
        raise QuemError(Mistake(given.name, message=message))
    return table


def _is_numeric(
    name: str,
    tables: list[SourceTable[object]],
    roles: Roles,
    mistakes: list[Mistake],
    warnings: list[StudyWarning],
) -> bool:
    """Whether an attribute is numeric, with a warning on exceptions."""
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
    """The rows with one of these texts in an attribute."""
    column = table.columns[name]
    rows = np.flatnonzero(column.lookup((_text(v) in texts for v in column.values), np.bool_))
    return rows.astype(np.int64)


def _text(value: object) -> str:
    """A cell as text, empty for a missing one."""
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True) if value else ""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    text = str(value).strip()
    return "" if text.casefold() in _MISSING else text


def is_number(value: object) -> bool:
    """Whether a cell holds a finite number or is empty."""
    number = _number(value)
    return not _text(value) or (number is not None and math.isfinite(number))


def _number(value: object) -> float | None:
    """The number in a cell; None for other texts."""
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
