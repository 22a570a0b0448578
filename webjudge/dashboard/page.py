"""What all pages of the dashboard share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import abort, flash, g, make_response, redirect, render_template, request, url_for

from quem.store.reviewing import is_frozen
from quem.store.studies import status_of
from webjudge import wording
from webjudge.access import site
from webjudge.languages import day
from webjudge.solution_review import minutes_for, unreviewed_count

if TYPE_CHECKING:
    from werkzeug.wrappers import Response


def dashboard_page(template: str, **values: Any) -> str:  # noqa: ANN401  what a template shows
    """Render a page of the dashboard."""
    with site().store.read() as c:
        status = status_of(c, site().id)
    study = {"title": site().spec.title, "key": site().key}
    page = {"study": study, "notice": None, "status": status, "say": wording, "day": day}
    page |= {"organizer": g.organizer, "has_solving": site().spec.solving is not None}
    return render_template(f"dashboard/{template}", **{**page, **values})


def question(what: str, word: str = "", **facts: Any) -> dict[str, Any]:  # noqa: ANN401
    """What `confirm.html` asks before something is done; a word has to be typed for what lasts."""
    return {"what": what, "word": word, "action": request.path, **facts}


def ask(*questions: dict[str, Any], refused: bool = False) -> str:
    """Render questions, each with what it means and the button that does it."""
    return dashboard_page("confirm.html", questions=questions, refused=refused)


def require_sure(asked: dict[str, Any]) -> None:
    """Answer with a question, unless it was confirmed on its page."""
    word, form = asked["word"], request.form
    if word:
        is_sure = form.get("word", "").strip().casefold() == word.casefold()
    else:
        is_sure = form.get("sure") == "yes"
    if not is_sure:
        abort(make_response(ask(asked, refused=True), 422))


def require_reviewed() -> None:
    """Ask before judges get links, where solutions are not reviewed and no judge has ranked."""
    with site().store.read() as c:
        left = 0 if is_frozen(c, site().id) else unreviewed_count(c, site())
    if left:
        form = [(name, value) for name, value in request.form.items() if name != "sure"]
        facts = {"left": left, "of": len(site().solutions), "minutes": minutes_for(left)}
        require_sure(question("unreviewed", form=form, **facts))


def message(name: str, **values: Any) -> str:  # noqa: ANN401  what a template shows
    """Render a message of `message.html`."""
    return dashboard_page("message.html", name=name, **values)


def note_done(what: str, **values: Any) -> None:  # noqa: ANN401  what its text names
    """Leave what was done for the next page, where `said.html` puts it in words."""
    done: Any = {"what": what, **values}
    flash(done)


def back(what: str, endpoint: str = "dashboard.overview", **values: str) -> Response:
    """Lead back to a page, which says what was done."""
    note_done(what)
    return redirect(url_for(endpoint, **values), code=303)


def problem_titles() -> dict[str, str]:
    """Name the problems, in the order of the study file."""
    return {
        problem.id: f"{problem.id}: {problem.title}" if problem.title else problem.id
        for problem in site().spec.problems
    }
