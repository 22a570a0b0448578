"""Connections to a store: durable, one writer at a time, and clear words where there is none."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event, select
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError

from quem.errors import Mistake, QuemError
from quem.store.migration import migrate, version_of
from quem.store.models import Study

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

    from quem.store.place import Place

__all__ = ["Store", "open_store", "store_of"]

_BUSY_SECONDS = 5
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}",
)


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
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give a connection whose changes are all kept, durably, or none of them."""
        if self._writing is None:
            with self.engine.begin() as connection:
                yield connection
            return
        with self._writing, self.engine.connect() as connection:
            writer = connection.execution_options(quem_writes=True)
            with writer.begin():
                yield writer

    def close(self) -> None:
        """Let go of all connections."""
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
    try:
        migrate(engine, place)
    except DatabaseError as error:
        engine.dispose()
        raise _refusal(place, _reason(error)) from None
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
    try:
        if version_of(engine, place):
            with engine.connect() as c:
                known = c.execute(select(Study.id).where(Study.id == study_id)).first()
            if known:
                migrate(engine, place)
                return Store(engine, place)
    except DatabaseError as error:
        engine.dispose()
        raise _refusal(place, _reason(error)) from None
    engine.dispose()
    return None


def _engine(place: Place) -> Engine:
    try:
        engine = create_engine(place.url)
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
    cursor.close()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("quem_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _reason(error: DatabaseError) -> str:
    said = " ".join(str(error.orig).split())
    if "not a database" in said:
        return "is no SQLite database; name another file"
    if isinstance(error, OperationalError):
        return f"cannot be used: {said}; check that it is there and may be written to"
    return f"cannot be used: {said}"


def _refusal(place: Place, message: str) -> QuemError:
    return QuemError([Mistake(place.name, message=message)])
