"""The dashboard's pages that show rankings: hidden until the study is closed or revealed."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from flask import Blueprint, abort, make_response, redirect, url_for

from quem.store.exporting import submitted_rankings
from quem.store.people import people_of
from quem.store.state import QUESTIONS
from quem.store.studies import status_of
from webjudge.access import site
from webjudge.dashboard_pages import dashboard_page, message, problem_titles
from webjudge.report import live_report
from webjudge.security import policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flask import Response
    from werkzeug.wrappers import Response as AnyResponse

    from quem.store.exporting import SubmittedRanking
    from quem.store.models import PersonRow
    from quem.studyfile.models import Question

results = Blueprint("results", __name__)

_WAIT_SECONDS = 4
_AGAIN_SECONDS = "2"
_HIDDEN = (
    "Rankings, comments, and the report are hidden until you close the study or reveal the "
    "rankings on the overview page. Revealing is logged."
)
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
}
_TABLES = (".csv", ".json")


@results.before_request
def _only_what_may_be_seen() -> tuple[str, int] | None:
    with site().store.read() as c:
        if status_of(c, site().id).is_shown:
            return None
    return message("Hidden", _HIDDEN), 403


@results.get("/words")
def words() -> str:
    """Show what judges wrote."""
    with site().store.read() as c:
        rankings = submitted_rankings(c, site().id)
        judges = people_of(c, site().id, "judge")
    names = {judge.id: judge.name for judge in judges}
    titles = problem_titles()
    by_title: dict[str, list[dict[str, Any]]] = {title: [] for title in titles.values()}
    for ranking in rankings:
        if remarks := _remarks(ranking):
            title = titles.get(ranking.problem, ranking.problem)
            by_title.setdefault(title, []).append(remarks | {"name": names[ranking.judge]})
    if closing := [
        {"judge": judge.id, "name": judge.name, "again": False, "remarks": said, "solutions": []}
        for judge in judges
        if (said := _closing(judge))
    ]:
        by_title["At the end"] = closing
    return dashboard_page("words.html", problems={k: v for k, v in by_title.items() if v})


@results.get("/report/")
def report() -> Response:
    """Show the report, remade if something was submitted since; or that it is being made."""
    latest = live_report(site()).get(_WAIT_SECONDS)
    files = _described(latest.files) if latest else {}
    answer = make_response(dashboard_page("report.html", made=latest, files=files))
    if latest is None:
        # Asks again by itself, also without scripts.
        answer.headers["Refresh"] = _AGAIN_SECONDS
    return answer


@results.post("/report/again")
def report_again() -> AnyResponse:
    """Run the analysis once more, whether or not something changed."""
    live_report(site()).drop()
    return redirect(url_for("dashboard.results.report"), code=303)


@results.get("/report/<name>")
def report_file(name: str) -> AnyResponse:
    """Send a file that the analysis made; no path is ever made of its name."""
    live = live_report(site())
    latest = live.last() or live.get(_WAIT_SECONDS)
    if latest is None or latest.mistakes:
        return redirect(url_for("dashboard.results.report"), code=303)
    if name not in latest.files:
        abort(404)
    suffix = PurePath(name).suffix
    answer = make_response(latest.files[name])
    answer.content_type = _TYPES.get(suffix, "application/octet-stream")
    if suffix in _TABLES or suffix not in _TYPES:
        answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    # The report is one file with its styles inside, and without scripts.
    styled = policy(
        style_src="'unsafe-inline'", script_src="'none'", img_src="'self' data:", font_src="data:"
    )
    answer.headers["Content-Security-Policy"] = styled
    return answer


def _remarks(ranking: SubmittedRanking) -> dict[str, Any] | None:
    """What a judge said with a ranking besides the order, or None.

    Each remark is a pair of what was asked or marked, and what was answered; either may be empty.
    """
    state = ranking.state
    of_solver: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for solver, reason in state.cannot.items():
        of_solver[solver].append(("cannot judge", reason))
    on_task: list[tuple[str, str]] = []
    for field in QUESTIONS:
        for solver in field.solutions(state) if field.label and field.is_per_solution else ():
            text = field.cell(state, solver) if field.kind != "solutions" else ""
            of_solver[solver].append(("" if field.is_words else field.label, text))
        if field.label and not field.is_per_solution and (text := getattr(state, field.name)):
            on_task.append(("" if field.is_words else field.label, text))
    asked = {question.id: question for question in site().spec.questions}
    for question, given in chain(state.answers.items(), state.written.items()):
        for solver, answer in given.items():
            remarks = of_solver[solver] if solver else on_task
            remarks.append(_answered(asked.get(question), question, answer))
    if not (of_solver or on_task):
        return None
    return {
        "judge": ranking.judge,
        "again": ranking.occasion > 1,
        "remarks": on_task,
        "solutions": sorted(of_solver.items()),
    }


def _answered(question: Question | None, name: str, answer: str) -> tuple[str, str]:
    """Give a question as judges read it, or its id where it was removed, and the answer."""
    if question is None:
        return name, answer
    return question.text, "" if question.kind == "flag" else answer


def _closing(judge: PersonRow) -> list[tuple[str, str]]:
    """What a judge answered at the end."""
    asked = {question.id: question for question in site().spec.questions}
    given = [*judge.closing.get("answers", {}).items(), *judge.closing.get("written", {}).items()]
    return [_answered(asked.get(question), question, answer) for question, answer in given]


def _described(files: Mapping[str, bytes]) -> dict[str, list[tuple[str, int]]]:
    """Sort the report's files by what they are for."""
    kinds: dict[str, list[tuple[str, int]]] = {"Data": [], "Figures": []}
    for name, content in files.items():
        if name != "report.html":
            kind = "Data" if PurePath(name).suffix in _TABLES else "Figures"
            kinds[kind].append((name, len(content)))
    return {kind: rows for kind, rows in kinds.items() if rows}
