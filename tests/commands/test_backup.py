"""Backups of a server that is saving, and the restore drill of docs/how-to/serving.md."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError

import psycopg
import pytest

from quem.store.database import open_store
from quem.store.location import locate_database
from quem.store.studies import register_study
from quem.studyfile.reading import read_study
from tests.patience import SECONDS, until
from tests.served import Browserless, Served, all_ranked, number_of, write_judging_study

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.commands.conftest import Command

DOCS = Path(__file__).parents[2] / "docs/how-to/serving.md"
JUDGES = 3


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

    def run(self) -> None:
        """Save until the server is gone."""
        data = self.browser.group(self.gid)
        names, revision = list(data["labels"]), data["revision"]
        while True:
            names = names[1:] + names[:1]
            state = all_ranked(names)
            try:
                status, answer = self.browser.save(self.gid, revision, state, layout=data["layout"])
            except (URLError, OSError, HTTPException, ValueError):
                return  # not acknowledged
            assert status == 200, answer
            revision = answer["revision"]
            self.acknowledged[number_of(answer)] = names


def submitted(run: Command, study: Path, database: str) -> str:
    """The table of a session that is not closed."""
    words = ("--out", study.parent / "out", "--format", "csv")
    assert run("export", study, "--reveal", "--database", database, *words).code == 0
    return (study.parent / "out" / "rankings.csv").read_text()


def make_backup(run: Command, study: Path, database: str) -> None:
    """Back a database up beside the study."""
    if "://" in database:
        documented("pg_dump", study.parent, database)
        return
    code, out, err = run("backup", study, "--to", study.parent / "b", "--database", database)
    assert (code, err) == (0, "")
    (copy,) = (study.parent / "b").iterdir()
    assert out.startswith(f"{copy}: {copy.stat().st_size:,} bytes, ")
    assert not [word for word in ("sys", "S1", "J0") if word in out.replace(str(copy), "")]


def bring_back(run: Command, study: Path, database: str) -> None:
    """Lose a database, and restore the backup."""
    if "://" in database:
        documented("pg_restore", study.parent, database)
        return
    for path in study.parent.glob("store.sqlite3*"):
        path.unlink()
    (copy,) = (study.parent / "b").iterdir()
    code, out, err = run("backup", study, "--restore", copy, "--database", database)
    assert (code, out) == (0, ""), err
    assert f"restored {JUDGES + 1} people" in err


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_drill(
    tmp_path: Path, kind: str, new_postgres: Callable[[], str], run: Command
) -> None:
    """A running server is backed up, killed, loses its database, and continues from the copy."""
    database = str(tmp_path / "store.sqlite3") if kind == "sqlite" else new_postgres()
    study = write_judging_study(tmp_path, judges=JUDGES, problems=2)
    served = Served(study, database)
    served.start()
    try:
        savers = [Saver(link, served.base) for link in served.links.values()]
        for saver in savers:
            saver.start()
        until(lambda: all(len(saver.acknowledged) >= 3 for saver in savers), "the first saves")
        before = {saver.gid: max(saver.acknowledged) for saver in savers}
        make_backup(run, study, database)
        after = {saver.gid: max(saver.acknowledged) for saver in savers}
        until(lambda: all(max(s.acknowledged) > after[s.gid] for s in savers), "later saves")
        table = submitted(run, study, database)
        served.kill()
        for saver in savers:
            saver.join(SECONDS)
        database = new_postgres() if kind == "postgresql" else database
        bring_back(run, study, database)
        served.database, served.links = database, {}
        served.start()
        assert submitted(run, study, database) == table
        for saver in savers:
            # The judge's link, letters, and page are unchanged, and saving works.
            data = saver.browser.group(saver.gid)
            head = number_of(data)
            assert head >= before[saver.gid]
            assert data["state"]["ranked"] == [[name] for name in saver.acknowledged[head]]
            status, answer = saver.browser.save(saver.gid, head, data["state"])
            assert (status, number_of(answer)) == (200, head + 1)
        if kind == "sqlite":
            assert "Study restored from a backup" in dashboard(served, "/dashboard/events")
            # While the server runs nothing can be put in its place.
            (copy,) = (tmp_path / "b").iterdir()
            words = ("--restore", copy, "--replace", "--database", database)
            assert run("backup", study, *words).refuses("is in use")
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
    subprocess.run(["bash", "-euc", script], cwd=folder, env=environment, check=True)


def dashboard(served: Served, path: str = "/dashboard") -> str:
    """Read a page of the dashboard."""
    browser = Browserless(served.base)
    browser.get(served.dashboard)
    return browser.get(path)


def test_a_server_backs_up_by_itself(tmp_path: Path, run: Command) -> None:
    """Copies are made at start, regularly and at the stop; a failure shows on the dashboard."""
    study = write_judging_study(tmp_path)
    folder = tmp_path / "copies"
    options = ("--backup", str(folder), "--backup-every", "1s", "--backup-keep", "3")
    with Served(study, arguments=options) as served:
        until(lambda: len(list(folder.glob("*.sqlite3"))) == 3, "three copies")
        until(lambda: "Last backup:" in dashboard(served), "the dashboard to say so")
        folder.rename(tmp_path / "away")
        folder.write_text("no folder any more")
        until(lambda: "The last backup failed" in dashboard(served), "a failure")
        assert 'class="sign bad"' in dashboard(served)
        assert "Backup failed" in dashboard(served, "/dashboard/events")
        folder.unlink()
        until(lambda: "The last backup failed" not in dashboard(served), "a good copy")
        browser = Browserless(served.base)
        browser.get(served.links["J0"])
        gid = browser.groups()[0]
        assert browser.save(gid, 0, all_ranked(browser.group(gid)["labels"]))[0] == 200
    assert {path.suffix for path in folder.iterdir()} == {".sqlite3"}
    place = tmp_path / "other.sqlite3"
    words = ("--restore", max(folder.iterdir()), "--database", place)
    assert "1 revisions" in run("backup", study, *words).err


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
    """`--every` continues after a failure, reports it, and leaves only complete copies."""
    folder = study.parent / "copies"
    folder.write_text("in the way")
    command = [sys.executable, "-m", "quem", "backup", str(study), "--to", str(folder)]
    command += ["--every", "1s", "--keep", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "no backup was made" in process.stderr.readline()
        folder.unlink()
        lines = [process.stdout.readline() for _ in range(count)]
        process.send_signal(how)
        assert process.wait(SECONDS) == code
    assert all(line.startswith(str(folder)) for line in lines)
    assert {path.suffix for path in folder.iterdir()} == {".sqlite3"}
    assert len(list(folder.iterdir())) <= 2


def test_what_cannot_be_copied_is_told(
    study: Path, run: Command, new_postgres: Callable[[], str]
) -> None:
    """A full disk, a missing session, and a database that is left to its own programs."""
    resource = pytest.importorskip("resource", reason="limits of processes are POSIX")
    folder = study.parent / "copies"

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    command = [sys.executable, "-m", "quem", "backup", str(study), "--to", str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=full)
    assert ended.returncode == 1
    (message,) = (line for line in ended.stderr.splitlines() if line.startswith("error: "))
    assert message.startswith(f"error: {folder}: no backup was made: ")
    assert "has room" in message
    assert list(folder.iterdir()) == []
    words = ("--to", folder, "--database", study.with_name("nowhere.sqlite3"))
    assert run("backup", study, *words).refuses("has no judging session")
    kept = ("--backup", folder, "--database", new_postgres())
    assert run("serve", study, *kept).refuses("back it up with pg_dump")
