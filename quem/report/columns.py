"""Columns of results, each declared once.

A `Column` names a value of a result, says where it comes from, what type it has, what it means,
and how it reads in a table of the report. `Columns` are those of one entry of analysis.json, of
one row of a CSV file, or both. The DataFrame, the CSV file, the JSON, its schema, the table of
the report and the reference of the documentation all follow from them.

The functions of a column get a row and the findings that it belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from quem.report.files import TextTable
from quem.report.schema import settings_schema
from quem.wording import format_interval, format_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pandas as pd
    from pydantic import BaseModel

Row = TypeVar("Row")
Findings = TypeVar("Findings")
_UNKNOWN = "–"


@dataclass(frozen=True)
class Type:
    """What a value is, wherever it is written."""

    schema: Mapping[str, Any]  # what JSON Schema says of it
    dtype: str = ""  # of its column in a DataFrame, where that must hold unknown values; else empty
    # Whether it has two ends: a list in JSON, and two columns such as ``mean_low`` and
    # ``mean_high`` in a CSV file.
    is_interval: bool = False
    columns: Columns[Any, Any] | None = None  # of a mapping, in JSON alone
    entry: Type | None = None  # of each value of a list, in JSON alone

    @property
    def is_words(self) -> bool:
        """Whether a column of the report holds words rather than numbers."""
        return "enum" in self.schema or self.schema.get("type") == "string"

    def plain(self, value: Any, findings: Any) -> Any:  # noqa: ANN401  JSON holds anything
        """Give a value as JSON has it."""
        if value is None:
            return None
        if self.columns:
            return self.columns.record(value, findings)
        if self.entry:
            return [self.entry.plain(one, findings) for one in value]
        if isinstance(value, np.generic | np.ndarray):
            return value.tolist()
        return list(value) if isinstance(value, tuple) else value

    def names(self, name: str) -> list[str]:
        """Name the columns of a CSV file that hold it."""
        if self.is_interval:
            stem = name.removesuffix("interval")
            return [f"{stem}low", f"{stem}high"]
        return [name]

    def cells(self, value: Any) -> list[Any]:  # noqa: ANN401
        """Give a value as these columns have it."""
        if self.is_interval:
            return [np.nan, np.nan] if value is None else list(value)
        return [value]

    def text(self, value: Any, digits: int) -> str:  # noqa: ANN401
        """Write a value for people."""
        if value is None:
            return _UNKNOWN
        if self.is_interval:
            return format_interval(value)
        if isinstance(value, bool | np.bool_):
            return "yes" if value else "no"
        if isinstance(value, int | np.integer):
            return f"{value:,}"
        return format_number(value, digits) if isinstance(value, float) else str(value)

    def reference(self, path: str) -> Iterator[tuple[str, str]]:
        """Name what is inside a value, and say what that means."""
        if self.columns:
            yield from self.columns.reference(f"{path}.")
        elif self.entry:
            yield from self.entry.reference(f"{path}[]")


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return {**schema, "type": [kind, "null"]}
    return {"anyOf": [dict(schema), {"type": "null"}]}


def null_or(kind: Type) -> Type:
    """Give the type of values that may be unknown: null in JSON, empty in a CSV file."""
    dtypes = {"integer": "Int64", "boolean": "boolean", "number": "float64"}
    dtype = dtypes.get(str(kind.schema.get("type")), kind.dtype)
    return replace(kind, schema=_or_null(kind.schema), dtype=dtype)


def choice(*words: str | None) -> Type:
    """Give the type of values that are one of some words."""
    return Type({"enum": list(words)})


def of(columns: Columns[Any, Any]) -> Type:
    """Give the type of a mapping with these columns."""
    return Type(columns.schema(), columns=columns)


def each(entry: Type | Columns[Any, Any], fewest: int = 0) -> Type:
    """Give the type of a list: of values of a type, or of entries with these columns."""
    kind = of(entry) if isinstance(entry, Columns) else entry
    least = {"minItems": fewest} if fewest else {}
    return Type({"type": "array", "items": dict(kind.schema), **least}, entry=kind)


TEXT = Type({"type": "string"})
NAME = Type({"type": "string", "minLength": 1})
NUMBER = Type({"type": "number"})
NOT_NEGATIVE = Type({"type": "number", "minimum": 0})
SHARE = Type({"type": "number", "minimum": 0, "maximum": 1})
COUNT = Type({"type": "integer", "minimum": 0})
FLAG = Type({"type": "boolean"})


def _interval(end: Mapping[str, Any]) -> Type:
    ends = [dict(end), dict(end)]
    schema = {"type": "array", "prefixItems": ends, "items": False, "minItems": 2}
    return Type(schema, is_interval=True)


INTERVAL = _interval(NUMBER.schema)
# Both ends are null where the interval is unbounded or undefined.
OPEN_INTERVAL = _interval(_or_null(NUMBER.schema))


@dataclass(frozen=True)
class Column(Generic[Row, Findings]):
    """A value of a result."""

    name: str  # in JSON and CSV
    type: Type
    meaning: str  # its sentence in the reference, with the unit where it has one
    # The attribute of a row that it is, or a function of a row and the findings; by default the
    # attribute of its name.
    of: str | Callable[[Row, Findings], object] = ""
    # Above the column in the report's table, or a function of the findings that gives it; a column
    # without one is not in that table.
    heading: str | Callable[[Findings], str] = ""
    digits: int = 2  # decimals there
    # How a value reads there, where the type does not say it.
    text: Callable[[Any], str] | None = None
    only: Literal["", "json", "csv", "report"] = ""  # where the column is, if not everywhere
    # Names the columns of a CSV file that hold its values, where their number depends on the
    # findings.
    spread: Callable[[Findings], Iterable[str]] | None = None
    # The mapping beside it, the key in that, and the value at which JSON has the column.
    only_with: tuple[str, str, object] | None = None
    # Whether JSON lacks the column, rather than holding null, where there is no value.
    optional: bool = False

    def value(self, row: Row, findings: Findings) -> Any:  # noqa: ANN401
        """Give the value of a row."""
        if callable(self.of):
            return self.of(row, findings)
        return attrgetter(self.of or self.name)(row)

    def is_in(self, place: Literal["json", "csv"]) -> bool:
        """Say whether analysis.json or the CSV file has it."""
        return self.only in ("", place)


class Columns(Generic[Row, Findings]):
    """The columns of an entry, in order."""

    def __init__(self, *columns: Column[Row, Findings]) -> None:
        self.columns = columns

    def _of(self, place: Literal["json", "csv"]) -> list[Column[Row, Findings]]:
        return [column for column in self.columns if column.is_in(place)]

    def record(self, row: Row, findings: Findings) -> dict[str, Any]:
        """Give an entry of analysis.json; NaN and infinity stand for null."""
        values = ((column, column.value(row, findings)) for column in self._of("json"))
        return {
            column.name: column.type.plain(value, findings)
            for column, value in values
            if value is not None or not (column.only_with or column.optional)
        }

    def frame(self, rows: Iterable[Row], findings: Findings) -> pd.DataFrame:
        """Give a table with one line per row."""
        import pandas as pd

        dtypes = {column.name: column.type.dtype for column in self._of("csv") if column.type.dtype}
        lines = [self.line(row, findings) for row in rows]
        return pd.DataFrame(lines, columns=self.names(findings)).astype(dtypes)

    def names(self, findings: Findings) -> list[str]:
        """Name the columns of a CSV file."""
        return [
            name
            for column in self._of("csv")
            for name in (
                column.spread(findings) if column.spread else column.type.names(column.name)
            )
        ]

    def line(self, row: Row, findings: Findings) -> list[Any]:
        """Give a row as these columns have it."""
        values = ((column, column.value(row, findings)) for column in self._of("csv"))
        return [
            cell
            for column, value in values
            for cell in (value if column.spread else column.type.cells(value))
        ]

    def whole_frame(self, source: Row, findings: Findings) -> pd.DataFrame:
        """Give a table of which each column is computed at once.

        A value of None leaves the column out; a DataFrame gives several.
        """
        import pandas as pd

        columns: dict[str, Any] = {}
        for column in self._of("csv"):
            value = column.value(source, findings)
            if isinstance(value, pd.DataFrame):
                columns |= {str(name): value[name].to_numpy() for name in value}
            elif value is not None:
                columns[column.name] = value
        return pd.DataFrame(columns)

    def text_table(
        self, caption: str, rows: Iterable[Row], findings: Findings, note: str = ""
    ) -> TextTable:
        """Give a table of the report."""
        headings = [
            column.heading(findings) if callable(column.heading) else column.heading
            for column in self.columns
        ]
        shown = [of for of, heading in zip(self.columns, headings, strict=True) if heading]
        return TextTable(
            caption,
            tuple(filter(None, headings)),
            [tuple(self._texts(shown, row, findings)) for row in rows],
            note,
            frozenset(at for at, column in enumerate(shown) if at and column.type.is_words),
        )

    @staticmethod
    def _texts(
        shown: Iterable[Column[Row, Findings]], row: Row, findings: Findings
    ) -> Iterator[str]:
        for column in shown:
            value = column.value(row, findings)
            yield column.text(value) if column.text else column.type.text(value, column.digits)

    def schema(self) -> dict[str, Any]:
        """Give the JSON Schema of an entry: no other keys, and all but optional ones required."""
        columns = self._of("json")
        schema: dict[str, Any] = {
            "type": "object",
            "required": [c.name for c in columns if not (c.only_with or c.optional)],
            "properties": {
                column.name: {"description": column.meaning, **column.type.schema}
                for column in columns
            },
            "additionalProperties": False,
        }
        for column in columns:
            if column.only_with is not None:
                beside, key, value = column.only_with
                schema |= {
                    "if": {"properties": {beside: {"properties": {key: {"const": value}}}}},
                    "then": {"required": [column.name]},
                    "else": {"properties": {column.name: False}},
                }
        return schema

    def reference(self, path: str = "") -> Iterator[tuple[str, str]]:
        """Name every key of an entry of analysis.json, and say what it means."""
        for column in self._of("json"):
            yield f"{path}{column.name}", column.meaning
            yield from column.type.reference(f"{path}{column.name}")

    def saved(self) -> Iterator[tuple[str, str]]:
        """Name the columns of a CSV file, and say what they mean."""
        for column in self._of("csv"):
            yield ", ".join(column.type.names(column.name)), column.meaning


_WARNING: Columns[Any, Any] = Columns(
    Column("code", Type({"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$"}), "its stable name"),
    Column("message", NAME, "what was observed, what it does to the result, and what to do"),
)

STUDY: Columns[Any, Any] = Columns(
    Column("id", NAME, "as in the study file"), Column("title", TEXT, "as in the study file")
)

WARNINGS: Column[Any, Any] = Column(
    "warnings", each(_WARNING), "what a reader of the result must know"
)


def head(kind: str) -> tuple[Column[Any, Any], ...]:
    """Give the first columns of every analysis.json."""
    return (
        Column("format", Type({"const": 1}), "1", of=lambda _row, _findings: 1),
        Column("kind", Type({"const": kind}), f"`{kind}`", of=lambda _row, _findings: kind),
    )


def settings(model: type[BaseModel]) -> Column[Any, Any]:
    """Give the column of the settings of a model, which are written as they were used."""
    return Column(
        "settings",
        Type(settings_schema(model)),
        "the settings as used: those of the study file, replaced by those of the command",
        of=lambda row, _findings: row.settings.model_dump(mode="json"),
    )


@dataclass(frozen=True)
class Table(Generic[Row, Findings]):
    """A CSV file of a report."""

    stem: str  # of its name
    meaning: str  # what a row is
    columns: Columns[Row, Findings]
    rows: Callable[[Findings], Iterable[Row]]  # gives the rows of some findings
    always: bool = False  # whether a table without rows is written, with its header

    def frame(self, findings: Findings) -> pd.DataFrame:
        """Give the table of some findings."""
        return self.columns.frame(self.rows(findings), findings)


@dataclass(frozen=True)
class WholeTable(Table[Row, Findings]):
    """A CSV file with enough rows that each column is computed at once."""

    order: tuple[str, ...] = ()  # the columns by which the rows are sorted, if they are

    def frame(self, findings: Findings) -> pd.DataFrame:
        """Give the table of some findings."""
        import pandas as pd

        parts = [self.columns.whole_frame(part, findings) for part in self.rows(findings)]
        if not parts:
            return pd.DataFrame()
        frame = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
        return frame.sort_values(list(self.order), ignore_index=True) if self.order else frame
