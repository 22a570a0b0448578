"""What a database or a copy of it holds, counted: two that agree here hold the same."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, NullPool, create_engine, func, select
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from quem.errors import FileError, Mistake, QuemError
from quem.store.connecting import UnavailableError
from quem.store.models import Base, RevisionRow, StudyRow, now
from quem.store.schema import version_of

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator
    from pathlib import Path

    from quem.store.engine import Store


@dataclass(frozen=True)
class Holdings:
    """What is in a database."""

    studies: tuple[str, ...] = ()  # their ids, sorted
    rows: dict[str, int] = field(default_factory=dict)  # number of rows by table
    last_key: int = 0  # of the newest revision; 0 where there is none
    last_at: dt.datetime | None = None  # when that was saved

    @property
    def row_count(self) -> int:
        """The number of rows of all tables."""
        return sum(self.rows.values())


def holdings_of(c: Session) -> Holdings:
    """Count what a database holds."""
    newest = select(RevisionRow.key, RevisionRow.made_at).order_by(RevisionRow.key.desc()).limit(1)
    last = c.execute(newest).first()
    tables = Base.metadata.sorted_tables
    return Holdings(
        studies=tuple(sorted(c.execute(select(StudyRow.id)).scalars())),
        rows={t.name: c.execute(select(func.count()).select_from(t)).scalar_one() for t in tables},
        last_key=last[0] if last else 0,
        last_at=last[1] if last else None,
    )


def holdings_of_file(file: Path, name: str, *, thorough: bool = False) -> Holdings:
    """Check the pages of an SQLite file, and count what it holds."""
    engine = create_engine(URL.create("sqlite", database=str(file)), poolclass=NullPool)
    check = "integrity_check" if thorough else "quick_check"
    try:
        with engine.connect() as c:
            verdict = str(c.exec_driver_sql(f"PRAGMA {check}(1)").scalar())
            if verdict == "ok":
                return holdings_of(Session(c)) if version_of(c, name) else Holdings()
    except DatabaseError as error:
        verdict = str(error.orig)
    raise QuemError(Mistake(name, message=f"is damaged ({verdict}); take another copy"))


PARTIAL = ".partial"
# Files beside one of SQLite that belong to it.
SIDES = ("-wal", "-shm", "-journal")


@dataclass(frozen=True)
class Copy:
    """A copy that was made and checked."""

    path: Path
    size: int  # bytes
    holdings: Holdings
    note: str = ""  # what its maker should know; may be empty


def save_copy(store: Store, folder: Path, stem: str) -> Copy:
    """Make a copy and check it; it has its name only once it is whole and on the disk."""
    target = folder / f"{stem}.sqlite3"
    with clear_failures(folder):
        with _whole(target) as partial:
            holdings = _copy_file(store, partial)
        return Copy(target, target.stat().st_size, holdings)


def stamp() -> str:
    """The time in UTC as part of a file's name, such as "20261121T100000.000Z"."""
    return f"{now():%Y%m%dT%H%M%S.%f}"[:-3] + "Z"


def _copy_file(store: Store, partial: Path) -> Holdings:
    """Copy an SQLite database in one go.

    In steps it would restart at each write of another connection, and never end.
    """
    with store.read() as c:
        holdings = holdings_of(c)
        source: Any = c.connection().connection.driver_connection
        with closing(sqlite3.connect(partial)) as target:
            target.execute("PRAGMA fullfsync = ON")
            # The transaction that counted goes on, so the copy is of the very same state.
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
    if holdings_of_file(partial, f"copy of {store.place.name}") != holdings:
        raise OSError("the copy does not hold what the database held")
    return holdings


@contextmanager
def _whole(target: Path) -> Iterator[Path]:
    """Give a file to write to, which gets its name once it is on the disk, or is removed."""
    partial = target.with_name(target.name + PARTIAL)
    try:
        # Exclusive: two processes must not write one copy. Only the owner may read it.
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield partial
        with partial.open("r+b") as file:
            os.fsync(file.fileno())
        partial.replace(target)
    finally:
        for side in ("", *SIDES):
            partial.with_name(partial.name + side).unlink(missing_ok=True)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def clear_failures(folder: Path) -> Iterator[None]:
    """Say in clear words why there is no copy."""
    try:
        yield
    except (OSError, sqlite3.Error, DatabaseError, UnavailableError) as error:
        raise FileError(
            folder,
            (
                f"no backup was made: {reason_of(error)}; check that the folder can be written to "
                "and "
                "has room, and that the database can be read"
            ),
        ) from None


def reason_of(error: BaseException) -> str:
    """Give what an error of the system or of a database says, on one line."""
    known = (getattr(error, name, None) for name in ("strerror", "orig", "reason"))
    reason = next(filter(None, known), error)
    return " ".join(str(reason).split())
