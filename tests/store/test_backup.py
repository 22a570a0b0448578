"""Copies of a store, and bringing them back, without a server."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from quem.errors import QuemError
from quem.store import studies
from quem.store.backup import back_up, backup_state, restore_copy, stem_of, uploads_beside
from quem.store.database import open_store
from quem.store.location import locate_database
from quem.store.outbox import UNKNOWN, letters_of, queue_letter
from quem.store.uploads import UploadFolder
from tests.store.made import STUDY, ballot, judge, prepare, read, save, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from quem.store.database import Store
    from quem.store.location import DatabaseLocation

OLD = f"{STUDY}-20000101T000000.000Z.sqlite3"
BROKEN = b"SQLite format 3\0 no longer"


@pytest.fixture
def place(tmp_path: Path) -> DatabaseLocation:
    return locate_database(tmp_path / "study.yaml", str(tmp_path / "store.sqlite3"))


@pytest.fixture
def saved(store: Store) -> Store:
    for problem in ("P1", "P2"):
        save(store, ballot(store, "J1", problem))
        save(store, ballot(store, "J1", problem), base=1, kind="submit")
    return store


@pytest.fixture
def copy(saved: Store, tmp_path: Path) -> Path:
    path = back_up(saved, STUDY, tmp_path / "copies", actor="shell", keep=3).path
    saved.close()
    return path


def rankings(place: DatabaseLocation) -> list[tuple[object, ...]]:
    """All rows that no backup adds, as the database holds them now."""
    store = open_store(place)
    with store.read() as c:
        rows = [
            tuple(row)
            for table in ("person", "layout", "revision")
            for row in c.execute(text(f"SELECT * FROM {table} ORDER BY key"))  # noqa: S608
        ]
    store.close()
    return rows


def test_a_copy_brings_everything_back(
    saved: Store, place: DatabaseLocation, tmp_path: Path
) -> None:
    """A copy has mode 0600, is logged, and restores what was there; the newer state is kept."""
    folder = tmp_path / "copies"
    write(saved, queue_letter, STUDY, judge(saved).key, "invitation")
    copy = back_up(saved, STUDY, folder, actor="shell", keep=48, every=300.0)
    assert re.fullmatch(r"made-up-\d{8}T\d{6}\.\d{3}Z\.sqlite3", copy.path.name)
    assert stat.S_IMODE(copy.path.stat().st_mode) == 0o600
    assert [*folder.iterdir()] == [copy.path]
    state = read(saved, backup_state, STUDY)
    assert (state.rows, state.size) == (copy.holdings.row_count, copy.path.stat().st_size)
    assert (state.every, state.failure, state.is_late) == (300.0, "", False)
    before = rankings(place)
    save(saved, ballot(saved, "J2", "P1"))
    newer = rankings(place)
    with pytest.raises(QuemError, match="holds the study 'made-up' already"):
        restore_copy(place, STUDY, copy.path)
    with pytest.raises(QuemError, match=r"in use.*stop the server"):
        restore_copy(place, STUDY, copy.path, replace=True)
    assert rankings(place) == newer
    saved.close()
    restored = restore_copy(place, STUDY, copy.path, replace=True)
    assert rankings(place) == before
    assert restored.holdings.rows["revision"] == copy.holdings.rows["revision"] == 4
    # Letters may have been sent since.
    store = open_store(place)
    (letter,) = read(store, letters_of, STUDY, "judge")
    assert (letter.state, letter.error) == ("failed", UNKNOWN)
    store.close()
    # What was replaced can be brought back as well.
    assert restored.kept is not None
    restore_copy(place, STUDY, restored.kept, replace=True)
    assert rankings(place) == newer


@pytest.mark.parametrize("links", [True, False])
def test_nobody_else_reads_what_lies_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool
) -> None:
    """Uploads, copies, and what was restored and kept are 0600, whatever the umask."""
    if not links:
        refused = OSError("no links here")
        monkeypatch.setattr("os.link", lambda *_, **__: (_ for _ in ()).throw(refused))
    former = os.umask(0)
    try:
        place = locate_database(tmp_path / "study.yaml")
        store, uploads = open_store(place), UploadFolder(tmp_path / "study.yaml")
        prepare(store)
        received, digest, _ = uploads.receive([b"a plan"], 100, 1, 100)
        uploads.keep(received, digest, ".md")
        about: dict[str, Any] = {"actor": "shell", "keep": 3, "uploads": uploads}
        copy = back_up(store, STUDY, tmp_path / "copies", **about).path
        store.close()
        restore_copy(place, STUDY, copy, replace=True)
        shutil.rmtree(uploads.folder)
        uploads.take_back(uploads_beside(copy, STUDY))
    finally:
        os.umask(former)
    assert uploads.path(digest, ".md").read_bytes() == b"a plan"
    modes = {path: path.stat().st_mode for path in tmp_path.rglob("*")}
    assert len([path for path in modes if path.is_file()]) == 5
    assert [path for path, mode in modes.items() if mode & 0o077] == []


def test_only_the_oldest_copies_of_this_study_are_removed(saved: Store, tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    later = OLD.replace("2000", "2999")  # made when the clock was wrong
    linked, killed = OLD.replace("T000000", "T000001"), f"{OLD}.partial-wal"
    stay = {f"x-{OLD}", OLD.replace("-", "-x-", 2), f"{OLD}.gz", "notes.txt", linked}
    for name in (later, OLD, killed, *stay - {linked}):
        (folder / name).write_text("")
    os.utime(folder / killed, (0, 0))
    (folder / linked).symlink_to(folder / "notes.txt")
    copies = [back_up(saved, STUDY, folder, actor="shell", keep=2).path.name for _ in range(3)]
    # The file from the future is the newest by name, and counts as one of the two.
    assert {path.name for path in folder.iterdir()} == {later, copies[-1], *stay}
    newest = back_up(saved, STUDY, folder, actor="shell", keep=1).path.name
    assert {path.name for path in folder.iterdir()} == {newest, *stay}


def test_each_study_has_file_names_of_its_own() -> None:
    ids = ["a b", "a-b", "a/b", "../b", "..-b", "é", "ü", "x" * 100, "ä" * 100, "ö" * 100]
    stems = {stem_of(study) for study in ids}
    assert len(stems) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,110}", stem) for stem in stems)


def _spoil(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\xff" * 4096)


def _sql(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as c, c:
        c.execute(statement)


def _foreign(path: Path) -> None:
    path.unlink()
    _sql(path, "CREATE TABLE wines (name)")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: os.truncate(path, path.stat().st_size * 2 // 3), "damaged|cannot be copied"),
        (_spoil, "damaged|cannot be copied"),
        (lambda path: path.write_bytes(b""), "holds no study"),
        (lambda path: path.unlink(), "cannot be copied: unable to open"),
        (lambda path: path.write_text("judge,problem\n"), "cannot be copied: file is not a data"),
        (
            lambda path: _sql(path, "UPDATE alembic_version SET version_num = '9999'"),
            "written by a newer quem",
        ),
        (_foreign, "tables of another program"),
    ],
)
def test_a_copy_that_is_not_whole_changes_nothing(
    copy: Path, place: DatabaseLocation, change: Callable[[Path], None], message: str
) -> None:
    before = rankings(place)
    change(copy)
    with pytest.raises(QuemError, match=message) as refused:
        restore_copy(place, STUDY, copy, replace=True)
    assert str(copy) in str(refused.value)
    assert rankings(place) == before
    assert place.file
    files = {path.name for path in place.file.parent.glob("store.sqlite3*")}
    assert files <= {"store.sqlite3", "store.sqlite3-wal", "store.sqlite3-shm"}


def test_what_lies_beside_a_lost_or_broken_database_is_kept(
    copy: Path, place: DatabaseLocation, tmp_path: Path
) -> None:
    """A log that is left over, or a broken file, is set aside and never read into the copy."""
    file = place.file
    assert file
    before = rankings(place)
    store = open_store(place)
    save(store, ballot(store, "J2", "P1"))
    log = file.with_name(file.name + "-wal")
    shutil.copyfile(log, tmp_path / "log")
    store.close()
    file.unlink()
    shutil.copyfile(tmp_path / "log", log)
    assert restore_copy(place, STUDY, copy).kept is None
    assert rankings(place) == before
    file.write_bytes(BROKEN)
    with pytest.raises(QuemError, match="cannot be read; give --replace"):
        restore_copy(place, STUDY, copy)
    restored = restore_copy(place, STUDY, copy, replace=True)
    assert restored.kept is not None
    assert restored.kept.read_bytes() == BROKEN
    assert rankings(place) == before
    assert len(list(tmp_path.glob("store.sqlite3.before-restore-*-wal"))) == 1


def test_studies_that_share_a_database_are_not_lost(
    copy: Path, place: DatabaseLocation, tmp_path: Path
) -> None:
    store = open_store(place)
    write(store, studies.register_study, "second")
    store.close()
    with pytest.raises(QuemError, match="holds the studies 'made-up', 'second' already"):
        restore_copy(place, STUDY, copy)
    with pytest.raises(QuemError, match="is a copy of the study 'made-up', and this is 'second'"):
        restore_copy(place, "second", copy, replace=True)
    elsewhere = locate_database(tmp_path / "x.yaml", str(tmp_path / "other.sqlite3"))
    restore_copy(elsewhere, STUDY, copy)
    assert (tmp_path / "other.sqlite3").is_file()
