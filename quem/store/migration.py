"""From an empty database, or that of an older quem, to the tables of this version."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from quem.errors import Mistake, QuemError
from quem.store.models import Base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

    from quem.store.place import Place

__all__ = ["HEAD", "migrate", "require_known", "version_of"]

HEAD = "0003"
_KNOWN = ("0001", "0002", "0003")
_SCRIPTS = Path(__file__).with_name("migrations")
_FOREIGN = "holds tables of another program; name a database of its own for quem"
# Any number, the same in every process: who holds it in PostgreSQL migrates.
_LOCK = 7_319_044_512


def version_of(engine: Engine, place: Place) -> str:
    """Tell which version a database has: empty for one that quem has not used yet.

    Parameters
    ----------
    engine : sqlalchemy.Engine
    place : Place

    Raises
    ------
    QuemError
        A newer quem wrote it, or somebody else.
    """
    with engine.connect() as c:
        return _version(c, place)


def migrate(engine: Engine, place: Place) -> None:
    """Bring a database to the newest version, after saving a copy of its file.

    Nothing is done, and alembic not even loaded, where it has that version already. Of several
    processes one migrates, and the others wait.

    Parameters
    ----------
    engine : sqlalchemy.Engine
    place : Place

    Raises
    ------
    QuemError
        A newer quem wrote the database.
    """
    if version_of(engine, place) == HEAD:
        return
    with engine.connect().execution_options(quem_writes=True) as c, _tables_may_go(c), c.begin():
        if engine.dialect.name == "postgresql":
            c.execute(text("SET LOCAL lock_timeout = 0"))  # however long the other one takes
            c.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        version = _version(c, place)
        if version == HEAD:
            return
        if not version:
            _make(c)
            return
        if place.file:
            _back_up(place.file, version)
        _upgrade(c)
        _check_references(c)


@contextmanager
def _tables_may_go(c: Connection) -> Iterator[None]:
    """Let SQLite drop a table that others refer to, since most changes make it anew.

    It heeds this outside transactions only.
    """
    if c.dialect.name != "sqlite":
        yield
        return
    driver = c.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection), driver  # noqa: S101  a bug of ours
    driver.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        driver.execute("PRAGMA foreign_keys = ON")


def _check_references(c: Connection) -> None:
    """Refuse what a migration left that refers to nothing."""
    if c.dialect.name == "sqlite" and (lost := c.execute(text("PRAGMA foreign_key_check")).first()):
        message = f"a migration left rows of {lost[0]} that refer to nothing"
        raise AssertionError(message)


def _make(c: Connection) -> None:
    """Make the newest tables at once, as all migrations together would.

    Alembic would take a server's memory for its whole life, to do this once.
    """
    Base.metadata.create_all(c)
    c.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
    c.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})


def _upgrade(c: Connection) -> None:
    from alembic.command import upgrade
    from alembic.config import Config

    config = Config()
    # Alembic reads it as an .ini file, in which a percent sign begins a reference.
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = c
    upgrade(config, "head")


def _version(c: Connection, place: Place) -> str:
    tables = set(inspect(c).get_table_names())
    if "alembic_version" not in tables:
        if tables:
            raise _refusal(place, _FOREIGN)
        return ""
    found = c.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if found is not None and found not in _KNOWN:
        if not {"study", "ballot"} <= tables:
            raise _refusal(place, _FOREIGN)
        require_known(found, place.name)
    return str(found or "")


def require_known(version: str, name: str) -> None:
    """Refuse tables that a newer quem made.

    Parameters
    ----------
    version : str
    name : str
        Of the database or the copy, for messages.

    Raises
    ------
    QuemError
    """
    if version not in _KNOWN:
        message = f"was written by a newer quem (version {version} of its tables); update quem"
        raise QuemError([Mistake(name, message=message)])


def _back_up(file: Path, version: str) -> None:
    """Copy the database, with what its write-ahead log holds, to a file beside it."""
    copy = file.with_name(f"{file.name}.before-{HEAD}-from-{version}")
    with sqlite3.connect(file) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()


def _refusal(place: Place, message: str) -> QuemError:
    return QuemError([Mistake(place.name, message=message)])
