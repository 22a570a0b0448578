"""What all pages of the dashboard share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import abort, flash, g, make_response, redirect, render_template, request, url_for

from quem.store.reviewing import count_unreviewed
from quem.store.studies import status_of
from webjudge import wording
from webjudge.access import site
from webjudge.languages import day
from webjudge.solution_review import minutes_for

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
    """What `confirm.html` asks before something is done; a word has to be typed for what lasts."""
    return {"what": what, "word": word, "action": request.path, **facts}


def ask(*questions: dict[str, Any]) -> Response:
    """Show questions, each with what it means and the button that does it; again if refused."""
    refused = request.method == "POST"
    page = dashboard_page("confirm.html", questions=questions, refused=refused)
    return make_response(page, 422 if refused else 200)


def is_sure(word: str = "") -> bool:
    """Whether a question was confirmed on its page."""
    if word:
        return request.form.get("word", "").strip().casefold() == word.casefold()
    return request.form.get("sure") == "yes"


def require_sure(asked: dict[str, Any]) -> None:
    """Answer with a question, unless it was confirmed on its page."""
    if not is_sure(asked["word"]):
        abort(ask(asked))


def require_reviewed() -> None:
    """Ask before judges get links, where solutions are not reviewed and no judge has ranked."""
    with site().store.read() as c:
        left = count_unreviewed(c, site().id, site().solutions)
    if left:
        form = [(name, value) for name, value in request.form.items() if name != "sure"]
        facts = {"left": left, "of": len(site().solutions), "minutes": minutes_for(left)}
        require_sure(question("unreviewed", form=form) | facts)


def message(name: str, **values: Any) -> str:  # noqa: ANN401  what a template shows
    """Render a message of `message.html`."""
    return dashboard_page("message.html", name=name, **values)


def note_done(what: str, **values: Any) -> None:  # noqa: ANN401  what its text names
    """Leave what was done for the next page, where `said.html` puts it in words."""
    done: Any = {"what": what, **values}
    flash(done)


def back(what: str, endpoint: str = "dashboard.overview", **values: str) -> AnyResponse:
    """Lead back to a page, which says what was done."""
    note_done(what)
    return redirect(url_for(endpoint, **dict[str, Any](values)), code=303)


def problem_titles() -> dict[str, str]:
    """Name the problems, in the order of the study file."""
    return {
        problem.id: f"{problem.id}: {problem.title}" if problem.title else problem.id
        for problem in site().spec.problems
    }
