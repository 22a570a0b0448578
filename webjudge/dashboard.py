"""The experimenter's dashboard: how far everybody is, and the life of the study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, abort, request

from quem.errors import QuemError
from quem.store import studies
from quem.store.trail import happenings
from webjudge import asking
from webjudge.access import is_at_desk, site
from webjudge.desk_pages import ask, back, desk_page, message
from webjudge.overview import begun_rankings, overview_page
from webjudge.people import people
from webjudge.results import results

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from werkzeug.wrappers import Response

__all__ = ["desk"]

desk = Blueprint("desk", __name__, url_prefix="/desk")
desk.register_blueprint(people)
desk.register_blueprint(results)

_ACTOR = "dashboard"
_MOST_EVENTS = 200
_NO_LINK = "Open the dashboard's link once more; each start of the server makes a new one."
_UNDECIDED = (
    "There are trial rankings. Say whether they are to be discarded or kept: the overview asks."
)
_NOT_NOW = "The study is {state} by now; look at the overview again."


@desk.before_request
def _only_the_experimenter() -> None:
    with site().store.read() as c:
        if not is_at_desk(c):
            abort(401, _NO_LINK)


@desk.errorhandler(QuemError)
def _refuse(error: QuemError) -> tuple[str, int]:
    """Say what was refused."""
    return message("This cannot be done", *map(str, error.mistakes)), 422


@desk.get("")
def overview() -> str:
    """Show how far the judges are, and what can be done."""
    said = asking.SAID.get(request.args.get("said", ""))
    return desk_page("overview.html", **overview_page(site()), said=said)


@desk.get("/events")
def events() -> str:
    """Show what happened, newest first."""
    with site().store.read() as c:
        found = happenings(c, site().id, _MOST_EVENTS + 1)
    cut = len(found) > _MOST_EVENTS
    return desk_page("events.html", events=found[:_MOST_EVENTS], cut=cut, most=_MOST_EVENTS)


@desk.get("/<any(open, close, discard, reveal):what>")
def ask_first(what: str) -> str:
    """Ask before the study goes on in its life."""
    return ask(asking.about_study(what, overview_page(site())))


@desk.post("/open")
def open_study() -> Response:
    """Open the study; the experimenter says what becomes of trial rankings."""
    choice = request.form.get("trial")
    with site().store.write() as c:
        before = studies.status_of(c, site().id).state
        if before == "trial" and begun_rankings(c, site()):
            if choice not in ("discard", "keep"):
                raise QuemError([_UNDECIDED])
            if choice == "discard":
                studies.discard_trial(c, site().id, _ACTOR)
        studies.set_state(c, site().id, "open", _ACTOR)
    return back("reopened" if before == "closed" else "opened")


@desk.post("/close")
def close_study() -> Response:
    """Close the study."""
    with site().store.write() as c:
        _require(c, "open", "closed")
        studies.set_state(c, site().id, "closed", _ACTOR)
    return back("closed")


@desk.post("/discard")
def discard() -> Response:
    """Throw away what was ranked on trial."""
    with site().store.write() as c:
        _require(c, "trial")
        studies.discard_trial(c, site().id, _ACTOR)
    return back("discarded")


@desk.post("/reveal")
def reveal() -> Response | tuple[str, int]:
    """Let the rankings be seen before the study is closed, which is logged."""
    if request.form.get("sure") != "yes":
        question = asking.about_study("reveal", overview_page(site()))
        return ask(question, "Tick the box first."), 422
    with site().store.write() as c:
        _require(c, "open")
        if not studies.status_of(c, site().id).is_shown:
            studies.reveal(c, site().id, _ACTOR)
    return back("revealed")


def _require(c: Connection, *states: str) -> None:
    """Refuse what a page offered that was loaded before the study went on."""
    state = studies.status_of(c, site().id).state
    if state not in states:
        raise QuemError([_NOT_NOW.format(state="on trial" if state == "trial" else state)])
