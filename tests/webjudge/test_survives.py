"""What was acknowledged is there, whatever happens to the server; and what it does beside."""

from __future__ import annotations

import itertools
import os
import random
import re
import sqlite3
import threading
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest

from quem.store.backup import back_up, restore_copy
from quem.store.database import THREADS
from quem.store.uploads import UploadFolder
from tests.patience import until
from tests.postgres import running_postgres
from tests.served import Browserless, Served, all_ranked, number_of, write_judging_study
from tests.trials.kills import KillTrials
from tests.trials.solving_kills import SolvingKills
from tests.webjudge.servers import gunicorn
from tests.webjudge.sites import data_of, enter_as, gids, put, rank_all
from webjudge import create_app
from webjudge.housekeeping import Housekeeping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient

    from webjudge import Site


@pytest.fixture(params=["sqlite", "postgresql"])
def database(
    request: pytest.FixtureRequest, tmp_path: Path, new_postgres: Callable[[], str]
) -> str:
    return str(tmp_path / "store.sqlite3") if request.param == "sqlite" else new_postgres()


def test_no_acknowledged_revision_is_lost_when_the_server_is_killed(
    tmp_path: Path, database: str
) -> None:
    """Killed while 8 clients save and the study is edited, the store holds all, as it was seen."""
    session = KillTrials(tmp_path, database, random.Random(1))
    # With either database once; that it goes on from there, with one of them.
    count = 2 if database.endswith("sqlite3") else 1
    ends = [session.run_one()["how"] for _ in range(count)]
    assert "SIGKILL" in ends
    assert len(session.notes) >= count * 8 * 3


def test_no_acknowledged_answer_is_lost_when_the_server_is_killed(
    tmp_path: Path, database: str
) -> None:
    """Killed while people write and upload, the store and the disk hold all of it."""
    session = SolvingKills(tmp_path, database, random.Random(1), people=2)
    assert session.run_one() >= 2 * 3


@pytest.mark.parametrize(("kind", "reason"), [("full disk", "busy"), ("replaced", "lost")])
def test_trouble_loses_nothing(kind: str, reason: str, tmp_path: Path) -> None:
    """While files cannot grow, or are others, saves are refused; then all is as it was noted."""
    resource = pytest.importorskip("resource", reason="limits of processes are POSIX")
    if not hasattr(resource, "prlimit"):
        pytest.skip("limits of another process are Linux's")
    from tests.trials.trouble import TroubleTrials

    database = str(tmp_path / "store.sqlite3")
    happened = TroubleTrials(tmp_path, database, random.Random(1)).run_kind(kind)
    assert happened["refused"][reason] >= 6
    assert happened["acknowledged"] >= 2 * 6 * 3


def test_a_locked_database_holds_up_saves_alone(tmp_path: Path) -> None:
    """While another process locks the database, saves wait, then get 503; reading goes on."""
    with Served(write_judging_study(tmp_path)) as served:
        browser, gid, names, layout = entered(served.base, served.links["J0"])
        assert browser.save(gid, 0, all_ranked(names))[0] == 200
        script = re.search(r"/static/[^\"]+\.js", browser.get(f"/judge/g/{gid}"))
        assert script
        other = sqlite3.connect(tmp_path / "study.sqlite3", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        answers: list[int] = []

        def save() -> None:
            answers.append(browser.save(gid, 1, all_ranked(names[::-1]), layout=layout)[0])

        savers = [threading.Thread(target=save) for _ in range(THREADS // 2)]
        for saver in savers:
            saver.start()
        assert "new Page(" in browser.get(script[0])
        assert browser.group(gid)["state"] == all_ranked(names)
        assert "Made up" in browser.get("/judge")
        for saver in savers:
            saver.join()
        assert answers == [503] * (THREADS // 2)
        other.close()
        assert browser.save(gid, 1, all_ranked(names[::-1]))[0] == 200


def test_a_database_that_is_taken_away_is_noticed(
    app: Flask, site: Site, dashboard: FlaskClient
) -> None:
    """Saves get 503 with a reason and the dashboard says why; put back, all is well again."""
    judge, file = enter_as(app, site, "J1"), site.store.place.file
    assert file
    gid = gids(judge)[0]
    assert put(judge, gid).status_code == 200
    away = file.rename(file.with_name("away"))
    refused = put(judge, gid, base=1, change=2)
    assert (refused.status_code, refused.get_json()["error"]) == (503, "lost")
    page = dashboard.get("/dashboard").text
    assert "Nothing can be saved" in page
    assert str(file) in page
    assert not file.exists()
    away.rename(file)
    assert put(judge, gid, base=1, change=2).status_code == 200
    assert "Nothing can be saved" not in dashboard.get("/dashboard").text


def test_a_page_of_before_a_restore_is_asked(
    app: Flask, site: Site, opened: Callable[[Path], Site], tmp_path: Path
) -> None:
    """Its revision has the number of the newest one again, which another page made."""
    judge = enter_as(app, site, "J1")
    gid = gids(judge)[1]
    assert put(judge, gid).status_code == 200
    copy = back_up(site.store, site.id, tmp_path / "copies", actor="shell", keep=1).path
    mine = put(judge, gid, base=1, change=2).get_json()["revision"]
    site.store.close()
    restore_copy(site.store.place, site.id, copy, replace=True)
    again = opened(site.path)
    other = enter_as(create_app(again), again, "J1")
    names = data_of(other, gid)["labels"]
    theirs = all_ranked(names[1:] + names[:1])
    there = {"client": "another-tab", "change": 1, "state": theirs}
    assert put(other, gid, base=1, **there).status_code == 200
    for old in (mine, "2"):
        answer = put(other, gid, base=old, change=3)
        told = answer.get_json()
        assert (answer.status_code, told["error"], number_of(told)) == (409, "stale", 2)
        assert told["state"] == theirs
    assert put(other, gid, base=told["revision"], change=4).status_code == 200


@pytest.mark.parametrize(("program", "mode"), [("quem", "fast"), ("gunicorn", "immediate")])
def test_a_restart_of_postgresql_is_one_line(program: str, mode: str, tmp_path: Path) -> None:
    study = write_judging_study(tmp_path)
    log: Callable[[], str]
    with contextmanager(running_postgres)() as server, ExitStack() as running:
        if server.control is None:
            pytest.skip("only a server of the tests' own can be stopped")
        if program == "gunicorn":
            real = running.enter_context(gunicorn(study, server.new(), 1))
            base, link, log = real.base, real.base + real.link("J0", "judge"), real.log
        else:
            served = running.enter_context(Served(study, server.new()))
            base, link = served.base, served.links["J0"]
            log = partial("".join, served.errors)
        browser, gid, names, layout = entered(base, link)
        save_all = partial(browser.save, gid, state=all_ranked(names), layout=layout)
        assert save_all(0)[0] == 200
        with restless(base, browser, gid) as statuses:
            server.control("stop", "-m", mode)
            status, answer = save_all(1)
            assert (status, answer["error"]) == (503, "busy")
            enough = len(statuses) + 40
            until(lambda: len(statuses) > enough, "more answers")
            server.control("start")
            until(lambda: browser.send("GET", "/judge", {})[0] == 200, "a page")
        assert set(statuses) == {200, 503}
        assert save_all(1)[0] == 200
    assert "Traceback" not in log()
    assert log().count("database: ") == 1


@contextmanager
def restless(base: str, browser: Browserless, gid: str) -> Iterator[list[int]]:
    """Ask for pages from four threads all the while; gives the status of each answer."""
    statuses: list[int] = []
    done = threading.Event()

    def ask() -> None:
        mine = Browserless(base)
        for cookie in browser.cookies:
            mine.cookies.set_cookie(cookie)
        for number in itertools.count(1):
            if done.is_set():
                return
            statuses.append(mine.send("GET", ("/judge", f"/judge/g/{gid}")[number % 2], {})[0])

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for asker in askers:
        asker.start()
    try:
        yield statuses
    finally:
        done.set()
        for asker in askers:
            asker.join()


def test_a_worker_that_ends_leaves_one_file(tmp_path: Path) -> None:
    study, file = write_judging_study(tmp_path), tmp_path / "store.sqlite3"
    with gunicorn(study, str(file), 1) as server:
        browser, gid, names, _ = entered(server.base, server.base + server.link("J0", "judge"))
        assert browser.save(gid, 0, all_ranked(names))[0] == 200
    assert list(tmp_path.glob("store.sqlite3-*")) == []


def test_several_workers_share_one_session(tmp_path: Path, new_postgres: Callable[[], str]) -> None:
    with gunicorn(write_judging_study(tmp_path), new_postgres(), 2) as server:
        one, gid, names, _ = entered(server.base, server.base + server.link("J0", "judge"))
        for revision in range(12):
            names = names[1:] + names[:1]
            status, answer = one.save(gid, revision, all_ranked(names))
            assert (status, number_of(answer)) == (200, revision + 1)
        status, answer = one.save(gid, 3, all_ranked(names))
        assert (status, answer["error"], number_of(answer)) == (409, "stale", 12)
        assert one.group(gid)["state"] == all_ranked(names)


def entered(base: str, link: str) -> tuple[Browserless, str, list[str], str]:
    browser = Browserless(base)
    browser.get(link)
    gid = browser.groups()[0]
    data = browser.group(gid)
    return browser, gid, data["labels"], data["layout"]


LONG = 60.0


def test_a_job_that_fails_is_told_and_holds_up_no_other(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """Jobs run at the start, every so often, and at the stop; a failure is told until it ends."""
    failing, runs, done = threading.Event(), threading.Semaphore(0), []
    failing.set()

    def fail() -> None:
        runs.release()
        if failing.is_set():
            raise OSError(28, "No space left on device")

    housekeeping = Housekeeping(site)
    housekeeping.add("rare", 3600, lambda: done.append("rare"))
    housekeeping.add("copy", 0.01, fail)
    housekeeping.start()
    for _ in range(3):
        assert runs.acquire(timeout=LONG)
    assert done == ["rare"]
    assert "No space left on device" in site.troubles["copy"]
    assert "housekeeping: copy" in caplog.text
    failing.clear()
    housekeeping.stop()
    assert (site.troubles, done) == ({}, ["rare", "rare"])
    assert "housekeeping" not in [thread.name for thread in threading.enumerate()]


def test_the_log_is_emptied_into_the_file(site: Site, tmp_path: Path) -> None:
    file = site.store.place.file
    assert file is not None
    rank_all(site, "J1")
    Housekeeping(site).start().stop()
    (tmp_path / "copy.sqlite3").write_bytes(file.read_bytes())
    with closing(sqlite3.connect(tmp_path / "copy.sqlite3")) as connection:
        assert connection.execute("SELECT count(*) FROM revision").fetchone() == (2,)


def test_uploads_that_a_kill_cut_off_are_deleted_when_they_are_old(site: Site) -> None:
    uploads = UploadFolder(site.path)
    received, sha256, _ = uploads.receive([b"whole"], 100, 1, 100)
    whole = uploads.keep(received, sha256, ".md")
    files = [uploads.folder / name for name in (".a.partial", ".b.partial.pdf", ".new.partial")]
    for path in files:
        path.write_bytes(b"half")
    for path in [whole, *files[:2]]:
        os.utime(path, (0, 0))
    Housekeeping(site).start().stop()
    assert sorted(path for path in uploads.folder.rglob("*") if path.is_file()) == sorted(
        [whole, files[2]]
    )
