"""The judge's pages, and what the ranking page sends."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NoReturn

from flask import Blueprint, Response, abort, jsonify, redirect, render_template, request, url_for
from sqlalchemy.exc import IntegrityError, OperationalError

from quem.store.ballots import (
    Change,
    ClosedError,
    NotDealtError,
    StaleError,
    SubmittedError,
    add_seconds,
    ballot_of,
    ballots_of,
    current_state,
    save,
)
from quem.store.dealing import deal, lay_out, needs_layout
from quem.store.judges import consent, saw, saw_lately
from quem.store.state import InvalidStateError, State, labels
from quem.store.studies import record_shown, status_of
from webjudge.access import current_judge, site
from webjudge.errors import refusal
from webjudge.files import send_part
from webjudge.pages import Area, Shown, group_page, home_page, listed, next_url

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from werkzeug.wrappers import Response as AnyResponse

    from quem.store.ballots import Dealt, Group
    from quem.store.judges import StoredJudge

__all__ = ["judge"]

judge = Blueprint("judge", __name__, url_prefix="/judge")

_CLIENT = re.compile(r"[A-Za-z0-9_-]{8,40}")
_MOST = 2**31 - 1
_STALE = "This group was changed in another tab or on another device."
_CLOSED = "The study is closed; rankings can no longer be changed."
_SUBMITTED = "This ranking is submitted. Reopen it to change it."


@judge.get("")
def home() -> AnyResponse | str:
    """Show briefing, consent and the list of groups."""
    with site().store.read() as c:
        person = current_judge(c)
        area = Area("judge", status_of(c, site().id).state)
        ballots = _mine(c, person)
    _note_visit(person)
    page = home_page(site(), area, listed(site(), area, ballots))
    return render_template(
        "judge/welcome.html",
        **page,
        consented=person.consented_at is not None,
        judge_name=person.name,
    )


@judge.post("/consent")
def give_consent() -> AnyResponse:
    """Note the judge's consent."""
    with site().store.read() as c:
        person = current_judge(c)
    with site().store.write() as c:
        consent(c, person)
    return redirect(url_for("judge.home"), code=303)


@judge.get("/g/<gid>")
def group(gid: str) -> AnyResponse | str:
    """Show the ranking page of a group."""
    with site().store.read() as c:
        person = current_judge(c)
        area = Area("judge", status_of(c, site().id).state)
        if site().solutions.consent and person.consented_at is None:
            return redirect(url_for("judge.home"), code=303)
        ballots = _mine(c, person)
        ballot, planned = _planned(ballots, gid)
        state = current_state(c, ballot)
    groups = listed(site(), area, ballots)
    if not any(g["gid"] == gid and g["url"] for g in groups):
        return redirect(url_for("judge.home"), code=303)
    if needs_layout(ballot, planned.solvers):
        with site().store.write() as c:
            lay_out(c, ballot, planned.solvers)
            if not ballot.practice:
                record_shown(c, site().id, ballot.problem, _digests(planned))
            ballot = ballot_of(c, person.key, gid)
            state = current_state(c, ballot)
    _note_visit(person)
    shown = Shown(ballot, state.renamed(_labels_of(ballot)))
    return render_template("judge/group.html", **group_page(site(), area, shown, groups))


@judge.put("/g/<gid>/state")
def save_state(gid: str) -> Response:
    """Save a state of a ranking, or submit it."""
    body = _body("base", "client", "change", "state", "seconds", "submit")
    if not isinstance(body["submit"], bool):
        _invalid("submit is neither true nor false")
    return _save(gid, body, "submit" if body["submit"] else "save")


@judge.post("/g/<gid>/reopen")
def reopen(gid: str) -> Response:
    """Open a submitted ranking again."""
    return _save(gid, _body("base", "client", "change"), "reopen")


@judge.post("/g/<gid>/time")
def add_time(gid: str) -> tuple[str, int]:
    """Add working time."""
    seconds = _seconds(_body("seconds"))
    with site().store.read() as c:
        person = current_judge(c)
        ballot = _found(c, person, gid)
    with site().store.write() as c:
        add_seconds(c, ballot, seconds)
    return "", 204


@judge.get("/g/<gid>/<label>/<int:n>")
def solution_file(gid: str, label: str, n: int) -> AnyResponse:
    """Send a file of a solution, cleaned."""
    with site().store.read() as c:
        ballot = _found(c, current_judge(c), gid)
    solver = Shown(ballot, State()).names.get(label)
    solution = site().solution(ballot.problem, solver) if solver else None
    return send_part(solution.files if solution else (), n, label)


@judge.get("/g/<gid>/statement/<int:n>")
def statement_file(gid: str, n: int) -> AnyResponse:
    """Send an image of the problem's statement, cleaned."""
    with site().store.read() as c:
        ballot = _found(c, current_judge(c), gid)
    statement = site().solutions.statements.get(ballot.problem)
    return send_part(statement.files if statement else (), n, "statement")


@judge.get("/done")
def done() -> AnyResponse | str:
    """Thank the judge."""
    with site().store.read() as c:
        person = current_judge(c)
        area = Area("judge", status_of(c, site().id).state)
        ballots = _mine(c, person)
    groups = listed(site(), area, ballots)
    page = home_page(site(), area, groups)
    if not page["done"] and not page["closed"]:
        return redirect(url_for("judge.home"), code=303)
    return render_template("judge/done.html", **page, home_url=url_for("judge.home"))


def _save(gid: str, body: dict[str, Any], kind: str) -> Response:
    with site().store.read() as c:
        person = current_judge(c)
        ballot = _found(c, person, gid)
    change = _change(body, ballot, kind)
    try:
        with site().store.write() as c:
            saved = save(c, person.key, gid, change)
            add_seconds(c, ballot, _seconds(body))
            if not saw_lately(person):
                saw(c, person)
    except StaleError as stale:
        newer = stale.state.renamed(_labels_of(ballot)).to_json()
        return refusal(
            409, "stale", _STALE, revision=stale.revision, submitted=stale.submitted, state=newer
        )
    except ClosedError:
        return refusal(403, "closed", _CLOSED)
    except SubmittedError:
        return refusal(403, "submitted", _SUBMITTED)
    except IntegrityError:
        # Two writers at the same moment: the page asks again, and one of them is told.
        return refusal(503, "busy", "Please try again in a moment.")
    answer = {
        "revision": saved.revision,
        "submitted": saved.submitted,
        "saved_at": saved.at.isoformat().replace("+00:00", "Z"),
    }
    if saved.submitted:
        answer["next"] = _next(person, gid)
    return jsonify(answer)


def _change(body: dict[str, Any], ballot: Dealt, kind: str) -> Change:
    """Check what a page sent against the ballot's layout."""
    for name in ("base", "change"):
        value = body[name]
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
            _invalid(f"{name} is no whole number from 0")
    if not isinstance(body["client"], str) or not _CLIENT.fullmatch(body["client"]):
        _invalid("client is no id of 8 to 40 letters, digits, - and _")
    state = State()
    if kind != "reopen":
        if ballot.layout is None:
            _invalid("this group was never shown")
        names = Shown(ballot, State()).names
        try:
            state = State.parse(body["state"], names).renamed(names)
        except InvalidStateError as error:
            _invalid(str(error))
        if kind == "submit" and state.tray:
            _invalid("solutions are left in the tray; rank them, or mark what you cannot judge")
    return Change(body["base"], body["client"], body["change"], state, kind)


def _body(*keys: str) -> dict[str, Any]:
    """The JSON object that a page sent, with just these keys (seconds may be missing)."""
    data = request.get_json()
    if not isinstance(data, dict) or set(data) | {"seconds"} != {*keys, "seconds"}:
        _invalid(f"what is sent is no object with the keys {', '.join(keys)}")
    return data


def _seconds(body: dict[str, Any]) -> float:
    value = body.get("seconds", 0)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < 0:
        _invalid("seconds is no number from 0")
    return float(value)


def _invalid(message: str) -> NoReturn:
    abort(422, message)


def _mine(c: Connection, person: StoredJudge) -> list[Dealt]:
    """A judge's ballots, dealt now where the study has groups that he lacks."""
    plan = site().plan
    held = ballots_of(c, person.key)
    wanted = len(plan.parts) + bool(plan.practice) + plan.repeat
    current = [ballot for ballot in held if plan.find(ballot)]
    if len(current) < wanted:
        with site().store.write() as writer:
            deal(writer, person.key, plan)
            current = [b for b in ballots_of(writer, person.key) if plan.find(b)]
    return current


def _planned(ballots: list[Dealt], gid: str) -> tuple[Dealt, Group]:
    ballot = next((b for b in ballots if b.public_id == gid), None)
    planned = site().plan.find(ballot) if ballot else None
    if ballot is None or planned is None:
        abort(404)
    return ballot, planned


def _found(c: Connection, person: StoredJudge, gid: str) -> Dealt:
    """One of the judge's ballots, or 404: also where it is another judge's."""
    try:
        return ballot_of(c, person.key, gid)
    except NotDealtError:
        abort(404)


def _labels_of(ballot: Dealt) -> dict[str, str]:
    """Solver to label."""
    layout = ballot.layout or []
    return dict(zip(layout, labels(len(layout)), strict=True))


def _digests(planned: Group) -> dict[str, str]:
    group = site().group(planned.problem)
    return {solver: group[solver].digest for solver in planned.solvers}


def _next(person: StoredJudge, gid: str) -> str:
    with site().store.read() as c:
        ballots = _mine(c, person)
        area = Area("judge", status_of(c, site().id).state)
    return next_url(area, listed(site(), area, ballots), gid)


def _note_visit(person: StoredJudge) -> None:
    if saw_lately(person):
        return
    try:
        with site().store.write() as c:
            saw(c, person)
    except OperationalError:
        # A full or busy database is no reason not to show the page.
        return
