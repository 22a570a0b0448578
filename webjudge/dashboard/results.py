"""Report and comments, hidden until the study is closed or revealed."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path, PurePath
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, abort, current_app, make_response, redirect, url_for
from markupsafe import Markup

from quem.store.audit_log import Stamp, stamp_of
from quem.store.exporting import submitted_rankings
from quem.store.location import DATABASE_VARIABLE
from quem.store.models import now
from quem.store.people import people_of
from quem.store.state import QUESTIONS, State
from quem.store.studies import status_of
from webjudge.access import site
from webjudge.dashboard.page import dashboard_page, message, problem_titles
from webjudge.security import policy

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

    from werkzeug.wrappers import Response as AnyResponse

    from webjudge.site import Site

pages = Blueprint("results", __name__)

LONGEST_SECONDS = 600.0  # limit of one analysis
_WAIT_SECONDS = 4
_AGAIN_SECONDS = "2"
_USERS_MISTAKE = 1
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
}
_TABLES = (".csv", ".json")
_REPORT = "report.html"
# The report inlines its styles.
_STYLED = {"style_src": "'self' 'unsafe-inline'", "img_src": "'self' data:"}
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_MAIN = re.compile(r"<main[^>]*>(.*)</main>", re.DOTALL)
_log = logging.getLogger("webjudge")


@dataclass(frozen=True)
class Made:
    """Outcome of an analysis."""

    of: tuple[Stamp, float]  # submissions, and modification time of the study file
    # By name; empty if the analysis failed.
    files: Mapping[str, bytes] = field(default_factory=dict)
    mistakes: tuple[str, ...] = ()
    failure: str = ""  # "bug" or "slow" without files and mistakes
    at: dt.datetime = field(default_factory=now)

    @property
    def body(self) -> Markup:
        """The report with its styles, to embed in an isolated part of a page."""
        page = self.files[_REPORT].decode()
        style, main = _STYLE.search(page), _MAIN.search(page)
        rules = re.sub(r":root|\bbody\b(?= \{)", ":host", style[1]) if style else ""
        rules = rules.replace('"Source Serif 4"', '"Source Serif"')
        return Markup(f"<style>{rules}</style>{main[1] if main else page}")  # noqa: S704  our own


class LiveReport:
    """The study's report, cached until rankings change."""

    def __init__(self, served: Site) -> None:
        self._site = served
        self._lock = Lock()
        self._making: Future[Made] | None = None
        self.latest: Made | None = None

    def get(self, seconds: float) -> Made | None:
        """The current report, or None while it is being generated.

        Concurrent requests share one run.
        """
        wanted = self._wanted()
        with self._lock:
            if self.latest and self.latest.of == wanted:
                return self.latest
            making = self._making
            if making is None:
                making = self._making = Future()
                Thread(target=self._make, args=(making, wanted), daemon=True).start()
        try:
            return making.result(seconds)
        except NotYetError:
            return None

    def last(self) -> Made | None:
        """The last outcome, unless the judges or the state of the study have changed.

        New rankings do not invalidate it: files of a page shown before can still be downloaded.
        """
        (wanted, _), made = self._wanted(), self.latest
        is_same = made and (made.of[0].judges, made.of[0].state) == (wanted.judges, wanted.state)
        return made if is_same else None

    def _wanted(self) -> tuple[Stamp, float]:
        served = self._site
        with served.store.read() as c:
            stamp = stamp_of(c, served.id, status_of(c, served.id).state)
        with suppress(OSError):
            return stamp, served.path.stat().st_mtime_ns
        return stamp, 0

    def _make(self, making: Future[Made], wanted: tuple[Stamp, float]) -> None:
        try:
            made = _analysed(self._site, wanted)
        except subprocess.TimeoutExpired:
            made = Made(wanted, failure="slow")
        except Exception as error:  # noqa: BLE001  who waits for this thread has to be told
            # Only its name: error messages may contain the database's URL.
            _log.error("report: %s", type(error).__name__)
            made = Made(wanted, failure="bug")
        with self._lock:
            self.latest, self._making = made, None
        making.set_result(made)


def live_report(served: Site) -> LiveReport:
    """The live report of the current app."""
    report: LiveReport = current_app.extensions.setdefault("quem-report", LiveReport(served))
    return report


def _analysed(served: Site, wanted: tuple[Stamp, float]) -> Made:
    """Run `quem analyze` in a subprocess, to keep this one small."""
    with tempfile.TemporaryDirectory(prefix="quem-report-") as temporary:
        folder = Path(temporary) / "report"
        # -P: files in the study folder must not shadow libraries.
        quem = [sys.executable, "-P", "-m", "quem"]
        ended = subprocess.run(  # noqa: S603  our own program
            [*quem, "analyze", str(served.path), "--no-code", "--out", str(folder)],
            # The database's URL may contain a password, and arguments are visible to all users.
            env={**os.environ, DATABASE_VARIABLE: served.store.place.url, "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=LONGEST_SECONDS,
            check=False,
        )
        if ended.returncode == 0:
            return Made(wanted, {path.name: path.read_bytes() for path in folder.iterdir()})
    if ended.returncode != _USERS_MISTAKE:
        _log.error("report: quem analyze ended with %d", ended.returncode)
        return Made(wanted, failure="bug")
    lines = (line for line in ended.stderr.splitlines() if line.startswith("error: "))
    return Made(wanted, mistakes=tuple(line.removeprefix("error: ") for line in lines))


@pages.before_request
def _only_what_may_be_seen() -> tuple[str, int] | None:
    with site().store.read() as c:
        if status_of(c, site().id).is_shown:
            return None
    return message("hidden"), 403


@pages.get("/report/")
def report() -> Response:
    """Show the current report, or that it is being generated."""
    answer = make_response()
    answer.set_data(dashboard_page("report.html", **report_page(answer)))
    return answer


def report_page(answer: Response) -> dict[str, Any]:
    """Render the report's frame, and set its headers."""
    made = live_report(site()).get(_WAIT_SECONDS)
    if made is None:
        # Refreshes without scripts.
        answer.headers["Refresh"] = _AGAIN_SECONDS
    answer.headers["Content-Security-Policy"] = policy(**_STYLED)
    files = sorted((made.files if made else {}).items(), key=lambda file: _kind(file[0]))
    kinds: dict[str, list[tuple[str, int]]] = {}
    for name, content in files:
        kinds.setdefault(_kind(name)[1], []).append((name, len(content)))
    return {"made": made, "files": kinds, "longest_minutes": round(LONGEST_SECONDS / 60)}


def _kind(name: str) -> tuple[int, str, str]:
    if name == _REPORT:
        return 0, "Report", name
    if PurePath(name).suffix in _TABLES:
        return 1, "Data: each table of the report as CSV; all results in analysis.json", name
    return 2, "Figures of the report, for papers and slides", name


@pages.post("/report/again")
def report_again() -> AnyResponse:
    """Regenerate the report even if nothing has changed."""
    live_report(site()).latest = None
    return redirect(url_for("dashboard.results.report"), code=303)


@pages.get("/report/<name>")
def report_file(name: str) -> AnyResponse:
    """Send a report file by its name, which is never used as a path."""
    live = live_report(site())
    latest = live.last() or live.get(_WAIT_SECONDS)
    if latest is None or not latest.files:
        return redirect(url_for("dashboard.results.report"), code=303)
    if name not in latest.files:
        abort(404)
    suffix = PurePath(name).suffix
    answer = make_response(latest.files[name])
    answer.content_type = _TYPES.get(suffix, "application/octet-stream")
    if suffix in _TABLES or suffix not in _TYPES:
        answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    closed = {"style_src": "'unsafe-inline'", "script_src": "'none'", "font_src": "data:"}
    answer.headers["Content-Security-Policy"] = policy(**_STYLED | closed)
    return answer


@pages.get("/words")
def words() -> str:
    """Show judges' comments by task, then those on the study."""
    with site().store.read() as c:
        rankings = submitted_rankings(c, site().id)
        judges = people_of(c, site().id, "judge")
    names = {judge.id: judge.name for judge in judges}
    titles = problem_titles()
    written: dict[str, list[dict[str, Any]]] = {title: [] for title in titles.values()}
    for one in rankings:
        of_solver = _remarks(one.state)
        said: dict[str, Any] = {
            "judge": one.judge,
            "name": names[one.judge],
            "again": one.occasion > 1,
        }
        said |= {"remarks": of_solver.pop("", []), "solutions": sorted(of_solver.items())}
        if said["remarks"] or said["solutions"]:
            written.setdefault(titles.get(one.problem, one.problem), []).append(said)
    closing = []
    for judge in judges:
        given = (judge.closing.get(shelf, {}) for shelf in ("answers", "written"))
        if remarks := [_answered(*pair) for answers in given for pair in answers.items()]:
            closing.append({"judge": judge.id, "name": judge.name, "remarks": remarks})
    return dashboard_page("words.html", written=written, closing=closing)


def _remarks(state: State) -> dict[str, list[tuple[str, str]]]:
    """A judge's remarks by solver; "" has those on the whole task.

    Each remark is a pair of question or mark, and answer; either may be empty.
    """
    said: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for solver, reason in state.cannot.items():
        said[solver].append(("cannot judge", reason))
    for field_ in QUESTIONS:
        label = "" if field_.is_words else field_.label
        if field_.label and field_.is_per_solution:
            for solver in field_.solutions(state):
                text = field_.cell(state, solver) if field_.kind != "solutions" else ""
                said[solver].append((label, text))
        elif field_.label and (text := getattr(state, field_.name)):
            said[""].append((label, text))
    for question, given in chain(state.answers.items(), state.written.items()):
        for solver, answer in given.items():
            said[solver].append(_answered(question, answer))
    return said


def _answered(question: str, answer: str) -> tuple[str, str]:
    """A question (its id if it was removed) and the answer as judges saw them."""
    asked = next((one for one in site().spec.questions if one.id == question), None)
    if asked is None:
        return question, answer
    return asked.text, "" if asked.kind == "flag" else answer
