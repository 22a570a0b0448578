"""Backups of a study: manual or periodic, logged, with a limited number kept."""

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
from quem.store.database import Store, UnavailableError, clear_refusals, open_store, version_of
from quem.store.events import record
from quem.store.models import Base, EventRow, RevisionRow, StudyRow, now
from quem.store.outbox import doubt_unsent

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator
    from pathlib import Path

    from quem.store.location import DatabaseLocation
    from quem.store.uploads import UploadFolder

# Files that SQLite keeps beside its database.
SIDES = ("-wal", "-shm", "-journal")


@dataclass(frozen=True)
class Holdings:
    """The contents of a database."""

    studies: tuple[str, ...] = ()  # ids, sorted
    rows: dict[str, int] = field(default_factory=dict)  # number of rows by table
    # Key and time of the newest revision; 0 and None without one
    last_key: int = 0
    last_at: dt.datetime | None = None

    @property
    def row_count(self) -> int:
        """The number of rows of all tables."""
        return sum(self.rows.values())


def holdings_of(c: Session) -> Holdings:
    """Count the contents of a database."""
    newest = select(RevisionRow.key, RevisionRow.made_at).order_by(RevisionRow.key.desc()).limit(1)
    tables = Base.metadata.sorted_tables
    return Holdings(
        tuple(sorted(c.scalars(select(StudyRow.id)))),
        {t.name: c.execute(select(func.count()).select_from(t)).scalar_one() for t in tables},
        *(c.execute(newest).first() or ()),
    )


def holdings_of_file(file: Path, name: str, *, thorough: bool = False) -> Holdings:
    """Check the pages of an SQLite file, and count its contents."""
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
    """Create a private file; unless renamed, it is deleted at the end with its side files."""
    try:
        # Exclusive: two processes must not write one copy.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield
    finally:
        for side in ("", *SIDES):
            path.with_name(path.name + side).unlink(missing_ok=True)


def copy_into(source: sqlite3.Connection, path: Path) -> None:
    """Copy an SQLite database to a file without a log, synced to disk.

    In one step: several would restart at each write of another connection.
    """
    with closing(sqlite3.connect(path)) as target:
        target.execute("PRAGMA fullfsync = ON")
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def stamp() -> str:
    """The time in UTC for file names, such as "20261121T100000.000Z"."""
    return f"{now():%Y%m%dT%H%M%S.%f}"[:-3] + "Z"


def sync_folder(folder: Path) -> None:
    """Sync a folder to disk, where the system supports it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def reason_of(error: BaseException) -> str:
    """The message of an error of the system or a database, on one line."""
    known = (getattr(error, name, None) for name in ("strerror", "orig", "reason"))
    return " ".join(str(next(filter(None, known), error)).split())


_LOCK_SECONDS = 2
_NOT_OURS = "name a copy that `quem backup` made"
_KEPT = "--replace to put the copy in its place (the database is kept beside it)"


@dataclass(frozen=True)
class Restored:
    """A completed restoration."""

    holdings: Holdings  # of the restored database, without the event of the restoration
    kept: Path | None  # the old database; None if there was none


def restore_copy(
    place: DatabaseLocation, study_id: str, copy: Path, *, replace: bool = False
) -> Restored:
    """Replace a database by a copy of it that has a study; the old one is kept beside it."""
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
    """Copy the backup with its log, and check every page."""
    has_log = copy.with_name(copy.name + "-wal").exists()
    # Without a log nothing is written beside the copy, which may be read-only.
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
        same = "if they are the same, write its id into the study file"
        message = f"is a copy of {_listed(holdings)}, and this is {shown(study_id)}; {same}"
        raise FileError(copy, message)
    return holdings


def _refuse_used(file: Path) -> None:
    """Refuse to replace a database with contents; a damaged one may have any."""
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
    """Lock an SQLite database exclusively, with its log merged into the file."""
    if not file.exists():
        yield
        return
    with closing(sqlite3.connect(file, timeout=_LOCK_SECONDS, isolation_level=None)) as connection:
        try:
            # Leaving WAL mode is possible only without other connections.
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise FileError(file, "is in use; stop the server (quem serve) first") from None
            # A damaged database, which may be why the copy is needed.
        yield


def _set_aside(file: Path) -> Path | None:
    """Link a database under another name, and rename its log.

    SQLite would apply an old log to the restored database.
    """
    backup = file.with_name(f"{file.name}.before-restore-{stamp()}")
    if file.exists():
        # The database keeps its name until the copy takes it, so there is always one.
        try:
            backup.hardlink_to(file)
        except OSError:
            shutil.copy(file, backup)
    for side in SIDES:
        with suppress(FileNotFoundError):
            file.with_name(file.name + side).rename(backup.with_name(backup.name + side))
    return backup if backup.exists() else None


def _log(place: DatabaseLocation, study_id: str, copy: Path) -> None:
    """Log the restoration in all studies of a database, and mark letters as uncertain."""
    store = open_store(place)
    with store, store.write() as c:
        doubt_unsent(c)
        record(c, study_id, "shell", "restored", file=copy.name)


_GOOD, _FAILED = "backup", "backup-failed"
_PARTIAL = ".partial"
_STAMPED = r"-\d{8}T\d{6}\.\d{3}Z\.sqlite3"
_LONGEST_STEM = 100
# A partial copy without writes for this long is of a killed process.
_STALE_SECONDS = 3600
_LATE = 2


@dataclass(frozen=True)
class Copy:
    """A verified copy."""

    path: Path
    size: int  # bytes
    holdings: Holdings
    note: str  # for its maker; may be empty


@dataclass(frozen=True)
class BackupState:
    """The state of a study's backups."""

    failure: str = ""  # of the last attempt; empty if it succeeded
    at: dt.datetime | None = None  # time of the last good one
    # Its number of rows and bytes
    rows: int = 0
    size: int = 0
    every: float | None = None  # interval of periodic copies in seconds

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
    """Copy a store, verify and log the copy, and remove the study's oldest ones."""
    path = folder / f"{stem_of(study_id)}-{stamp()}.sqlite3"
    try:
        make_folder(folder)
        refuse_server(store.place)
        with _clear_failures(folder):
            holdings = _save(store, path)
            # A file is on disk before the database names it.
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
    """Copy and verify; the copy gets its name only when it is complete and on disk."""
    partial = path.with_name(path.name + _PARTIAL)
    with new_file(partial):
        # The counting transaction stays open, so the copy has the same state.
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
    """The folder of a solving session's files, beside copies of its database."""
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
    """Create the folder for backups if it is missing, but not its parent.

    An unmounted disk would otherwise look like a new folder.
    """
    with _clear_failures(folder):
        folder.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def _clear_failures(folder: Path) -> Iterator[None]:
    """Explain why there is no copy."""
    try:
        yield
    except (OSError, sqlite3.Error, DatabaseError, UnavailableError) as error:
        message = (
            f"no backup was made: {reason_of(error)}; check that the folder can be written to and "
            "has room, and that the database can be read"
        )
        raise FileError(folder, message) from None


def backup_state(c: Session, study_id: str) -> BackupState:
    """The state of a study's copies from the log, however they are made."""
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
    """A study's id as the unique beginning of file names."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", study_id)
    if plain == study_id and len(plain) <= _LONGEST_STEM:
        return plain
    return f"{plain[:_LONGEST_STEM]}-{hashlib.sha256(study_id.encode()).hexdigest()[:8]}"


def _prune(newest: Path, stem: str, keep: int) -> None:
    """Remove a study's oldest copies and leftovers of killed processes; keep the newest."""
    copy = re.compile(re.escape(stem) + _STAMPED)
    left = re.compile(rf"{copy.pattern}{re.escape(_PARTIAL)}({'|'.join(SIDES)})?")
    files = [one for one in newest.parent.iterdir() if one.is_file() and not one.is_symlink()]
    # After the clock was set back, the newest looks old.
    others = sorted(one for one in files if copy.fullmatch(one.name) and one != newest)
    for path in others[: max(0, len(others) - keep + 1)]:
        path.unlink(missing_ok=True)
    for path in files:
        with suppress(FileNotFoundError):
            if left.fullmatch(path.name) and time.time() - path.stat().st_mtime > _STALE_SECONDS:
                path.unlink()
