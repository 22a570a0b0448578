"""The backups of a study: made now or regularly, logged, with a limited number kept."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, NullPool, create_engine, func, select
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from quem.errors import FileError, Mistake, QuemError
from quem.io.text import shown
from quem.store.database import UnavailableError, clear_refusals, open_store, version_of
from quem.store.events import record
from quem.store.models import Base, EventRow, RevisionRow, StudyRow, now
from quem.store.outbox import doubt_unsent

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator
    from pathlib import Path

    from quem.store.database import Store
    from quem.store.location import DatabaseLocation
    from quem.store.uploads import UploadFolder

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


_LOCK_SECONDS = 2
_NOT_OURS = "name a copy that `quem backup` made"
_KEPT = "--replace to put the copy in its place (the database is kept beside it)"


@dataclass(frozen=True)
class Restored:
    """What was restored."""

    holdings: Holdings  # of the database now, but for the event that says so
    kept: Path | None  # where the old database is; None where there was none


def restore_copy(
    place: DatabaseLocation, study_id: str, copy: Path, *, replace: bool = False
) -> Restored:
    """Put a copy that has a study in the place of a database, which is kept beside it."""
    refuse_server(place)
    file = place.file
    assert file is not None  # noqa: S101  else it would be refused
    try:
        with clear_refusals(place):
            if file.exists() and copy.exists() and file.samefile(copy):
                raise FileError(copy, "is the database itself; name a copy")
            part = file.with_name(f"{file.name}.restoring-{os.getpid()}")
            with new_file(part):
                holdings = _checked_part(part, study_id, copy)
                if file.exists() and not replace:
                    _refuse_used(file)
                with _alone(file):
                    kept = _set_aside(file)
                    part.replace(file)
            sync_folder(file.parent)
            _log(place, study_id, copy)
    except OSError as error:
        raise FileError(file, f"nothing was restored: {reason_of(error)}") from None
    return Restored(holdings, kept)


def _checked_part(part: Path, study_id: str, copy: Path) -> Holdings:
    """Take a copy of the copy, with what a log beside it holds, and look at each page of it."""
    has_log = copy.with_name(copy.name + "-wal").exists()
    # Without a log nothing has to be written beside the copy, which may be in a read-only place.
    address = f"{copy.absolute().as_uri()}?mode=ro{'' if has_log else '&immutable=1'}"
    try:
        with closing(sqlite3.connect(address, uri=True)) as source:
            copy_into(source, part)
    except sqlite3.Error as error:
        raise FileError(copy, f"cannot be copied: {error}; {_NOT_OURS}") from None
    holdings = holdings_of_file(part, str(copy), thorough=True)
    if not holdings.studies:
        raise FileError(copy, f"holds no study; {_NOT_OURS}")
    if study_id not in holdings.studies:
        raise FileError(copy, f"is a copy of {_listed(holdings)}, and this is {shown(study_id)}")
    return holdings


def _refuse_used(file: Path) -> None:
    """Refuse to replace a database that holds something; a damaged one may hold anything."""
    try:
        holdings = holdings_of_file(file, str(file))
    except QuemError:
        raise FileError(file, f"cannot be read; give {_KEPT}") from None
    if holdings.studies:
        elsewhere = "name another place with --database"
        raise FileError(file, f"holds {_listed(holdings)} already; {elsewhere}, or give {_KEPT}")


def _listed(holdings: Holdings) -> str:
    names = ", ".join(shown(study) for study in holdings.studies)
    return f"the {'study' if len(holdings.studies) == 1 else 'studies'} {names}"


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Hold an SQLite database so that nobody else can use it, with all of it in its one file."""
    if not file.exists():
        yield
        return
    with closing(sqlite3.connect(file, timeout=_LOCK_SECONDS, isolation_level=None)) as connection:
        try:
            # Leaving the log is possible only where no other connection is open.
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise FileError(file, "is in use; stop the server (quem serve) first") from None
            # It is damaged, which may be why the copy is needed.
        yield


def _set_aside(file: Path) -> Path | None:
    """Give a database another name too, and its log that name only.

    A log that stayed beside the restored database would be taken for its own.
    """
    backup = file.with_name(f"{file.name}.before-restore-{stamp()}")
    if file.exists():
        # The database has its own name until the copy takes it, so that there always is one.
        try:
            backup.hardlink_to(file)
        except OSError:
            shutil.copy(file, backup)
    for side in SIDES:
        with suppress(FileNotFoundError):
            file.with_name(file.name + side).rename(backup.with_name(backup.name + side))
    return backup if backup.exists() else None


def _log(place: DatabaseLocation, study_id: str, copy: Path) -> None:
    """Log that all studies of a database are as they were; letters may be newer."""
    store = open_store(place)
    try:
        with store.write() as c:
            doubt_unsent(c)
            record(c, study_id, "shell", "restored", file=copy.name)
    finally:
        store.close()


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
