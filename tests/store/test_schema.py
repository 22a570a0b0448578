"""Databases that are empty, older, newer, or somebody else's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import create_engine, text

from quem.errors import QuemError
from quem.store.database import VERSIONS, open_store, store_of, upgrade
from quem.store.location import locate_database
from tests.patience import SECONDS
from tests.store.made import STUDY, ballot, contents, prepare, save
from tests.store.migration import lacking

if TYPE_CHECKING:
    from quem.store.database import Store
    from quem.store.location import DatabaseLocation

ROOT = Path(__file__).parents[2]
# Without what tests import, which takes seconds.
OPEN = """
import os, sys
from pathlib import Path
os.umask(int(sys.argv[2], 8))
from types import SimpleNamespace
from quem.store.database import open_store
from quem.store.people import sync_people
from quem.store.location import locate_database
from quem.store.studies import register_study
store = open_store(locate_database(Path("study.yaml"), sys.argv[1]))
with store.write() as c:
    register_study(c, "made-up")
    people = [SimpleNamespace(id=name, name="") for name in ("J1", "J2")]
    sync_people(c, "made-up", "judge", people)
print(*[oct(path.stat().st_mode) for path in Path().glob("study.db*")])
store.close()
assert "alembic" not in sys.modules
"""
COLUMN = "(version_num VARCHAR(32))"
OLDER = r"older quem.*export STUDY --format csv"
ANOTHER = "another program"


def _sql(place: DatabaseLocation, *statements: str) -> list[Any]:
    engine = create_engine(place.url)
    with engine.begin() as c:
        for statement in statements:
            result = c.execute(text(statement))
        rows = result.all() if result.returns_rows else []
    engine.dispose()
    return [tuple(row) for row in rows]


def _refused(place: DatabaseLocation, message: str) -> None:
    """Neither opening nor looking for a store goes on, and its place is told."""
    for reach in (open_store, lambda place: store_of(place, STUDY)):
        with pytest.raises(QuemError, match=message) as refused:
            reach(place)
        assert place.name in str(refused.value)


def test_opening_again_changes_nothing(place: DatabaseLocation, store: Store) -> None:
    """What was stored is there; a study has a store only if the database holds its id."""
    assert store_of(locate_database(Path("none.yaml"), "none.sqlite3"), STUDY) is None
    assert not Path("none.sqlite3").exists()
    save(store, ballot(store))
    content = contents(store)
    again, existing = open_store(place), store_of(place, STUDY)
    assert existing is not None
    assert contents(again) == contents(existing) == content
    assert store_of(place, "another") is None
    # It was made without migrations, which would take time and memory.
    with store.engine.connect() as c:
        assert lacking(c) == ""
    again.close()
    existing.close()


def test_a_newer_database_is_refused(place: DatabaseLocation, store: Store) -> None:
    store.close()
    _sql(place, "UPDATE alembic_version SET version_num = '9999'")
    _refused(place, r"newer quem .*999")
    assert _sql(place, "SELECT count(*) FROM person WHERE role = 'judge'") == [(2,)]


def test_migrations_and_models_agree(place: DatabaseLocation) -> None:
    """All migrations together make the tables that a new database gets, and a store opens them."""
    engine = create_engine(place.url)
    with engine.begin() as c:
        upgrade(c)
        assert lacking(c) == ""
    engine.dispose()
    store = open_store(place)
    prepare(store)
    assert save(store, ballot(store)).number == 1
    store.close()
    assert _sql(place, "SELECT version_num FROM alembic_version") == [(VERSIONS[-1],)]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (["alembic_version (id INTEGER)", "study (id INTEGER)", "revision (id INTEGER)"], OLDER),
        (["quem_version (id INTEGER)", "study (id INTEGER)", "revision (id INTEGER)"], OLDER),
        (["customers (id INTEGER)"], ANOTHER),
        (["study (id INTEGER)"], ANOTHER),
        ([f"alembic_version {COLUMN}"], ANOTHER),
    ],
)
def test_other_databases_are_refused(
    place: DatabaseLocation, tables: list[str], message: str
) -> None:
    """Tables of others are neither used nor joined by ours; of older ones the way out is told."""
    _sql(place, *(f"CREATE TABLE {table}" for table in tables))
    _refused(place, message)
    if place.file:
        held = _sql(place, "SELECT name FROM sqlite_master WHERE type = 'table'")
        assert len(held) == len(tables)


@pytest.mark.parametrize(
    "content", [b"no database at all " * 99, b"\x00" * 4096, b"id,name\n1,2\n"]
)
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "notes.sqlite3"
    file.write_bytes(content)
    place = locate_database(tmp_path / "study.yaml", str(file))
    _refused(place, r"notes\.sqlite3.*(not an SQLite|cannot be used)")
    assert file.read_bytes() == content


def test_processes_that_open_an_empty_database_at_once(place: DatabaseLocation) -> None:
    command = [sys.executable, "-c", OPEN, str(place.file or place.url), "022"]
    started = [
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(3)
    ]
    errors = [process.communicate(timeout=SECONDS)[1] for process in started]
    assert errors == [""] * 3
    assert [process.returncode for process in started] == [0] * 3
    assert _sql(place, "SELECT id FROM person ORDER BY id") == [("J1",), ("J2",)]
    assert _sql(place, "SELECT version_num FROM alembic_version") == [(VERSIONS[-1],)]


@pytest.mark.parametrize("umask", ["000", "277"])
def test_nobody_else_reads_database_and_log(tmp_path: Path, umask: str) -> None:
    """Both are 0600 while a server of any umask has them open."""
    command = [sys.executable, "-c", OPEN, "sqlite:///study.db", umask]
    modes = subprocess.check_output(command, cwd=tmp_path, text=True, timeout=SECONDS)
    assert modes.split() == ["0o100600"] * 3
