"""Databases that are empty, older, newer, or somebody else's."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.command import upgrade
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text

from quem.errors import QuemError
from quem.store import migration
from quem.store import migration as older
from quem.store.ballots import add_seconds, ballots_of
from quem.store.engine import open_store, store_of
from quem.store.events import seal
from quem.store.exporting import submitted_rankings
from quem.store.judges import judge_named
from quem.store.location import locate_database
from quem.store.models import Base
from tests.patience import SECONDS
from tests.store.made import OLD_ARCHIVE, STUDY, ballot, contents, prepare, save, verified

if TYPE_CHECKING:
    from collections.abc import Callable

    from quem.store.engine import Store
    from quem.store.location import DatabaseLocation

SCRIPTS = Path(migration.__file__).with_name("migrations")
NEXT = '''"""A later version, for this test."""
import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = depends_on = None


def upgrade():
    with op.batch_alter_table("study") as table:
        table.add_column(sa.Column("note", sa.String))
    op.execute("UPDATE study SET note = 'brought to 0006'")
'''
# Without what tests import, which takes seconds.
OPEN = """
import sys
from pathlib import Path
from types import SimpleNamespace
from quem.store.engine import open_store
from quem.store.judges import sync_judges
from quem.store.location import locate_database
from quem.store.studies import register_study
store = open_store(locate_database(Path("study.yaml"), sys.argv[1]))
with store.write() as c:
    register_study(c, "made-up")
    people = [SimpleNamespace(id=name, name="", experience=None) for name in ("J1", "J2")]
    sync_judges(c, "made-up", people)
store.close()
"""

REACHES: tuple[Callable[[DatabaseLocation], object], ...] = (
    open_store,
    lambda place: store_of(place, STUDY),
)


def _sql(place: DatabaseLocation, *statements: str) -> list[Any]:
    """Run statements as another program would; gives the rows of the last one."""
    engine = create_engine(place.url)
    with engine.begin() as c:
        for statement in statements:
            result = c.execute(text(statement))
        rows = result.all() if result.returns_rows else []
    engine.dispose()
    return [tuple(row) for row in rows]


def test_a_new_database_is_what_the_models_say(store: Store) -> None:
    """Migrations and models agree, on each kind of database."""
    with store.read() as c:
        context = MigrationContext.configure(c, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert context.get_current_revision() == migration.HEAD


def test_all_migrations_together_make_what_the_models_say(place: DatabaseLocation) -> None:
    """A database that went through every version has the tables of a new one."""
    engine = create_engine(place.url)
    with engine.begin() as c:
        migration._upgrade(c)  # noqa: SLF001  new databases are made without it
        context = MigrationContext.configure(c, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert context.get_current_revision() == migration.HEAD
    engine.dispose()
    store = open_store(place)
    prepare(store)
    assert save(store, ballot(store)).revision == 1
    store.close()


def test_head_is_the_newest_script() -> None:
    """The version that is checked without alembic is alembic's newest, and each is known."""
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [migration.HEAD]
    assert {script.revision for script in scripts.walk_revisions()} == set(migration._KNOWN)  # noqa: SLF001


def test_opening_again_changes_nothing(place: DatabaseLocation, store: Store) -> None:
    """What was stored is there, for a store that is opened and one that is looked for."""
    save(store, ballot(store))
    content = contents(store)
    again, existing = open_store(place), store_of(place, STUDY)
    assert existing is not None
    assert contents(again) == contents(existing) == content
    again.close()
    existing.close()


def test_a_store_of_other_studies_is_none(place: DatabaseLocation, store: Store) -> None:
    """A study has a store only if the database holds its id."""
    assert store.place == place
    assert store_of(place, "another") is None


def test_looking_for_a_store_makes_none(place: DatabaseLocation) -> None:
    """Where there is no database, or an empty one, nothing is made."""
    assert store_of(place, STUDY) is None
    if place.file:
        assert not place.file.exists()
    else:
        tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        assert _sql(place, tables) == []


def test_a_newer_database_is_refused_by_name(place: DatabaseLocation, store: Store) -> None:
    """A version that this quem does not know is told with its place, and nothing is touched."""
    store.close()
    _sql(place, "UPDATE alembic_version SET version_num = '0999'")
    for reach in REACHES:
        with pytest.raises(QuemError, match=r"newer quem .*0999") as refused:
            reach(place)
        assert place.name in str(refused.value)
    assert _sql(place, "SELECT count(*) FROM judge") == [(2,)]


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE customers (id INTEGER)"],
        ["CREATE TABLE study (id INTEGER)"],
        [
            "CREATE TABLE alembic_version (version_num VARCHAR(32))",
            "INSERT INTO alembic_version VALUES ('ae1027a6acf')",
        ],
    ],
    ids=["tables", "same-name", "alembic"],
)
def test_a_database_of_another_program_is_refused(
    place: DatabaseLocation, statements: list[str]
) -> None:
    """Tables of others are neither used nor joined by ours."""
    _sql(place, *statements)
    for reach in REACHES:
        with pytest.raises(QuemError, match="another program"):
            reach(place)
    if place.file:
        assert len(_sql(place, "SELECT name FROM sqlite_master WHERE type = 'table'")) == 1


@pytest.mark.parametrize(
    "content", [b"no database at all " * 99, b"\x00" * 4096, b"id,name\n1,2\n"]
)
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    """Another file is told from a database, and stays as it is."""
    file = tmp_path / "notes.sqlite3"
    file.write_bytes(content)
    for reach in REACHES:
        with pytest.raises(QuemError, match=r"notes\.sqlite3.*(no SQLite|cannot be used)"):
            reach(locate_database(tmp_path / "study.yaml", str(file)))
    assert file.read_bytes() == content


def test_processes_that_open_an_empty_database_at_once(place: DatabaseLocation) -> None:
    """Of several that start at the same time, one makes the tables, and all go on."""
    address = str(place.file or place.url)
    command = [sys.executable, "-c", OPEN, address]
    started = [
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=SCRIPTS.parents[2])
        for _ in range(4)
    ]
    errors = [process.communicate(timeout=SECONDS)[1] for process in started]
    assert errors == [""] * 4
    assert [process.returncode for process in started] == [0] * 4
    assert _sql(place, "SELECT id FROM judge ORDER BY id") == [("J1",), ("J2",)]
    assert _sql(place, "SELECT count(*) FROM alembic_version") == [(1,)]


@pytest.fixture
def newer_quem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make this quem one with another version of the tables."""

    def become(script: str) -> None:
        scripts = tmp_path / "later%20quem" / "migrations"
        shutil.copytree(SCRIPTS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
        (scripts / "versions" / "v0006_test.py").write_text(script)
        monkeypatch.setattr(migration, "_SCRIPTS", scripts)
        monkeypatch.setattr(migration, "HEAD", "0007")
        monkeypatch.setattr(
            migration, "_KNOWN", ("0001", "0002", "0003", "0004", "0005", "0006", "0007")
        )

    return become


def test_an_older_database_is_brought_to_the_newest_version(
    place: DatabaseLocation, store: Store, newer_quem: Callable[[str], None]
) -> None:
    """All data survive, and a copy of an SQLite file is saved before."""
    save(store, ballot(store), kind="submit")
    content = contents(store)
    newer_quem(NEXT)
    # The old one is still open: what is in its write-ahead log belongs to the copy.
    opened = store_of(place, STUDY)
    assert opened is not None
    assert contents(opened) == content
    opened.close()
    assert _sql(place, "SELECT id, note FROM study") == [(STUDY, "brought to 0006")]
    assert _sql(place, "SELECT version_num FROM alembic_version") == [("0007",)]
    if place.file:
        copy = place.file.with_name(f"{place.file.name}.before-0007-from-0006")
        with sqlite3.connect(copy) as c:
            assert c.execute("SELECT version_num FROM alembic_version").fetchall() == [("0006",)]
            kinds = c.execute("SELECT kind FROM revision").fetchall()
        c.close()
        assert kinds == [("submit",)]


def test_a_migration_that_fails_leaves_the_database_as_it_was(
    place: DatabaseLocation, store: Store, newer_quem: Callable[[str], None]
) -> None:
    """Half of a migration is none: the version and the tables are those of before."""
    save(store, ballot(store))
    store.close()
    newer_quem(f"{NEXT}    op.drop_table('nothing')\n")
    with pytest.raises(QuemError, match="cannot be used"):
        open_store(place)
    assert _sql(place, "SELECT version_num FROM alembic_version") == [("0006",)]
    assert _sql(place, "SELECT count(*) FROM revision") == [(1,)]
    assert "note" not in str(_sql(place, "SELECT * FROM study"))


def test_no_migration_without_a_copy(tmp_path: Path, newer_quem: Callable[[str], None]) -> None:
    """Where the copy cannot be written, the database is left at its version."""
    place = locate_database(tmp_path / "study.yaml", str(tmp_path / "store.sqlite3"))
    store = open_store(place)
    prepare(store)
    store.close()
    newer_quem(NEXT)
    (tmp_path / "store.sqlite3.before-0007-from-0006").mkdir()
    with pytest.raises(QuemError, match="cannot be used"):
        open_store(place)
    assert _sql(place, "SELECT version_num FROM alembic_version") == [("0006",)]


def _made_by_older(place: DatabaseLocation, version: str) -> None:
    """Make a database as an older quem did, and fill it with SQL."""
    lines = OLD_ARCHIVE.read_text(encoding="utf-8").splitlines()[1:]
    engine = create_engine(place.url)
    with engine.begin() as c:
        config = Config()
        config.set_main_option("script_location", str(SCRIPTS))
        config.attributes["connection"] = c
        upgrade(config, version)
        for row in map(json.loads, lines):
            table = older.TABLES[row.pop("table")]
            if "study_id" in table.c:
                row["study_id"] = "older"
            if version == "0001":
                row.pop("solvers", None)
            for name in row:
                if name.endswith("_at") and row[name]:
                    row[name] = dt.datetime.fromisoformat(row[name])
            c.execute(table.insert().values(row))
    engine.dispose()


# Of version 0006, those that refer to others first.
_NEWER = ("mail", "solving", "stretch", "upload", "draft", "task", "reply", "subject")


def test_a_session_without_times_in_view_goes_on(place: DatabaseLocation, store: Store) -> None:
    """Of rankings that were made before they were measured, nothing changes, and they begin."""
    save(store, ballot(store))
    content = contents(store)
    store.close()
    _sql(
        place,
        "ALTER TABLE ballot DROP COLUMN views",
        "ALTER TABLE judge DROP COLUMN closing",
        *(f"DROP TABLE {table}" for table in _NEWER),
        "UPDATE alembic_version SET version_num = '0003'",
    )
    opened = store_of(place, STUDY)
    assert opened is not None
    assert contents(opened) == content
    with opened.read() as c:
        context = MigrationContext.configure(c, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
    mine = ballot(opened)
    assert mine.views == {}
    with opened.write() as c:
        add_seconds(c, mine, 0.001, {"S1": 0.001})
    assert set(ballot(opened).views) == {"S1"}
    opened.close()


@pytest.mark.parametrize("version", ["0001", "0002"])
def test_a_session_of_version_0_1_goes_on(place: DatabaseLocation, version: str) -> None:
    """Its rankings get layouts, links and digests that verify, and judges rank on."""
    _made_by_older(place, version)
    opened = store_of(place, "older")
    assert opened is not None
    with opened.read() as c:
        context = MigrationContext.configure(c, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        ballots = {b.problem: b for b in ballots_of(c, judge_named(c, "older", "J3").key)}
        rankings = submitted_rankings(c, "older")
    assert [r.judge for r in rankings] == ["J1", "J1", "forgotten-1", "J3"]
    result = verified(opened, "older")
    assert (result.breaks, result.revisions, len(result.heads)) == ((), 11, 6)
    assert ballots["P1"].layout is not None
    items = [(item.letter, item.solver, item.digest) for item in ballots["P1"].layout.items]
    assert items[0] == (
        "A",
        "S1",
        "1:54c7b5bad5d9c3b88397a6c4475e67b40ef646dce6e84e956a8fa2e38769334a",
    )
    with opened.write() as c:
        seal(c, "older", "start")
    assert save(opened, ballots["P1"], base=2, kind="reopen").revision == 3
    result = verified(opened, "older")
    assert (result.breaks, result.unsealed) == ((), 1)
    opened.close()
