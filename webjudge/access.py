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
from quem.store.desk import desk_of_session
from quem.store.judges import judge_of_session
from quem.store.models import now
from quem.store.organizers import organizer_of_session
from quem.store.studies import note_session, session_of, sign_in, sign_out, status_of
from quem.store.subjects import subject_of_session
from webjudge.lacking import lacking
from webjudge.language_choice import choose_language
from webjudge.languages import gettext, marked

if TYPE_CHECKING:
    from flask import Flask
    from sqlalchemy import Connection
    from werkzeug.wrappers import Response

    from quem.store.judges import StoredJudge
    from quem.store.organizers import StoredOrganizer
    from quem.store.subjects import StoredSubject
    from webjudge.site import Site

access = Blueprint("access", __name__)

_DASHBOARD, JUDGE, SUBJECT = "dashboard", "judge", "subject"
_WEEK = 60 * 60 * 24 * 7
# The link that a cookie stands for may end at any time before that.
_SECONDS = {_DASHBOARD: 13 * _WEEK, JUDGE: 26 * _WEEK, SUBJECT: 26 * _WEEK}
_NOTED = dt.timedelta(minutes=10)
NO_LINK = marked("To open this page, use the private link the organizer sent you.")
_RETURN = marked("Open your private link again.")
_NO_DASHBOARD_SESSION = (
    "Open your private dashboard link again. If it is lost or was replaced, create a new one with "
    "quem links organizers --reissue."
)
_ENDED_JUDGE = marked("This link is invalid or has been replaced. Ask the organizer for a new one.")
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


def current_judge(c: Connection) -> StoredJudge:
    """Find the judge whose browser this is, once in a request, or answer 401."""
    if "judge" not in g:
        session = request.cookies.get(_cookie(JUDGE), "")
        g.judge = judge_of_session(c, site().id, session) if session else None
        choose_language(site(), g.judge)
    if g.judge is None:
        abort(401, gettext(NO_LINK))
    judge: StoredJudge = g.judge
    return judge


def current_subject(c: Connection) -> StoredSubject:
    """Find the subject whose browser this is, once in a request, or answer 401."""
    if "subject" not in g:
        session = request.cookies.get(_cookie(SUBJECT), "")
        g.subject = subject_of_session(c, site().id, session) if session else None
        choose_language(site(), g.subject)
    if g.subject is None:
        abort(401, gettext(NO_LINK))
    subject: StoredSubject = g.subject
    return subject


def find_desk(c: Connection, gid: str) -> None:
    """Find the judge whose browser this is, with what they work on, or answer 401."""
    session = request.cookies.get(_cookie(JUDGE), "")
    desk = desk_of_session(c, site().id, session, gid) if session else None
    g.desk, g.judge = desk, desk and desk.judge
    choose_language(site(), g.judge)
    current_judge(c)


def admit() -> None:
    """Let an organizer pass, as `flask.g.organizer`; answer 401 to everybody else."""
    with site().store.read() as c:
        organizer = _current_organizer(c)
    if organizer is None:
        abort(401, _NO_DASHBOARD_SESSION)
    g.organizer = organizer
    # A page that looks for news by itself is nobody's sign of life.
    if request.method != "GET" or request.headers.get("Sec-Fetch-Dest") != "empty":
        _note_use(request.cookies[_cookie(_DASHBOARD)])


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


@access.get("/j/<token>")
def judge_link(token: str) -> Response:
    """Exchange a judge's token for a cookie. Nothing is used up: scanners of mail come by too."""
    session = session_of(token)
    with site().store.read() as c:
        judge = judge_of_session(c, site().id, session)
    if judge is None:
        abort(404, gettext(_ENDED_JUDGE))
    return _exchange(JUDGE, session, url_for("judge.home"))


@access.get("/p/<token>")
def subject_link(token: str) -> Response:
    """Exchange the token of a person who solves the problems for a cookie."""
    session = session_of(token)
    with site().store.read() as c:
        subject = subject_of_session(c, site().id, session)
    if subject is None or site().spec.solving is None:
        abort(404, gettext(_ENDED_JUDGE))
    return _exchange(SUBJECT, session, url_for("solve.home"))


@access.get("/d/<token>")
def dashboard_link(token: str) -> Response:
    """Exchange an organizer's token for a cookie."""
    session = session_of(token)
    with site().store.read() as c:
        organizer = organizer_of_session(c, site().id, session)
        is_new = status_of(c, site().id).state == "trial"
    if organizer is None:
        abort(404, _ENDED_DASHBOARD)
    page = "setup.steps" if is_new and lacking(site()) else "overview"
    return _exchange(_DASHBOARD, session, url_for(f"dashboard.{page}"))


@access.get("/")
def front() -> Response:
    """Lead whoever has a cookie to where they belong."""
    with site().store.read() as c:
        if _current_organizer(c):
            return redirect(url_for("dashboard.overview"))
        if _cookie(SUBJECT) in request.cookies and _cookie(JUDGE) not in request.cookies:
            current_subject(c)
            return redirect(url_for("solve.home"))
        current_judge(c)
    return redirect(url_for("judge.home"))


def log_out(response: Response, who: str = _DASHBOARD) -> None:
    """End a session, and take its cookie away from this browser; the link still works."""
    with site().store.write() as c:
        sign_out(c, request.cookies.get(_cookie(who), ""))
    response.delete_cookie(
        _cookie(who),
        path=request.script_root or "/",
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
    )


def signed_out(who: str) -> Response:
    """End this browser's session of a judge or a subject, and show how to return."""
    texts = {"title": gettext("You are signed out"), "text": gettext(_RETURN)}
    page = render_template("judge/message.html", study={"title": site().spec.title}, **texts)
    answer = make_response(page)
    log_out(answer, who)
    return answer


def _current_organizer(c: Connection) -> StoredOrganizer | None:
    session = request.cookies.get(_cookie(_DASHBOARD), "")
    return organizer_of_session(c, site().id, session) if session else None


def _cookie(who: str) -> str:
    return f"quem-{who}-{site().key}"


def _exchange(who: str, link: str, target: str) -> Response:
    """Begin a session of a link's own."""
    with site().store.write() as c:
        session = sign_in(c, link)
    response = redirect(target, code=303)
    response.set_cookie(
        _cookie(who),
        session,
        max_age=_SECONDS[who],
        path=request.script_root or "/",
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
    )
    return response


def sender(app: Flask, cookies: str) -> str:
    """Give a word for whoever has one of the cookies of a header; empty where nobody has.

    Asked before a large body is received.
    """
    served: Site = app.extensions["quem"]
    owners = {
        _DASHBOARD: organizer_of_session,
        JUDGE: judge_of_session,
        SUBJECT: subject_of_session,
    }
    held = parse_cookie(cookies)
    for who, owner_of in owners.items():
        if session := held.get(f"quem-{who}-{served.key}"):
            with served.store.read() as c:
                if owner := owner_of(c, served.id, session):
                    return f"{who} {owner.key}"
    return ""
