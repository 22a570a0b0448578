"""Disks that are full or read-only, databases that are locked or gone."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine, text

from quem.errors import QuemError
from quem.store import work
from quem.store.database import BusyError, LostError, clear_refusals, open_store, store_of
from quem.store.location import locate_database
from tests.patience import SECONDS
from tests.store.made import STUDY, ballot, judge, prepare, revisions, save

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from quem.store.database import Store
    from quem.store.location import DatabaseLocation

NOBODY = 65534


@pytest.fixture
def place(tmp_path: Path) -> DatabaseLocation:
    """Where an SQLite file is: these are its troubles."""
    return locate_database(tmp_path / "study.yaml")


@pytest.fixture
def file(store: Store) -> Path:
    assert store.place.file is not None
    return store.place.file


@contextmanager
def ordinary_user(folder: Path) -> Iterator[None]:
    if os.geteuid() != 0:
        yield
        return
    for path in (folder, *folder.iterdir()):
        os.chown(path, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def reachable() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="quem-test-"))
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_a_place_that_cannot_hold_a_database_is_told(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    place = locate_database(study, str(tmp_path / "gone" / "store.sqlite3"))
    with pytest.raises(QuemError, match=r"gone/store\.sqlite3.*folder does not exist"):
        open_store(place)
    assert store_of(place, STUDY) is None
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "store.sqlite3").mkdir()
    with pytest.raises(QuemError, match=r"store\.sqlite3.*cannot be used"):
        open_store(locate_database(study, str(tmp_path / "store.sqlite3")))


@pytest.mark.parametrize("is_made", [False, True])
def test_what_is_read_only_is_told(reachable: Path, *, is_made: bool) -> None:
    place = locate_database(reachable / "study.yaml")
    if is_made:
        store = open_store(place)
        prepare(store)
        store.close()
        assert place.file is not None
        place.file.chmod(0o444)
    reachable.chmod(0o555)
    with ordinary_user(reachable), pytest.raises(QuemError, match="cannot be used"):  # noqa: PT012
        opened = open_store(place)
        with clear_refusals(place):
            prepare(opened)
            save(opened, ballot(opened))


def test_a_writer_waits_for_another_of_its_process_only_so_long(store: Store) -> None:
    begun, over, mine = threading.Event(), threading.Event(), ballot(store)

    def write() -> None:
        with store.write():
            begun.set()
            over.wait(SECONDS)

    first = threading.Thread(target=write)
    first.start()
    begun.wait(SECONDS)
    for patience in (0, 0.01):
        with pytest.raises(BusyError), store.write(patience=patience):
            pass
    assert judge(store).id == "J1"
    second = threading.Thread(target=save, args=(store, mine))
    second.start()
    over.set()
    first.join()
    second.join()
    assert len(revisions(store, ballot(store))) == 1


def _renamed(file: Path) -> Callable[[], object]:
    moved = file.rename(file.with_name("elsewhere"))
    return lambda: moved.rename(file)


def _replaced(file: Path) -> Callable[[], object]:
    back = _renamed(file)
    shutil.copy(file.with_name("elsewhere"), file)
    return back


def _log_deleted(file: Path) -> Callable[[], object]:
    return _renamed(file.with_name(f"{file.name}-wal"))


@pytest.mark.parametrize("take_away", [_renamed, _replaced, _log_deleted])
def test_a_file_that_is_not_in_its_place_is_not_saved_to(
    store: Store, file: Path, take_away: Callable[[Path], Callable[[], object]]
) -> None:
    """No save to a replaced file is acknowledged; reading continues."""
    mine = ballot(store)
    save(store, mine)
    put_back = take_away(file)
    assert str(file) in store.lost
    with pytest.raises(LostError):
        save(store, mine, base=1)
    with pytest.raises(QuemError, match=re.escape(store.lost)), clear_refusals(store.place):
        save(store, mine, base=1)
    assert judge(store).id == "J1"
    put_back()
    assert store.lost == ""
    assert save(store, mine, base=1).number == 2
    # Also one that is taken away in the middle of a transaction.
    with pytest.raises(LostError), store.write() as c:  # noqa: PT012  at the end of the block
        put_back = take_away(file)
        work.add_seconds(c, mine, 1.0)
    put_back()
    assert [row["number"] for row in revisions(store, mine)] == [1, 2]


def test_a_file_that_is_gone_is_not_made_anew(store: Store, file: Path) -> None:
    file.unlink()
    with store.read(), pytest.raises(LostError), store.read(), store.read():
        pass
    assert not file.exists()


def test_a_new_file_that_another_process_begins_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "new.sqlite3"
    first = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    first.execute("BEGIN IMMEDIATE")
    later = threading.Timer(0.3, first.execute, ["ROLLBACK"])
    later.start()
    open_store(locate_database(tmp_path / "study.yaml", str(file))).close()
    later.join()
    first.close()


def test_every_session_waits_for_the_disk(
    store: Store, tmp_path: Path, new_postgres: Callable[[], str]
) -> None:
    """Where a server was told not to wait, our sessions do; nor do they wait for locks for ever."""
    with store.engine.connect() as c:
        pragmas = ("synchronous", "fullfsync", "checkpoint_fullfsync")
        assert [c.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas] == [2, 1, 1]
    for default, value in (("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")):
        place = locate_database(tmp_path / "study.yaml", new_postgres())
        engine = create_engine(place.url, isolation_level="AUTOCOMMIT")
        with engine.connect() as c:
            name = c.exec_driver_sql("SELECT current_database()").scalar()
            c.exec_driver_sql(f'ALTER DATABASE "{name}" SET synchronous_commit = {default}')
        engine.dispose()
        server = open_store(place)
        for session, timeout in (
            (server.read(), "5s"),
            (server.write(), "5s"),
            (server.write(patience=0), "1ms"),
        ):
            with session as c:
                assert c.execute(text("SHOW synchronous_commit")).scalar() == value
                assert c.execute(text("SHOW lock_timeout")).scalar() == timeout
        server.close()


def test_names_of_files_may_hold_any_sign(tmp_path: Path) -> None:
    folder = tmp_path / "why? 100% #1 ü"
    folder.mkdir()
    open_store(locate_database(folder / "study.yaml")).close()
    assert (folder / "study.sqlite3").is_file()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://quem:secret-word@127.0.0.1:1/quem",
        "nosuch://host/name",
        "mysql://host:port/name",
        "sqlite3://x",
    ],
)
def test_a_url_that_leads_nowhere_is_told(tmp_path: Path, url: str) -> None:
    for reach in (open_store, lambda place: store_of(place, STUDY)):
        with pytest.raises(QuemError) as refused:
            reach(locate_database(tmp_path / "study.yaml", url))
        assert "secret-word" not in str(refused.value)
        assert "\n" not in str(refused.value)
