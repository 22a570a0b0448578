"""Backups of a server that is saving, and the restore drill of docs/how-to/serving.md."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from sqlalchemy import select

from quem.store.models import EventRow
from quem.store.studies import register_study
from quem.studyfile.reading import read_study
from tests.commands.conftest import stored
from tests.patience import SECONDS, until
from tests.served import Browserless, Served, all_ranked, write_judging_study
from tests.trials.trouble import TroubleTrials

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.commands.conftest import Command

QUEM = (sys.executable, "-m", "quem")
DOCS = Path(__file__).parents[2] / "docs/how-to/serving.md"


@dataclass
class PostgresTrouble(TroubleTrials):
    """Backups by the programs of PostgreSQL, as the docs have them."""

    new: Callable[[], str] = str

    def back_up(self) -> None:
        documented("pg_dump", self.folder, self.database)

    def bring_back(self) -> None:
        self.database = self.served.database = self.new()
        documented("pg_restore", self.folder, self.database)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_drill(tmp_path: Path, kind: str, new_postgres: Callable[[], str]) -> None:
    """A server that saves is backed up, killed, loses its database, and goes on from the copy."""
    about: dict[str, Any] = {"rng": random.Random(1), "by_server": False}
    if kind == "sqlite":
        drill = TroubleTrials(tmp_path, str(tmp_path / "store.sqlite3"), **about)
    else:
        drill = PostgresTrouble(tmp_path, new_postgres(), new=new_postgres, **about)
    assert drill.run_kind("restored")["up to the copy"] >= 3 * 2 * 3


def documented(program: str, folder: Path, database: str) -> None:
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
    with stored(study, str(place)) as c:
        assert "restored" in [*c.scalars(select(EventRow.what))]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    study = write_judging_study(tmp_path)
    with stored(study) as c:
        register_study(c, read_study(study).id)
    return study


def test_regular_backups_go_on_until_they_are_stopped(study: Path) -> None:
    """`--every` continues after a failure, reports it, and leaves only complete copies."""
    folder = study.parent / "copies"
    folder.write_text("in the way")
    command = [*QUEM, "backup", str(study), "--to", str(folder), "--every", "1s", "--keep", "2"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "no backup was made" in process.stderr.readline()
        folder.unlink()
        lines = [process.stdout.readline() for _ in range(3)]
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0
    assert all(line.startswith(str(folder)) for line in lines)
    assert {path.suffix for path in folder.iterdir()} == {".sqlite3"}
    assert len(list(folder.iterdir())) <= 2


def test_what_cannot_be_copied_is_told(
    study: Path, run: Command, new_postgres: Callable[[], str]
) -> None:
    resource = pytest.importorskip("resource", reason="limits of processes are POSIX")
    folder = study.parent / "copies"

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    command = [*QUEM, "backup", str(study), "--to", str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=full)
    assert ended.returncode == 1
    (message,) = (line for line in ended.stderr.splitlines() if line.startswith("error: "))
    assert message.startswith(f"error: {folder}: no backup was made: ")
    assert "has room" in message
    assert list(folder.iterdir()) == []
    words = ("--to", folder, "--database", study.with_name("nowhere.sqlite3"))
    assert run("backup", study, *words).refuses("there is no judging session of this study")
    kept = ("--backup", folder, "--database", new_postgres())
    assert run("serve", study, *kept).refuses("back it up with pg_dump")
