"""Links and cookies: a token in a link is exchanged for a cookie and leaves the address bar."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from typing import TYPE_CHECKING

from flask import (
    Blueprint,
    abort,
    current_app,
    g,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from sqlalchemy.exc import OperationalError
from werkzeug.http import parse_cookie

from quem.store.connecting import UnavailableError
from quem.store.links import PATHS
from quem.store.models import now
from quem.store.people import (
    ROLES,
    note_session,
    person_of_link,
    person_of_session,
    sign_in,
    sign_out,
)
from quem.store.studies import status_of
from quem.store.work import desk_of_session
from webjudge.languages import choose_language, gettext, marked

if TYPE_CHECKING:
    from flask import Flask
    from sqlalchemy.orm import Session
    from werkzeug.wrappers import Response

    from quem.store.models import PersonRow, Role
    from webjudge.site import Site

access = Blueprint("access", __name__)

_WEEK = 60 * 60 * 24 * 7
# The link that a cookie stands for may end at any time before that.
_SECONDS: dict[Role, int] = {
    "organizer": 13 * _WEEK,
    "judge": 26 * _WEEK,
    "subject": 26 * _WEEK,
}
_HOMES: dict[Role, str] = {
    "organizer": "dashboard.overview",
    "judge": "judge.home",
    "subject": "solve.home",
}
_NOTED = dt.timedelta(minutes=10)
NO_LINK = marked("To open this page, use the private link the organizer sent you.")
_RETURN = marked("Open your private link again.")
_NO_DASHBOARD_SESSION = (
    "Open your private dashboard link again. If it is lost or was replaced, create a new one with "
    "quem links organizers --reissue."
)
_ENDED = marked("This link is invalid or has been replaced. Ask the organizer for a new one.")
_ENDED_DASHBOARD = (
    "This link is invalid or has been replaced. The person who runs the server can create a new "
    "one with quem links organizers --reissue."
)


def site() -> Site:
    """The site that the app serves: the same for all of a request, also if it is edited then."""
    if "site" not in g:
        g.site = current_app.extensions["quem"]
    current_site: Site = g.site
    return current_site


def current_person(c: Session, role: Role) -> PersonRow:
    """The judge or the subject whose browser this is, found once in a request, or answer 401."""
    if role not in g:
        _know(role, _signed_in(c, role))
    person: PersonRow | None = g.get(role)
    if person is None:
        abort(401, gettext(NO_LINK))
    return person


def _know(role: Role, person: PersonRow | None) -> None:
    setattr(g, role, person)
    choose_language(site(), person)


def _signed_in(c: Session, role: Role) -> PersonRow | None:
    session = request.cookies.get(_cookie(role), "")
    return person_of_session(c, site().id, role, session) if session else None


def find_desk(c: Session, gid: str) -> None:
    """Find the judge whose browser this is, with what they work on, or answer 401."""
    session = request.cookies.get(_cookie("judge"), "")
    g.desk = desk_of_session(c, site().id, session, gid) if session else None
    _know("judge", g.desk and g.desk.judge)
    current_person(c, "judge")


def admit() -> None:
    """Let an organizer pass, as `flask.g.organizer`; answer 401 to everybody else."""
    with site().store.read() as c:
        organizer = _signed_in(c, "organizer")
    if organizer is None:
        abort(401, _NO_DASHBOARD_SESSION)
    g.organizer = organizer
    # A page that looks for news by itself is nobody's sign of life.
    if request.method != "GET" or request.headers.get("Sec-Fetch-Dest") != "empty":
        _note_use(request.cookies[_cookie("organizer")])


def _note_use(session: str) -> None:
    """Note now and then that an organizer uses their session."""
    used: dict[str, dt.datetime] = current_app.extensions.setdefault("quem-used", {})
    at = now()
    if session in used and at - used[session] < _NOTED:
        return
    with suppress(OperationalError, UnavailableError), site().store.write(patience=0) as c:
        note_session(c, session)
        used[session] = at


def acting() -> str:
    """Who acts in a request that was admitted, as `quem.store.events.record` takes it."""
    return f"organizer:{g.organizer.id}"


@access.get("/<any(j, p, d):path>/<token>")
def enter(path: str, token: str) -> Response:
    """Exchange a link for a cookie. Nothing is used up: scanners of mail come by too."""
    role = next(role for role, begins in PATHS.items() if begins == path)
    with site().store.read() as c:
        person = person_of_link(c, site().id, role, token)
        is_new = role == "organizer" and status_of(c, site().id).state == "trial"
        to_set_up = is_new and bool(site().lacking(c))
    if person is None or (role == "subject" and site().spec.solving is None):
        abort(404, _ENDED_DASHBOARD if role == "organizer" else gettext(_ENDED))
    page = "dashboard.setup.steps" if to_set_up else _HOMES[role]
    with site().store.write() as c:
        session = sign_in(c, person)
    response = redirect(url_for(page), code=303)
    response.set_cookie(
        _cookie(role),
        session,
        max_age=_SECONDS[role],
        path=request.script_root or "/",
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
    )
    return response


@access.get("/")
def front() -> Response:
    """Lead whoever has a cookie to where they belong."""
    with site().store.read() as c:
        if _signed_in(c, "organizer"):
            return redirect(url_for(_HOMES["organizer"]))
        solves = _cookie("subject") in request.cookies and _cookie("judge") not in request.cookies
        role: Role = "subject" if solves else "judge"
        current_person(c, role)
    return redirect(url_for(_HOMES[role]))


def log_out(response: Response, role: Role = "organizer") -> None:
    """End a session, and take its cookie away from this browser; the link still works."""
    with site().store.write() as c:
        sign_out(c, request.cookies.get(_cookie(role), ""))
    response.delete_cookie(
        _cookie(role),
        path=request.script_root or "/",
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
    )


def signed_out(role: Role) -> Response:
    """End this browser's session of a judge or a subject, and show how to return."""
    texts = {"title": gettext("You are signed out"), "text": gettext(_RETURN)}
    page = render_template("judge/message.html", study={"title": site().spec.title}, **texts)
    answer = make_response(page)
    log_out(answer, role)
    return answer


def _cookie(role: Role) -> str:
    return _cookie_of(role, site())


def _cookie_of(role: Role, served: Site) -> str:
    return f"quem-{'dashboard' if role == 'organizer' else role}-{served.key}"


def sender(app: Flask, cookies: str) -> str:
    """Give a word for whoever has one of the cookies of a header; empty where nobody has.

    Asked before a large body is received.
    """
    served: Site = app.extensions["quem"]
    held = parse_cookie(cookies)
    for role in ROLES:
        if session := held.get(_cookie_of(role, served)):
            with served.store.read() as c:
                if owner := person_of_session(c, served.id, role, session):
                    return f"{role} {owner.key}"
    return ""
