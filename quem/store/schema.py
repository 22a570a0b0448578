"""The tables of a database, and their version, by which a later quem knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import insert, inspect, select, text

from quem.errors import Mistake, QuemError
from quem.store.models import Base, VersionRow

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

VERSION = 3
_OLDEST = {"alembic_version", "study", "ballot"}
OLDER = (
    "was written by an older quem; that version reads it, and its `quem export STUDY --format csv` "
    "carries the rankings over"
)
# Any number, the same in every process: who holds it in PostgreSQL makes the tables.
_LOCK = 7_319_044_512


def make_tables(engine: Engine, name: str) -> None:
    """Make the tables of an empty database; of several processes one does, and the others wait."""
    with engine.connect() as c:
        if has_tables(c, name):
            return
    with engine.connect().execution_options(quem_writes=True) as c, c.begin():
        if engine.dialect.name == "postgresql":
            c.execute(text("SET LOCAL lock_timeout = 0"))  # however long the other one takes
            c.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        if not has_tables(c, name):
            Base.metadata.create_all(c)
            c.execute(insert(VersionRow).values(number=VERSION))


def has_tables(c: Connection, name: str) -> bool:
    """Whether a database has the tables of this version, and is not empty."""
    tables = set(inspect(c).get_table_names())
    if not tables:
        return False
    if VersionRow.__tablename__ in tables:
        number = c.execute(select(VersionRow.number)).scalar_one()
        if number == VERSION:
            return True
        message = f"was written by a newer quem (version {number} of its tables); update quem"
        if number < VERSION:
            message = OLDER
    elif tables >= _OLDEST:
        message = OLDER
    else:
        message = "holds tables of another program; use a separate database for quem"
    raise QuemError(Mistake(name, message=message))
