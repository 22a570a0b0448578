"""Connections to a store: durable, one writer at a time, and clear words where there is none."""

from __future__ import annotations

import logging
import sqlite3
import threading
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, create_engine, event, select
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError

from quem.errors import Mistake, QuemError
from quem.store.events import append_events, forget_events
from quem.store.migration import migrate, version_of
from quem.store.models import Study

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

    from quem.store.place import Place

__all__ = ["SCRUB", "THREADS", "Store", "clear_refusals", "open_store", "store_of"]

_log = logging.getLogger(__name__)
# Requests that a server works on at once; more only wait for each other.
THREADS = 8
# Set in the `info` of a connection whose transaction deleted what must not even stay as bytes.
SCRUB = "quem_scrub"

_BUSY_SECONDS = 5
_BUSY = f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}"
_PRAGMAS = (
    _BUSY,
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
)
_POLL_SECONDS = 0.02


class Store:
    """A database of judging sessions.

    Parameters
    ----------
    engine : sqlalchemy.Engine
    place : Place
    """

    def __init__(self, engine: Engine, place: Place) -> None:
        self.engine = engine
        self.place = place
        # SQLite lets one connection write at a time and makes the others poll; a queue inside
        # the process is fairer, and its longest waits are a tenth as long.
        self._writing = threading.Lock() if engine.dialect.name == "sqlite" else None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection that sees one state of the database."""
        with self.engine.connect() as connection:
            if self._writing is None:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give a connection whose changes are all kept, durably, or none of them."""
        if self._writing is None:
            with self.engine.begin() as connection:
                forget_events(connection)
                yield connection
                append_events(connection)
            return
        with self._writing, self.engine.connect() as connection:
            writer = connection.execution_options(quem_writes=True)
            with writer.begin():
                forget_events(writer)
                yield writer
                append_events(writer)
            if writer.info.pop(SCRUB, False):
                self._scrub()

    def _scrub(self) -> None:
        """Write an SQLite file anew, without what was deleted, and empty its write-ahead log."""
        with closing(self.engine.raw_connection()) as connection:
            cursor = connection.cursor()
            for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                cursor.execute(statement)

    def checkpoint(self, patience: float = 0.1) -> bool:
        """Bring what is in the write-ahead log of an SQLite file into the file, and empty the log.

        Parameters
        ----------
        patience : float
            How long readers and writers may be waited for, and may have to wait, in seconds.

        Returns
        -------
        bool
            Whether the file now holds everything; else the next one has to.
        """
        if self._writing is None or not self._logged():
            return True
        with closing(self.engine.raw_connection()) as connection:
            cursor = connection.cursor()
            # The first does the work beside readers and writers; for the second little is left.
            cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")
            if not self._writing.acquire(timeout=patience):
                return False
            try:
                cursor.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
                busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                cursor.execute(_BUSY)
                self._writing.release()
        return not busy

    def _logged(self) -> int:
        """Give the size of the write-ahead log of an SQLite file, in bytes."""
        try:
            return Path(f"{self.place.file}-wal").stat().st_size
        except OSError:
            return 0

    def close(self) -> None:
        """Empty the write-ahead log, and let go of all connections."""
        try:
            self.checkpoint(_BUSY_SECONDS)
        except DatabaseError:
            _log.exception("the write-ahead log could not be emptied")
        self.engine.dispose()


def open_store(place: Place) -> Store:
    """Open a store, made or brought to the newest version where that is needed.

    Parameters
    ----------
    place : Place

    Raises
    ------
    QuemError
        There is no database, it cannot be reached, or a newer quem wrote it.
    """
    if place.file and not place.file.parent.is_dir():
        raise _refusal(place, "its folder does not exist; make it, or name another place")
    engine = _engine(place)
    with ExitStack() as unless_opened, clear_refusals(place):
        unless_opened.callback(engine.dispose)
        migrate(engine, place)
        unless_opened.pop_all()
    return Store(engine, place)


def store_of(place: Place, study_id: str) -> Store | None:
    """Open a store if it is there and holds this study, and leave it as it is otherwise.

    Parameters
    ----------
    place : Place
    study_id : str

    Raises
    ------
    QuemError
        It cannot be reached, or a newer quem wrote it.
    """
    if not place.may_hold_something:
        return None
    engine = _engine(place)
    with ExitStack() as unless_opened, clear_refusals(place):
        unless_opened.callback(engine.dispose)
        if version_of(engine, place):
            with engine.connect() as c:
                known = c.execute(select(Study.id).where(Study.id == study_id)).first()
            if known:
                migrate(engine, place)
                unless_opened.pop_all()
                return Store(engine, place)
    return None


@contextmanager
def clear_refusals(place: Place) -> Iterator[None]:
    """Say in clear words what keeps a database from being used, such as a lock or a full disk.

    Parameters
    ----------
    place : Place

    Raises
    ------
    QuemError
    """
    try:
        yield
    except DatabaseError as error:
        raise _refusal(place, _reason(error.orig)) from None
    except sqlite3.Error as error:
        raise _refusal(place, _reason(error)) from None


def _engine(place: Place) -> Engine:
    try:
        # A file's name may hold a question mark, which ends the place in a URL.
        file = place.file and URL.create("sqlite", database=str(place.file.absolute()))
        engine = create_engine(file or place.url)
    except ModuleNotFoundError as error:
        advice = "pip install 'quem[postgres]'" if error.name == "psycopg" else "install it"
        raise _refusal(place, f"needs the package {error.name}; {advice}") from None
    except (ArgumentError, NoSuchModuleError, ValueError):
        message = "is no database URL; write one such as postgresql://user@host/name"
        raise _refusal(place, message) from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _: object) -> None:  # noqa: ANN401  a DBAPI connection
    # Python's driver would otherwise decide for itself when a transaction begins.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    _write_ahead(cursor)
    cursor.close()


def _write_ahead(cursor: sqlite3.Cursor) -> None:
    """Log changes ahead. Of several that begin so in a new file SQLite turns all but one away.

    It does so at once, whatever the busy timeout, since each has begun to read.
    """
    until = monotonic() + _BUSY_SECONDS
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
    writes = connection.get_execution_options().get("quem_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _reason(error: BaseException | None) -> str:
    said = " ".join(str(error).split())
    if "not a database" in said:
        return "is no SQLite database; name another file"
    if "locked" in said:
        return f"cannot be used: {said}; another program holds it, so try again when it is done"
    return f"cannot be used: {said}; check that it is there and may be written to"


def _refusal(place: Place, message: str) -> QuemError:
    return QuemError([Mistake(place.name, message=message)])
