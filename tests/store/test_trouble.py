"""Disks that are full or read-only, databases that are locked or gone."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.exc import OperationalError

from quem.errors import QuemError
from quem.store import work
from quem.store.database import BusyError, LostError, clear_refusals, open_store, store_of
from quem.store.location import locate_database
from quem.store.state import State
from quem.store.work import Saved, current_state
from tests.patience import SECONDS
from tests.store.made import BEST_FIRST, STUDY, ballot, judge, prepare, revisions, save

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from quem.store.database import Store
    from quem.store.location import DatabaseLocation

NOBODY = 65534
LOCK = """
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
c.execute("ROLLBACK")
"""


@pytest.fixture
def place(tmp_path: Path) -> DatabaseLocation:
    """Where an SQLite file is: these are its troubles."""
    return locate_database(tmp_path / "study.yaml")


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Let another process hold the database."""
    holder = subprocess.Popen(
        [sys.executable, "-c", LOCK, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        yield
    finally:
        holder.communicate(timeout=SECONDS)
    assert holder.returncode == 0


@contextmanager
def ordinary_user(folder: Path) -> Iterator[None]:
    """Work as somebody whom permissions bind, as they do not bind root."""
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
    """A folder that every user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="quem-test-"))
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_a_folder_that_is_missing_is_told(tmp_path: Path) -> None:
    """No folder is made for a database; a store that is looked for is simply not there."""
    place = locate_database(tmp_path / "study.yaml", str(tmp_path / "gone" / "store.sqlite3"))
    with pytest.raises(QuemError, match=r"gone/store\.sqlite3.*folder does not exist"):
        open_store(place)
    assert store_of(place, STUDY) is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_place_of_the_file_is_told(tmp_path: Path) -> None:
    """A folder is no database."""
    (tmp_path / "store.sqlite3").mkdir()
    with pytest.raises(QuemError, match=r"store\.sqlite3.*cannot be used"):
        open_store(locate_database(tmp_path / "study.yaml", str(tmp_path / "store.sqlite3")))


def test_a_read_only_folder_is_told(reachable: Path) -> None:
    """Where nothing may be written, opening a store ends with a sentence."""
    reachable.chmod(0o555)
    place = locate_database(reachable / "study.yaml")
    with ordinary_user(reachable), pytest.raises(QuemError, match="cannot be used"):
        open_store(place)


def test_a_read_only_database_is_told(reachable: Path) -> None:
    """A database that may not be written to refuses a save with a sentence."""
    place = locate_database(reachable / "study.yaml")
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


def test_a_locked_database_does_not_hang(store: Store) -> None:
    """While another program holds it, a save fails after seconds, and reading goes on."""
    mine = ballot(store)
    save(store, mine)
    assert store.place.file is not None
    with locked(store.place.file):
        with pytest.raises(OperationalError, match="locked"):
            save(store, mine, base=1)
        assert judge(store).id == "J1"
        with store.read() as c:
            assert current_state(c, mine) is not None
    assert save(store, mine, base=1).number == 2


def test_a_writer_waits_for_another_of_its_process_only_so_long(store: Store) -> None:
    """Whoever is patient writes after it; who is not is told that the database is busy."""
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
    store: Store, take_away: Callable[[Path], Callable[[], object]]
) -> None:
    """Nothing is acknowledged that went to a file which nobody will find; reading goes on."""
    file, mine = store.place.file, ballot(store)
    assert file is not None
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


def test_a_file_that_is_gone_is_not_made_anew(store: Store) -> None:
    """A further connection to a file that was deleted makes no empty one in its place."""
    file = store.place.file
    assert file is not None
    file.unlink()
    with store.read(), pytest.raises(LostError), store.read(), store.read():
        pass
    assert not file.exists()


def test_a_locked_database_is_told_in_clear_words(store: Store, place: DatabaseLocation) -> None:
    """A command that meets a locked database says so, with its name."""
    assert place.file is not None
    store.close()
    message = "study.sqlite3: cannot be used: database is locked"
    with locked(place.file), pytest.raises(QuemError, match=message), clear_refusals(place):  # noqa: PT012
        prepare(open_store(place))
        save(store, ballot(store))


def test_a_new_file_that_another_process_begins_is_waited_for(tmp_path: Path) -> None:
    """Whoever comes while somebody else writes the first bytes of a file waits for them."""
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
        url = new_postgres()
        place = locate_database(tmp_path / "study.yaml", url)
        engine = create_engine(place.url, isolation_level="AUTOCOMMIT")
        with engine.connect() as c:
            name = c.exec_driver_sql("SELECT current_database()").scalar()
            c.exec_driver_sql(f'ALTER DATABASE "{name}" SET synchronous_commit = {default}')
        engine.dispose()
        server = open_store(place)
        for session in (server.read, server.write):
            with session() as c:
                assert c.execute(text("SHOW synchronous_commit")).scalar() == value
                assert c.execute(text("SHOW lock_timeout")).scalar() == "5s"
        with server.write(patience=0) as c:
            assert c.execute(text("SHOW lock_timeout")).scalar() == "1ms"
        server.close()


def test_a_full_disk_leaves_what_was_saved(store: Store) -> None:
    """When nothing more can be written, saves are refused and the last one can be read."""
    mine = ballot(store)
    save(store, mine)

    def fill(connection: sqlite3.Connection, *_: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    store.engine.dispose()
    event.listen(store.engine, "connect", fill)
    long = State(ranked=BEST_FIRST.ranked, comment="x" * 4000)
    base = 1
    with pytest.raises(OperationalError, match="full"):  # noqa: PT012  until it is full
        for base in range(1, 50):
            save(store, mine, long, base)
    stored_ballot = ballot(store)
    assert stored_ballot.head == base == len(revisions(store, mine))
    with store.read() as c:
        assert current_state(c, stored_ballot).ranked == BEST_FIRST.ranked
    event.remove(store.engine, "connect", fill)
    store.engine.dispose()
    assert isinstance(save(store, mine, long, base), Saved)


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    """Of what one transaction does all is kept or nothing."""
    mine = ballot(store)
    with pytest.raises(ZeroDivisionError):
        _save_and_fail(store)
    assert revisions(store, mine) == []
    assert ballot(store).head == 0


def _save_and_fail(store: Store) -> None:
    mine = ballot(store)
    assert mine.layout is not None
    with store.write() as c:
        change = work.Change("0", "tab-00000001", 1, mine.layout.id, BEST_FIRST)
        work.save(c, judge(store), mine.public_id, change)
        raise ZeroDivisionError


def test_names_of_files_may_hold_any_sign(tmp_path: Path) -> None:
    """A question mark, a percent sign or a space in a path is part of it."""
    folder = tmp_path / "why? 100% #1 ü"
    folder.mkdir()
    store = open_store(locate_database(folder / "study.yaml"))
    prepare(store)
    store.close()
    assert (folder / "study.sqlite3").is_file()


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    """An unreachable PostgreSQL is told at once, without its password."""
    url = "postgresql://quem:secret-word@127.0.0.1:1/quem"
    place = locate_database(tmp_path / "study.yaml", url)
    for reach in (open_store, lambda p: store_of(p, STUDY)):
        with pytest.raises(QuemError, match="cannot be used") as refused:
            reach(place)
        assert "secret-word" not in str(refused.value)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("url", ["nosuch://host/name", "mysql://host:port/name", "sqlite3://x"])
def test_what_is_no_url_is_told(tmp_path: Path, url: str) -> None:
    """A URL of a database that quem cannot use is a mistake, not a bug."""
    with pytest.raises(QuemError):
        open_store(locate_database(tmp_path / "study.yaml", url))
