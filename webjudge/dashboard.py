"""The experimenter's dashboard: progress, links, opening and closing, and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import Blueprint, abort, redirect, render_template, request, url_for
from sqlalchemy import select

from quem.errors import QuemError
from quem.store import judges as links
from quem.store import studies
from quem.store.models import Event, Judge
from quem.store.progress import progress_of
from quem.store.rankings import submitted_rankings
from webjudge.access import is_at_desk, site
from webjudge.report import report_file

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from werkzeug.wrappers import Response

    from quem.store.judges import StoredJudge

__all__ = ["desk"]

desk = Blueprint("desk", __name__, url_prefix="/desk")

_MOST_EVENTS = 200
_ACTOR = "dashboard"
NO_LINK = "Open the dashboard's link: each start of the server prints a new one."


@desk.before_request
def _only_the_experimenter() -> None:
    with site().store.read() as c:
        if not is_at_desk(c):
            abort(401, NO_LINK)


@desk.get("")
def overview() -> str:
    """Show how far the judges are, and what can be done."""
    return _overview()


@desk.post("/open")
def open_study() -> Response:
    """Open the study; what was ranked on trial is discarded or kept."""
    with site().store.write() as c:
        if request.form.get("trial") == "discard":
            studies.discard_trial(c, site().id, _ACTOR)
        studies.set_state(c, site().id, "open", _ACTOR)
    return _back()


@desk.post("/close")
def close_study() -> Response:
    """Close the study."""
    with site().store.write() as c:
        studies.set_state(c, site().id, "closed", _ACTOR)
    return _back()


@desk.post("/discard")
def discard() -> Response:
    """Throw away what was ranked on trial."""
    with site().store.write() as c:
        studies.discard_trial(c, site().id, _ACTOR)
    return _back()


@desk.post("/reveal")
def reveal() -> Response | tuple[str, int]:
    """Show the rankings before the study is closed; logged."""
    if request.form.get("sure") != "yes":
        message = "Tick the box to reveal: whoever has seen the rankings is no longer blind."
        return _overview(error=message), 422
    with site().store.write() as c:
        studies.reveal(c, site().id, _ACTOR)
    return _back()


@desk.post("/judges")
def add() -> str | tuple[str, int]:
    """Add a judge, and show the link."""
    form = {name: request.form.get(name, "").strip() for name in ("id", "name", "experience")}
    try:
        with site().store.write() as c:
            years = _years(form["experience"])
            judge = links.add_judge(c, site().id, form["id"], form["name"], years, _ACTOR)
            token = links.issue_link(c, judge, _ACTOR)
    except QuemError as error:
        return _overview(error=str(error), form=form), 422
    return _new_links([(judge, token)])


@desk.post("/judges/links")
def make_links() -> str:
    """Make links for all judges who never had one, and show them."""
    with site().store.write() as c:
        made = [
            (judge, links.issue_link(c, judge, _ACTOR))
            for judge in links.judges_of(c, site().id)
            if judge.linked_at is None and judge.forgotten_at is None
        ]
    return _new_links(made)


@desk.post("/judges/<int:key>/link")
def reissue(key: int) -> str:
    """Replace a judge's link, and show the new one."""
    with site().store.write() as c:
        judge = _judge(c, key)
        token = links.issue_link(c, judge, _ACTOR)
    return _new_links([(judge, token)])


@desk.post("/judges/<int:key>/revoke")
def revoke(key: int) -> Response:
    """End a judge's link."""
    with site().store.write() as c:
        links.revoke_link(c, _judge(c, key), _ACTOR)
    return _back()


@desk.post("/judges/<int:key>/forget")
def forget(key: int) -> Response:
    """Forget who a judge was."""
    with site().store.write() as c:
        links.forget(c, _judge(c, key), _ACTOR)
    return _back()


@desk.get("/events")
def events() -> str:
    """Show what happened, newest first."""
    query = (
        select(Event.made_at, Event.actor, Event.what, Event.detail, Judge.id.label("judge"))
        .join(Judge, Judge.key == Event.judge_key, isouter=True)
        .where(Event.study_id == site().id)
        .order_by(Event.key.desc())
        .limit(_MOST_EVENTS)
    )
    with site().store.read() as c:
        rows = c.execute(query).all()
    page = {"study": {"title": site().spec.title}, "notice": None, "most": _MOST_EVENTS}
    return render_template("dashboard/events.html", **page, events=rows)


@desk.get("/words")
def words() -> str:
    """Show what judges wrote; only when rankings may be seen."""
    with site().store.read() as c:
        _refuse_hidden(c)
        rankings = submitted_rankings(c, site().id)
    page = {"study": {"title": site().spec.title}, "notice": None}
    return render_template("dashboard/words.html", **page, rankings=rankings)


@desk.get("/report/")
@desk.get("/report/<name>")
def report(name: str = "report.html") -> Response | str:
    """Show the report of what is submitted; only when rankings may be seen."""
    with site().store.read() as c:
        _refuse_hidden(c)
    try:
        return report_file(site(), name)
    except QuemError as error:
        page = {"study": {"title": site().spec.title}, "notice": None}
        mistakes = [mistake.message for mistake in error.mistakes]
        return render_template("dashboard/no_report.html", **page, mistakes=mistakes)


def _refuse_hidden(c: Connection) -> None:
    if not studies.status_of(c, site().id).is_shown:
        abort(403, "Rankings are hidden until the study is closed or revealed.")


def _overview(error: str = "", form: dict[str, str] | None = None) -> str:
    with site().store.read() as c:
        status = studies.status_of(c, site().id)
        progress = progress_of(c, site().id, site().plan)
    total = len(site().plan.groups) + site().plan.repeat
    begun = sum(group.standing != "new" for person in progress for group in person.groups)
    return render_template(
        "dashboard/overview.html",
        study={"title": site().spec.title},
        notice=None,
        status=status,
        progress=progress,
        total=total,
        begun=begun,
        columns=_columns(),
        changed=list(site().changed()),
        doubts=site().doubts,
        unlinked=sum(p.judge.linked_at is None and not p.judge.forgotten_at for p in progress),
        error=error,
        form=form or {},
    )


def _columns() -> list[dict[str, Any]]:
    """The groups in the order of the study: practice, each problem, and what comes again."""
    plan = site().plan
    columns = [{"problem": plan.practice.problem, "practice": True}] if plan.practice else []
    return [*columns, *({"problem": g.problem, "practice": False} for g in plan.groups)]


def _new_links(made: list[tuple[StoredJudge, str]]) -> str:
    """The one page on which links are shown."""
    rows = [
        {"judge": judge, "link": url_for("access.judge_link", token=token, _external=True)}
        for judge, token in made
    ]
    page = {"study": {"title": site().spec.title}, "notice": None}
    return render_template("dashboard/links.html", **page, rows=rows)


def _judge(c: Connection, key: int) -> StoredJudge:
    judge = next((j for j in links.judges_of(c, site().id) if j.key == key), None)
    if judge is None or judge.forgotten_at is not None:
        abort(404)
    return judge


def _years(text: str) -> float | None:
    if not text:
        return None
    try:
        years = float(text.replace(",", "."))
    except ValueError:
        years = -1.0
    if not 0 <= years <= 1000:  # noqa: PLR2004  nobody is older
        message = "experience is a number of years, such as 12, or empty"
        raise QuemError([message])
    return years


def _back() -> Response:
    return redirect(url_for("desk.overview"), code=303)
