"""What all pages of the dashboard share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flask import flash, g, redirect, render_template, request, url_for

from quem.store.reviewing import is_frozen
from quem.store.standing import Span
from quem.store.studies import status_of
from webjudge import wording
from webjudge.access import site
from webjudge.confirmations import about_unreviewed
from webjudge.solution_review import minutes_for, unreviewed_count

if TYPE_CHECKING:
    from werkzeug.wrappers import Response

    from webjudge.confirmations import Confirmation

# Rankings submitted by the last judge before, and that judge's key.
_PLACE = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})")
_LONGEST_SEARCH = 100


class UnsureError(Exception):
    """Something was to be done without the answer to what is asked before."""

    def __init__(self, question: Confirmation) -> None:
        super().__init__(question.title)
        self.question = question


def dashboard_page(template: str, **values: Any) -> str:  # noqa: ANN401  what a template shows
    """Render a page of the dashboard."""
    with site().store.read() as c:
        status = status_of(c, site().id)
    study = {"title": site().spec.title, "key": site().key}
    page: dict[str, Any] = {"study": study, "notice": None, "status": status}
    page |= {"organizer": g.organizer, "has_solving": site().spec.solving is not None}
    return render_template(f"dashboard/{template}", **{**page, "say": wording, **values})


def asked_span() -> Span:
    """Which judges an address asks for, where there are too many for one page."""
    asked = request.args
    place = _PLACE.fullmatch(asked.get("after") or asked.get("before", ""))
    return Span(
        "least" if asked.get("by") == "least" else "first",
        asked.get("find", "").strip()[:_LONGEST_SEARCH],
        (int(place[1]), int(place[2])) if place else None,
        is_back=bool(place) and "before" in asked and not asked.get("after"),
    )


def ask(question: Confirmation, refusal: str = "") -> str:
    """Render a question, with what was wrong with the last answer."""
    return dashboard_page("confirm.html", question=question, refusal=refusal)


def require_sure(question: Confirmation) -> None:
    """Refuse what was not asked and confirmed on the question's page."""
    form = request.form
    if question.word:
        is_sure = form.get("word", "").strip().casefold() == question.word.casefold()
    else:
        is_sure = form.get("sure") == "yes"
    if not is_sure:
        raise UnsureError(question)


def require_reviewed() -> None:
    """Ask before judges get links, where solutions are not reviewed and no judge has ranked."""
    with site().store.read() as c:
        left = 0 if is_frozen(c, site().id) else unreviewed_count(c, site())
    if left:
        form = [(name, value) for name, value in request.form.items() if name != "sure"]
        minutes = wording.counted(minutes_for(left), "minute")
        count = len(site().solutions)
        require_sure(about_unreviewed(left, count, minutes, request.path, form))


def message(title: str, *paragraphs: str) -> str:
    """Render a message."""
    return dashboard_page("message.html", title=title, paragraphs=paragraphs)


def note_done(what: str, **values: Any) -> None:  # noqa: ANN401  what its text names
    """Leave what was done for the next page, where ``dashboard/said.html`` puts it in words."""
    done: Any = {"what": what, **values}
    flash(done)


def back(what: str, page: str = "overview") -> Response:
    """Lead back to a page, which says what was done."""
    note_done(what)
    return redirect(url_for(f"dashboard.{page}"), code=303)


def problem_titles() -> dict[str, str]:
    """Name the problems, in the order of the study file."""
    return {
        problem.id: f"{problem.id}: {problem.title}" if problem.title else problem.id
        for problem in site().spec.problems
    }
