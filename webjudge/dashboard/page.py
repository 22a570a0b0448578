"""Shared helpers of the dashboard's pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import abort, flash, g, make_response, redirect, render_template, request, url_for

from quem.store.studies import status_of
from webjudge import wording
from webjudge.access import site
from webjudge.languages import day
from webjudge.solution_review import left_to_review

if TYPE_CHECKING:
    from flask import Response
    from werkzeug.wrappers import Response as AnyResponse


def dashboard_page(template: str, **values: Any) -> str:  # noqa: ANN401  what a template shows
    """Render a page of the dashboard."""
    with site().store.read() as c:
        status = status_of(c, site().id)
    page: dict[str, Any] = {
        "study": {"title": site().spec.title, "key": site().key},
        "notice": None,
        "status": status,
        "organizer": g.organizer,
        "has_solving": site().spec.solving is not None,
        "say": wording,
        "day": day,
    }
    return render_template(f"dashboard/{template}", **{**page, **values})


def question(what: str, word: str = "", **facts: Any) -> dict[str, Any]:  # noqa: ANN401
    """A question for `confirm.html`; irreversible actions require a typed word."""
    return {"what": what, "word": word, "action": request.path, **facts}


def ask(*questions: dict[str, Any]) -> Response:
    """Render confirmation questions with their consequences and buttons."""
    refused = request.method == "POST"
    page = dashboard_page("confirm.html", questions=questions, refused=refused)
    return make_response(page, 422 if refused else 200)


def is_sure(word: str = "") -> bool:
    """Whether the form confirms a question."""
    if word:
        return request.form.get("word", "").strip().casefold() == word.casefold()
    return request.form.get("sure") == "yes"


def require_sure(asked: dict[str, Any]) -> None:
    """Abort with the confirmation page unless the form confirms it."""
    if not is_sure(asked["word"]):
        abort(ask(asked))


def require_reviewed() -> None:
    """Ask before judges get links to unreviewed solutions that nobody has ranked."""
    if left := left_to_review(site()):
        form = [(name, value) for name, value in request.form.items() if name != "sure"]
        require_sure(question("unreviewed", form=form) | left)


def message(name: str, **values: Any) -> str:  # noqa: ANN401  what a template shows
    """Render a message from `message.html`."""
    return dashboard_page("message.html", name=name, **values)


def note_done(what: str, **values: Any) -> None:  # noqa: ANN401  what its text names
    """Flash an action for the next page; `said.html` has the wording."""
    done: Any = {"what": what, **values}
    flash(done)


def back(what: str, endpoint: str = "dashboard.overview", **values: str) -> AnyResponse:
    """Redirect to a page that shows what was done."""
    note_done(what)
    return redirect(url_for(endpoint, **dict[str, Any](values)), code=303)


def problem_titles() -> dict[str, str]:
    """Titles of the problems, in the order of the study file."""
    return {
        problem.id: f"{problem.id}: {problem.title}" if problem.title else problem.id
        for problem in site().spec.problems
    }
