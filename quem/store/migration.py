"""From an empty database, or that of an older quem, to the tables of this version."""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Double,
    Integer,
    MetaData,
    String,
    Table,
    inspect,
    text,
)

from quem.errors import Mistake, QuemError
from quem.store.chains import (
    event_link,
    judge_digest,
    keyed,
    new_salt,
    revision_link,
    words_digest,
)
from quem.store.models import Base, Utc, now
from quem.store.state import labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection, Engine

    from quem.store.location import DatabaseLocation

HEAD = "0006"
_KNOWN = ("0001", "0002", "0003", "0004", "0005", "0006")
_SCRIPTS = Path(__file__).with_name("migrations")
_FOREIGN = "holds tables of another program; use a separate database for quem"
# Any number, the same in every process: who holds it in PostgreSQL migrates.
_LOCK = 7_319_044_512


def version_of(engine: Engine, place: DatabaseLocation) -> str:
    """Tell which version a database has: empty for one that quem has not used yet."""
    with engine.connect() as c:
        return _version(c, place)


def migrate(engine: Engine, place: DatabaseLocation) -> None:
    """Bring a database to the newest version, after saving a copy of its file.

    Nothing is done, and alembic not even loaded, where it has that version already. Of several
    processes one migrates, and the others wait.
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
    """Let SQLite drop a table that others refer to, since most changes rebuild it.

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
        raise AssertionError(f"a migration left rows of {lost[0]} that refer to nothing")


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


def _version(c: Connection, place: DatabaseLocation) -> str:
    tables = set(inspect(c).get_table_names())
    if "alembic_version" not in tables:
        if tables:
            raise _refusal(place, _FOREIGN)
        return ""
    version = c.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if version is not None and version not in _KNOWN:
        if not {"study", "ballot"} <= tables:
            raise _refusal(place, _FOREIGN)
        require_known(version, place.name)
    return str(version or "")


def require_known(version: str, name: str) -> None:
    """Refuse tables that a newer quem made."""
    if version not in _KNOWN:
        raise QuemError(
            [
                Mistake(
                    name,
                    message=(
                        f"was written by a newer quem (version {version} of its tables); "
                        "update quem"
                    ),
                )
            ]
        )


def _back_up(file: Path, version: str) -> None:
    """Copy the database, with what its write-ahead log holds, to a file beside it."""
    copy = file.with_name(f"{file.name}.before-{HEAD}-from-{version}")
    with sqlite3.connect(file) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()


def _refusal(place: DatabaseLocation, message: str) -> QuemError:
    return QuemError([Mistake(place.name, message=message)])


Row = dict[str, Any]
Rows = dict[str, list[Row]]


def _table(name: str, *columns: tuple[str, Any], may_lack: tuple[str, ...] = ()) -> Table:
    definitions = (Column(column, kind, nullable=column in may_lack) for column, kind in columns)
    return Table(name, MetaData(), *definitions)


# In the order in which they refer to each other.
TABLES = {
    table.name: table
    for table in (
        _table(
            "study",
            *(("id", String), ("state", String), ("desk_hash", String)),
            *(("made_at", Utc), ("revealed_at", Utc)),
            may_lack=("desk_hash", "revealed_at"),
        ),
        _table(
            "judge",
            *(("key", Integer), ("study_id", String), ("id", String), ("name", String)),
            *(("experience", Double), ("added", Boolean), ("session_hash", String)),
            *((f"{what}_at", Utc) for what in ("linked", "revoked", "seen", "consented")),
            ("forgotten_at", Utc),
            may_lack=(
                *("experience", "session_hash", "linked_at", "revoked_at", "seen_at"),
                *("consented_at", "forgotten_at"),
            ),
        ),
        _table("forgotten", ("study_id", String), ("id_hash", String)),
        _table(
            "ballot",
            *(("key", Integer), ("public_id", String), ("judge_key", Integer)),
            *(("problem", String), ("block", Integer), ("occasion", Integer)),
            *(("practice", Boolean), ("position", Integer), ("solvers", JSON), ("layout", JSON)),
            *(("head", Integer), ("submitted", Integer), ("seconds", Double), ("opened_at", Utc)),
            may_lack=("solvers", "layout", "submitted", "opened_at"),
        ),
        _table(
            "revision",
            *(("key", Integer), ("ballot_key", Integer), ("number", Integer), ("base", Integer)),
            *(("kind", String), ("state", JSON), ("client", String), ("change", Integer)),
            ("made_at", Utc),
        ),
        _table(
            "event",
            *(("key", Integer), ("study_id", String), ("judge_key", Integer), ("made_at", Utc)),
            *(("actor", String), ("what", String), ("detail", JSON)),
            may_lack=("judge_key",),
        ),
        _table(
            "shown",
            *(("study_id", String), ("problem", String), ("solver", String)),
            *(("digest", String), ("shown_at", Utc)),
        ),
    )
}


def converted(old: Rows) -> Rows:
    """Give the rows of one study their layouts, digests and links."""
    secret = secrets.token_hex(32)
    study = {key: v for key, v in old["study"][0].items() if key != "desk_hash"}
    for judge in old["judge"]:
        salt = new_salt()
        judge["id_digest"] = judge_digest(salt, judge["id"])
        judge["id_salt"] = None if judge["forgotten_at"] else salt
    known = {(row["problem"], row["solver"]): f"1:{row['digest']}" for row in old["shown"]}
    layouts = []
    for ballot in old["ballot"]:
        solvers = ballot.pop("layout") or []
        digests = [known.get((ballot["problem"], solver)) for solver in solvers]
        items = list(map(list, zip(labels(len(solvers)), solvers, digests, digests, strict=True)))
        identity = keyed(secret, "layout", ballot["public_id"], items) if solvers else None
        ballot |= {"layout": identity, "sealed": 0}
        if identity:
            at = ballot["opened_at"] or study["made_at"]
            row = {"ballot_key": ballot["key"], "id": identity, "items": items, "made_at": at}
            layouts.append(row)
    digests_of = {judge["key"]: judge["id_digest"] for judge in old["judge"]}
    _chain_revisions(old["revision"], old["ballot"], digests_of)
    about = {"actor": "server", "what": "chained", "detail": {"from": "0.1"}, "judge_key": None}
    events = [*old["event"], {**about, "made_at": now()}]
    link = ""
    for event in events:
        link = event["link"] = event_link(link, event, digests_of.get(event["judge_key"]))
    old_tables = {name: old[name] for name in ("judge", "forgotten", "ballot", "revision")}
    new = {"study": [study | {"secret": secret}], "organizer": [], "layout": layouts}
    return {**old_tables, **new, "event": events}


def _chain_revisions(
    revisions: Iterable[Row], ballots: Iterable[Row], digests: dict[int, str]
) -> None:
    of = {ballot["key"]: ballot for ballot in ballots}
    links: dict[int, str] = {}
    for row in revisions:
        ballot, salt = of[row["ballot_key"]], new_salt()
        row |= {"layout": ballot["layout"] or "", "words_salt": salt}
        row["words_digest"] = words_digest(salt, row["state"])
        before = links.get(ballot["key"], "")
        row["link"] = revision_link(before, row, ballot, digests[ballot["judge_key"]])
        links[ballot["key"]] = row["link"]
