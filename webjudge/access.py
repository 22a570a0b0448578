"""Links and cookies: a token in a link is exchanged for a cookie and leaves the address bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, abort, current_app, redirect, request, url_for

from quem.store.judges import judge_of_session
from quem.store.organizers import is_organizer
from quem.store.studies import session_of

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from werkzeug.wrappers import Response

    from quem.store.judges import StoredJudge
    from webjudge.site import Site

__all__ = ["access", "current_judge", "is_at_desk", "site"]

access = Blueprint("access", __name__)

_WEEKS = 60 * 60 * 24 * 7 * 26
_DESK, _JUDGE = "desk", "judge"
NO_LINK = "This page opens only by the private link that the organiser sent you."


def site() -> Site:
    """The site that the app serves."""
    found: Site = current_app.extensions["quem"]
    return found


def current_judge(c: Connection) -> StoredJudge:
    """Find the judge whose browser this is, or answer 401."""
    session = request.cookies.get(_cookie(_JUDGE), "")
    judge = judge_of_session(c, site().id, session) if session else None
    if judge is None:
        abort(401, NO_LINK)
    return judge


def is_at_desk(c: Connection) -> bool:
    """Whether this browser holds the dashboard's cookie."""
    session = request.cookies.get(_cookie(_DESK), "")
    return bool(session) and is_organizer(c, site().id, session)


@access.get("/j/<token>")
def judge_link(token: str) -> Response:
    """Exchange a judge's token for a cookie. Nothing is used up: scanners of mail come by too."""
    session = session_of(token)
    with site().store.read() as c:
        if judge_of_session(c, site().id, session) is None:
            abort(404, "This link does not work (any more). Ask the organiser for a new one.")
    return _exchange(_JUDGE, session, url_for("judge.home"))


@access.get("/d/<token>")
def desk_link(token: str) -> Response:
    """Exchange the dashboard's token for a cookie."""
    session = session_of(token)
    with site().store.read() as c:
        if not is_organizer(c, site().id, session):
            abort(
                404, "This link does not work any more: each start of the server makes a new one."
            )
    return _exchange(_DESK, session, url_for("desk.overview"))


@access.get("/")
def front() -> Response:
    """Lead whoever has a cookie to where he belongs."""
    with site().store.read() as c:
        if is_at_desk(c):
            return redirect(url_for("desk.overview"))
        current_judge(c)
    return redirect(url_for("judge.home"))


def _cookie(who: str) -> str:
    return f"quem-{who}-{site().key}"


def _exchange(who: str, session: str, target: str) -> Response:
    response = redirect(target, code=303)
    response.set_cookie(
        _cookie(who),
        session,
        max_age=_WEEKS if who == _JUDGE else None,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
    )
    return response
