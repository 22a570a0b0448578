"""Connections to a store: durable, one writer at a time, and clear words where there is none."""

from __future__ import annotations

import logging
import sqlite3
import threading
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from sqlalchemy import event, select
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from quem.errors import FileError, QuemError
from quem.store.connecting import (
    PATIENCE,
    THREADS,
    BusyError,
    UnavailableError,
    busy_timeout,
    engine_of,
    refusal,
)
from quem.store.models import StudyRow
from quem.store.schema import make_tables, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine
    from sqlalchemy.pool import PoolProxiedConnection

    from quem.store.location import DatabaseLocation

_log = logging.getLogger(__name__)
# Set in the `info` of a session whose transaction deleted what must not even stay as bytes.
SCRUB = "quem_scrub"


class Store:
    """A database of judging sessions."""

    def __init__(self, engine: Engine, place: DatabaseLocation) -> None:
        self.engine = engine
        self.place = place
        self.writes = 0
        self._is_file = engine.dialect.name == "sqlite"
        self._lock = threading.Lock()
        self._anchor: PoolProxiedConnection | None = None
        self._watch: Watch | None = None
        if self._is_file and place.file:
            # One connection stays open: the last to close would delete the log, which is watched.
            self._anchor = engine.raw_connection()
            self._anchor.detach()
            self._anchor.cursor().execute("SELECT 1 FROM sqlite_master").fetchall()
            self._watch = Watch(place.file)
            event.listen(engine, "do_connect", self._refuse_lost)

    @property
    def lost(self) -> str:
        """Why nothing can be saved: the file is not in its place; else empty."""
        return self._watch.lost if self._watch else ""

    def _refuse_lost(self, *_: object) -> None:
        if self._watch:
            self._watch.refuse()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a session that sees one state of the database."""
        with self.engine.connect() as connection:
            if not self._is_file:
                connection.execution_options(isolation_level="REPEATABLE READ")
            # At a rollback the driver would forget what it prepared on the server.
            with connection.begin(), _session(connection) as session:
                yield session

    @contextmanager
    def write(self, patience: float = PATIENCE) -> Iterator[Session]:
        """Open a session whose changes are all kept, durably, or none of them."""
        with self._turn(patience) as left:
            self._refuse_lost()
            with self.engine.connect() as connection:
                writer = connection.execution_options(quem_writes=True, quem_patience=left)
                with writer.begin(), _session(writer) as session:
                    yield session
                    session.flush()
                    self._refuse_lost()
                self._refuse_lost()
                self.writes += 1
                if session.info.get(SCRUB) and self._is_file:
                    self._scrub()

    @contextmanager
    def _turn(self, patience: float) -> Iterator[float]:
        """Wait until nobody else of this process writes; gives the seconds that are left to wait.

        SQLite lets one connection write at a time, and the others of a process would poll.
        PostgreSQL locks rows.
        """
        if not self._is_file:
            yield patience
            return
        until = monotonic() + patience
        if not self._lock.acquire(timeout=patience):
            raise BusyError
        try:
            yield max(0.0, until - monotonic())
        finally:
            self._lock.release()

    def _scrub(self) -> None:
        """Vacuum an SQLite file, which removes deleted data, and empty its write-ahead log."""
        with closing(self.engine.raw_connection()) as connection:
            cursor = connection.cursor()
            for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                cursor.execute(statement)

    def checkpoint(self, patience: float = 0.1) -> bool:
        """Bring the write-ahead log of an SQLite file into the file, and empty it."""
        if not self._is_file:
            return True
        with closing(self.engine.raw_connection()) as connection:
            cursor = connection.cursor()
            # The first does the work beside readers and writers; for the second little is left.
            cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")
            try:
                with self._turn(patience) as left:
                    cursor.execute(busy_timeout(left))
                    busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                    cursor.execute(busy_timeout(PATIENCE))
            except BusyError:
                return False
        return not busy

    def close(self) -> None:
        """Empty the write-ahead log, and let go of all connections."""
        if self._anchor and self.writes:
            try:
                self.checkpoint(1.0)
            except (DatabaseError, sqlite3.Error, LostError):
                _log.exception("the write-ahead log could not be emptied")
        self.engine.dispose()
        if self._anchor:
            self._anchor.close()
            self._anchor = None


def _session(connection: Connection) -> Session:
    """A session in the transaction of a connection; rows keep their values when it is over."""
    return Session(connection, autoflush=False, expire_on_commit=False)


def open_store(place: DatabaseLocation, threads: int = THREADS) -> Store:
    """Open a store, which is made where there is none."""
    if place.file and not place.file.parent.is_dir():
        raise refusal(place, "its folder does not exist; make it, or name another place")
    if place.file:
        _make_private(place.file.resolve())
    engine = engine_of(place, threads)
    with ExitStack() as unless_opened, clear_refusals(place):
        unless_opened.callback(engine.dispose)
        make_tables(engine, place.name)
        unless_opened.pop_all()
    return Store(engine, place)


def _make_private(file: Path) -> None:
    """Make an empty file that only its owner reads; SQLite gives its log the same mode."""
    # What is there keeps its mode; why none can be made, SQLite finds out too.
    with suppress(OSError):
        file.touch(0o600, exist_ok=False)
        file.chmod(0o600)


def store_of(place: DatabaseLocation, study_id: str) -> Store | None:
    """Open a store if it is there and holds this study, and leave it as it is otherwise."""
    if not place.may_hold_something:
        return None
    engine = engine_of(place)
    with ExitStack() as unless_opened, clear_refusals(place):
        unless_opened.callback(engine.dispose)
        mine = select(StudyRow.id).where(StudyRow.id == study_id)
        with engine.connect() as c:
            version = version_of(c, place.name)
        if version:
            make_tables(engine, place.name)
            with engine.connect() as c:
                known = c.execute(mine).first()
        if version and known:
            unless_opened.pop_all()
            return Store(engine, place)
    return None


@contextmanager
def held_store(place: DatabaseLocation, study: Path, study_id: str) -> Iterator[Store]:
    """Open the store that holds a study's judging session, and close it in the end."""
    store = store_of(place, study_id)
    if store is None:
        raise FileError(study, f"has no judging session in {place.name}; `quem serve` starts one")
    try:
        with clear_refusals(place):
            yield store
    finally:
        store.close()


@contextmanager
def clear_refusals(place: DatabaseLocation) -> Iterator[None]:
    """Say in clear words what keeps a database from being used, such as a lock or a full disk."""
    try:
        yield
    except LostError as error:
        raise QuemError(error.reason) from None
    except BusyError:
        raise refusal(place, _reason(sqlite3.OperationalError("database is locked"))) from None
    except DatabaseError as error:
        raise refusal(place, _reason(error.orig)) from None
    except sqlite3.Error as error:
        raise refusal(place, _reason(error)) from None


def _reason(error: BaseException | None) -> str:
    reason = " ".join(str(error).split())
    if "not a database" in reason:
        return "is no SQLite database; name another file"
    if "locked" in reason:
        return f"cannot be used: {reason}; another program holds it, so try again when it is done"
    return f"cannot be used: {reason}; check that it is there and may be written to"


class LostError(UnavailableError):
    """What would be written goes to a file that nobody will find."""

    def __init__(self, reason: str) -> None:
        self.reason = reason  # for whoever runs the server: it names the file
        super().__init__(reason)


class Watch:
    """Device and inode of an open database and its log."""

    def __init__(self, file: Path) -> None:
        file = file.absolute()
        # The log is beside the file itself, also where a link leads to that.
        files = (file, Path(f"{file.resolve()}-wal"))
        self._held = {path: inode for path in files if (inode := _inode(path))}

    @property
    def lost(self) -> str:
        """What is wrong now; empty where both are in their places."""
        for path, original_inode in self._held.items():
            inode = _inode(path)
            if inode == original_inode:
                continue
            if path.name.endswith("-wal"):
                return f"{path} was renamed or deleted while in use; stop the server, and start it"
            what = "another file is in its place" if inode else "it was renamed or deleted"
            return f"{path}: {what}; put the file back that was there when the server started"
        return ""

    def refuse(self) -> None:
        """Refuse to continue with files that are not in their places."""
        if reason := self.lost:
            raise LostError(reason)


def _inode(path: Path) -> tuple[int, int] | None:
    """Give device and inode of a file, or None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
