"""The organizers' dashboard: how far everybody is, and the life of the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, make_response, request

from quem.errors import QuemError
from quem.store import studies
from quem.store.audit_log import audit_events
from webjudge import confirmations as asking
from webjudge.access import acting, admit, log_out, site
from webjudge.dashboard_pages import UnsureError, ask, back, dashboard_page, message, require_sure
from webjudge.judge_admin import people
from webjudge.overview import overview_page, started_rankings
from webjudge.results import results

if TYPE_CHECKING:
    from flask import Response as OwnResponse
    from sqlalchemy import Connection
    from werkzeug.wrappers import Response

    from webjudge.confirmations import Confirmation

__all__ = ["dashboard"]

dashboard = Blueprint("dashboard", __name__, url_prefix="/dashboard")
dashboard.register_blueprint(people)
dashboard.register_blueprint(results)

# All else is for managers: what is not named here is closed to observers.
_FOR_OBSERVERS = ("dashboard.overview", "dashboard.leave")
_MOST_EVENTS = 200
_UNDECIDED = "There are test rankings. Choose on the overview page whether to delete or keep them."
_NOT_NOW = "The study is now {state}. Reload the overview page."
_LEFT = "Your private link still works: open it again to come back."
_UNSURE = "Confirm to continue."
_UNTICKED = "Select the checkbox to confirm."


@dashboard.before_request
def _only_organizers() -> None:
    admit(observers=request.endpoint in _FOR_OBSERVERS)


@dashboard.errorhandler(QuemError)
def _refuse(error: QuemError) -> tuple[str, int]:
    """Say what was refused."""
    return message("Action not possible", *map(str, error.mistakes)), 422


@dashboard.errorhandler(UnsureError)
def _ask_first(error: UnsureError) -> tuple[str, int]:
    """Ask what should have been asked before."""
    return ask(error.question, _UNTICKED if error.question.sure else _UNSURE), 422


@dashboard.get("")
def overview() -> str:
    """Show how far the judges are, and what can be done."""
    text = asking.SAID.get(request.args.get("said", ""))
    return dashboard_page("overview.html", **overview_page(site()), said=text)


@dashboard.get("/events")
def events() -> str:
    """Show what happened, newest first."""
    site().attempts.note()
    with site().store.read() as c:
        rows = audit_events(c, site().id, _MOST_EVENTS + 1)
    cut = len(rows) > _MOST_EVENTS
    return dashboard_page("events.html", events=rows[:_MOST_EVENTS], cut=cut, most=_MOST_EVENTS)


@dashboard.get("/<any('open', 'close', 'discard', 'discard-and-open', 'reveal'):what>")
def ask_first(what: str) -> str:
    """Ask before the study gets another state."""
    return ask(_question(what))


@dashboard.post("/open")
def open_study() -> Response:
    """Open the study; test rankings are kept only on request."""
    with site().store.write() as c:
        before = studies.status_of(c, site().id).state
        if before == "closed":
            require_sure(_question("open"))
        is_decided = request.form.get("trial") == "keep"
        if before == "trial" and not is_decided and started_rankings(c, site()):
            raise QuemError([_UNDECIDED])
        studies.set_state(c, site().id, "open", acting())
    return back("reopened" if before == "closed" else "opened")


@dashboard.post("/discard-and-open")
def discard_and_open() -> Response:
    """Delete test rankings and open the study."""
    require_sure(_question("discard-and-open"))
    with site().store.write() as c:
        _require(c, "trial")
        studies.discard_trial(c, site().id, acting())
        studies.set_state(c, site().id, "open", acting())
    return back("opened")


@dashboard.post("/close")
def close_study() -> Response:
    """Close the study."""
    require_sure(_question("close"))
    with site().store.write() as c:
        _require(c, "open", "closed")
        studies.set_state(c, site().id, "closed", acting())
    return back("closed")


@dashboard.post("/discard")
def discard() -> Response:
    """Delete test rankings."""
    require_sure(_question("discard"))
    with site().store.write() as c:
        _require(c, "trial")
        studies.discard_trial(c, site().id, acting())
    return back("discarded")


@dashboard.post("/reveal")
def reveal() -> Response:
    """Let the rankings be seen before the study is closed, which is logged."""
    require_sure(_question("reveal"))
    with site().store.write() as c:
        _require(c, "open")
        if not studies.status_of(c, site().id).is_shown:
            studies.reveal(c, site().id, acting())
    return back("revealed")


@dashboard.post("/leave")
def leave() -> OwnResponse:
    """Log this browser out."""
    page = {"title": "You are logged out", "paragraphs": [_LEFT], "organizer": None}
    answer = make_response(dashboard_page("message.html", **page))
    log_out(answer)
    return answer


def _question(what: str) -> Confirmation:
    return asking.about_study(what, overview_page(site()))


def _require(c: Connection, *states: str) -> None:
    """Refuse what a page offered that was loaded before the study went on."""
    state = studies.status_of(c, site().id).state
    if state not in states:
        raise QuemError([_NOT_NOW.format(state="in test mode" if state == "trial" else state)])
