"""The live report, made by ``quem analyze`` in a separate process: this one stays small."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING

from flask import current_app

from quem.store.audit_log import Stamp, stamp_of
from quem.store.location import DATABASE_VARIABLE
from quem.store.models import now
from quem.store.studies import status_of

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

    from webjudge.site import Site

LONGEST_SECONDS = 600.0
_USERS_MISTAKE = 1
_FAILED = (
    "The analysis failed because of a bug. Run quem analyze in a terminal and report the traceback."
)
_TOO_LONG = (
    "The analysis took longer than {minutes:.0f} minutes and was stopped. Run quem analyze in a "
    "terminal."
)
_log = logging.getLogger("webjudge")


@dataclass(frozen=True)
class Made:
    """What a run of the analysis gave."""

    of: tuple[Stamp, object]  # what it is of: a `Stamp`, and the study file's time of change
    # By name; empty where the analysis refused.
    files: Mapping[str, bytes] = field(default_factory=dict)
    summary: str = ""
    # In words; there is a mistake where there are no files
    warnings: tuple[str, ...] = ()
    mistakes: tuple[str, ...] = ()
    at: dt.datetime = field(default_factory=now)


class LiveReport:
    """The report of a site's study, kept until other rankings are submitted."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._lock = Lock()
        self._report: Made | None = None
        self._running: Future[Made] | None = None

    def get(self, seconds: float) -> Made | None:
        """Give the report of what is submitted now, or None where it takes longer to make.

        Any number of requests at the same time run the analysis once.
        """
        wanted = self._wanted()
        with self._lock:
            if self._report and self._report.of == wanted:
                return self._report
            if self._running is None:
                self._running = Future()
                Thread(target=self._run, args=(self._running, wanted), daemon=True).start()
            running = self._running
        try:
            return running.result(seconds)
        except NotYetError:
            return None

    def last(self) -> Made | None:
        """Give what was made last, unless judges or the state of the study are others by now.

        New rankings make no difference: what a page offers can be downloaded as it was.
        """
        wanted, report = self._wanted()[0], self._report
        if report is None:
            return None
        same = (report.of[0].judges, report.of[0].state) == (wanted.judges, wanted.state)
        return report if same else None

    def drop(self) -> None:
        """Let go of what was made, so that it is remade."""
        self._report = None

    def _wanted(self) -> tuple[Stamp, object]:
        site = self._site
        with site.store.read() as c:
            stamp = stamp_of(c, site.id, status_of(c, site.id).state)
        try:
            changed = site.path.stat().st_mtime_ns
        except OSError:
            changed = 0
        return stamp, changed

    def _run(self, running: Future[Made], wanted: tuple[Stamp, object]) -> None:
        try:
            report = _analysed(self._site, wanted)
        except Exception as error:  # noqa: BLE001  who waits for this thread has to be told
            # Only its name: texts of errors may hold the database's URL.
            _log.error("report: %s", type(error).__name__)
            report = Made(wanted, mistakes=(_FAILED,))
        with self._lock:
            self._report, self._running = report, None
        running.set_result(report)


def live_report(site: Site) -> LiveReport:
    """Give the live report of the app that is running."""
    report: LiveReport = current_app.extensions.setdefault("quem-report", LiveReport(site))
    return report


def _analysed(site: Site, wanted: tuple[Stamp, object]) -> Made:
    with tempfile.TemporaryDirectory(prefix="quem-report-") as temporary:
        folder = Path(temporary) / "report"
        try:
            ended = _quem_analyze(site, folder)
        except subprocess.TimeoutExpired:
            return Made(wanted, mistakes=(_TOO_LONG.format(minutes=LONGEST_SECONDS / 60),))
        warnings = _messages(ended.stderr, "warning: ")
        if ended.returncode == 0:
            files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
            return Made(wanted, files, ended.stdout.strip(), warnings)
    if ended.returncode == _USERS_MISTAKE:
        return Made(wanted, mistakes=_messages(ended.stderr, "error: ") or (_FAILED,))
    _log.error("report: quem analyze ended with %d", ended.returncode)
    return Made(wanted, mistakes=(_FAILED,))


def _quem_analyze(site: Site, folder: Path) -> subprocess.CompletedProcess[str]:
    # -P: a file of the study that is named as a library is no library.
    quem = [sys.executable, "-P", "-m", "quem"]
    command = [*quem, "analyze", str(site.path), "--no-code", "--out", str(folder)]
    # The database's URL may hold a password, and everybody can read a process's arguments.
    environment = {**os.environ, DATABASE_VARIABLE: site.store.place.url, "PYTHONUTF8": "1"}
    return subprocess.run(  # noqa: S603  our own program
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=LONGEST_SECONDS,
        check=False,
    )


def _messages(stderr: str, kind: str) -> tuple[str, ...]:
    lines = [line for line in stderr.splitlines() if line.startswith(kind)]
    return tuple(line.removeprefix(kind) for line in lines)
