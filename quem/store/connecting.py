"""Connections to a database: durable, and never waiting for ever; who may write now."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from contextlib import contextmanager
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, create_engine, event
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

    from quem.store.location import DatabaseLocation

# Seconds that a writer waits for other writers, of this process and of others.
PATIENCE = 5.0
# Seconds after which a writer is stuck: before it holds the database's lock, and after.
_STUCK_WAITING, _STUCK_WORKING = 0.1, 1.0


class UnavailableError(Exception):
    """Nothing can be written now."""


class BusyError(UnavailableError):
    """Somebody else writes for too long."""

    def __init__(self) -> None:
        super().__init__("the database is busy")


class Turns:
    """Lets the writers of a process wait for each other, but never all threads of a server.

    SQLite lets one connection write at a time and makes the others poll; a queue inside the
    process is fairer, and its longest waits are a tenth as long. If the first is stuck, because
    another process holds the database, only a few wait with it; the others are turned away, so
    that there are threads left for what only reads.
    """

    def __init__(self, most: int, *, one_by_one: bool) -> None:
        self._most = most
        self._lock = threading.Lock() if one_by_one else None
        self._counting = threading.Lock()
        self.here = 0
        self._stuck_at = 0.0

    @contextmanager
    def take(self, patience: float) -> Iterator[float]:
        """Wait for one's turn; gives the seconds that are left to wait for other processes."""
        until = monotonic() + patience
        with self._counting:
            if not self.here:
                self._stuck_at = monotonic() + _STUCK_WAITING
            self.here += 1
            too_many = self.here > self._most + 1  # one of them writes
        try:
            if self._lock:
                self._wait(self._lock, until, too_many=too_many)
            elif too_many:
                until = min(until, monotonic() + _STUCK_WORKING)
            try:
                yield max(0.0, until - monotonic())
            finally:
                if self._lock:
                    self._lock.release()
        finally:
            with self._counting:
                self.here -= 1

    def begun(self) -> None:
        """Note that the one whose turn it is holds the database's lock, too."""
        self._stuck_at = monotonic() + _STUCK_WORKING

    def _wait(self, lock: threading.Lock, until: float, *, too_many: bool) -> None:
        while True:
            # As long as turns pass on, nobody is turned away: that moment moves on, too.
            end = min(until, self._stuck_at) if too_many else until
            if lock.acquire(timeout=max(0.0, end - monotonic())):
                self._stuck_at = monotonic() + _STUCK_WAITING
                return
            if monotonic() >= (min(until, self._stuck_at) if too_many else until):
                raise BusyError


# Requests that a server works on at once; more only wait for each other.
THREADS = 8
_PRAGMAS = (
    "PRAGMA synchronous = FULL",
    # On macOS fsync leaves data in the drive's memory; elsewhere these change nothing.
    "PRAGMA fullfsync = ON",
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA foreign_keys = ON",
)
# Unless a commit waits for even more than that, it waits for the disk.
_DURABLE = f"""
SELECT set_config('lock_timeout', '{int(PATIENCE * 1000)}', false),
    CASE WHEN current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
    THEN set_config('synchronous_commit', 'on', false) END
"""
_POLL_SECONDS = 0.02


def engine_of(place: DatabaseLocation, threads: int = THREADS) -> Engine:
    """Make an engine, which connects when it is first used."""
    try:
        # A file's name may hold a question mark, which ends the place in a URL.
        file = place.file and URL.create("sqlite", database=str(place.file.absolute()))
        engine = create_engine(
            file or place.url,
            pool_size=threads,
            max_overflow=threads + 4,  # for what is done beside answering
            pool_timeout=PATIENCE,
            pool_use_lifo=True,
        )
    except ModuleNotFoundError as error:
        advice = "pip install 'quem[postgres]'" if error.name == "psycopg" else "install it"
        raise refusal(place, f"needs the package {error.name}; {advice}") from None
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise refusal(
            place, "is not a database URL; use a value such as postgresql://user@host/name"
        ) from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare)
    else:
        event.listen(engine, "connect", _prepare_server)
    event.listen(engine, "begin", _begin if engine.dialect.name == "sqlite" else _begin_on_server)
    return engine


def _prepare(connection: Any, _: object) -> None:  # noqa: ANN401  a DBAPI connection
    # Python's driver would otherwise decide for itself when a transaction begins.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (busy_timeout(PATIENCE), *_PRAGMAS):
        cursor.execute(pragma)
    _write_ahead(cursor)
    cursor.close()


def _write_ahead(cursor: sqlite3.Cursor) -> None:
    """Log changes ahead. Of several that begin so in a new file SQLite turns all but one away.

    It does so at once, whatever the busy timeout, since each has started to read.
    """
    until = monotonic() + PATIENCE
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or monotonic() >= until:
                raise
            sleep(_POLL_SECONDS)
        else:
            return


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if not options.get("quem_writes", False):
        connection.exec_driver_sql("BEGIN")
        return
    connection.exec_driver_sql(busy_timeout(options.get("quem_patience", PATIENCE)))
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    connection.exec_driver_sql(busy_timeout(PATIENCE))


def busy_timeout(seconds: float) -> str:
    """Write how long SQLite is to wait for a lock."""
    return f"PRAGMA busy_timeout = {int(seconds * 1000)}"


def _prepare_server(connection: Any, _: object) -> None:  # noqa: ANN401  a DBAPI connection
    """Let a commit on PostgreSQL return only when it is on the disk, and never wait for ever."""
    with connection.cursor() as cursor:
        cursor.execute(_DURABLE)
    connection.commit()


def _begin_on_server(connection: Connection) -> None:
    options = connection.get_execution_options()
    patience, study = options.get("quem_patience", PATIENCE), options.get("quem_saving", "")
    wanted = []
    if patience < PATIENCE - 0.1:  # else the connection's own
        # Zero would be for ever.
        wanted.append(f"set_config('lock_timeout', '{max(1, int(patience * 1000))}', true)")
    if study:
        wanted.append(f"pg_advisory_xact_lock_shared({_number_of(study)})")
    if wanted:
        connection.exec_driver_sql(f"SELECT {', '.join(wanted)}")


def wait_for_saves(c: Connection, study_id: str) -> None:
    """Wait until nobody saves rankings of a study, and let nobody until this transaction ends.

    Who saves and names the study to `quem.store.engine.Store.write` holds the same lock together
    with others, before any row. On SQLite whoever writes is alone.
    """
    if c.dialect.name == "postgresql":
        c.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_number_of(study_id)})")


def _number_of(study_id: str) -> int:
    """The number of a study's lock, of 64 bits with a sign."""
    return int.from_bytes(hashlib.sha256(study_id.encode()).digest()[:8], "big", signed=True)


def refusal(place: DatabaseLocation, message: str) -> QuemError:
    """Make the error of a database that cannot be used."""
    return QuemError([Mistake(place.name, message=message)])
