"""The dashboard's pages for judges and subjects: progress, links, and letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from flask import Blueprint, Response, abort, current_app, g, redirect, request, url_for
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from quem.errors import QuemError
from quem.solving.closing import close_solving
from quem.store.audit_log import audit_events
from quem.store.care import Care, care_of
from quem.store.clock import spent_on
from quem.store.exporting import submitted_rankings
from quem.store.links import PATHS, count_unlinked, unlinked
from quem.store.people import (
    EXPERIENCE,
    EXPERIENCE_AGAIN,
    add_person,
    erase,
    issue_link,
    issue_links,
    people_of,
    person_of_key,
    refuse_taken,
    revoke_link,
)
from quem.store.studies import discard_solving_trial, set_solving, solving_state
from quem.store.uploads import UploadFolder
from quem.store.work import tasks_of
from quem.studyfile.fields import header_trouble
from webjudge.access import acting, site
from webjudge.dashboard.overview import (
    MOST_JUDGES,
    judges_page,
    table_of,
)
from webjudge.dashboard.page import (
    ask,
    back,
    dashboard_page,
    question,
    require_reviewed,
    require_sure,
)
from webjudge.dashboard.results import live_report
from webjudge.letters import Standing, write_to
from webjudge.mail_admin import letters_page
from webjudge.mailing import reach_of, standings, total_of
from webjudge.study_edits import take_up_subjects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy.orm import Session
    from werkzeug.wrappers import Response as AnyResponse

    from quem.store.models import LetterKind, PersonRow, Role
    from webjudge.site import Site

pages = Blueprint("people", __name__)

MOST_YEARS, LONGEST_NAME = 150, 200
_MOST_FLAGGED = 1000
# Actions that need confirmation by `confirm.html`.
_ASKED = ("revoke", "erase")
_PAGES: dict[Role, str] = {"judge": "/judges/invitations", "subject": "/solving"}
_NOT_SERVED = (
    "The session is closed, and solutions and subjects are written. But judges cannot be shown "
    "the study yet. Correct this, then close the session again:"
)


def _one_line(name: str) -> str:
    if header_trouble(name):
        raise ValueError
    return name


def _number(text: str) -> str | None:
    return text.replace(",", ".") or None


Name = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(_one_line)]
Years = Annotated[float, Field(ge=0, le=MOST_YEARS, allow_inf_nan=False)]


class _NewPerson(BaseModel):
    """The form for a new person."""

    id: str
    name: Name = ""
    experience: Annotated[Years | None, BeforeValidator(_number)] = None


def page(role: Role) -> str:
    """Show the progress, links, and letters of a role's people."""
    served = site()
    facts: dict[str, Any] = {"role": role}
    with served.store.read() as c:
        facts["n"] = len(people_of(c, served.id, role))
        facts["unlinked"] = count_unlinked(c, served.id, role)
        if role == "subject":
            facts |= _session(c, served)
        else:
            facts |= judges_page(c, served)
            facts["cares"] = _cares(c, served) if facts["n"] <= MOST_JUDGES else {}
    facts |= {"letters": letters_page(served, role), "most": MOST_JUDGES, **links_begin()}
    return dashboard_page("people.html", **facts)


def _cares(c: Session, served: Site) -> dict[str, Care]:
    """Describe how judges worked, without showing any part of a ranking."""
    found = {name: served.group(name) for name in served.solutions.by_problem}
    return {care.judge: care for care in care_of(submitted_rankings(c, served.id), found)}


def _session(c: Session, served: Site) -> dict[str, Any]:
    """Additional values of the subjects' page."""
    if served.spec.solving is None:
        abort(404)
    rows = [_subject_row(c, served, one) for one in people_of(c, served.id, "subject")]
    events = audit_events(c, served.id, _MOST_FLAGGED)
    return {
        "people": rows,
        "session": solving_state(c, served.id),
        "flagged": [event for event in events if event.what == "answer-names"],
        "unsure": [one for one in rows if one["again"] and one["again"] != one["experience"]],
        "unwritten": _without_statement(served),
    }


def _without_statement(served: Site) -> list[str]:
    """Ids of the problems without a statement."""
    practice = served.spec.solving.practice if served.spec.solving else ""
    problems = dict.fromkeys([one.id for one in served.spec.problems] + [practice])
    return [one for one in problems if one and one not in served.solutions.statements]


def _subject_row(c: Session, served: Site, one: PersonRow) -> dict[str, Any]:
    """A subject's row in the table of people."""
    tasks = [task for task in tasks_of(c, one.key) if not task.practice]
    skipped = sum(task.ended == "skip" for task in tasks)
    ended = sum(task.ended is not None for task in tasks)
    statuses = (
        (one.erased_at, "erased"),
        (one.withdrawn_at, "withdrawn"),
        (one.declined_at, "declined"),
        (tasks and ended == len(tasks), "done"),
        (one.revoked_at, "revoked"),
        (not one.linked_at, "unlinked"),
        (one.seen_at, "active"),
        (True, "unopened"),
    )
    return {
        "person": one,
        "done": ended - skipped,
        "skipped": skipped,
        "total": len(tasks) or total_of(served, "subject"),
        "seconds": sum(spent_on(task).work for task in tasks),
        "experience": one.replies.get(EXPERIENCE, ""),
        "again": one.replies.get(EXPERIENCE_AGAIN, ""),
        "status": next(name for holds, name in statuses if holds),
        "consents": True,
    }


@pages.route("/solving/<any(open, close):what>", methods=["GET", "POST"])
def session(what: str) -> AnyResponse:
    """Open the solving session, or close it and serve its solutions, after confirmation."""
    served = site()
    with served.store.read() as c:
        facts = _session(c, served)
    left = ("active", "unopened", "unlinked")
    facts["left"] = [one["person"] for one in facts["people"] if one["status"] in left]
    facts["tried"] = sum(one["seconds"] > 0 for one in facts["people"])
    asked = question(f"session-{what}", **facts)
    if request.method == "GET":
        return ask(asked)
    require_sure(asked)
    if what == "close":
        close_solving(served.store, served.spec, served.path, acting())
        try:
            take_up_subjects()
        except QuemError as error:
            raise QuemError([_NOT_SERVED, *error.mistakes]) from None
        return back("session-closed", "dashboard.people.page", role="subject")
    with served.store.write() as c:
        # Drafts from test mode.
        gone = discard_solving_trial(c, served.id, acting())
        set_solving(c, served.id, "open", acting())
    UploadFolder(served.path).remove({(one.sha256, one.ending) for one in gone})
    return back("session-opened", "dashboard.people.page", role="subject")


def new(role: Role) -> str:
    """Show the form for a new person."""
    return _form(role, {}, {})


def add(role: Role) -> str | tuple[str, int]:
    """Add a person to a running study, and show their link."""
    form = {name: request.form.get(name, "").strip() for name in _NewPerson.model_fields}
    mistakes: dict[str, str] = {}
    try:
        one = _NewPerson.model_validate(form)
        refuse_taken(site().spec, role, one.id, one.name)
        with site().store.write() as c:
            person = add_person(
                c, site().id, role, one.id, acting(), name=one.name, experience=one.experience
            )
            token = issue_link(c, person, acting())
            if role == "judge":
                require_reviewed()
    except ValidationError as error:
        mistakes = {str(wrong["loc"][0]): "" for wrong in error.errors()}
    except QuemError as error:
        mistakes["id"] = error.mistakes[0].message
    else:
        return _shown_once(role, [(person, token)])
    return _form(role, form, mistakes), 422


def _form(role: Role, form: dict[str, str], mistakes: dict[str, str]) -> str:
    unit = site().spec.experience_unit
    return dashboard_page("person.html", role=role, form=form, mistakes=mistakes, unit=unit)


def remind(role: Role) -> str:
    """Show reminders for all of a role who have not finished."""
    start = request.args.get("after", 0, type=int)
    with site().store.read() as c:
        waiting = [
            one
            for one in standings(c, site(), role)
            if one.wants("invitation") and one.person.has_link and one.person.key > start
        ]
    rows = [_message("reminder", one) for one in waiting[:MOST_JUDGES]]
    after = rows[-1]["person"].key if len(waiting) > MOST_JUDGES else 0
    return dashboard_page("messages.html", rows=rows, kind="reminder", after=after, role=role)


def make_links(role: Role) -> str | Response:
    """Create links for all without one; long lists are sent as CSV."""
    if role == "judge":
        require_reviewed()
    with site().store.write() as c:
        unlinked_people = unlinked(c, site().id, role)
        tokens = issue_links(c, unlinked_people, acting())
    links = list(zip(unlinked_people, tokens, strict=True))
    if len(links) <= MOST_JUDGES:
        return _shown_once(role, links)
    head = (role, "name", "link", "subject", "message")
    rows = (
        (row["person"].id, row["person"].name, row["link"], row["subject"], row["text"])
        for row in _invitations(role, links)
    )
    return table_of("links.csv", head, rows)


_PATHS: dict[Role, str] = {"judge": "/judges", "subject": "/solving"}
for _role, _path in _PATHS.items():
    _of = {"role": _role}
    pages.add_url_rule(_PAGES[_role], "page", page, defaults=_of)
    pages.add_url_rule(f"{_path}/new", "new", new, defaults=_of)
    pages.add_url_rule(f"{_path}/new", "add", add, methods=["POST"], defaults=_of)
    pages.add_url_rule(f"{_path}/reminders", "remind", remind, defaults=_of)
    pages.add_url_rule(f"{_path}/links", "make_links", make_links, methods=["POST"], defaults=_of)


@pages.route("/people/<int:key>/<any(link, revoke, erase):what>", methods=["GET", "POST"])
def change(key: int, what: str) -> str | AnyResponse:
    """Create or revoke a person's link, or erase their data, after confirmation."""
    one = _person(key)
    asked = question(what, one.id if what == "erase" else "", person=one)
    if request.method == "GET":
        return ask(asked)
    if what in _ASKED or (what == "link" and one.linked_at):
        require_sure(asked)
    elif what == "link" and one.role == "judge":
        require_reviewed()
    with site().store.write() as c:
        if what == "link":
            links = [(one, issue_link(c, one, acting()))]
        elif what == "revoke" and one.has_link:
            revoke_link(c, one, acting())
        elif what == "erase":
            _, files = erase(c, one, acting())
    if what == "link":
        return _shown_once(one.role, links, replaced=one.has_link)
    if what == "erase":
        UploadFolder(site().path).remove(files)
        live_report(site()).latest = None
    if one.role == "judge":
        return back(what)
    return back(what, "dashboard.people.page", role=one.role)


@pages.get("/people/erase")
def choose() -> AnyResponse:
    """Redirect to the confirmation of erasing the chosen person's data."""
    key = request.args.get("key", -1, type=int)
    return redirect(url_for("dashboard.people.change", key=key, what="erase"))


def _person(key: int) -> PersonRow:
    with site().store.read() as c:
        roles: tuple[Role, ...] = ("judge", "subject")
        found = (person_of_key(c, site().id, role, key) for role in roles)
        one = next(filter(None, found), None) or abort(404)
    if one.erased_at:
        raise QuemError(f"{one.id}'s personal data has been erased; no link can be created")
    return one


@pages.get("/people/<int:key>/<any(invitation, reminder):kind>")
def write(key: int, kind: LetterKind) -> str:
    """Show one person's reminder or invitation; without the link, stored only as a hash."""
    person = _person(key)
    with site().store.read() as c:
        known = standings(c, site(), person.role, key)
    one = known[0] if known else _new(person)
    return dashboard_page("messages.html", rows=[_message(kind, one)], kind=kind, role=person.role)


def _shown_once(role: Role, links: list[tuple[PersonRow, str]], *, replaced: bool = False) -> str:
    """Render new links; only the response that creates them shows them."""
    rows = list(_invitations(role, links))
    facts = {"rows": rows, "kind": "invitation", "replaced": replaced, "role": role}
    return dashboard_page("messages.html", is_new=True, **facts, **links_begin())


def links_begin() -> dict[str, str]:
    """Base URL of links and its reach; may differ from this page's address."""
    base = str(current_app.config.get("QUEM_URL") or request.host_url.rstrip("/"))
    return {"base": base, "reach": reach_of(base)}


def _invitations(role: Role, links: Sequence[tuple[PersonRow, str]]) -> Iterator[dict[str, Any]]:
    """Compose invitations with new links."""
    base = links_begin()["base"]
    for one, token in links:
        address = base + url_for("access.enter", path=PATHS[role], token=token)
        yield _message("invitation", _new(one), address)


def _new(one: PersonRow) -> Standing:
    return Standing(one, total_of(site(), one.role), 0, started=False, declined=False)


def _message(kind: LetterKind, one: Standing, address: str = "") -> dict[str, Any]:
    """Compose a message in the person's language."""
    written = write_to(site(), one, kind, g.organizer.name, link=address)
    mail = f"mailto:?subject={quote(written.subject)}&body={quote(written.text)}"
    return {
        "person": one.person,
        "link": address,
        "text": written.text,
        "language": written.language,
        "subject": written.subject,
        "mail": mail,
    }
