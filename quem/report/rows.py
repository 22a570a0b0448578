"""The rows of a result: each value is declared once for all forms of a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

from pydantic import BaseModel, ConfigDict, Field

from quem.report.files import TextTable
from quem.report.schema import settings_schema
from quem.wording import format_bare_p, format_interval, format_number, format_probability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pandas as pd
    from pydantic.fields import FieldInfo

# Ends of an interval; None where an end is open or unknown.
Interval = tuple[float | None, float | None]
_UNKNOWN = "–"


def col(meaning: str, heading: str = "", digits: int = 1, *, kind: str = "", **more: Any) -> Any:  # noqa: ANN401
    """Declare a value: its meaning, heading on the page (none: not shown), and digits.

    `kind` is ``p`` for a p value, ``chance`` for a probability, ``share`` for a share, and ``csv``
    for a value that analysis.json lacks.
    """
    extra: dict[str, Any] = {"digits": digits, "kind": kind}
    return Field(description=meaning, title=heading or None, json_schema_extra=extra, **more)


class Record(BaseModel):
    """An entry of analysis.json; keys are in the order of the fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def taken_from(cls, found: object, **more: object) -> Self:
        """A record from attributes of the same names, and from keywords for the others."""
        names = cls.model_fields.keys() - more.keys()
        return cls(**{name: getattr(found, name) for name in names}, **more)

    def record(self) -> dict[str, Any]:
        """An entry of analysis.json; NaN and infinity are null."""
        return {
            name: _plain(getattr(self, name))
            for name, field in type(self).model_fields.items()
            if _extra(field)["kind"] != "csv"
        }

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON Schema of an entry: all keys required, no others."""
        fields = {n: f for n, f in cls.model_fields.items() if _extra(f)["kind"] != "csv"}
        return {
            "type": "object",
            "required": list(fields),
            "properties": {
                name: {"description": field.description, **_schema(field.annotation)}
                for name, field in fields.items()
            },
            "additionalProperties": False,
        }

    @classmethod
    def documented(cls, path: str = "") -> Iterator[tuple[str, str]]:
        """Each key of an entry of analysis.json, with its meaning."""
        for name, field in cls.model_fields.items():
            if _extra(field)["kind"] == "csv":
                continue
            yield f"{path}{name}", field.description or ""
            if record := _record_of(field.annotation):
                many = "[]" if _is_list(field.annotation) else ""
                yield from record.documented(f"{path}{name}{many}.")


class Row(Record):
    """A line of a table; columns are in the order of the fields.

    A field whose type is a row yields that row's columns with its name as a prefix; a list of rows
    is in analysis.json alone.
    """

    title: ClassVar[str] = ""

    @classmethod
    def frame(cls, rows: Iterable[Row]) -> pd.DataFrame:
        """A DataFrame; the ends of ``interval`` are the columns ``low`` and ``high``."""
        import pandas as pd

        lines = [list(_values(cls, row)) for row in rows]
        columns = list(cls.columns())
        table = pd.DataFrame(lines, columns=[name for name, _, _ in columns])
        numbers = {name: "float64" for name, kind, _ in columns if float in _types(kind)}
        return table.astype(numbers)

    @classmethod
    def columns(cls, prefix: str = "") -> Iterator[tuple[str, Any, str]]:
        """Name, type, and meaning of each column of a CSV file."""
        for name, field in cls.model_fields.items():
            kind, meaning = field.annotation, field.description or ""
            if _is_list(kind):
                continue
            if row := _row_of(kind):
                yield from row.columns(f"{prefix}{name}_")
            elif _is_interval(kind):
                stem = f"{prefix}{name.removesuffix('interval')}"
                yield f"{stem}low", float, f"{meaning}: its lower end"
                yield f"{stem}high", float, f"{meaning}: its upper end"
            else:
                yield f"{prefix}{name}", kind, meaning

    @classmethod
    def shown(cls) -> dict[str, FieldInfo]:
        """The fields with a heading."""
        return {name: field for name, field in cls.model_fields.items() if field.title}

    def cells(self) -> tuple[str, ...]:
        """The shown values, formatted."""
        return tuple(_text(getattr(self, name), field) for name, field in self.shown().items())

    @classmethod
    def text_table(cls, rows: Sequence[Row], caption: str = "", note: str = "") -> TextTable:
        """A table of the report."""
        shown = cls.shown()
        words = (at for at, field in enumerate(shown.values()) if at and str in _types(field))
        headings = tuple(field.title or "" for field in shown.values())
        lines = [row.cells() for row in rows]
        return TextTable(caption or cls.title, headings, lines, note, frozenset(words))


def _values(row: type[Row], of: Row | None) -> Iterator[Any]:
    for name, field in row.model_fields.items():
        value = None if of is None else getattr(of, name)
        if inner := _row_of(field.annotation):
            yield from _values(inner, value)
        elif _is_interval(field.annotation):
            yield from (None, None) if value is None else value
        elif not _is_list(field.annotation):
            yield value


def _extra(field: FieldInfo) -> Mapping[str, Any]:
    extra = field.json_schema_extra
    return extra if isinstance(extra, dict) else {"digits": 1, "kind": ""}


def _types(annotation: Any) -> tuple[Any, ...]:  # noqa: ANN401  a type
    """The types of a value that may be unknown."""
    annotation = getattr(annotation, "annotation", annotation)
    return get_args(annotation) if type(None) in get_args(annotation) else (annotation,)


def _is_interval(annotation: Any) -> bool:  # noqa: ANN401
    return any(
        get_args(kind) and get_args(kind) == get_args(Interval) for kind in _types(annotation)
    )


def _is_list(annotation: Any) -> bool:  # noqa: ANN401
    return any(get_args(kind)[1:] == (...,) for kind in _types(annotation))


def _record_of(annotation: Any) -> type[Record] | None:  # noqa: ANN401
    """The record, or the element type of the list of records, in a field."""
    for kind in _types(annotation):
        inner = get_args(kind)[0] if get_args(kind)[1:] == (...,) else kind
        if isinstance(inner, type) and issubclass(inner, Record):
            return inner
    return None


def _row_of(annotation: Any) -> type[Row] | None:  # noqa: ANN401
    """The row in a field."""
    inner = _record_of(annotation)
    return inner if inner and issubclass(inner, Row) and not _is_list(annotation) else None


def _plain(value: Any) -> Any:  # noqa: ANN401  JSON
    if isinstance(value, Record):
        return value.record()
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


_JSON = {str: "string", float: "number", int: "integer", bool: "boolean"}


def _schema(annotation: Any) -> dict[str, Any]:  # noqa: ANN401
    """JSON Schema of a value."""
    kinds = [kind for kind in _types(annotation) if kind is not type(None)]
    is_known = len(kinds) == len(_types(annotation)) and float not in kinds
    if record := _record_of(annotation):
        schema = record.json_schema()
        if _is_list(annotation):
            schema = {"type": "array", "items": schema}
    elif _is_interval(annotation):
        end = {"type": ["number", "null"]}
        schema = {"type": "array", "prefixItems": [end, end], "items": False, "minItems": 2}
    elif _is_list(annotation):
        schema = {"type": "array", "items": _schema(get_args(kinds[0])[0])}
    elif kinds[0] in _JSON:
        return {"type": _JSON[kinds[0]] if is_known else [_JSON[kinds[0]], "null"]}
    else:
        words = [*get_args(kinds[0])]
        return {"enum": words if is_known else [*words, None]}
    return schema if is_known else {"anyOf": [schema, {"type": "null"}]}


def _text(value: Any, field: FieldInfo) -> str:  # noqa: ANN401
    """A formatted value."""
    extra = _extra(field)
    if value is None or value in ("", (None, None)) or value != value:  # noqa: PLR0124  NaN
        return _UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, tuple):
        low, high = value
        return _ends(low, high, extra["digits"])
    if isinstance(value, float):
        kind: dict[str, Callable[[float], str]] = {
            "p": format_bare_p,
            "chance": format_probability,
            "share": "{:.0%}".format,
        }
        write = kind.get(extra["kind"])
        return write(value) if write else format_number(value, extra["digits"])
    return str(value)


def _ends(low: float | None, high: float | None, digits: int) -> str:
    """A formatted interval, possibly with an open end."""
    if high is None:
        return f"at least {format_number(low or 0.0, digits)}"
    if low is None:
        return f"at most {format_number(high, digits)}"
    return format_interval((low, high), digits)


@dataclass(frozen=True)
class RowTable:
    """A CSV file of a report with one row per line."""

    stem: str
    meaning: str  # of a row
    row: type[Row]
    # The rows of some findings; a DataFrame for many rows, built by column
    rows: Callable[[Any], Iterable[Row] | pd.DataFrame | None]
    always: bool = False  # whether to write a table without rows

    def frame(self, findings: Any) -> pd.DataFrame:  # noqa: ANN401
        """The table of some findings."""
        import pandas as pd

        found = self.rows(findings)
        return found if isinstance(found, pd.DataFrame) else self.row.frame(found or ())

    def saved(self) -> Iterator[tuple[str, str]]:
        """Each column of the CSV file, with its meaning."""
        yield from ((name, meaning) for name, _, meaning in self.row.columns())

    def entry(self) -> Entry:
        """The rows as a key of analysis.json."""
        name = self.stem.replace("-", "_")
        return Entry(name, self.meaning, self.row, self._listed, always=True)

    def _listed(self, findings: Any) -> list[Row]:  # noqa: ANN401
        return list(self.rows(findings) or ())


@dataclass(frozen=True)
class Entry:
    """A key of analysis.json: a record, or a list of records."""

    name: str
    meaning: str
    row: type[Record]
    of: Callable[[Any], Record | Sequence[Record] | None]  # None where a study has none
    many: bool = True
    always: bool = False  # whether every result has it
    null: bool = False  # whether a missing value is null

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        schema = self.row.json_schema()
        if self.many:
            return {"type": "array", "items": schema}
        return {"anyOf": [schema, {"type": "null"}]} if self.null else schema

    def plain(self, findings: Any) -> Any:  # noqa: ANN401
        """The value in JSON; None where missing."""
        value = self.of(findings)
        if value is None or isinstance(value, Record):
            return value and value.record()
        records = [row.record() for row in value]
        return records if self.many else next(iter(records), None)

    def documented(self, path: str = "") -> Iterator[tuple[str, str]]:
        """The key and nested keys, each with its meaning."""
        yield f"{path}{self.name}", self.meaning
        yield from self.row.documented(f"{path}{self.name}{'[]' if self.many else ''}.")


class StudyRecord(Record):
    """A study."""

    id: str = col("as in the study file")
    title: str = col("as in the study file")


class WarningRecord(Record):
    """A warning."""

    code: str = col("its stable name")
    message: str = col("what was observed, effect on the result, and remedy")


STUDY = Entry(
    "study",
    "the study",
    StudyRecord,
    lambda found: StudyRecord.taken_from(found.study.spec),
    many=False,
    always=True,
)
_WARNINGS = Entry(
    "warnings",
    "warnings about the result",
    WarningRecord,
    lambda found: [WarningRecord.taken_from(one) for one in found.warnings],
    always=True,
)
_SETTINGS = "the settings as used: those of the study file, replaced by those of the command"


@dataclass(frozen=True)
class RowDocument:
    """analysis.json of a kind: format, kind, study, settings, then rows, then warnings."""

    kind: str
    settings: type[BaseModel]  # of the settings as used
    entries: Sequence[Entry]
    study: Entry = STUDY

    def record(self, findings: Any) -> dict[str, Any]:  # noqa: ANN401
        """The contents; entries without a value are left out."""
        return {
            "format": 1,
            "kind": self.kind,
            **_values_of((self.study,), findings),
            "settings": findings.settings.model_dump(mode="json"),
            **_values_of((*self.entries, _WARNINGS), findings),
        }

    def schema(self) -> dict[str, Any]:
        """JSON Schema: no other keys; only keys of every result are required."""
        entries = (self.study, *self.entries, _WARNINGS)
        always = [entry.name for entry in entries if entry.always]
        return {
            "type": "object",
            "required": ["format", "kind", "settings", *always],
            "properties": {
                "format": {"const": 1},
                "kind": {"const": self.kind},
                "settings": {"description": _SETTINGS, **settings_schema(self.settings)},
                **{one.name: {"description": one.meaning, **one.schema()} for one in entries},
            },
            "additionalProperties": False,
        }

    def reference(self) -> Iterator[tuple[str, str]]:
        """Each key, with its meaning."""
        yield from (("format", "1"), ("kind", f"`{self.kind}`"), *self.study.documented())
        yield "settings", _SETTINGS
        for entry in (*self.entries, _WARNINGS):
            yield from entry.documented()


def _values_of(entries: Iterable[Entry], findings: Any) -> dict[str, Any]:  # noqa: ANN401
    """Values by key, without missing ones."""
    found = ((entry, entry.plain(findings)) for entry in entries)
    return {entry.name: value for entry, value in found if value is not None or entry.null}
