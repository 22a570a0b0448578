"""All that a store holds of a study, as JSON Lines, and back into an empty store.

Each line is checked before anything of it goes into a store.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from typing import TYPE_CHECKING, Any, get_args

from sqlalchemy import JSON, Boolean, Double, Integer, insert, select
from sqlalchemy.exc import IntegrityError

from quem import __version__
from quem.errors import Mistake, QuemError
from quem.io.text import shown
from quem.store.models import (
    Base,
    EventRow,
    Item,
    Items,
    Layout,
    PersonRow,
    RevisionRow,
    Role,
    StudyRow,
    TaskRow,
    Utc,
    now,
)
from quem.store.state import InvalidStateError, State, seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlalchemy import Column, Select, Table
    from sqlalchemy.orm import Session

FORMAT = 7
Row = dict[str, Any]
# In the order in which they refer to each other.
TABLES: dict[str, type[Base]] = {
    model.__tablename__: model
    for model in (
        StudyRow,
        PersonRow,
        TaskRow,
        Layout,
        RevisionRow,
        EventRow,
    )
}
# Columns that an archive does not hold: the header says the study, and nothing refers to
# the keys of revisions and events.
_UNKEPT = {
    name: {"study_id"} if name in ("study", "person", "task") else {"study_id", "key"}
    for name in TABLES
}
_UNIQUE: dict[str, list[tuple[str, ...]]] = {
    "study": [("id",)],
    "layout": [("task_key", "id")],
    "person": [("key",), ("role", "id"), ("link_hash",)],
    "task": [("key",), ("public_id",), ("person_key", "problem", "block", "occasion")],
    "revision": [("task_key", "number")],
    "event": [],
}
_WORDS = {
    ("study", "state"): ("trial", "open", "paused", "closed"),
    ("study", "solving"): ("trial", "open", "closed"),
    ("person", "role"): get_args(Role),
    ("revision", "kind"): ("save", "submit", "reopen"),
}
_MOST = 2**31
_MOST_MISTAKES = 20


class _WrongError(Exception):
    """What is wrong with a line."""


def read_archive(text: str, name: str, study_id: str) -> dict[str, list[Row]]:
    """Read and check an archive."""
    lines = text.removesuffix("\n").split("\n")
    expected = _header(lines[0], name, study_id)
    reader = _Reader(study_id)
    mistakes = []
    for number, line in enumerate(lines[1:], 2):
        try:
            reader.read(line)
        except _WrongError as error:
            mistakes.append(Mistake(name, number, message=str(error)))
        if len(mistakes) >= _MOST_MISTAKES:
            break
    if not mistakes:
        mistakes = [Mistake(name, len(lines), message=m) for m in reader.lacks(expected)]
    if mistakes:
        raise QuemError(mistakes)
    return reader.rows


def _header(line: str, name: str, study_id: str) -> dict[str, Any]:
    """Check the first line; gives the number of rows of each table."""
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
        reader = "737ff1e7" if number == FORMAT - 1 else "77c7db1"
        message = (
            f"was written by an older quem (format {number} of archives); the last commit that "
            f"reads it is {reader}, where `quem import` and then `quem export STUDY --format csv` "
            "carry its rankings over"
        )
    elif not isinstance(counts, dict):
        message = "the header is damaged; take another copy of the archive"
    elif study != study_id:
        message = f"is an archive of the study {shown(study)}, and this is {shown(study_id)}"
    if message:
        raise QuemError(Mistake(name, 1, message=message))
    return dict(counts or {})


class _Reader:
    """Takes one line after another, and knows what the earlier ones said."""

    def __init__(self, study_id: str) -> None:
        self._study_id = study_id
        self.rows: dict[str, list[Row]] = {name: [] for name in TABLES}
        self._seen: dict[tuple[str, ...], set[tuple[object, ...]]] = {}
        self._keys: dict[str, set[int]] = {"person": set(), "task": set()}
        self._shown: dict[tuple[int, str], list[str]] = {}  # solvers of each layout

    def read(self, line: str) -> None:
        """Check a line and keep its row."""
        row = _parsed(line)
        name = row.pop("table", None)
        if not isinstance(name, str) or name not in TABLES:
            raise _WrongError("is of no table that quem knows")
        row = _typed(Base.metadata.tables[name], row)
        self._check_unique(name, row)
        self._check_references(name, row)
        if name in self._keys:
            self._keys[name].add(row["key"])
        if name == "layout":
            self._shown[row["task_key"], row["id"]] = [solver for _, solver, *_ in row["items"]]
        if name == "revision":
            self._check_ranking(row)
        self.rows[name].append(row)

    def lacks(self, expected: dict[str, Any]) -> list[str]:
        """Say what should have come and did not."""
        messages = [
            f"holds {len(rows)} of {expected.get(name)} rows of {name}: lines were lost or added"
            for name, rows in self.rows.items()
            if len(rows) != expected.get(name)
        ]
        if not messages and len(self.rows["study"]) != 1:
            messages.append("holds no row of study")
        return messages

    def _check_unique(self, table: str, row: Row) -> None:
        for columns in _UNIQUE[table]:
            value = tuple(row[column] for column in columns)
            seen = self._seen.setdefault((table, *columns), set())
            if value in seen and value != (None,):
                raise _WrongError(f"there is another {table} of that {' and '.join(columns)}")
            seen.add(value)

    def _check_ranking(self, row: Row) -> None:
        try:
            State.parse(row["state"], self._shown[row["task_key"], row["layout"]])
        except KeyError:
            raise _WrongError("no line before has the layout that it was made on") from None
        except InvalidStateError as error:
            raise _WrongError(f"is not a ranking of what was shown ({error})") from None

    def _check_references(self, table: str, row: Row) -> None:
        for other, known in self._keys.items():
            number = row.get(f"{other}_key")
            if number is not None and number not in known:
                raise _WrongError(f"no line before says what {other} {number} is")
        if table == "study" and row["id"] != self._study_id:
            raise _WrongError(f"is of the study {shown(row['id'])}, and the header says another")
        names = row.get("solvers") or []
        if len(names) != len(set(names)):
            raise _WrongError("solvers names a solver twice")


def _parsed(line: str) -> Row:
    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        row = json.loads(line, parse_constant=refuse)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise _WrongError("is damaged: no JSON object")
    return row


def _typed(table: Table, row: Row) -> Row:
    """Give a row with the types of its columns."""
    of = table.name
    columns = {column.name: column for column in table.c if column.name not in _UNKEPT[of]}
    if set(row) != set(columns):
        wrong = ", ".join(sorted(set(row) ^ set(columns))[:5])
        raise _WrongError(f"a row of {of} has other columns: {shown(wrong)}")
    typed = {name: _value(column, row[name]) for name, column in columns.items()}
    for (owner, name), words in _WORDS.items():
        if owner == of and typed[name] not in words:
            raise _WrongError(f"{name} is none of {', '.join(words)}")
    return typed


def _value(column: Column[Any], value: object) -> object:
    if value is None and column.nullable:
        return None
    for kind, read in _READERS:
        if isinstance(column.type, kind):
            result = read(value)
            break
    else:
        result = (
            _json(column.name, value) if isinstance(column.type, JSON | Items) else _string(value)
        )
    if result is None:
        raise _WrongError(f"{column.name} cannot be {shown(str(value))}")
    return result


def _string(value: object) -> str | None:
    if not isinstance(value, str) or "\0" in value:
        return None
    return None if any("\ud800" <= sign <= "\udfff" for sign in value) else value


def _json(name: str, value: object) -> object:
    if name == "solvers":
        return value if _is_list_of_texts(value) else None
    if name == "items":
        return value if isinstance(value, list) and all(map(_is_item, value)) else None
    if name in ("views", "times") and not _is_times(value):
        return None
    if name == "answers" and not _is_answers(value):
        return None
    return (
        value
        if isinstance(value, dict) and _string(json.dumps(value, ensure_ascii=False))
        else None
    )


def _is_item(value: object) -> bool:
    return isinstance(value, list) and len(value) == len(Item._fields) and _is_list_of_texts(value)


def _is_times(value: object) -> bool:
    return isinstance(value, dict) and all(seconds_of(v) is not None for v in value.values())


def _is_answers(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) <= {"answers", "written", "replies"}
        and all(isinstance(given, dict) for given in value.values())
        and all(isinstance(text, str) for given in value.values() for text in given.values())
    )


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(_string(entry) is not None for entry in value)


def _whole(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if -_MOST <= value < _MOST else None


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _decimal(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _time(value: object) -> dt.datetime | None:
    try:
        time = dt.datetime.fromisoformat(str(value))
        return time.astimezone(dt.UTC) if time.tzinfo else None
    except (ValueError, OverflowError):
        return None


_READERS: tuple[tuple[type, Callable[[object], object]], ...] = (
    (Utc, _time),
    (Boolean, _truth),
    (Integer, _whole),
    (Double, _decimal),
)


def archive_text(c: Session, study_id: str, seal: dict[str, Any] | None = None) -> str:
    """Write everything that the store holds of a study.

    The first line is a header, with what `quem.seal` says of a sealed study; each other line is a
    row of a table, in an order that depends on neither database nor place. People and tasks are
    numbered from 1, since their keys mean something in one database only.
    """
    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    for name, row in _rows(c, study_id):
        rows[name].append(row)
    header = {"format": FORMAT, "quem": __version__, "study": study_id}
    header |= {"exported_at": now().isoformat()} | ({"seal": seal} if seal else {})
    return _written(header, rows)


def write_archive(of: str, rows: Mapping[str, list[Row]]) -> str:
    """Write other rows of an archive; tables that are not there are empty."""
    return _written(json.loads(of.partition("\n")[0]), rows)


def _written(header: dict[str, Any], rows: Mapping[str, list[Row]]) -> str:
    counts = {name: len(rows.get(name, ())) for name in TABLES}
    lines: list[Row] = [{**header, "rows": counts}]
    for name in TABLES:
        for row in rows.get(name, ()):
            kept = {key: _plain(value) for key, value in row.items() if key not in _UNKEPT[name]}
            lines.append({"table": name, **kept})
    return "".join(f"{json.dumps(line, ensure_ascii=False, allow_nan=False)}\n" for line in lines)


def _rows(c: Session, study_id: str) -> Iterator[tuple[str, Row]]:
    """Give each row with the name of its table."""
    numbers: dict[str, dict[int, int]] = {"person": {}, "task": {}}
    for name, query in _queries(study_id).items():
        rows = [dict(row) for row in c.execute(query).mappings()]
        for number, row in enumerate(rows, 1):
            if name in numbers:
                numbers[name][row["key"]] = number
                row["key"] = number
            for other, known in numbers.items():
                if row.get(f"{other}_key") is not None:
                    row[f"{other}_key"] = known[row[f"{other}_key"]]
            yield name, row


def _queries(study_id: str) -> dict[str, Select[Any]]:
    judges = select(PersonRow.key).where(PersonRow.of(study_id, "judge"))
    tasks = select(TaskRow.key).where(TaskRow.person_key.in_(judges))
    of_tasks = select(RevisionRow.__table__).where(RevisionRow.task_key.in_(tasks))
    queries: dict[str, Select[Any]] = {
        "study": select(StudyRow.__table__).where(StudyRow.id == study_id),
        "person": select(PersonRow.__table__)
        .where(PersonRow.study_id == study_id)
        .order_by(PersonRow.key),
        "task": select(TaskRow.__table__)
        .where(TaskRow.person_key.in_(judges))
        .order_by(TaskRow.key),
        "layout": select(Layout.__table__)
        .where(Layout.task_key.in_(tasks))
        .order_by(Layout.task_key, Layout.key),
        "revision": of_tasks.order_by(RevisionRow.task_key, RevisionRow.number),
        "event": select(EventRow.__table__)
        .where(EventRow.study_id == study_id)
        .order_by(EventRow.key),
    }
    return queries


def _plain(value: Any) -> Any:  # noqa: ANN401  what a column holds
    """Give what a column holds as JSON has it."""
    return value.isoformat() if isinstance(value, dt.datetime) else value


def restore_archive(
    c: Session, study_id: str, rows: dict[str, list[Row]], name: str
) -> dict[str, int]:
    """Put what an archive holds into a store that does not hold the study yet."""
    if c.execute(select(StudyRow.id).where(StudyRow.id == study_id)).first():
        raise QuemError(
            f"the store holds the study {study_id!r} already; an archive goes into an "
            "empty "
            "store: name one with --database"
        )
    try:
        _insert(c, study_id, rows)
    except IntegrityError:
        raise QuemError(
            Mistake(
                name,
                message="a link or ballot of it is in this store already, of another study",
            )
        ) from None
    return {table: len(rows[table]) for table in TABLES}


def _insert(c: Session, study_id: str, rows: dict[str, list[Row]]) -> None:
    c.execute(insert(StudyRow), rows["study"])
    keys: dict[str, dict[int, int]] = {"person": {}, "task": {}}
    for table, model in TABLES.items():
        copies = [dict(row) for row in rows[table]]
        for row in copies:
            if "study_id" in model.__table__.columns:
                row["study_id"] = study_id
            for other, known in keys.items():
                if row.get(f"{other}_key") is not None:
                    row[f"{other}_key"] = known[row[f"{other}_key"]]
        if table in keys:
            for row in copies:
                number = row.pop("key")
                made = insert(model.__table__).values(row).returning(model.__table__.c.key)
                keys[table][number] = c.execute(made).scalar_one()
        elif table != "study" and copies:
            c.execute(insert(model.__table__), copies)
