"""The dashboard's pages for the solving session: who solves, their links, opening and closing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

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
from quem.solving.closing import close_solving
from quem.store import subjects
from quem.store.audit_log import audit_events
from quem.store.outbox import awaiting_letter
from quem.store.solving import (
    discard_solving_trial,
    set_solving,
    solving_state,
    spent_on,
    tasks_of,
)
from quem.store.uploads import UploadFolder
from webjudge.access import acting, site
from webjudge.confirmations import Confirmation
from webjudge.dashboard_pages import ask, dashboard_page, require_sure
from webjudge.letters import Standing, write_to
from webjudge.mail_admin import SAID as LETTERS_SAID
from webjudge.mail_admin import letters_page
from webjudge.mailing import reach_of
from webjudge.study_edits import take_up_subjects

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from werkzeug.wrappers import Response

    from quem.store.subjects import StoredSubject

solving_pages = Blueprint("solving", __name__, url_prefix="/solving")

_LONGEST_NAME = 200
_MOST_FLAGGED = 1000
_NOT_SERVED = (
    "The session is closed, and solutions and subjects are written. But judges cannot be shown "
    "the study yet. Correct this, then close the session again:"
)
_SAID = {
    "opened": "Solving session open. People can solve until you close it.",
    "closed": "Solving session closed. Solutions and subjects are written; review them next.",
    "revoked": "Link revoked.",
    "erased": "Personal data erased.",
}


@solving_pages.before_request
def _only_with_session() -> None:
    if site().spec.solving is None:
        abort(404)


@solving_pages.get("")
def session() -> str:
    """Show how far everybody is."""
    said = request.args.get("said", "")
    return _page(said=_SAID.get(said) or LETTERS_SAID.get(said, ""))


@solving_pages.post("/new")
def add() -> str | tuple[str, int]:
    """Add a subject, and show the link."""
    form = {name: request.form.get(name, "").strip() for name in ("id", "name")}
    if len(form["name"]) > _LONGEST_NAME or not form["name"].isprintable():
        return _page(form=form, trouble="Use one line of at most 200 characters."), 422
    if form["id"] in site().spec.taken_ids:
        trouble = f"{form['id']} is a judge or another solver; choose another ID"
        return _page(form=form, trouble=trouble), 422
    try:
        with site().store.write() as c:
            one = subjects.add_subject(c, site().id, form["id"], form["name"], acting())
            token = subjects.issue_subject_link(c, one, acting())
    except QuemError as error:
        return _page(form=form, trouble=error.mistakes[0].message), 422
    except IntegrityError:
        return _page(form=form, trouble=f"subject {form['id']} already exists"), 422
    return _shown_once([(one, token)])


@solving_pages.post("/links")
def make_links() -> str:
    """Make links for all who never had one."""
    with site().store.write() as c:
        new = _unlinked(c, subjects.subjects_of(c, site().id))
        links = [(one, subjects.issue_subject_link(c, one, acting())) for one in new]
    return _shown_once(links)


@solving_pages.get("/<any(open, close):what>")
def ask_first(what: str) -> str:
    """Ask before the session is opened or closed."""
    return ask(_question(what))


@solving_pages.post("/open")
def open_session() -> Response:
    """Open the session; what was written to try the pages is deleted."""
    require_sure(_question("open"))
    with site().store.write() as c:
        gone = discard_solving_trial(c, site().id, acting())
        set_solving(c, site().id, "open", acting())
    UploadFolder(site().path).remove({(one.sha256, one.ending) for one in gone})
    return _back("opened")


@solving_pages.post("/close")
def close_session() -> Response:
    """Close the session, write what came of it, and serve the study with it."""
    require_sure(_question("close"))
    close_solving(site().store, site().spec, site().path, acting())
    try:
        take_up_subjects()
    except QuemError as error:
        raise QuemError([_NOT_SERVED, *error.mistakes]) from None
    return _back("closed")


@solving_pages.get("/<int:key>/<any(link, revoke, erase):what>")
def ask_about(key: int, what: str) -> str:
    """Ask before a link is replaced or revoked, or personal data erased."""
    with site().store.read() as c:
        one = _subject(c, key)
    return ask(_about(what, one))


@solving_pages.post("/<int:key>/link")
def make_link(key: int) -> str:
    """Make a subject's link, in place of an earlier one."""
    with site().store.write() as c:
        one = _subject(c, key)
        if one.linked_at:
            require_sure(_about("link", one))
        token = subjects.issue_subject_link(c, one, acting())
    return _shown_once([(one, token)], replaced=one.linked_at is not None)


@solving_pages.post("/<int:key>/revoke")
def revoke(key: int) -> Response:
    """End a subject's link."""
    with site().store.write() as c:
        one = _subject(c, key)
        require_sure(_about("revoke", one))
        if one.has_link:
            subjects.revoke_subject_link(c, one, acting())
    return _back("revoked")


@solving_pages.post("/<int:key>/erase")
def erase(key: int) -> Response:
    """Erase a subject's personal data and what they wrote."""
    with site().store.write() as c:
        one = _subject(c, key)
        require_sure(_about("erase", one))
        gone = subjects.erase_subject(c, one, acting())
    UploadFolder(site().path).remove(gone)
    return _back("erased")


def _unlinked(c: Connection, people: list[StoredSubject]) -> list[StoredSubject]:
    """Give those who never had a link, and for whom no letter with one is queued."""
    awaiting = awaiting_letter(c, site().id, "subject")
    return [one for one in people if not (one.linked_at or one.is_gone or one.key in awaiting)]


def _subject(c: Connection, key: int) -> StoredSubject:
    one = next((one for one in subjects.subjects_of(c, site().id) if one.key == key), None)
    if one is None or one.forgotten_at:
        abort(404)
    return one


def _back(said: str) -> Response:
    return redirect(url_for("dashboard.solving.session", said=said), code=303)


def _page(*, said: str = "", form: dict[str, str] | None = None, trouble: str = "") -> str:
    people = _people()
    with site().store.read() as c:
        state = solving_state(c, site().id)
        events = audit_events(c, site().id, _MOST_FLAGGED)
        unlinked = _unlinked(c, [one["subject"] for one in people])
    spec = site().spec
    return dashboard_page(
        "solving.html",
        said=said,
        form=form or {"id": "", "name": ""},
        trouble=trouble,
        people=people,
        session_state=state,
        unlinked=unlinked,
        flagged=[event for event in events if event.what == "answer-names"],
        unsure=[one for one in people if one["again"] and one["again"] != one["experience"]],
        unit=spec.experience_unit,
        lacking=_lacking(),
        letters=letters_page(site(), "subject"),
    )


def _lacking() -> list[str]:
    """Say what people would miss if the session opened now."""
    spec, found = site().spec, site().solutions
    practice = spec.solving.practice if spec.solving else ""
    parts = [
        f"{problem.id} has no statement"
        for problem in spec.problems
        if problem.id not in found.statements and problem.id != practice
    ]
    if spec.solving and spec.solving.practice and practice not in found.statements:
        parts.append(f"the practice problem {practice} has no statement")
    return parts


def _people() -> list[dict[str, Any]]:
    with site().store.read() as c:
        everybody = subjects.subjects_of(c, site().id)
        replies = subjects.replies_of(c, [one.key for one in everybody])
        rows = []
        for one in everybody:
            tasks = [task for task in tasks_of(c, one.key) if not task.practice]
            spent = spent_on(c, tasks)
            ended = [task for task in tasks if task.ended]
            said = replies[one.key]
            rows.append(
                {
                    "subject": one,
                    "gone": one.is_gone,
                    "solved": sum(task.ended in ("submit", "timeout") for task in ended),
                    "skipped": sum(task.ended == "skip" for task in ended),
                    "total": len(tasks) or _count(),
                    "seconds": sum(time.work for time in spent.values()),
                    "experience": said.get(subjects.EXPERIENCE, ""),
                    "again": said.get(subjects.EXPERIENCE_AGAIN, ""),
                    "status": _status(one, bool(tasks) and len(ended) == len(tasks)),
                }
            )
    return rows


def _count() -> int:
    solving = site().spec.solving
    return sum(problem.id != (solving and solving.practice) for problem in site().spec.problems)


def _status(one: StoredSubject, is_done: bool) -> tuple[str, str]:  # noqa: FBT001
    """Say how a subject is doing, and the color of that."""
    states = (
        (one.forgotten_at, "Erased", ""),
        (one.withdrawn_at, "Withdrawn", "bad"),
        (one.declined_at, "Declined", "bad"),
        (is_done, "Finished", "good"),
        (one.revoked_at, "Link revoked", "bad"),
        (not one.linked_at, "No link", "warn"),
        (one.seen_at, "Active", "good"),
    )
    return next(((name, tone) for holds, name, tone in states if holds), ("Not opened", "warn"))


def _question(what: str) -> Confirmation:
    people = _people()
    if what == "open":
        begun = sum(one["seconds"] > 0 for one in people)
        text = [
            "From now on, what people write counts, and their clocks run. Close the session when "
            "everybody is done; it can be opened again."
        ]
        if begun:
            who = "1 person has" if begun == 1 else f"{begun} people have"
            text.insert(0, f"{who} tried the pages. What they wrote is deleted.")
        text += [
            f"The session is not complete: {'; '.join(parts)}." for parts in [_lacking()] if parts
        ]
        action = url_for("dashboard.solving.open_session")
        return Confirmation("Open the solving session?", tuple(text), action, "Open the session")
    left = [one for one in people if one["status"][0] in ("Active", "Not opened", "No link")]
    names = ", ".join(one["subject"].name or one["subject"].id for one in left[:10])
    text = [
        *([f"Not finished: {names}{' and more' if len(left) > 10 else ''}."] if left else []),  # noqa: PLR2004
        "Nobody can change an answer any more. The solutions are written into the study's folder, "
        "and who solved them, with their experience and times, into the table of subjects. "
        "Closing again writes the same.",
    ]
    action = url_for("dashboard.solving.close_session")
    return Confirmation("Close the solving session?", tuple(text), action, "Close the session")


def _about(what: str, one: StoredSubject) -> Confirmation:
    who = f"{one.name} ({one.id})" if one.name else one.id
    if what == "link":
        text: tuple[str, ...] = (
            f"{who}'s current link stops working on all devices. Answers are kept. The new link "
            "is shown once.",
        )
        action = url_for("dashboard.solving.make_link", key=one.key)
        return Confirmation(f"Replace {one.id}'s link?", text, action, "Replace link")
    if what == "revoke":
        text = (f"{who} can no longer open the pages on any device. Answers are kept.",)
        action = url_for("dashboard.solving.revoke", key=one.key)
        return Confirmation(f"Revoke {one.id}'s link?", text, action, "Revoke link", is_grave=True)
    text = (
        f"This deletes {who}'s ID, name, replies, answers, and files, and revokes the link. How "
        "long they took stays under a pseudonym.",
        "This cannot be undone. Solutions and tables that are written already, the study file, "
        f"and backups are not changed; remove {one.id} there yourself.",
    )
    return Confirmation(
        f"Erase {one.id}'s personal data?",
        text,
        url_for("dashboard.solving.erase", key=one.key),
        "Erase personal data",
        is_grave=True,
        word=one.id,
    )


def _shown_once(links: list[tuple[StoredSubject, str]], *, replaced: bool = False) -> str:
    """The one page that shows new links: the answer to the request that made them."""
    base = current_app.config.get("QUEM_URL") or request.host_url.rstrip("/")
    rows = [
        _message(one, base + url_for("access.subject_link", token=token)) for one, token in links
    ]
    page = {"rows": rows, "kind": "invitation", "replaced": replaced, "base": base}
    page["reach"] = reach_of(base)
    return dashboard_page("messages.html", is_new=True, noun="subject", **page)


def _message(one: StoredSubject, link: str) -> dict[str, Any]:
    """Write a message to a subject, in the language that the study file names."""
    standing = Standing(one, _count(), 0, started=False, declined=False, role="subject")
    written = write_to(site(), standing, "invitation", g.organizer.name, link=link)
    mail = f"mailto:?subject={quote(written.subject)}&body={quote(written.text)}"
    row = {"judge": one, "link": link, "text": written.text, "language": written.language}
    return {**row, "subject": written.subject, "mail": mail}
