"""Any page as a judge would see it, storing nothing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from flask import Blueprint, abort, redirect, render_template, request, url_for

from quem.store.models import Item, Layout, TaskRow
from quem.store.state import State, labels
from quem.studyfile.blocks import PairCounts
from webjudge.access import admit, site
from webjudge.files import send_file
from webjudge.pages import (
    Area,
    DisplayedBallot,
    group_page,
    home_page,
    listed,
    maker_page,
    solution_alone,
)
from webjudge.questions import MOST_MAKERS

if TYPE_CHECKING:
    from flask import Response
    from werkzeug.wrappers import Response as AnyResponse

    from quem.store.planned import Group

preview = Blueprint("preview", __name__, url_prefix="/dashboard/preview")

_AREA = Area("preview", "open")


@preview.before_request
def _only_managers() -> None:
    admit()


@preview.url_defaults
def _same_language(_: str, values: dict[str, Any]) -> None:
    """Let all pages be in the language that one was asked for in."""
    if "language" in request.args:
        values.setdefault("language", request.args["language"])


@preview.get("")
def home() -> str:
    """Show the judge's first page."""
    page = home_page(site(), _AREA, listed(site(), _AREA, _ballots()))
    return render_template("judge/welcome.html", **page, consented=False, declined=False)


@preview.get("/makers")
def makers() -> str:
    """Show the page that asks who made a solution, with the first one."""
    ballots = [ballot for ballot in _ballots() if not ballot.practice and ballot.occasion == 1]
    if not ballots:
        abort(404)
    shown, groups = _shown(ballots[0]), listed(site(), _AREA, _ballots())
    page = maker_page(site(), _AREA, shown, shown.layout.items[0].solver, groups)
    count = sum(len(ballot.solvers or ()) for ballot in ballots)
    return render_template("judge/maker.html", **page, n=1, n_all=min(count, MOST_MAKERS))


@preview.post("/makers")
def guess_maker() -> AnyResponse:
    """Go on to the page of thanks."""
    return redirect(url_for("preview.done", guessed="yes"), code=303)


@preview.get("/done")
def done() -> AnyResponse | str:
    """Show the page of thanks, behind that which asks who made the solutions."""
    ballots = _ballots()
    is_asked = site().spec.judging.ask_maker and not all(ballot.practice for ballot in ballots)
    if is_asked and "guessed" not in request.args:
        return redirect(url_for("preview.makers"), code=303)
    page = home_page(site(), _AREA, listed(site(), _AREA, ballots))
    ranked = sum(len(ballot.solvers or ()) for ballot in ballots if not ballot.practice)
    work = {"ranked": ranked, "seconds": 60 * site().minutes}
    return render_template("judge/done.html", **page, **work, just=None)


@preview.get("/g/<gid>")
def group(gid: str) -> str:
    """Show a ranking page."""
    ballot = _ballot(gid)
    groups = listed(site(), _AREA, _ballots())
    return render_template("judge/group.html", **group_page(site(), _AREA, _shown(ballot), groups))


@preview.get("/g/<gid>/solution/<version>")
def solution(gid: str, version: str) -> str:
    """Show one solution, for a page that was too small for all."""
    return solution_alone(site(), _AREA, _shown(_ballot(gid)), version)


@preview.get("/g/<gid>/file/<token>")
@preview.get("/g/<gid>/file/<token>/<int:page>")
def file(gid: str, token: str, page: int | None = None) -> Response:
    """Send a file of a solution or of the statement, cleaned."""
    return send_file(site(), _ballot(gid), token, page)


def _shown(ballot: TaskRow) -> DisplayedBallot:
    shown = DisplayedBallot(ballot, State())
    return DisplayedBallot(ballot, State(tray=tuple(shown.names)))


def _ballot(gid: str) -> TaskRow:
    ballot = next((b for b in _ballots() if b.public_id == gid), None)
    if ballot is None:
        abort(404)
    return ballot


def _ballots() -> list[TaskRow]:
    """Ballots that no judge was dealt: the study's order, and an order of solutions that stays."""
    plan = site().plan
    groups = [(plan.practice, 1)] if plan.practice else []
    # The same blocks each time; nobody judges them.
    rng, met = random.Random(0), PairCounts()  # noqa: S311
    parts = [part for group in plan.groups for part in plan.deal(group, met, rng)]
    groups += [(group, 1) for group in parts]
    groups += [(group, 2) for group in parts[: plan.repeat]]
    return [
        _preview_ballot(number, group, occasion, practice=group is plan.practice)
        for number, (group, occasion) in enumerate(groups)
        if group
    ]


def _preview_ballot(number: int, group: Group, occasion: int, *, practice: bool) -> TaskRow:
    solvers = list(group.solvers)
    random.Random(f"{number} {group.problem}").shuffle(solvers)  # noqa: S311  nobody judges it
    letters = zip(labels(len(solvers)), solvers, strict=True)
    items = tuple(Item(letter, solver, "", "") for letter, solver in letters)
    return TaskRow(
        public_id=str(number),
        problem=group.problem,
        block=group.block,
        occasion=occasion,
        practice=practice,
        position=number,
        solvers=list(group.solvers),
        head=0,
        seconds=0.0,
        views={},
        layout_id="",
        layouts=[Layout(id="", items=items)],
    )
