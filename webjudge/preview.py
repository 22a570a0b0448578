"""Preview of judges' pages; stores nothing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, abort, redirect, render_template, request, url_for

from quem.store.models import Item, Layout, TaskRow
from quem.store.state import State, labels
from quem.studyfile.blocks import PairCounts
from webjudge.access import admit, site
from webjudge.errors import go
from webjudge.files import send_file
from webjudge.pages import (
    MOST_MAKERS,
    Area,
    group_page,
    judge_page,
    listed,
    maker_page,
    solution_alone,
)

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as AnyResponse

    from quem.store.planned import Group

preview = Blueprint("preview", __name__, url_prefix="/dashboard/preview")
preview.before_request(admit)

_AREA = Area("preview", "open")


@preview.url_defaults
def _same_language(_: str, values: dict[str, Any]) -> None:
    """Keep the requested language in all links of the preview."""
    if "language" in request.args:
        values.setdefault("language", request.args["language"])


@preview.get("")
def home() -> str:
    """Show the judge's first page."""
    return render_template("judge/welcome.html", **judge_page(site(), _AREA, _tasks()))


@preview.get("/makers")
def makers() -> str:
    """Show the page that asks who made the first solution."""
    counting = [ballot for ballot in _ballots() if not ballot.practice and ballot.occasion == 1]
    if not counting:
        abort(404)
    solver = next(iter(counting[0].solvers or ()))
    page = maker_page(site(), _AREA, counting[0], solver, {}, _tasks())
    count = sum(len(ballot.solvers or ()) for ballot in counting)
    return render_template("judge/maker.html", **page, n=1, n_all=min(count, MOST_MAKERS))


@preview.post("/makers")
def guess_maker() -> AnyResponse:
    """Redirect to the page of thanks."""
    return redirect(url_for("preview.done", guessed="yes"), code=303)


@preview.get("/done")
def done() -> str:
    """Show the page of thanks, which follows the guesses."""
    counting = [ballot for ballot in _ballots() if not ballot.practice]
    if site().spec.judging.ask_maker and counting and "guessed" not in request.args:
        go("preview.makers")
    ranked = sum(len(ballot.solvers or ()) for ballot in counting)
    page = judge_page(site(), _AREA, _tasks())
    return render_template("judge/done.html", **page, ranked=ranked, seconds=60 * site().minutes)


@preview.get("/g/<gid>")
def task(gid: str) -> str:
    """Show a ranking page."""
    ballot = _ballot(gid)
    state = State(tray=tuple(ballot.solvers or ()))
    page = group_page(site(), _AREA, ballot, state, {}, _tasks())
    return render_template("judge/group.html", **page)


@preview.get("/g/<gid>/solution/<version>")
def solution(gid: str, version: str) -> str:
    """Send a solution that the page left out for its size."""
    return solution_alone(site(), _AREA, _ballot(gid), {}, version)


@preview.get("/g/<gid>/file/<token>")
@preview.get("/g/<gid>/file/<token>/<int:page>")
def file(gid: str, token: str, page: int | None = None) -> Response:
    """Send a cleaned file of a solution or the statement."""
    return send_file(site(), _ballot(gid), token, page)


def _tasks() -> list[dict[str, Any]]:
    return listed(site(), _AREA, _ballots(), {})


def _ballot(gid: str) -> TaskRow:
    ballot = next((b for b in _ballots() if b.public_id == gid), None)
    if ballot is None:
        abort(404)
    return ballot


def _ballots() -> list[TaskRow]:
    """Sample ballots in the study's order, with a fixed order of solutions."""
    plan = site().plan
    # Deterministic blocks, for the preview only.
    rng, met = random.Random(0), PairCounts()  # noqa: S311
    parts = [part for group in plan.groups for part in plan.deal(group, met, rng)]
    groups = [(group, 1) for group in (*([plan.practice] if plan.practice else []), *parts)]
    groups += [(group, 2) for group in parts[: plan.repeat]]
    return [
        _preview_ballot(number, group, occasion, practice=group is plan.practice)
        for number, (group, occasion) in enumerate(groups)
    ]


def _preview_ballot(number: int, group: Group, occasion: int, *, practice: bool) -> TaskRow:
    solvers = list(group.solvers)
    random.Random(f"{number} {group.problem}").shuffle(solvers)  # noqa: S311  nobody judges it
    letters = zip(labels(len(solvers)), solvers, strict=True)
    items = tuple(Item(letter, solver, "", "") for letter, solver in letters)
    layout = Layout(id="", rows=items)
    return TaskRow(
        public_id=str(number),
        problem=group.problem,
        block=group.block,
        occasion=occasion,
        practice=practice,
        position=number,
        solvers=solvers,
        head=0,
        seconds=0.0,
        views={},
        layout_id="",
        layouts=[layout],
    )
