"""A copy of a store in the place of the store, all of it or nothing; the old one is kept."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import text

from quem.errors import FileError, Mistake, QuemError
from quem.io.text import read_text, shown
from quem.store.archive import read_archive, restore_archive
from quem.store.backup import stem_of
from quem.store.connecting import engine_of
from quem.store.copying import (
    SIDES,
    Holdings,
    holdings_of,
    holdings_of_dump,
    holdings_of_file,
    reason_of,
    restore_dump,
    save_copy,
    stamp,
    sync_folder,
)
from quem.store.engine import Store, clear_refusals, open_store, store_of
from quem.store.events import record
from quem.store.migration import require_known, version_of
from quem.store.models import Base
from quem.store.outbox import doubt_unsent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Engine

    from quem.store.location import DatabaseLocation

_SQLITE, _DUMP = b"SQLite format 3\0", b"PGDMP"
_LOCK_SECONDS = 2
_STOP = "stop the server (quem serve) first"
_BACKUP_NOTE = "the database is kept beside it"
_OTHERS = """
SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user
AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


@dataclass(frozen=True)
class Restored:
    """What was restored."""

    holdings: Holdings  # of the database now, but for the event that says so
    kept: Path | None  # where the old database is; None where there was none


@dataclass(frozen=True)
class _Task:
    """What is to be restored, and where to."""

    place: DatabaseLocation
    study_id: str
    copy: Path
    replace: bool

    def refusal(self, message: str) -> QuemError:
        """Say what is wrong with the copy."""
        return FileError(self.copy, message)

    def require_study(self, holdings: Holdings) -> None:
        """Refuse the copy of another study, or of a newer quem."""
        if not holdings.studies:
            raise self.refusal("holds no study; name a copy that `quem backup` made")
        require_known(holdings.version, str(self.copy))
        if self.study_id not in holdings.studies:
            raise self.refusal(
                f"is a copy of {_listed(holdings)}, and this is {shown(self.study_id)}"
            )

    def require_room(self, holdings: Holdings) -> None:
        """Refuse to replace a database that holds something, unless that was asked for."""
        if holdings.studies and not self.replace:
            raise QuemError(
                [
                    Mistake(
                        self.place.name,
                        message=(
                            f"holds {_listed(holdings)} already; name another place with "
                            "--database, or give "
                            f"--replace to put the copy in its place ({_BACKUP_NOTE})"
                        ),
                    )
                ]
            )


def restore_copy(
    place: DatabaseLocation, study_id: str, copy: Path, *, replace: bool = False
) -> Restored:
    """Bring a copy back: a file of SQLite, a dump of PostgreSQL, or an archive."""
    task = _Task(place, study_id, copy, replace)
    try:
        with copy.open("rb") as file:
            head = file.read(len(_SQLITE))
    except OSError as error:
        raise task.refusal(f"cannot be read: {reason_of(error)}") from None
    try:
        with clear_refusals(place):
            if head == _SQLITE:
                restored = _restore_file(task)
            elif head.startswith(_DUMP):
                restored = _restore_dump(task)
            else:
                restored = _restore_archive(task)
            is_whole = head == _SQLITE or head.startswith(_DUMP)
            _log(task, None if is_whole else task.study_id)
    except OSError as error:
        raise QuemError(
            [Mistake(place.name, message=f"nothing was restored: {reason_of(error)}")]
        ) from None
    return restored


def _log(task: _Task, study_id: str | None) -> None:
    """Log that a study, or all that share a database, is as it was; letters may be newer."""
    store = open_store(task.place)
    try:
        with store.write() as c:
            doubt_unsent(c, study_id)
            record(c, task.study_id, "shell", "restored", file=task.copy.name)
    finally:
        store.close()


def _restore_file(task: _Task) -> Restored:
    file = task.place.file
    if file is None:
        raise task.refusal(
            "is a copy of an SQLite database, and the database is PostgreSQL: restore it to a file "
            "with --database FILE, then `quem export --format archive` and `quem import`"
        )
    if file.exists() and file.samefile(task.copy):
        raise task.refusal("is the database itself; name a copy")
    part = file.with_name(f"{file.name}.restoring-{os.getpid()}")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        holdings = _checked_part(task, part)
        task.require_room(_held(file, replace=task.replace))
        with _alone(file):
            backup = _set_aside(file)
            part.replace(file)
        sync_folder(file.parent)
    finally:
        for side in ("", *SIDES):
            part.with_name(part.name + side).unlink(missing_ok=True)
    return Restored(holdings, backup)


def _checked_part(task: _Task, part: Path) -> Holdings:
    """Take a copy of the copy, with what a log beside it holds, and look at each page of it."""
    has_log = task.copy.with_name(task.copy.name + "-wal").exists()
    # Without a log nothing has to be written beside the copy, which may be in a read-only place.
    address = f"{task.copy.absolute().as_uri()}?{'mode=ro' if has_log else 'immutable=1'}"
    try:
        with (
            closing(sqlite3.connect(address, uri=True)) as source,
            closing(sqlite3.connect(part)) as target,
        ):
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise task.refusal(f"cannot be copied: {error}; take another copy") from None
    holdings = holdings_of_file(part, str(task.copy), thorough=True)
    task.require_study(holdings)
    with part.open("r+b") as written:
        os.fsync(written.fileno())
    return holdings


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
                raise FileError(file, f"is in use; {_STOP}") from None
            # It is damaged, which may be why the copy is needed.
        yield


def _held(file: Path, *, replace: bool) -> Holdings:
    """Tell what a database that is to be replaced holds; a damaged one may hold anything."""
    if not file.exists() or replace:
        return Holdings()
    try:
        return holdings_of_file(file, str(file))
    except QuemError:
        raise FileError(
            file, f"cannot be read; give --replace to put the copy in its place ({_BACKUP_NOTE})"
        ) from None


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
            shutil.copyfile(file, backup)
    for side in SIDES:
        with suppress(FileNotFoundError):
            file.with_name(file.name + side).rename(backup.with_name(backup.name + side))
    return backup if backup.exists() else None


def _restore_dump(task: _Task) -> Restored:
    if task.place.file:
        raise task.refusal(
            "is a dump of a PostgreSQL database; name one with --database postgresql://... or "
            "QUEM_DATABASE_URL"
        )
    holdings = holdings_of_dump(task.copy, str(task.copy))
    task.require_study(holdings)
    engine = engine_of(task.place)
    try:
        holdings_now = _held_by_server(task, engine)
        backup = _dumped(Store(engine, task.place), task) if holdings_now.studies else None
        restore_dump(engine, task.copy)
        with engine.connect() as c:
            if holdings_of(c) != holdings:
                raise task.refusal(
                    "was restored, but the database holds something else than the copy"
                )
    finally:
        engine.dispose()
    return Restored(holdings, backup)


def _held_by_server(task: _Task, engine: Engine) -> Holdings:
    """Tell what a PostgreSQL database holds, or refuse to replace it."""
    version_of(engine, task.place)
    with engine.connect() as c:
        holdings = holdings_of(c)
        others = c.execute(text(_OTHERS)).all()
    task.require_room(holdings)
    if holdings.studies and others:
        pids = ", ".join(str(pid) for (pid,) in others)
        raise QuemError(
            [
                Mistake(
                    task.place.name, message=f"is in use (connections of processes {pids}); {_STOP}"
                )
            ]
        )
    return holdings


def _dumped(store: Store, task: _Task) -> Path:
    """Keep what a PostgreSQL database holds, beside the copy that takes its place."""
    name = f"{stem_of(task.study_id)}.before-restore-{stamp()}"
    return save_copy(store, task.study_id, task.copy.parent, name).path


def _restore_archive(task: _Task) -> Restored:
    name = str(task.copy)
    rows = read_archive(read_text(task.copy, name, what="archive"), name, task.study_id)
    has_study = _may_be_cleared(task)
    store = open_store(task.place)
    try:
        backup = _backup(store, task) if has_study else None
        with store.write() as c:
            if has_study:
                for table in reversed(Base.metadata.sorted_tables):
                    c.execute(table.delete())
            restore_archive(c, task.study_id, rows, name)
            return Restored(holdings_of(c), backup)
    finally:
        store.close()


def _may_be_cleared(task: _Task) -> bool:
    """Say whether a database holds the study, or refuse if it may not be replaced by an archive."""
    store = store_of(task.place, task.study_id)
    if store is None:
        return False
    try:
        with store.read() as c:
            holdings = holdings_of(c)
        task.require_room(holdings)
        if task.place.file is None:
            _held_by_server(task, store.engine)
    finally:
        store.close()
    if len(holdings.studies) > 1:
        raise QuemError(
            [
                Mistake(
                    task.place.name,
                    message=(
                        f"holds {_listed(holdings)}, and an archive holds one; name another with "
                        "--database"
                    ),
                )
            ]
        )
    if task.place.file:
        with _alone(task.place.file):
            pass
    return True


def _backup(store: Store, task: _Task) -> Path:
    """Copy a database whose one study is to be replaced."""
    if task.place.file is None:
        return _dumped(store, task)
    name = f"{task.place.file.name}.before-restore-{stamp()}"
    return save_copy(store, task.study_id, task.place.file.parent, name, suffix=".sqlite3").path


def _listed(holdings: Holdings) -> str:
    names = ", ".join(shown(study) for study in holdings.studies)
    return f"the {'study' if len(holdings.studies) == 1 else 'studies'} {names}"
