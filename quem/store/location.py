"""The location of a study's store, found without loading a database library."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

DATABASE_VARIABLE = "QUEM_DATABASE_URL"


@dataclass(frozen=True)
class DatabaseLocation:
    """The location of a database."""

    url: str  # for SQLAlchemy; may hold a password, so show `name` instead
    name: str  # for messages
    file: Path | None = None  # of an SQLite database

    @property
    def may_hold_something(self) -> bool:
        """Whether there may be a database."""
        return self.file is None or self.file.is_file()


def locate_database(study: Path, database: str | None = None) -> DatabaseLocation:
    """The location of a study's store."""
    database = database or os.environ.get(DATABASE_VARIABLE, "")
    if not database:
        return _sqlite(study.with_suffix(".sqlite3"))
    scheme, mark, rest = database.partition("://")
    if not mark:
        return _sqlite(Path(database))
    if scheme.partition("+")[0] == "sqlite":
        return _sqlite(Path(rest.removeprefix("/").partition("?")[0]))
    if scheme in ("postgres", "postgresql"):
        scheme = "postgresql+psycopg"
    place = rest.rpartition("@")[2].partition("?")[0]
    return DatabaseLocation(f"{scheme}://{rest}", f"{scheme.partition('+')[0]}://{place}")


def _sqlite(file: Path) -> DatabaseLocation:
    return DatabaseLocation(f"sqlite:///{file.absolute()}", str(file), file)
