"""Links and cookies: a token in a link is exchanged for a cookie and leaves the address bar."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Flask, current_app, g, redirect, request, url_for
from sqlalchemy.exc import OperationalError
from werkzeug.http import parse_cookie

from quem.store.database import UnavailableError
from quem.store.links import PATHS
from quem.store.models import PersonRow, Role, now
from quem.store.people import (
    ROLES,
    consent,
    decline,
    note_session,
    person_of_link,
    person_of_session,
    record_visit,
    sign_in,
    sign_out,
    visited_recently,
)
from quem.store.studies import solving_state, status_of
from quem.store.work import ClosedError
from webjudge.bodies import ConsentForm, LanguageForm
from webjudge.errors import RefusedError, message_page
from webjudge.languages import choose_language, keep_language

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from sqlalchemy.orm import Session
    from werkzeug.wrappers import Response

    from webjudge.site import Site

access = Blueprint("access", __name__)

_WEEK = 60 * 60 * 24 * 7
# Replacing or revoking the link ends the session earlier.
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


def site() -> Site:
    """The served site, fixed for the whole request even if the study is edited meanwhile."""
    if "site" not in g:
        g.site = current_app.extensions["quem"]
    current_site: Site = g.site
    return current_site


@access.before_app_request
def _speak() -> None:
    choose_language(site())


def current_person(c: Session, role: Role) -> PersonRow:
    """The signed-in person; responds 401 without a session."""
    person = _signed_in(c, role)
    if person is None:
        raise RefusedError("dashboard-lacking" if role == "organizer" else "link-lacking")
    choose_language(site(), person)
    return person


def _signed_in(c: Session, role: Role) -> PersonRow | None:
    held = held_session(role)
    return person_of_session(c, site().id, role, held) if held else None


def held_session(role: Role) -> str:
    """The session in the cookie of a role."""
    return request.cookies.get(_cookie(role), "")


def admit() -> None:
    """Set `flask.g.organizer`; respond 401 to anyone who is not an organizer."""
    with site().store.read() as c:
        g.organizer = current_person(c, "organizer")
    # Automatic refreshes do not count as use of the session.
    if request.method != "GET" or request.headers.get("Sec-Fetch-Dest") != "empty":
        _note_use(held_session("organizer"))


def _note_use(session: str) -> None:
    """Record the organizer's last activity, at most once per interval."""
    used: dict[str, dt.datetime] = current_app.extensions.setdefault("quem-used", {})
    at = now()
    if session not in used or at - used[session] >= _NOTED:
        note(lambda c: note_session(c, session))
        used[session] = at


def note(what: Callable[[Session], None]) -> None:
    """Write a record of activity, or skip it when the database is busy or full."""
    with suppress(OperationalError, UnavailableError), site().store.write(patience=0) as c:
        what(c)


def note_visit(person: PersonRow) -> None:
    """Record the person's last visit, at most once per interval."""
    if not visited_recently(person):
        note(lambda c: record_visit(c, person))


def lacks_consent(person: PersonRow) -> bool:
    """Whether the person must still consent before seeing a task."""
    texts = site().solutions
    form = texts.consent if person.role == "judge" else texts.solving_consent
    return bool(form) and person.consented_at is None


def state_of(c: Session, role: Role) -> str:
    """State of the role's session: judging or solving."""
    return status_of(c, site().id).state if role == "judge" else solving_state(c, site().id)


def share(pages: Blueprint, role: Role, admitting: Container[str] = ()) -> None:
    """Register the views shared by judges and subjects; some views authenticate on their own."""

    @pages.before_request
    def admit_sender() -> None:
        """Authenticate the sender before any of the body is read."""
        if role == "subject" and site().spec.solving is None:
            raise RefusedError("link-lacking")
        view = (request.endpoint or "").rpartition(".")[2]
        if request.method not in ("GET", "HEAD", "OPTIONS") and view not in admitting:
            with site().store.read() as c:
                current_person(c, role)

    @pages.post("/sign-out")
    def leave() -> Response:
        """End this browser's session, and show the way back."""
        response = message_page("signed-out")
        log_out(response, role)
        return response

    @pages.post("/language")
    def language() -> Response:
        """Store the chosen language, and return to the task or the first page."""
        form, name = LanguageForm.read(), pages.name
        page = url_for(f"{name}.task", gid=form.gid) if form.gid else url_for(f"{name}.home")
        keep_language(form.language)
        return redirect(page, code=303)

    @pages.post("/consent")
    def give_consent() -> Response:
        """Record consent or refusal."""
        form = ConsentForm.read()
        with site().store.write() as c:
            person = current_person(c, role)
            require_not_closed(c, role)
            (decline if form.consent == "no" else consent)(c, person)
        return redirect(url_for(f"{pages.name}.home"), code=303)


def require_not_closed(c: Session, role: Role) -> None:
    """Refuse changes of a session that is closed."""
    if state_of(c, role) == "closed":
        raise ClosedError


def acting() -> str:
    """The actor of an authenticated request, for `quem.store.events.record`."""
    return f"organizer:{g.organizer.id}"


@access.get("/<any(j, p, d):path>/<token>")
def enter(path: str, token: str) -> Response:
    """Exchange a link for a cookie. Links are reusable, since mail scanners open them too."""
    role = next(role for role, begins in PATHS.items() if begins == path)
    with site().store.read() as c:
        person = person_of_link(c, site().id, role, token)
        is_new = role == "organizer" and status_of(c, site().id).state == "trial"
        to_set_up = is_new and bool(site().lacking(c))
    if person is None or (role == "subject" and site().spec.solving is None):
        raise RefusedError("dashboard-ended" if role == "organizer" else "link-ended")
    page = "dashboard.setup.steps" if to_set_up else _HOMES[role]
    with site().store.write() as c:
        sign_out(c, held_session(role))
        held = sign_in(c, person)
    gid = request.args.get("task") if role == "judge" else None
    response = redirect(url_for("judge.task", gid=gid) if gid else url_for(page), code=303)
    response.set_cookie(_cookie(role), held, max_age=_SECONDS[role], **_cookie_options())
    return response


@access.get("/")
def front() -> Response:
    """Redirect a signed-in person to their start page."""
    with site().store.read() as c:
        if _signed_in(c, "organizer"):
            return redirect(url_for(_HOMES["organizer"]))
        solves = _cookie("subject") in request.cookies and _cookie("judge") not in request.cookies
        role: Role = "subject" if solves else "judge"
        current_person(c, role)
    return redirect(url_for(_HOMES[role]))


def log_out(response: Response, role: Role = "organizer") -> None:
    """End the session and delete its cookie; the link keeps working."""
    with site().store.write() as c:
        sign_out(c, held_session(role))
    response.delete_cookie(_cookie(role), **_cookie_options())


def _cookie(role: Role, served: Site | None = None) -> str:
    kind = "dashboard" if role == "organizer" else role
    return f"quem-{kind}-{(served or site()).key}"


def _cookie_options() -> dict[str, Any]:
    """Path and security attributes of a session cookie."""
    path = request.script_root or "/"
    return {"path": path, "httponly": True, "samesite": "Lax", "secure": request.is_secure}


def sender(app: Flask, cookies: str) -> str:
    """Role and key of the person whose session a Cookie header has, or ""."""
    served: Site = app.extensions["quem"]
    held = parse_cookie(cookies)
    for role in ROLES:
        if mine := held.get(_cookie(role, served)):
            with served.store.read() as c:
                if owner := person_of_session(c, served.id, role, mine):
                    return f"{role} {owner.key}"
    return ""
