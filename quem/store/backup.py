"""The backups of a study: made now or regularly, logged, with a limited number kept."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select
from sqlalchemy.exc import DatabaseError

from quem.errors import FileError, Mistake, QuemError
from quem.store.connecting import UnavailableError
from quem.store.copying import (
    SIDES,
    Holdings,
    copy_into,
    holdings_of,
    holdings_of_file,
    new_file,
    reason_of,
    stamp,
    sync_folder,
)
from quem.store.events import record
from quem.store.models import EventRow, now

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy.orm import Session

    from quem.store.engine import Store
    from quem.store.location import DatabaseLocation
    from quem.store.uploads import UploadFolder

_GOOD, _FAILED = "backup", "backup-failed"
_PARTIAL = ".partial"
_STAMPED = r"-\d{8}T\d{6}\.\d{3}Z\.sqlite3"
_LONGEST_STEM = 100
# A partial copy on which nothing was written for so long is of a process that was killed.
_STALE_SECONDS = 3600
_LATE = 2


@dataclass(frozen=True)
class Copy:
    """A copy that was made and checked."""

    path: Path
    size: int  # bytes
    holdings: Holdings
    note: str  # what its maker should know; may be empty


@dataclass(frozen=True)
class BackupState:
    """How the copies of a study are."""

    failure: str = ""  # why the last attempt failed; empty where it did not
    at: dt.datetime | None = None  # when the last good one was made
    # Its number of rows and bytes
    rows: int = 0
    size: int = 0
    every: float | None = None  # seconds from one copy to the next, where they are made regularly

    @property
    def is_late(self) -> bool:
        """Whether the last good copy is older than two intervals."""
        if self.every is None or self.at is None:
            return False
        return (now() - self.at).total_seconds() > _LATE * self.every


def back_up(
    store: Store,
    study_id: str,
    folder: Path,
    *,
    actor: str,
    keep: int,
    every: float | None = None,
    uploads: UploadFolder | None = None,
) -> Copy:
    """Make a copy of a store, check it, log it, and remove the study's oldest copies."""
    path = folder / f"{stem_of(study_id)}-{stamp()}.sqlite3"
    try:
        make_folder(folder)
        refuse_server(store.place)
        with _clear_failures(folder):
            holdings = _save(store, path)
            # A file is on the disk before the database names it.
            if uploads:
                uploads.copy_to(uploads_beside(path, study_id))
            size = path.stat().st_size
    except QuemError as error:
        if every:
            reason = "; ".join(mistake.message for mistake in error.mistakes)
            with suppress(DatabaseError, UnavailableError), store.write() as c:
                record(c, study_id, actor, _FAILED, reason=reason)
        raise
    notes = []
    try:
        _prune(path, stem_of(study_id), keep)
    except OSError as error:
        notes.append(f"older copies could not be removed: {reason_of(error)}")
    detail: dict[str, Any] = {"file": path.name, "rows": holdings.row_count, "bytes": size}
    detail |= {"every": every} if every else {}
    try:
        with store.write() as c:
            record(c, study_id, actor, _GOOD, **detail)
    except (DatabaseError, UnavailableError) as error:
        notes.append(f"the copy is good but could not be logged: {reason_of(error)}")
    return Copy(path, size, holdings, "; ".join(notes))


def _save(store: Store, path: Path) -> Holdings:
    """Make a copy and check it; it has its name only once it is whole and on the disk."""
    partial = path.with_name(path.name + _PARTIAL)
    with new_file(partial):
        # The transaction that counts goes on, so the copy is of the very same state.
        with store.read() as c:
            holdings = holdings_of(c)
            source: Any = c.connection().connection.driver_connection
            copy_into(source, partial)
        if holdings_of_file(partial, f"copy of {store.place.name}") != holdings:
            raise OSError("the copy does not hold what the database held")
        partial.replace(path)
    sync_folder(path.parent)
    return holdings


def uploads_beside(copy: Path, study_id: str) -> Path:
    """The folder with the files of a solving session, beside copies of its database."""
    return copy.with_name(f"{stem_of(study_id)}.uploads")


def refuse_server(place: DatabaseLocation) -> None:
    """Refuse a database of PostgreSQL, which pg_dump backs up."""
    if place.file is None:
        message = (
            "is a PostgreSQL database: back it up with pg_dump, and restore it with pg_restore, as "
            "docs/how-to/serving.md says"
        )
        raise QuemError(Mistake(place.name, message=message))


def make_folder(folder: Path) -> None:
    """Make the folder for backups if it is missing, but not the one that it is in.

    A disk that is not mounted would otherwise look like a new folder.
    """
    with _clear_failures(folder):
        folder.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def _clear_failures(folder: Path) -> Iterator[None]:
    """Say in clear words why there is no copy."""
    try:
        yield
    except (OSError, sqlite3.Error, DatabaseError, UnavailableError) as error:
        message = (
            f"no backup was made: {reason_of(error)}; check that the folder can be written to and "
            "has room, and that the database can be read"
        )
        raise FileError(folder, message) from None


def backup_state(c: Session, study_id: str) -> BackupState:
    """Tell from the log how the copies of a study are, no matter how they are made."""
    events = select(EventRow).where(EventRow.study_id == study_id).order_by(EventRow.key.desc())
    good, failed = (
        c.scalars(events.where(EventRow.what == what).limit(1)).first() for what in (_GOOD, _FAILED)
    )
    is_failing = failed and (good is None or failed.key > good.key)
    failure = failed.detail["reason"] if failed and is_failing else ""
    if good is None:
        return BackupState(failure)
    of = good.detail
    return BackupState(failure, good.made_at, of["rows"], of["bytes"], of.get("every"))


def stem_of(study_id: str) -> str:
    """A study's id as the beginning of file names, different for each."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", study_id)
    if plain == study_id and len(plain) <= _LONGEST_STEM:
        return plain
    return f"{plain[:_LONGEST_STEM]}-{hashlib.sha256(study_id.encode()).hexdigest()[:8]}"


def _prune(newest: Path, stem: str, keep: int) -> None:
    """Remove a study's oldest copies, and what killed processes left; never the newest copy."""
    copy = re.compile(re.escape(stem) + _STAMPED)
    left = re.compile(rf"{copy.pattern}{re.escape(_PARTIAL)}({'|'.join(SIDES)})?")
    files = [one for one in newest.parent.iterdir() if one.is_file() and not one.is_symlink()]
    # A clock that was set back makes the newest look old.
    others = sorted(one for one in files if copy.fullmatch(one.name) and one != newest)
    for path in others[: max(0, len(others) - keep + 1)]:
        path.unlink(missing_ok=True)
    for path in files:
        with suppress(FileNotFoundError):
            if left.fullmatch(path.name) and time.time() - path.stat().st_mtime > _STALE_SECONDS:
                path.unlink()
