"""The tables of a database, and their version, by which another quem knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import inspect, text
from sqlalchemy.exc import DatabaseError

from quem.errors import Mistake, QuemError
from quem.store.models import Base

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

# Those of `migrations`; the last is that of the models.
VERSIONS = ("0007",)
OLDER = (
    "was written by an older quem; that version reads it, and its `quem export STUDY --format csv` "
    "carries the rankings over"
)
_OURS = {"study", "revision"}
# Any number, the same in every process: who holds it in PostgreSQL makes the tables.
_LOCK = 7_319_044_512


def make_tables(engine: Engine, name: str) -> None:
    """Make or migrate the tables of a database; of several processes one does, the others wait."""
    with engine.connect() as c:
        if version_of(c, name) == VERSIONS[-1]:
            return
    with engine.connect().execution_options(quem_writes=True) as c, c.begin():
        if engine.dialect.name == "postgresql":
            c.execute(text("SET LOCAL lock_timeout = 0"))  # however long the other one takes
            c.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        version = version_of(c, name)
        if not version:
            _make(c)
        elif version != VERSIONS[-1]:
            upgrade(c)


def _make(c: Connection) -> None:
    """Make the newest tables at once, as all migrations together would.

    Alembic would take a tenth of a server's memory for its whole life, to do this once.
    """
    Base.metadata.create_all(c)
    c.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
    c.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": VERSIONS[-1]})


def upgrade(c: Connection) -> None:
    """Run the migrations that a database lacks."""
    from alembic.command import upgrade
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "quem.store:migrations")
    config.attributes["connection"] = c
    upgrade(config, "head")


def version_of(c: Connection, name: str) -> str:
    """The version of the tables of a database; empty where it has none."""
    try:
        with c.begin_nested():
            version = c.execute(text("SELECT version_num FROM alembic_version")).scalar() or ""
    except DatabaseError:
        version = ""
    if version in VERSIONS:
        return str(version)
    tables = set(inspect(c).get_table_names())
    if not tables:
        return ""
    message = "holds tables of another program; use a separate database for quem"
    if tables >= _OURS and tables & {"alembic_version", "quem_version"}:
        is_newer = version > VERSIONS[-1]
        newer = f"was written by a newer quem (version {version} of its tables); update quem"
        message = newer if is_newer else OLDER
    raise QuemError(Mistake(name, message=message))
