"""The location of a study's store, found without loading a database library."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from quem.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Sequence

DATABASE_VARIABLE = "QUEM_DATABASE_URL"
SUFFIX = ".sqlite3"  # of the database beside a study file


@dataclass(frozen=True)
class DatabaseLocation:
    """The location of a database."""

    url: str  # for SQLAlchemy; may hold a password, so show `name` instead
    name: str  # for messages
    file: Path | None = None  # of an SQLite database

    def beside(self, study: Path) -> Path | None:
        """The study file if the database is the one beside it, which holds no other study."""
        return study if self.file == study.with_suffix(SUFFIX) else None

    @property
    def may_hold_something(self) -> bool:
        """Whether there may be a database."""
        return self.file is None or self.file.is_file()


def no_session(place: DatabaseLocation) -> str:
    """Why a place gives no session of a study: nothing is there, or only other studies."""
    if place.may_hold_something:
        from quem.store.database import studies_in

        if known := studies_in(place):
            return f"{place.name} has no judging session of this study; {same_as(known)}"
    return f"there is no judging session of this study in {place.name}; `quem serve` starts one"


def same_as(known: Sequence[str]) -> str:
    """How to say that a study is one of those that a database holds."""
    return (
        f"there is that of {join_words(known, 3)}: if this is the same study, in a folder that was "
        f"renamed or copied, write `id: {known[0]}` into its study file"
    )


def locate_database(study: Path, database: str | None = None) -> DatabaseLocation:
    """The location of a study's store."""
    database = database or os.environ.get(DATABASE_VARIABLE, "")
    if not database:
        return _sqlite(study.with_suffix(SUFFIX))
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
