"""Connections to a database: durable, and never waiting for ever."""

from __future__ import annotations

import logging
import sqlite3
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, create_engine, event
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from quem.errors import Mistake, QuemError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from quem.store.location import DatabaseLocation

# Seconds that a writer waits for other writers, of this process and of others.
PATIENCE = 5.0


class UnavailableError(Exception):
    """Nothing can be written now."""


class BusyError(UnavailableError):
    """Somebody else writes for too long."""

    def __init__(self) -> None:
        super().__init__("the database is busy")


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
# It logs a traceback of each connection that broke, which whoever used it hears of too.
logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)


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
    is_file = engine.dialect.name == "sqlite"
    event.listen(engine, "connect", _prepare if is_file else _prepare_server)
    event.listen(engine, "begin", _begin if is_file else _begin_on_server)
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
    patience = connection.get_execution_options().get("quem_patience", PATIENCE)
    if patience < PATIENCE:
        # Zero would be for ever.
        milliseconds = max(1, int(patience * 1000))
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {milliseconds}")


def refusal(place: DatabaseLocation, message: str) -> QuemError:
    """Make the error of a database that cannot be used."""
    return QuemError(Mistake(place.name, message=message))
