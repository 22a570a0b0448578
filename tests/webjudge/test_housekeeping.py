"""What a running server does beside answering."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING

from quem.store.uploads import UploadFolder
from tests.webjudge.sites import rank_all
from webjudge.housekeeping import Housekeeping

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from webjudge import Site

LONG = 60.0


def test_jobs_are_done_at_the_start_every_so_often_and_at_the_stop(site: Site) -> None:
    often, done = threading.Semaphore(0), []
    housekeeping = Housekeeping(site)
    housekeeping.add("rare", 3600, lambda: done.append("rare"))
    housekeeping.add("often", 0.01, often.release)
    housekeeping.start()
    for _ in range(3):
        assert often.acquire(timeout=LONG)
    assert done == ["rare"]
    housekeeping.stop()
    assert done == ["rare", "rare"]
    assert "housekeeping" not in [thread.name for thread in threading.enumerate()]


def test_a_job_that_fails_is_told_and_holds_up_no_other(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """What a job raises is logged and stands among the troubles until it succeeds."""
    failing, runs = threading.Event(), threading.Semaphore(0)
    failing.set()

    def fail() -> None:
        runs.release()
        if failing.is_set():
            raise OSError(28, "No space left on device")

    housekeeping = Housekeeping(site)
    housekeeping.add("copy", 0.01, fail)
    housekeeping.start()
    for _ in range(3):
        assert runs.acquire(timeout=LONG)
    assert "No space left on device" in site.troubles["copy"]
    assert "housekeeping: copy" in caplog.text
    failing.clear()
    housekeeping.stop()
    assert site.troubles == {}


def test_the_log_is_emptied_into_the_file(site: Site, tmp_path: Path) -> None:
    file = site.store.place.file
    assert file is not None

    def revisions() -> int:
        copy = tmp_path / "copy.sqlite3"
        copy.write_bytes(file.read_bytes())
        with closing(sqlite3.connect(copy)) as connection:
            return int(connection.execute("SELECT count(*) FROM revision").fetchone()[0])

    rank_all(site, "J1")
    housekeeping = Housekeeping(site)
    checked = threading.Event()
    housekeeping.add("checked", 3600, checked.set)
    housekeeping.start()
    assert checked.wait(LONG)
    assert revisions() == 2
    rank_all(site, "J2")
    housekeeping.stop()
    assert revisions() == 4


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
