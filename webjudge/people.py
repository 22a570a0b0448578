"""The dashboard's pages for judges and subjects and their links, each shown once, when made."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from flask import Blueprint, Response, abort, current_app, g, redirect, request, url_for
from sqlalchemy.exc import IntegrityError

from quem.errors import QuemError
from quem.store.links import PATHS, unlinked
from quem.store.people import (
    add_person,
    erase,
    issue_link,
    issue_links,
    person_of_key,
    refuse_taken,
    revoke_link,
)
from quem.store.standing import judges_standing
from quem.store.uploads import UploadFolder
from webjudge.access import acting, site
from webjudge.confirmations import PAGES, about_person
from webjudge.dashboard_pages import (
    ask,
    asked_span,
    back,
    dashboard_page,
    require_reviewed,
    require_sure,
)
from webjudge.letters import Standing, write_to
from webjudge.mail_admin import letters_page
from webjudge.mailing import reach_of, total_of
from webjudge.overview import MOST_JUDGES, overview_page, shown
from webjudge.report import live_report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy.orm import Session
    from werkzeug.wrappers import Response as AnyResponse

    from quem.store.models import PersonRow, Role
    from webjudge.letters import Text

_HOMES: dict[Role, str] = {"judge": "overview", "subject": "solving.session"}
_MOST_YEARS = 150
_LONGEST_NAME = 200
_FIELDS: dict[Role, tuple[str, ...]] = {
    "judge": ("id", "name", "experience"),
    "subject": ("id", "name"),
}


class _WrongFormError(Exception):
    """A form is wrong elsewhere than in what the store checks: nothing is to be stored."""


def new(role: Role) -> str:
    """Ask for the person who is to be added."""
    return _form(role, {}, {})


def add(role: Role) -> str | tuple[str, int]:
    """Add a person midway, and show the link."""
    form = {name: request.form.get(name, "").strip() for name in _FIELDS[role]}
    mistakes: dict[str, str] = {}
    years = _years(form.get("experience", ""), mistakes)
    if len(form["name"]) > _LONGEST_NAME or not form["name"].isprintable():
        mistakes["name"] = f"use one line of at most {_LONGEST_NAME} characters"
    try:
        refuse_taken(site().spec, role, form["id"], form["name"])
        with site().store.write() as c:
            one = add_person(
                c, site().id, role, form["id"], acting(), name=form["name"], experience=years
            )
            token = issue_link(c, one, acting())
            _refuse_wrong(mistakes)
            _require_reviewed(role)
    except QuemError as error:
        mistakes["id"] = error.mistakes[0].message
    except IntegrityError:
        # Somebody else added the same one at this moment.
        mistakes["id"] = f"{role} {form['id']} already exists; choose another ID"
    except _WrongFormError:
        pass
    else:
        return _shown_once(role, [(one, token)])
    return _form(role, form, mistakes), 422


def make_links(role: Role) -> str | Response:
    """Make links for all who never had one; very many come as a table to be kept."""
    _require_reviewed(role)
    with site().store.write() as c:
        people = unlinked(c, site().id, role)
        links = list(zip(people, issue_links(c, people, acting()), strict=True))
    return _shown_once(role, links) if len(links) <= MOST_JUDGES else _table_of(role, links)


def ask_about(role: Role, key: int, what: str) -> str:
    """Ask before a link is replaced or revoked, or personal data erased."""
    with site().store.read() as c:
        one = _person(c, role, key)
    return ask(about_person(what, one))


def make_link(role: Role, key: int) -> str:
    """Make a person's link, in place of an earlier one."""
    with site().store.write() as c:
        one = _person(c, role, key)
        if one.linked_at:
            require_sure(about_person("link", one))
        else:
            _require_reviewed(role)
        token = issue_link(c, one, acting())
    return _shown_once(role, [(one, token)], replaced=one.has_link)


def revoke(role: Role, key: int) -> AnyResponse:
    """End a person's link."""
    with site().store.write() as c:
        one = _person(c, role, key)
        require_sure(about_person("revoke", one))
        if one.has_link:
            revoke_link(c, one, acting())
    return back("revoked", _HOMES[role])


def erase_data(role: Role, key: int) -> AnyResponse:
    """Erase a person's data and words."""
    with site().store.write() as c:
        one = _person(c, role, key)
        require_sure(about_person("erase", one))
        _, files = erase(c, one, acting())
    UploadFolder(site().path).remove(files)
    live_report(site()).drop()
    return back("erased", _HOMES[role])


def person_pages(role: Role) -> Blueprint:
    """The pages that are alike for all whom a study asks."""
    prefix = {"judge": "/judges", "subject": "/solving"}[role]
    pages = Blueprint(PAGES[role], __name__, url_prefix=prefix)
    of = {"role": role}
    pages.add_url_rule("/new", "new", new, methods=["GET"], defaults=of)
    pages.add_url_rule("/new", "add", add, methods=["POST"], defaults=of)
    pages.add_url_rule("/links", "make_links", make_links, methods=["POST"], defaults=of)
    asked = "/<int:key>/<any(link, revoke, erase):what>"
    pages.add_url_rule(asked, "ask_about", ask_about, methods=["GET"], defaults=of)
    for name, view in (("link", make_link), ("revoke", revoke), ("erase", erase_data)):
        pages.add_url_rule(f"/<int:key>/{name}", name, view, methods=["POST"], defaults=of)
    return pages


judge_pages = person_pages("judge")


@judge_pages.get("/invitations")
def invitations() -> str:
    """Say how judges get their links, and offer to make those that are missing."""
    page = {**overview_page(site(), asked_span()), "letters": letters_page(site())}
    page |= {"base": link_base(), "reach": reach_of(link_base())}
    return dashboard_page("invitations.html", **page)


@judge_pages.get("/reminders")
def remind_all() -> str:
    """Show a reminder to each judge who has not finished."""
    span = asked_span()
    with site().store.read() as c:
        found = judges_standing(
            c, site().id, site().plan, MOST_JUDGES + 1, span=span, status=("active", "unopened")
        )
    rows = [_message("reminder", _standing(shown(site(), one))) for one in found[:MOST_JUDGES]]
    after = f"0.{found[MOST_JUDGES - 1].judge.key}" if len(found) > MOST_JUDGES else ""
    return dashboard_page("messages.html", rows=rows, kind="reminder", after=after)


@judge_pages.get("/<int:key>/reminder")
def remind(key: int) -> str:
    """Show a reminder to one judge."""
    return dashboard_page("messages.html", rows=[_message("reminder", _one(key))], kind="reminder")


@judge_pages.get("/<int:key>/invitation")
def invitation(key: int) -> str:
    """Show an invitation again, without the link, which is stored hashed."""
    rows = [_message("invitation", _one(key))]
    return dashboard_page("messages.html", rows=rows, kind="invitation")


@judge_pages.get("/erase")
def choose_erased() -> AnyResponse:
    """Lead to the question whether the data of the judge who was chosen are to be erased."""
    key = request.args.get("key", -1, type=int)
    return redirect(url_for("dashboard.people.ask_about", key=key, what="erase"))


def _person(c: Session, role: Role, key: int) -> PersonRow:
    one = person_of_key(c, site().id, role, key)
    if one is None:
        abort(404)
    if one.erased_at:
        raise QuemError(f"{one.id}'s personal data has been erased; no link can be created")
    return one


def _require_reviewed(role: Role) -> None:
    if role == "judge":
        require_reviewed()


def _form(role: Role, form: dict[str, str], mistakes: dict[str, str]) -> str:
    unit = site().spec.experience_unit
    return dashboard_page("person.html", role=role, form=form, mistakes=mistakes, unit=unit)


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


def _shown_once(role: Role, links: list[tuple[PersonRow, str]], *, replaced: bool = False) -> str:
    """The one page that shows new links: the answer to the request that made them."""
    base, rows = link_base(), list(_invitations(role, links))
    page = {"rows": rows, "kind": "invitation", "replaced": replaced, "role": role}
    return dashboard_page("messages.html", is_new=True, base=base, reach=reach_of(base), **page)


def link_base() -> str:
    """What links begin with: it may be another address than that of this dashboard."""
    return str(current_app.config.get("QUEM_URL") or request.host_url.rstrip("/"))


def _invitations(role: Role, links: Sequence[tuple[PersonRow, str]]) -> Iterator[dict[str, Any]]:
    """Write the invitations with new links."""
    base, total = link_base(), total_of(site(), role)
    for one, token in links:
        link = base + url_for("access.enter", path=PATHS[role], token=token)
        standing = Standing(one, total, 0, started=False, declined=False)
        yield _message("invitation", standing, link)


def _table_of(role: Role, links: Sequence[tuple[PersonRow, str]]) -> Response:
    """Send new links and their invitations as a table for mail merge."""
    table = StringIO()
    writer = csv.writer(table)
    writer.writerow((role, "name", "link", "subject", "message"))
    for row in _invitations(role, links):
        one = row["person"]
        writer.writerow((one.id, one.name, row["link"], row["subject"], row["text"]))
    headers = {"Content-Disposition": 'attachment; filename="links.csv"'}
    return Response(table.getvalue(), content_type="text/csv; charset=utf-8", headers=headers)


def _one(key: int) -> Standing:
    """How far a judge is who is not erased."""
    with site().store.read() as c:
        judge = _person(c, "judge", key)
        (one,) = judges_standing(c, site().id, site().plan, key=judge.key)
    return _standing(shown(site(), one))


def _standing(one: dict[str, Any]) -> Standing:
    """How far a judge is, as the overview shows it."""
    started = bool(one["started"])
    return Standing(one["judge"], one["total"], one["submitted"], started=started, declined=False)


def _message(kind: Text, one: Standing, link: str = "") -> dict[str, Any]:
    """Write a message to a person, in the language that the study file names."""
    written = write_to(site(), one, kind, g.organizer.name, link=link)
    mail = f"mailto:?subject={quote(written.subject)}&body={quote(written.text)}"
    return {
        "person": one.person,
        "link": link,
        "text": written.text,
        "language": written.language,
        "subject": written.subject,
        "mail": mail,
    }
