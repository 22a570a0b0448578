"""``quem serve``, as a process."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.served import Browserless, Served, all_ranked, write_judging_study

QUEM = [sys.executable, "-m", "quem"]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study with two judges."""
    return write_judging_study(tmp_path)


def test_links_are_printed_once(study: Path) -> None:
    """The first start prints all links, later ones who has one; all go on working."""
    with Served(study) as served:
        assert list(served.links) == ["J0", "J1"]
        links, dashboard = dict(served.links), served.dashboard
    served.links = {}
    with served:
        assert served.links == {}
        assert served.printed[1] == (
            f"Dashboard: {served.base}/desk  organizer has a link "
            f"(quem organizers {study} --new-link organizer)"
        )
        browser = Browserless(served.base)
        assert "Made up" in browser.get(links["J0"])
        assert "The study is on trial" in browser.get(dashboard)
    with Served(study) as again:
        again.stop()


def test_a_session_goes_from_link_to_report(study: Path) -> None:
    """Judges rank over HTTP, the study is closed, and quem analyze reads what they made."""
    with Served(study) as served:
        for link in served.links.values():
            browser = Browserless(served.base)
            browser.get(link)
            for gid in browser.groups():
                names = browser.group(gid)["labels"]
                status, _ = browser.save(gid, 0, all_ranked(names), submit=True)
                assert status == 200
        ended = subprocess.run(
            [*QUEM, "analyze", str(study), "--json"], capture_output=True, text=True, check=False
        )
        assert ended.returncode == 1
        assert "--reveal" in ended.stderr
        ended = subprocess.run(
            [*QUEM, "analyze", str(study), "--reveal", "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0
        assert '"system": "sys"' in ended.stdout


def test_ctrl_c_ends_it(study: Path) -> None:
    """Ctrl-C stops the server with exit code 130."""
    with Served(study) as served:
        process = served.process
        assert process is not None
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130


def test_the_shipped_study_is_served(tmp_path: Path) -> None:
    """The study that the README starts opens with practice, three groups and one again."""
    folder = Path(__file__).parents[2] / "studies" / "cooling-plans"
    shutil.copytree(folder, tmp_path / "plans", ignore=shutil.ignore_patterns("*.sqlite3*"))
    with Served(tmp_path / "plans" / "study.yaml") as served:
        assert list(served.links) == ["J1", "J2", "J3"]
        browser = Browserless(served.base)
        browser.get(served.links["J1"])
        status, _ = browser.send("POST", "/judge/consent", {})
        assert status == 200
        assert len(browser.groups()) == 4
        assert "Solution G" in browser.get(f"/judge/g/{browser.groups()[1]}")


def test_health(study: Path) -> None:
    """Somebody without a link learns that the server works, and no more."""
    with Served(study) as served, urlopen(f"{served.base}/healthz", timeout=10) as answer:  # noqa: S310
        assert (answer.status, answer.read()) == (200, b"ok")
        assert answer.headers["Server"] is None


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda f: (f / "solutions/P0/S1.md").unlink(), "S1"),
        (lambda f: (f / "p0.md").unlink(), "p0.md"),
        (lambda f: (f / "solutions/P1/S2.txt").write_text("twice"), "S2"),
        (lambda f: (f / "study.sqlite3").write_bytes(b"no database" * 100), "study.sqlite3"),
        (lambda f: (f / "study.yaml").write_text("problems: ["), "study.yaml:2"),
    ],
)
def test_a_study_that_cannot_be_judged_is_refused(study: Path, break_it: object, said: str) -> None:
    """Mistakes in the study, its solutions or its store end the start with 1."""
    assert callable(break_it)
    break_it(study.parent)
    command = [*QUEM, "serve", str(study), "--port", "0"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "/j/" not in ended.stdout


def test_a_taken_port_is_said_and_no_link_is_lost(study: Path) -> None:
    """Where it cannot listen, it makes no links that nobody would see again."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [*QUEM, "serve", str(study), "--port", port]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        assert ended.returncode == 1
        assert "--port" in ended.stderr
    with Served(study) as served:
        assert list(served.links) == ["J0", "J1"]


def test_wsgi_says_what_it_needs() -> None:
    """Without QUEM_STUDY the WSGI module ends with a sentence."""
    environment = {k: v for k, v in os.environ.items() if k != "QUEM_STUDY"}
    ended = subprocess.run(
        [sys.executable, "-c", "import webjudge.wsgi"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "QUEM_STUDY" in ended.stderr
