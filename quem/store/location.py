"""Where a study's store is, told without loading a database library."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

DATABASE_VARIABLE = "QUEM_DATABASE_URL"


@dataclass(frozen=True)
class DatabaseLocation:
    """Where a database is."""

    url: str  # as SQLAlchemy takes it; may hold a password, so show `name` instead
    name: str  # for messages
    file: Path | None = None  # the file of an SQLite database

    @property
    def may_hold_something(self) -> bool:
        """Whether there is anything to connect to."""
        return self.file is None or self.file.is_file()


def locate_database(study: Path, database: str | None = None) -> DatabaseLocation:
    """Say where the store of a study is."""
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
