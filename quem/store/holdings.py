"""What a database or a copy of it holds, counted: two that agree here hold the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import URL, NullPool, create_engine, func, inspect, select, text
from sqlalchemy.exc import DatabaseError

from quem.errors import Mistake, QuemError
from quem.store.models import Base, RevisionRow, StudyRow

if TYPE_CHECKING:
    import datetime as dt
    from pathlib import Path

    from sqlalchemy import Connection

__all__ = ["Holdings", "holdings_of", "holdings_of_file"]


@dataclass(frozen=True)
class Holdings:
    """What is in a database.

    Parameters
    ----------
    studies : tuple of str
        Their ids, sorted.
    version : str
        Of the tables.
    rows : dict of str to int
        Number of rows by table.
    last_key : int
        Of the newest revision; 0 where there is none.
    last_at : datetime or None
        When that was saved.
    """

    studies: tuple[str, ...] = ()
    version: str = ""
    rows: dict[str, int] = field(default_factory=dict)
    last_key: int = 0
    last_at: dt.datetime | None = None

    @property
    def row_count(self) -> int:
        """The number of rows of all tables."""
        return sum(self.rows.values())


def holdings_of(c: Connection) -> Holdings:
    """Count what a database holds; those of an older quem may lack tables.

    Parameters
    ----------
    c : Connection
        That sees one state of the database.
    """
    there = set(inspect(c).get_table_names())
    tables = [table for table in Base.metadata.sorted_tables if table.name in there]
    if StudyRow.__table__ not in tables or "alembic_version" not in there:
        return Holdings()
    newest = select(RevisionRow.key, RevisionRow.made_at).order_by(RevisionRow.key.desc()).limit(1)
    last = c.execute(newest).first()
    return Holdings(
        studies=tuple(sorted(c.execute(select(StudyRow.id)).scalars())),
        version=str(c.execute(text("SELECT version_num FROM alembic_version")).scalar()),
        rows={t.name: c.execute(select(func.count()).select_from(t)).scalar_one() for t in tables},
        last_key=last[0] if last else 0,
        last_at=last[1] if last else None,
    )


def holdings_of_file(file: Path, name: str, *, thorough: bool = False) -> Holdings:
    """Check the pages of an SQLite file, and count what it holds.

    Parameters
    ----------
    name : str
        The file as the user named it, for messages.
    thorough : bool
        Whether indexes are compared with their tables too, which takes longer.

    Raises
    ------
    QuemError
        It is damaged, or not a database of SQLite.
    """
    engine = create_engine(URL.create("sqlite", database=str(file)), poolclass=NullPool)
    check = "integrity_check" if thorough else "quick_check"
    try:
        with engine.connect() as c:
            said = str(c.exec_driver_sql(f"PRAGMA {check}(1)").scalar())
            if said == "ok":
                return holdings_of(c)
    except DatabaseError as error:
        said = str(error.orig)
    raise QuemError([Mistake(name, message=f"is damaged ({said}); take another copy")])
