"""The dashboard's pages for the solving session: how far everybody is, opening and closing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import abort, url_for

from quem.errors import QuemError
from quem.solving.closing import close_solving
from quem.store.audit_log import audit_events
from quem.store.clock import spent_on
from quem.store.links import count_unlinked
from quem.store.people import EXPERIENCE, EXPERIENCE_AGAIN, people_of
from quem.store.studies import discard_solving_trial, set_solving, solving_state
from quem.store.uploads import UploadFolder
from quem.store.work import tasks_of
from webjudge.access import acting, site
from webjudge.confirmations import Confirmation
from webjudge.dashboard_pages import ask, back, dashboard_page, require_sure
from webjudge.mail_admin import letters_page
from webjudge.mailing import total_of
from webjudge.people import person_pages
from webjudge.study_edits import take_up_subjects

if TYPE_CHECKING:
    from werkzeug.wrappers import Response

    from quem.store.models import PersonRow

solving_pages = person_pages("subject")

_MOST_FLAGGED = 1000
_NOT_SERVED = (
    "The session is closed, and solutions and subjects are written. But judges cannot be shown "
    "the study yet. Correct this, then close the session again:"
)


@solving_pages.before_request
def _only_with_session() -> None:
    if site().spec.solving is None:
        abort(404)


@solving_pages.get("")
def session() -> str:
    """Show how far everybody is."""
    people = _people()
    with site().store.read() as c:
        state = solving_state(c, site().id)
        events = audit_events(c, site().id, _MOST_FLAGGED)
        count = count_unlinked(c, site().id, "subject")
    spec = site().spec
    return dashboard_page(
        "solving.html",
        people=people,
        session_state=state,
        unlinked=count,
        flagged=[event for event in events if event.what == "answer-names"],
        unsure=[one for one in people if one["again"] and one["again"] != one["experience"]],
        unit=spec.experience_unit,
        lacking=_lacking(),
        letters=letters_page(site(), "subject"),
    )


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
    return back("session-opened", "solving.session")


@solving_pages.post("/close")
def close_session() -> Response:
    """Close the session, write what came of it, and serve the study with it."""
    require_sure(_question("close"))
    close_solving(site().store, site().spec, site().path, acting())
    try:
        take_up_subjects()
    except QuemError as error:
        raise QuemError([_NOT_SERVED, *error.mistakes]) from None
    return back("session-closed", "solving.session")


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
        everybody = people_of(c, site().id, "subject")
        rows = []
        for one in everybody:
            tasks = [task for task in tasks_of(c, one.key) if not task.practice]
            ended = [task for task in tasks if task.ended]
            said = one.replies
            rows.append(
                {
                    "subject": one,
                    "gone": one.is_gone,
                    "solved": sum(task.ended in ("submit", "timeout") for task in ended),
                    "skipped": sum(task.ended == "skip" for task in ended),
                    "total": len(tasks) or total_of(site(), "subject"),
                    "seconds": sum(spent_on(task).work for task in tasks),
                    "experience": said.get(EXPERIENCE, ""),
                    "again": said.get(EXPERIENCE_AGAIN, ""),
                    "status": _status(one, bool(tasks) and len(ended) == len(tasks)),
                }
            )
    return rows


def _status(one: PersonRow, is_done: bool) -> tuple[str, str]:  # noqa: FBT001
    """Say how a subject is doing, and the color of that."""
    states = (
        (one.erased_at, "Erased", ""),
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
