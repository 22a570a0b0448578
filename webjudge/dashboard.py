"""The organizers' dashboard: how far everybody is, and the life of the study."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING

from flask import Blueprint, Response, make_response, request

from quem.errors import QuemError
from quem.store import studies
from quem.store.audit_log import audit_events
from quem.store.studies import solving_state
from webjudge import confirmations as asking
from webjudge import wording
from webjudge.access import acting, admit, log_out, site
from webjudge.dashboard_pages import (
    UnsureError,
    ask,
    asked_span,
    back,
    dashboard_page,
    message,
    require_sure,
)
from webjudge.mail_admin import mail
from webjudge.overview import overview_page, started_rankings
from webjudge.people import judge_pages
from webjudge.results import results
from webjudge.reviewing import review
from webjudge.setup import setup
from webjudge.solving_admin import solving_pages
from webjudge.todo import what_needs_doing

if TYPE_CHECKING:
    from sqlalchemy.orm import Session
    from werkzeug.wrappers import Response as AnyResponse

    from webjudge.confirmations import Confirmation

dashboard = Blueprint("dashboard", __name__, url_prefix="/dashboard")
dashboard.register_blueprint(judge_pages)
dashboard.register_blueprint(mail)
dashboard.register_blueprint(results)
dashboard.register_blueprint(review)
dashboard.register_blueprint(setup)
dashboard.register_blueprint(solving_pages)

_MOST_EVENTS = 200
_ALL_EVENTS = 2**31 - 1
_LONGEST_NOTICE = 100
_UNDECIDED = "There are test rankings. Choose on the overview page whether to delete or keep them."
_NOT_NOW = "The study is now {state}. Reload the overview page."
_STILL_SOLVING = "People are still solving. Close the solving session first."
_LEFT = "Your private link still works: open it again to come back."
_UNSURE = "Confirm to continue."
_UNTYPED = "Type “{word}” to confirm."
_NO_NOTICE = f"The notice to judges must be one line of at most {_LONGEST_NOTICE} characters."


@dashboard.before_request
def _only_organizers() -> None:
    admit()


@dashboard.errorhandler(QuemError)
def _refuse(error: QuemError) -> tuple[str, int]:
    """Say what was refused."""
    return message("Action not possible", *map(str, error.mistakes)), 422


@dashboard.errorhandler(UnsureError)
def _ask_first(error: UnsureError) -> tuple[str, int]:
    """Ask what should have been asked before."""
    word, is_new = error.question.word, bool(error.question.instead[0])
    refusal = _UNTYPED.format(word=word) if word else "" if is_new else _UNSURE
    return ask(error.question, refusal), 422


@dashboard.get("")
def overview() -> str:
    """Show how far the judges are, and what can be done."""
    page = overview_page(site(), asked_span())
    return dashboard_page("overview.html", **page, todo=what_needs_doing(page))


@dashboard.get("/events")
def events() -> str:
    """Show what happened, newest first."""
    with site().store.read() as c:
        rows = audit_events(c, site().id, _MOST_EVENTS + 1)
    cut = len(rows) > _MOST_EVENTS
    return dashboard_page("events.html", events=rows[:_MOST_EVENTS], cut=cut, most=_MOST_EVENTS)


@dashboard.get("/events.csv")
def events_table() -> Response:
    """Send all that happened as a table, oldest first."""
    with site().store.read() as c:
        rows = audit_events(c, site().id, _ALL_EVENTS)
    table = StringIO()
    writer = csv.writer(table)
    writer.writerow(("time", "by", "event", "person", "problem", "text"))
    for event in reversed(rows):
        at = event.at.isoformat(timespec="seconds")
        writer.writerow(
            (at, event.by, event.what, event.person, event.problem, wording.happened(event))
        )
    headers = {"Content-Disposition": 'attachment; filename="events.csv"'}
    return Response(table.getvalue(), content_type="text/csv; charset=utf-8", headers=headers)


@dashboard.get("/<any('open', 'pause', 'close', 'discard', 'discard-and-open', 'reveal'):what>")
def ask_first(what: str) -> str:
    """Ask before the study gets another state."""
    return ask(_question(what))


@dashboard.post("/open")
def open_study() -> AnyResponse:
    """Open the study; test rankings are kept only on request."""
    with site().store.write() as c:
        before = studies.status_of(c, site().id).state
        if site().spec.solving and solving_state(c, site().id) != "closed":
            raise QuemError(_STILL_SOLVING)
        if before in ("closed", "paused"):
            require_sure(_question("open"))
        is_decided = request.form.get("trial") == "keep"
        if before == "trial" and not is_decided and started_rankings(c, site()):
            raise QuemError(_UNDECIDED)
        studies.set_state(c, site().id, "open", acting())
    return back({"closed": "reopened", "paused": "resumed"}.get(before, "opened"))


@dashboard.post("/discard-and-open")
def discard_and_open() -> AnyResponse:
    """Delete test rankings and open the study."""
    require_sure(_question("discard-and-open"))
    with site().store.write() as c:
        _require(c, "trial")
        studies.discard_trial(c, site().id, acting())
        studies.set_state(c, site().id, "open", acting())
    return back("opened")


@dashboard.post("/pause")
def pause_study() -> AnyResponse:
    """Pause the study, or change what judges read about it."""
    require_sure(_question("pause"))
    until = request.form.get("until", "").strip()
    if len(until) > _LONGEST_NOTICE or not until.isprintable():
        raise QuemError(_NO_NOTICE)
    with site().store.write() as c:
        _require(c, "open", "paused")
        studies.set_state(c, site().id, "paused", acting(), until)
    return back("paused")


@dashboard.post("/close")
def close_study() -> AnyResponse:
    require_sure(_question("close"))
    with site().store.write() as c:
        _require(c, "open", "paused", "closed")
        studies.set_state(c, site().id, "closed", acting())
    return back("closed")


@dashboard.post("/discard")
def discard() -> AnyResponse:
    """Delete test rankings."""
    require_sure(_question("discard"))
    with site().store.write() as c:
        _require(c, "trial")
        studies.discard_trial(c, site().id, acting())
    return back("discarded")


@dashboard.post("/reveal")
def reveal() -> AnyResponse:
    """Let the rankings be seen before the study is closed, which is logged."""
    require_sure(_question("reveal"))
    with site().store.write() as c:
        _require(c, "open", "paused")
        if not studies.status_of(c, site().id).is_shown:
            studies.reveal(c, site().id, acting())
    return back("revealed")


@dashboard.post("/leave")
def leave() -> Response:
    """Log this browser out."""
    page = {"title": "You are logged out", "paragraphs": [_LEFT], "organizer": None}
    answer = make_response(dashboard_page("message.html", **page))
    log_out(answer)
    return answer


def _question(what: str) -> Confirmation:
    return asking.about_study(what, overview_page(site()))


def _require(c: Session, *states: str) -> None:
    """Refuse what a page offered that was loaded before the study went on."""
    state = studies.status_of(c, site().id).state
    if state not in states:
        raise QuemError(_NOT_NOW.format(state="in test mode" if state == "trial" else state))
