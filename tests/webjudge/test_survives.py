"""What was acknowledged is there, whatever happens to the server."""

from __future__ import annotations

import itertools
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest

from quem.store.database import THREADS
from tests.patience import SECONDS, until
from tests.postgres import running_postgres
from tests.served import Browserless, Served, all_ranked, number_of, write_judging_study
from tests.trials.kills import KillTrials
from tests.trials.solving_kills import SolvingKills

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(params=["sqlite", "postgresql"])
def database(
    request: pytest.FixtureRequest, tmp_path: Path, new_postgres: Callable[[], str]
) -> str:
    """A database of each kind."""
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
    study = write_judging_study(tmp_path)
    with Served(study) as served:
        browser = Browserless(served.base)
        browser.get(served.links["J0"])
        gid = browser.groups()[0]
        data = browser.group(gid)
        names, layout = data["labels"], data["layout"]
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


def test_a_database_that_is_taken_away_is_noticed(tmp_path: Path) -> None:
    """Saves get 503 with a reason and the dashboard says why; put back, all is well again."""
    study = write_judging_study(tmp_path)
    with Served(study) as served:
        browser, dashboard = Browserless(served.base), Browserless(served.base)
        browser.get(served.links["J0"])
        dashboard.get(served.dashboard)
        gid = browser.groups()[0]
        names = browser.group(gid)["labels"]
        assert browser.save(gid, 0, all_ranked(names))[0] == 200
        assert "Nothing can be saved" not in dashboard.get("/dashboard")
        file = tmp_path / "study.sqlite3"
        file.rename(tmp_path / "old.sqlite3")
        status, answer = browser.save(gid, 1, all_ranked(names[::-1]))
        assert (status, answer["error"]) == (503, "lost")
        assert "organizer" in answer["message"]
        page = dashboard.get("/dashboard")
        assert "Nothing can be saved" in page
        assert str(file) in page
        assert not file.exists()
        (tmp_path / "old.sqlite3").rename(file)
        assert browser.save(gid, 1, all_ranked(names[::-1]))[0] == 200
        assert "Nothing can be saved" not in dashboard.get("/dashboard")


def test_a_page_of_before_a_restore_is_asked(tmp_path: Path) -> None:
    """Its revision has the number of the newest one again, which another page made."""
    study = write_judging_study(tmp_path)
    with Served(study) as served:
        browser = Browserless(served.base)
        browser.get(served.links["J0"])
        gid = browser.groups()[0]
        names = browser.group(gid)["labels"]
        assert browser.save(gid, 0, all_ranked(names))[0] == 200
        quem_backup(study, "--to", str(tmp_path / "copies"))
        assert browser.save(gid, 1, all_ranked(names[::-1]))[0] == 200
        served.stop()
        (copy,) = (tmp_path / "copies").glob("*.sqlite3")
        quem_backup(study, "--restore", str(copy), "--replace")
        served.start()
        other = Browserless(served.base)
        other.get(served.links["J0"])
        others = names[1:] + names[:1]
        assert other.save(gid, 1, all_ranked(others))[0] == 200
        for old in (browser.seen[gid, 2], "2"):
            status, answer = browser.save(gid, old, all_ranked(names))
            assert (status, answer["error"], number_of(answer)) == (409, "stale", 2)
            assert answer["state"] == all_ranked(others)
        assert browser.save(gid, answer["revision"], all_ranked(names))[0] == 200


def quem_backup(*words: str | Path) -> None:
    """Run ``quem backup``."""
    command = [sys.executable, "-m", "quem", "backup", *map(str, words)]
    subprocess.run(command, check=True, capture_output=True)


@contextmanager
def gunicorn(study: Path, database: str, workers: int) -> Iterator[tuple[str, list[str]]]:
    """Run gunicorn, until it ends well; gives its address, and the judges' links."""
    address, out = f"127.0.0.1:{free_port()}", study.with_name("links.csv")
    environment = {**os.environ, "QUEM_DATABASE_URL": database, "QUEM_STUDY": str(study)}
    words = ["links", "judges", str(study), "--url", f"http://{address}", "--out", str(out)]
    make_links = [sys.executable, "-m", "quem", *words]
    subprocess.run(make_links, env=environment, check=True, capture_output=True)
    program = shutil.which("gunicorn", path=os.path.dirname(sys.executable))  # noqa: PTH120
    assert program, "gunicorn belongs to the tests"
    command = [program, "--workers", str(workers), "--bind", address, "webjudge.wsgi"]
    with study.with_name("log").open("wb") as file:
        process = subprocess.Popen(command, env=environment, stderr=file)
    try:
        wait_for(f"http://{address}/healthz")
        yield f"http://{address}", [line.split(",")[2] for line in out.read_text().splitlines()[1:]]
    finally:
        process.terminate()
        assert process.wait(60) == 0


@pytest.mark.parametrize("program", ["quem", "gunicorn"])
def test_a_restart_of_postgresql_is_one_line(program: str, tmp_path: Path) -> None:
    """While it is away pages and saves get 503, and the log has a line; then all is well again."""
    study = write_judging_study(tmp_path)
    log: Callable[[], str]
    with contextmanager(running_postgres)() as server, ExitStack() as running:
        if server.control is None:
            pytest.skip("only a server of the tests' own can be stopped")
        if program == "gunicorn":
            base, links = running.enter_context(gunicorn(study, server.new(), 1))
            link, log = links[0], study.with_name("log").read_text
        else:
            served = running.enter_context(Served(study, server.new()))
            base, link = served.base, served.links["J0"]
            log = partial("".join, served.errors)
        browser = Browserless(base)
        browser.get(link)
        gid = browser.groups()[0]
        data = browser.group(gid)
        save_all = partial(browser.save, gid, state=all_ranked(data["labels"]))
        assert save_all(0, layout=data["layout"])[0] == 200
        with restless(base, browser, gid) as statuses:
            for mode in ("fast", "immediate"):
                server.control("stop", "-m", mode)
                status, answer = save_all(1, layout=data["layout"])
                assert (status, answer["error"]) == (503, "busy")
                until(partial(more_than, statuses, len(statuses) + 40), "more answers")
                server.control("start")
                until(lambda: browser.send("GET", "/judge", {})[0] == 200, "a page")
        assert set(statuses) == {200, 503}
        assert save_all(1, layout=data["layout"])[0] == 200
    assert "Traceback" not in log()
    assert log().count("database: ") == 1


def more_than(statuses: list[int], n: int) -> bool:
    """Whether there are more answers."""
    return len(statuses) > n


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
    """Told to stop, gunicorn leaves a database that is whole in its file."""
    study, file = write_judging_study(tmp_path), tmp_path / "store.sqlite3"
    with gunicorn(study, str(file), 1) as (base, links):
        browser = Browserless(base)
        browser.get(links[0])
        gid = browser.groups()[0]
        assert browser.save(gid, 0, all_ranked(browser.group(gid)["labels"]))[0] == 200
    assert list(tmp_path.glob("store.sqlite3-*")) == []


def test_several_workers_share_one_session(tmp_path: Path, new_postgres: Callable[[], str]) -> None:
    """With two workers a judge's saves meet one history, whoever answers."""
    with gunicorn(write_judging_study(tmp_path), new_postgres(), 2) as (base, links):
        one = Browserless(base)
        one.get(links[0])
        gid = one.groups()[0]
        data = one.group(gid)
        names = data["labels"]
        for revision in range(12):
            names = names[1:] + names[:1]
            status, answer = one.save(gid, revision, all_ranked(names))
            assert (status, number_of(answer)) == (200, revision + 1)
        status, answer = one.save(gid, 3, all_ranked(names))
        assert (status, answer["error"], number_of(answer)) == (409, "stale", 12)
        assert one.group(gid)["state"]["ranked"] == [[name] for name in names]


def free_port() -> int:
    """A port that nobody listens on."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str) -> None:
    """Wait until a server answers."""

    def answers() -> bool:
        try:
            with urlopen(url, timeout=SECONDS):  # noqa: S310  our own server
                return True
        except OSError:
            return False

    until(answers, f"an answer at {url}")
