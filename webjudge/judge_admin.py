"""The dashboard's pages for judges and their links. A link is shown once, when it is made."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from flask import (
    Blueprint,
    Response,
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
from quem.store.standing import judges_standing
from webjudge import confirmations as asking
from webjudge.access import acting, site
from webjudge.dashboard_pages import (
    ask,
    asked_span,
    back,
    dashboard_page,
    require_reviewed,
    require_sure,
)
from webjudge.letters import Standing, write_to
from webjudge.mail_admin import SAID, letters_page
from webjudge.mailing import reach_of
from webjudge.overview import MOST_JUDGES, overview_page, shown
from webjudge.report import live_report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection
    from werkzeug.wrappers import Response as AnyResponse

    from quem.store.judges import StoredJudge
    from webjudge.letters import Text

people = Blueprint("people", __name__, url_prefix="/judges")

_MOST_YEARS = 150
_LONGEST_NAME = 200
_FIELDS = ("id", "name", "experience")


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
            require_reviewed()
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
def make_links() -> str | Response:
    """Make links for all judges who never had one; very many come as a table to be kept."""
    require_reviewed()
    with site().store.write() as c:
        awaiting = awaiting_letter(c, site().id, "judge")
        new = [
            judge
            for judge in judges.judges_of(c, site().id)
            if judge.linked_at is judge.forgotten_at is None and judge.key not in awaiting
        ]
        links = list(zip(new, judges.issue_links(c, new, acting()), strict=True))
    return _shown_once(links) if len(links) <= MOST_JUDGES else _table_of(links)


@people.get("/invitations")
def invitations() -> str:
    """Say how judges get their links, and offer to make those that are missing."""
    page = {**overview_page(site(), asked_span()), "letters": letters_page(site())}
    page |= {"base": link_base(), "reach": reach_of(link_base())}
    return dashboard_page("invitations.html", **page, said=SAID.get(request.args.get("said", "")))


@people.get("/reminders")
def remind_all() -> str:
    """Show a reminder to each judge who has not finished."""
    span = asked_span()
    with site().store.read() as c:
        found = judges_standing(
            c, site().id, site().plan, MOST_JUDGES + 1, span=span, status=("active", "unopened")
        )
    rows = [_message("reminder", shown(site(), one)) for one in found[:MOST_JUDGES]]
    after = f"0.{found[MOST_JUDGES - 1].judge.key}" if len(found) > MOST_JUDGES else ""
    return dashboard_page("messages.html", rows=rows, kind="reminder", after=after)


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
def choose_erased() -> AnyResponse:
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
        else:
            require_reviewed()
        token = judges.issue_link(c, judge, acting())
    return _shown_once([(judge, token)], replaced=judge.has_link)


@people.post("/<int:key>/revoke")
def revoke_link(key: int) -> AnyResponse:
    """End a judge's link."""
    with site().store.write() as c:
        judge = _judge(c, key)
        require_sure(asking.about_judge("revoke", judge))
        if judge.has_link:
            judges.revoke_link(c, judge, acting())
    return back("revoked")


@people.post("/<int:key>/erase")
def erase(key: int) -> AnyResponse:
    """Erase a judge's personal data."""
    with site().store.write() as c:
        judge = _judge(c, key)
        require_sure(asking.about_judge("erase", judge))
        judges.erase_judge(c, judge, acting())
    live_report(site()).drop()
    return back("erased")


def _judge(c: Connection, key: int) -> StoredJudge:
    judge = judges.judge_of_key(c, site().id, key)
    if judge is None:
        abort(404)
    if judge.forgotten_at:
        raise QuemError(f"{judge.id}'s personal data has been erased; no link can be created")
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
    base = link_base()
    rows = _invitations(links)
    page = {"rows": list(rows), "kind": "invitation", "replaced": replaced}
    return dashboard_page("messages.html", is_new=True, base=base, reach=reach_of(base), **page)


def link_base() -> str:
    """What judges' links begin with: it may be another address than that of this dashboard."""
    return str(current_app.config.get("QUEM_URL") or request.host_url.rstrip("/"))


def _invitations(links: Sequence[tuple[StoredJudge, str]]) -> Iterator[dict[str, Any]]:
    """Write the invitations with new links."""
    base, plan = link_base(), site().plan
    total = len(plan.parts) + plan.repeat
    for judge, token in links:
        link = base + url_for("access.judge_link", token=token)
        yield _message("invitation", {"judge": judge, "total": total}, link)


def _table_of(links: Sequence[tuple[StoredJudge, str]]) -> Response:
    """Send new links and their invitations as a table for mail merge."""
    table = StringIO()
    writer = csv.writer(table)
    writer.writerow(("judge", "name", "link", "subject", "message"))
    for one in _invitations(links):
        judge = one["judge"]
        writer.writerow((judge.id, judge.name, one["link"], one["subject"], one["text"]))
    headers = {"Content-Disposition": 'attachment; filename="links.csv"'}
    return Response(table.getvalue(), content_type="text/csv; charset=utf-8", headers=headers)


def _one(key: int) -> dict[str, Any]:
    """What the overview knows of a judge who is not erased."""
    with site().store.read() as c:
        judge = _judge(c, key)
        (one,) = judges_standing(c, site().id, site().plan, key=judge.key)
    return shown(site(), one)


def _message(kind: Text, one: dict[str, Any], link: str = "") -> dict[str, Any]:
    """Write a message to a judge, in the language that the study file names."""
    submitted, started = one.get("submitted", 0), one.get("started", False)
    standing = Standing(one["judge"], one["total"], submitted, started=started, declined=False)
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
