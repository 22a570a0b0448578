"""``quem serve``, as a process."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest
from sqlalchemy import func, select

from quem.store.models import TaskRow
from quem.store.people import people_of
from tests.commands.conftest import stored
from tests.mail.smtp import MailHost
from tests.patience import SECONDS
from tests.served import Browserless, Served, all_ranked, write_judging_study
from tests.webjudge.solving_sites import write_solving_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.commands.conftest import Command

QUEM = [sys.executable, "-m", "quem"]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_judging_study(tmp_path)


def test_a_session_goes_from_link_to_report(study: Path, run: Command) -> None:
    """The first start makes all links; judges rank, and quem analyze reads what they made."""
    (study.parent / "solutions/P0/S1.md").write_text("As Zeta 9.9 has it.\n")
    assert "Decide (1)" in run("check", study).err
    with Served(study) as served:
        assert list(served.links) == ["J0", "J1"]
        links, dashboard = dict(served.links), served.dashboard
        # They are in no log, but in a file for their owner.
        assert "/j/" not in "".join(served.errors)
        [file] = study.parent.glob("study-links-*.csv")
        assert file.stat().st_mode & 0o777 == 0o600
        for link in links.values():
            browser = Browserless(served.base)
            browser.get(link)
            for gid in browser.groups():
                ranking = all_ranked(browser.group(gid)["labels"])
                assert browser.save(gid, 0, ranking, submit=True)[0] == 200
        assert run("analyze", study, "--json").refuses("--reveal")
        assert '"system": "sys"' in run("analyze", study, "--reveal", "--json").out
    assert "1 to decide at" in "".join(served.errors)
    served.links = {}
    with served:
        assert served.links == {}
        again = f"quem links organizers {study} --reissue organizer"
        assert served.printed[1] == f"Dashboard: {served.base}/dashboard  has a link ({again})"
        # Somebody without a link learns that the server works, and no more.
        with urlopen(f"{served.base}/healthz", timeout=SECONDS) as answer:  # noqa: S310
            assert (answer.status, answer.read()) == (200, b"ok")
            assert answer.headers["Server"] is None
        browser = Browserless(served.base)
        assert "Made up" in browser.get(links["J0"])
        assert "Test mode" in browser.get(dashboard)


def test_a_terminal_shows_the_links(study: Path) -> None:
    pty = pytest.importorskip("pty", reason="terminals are POSIX")
    reading, terminal = pty.openpty()
    command = [*QUEM, "serve", str(study), "--port", "0", "--url", "https://j.example.org/"]
    process = subprocess.Popen(command, stdout=terminal, stderr=terminal)
    os.close(terminal)
    output = b""
    while b"Ctrl-C" not in output:
        output += os.read(reading, 10_000)
    process.terminate()
    assert process.wait(SECONDS) == 0
    os.close(reading)
    assert [output.count(b"https://j.example.org/%s/" % role) for role in (b"j", b"d")] == [2, 1]
    assert list(study.parent.glob("*-links-*")) == []


@pytest.mark.parametrize(
    ("how", "code", "ignored"),
    [
        (signal.SIGINT, 130, ()),
        (signal.SIGHUP, 0, ()),
        # As in a script's background and under nohup.
        (signal.SIGTERM, 0, (signal.SIGINT, signal.SIGHUP)),
    ],
)
def test_signals_stop_it_with_everything_in_one_file(
    study: Path, how: signal.Signals, code: int, ignored: tuple[signal.Signals, ...]
) -> None:
    """Signals that its starter switched off stay so; each other stops it after the last save."""
    handlers = {how: signal.SIG_DFL, **dict.fromkeys(ignored, signal.SIG_IGN)}
    before = {one: signal.signal(one, handler) for one, handler in handlers.items()}
    with ExitStack() as running:
        try:
            served = running.enter_context(Served(study))
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)
        process = served.process
        assert process is not None
        for one in ignored:
            process.send_signal(one)
        browser = Browserless(served.base)
        browser.get(served.links["J0"])
        gid = browser.groups()[0]
        names = browser.group(gid)["labels"]
        # Half a request is no request; the save that follows is one when the signal comes.
        with socket.create_connection(("127.0.0.1", served.port)) as half:
            half.sendall(b"GET /judge HTTP/1.1\r\nHost:")
            for saved in range(4):
                assert browser.save(gid, saved, all_ranked(names))[0] == 200
            process.send_signal(how)
            assert process.wait(SECONDS) == code
    assert list(study.parent.glob("study.sqlite3-*")) == []
    with stored(study) as c:
        assert c.scalar(select(func.max(TaskRow.head))) == 4


def test_a_demo_opens_at_a_task_and_leaves_nothing(tmp_path: Path) -> None:
    # Not even a database that the environment names is used.
    own = {"TMPDIR": str(tmp_path), "QUEM_DATABASE_URL": str(tmp_path / "none" / "a.sqlite3")}
    command = [*QUEM, "serve", "--demo", "--port", "0"]
    environment = {**os.environ, **own}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    task, dashboard = (process.stdout.readline().split()[-1] for _ in range(2))
    browser = Browserless(task.partition("/j/")[0])
    assert 'id="group-data"' in browser.get(task)
    assert "Test mode" in browser.get(dashboard)
    assert [path.name[:10] for path in tmp_path.iterdir()] == ["quem-demo-"]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=SECONDS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda f: (f / "solutions/P0/S1.md").unlink(), "S1"),
        (lambda f: (f / "study.sqlite3").write_bytes(b"no database" * 100), "study.sqlite3"),
        (lambda f: (f / "study.yaml").write_text("problems: ["), "study.yaml:2"),
    ],
)
def test_a_study_that_cannot_be_judged_is_refused(
    study: Path, break_it: Callable[[Path], object], message: str, run: Command
) -> None:
    break_it(study.parent)
    assert run("serve", study, "--port", 0).refuses(message)


def test_a_database_or_a_port_that_is_taken(study: Path, run: Command) -> None:
    """Where it cannot start, it makes no links that nobody would see again."""
    with stored(study):
        pass
    database = study.with_suffix(".sqlite3")
    with closing(sqlite3.connect(database, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        assert run("serve", study, "--port", 0).refuses("cannot be used: database is locked")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert run("serve", study, "--port", taken.getsockname()[1]).refuses("--port")
    assert run("links", "judges", study).out.count("new link") == 2


def test_wsgi_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUEM_STUDY", raising=False)
    with pytest.raises(SystemExit, match="QUEM_STUDY"):
        import_module("webjudge.wsgi")


def test_who_is_invited_by_mail_gets_no_link_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither judges nor people who solve, whom nobody could invite any more then."""
    for name, value in MailHost.settings(25).items():
        monkeypatch.setenv(name, value)
    study = write_solving_study(tmp_path, people=("S1", "S2"), judges=("J1", "J2"))
    rows = ["id,email,role", "S1,s1@example.org,subject", "J1,j1@example.org,judge"]
    study.with_name("people.csv").write_text("\n".join(rows))
    with Served(study):
        pass
    with stored(study) as c:
        people = [*people_of(c, "solved", "judge"), *people_of(c, "solved", "subject")]
        linked = {one.id: one.has_link for one in people}
    assert linked == {"J1": False, "J2": True, "S1": False, "S2": True}
