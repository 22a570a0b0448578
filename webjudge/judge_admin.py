"""The dashboard's pages for judges and their links. A link is shown once, when it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from flask import (
    Blueprint,
    abort,
    current_app,
    g,
    redirect,
    request,
    url_for,
)
from sqlalchemy.exc import IntegrityError

from quem.errors import QuemError
from quem.store import judges
from quem.store.outbox import awaiting_letter
from webjudge import confirmations as asking
from webjudge.access import acting, site
from webjudge.dashboard_pages import ask, back, dashboard_page, require_sure
from webjudge.letters import Standing, write_to
from webjudge.mail_admin import SAID, letters_page
from webjudge.overview import overview_page
from webjudge.report import live_report

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from werkzeug.wrappers import Response

    from quem.store.judges import StoredJudge
    from webjudge.letters import Text

__all__ = ["people"]

people = Blueprint("people", __name__, url_prefix="/judges")

_MOST_YEARS = 150
_LONGEST_NAME = 200
_FIELDS = ("id", "name", "experience")
_LOCAL = ("localhost", "127.0.0.1", "::1")


class _WrongFormError(Exception):
    """A form is wrong elsewhere than in what the store checks: nothing is to be stored."""


@people.get("/new")
def new_judge() -> str:
    """Ask for the judge who is to be added."""
    return _form({}, {})


@people.post("/new")
def add_judge() -> str | tuple[str, int]:
    """Add a judge midway, and show the link."""
    form = {name: request.form.get(name, "").strip() for name in _FIELDS}
    mistakes: dict[str, str] = {}
    years = _years(form["experience"], mistakes)
    if len(form["name"]) > _LONGEST_NAME or not form["name"].isprintable():
        mistakes["name"] = f"use one line of at most {_LONGEST_NAME} characters"
    try:
        with site().store.write() as c:
            judge = judges.add_judge(c, site().id, form["id"], form["name"], years, acting())
            token = judges.issue_link(c, judge, acting())
            _refuse_wrong(mistakes)
    except QuemError as error:
        mistakes["id"] = error.mistakes[0].message
    except IntegrityError:
        # Somebody else added the same one at this moment.
        mistakes["id"] = f"judge {form['id']} already exists; choose another ID"
    except _WrongFormError:
        pass
    else:
        return _shown_once([(judge, token)])
    return _form(form, mistakes), 422


@people.post("/links")
def make_links() -> str:
    """Make links for all judges who never had one."""
    with site().store.write() as c:
        awaiting = awaiting_letter(c, site().id, "judge")
        links = [
            (judge, judges.issue_link(c, judge, acting()))
            for judge in judges.judges_of(c, site().id)
            if judge.linked_at is judge.forgotten_at is None and judge.key not in awaiting
        ]
    return _shown_once(links)


@people.get("/invitations")
def invitations() -> str:
    """Say how judges get their links, and offer to make those that are missing."""
    page = {**overview_page(site()), "letters": letters_page(site())}
    return dashboard_page("invitations.html", **page, said=SAID.get(request.args.get("said", "")))


@people.get("/reminders")
def remind_all() -> str:
    """Show a reminder to each judge who has not finished."""
    waiting = [one for one in overview_page(site())["judges"] if one["waits"]]
    rows = [_message("reminder", one) for one in waiting if one["link"] == "active"]
    return dashboard_page("messages.html", rows=rows, kind="reminder")


@people.get("/<int:key>/reminder")
def remind(key: int) -> str:
    """Show a reminder to one judge."""
    return dashboard_page("messages.html", rows=[_message("reminder", _one(key))], kind="reminder")


@people.get("/<int:key>/invitation")
def invitation(key: int) -> str:
    """Show an invitation again, without the link, which is stored hashed."""
    rows = [_message("invitation", _one(key))]
    return dashboard_page("messages.html", rows=rows, kind="invitation")


@people.get("/erase")
def choose_erased() -> Response:
    """Lead to the question whether the data of the judge who was chosen are to be erased."""
    key = request.args.get("key", -1, type=int)
    return redirect(url_for("dashboard.people.ask_first", key=key, what="erase"))


@people.get("/<int:key>/<any(link, revoke, erase):what>")
def ask_first(key: int, what: str) -> str:
    """Ask before a link is replaced or revoked, or a judge's personal data erased."""
    with site().store.read() as c:
        judge = _judge(c, key)
    return ask(asking.about_judge(what, judge))


@people.post("/<int:key>/link")
def make_link(key: int) -> str:
    """Make a judge's link, in place of an earlier one."""
    with site().store.write() as c:
        judge = _judge(c, key)
        if judge.linked_at:
            require_sure(asking.about_judge("link", judge))
        token = judges.issue_link(c, judge, acting())
    return _shown_once([(judge, token)], replaced=judge.has_link)


@people.post("/<int:key>/revoke")
def revoke_link(key: int) -> Response:
    """End a judge's link."""
    with site().store.write() as c:
        judge = _judge(c, key)
        require_sure(asking.about_judge("revoke", judge))
        if judge.has_link:
            judges.revoke_link(c, judge, acting())
    return back("revoked")


@people.post("/<int:key>/erase")
def erase(key: int) -> Response:
    """Erase a judge's personal data."""
    with site().store.write() as c:
        judge = _judge(c, key)
        require_sure(asking.about_judge("erase", judge))
        judges.erase_judge(c, judge, acting())
    live_report(site()).drop()
    return back("erased")


def _judge(c: Connection, key: int) -> StoredJudge:
    judge = next((j for j in judges.judges_of(c, site().id) if j.key == key), None)
    if judge is None:
        abort(404)
    if judge.forgotten_at:
        message = f"{judge.id}'s personal data has been erased; no link can be created"
        raise QuemError([message])
    return judge


def _form(form: dict[str, str], mistakes: dict[str, str]) -> str:
    unit = site().spec.experience_unit
    return dashboard_page("judge.html", form=form, mistakes=mistakes, unit=unit)


def _refuse_wrong(mistakes: dict[str, str]) -> None:
    if mistakes:
        raise _WrongFormError


def _years(text: str, mistakes: dict[str, str]) -> float | None:
    """Read the years of experience; what is wrong with them is noted."""
    if not text:
        return None
    try:
        years = float(text.replace(",", "."))
    except ValueError:
        years = -1.0
    if not 0 <= years <= _MOST_YEARS:
        mistakes["experience"] = "enter a number such as 12, or leave this empty"
    return years


def _shown_once(links: list[tuple[StoredJudge, str]], *, replaced: bool = False) -> str:
    """The one page that shows new links: the answer to the request that made them."""
    # The address that judges use may be another one than that of this dashboard.
    base = current_app.config.get("QUEM_URL") or request.host_url.rstrip("/")
    by_key = {one["judge"].key: one for one in overview_page(site())["judges"]}
    rows = [
        _message("invitation", by_key[judge.key], base + url_for("access.judge_link", token=token))
        for judge, token in links
    ]
    is_local = urlsplit(base).hostname in _LOCAL
    page = {"rows": rows, "kind": "invitation", "replaced": replaced, "is_local": is_local}
    return dashboard_page("messages.html", is_new=True, **page)


def _one(key: int) -> dict[str, Any]:
    """What the overview knows of a judge who is not erased."""
    with site().store.read() as c:
        judge = _judge(c, key)
    return next(one for one in overview_page(site())["judges"] if one["judge"].key == judge.key)


def _message(kind: Text, one: dict[str, Any], link: str = "") -> dict[str, Any]:
    """Write a message to a judge, in the language that the study file names.

    Parameters
    ----------
    kind : {"invitation", "reminder"}
    one : dict
        One of the judges of `webjudge.overview.overview_page`.
    link : str
        Known only when it is made.
    """
    standing = Standing(
        one["judge"], one["total"], one["submitted"], started=one["started"], declined=False
    )
    written = write_to(site(), standing, kind, g.organizer.name, link=link)
    mail = f"mailto:?subject={quote(written.subject)}&body={quote(written.text)}"
    return {
        "judge": one["judge"],
        "link": link,
        "text": written.text,
        "language": written.language,
        "subject": written.subject,
        "mail": mail,
    }
