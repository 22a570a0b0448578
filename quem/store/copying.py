"""Copies of a database, and what it or a copy holds, counted: two that agree hold the same."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import URL, NullPool, create_engine, func, select
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from quem.errors import Mistake, QuemError
from quem.store.models import Base, RevisionRow, StudyRow, now
from quem.store.schema import version_of

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator
    from pathlib import Path

# Files beside one of SQLite that belong to it.
SIDES = ("-wal", "-shm", "-journal")


@dataclass(frozen=True)
class Holdings:
    """What is in a database."""

    studies: tuple[str, ...] = ()  # their ids, sorted
    rows: dict[str, int] = field(default_factory=dict)  # number of rows by table
    # Key and time of the newest revision; 0 and None where there is none
    last_key: int = 0
    last_at: dt.datetime | None = None

    @property
    def row_count(self) -> int:
        """The number of rows of all tables."""
        return sum(self.rows.values())


def holdings_of(c: Session) -> Holdings:
    """Count what a database holds."""
    newest = select(RevisionRow.key, RevisionRow.made_at).order_by(RevisionRow.key.desc()).limit(1)
    tables = Base.metadata.sorted_tables
    return Holdings(
        tuple(sorted(c.scalars(select(StudyRow.id)))),
        {t.name: c.execute(select(func.count()).select_from(t)).scalar_one() for t in tables},
        *(c.execute(newest).first() or ()),
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


@contextmanager
def new_file(path: Path) -> Iterator[None]:
    """Make a file that only its owner reads; with all beside it, it goes unless it is renamed."""
    try:
        # Exclusive: two processes must not write one copy.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield
    finally:
        for side in ("", *SIDES):
            path.with_name(path.name + side).unlink(missing_ok=True)


def copy_into(source: sqlite3.Connection, path: Path) -> None:
    """Copy an SQLite database to a file without a log, which is on the disk then.

    It is done in one go: in steps it would restart at each write of another connection.
    """
    with closing(sqlite3.connect(path)) as target:
        target.execute("PRAGMA fullfsync = ON")
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def stamp() -> str:
    """The time in UTC as part of a file's name, such as "20261121T100000.000Z"."""
    return f"{now():%Y%m%dT%H%M%S.%f}"[:-3] + "Z"


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def reason_of(error: BaseException) -> str:
    """What an error of the system or of a database says, on one line."""
    known = (getattr(error, name, None) for name in ("strerror", "orig", "reason"))
    return " ".join(str(next(filter(None, known), error)).split())
