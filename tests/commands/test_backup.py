"""Backups of a server that is saving, and the restore drill of docs/how-to/serving.md."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError

import psycopg
import pytest

from quem.store.database import open_store
from quem.store.location import locate_database
from quem.store.studies import register_study
from quem.studyfile.reading import read_study
from tests.served import Browserless, Served, all_ranked, number_of, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.commands.conftest import Outcome

DOCS = Path(__file__).parents[2] / "docs/how-to/serving.md"
LONG = 60.0
JUDGES = 3


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for a condition, for long on a busy machine."""
    until = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.05)


class Saver(threading.Thread):
    """A judge who submits the first group, and then saves the second again and again."""

    def __init__(self, link: str, base: str) -> None:
        super().__init__(daemon=True)
        self.browser = Browserless(base)
        self.browser.get(link)
        first, self.gid = self.browser.groups()[:2]
        names = self.browser.group(first)["labels"]
        assert self.browser.save(first, 0, all_ranked(names), submit=True)[0] == 200
        self.acknowledged: dict[int, list[str]] = {}
        self.ending = threading.Event()

    def run(self) -> None:
        """Save until told to end, or the server is gone."""
        data = self.browser.group(self.gid)
        names, revision = list(data["labels"]), data["revision"]
        while not self.ending.is_set():
            names = names[1:] + names[:1]
            state = all_ranked(names)
            try:
                status, answer = self.browser.save(self.gid, revision, state, layout=data["layout"])
            except (URLError, OSError, HTTPException, ValueError):
                return  # not acknowledged
            assert status == 200, answer
            revision = answer["revision"]
            self.acknowledged[number_of(answer)] = names


def exported(quem: Callable[..., Outcome], study: Path, database: str, name: str) -> Path:
    """Export a session that is not closed; gives the folder."""
    folder = study.parent / name
    for words in (("--out", folder), ("--archive", folder / "archive.jsonl")):
        code, _, err = quem("export", study, "--reveal", "--database", database, *words)
        assert code == 0, err
    return folder


def saved_orders(folder: Path) -> dict[tuple[str, int], list[str]]:
    """Every saved revision of an archive, in letters, by group and number."""
    lines = (folder / "archive.jsonl").read_text().splitlines()[1:]
    rows: dict[str, list[dict[str, Any]]] = {"task": [], "layout": [], "revision": []}
    for row in map(json.loads, lines):
        rows.get(row["table"], []).append(row)
    groups = {row["key"]: row["public_id"] for row in rows["task"]}
    letters = {
        (row["task_key"], row["id"]): {item[1]: item[0] for item in row["items"]}
        for row in rows["layout"]
    }
    return {
        (groups[row["task_key"]], row["number"]): [
            letters[row["task_key"], row["layout"]][solver]
            for tied in row["state"]["ranked"]
            for solver in tied
        ]
        for row in rows["revision"]
    }


def make_backup(quem: Callable[..., Outcome], study: Path, database: str) -> None:
    """Back a database up beside the study."""
    if "://" in database:
        documented("pg_dump", study.parent, database)
        return
    words = ("backup", study, "--to", study.parent / "b", "--database", database)
    code, out, err = quem(*words)
    assert (code, err) == (0, "")
    (copy,) = (study.parent / "b").iterdir()
    assert out.startswith(f"{copy}: {copy.stat().st_size:,} bytes, ")
    assert not [word for word in ("sys", "S1", "J0") if word in out.replace(str(copy), "")]


def bring_back(quem: Callable[..., Outcome], study: Path, database: str) -> None:
    """Lose a database, and restore the backup."""
    if "://" in database:
        documented("pg_restore", study.parent, database)
        return
    for path in study.parent.glob("store.sqlite3*"):
        path.unlink()
    (copy,) = (study.parent / "b").iterdir()
    code, out, err = quem("backup", study, "--restore", copy, "--database", database)
    assert (code, out) == (0, ""), err
    assert f"restored {JUDGES + 1} people" in err
    assert "last revision: 20" in err


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_drill(
    tmp_path: Path, kind: str, new_postgres: Callable[[], str], quem_command: Callable[..., Outcome]
) -> None:
    """A server that saves is backed up, killed, loses its database, and goes on from the copy."""
    database = str(tmp_path / "store.sqlite3") if kind == "sqlite" else new_postgres()
    study = write_judging_study(tmp_path, judges=JUDGES, problems=2)
    served = Served(study, database)
    served.start()
    try:
        savers = [Saver(link, served.base) for link in served.links.values()]
        for saver in savers:
            saver.start()
        wait_until(lambda: all(len(saver.acknowledged) >= 3 for saver in savers))
        before = {saver.gid: max(saver.acknowledged) for saver in savers}
        make_backup(quem_command, study, database)
        after = {saver.gid: max(saver.acknowledged) for saver in savers}
        wait_until(lambda: all(max(s.acknowledged) > after[s.gid] for s in savers))
        at_that_time = (
            exported(quem_command, study, database, "live") / "rankings.csv"
        ).read_text()
        served.kill()
        for saver in savers:
            saver.join(LONG)
        database = new_postgres() if kind == "postgresql" else database
        bring_back(quem_command, study, database)
        served.database, served.links = database, {}
        served.start()
        again = exported(quem_command, study, database, "again")
        assert (again / "rankings.csv").read_text() == at_that_time
        orders = saved_orders(again)
        for saver in savers:
            head = max(number for gid, number in orders if gid == saver.gid)
            assert head >= before[saver.gid]
            history = {n: orders[saver.gid, n] for n in range(1, head + 1)}
            # What was saved when the copy was made may not have been acknowledged yet.
            own_orders = {n: order for n, order in saver.acknowledged.items() if n <= head}
            assert own_orders == {n: order for n, order in history.items() if n in own_orders}
            assert len(own_orders) >= head - 1
            # The judge's link, letters and page are as they were, and saving goes on.
            data = saver.browser.group(saver.gid)
            assert number_of(data) == head
            status, answer = saver.browser.save(saver.gid, head, data["state"])
            assert (status, number_of(answer)) == (200, head + 1)
        if kind == "sqlite":
            assert "Study restored from a backup" in dashboard(served, "/dashboard/events")
            # While the server runs nothing can be put in its place.
            (copy,) = (tmp_path / "b").iterdir()
            words = ("backup", study, "--restore", copy, "--replace", "--database", database)
            code, _, err = quem_command(*words)
            assert code == 1
            assert "is in use" in err
    finally:
        served.stop()


def documented(program: str, folder: Path, database: str) -> None:
    """Run what the docs say of a program of PostgreSQL, if it is as old as the server."""
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"there is no {program}")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
    with psycopg.connect(database) as connection:
        if f" {connection.info.server_version // 10_000}." not in version.stdout:
            pytest.skip(f"{program} is not of the server's version")
    blocks = re.findall(r"```sh\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    (script,) = (block for block in blocks if f"\n{program} " in f"\n{block}")
    environment = {**os.environ, "QUEM_DATABASE_URL": database}
    words = ["bash", "-euc", script]
    ended = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


def dashboard(served: Served, path: str = "/dashboard") -> str:
    """Read a page of the dashboard."""
    browser = Browserless(served.base)
    browser.get(served.dashboard)
    return browser.get(path)


def test_a_server_backs_up_by_itself(tmp_path: Path, quem_command: Callable[..., Outcome]) -> None:
    """Copies are made at start, regularly and at the stop; a failure shows on the dashboard."""
    study = write_judging_study(tmp_path)
    folder = tmp_path / "copies"
    options = ("--backup", str(folder), "--backup-every", "1s", "--backup-keep", "3")
    with Served(study, arguments=options) as served:
        wait_until(lambda: len(list(folder.glob("*.sqlite3"))) == 3)
        wait_until(lambda: "Last backup:" in dashboard(served))
        folder.rename(tmp_path / "away")
        folder.write_text("no folder any more")
        wait_until(lambda: "The last backup failed" in dashboard(served))
        assert 'class="sign bad"' in dashboard(served)
        assert "Backup failed" in dashboard(served, "/dashboard/events")
        folder.unlink()
        wait_until(lambda: "The last backup failed" not in dashboard(served))
        browser = Browserless(served.base)
        browser.get(served.links["J0"])
        gid = browser.groups()[0]
        assert browser.save(gid, 0, all_ranked(browser.group(gid)["labels"]))[0] == 200
    assert {path.suffix for path in folder.iterdir()} == {".sqlite3"}
    newest = max(folder.iterdir())
    place = tmp_path / "other.sqlite3"
    code, _, err = quem_command("backup", study, "--restore", newest, "--database", place)
    assert code == 0, err
    assert "1 revisions" in err


def command(*words: object) -> list[str]:
    """The command line as a process."""
    return [sys.executable, "-m", "quem", *map(str, words)]


def quem(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401
    """Run a command to its end."""
    return subprocess.run(command(*words), capture_output=True, text=True, check=False, **options)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study with a session that is not running."""
    study = write_judging_study(tmp_path)
    store = open_store(locate_database(study))
    with store.write() as c:
        register_study(c, read_study(study).id)
    store.close()
    return study


@pytest.mark.parametrize(
    ("how", "code", "count"), [(signal.SIGTERM, 0, 3), (signal.SIGINT, 130, 1)]
)
def test_regular_backups_go_on_until_they_are_stopped(
    study: Path, how: signal.Signals, code: int, count: int
) -> None:
    """`--every` goes on after a failure, says so, and leaves only whole copies."""
    folder = study.parent / "copies"
    folder.write_text("in the way")
    words = command("backup", study, "--to", folder, "--every", "1s", "--keep", "2")
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "no backup was made" in process.stderr.readline()
        folder.unlink()
        lines = [process.stdout.readline() for _ in range(count)]
        process.send_signal(how)
        assert process.wait(LONG) == code
    assert all(line.startswith(str(folder)) for line in lines)
    assert {path.suffix for path in folder.iterdir()} == {".sqlite3"}
    assert len(list(folder.iterdir())) <= 2


def test_what_cannot_be_copied_is_told(study: Path, quem_command: Callable[..., Outcome]) -> None:
    """A full disk, a missing session and a wrong time each end with clear words."""
    resource = pytest.importorskip("resource", reason="limits of processes are POSIX")
    folder = study.parent / "copies"

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    ended = quem("backup", study, "--to", folder, preexec_fn=full)
    assert ended.returncode == 1
    (message,) = (line for line in ended.stderr.splitlines() if line.startswith("error: "))
    assert message.startswith(f"error: {folder}: no backup was made: ")
    assert "has room" in message
    assert list(folder.iterdir()) == []
    none = os.devnull.replace("null", "nowhere.sqlite3")
    code, out, err = quem_command("backup", study, "--to", folder, "--database", none)
    assert (code, out) == (1, "")
    assert "has no judging session" in err
    code, _, err = quem_command("backup", study, "--to", folder, "--every", "5")
    assert code == 2
    assert "write one such as 90s, 15m, 2h, or 1d" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give either --to FOLDER"),
        (["--to", "a", "--restore", "b"], "give either --to FOLDER"),
        (["--restore", "b", "--every", "5m"], "give either --to FOLDER"),
        (["--to", "a", "--replace"], "--replace belongs to --restore"),
    ],
)
def test_wrong_usage_is_refused(
    study: Path, words: list[str], message: str, quem_command: Callable[..., Outcome]
) -> None:
    """A backup is made or brought back, not both."""
    code, _, err = quem_command("backup", study, *words)
    assert (code, message in err) == (2, True)


def test_backups_of_postgresql_are_left_to_its_programs(
    study: Path, new_postgres: Callable[[], str], quem_command: Callable[..., Outcome]
) -> None:
    """A server that is to make them does not start."""
    words = ("--backup", study.parent / "copies", "--database", new_postgres())
    code, _, err = quem_command("serve", study, *words)
    assert code == 1
    assert "back it up with pg_dump" in err
