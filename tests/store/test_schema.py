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
    from collections.abc import Callable

    from quem.store.database import Store
    from quem.store.location import DatabaseLocation

ROOT = Path(__file__).parents[2]
# Without what tests import, which takes seconds.
OPEN = """
import sys
from pathlib import Path
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
store.close()
assert "alembic" not in sys.modules
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
    _sql(place, "UPDATE alembic_version SET version_num = '9999'")
    for reach in REACHES:
        with pytest.raises(QuemError, match=r"newer quem .*999") as refused:
            reach(place)
        assert place.name in str(refused.value)
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


def test_a_new_database_is_what_the_models_say(store: Store) -> None:
    """It is made without migrations, which would take time and memory."""
    with store.engine.connect() as c:
        assert lacking(c) == ""


@pytest.mark.parametrize("stamp", ["alembic_version", "quem_version"])
def test_an_older_database_is_refused_with_the_way_out(place: DatabaseLocation, stamp: str) -> None:
    """The command that carries its rankings over is named."""
    _sql(place, *(f"CREATE TABLE {name} (id INTEGER)" for name in (stamp, "study", "revision")))
    for reach in REACHES:
        with pytest.raises(QuemError, match=r"older quem.*export STUDY --format csv"):
            reach(place)


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE customers (id INTEGER)"],
        ["CREATE TABLE study (id INTEGER)"],
        ["CREATE TABLE alembic_version (version_num VARCHAR(32))"],
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
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(4)
    ]
    errors = [process.communicate(timeout=SECONDS)[1] for process in started]
    assert errors == [""] * 4
    assert [process.returncode for process in started] == [0] * 4
    assert _sql(place, "SELECT id FROM person ORDER BY id") == [("J1",), ("J2",)]
    assert _sql(place, "SELECT version_num FROM alembic_version") == [(VERSIONS[-1],)]


@pytest.mark.parametrize("umask", ["000", "022", "277"])
def test_nobody_else_reads_database_and_log(tmp_path: Path, umask: str) -> None:
    """Both are 0600 while a server of any umask has them open."""
    look = "print(*[oct(p.stat().st_mode) for p in Path().glob('study.db*')])\nstore.close()"
    program = f"import os; os.umask(0o{umask})" + OPEN.replace("store.close()", look)
    command = [sys.executable, "-c", program, "sqlite:///study.db"]
    ended = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=SECONDS
    )
    assert ended.stdout.split() == ["0o100600"] * 3
