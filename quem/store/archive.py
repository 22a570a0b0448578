"""Archives: a study's data in a store as JSON Lines, and their restoration.

Each line is validated before anything is stored.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import inspect
import json
from base64 import b64encode
from io import StringIO
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args

from pydantic import AwareDatetime, Base64Bytes, ConfigDict, Field, create_model
from pydantic import ValidationError as Invalid
from pydantic_core import from_json
from sqlalchemy import ColumnElement, UniqueConstraint, insert, select
from sqlalchemy import inspect as mapper_of
from sqlalchemy.exc import IntegrityError

from quem import __version__
from quem.errors import FileError, Mistake, QuemError, refuse
from quem.io.text import shown
from quem.store.database import OLDER
from quem.store.models import (
    Base,
    EventRow,
    Layout,
    LetterRow,
    PersonRow,
    RevisionRow,
    StudyRow,
    TaskRow,
    UploadRow,
)
from quem.store.outbox import DOUBT
from quem.store.state import AnswerState, InvalidStateError, State, Text
from quem.studyfile.document import dotted
from quem.studyfile.schema import complaints

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy.orm import Session

    from quem.store.uploads import UploadFolder

FORMAT = 8
Row = dict[str, Any]
_NUMBERED = ("person", "task")  # that other rows refer to
_FIRST, _LAST = (dt.datetime(year, 1, 1, tzinfo=dt.UTC) for year in (2000, 9000))
# Formats of columns in an archive, where stricter than their annotations.
_KINDS: dict[Any, Any] = {
    str: Text,
    int: Annotated[int, Field(ge=-(2**31), lt=2**31)],
    dt.datetime: Annotated[AwareDatetime, Field(ge=_FIRST, lt=_LAST)],
}
_MORE: dict[str, Any] = {"upload": {"content": (Base64Bytes | None, None)}}
_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
_MOST_MISTAKES = 20


class _Table:
    """A table in an archive: all columns except the study, which is in the header.

    Rows have a key only if others refer to it.
    """

    def __init__(self, row: type[Base]) -> None:
        self.row, self.name = row, row.__tablename__
        self.table = Base.metadata.tables[self.name]
        annotations = inspect.get_annotations(row, eval_str=True)
        fields: dict[str, Any] = {
            attribute.columns[0].name: (_kind(annotations[attribute.key]), ...)
            for attribute in mapper_of(row).column_attrs
            if attribute.key != "study_id" and (attribute.key != "key" or self.name in _NUMBERED)
        }
        self.columns = list(fields)
        fields |= {"table": (str, ...), **_MORE.get(self.name, {})}
        self.model = create_model(self.name, __config__=_STRICT, **fields)
        # Foreign keys, with their tables
        self.references = {
            column.name: key.column.table.name
            for column in self.table.c
            for key in column.foreign_keys
            if column.name != "study_id"
        }
        constraints = (one for one in self.table.constraints if isinstance(one, UniqueConstraint))
        self.unique = [
            names
            for one in (self.table.primary_key, *constraints)
            if (names := tuple(column.name for column in one if column.name in fields))
        ]

    def of(self, study_id: str) -> ColumnElement[bool]:
        """The condition that a row belongs to a study."""
        columns, people = self.table.c, select(PersonRow.key).where(PersonRow.study_id == study_id)
        if self.name == "study":
            return columns.id == study_id
        if "study_id" in columns:
            return columns.study_id == study_id
        if "person_key" in columns:
            return columns.person_key.in_(people)
        return columns.task_key.in_(select(TaskRow.key).where(TaskRow.person_key.in_(people)))


def _kind(annotation: Any) -> Any:  # noqa: ANN401  any type
    """The type of a value in an archive, from the annotation of a column."""
    (kind,) = get_args(annotation)
    if not isinstance(kind, UnionType):
        return _KINDS.get(kind, kind)
    return Union[tuple(_KINDS.get(one, one) for one in get_args(kind))]  # noqa: UP007  not known here


# In order of reference; sign-ins are not archived.
TABLES = {
    row.__tablename__: _Table(row)
    for row in (
        *(StudyRow, PersonRow, TaskRow, Layout),
        *(UploadRow, RevisionRow, EventRow, LetterRow),
    )
}


class _WrongError(Exception):
    """An error with its location, which may be empty."""


def read_archive(text: str, name: str, study_id: str) -> dict[str, list[Row]]:
    """Read and check an archive."""
    lines = enumerate(StringIO(text), 1)
    expected = _header(next(lines, (1, ""))[1], name, study_id)
    reader = _Reader(study_id)
    mistakes, number = [], 1
    for number, line in lines:
        try:
            reader.read(line)
        except _WrongError as error:
            key, message = error.args
            mistakes.append(Mistake(name, number, key=key, message=message))
        if len(mistakes) >= _MOST_MISTAKES:
            break
    if not mistakes:
        mistakes = [Mistake(name, number, message=one) for one in reader.lacks(expected)]
    refuse(mistakes)
    return reader.rows


def _header(line: str, name: str, study_id: str) -> dict[str, Any]:
    """Check the first line; returns the number of rows of each table."""
    message = ""
    try:
        header = _parsed(line)
    except _WrongError:
        header = {}
    number, study, counts = (header.get(key) for key in ("format", "study", "rows"))
    if not isinstance(number, int) or not isinstance(study, str):
        message = "is not an archive; name the archive.jsonl that `quem export` wrote"
    elif number > FORMAT:
        message = f"was written by a newer quem (format {number} of archives); update quem"
    elif number < FORMAT:
        message = OLDER
    elif not isinstance(counts, dict):
        message = "the header is damaged; take another copy of the archive"
    elif study != study_id:
        message = f"is an archive of the study {shown(study)}, and this is {shown(study_id)}; "
        message += f"if they are the same, write `id: {study}` into the study file"
    if message:
        raise QuemError(Mistake(name, 1, message=message))
    return dict(counts or {})


class _Reader:
    """Validates lines one by one against the earlier ones."""

    def __init__(self, study_id: str) -> None:
        self._study_id = study_id
        self.rows: dict[str, list[Row]] = {name: [] for name in TABLES}
        self._seen: dict[tuple[str, ...], set[tuple[object, ...]]] = {}
        self._roles: dict[int, str] = {}  # by person key
        self._owners: dict[int, int] = {}  # person of each task
        self._shown: dict[tuple[int, str], list[str]] = {}  # solvers of each layout
        self._uploads: set[tuple[int, str]] = set()  # with the task of each

    def read(self, line: str) -> None:
        """Check a line and keep its row."""
        data = _parsed(line)
        table = TABLES.get(str(data.get("table")))
        if table is None:
            raise _WrongError("table", "is none that quem knows")
        try:
            row = dict(table.model.model_validate_json(line))
        except Invalid as error:
            loc, message, _ = complaints(error, table.model, data)[0]
            raise _WrongError(dotted(loc), message) from None
        del row["table"]
        for names in table.unique:
            value = tuple(row[name] for name in names)
            seen = self._seen.setdefault((table.name, *names), set())
            if value in seen and None not in value:
                raise _WrongError(" and ".join(names), f"there is another such {table.name}")
            seen.add(value)
        for name, other in table.references.items():
            known = self._roles if other == "person" else self._owners
            if row[name] is not None and row[name] not in known:
                raise _WrongError(name, f"no line before says what {other} {row[name]} is")
        check = getattr(self, f"_check_{table.name}", None)
        if check:
            check(row)
        self.rows[table.name].append(row)

    def lacks(self, expected: dict[str, Any]) -> list[str]:
        """The missing parts of the archive, in words."""
        messages = [
            f"holds {len(rows)} of {expected.get(name)} rows of {name}: lines were lost or added"
            for name, rows in self.rows.items()
            if len(rows) != expected.get(name)
        ]
        if not messages and len(self.rows["study"]) != 1:
            messages.append("holds no row of study")
        return messages

    def _check_study(self, row: Row) -> None:
        if row["id"] != self._study_id:
            raise _WrongError("id", f"{shown(row['id'])} is not the study that the header names")

    def _check_person(self, row: Row) -> None:
        self._roles[row["key"]] = row["role"]

    def _check_task(self, row: Row) -> None:
        self._owners[row["key"]] = row["person_key"]
        names = row["solvers"] or []
        if len(names) != len(set(names)):
            raise _WrongError("solvers", "names a solver twice")

    def _check_layout(self, row: Row) -> None:
        self._shown[row["task_key"], row["id"]] = [solver for _, solver, *_ in row["items"]]

    def _check_upload(self, row: Row) -> None:
        self._uploads.add((row["task_key"], row["public_id"]))
        content = row["content"]
        if content is not None and hashlib.sha256(content).hexdigest() != row["sha256"]:
            raise _WrongError("content", "is not what was uploaded")

    def _check_revision(self, row: Row) -> None:
        task = row["task_key"]
        try:
            if self._roles[self._owners[task]] == "subject":
                files = AnswerState.parse(row["state"]).files
                if not self._uploads.issuperset((task, name) for name in files):
                    raise _WrongError("state.files", "no line before has what it names")
            else:
                State.parse(row["state"], self._shown[task, row["layout"]])
        except KeyError:
            raise _WrongError("layout", "no line before has it") from None
        except InvalidStateError as error:
            raise _WrongError("state", str(error)) from None


def _parsed(line: str) -> Row:
    try:
        row = from_json(line, allow_inf_nan=False)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise _WrongError("", "is damaged: no JSON object")
    return row


def archive_text(
    c: Session,
    study_id: str,
    seal: dict[str, Any] | None = None,
    uploads: UploadFolder | None = None,
) -> str:
    """A study's data in the store as an archive, with uploaded files.

    The first line is a header, with the `quem.seal` record of a sealed study; each other line is a
    row of a table, in the order of creation. People and tasks are numbered from 1, since their
    keys are specific to one database. The same store gives the same bytes.
    """
    numbers: dict[str, dict[int, int]] = {name: {} for name in _NUMBERED}
    rows = {name: list(_rows(c, table, study_id, numbers)) for name, table in TABLES.items()}
    if uploads:
        for row in rows["upload"]:
            row["content"] = _content(uploads, row)
    header = {"format": FORMAT, "quem": __version__, "study": study_id}
    return _written(header | ({"seal": seal} if seal else {}), rows)


def _rows(
    c: Session, table: _Table, study_id: str, numbers: dict[str, dict[int, int]]
) -> Iterator[Row]:
    mine = select(table.table).where(table.of(study_id)).order_by(*table.table.primary_key)
    for number, found in enumerate(c.execute(mine).mappings(), 1):
        row = {name: found[name] for name in table.columns}
        for name, other in table.references.items():
            row[name] = None if row[name] is None else numbers[other][row[name]]
        if table.name in numbers:
            numbers[table.name][row["key"]] = row["key"] = number
        if table.name == "letter" and row["state"] == "due":
            row |= DOUBT
        yield row


def _content(uploads: UploadFolder, row: Row) -> bytes:
    path = uploads.path(row["sha256"], row["ending"])
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(path, f"was uploaded, and cannot be read: {error.strerror}") from None


def write_archive(of: str, rows: Mapping[str, list[Row]]) -> str:
    """An archive of other rows; missing tables are empty."""
    return _written(json.loads(of.partition("\n")[0]), rows)


def _written(header: dict[str, Any], rows: Mapping[str, list[Row]]) -> str:
    lines: list[Row] = [{**header, "rows": {name: len(rows.get(name, ())) for name in TABLES}}]
    lines += [{"table": name, **row} for name in TABLES for row in rows.get(name, ())]
    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_plain)
    return "".join(f"{encoder.encode(line)}\n" for line in lines)


def _plain(value: dt.datetime | bytes) -> str:
    """A value of a column in JSON."""
    return b64encode(value).decode() if isinstance(value, bytes) else value.isoformat()


def restore_archive(
    c: Session,
    study_id: str,
    rows: dict[str, list[Row]],
    name: str,
    uploads: UploadFolder | None = None,
) -> dict[str, int]:
    """Load an archive into a store that does not hold the study yet."""
    if c.execute(select(StudyRow.id).where(StudyRow.id == study_id)).first():
        raise QuemError(
            f"the store holds the study {study_id!r} already; an archive goes into an empty "
            "store: name one with --database"
        )
    try:
        _insert(c, study_id, rows)
    except IntegrityError:
        message = "a link or task of it is in this store already, of another study"
        raise QuemError(Mistake(name, message=message)) from None
    for row in rows["upload"]:
        content = row["content"]
        if uploads and content is not None:
            received, *_ = uploads.receive([content], len(content), 0, len(content))
            uploads.keep(received, row["sha256"], row["ending"])
    return {name: len(of) for name, of in rows.items()}


def _insert(c: Session, study_id: str, rows: dict[str, list[Row]]) -> None:
    keys: dict[str, dict[int, int]] = {name: {} for name in _NUMBERED}
    for table in TABLES.values():
        copies = [{name: row[name] for name in table.columns} for row in rows[table.name]]
        for row in copies:
            if "study_id" in table.table.c:
                row["study_id"] = study_id
            for name, other in table.references.items():
                row[name] = None if row[name] is None else keys[other][row[name]]
        if table.name in keys:
            for row in copies:
                number, made = row.pop("key"), insert(table.table).returning(table.table.c.key)
                keys[table.name][number] = c.execute(made, row).scalar_one()
        elif copies:
            c.execute(insert(table.table), copies)
