"""The judge's pages, and what the ranking page sends."""

from __future__ import annotations

import re
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from flask import (
    Blueprint,
    Response,
    abort,
    g,
    jsonify,
    redirect,
    render_template,
    request,
    url_for,
)
from sqlalchemy.exc import IntegrityError, OperationalError

from quem.store.assignment import assign_ballots, assign_labels, is_assigned, needs_labels
from quem.store.ballots import (
    Change,
    ClosedError,
    LayoutError,
    NotAssignedError,
    PausedError,
    StaleError,
    SubmittedError,
    add_seconds,
    ballot_of,
    ballots_of,
    current_state,
    save,
)
from quem.store.connecting import UnavailableError
from quem.store.digests import revision_id
from quem.store.events import note_once
from quem.store.exporting import receipts_of
from quem.store.layouts import MissingSolutionError
from quem.store.makers import GUESSES, guessed_makers, note_guess, skip_makers
from quem.store.people import (
    answer_closing,
    consent,
    decline,
    record_visit,
    visited_recently,
)
from quem.store.state import InvalidStateError, State, seconds_of
from quem.store.studies import pause_notice, status_of
from webjudge.access import current_person, find_desk, signed_out, site
from webjudge.errors import refusal
from webjudge.files import send_file
from webjudge.languages import LANGUAGES, gettext, keep_language, marked
from webjudge.pages import (
    Area,
    DisplayedBallot,
    group_page,
    home_page,
    just_submitted,
    listed,
    maker_page,
    next_url,
    solution_alone,
)
from webjudge.questions import (
    asked_at_the_end,
    asked_on_tasks,
    drawn_makers,
    is_answered,
    is_by_grades,
    read_answers,
)
from webjudge.solution_review import freeze

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy.orm import Session
    from werkzeug.wrappers import Response as AnyResponse

    from quem.store.ballots import AssignedBallot, Group, Saved
    from quem.store.desk import Desk
    from quem.store.layouts import Content, Layout
    from quem.store.models import PersonRow

judge = Blueprint("judge", __name__, url_prefix="/judge")

_LAYOUT = re.compile(r"[A-Za-z0-9_-]{0,64}")
_CLIENT = re.compile(r"[A-Za-z0-9_-]{8,40}")
_MOST = 2**31 - 1
_TIMES = {"seconds", "views"}
_MOST_TRIES = 3
_STALE = marked("This ranking was changed in another tab or on another device.")
_CLOSED = marked("The study is closed. Rankings can no longer be changed.")
_PAUSED = marked("The study is paused. Rankings can be changed again when it continues.")
_GONE = marked("This problem is no longer part of the study.")
_OTHER = marked("The solutions of this task have changed since you opened this page.")
_UNANSWERED = marked("Some questions need an answer before you submit.")
_SUBMITTED = marked("This ranking is submitted. Reopen it to change it.")


class _UnansweredError(Exception):
    """A question that has to be answered is not."""


@judge.before_request
def _only_judges() -> None:
    """Nothing of a body is read before it is known whose it is."""
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return
    with site().store.read() as c:
        if gid := (request.view_args or {}).get("gid"):
            find_desk(c, gid)
        else:
            current_person(c, "judge")


@judge.post("/sign-out")
def leave() -> AnyResponse:
    """End this browser's session."""
    return signed_out("judge")


@judge.get("")
def home() -> AnyResponse | str:
    """Show briefing, consent and the list of groups."""
    with site().store.read() as c:
        person = current_person(c, "judge")
        area = _area(c)
        consented = person.consented_at is not None
        waits = bool(site().solutions.consent) and not consented
        declined = waits and person.declined_at is not None
        ballots = [] if waits else _mine(c, person)
        ranked = {b.public_id: _placed(c, b) for b in ballots if b.head and not b.is_complete}
    # Of who declined, nothing is stored besides.
    if not declined:
        _note_visit(person)
    page = home_page(site(), area, listed(site(), area, ballots, ranked=ranked), person)
    values = {"consented": consented, "declined": declined, "leave_url": url_for("judge.leave")}
    return render_template("judge/welcome.html", **page, **values)


@judge.post("/consent")
def give_consent() -> AnyResponse:
    """Note that the judge takes part, or would rather not."""
    with site().store.read() as c:
        person = current_person(c, "judge")
        is_over = status_of(c, site().id).state == "closed"
    if is_over:
        abort(403, gettext(_CLOSED))
    with site().store.write() as c:
        if request.form.get("consent") == "no":
            decline(c, person)
        else:
            consent(c, person)
    return redirect(url_for("judge.home"), code=303)


@judge.post("/language")
def choose_language() -> AnyResponse:
    """Keep the language that the judge chose, and go back to the task or the first page."""
    code, gid = request.form.get("language", ""), request.form.get("gid", "")
    if code not in LANGUAGES:
        abort(400)
    page = url_for("judge.group", gid=gid) if gid else url_for("judge.home")
    keep_language(code)
    return redirect(page, code=303)


@judge.get("/g/<gid>")
def group(gid: str) -> AnyResponse | str | tuple[str, int]:
    """Show the ranking page of a group."""
    with site().store.read() as c:
        person = current_person(c, "judge")
        area = _area(c)
        if site().solutions.consent and person.consented_at is None:
            return redirect(url_for("judge.home"), code=303)
        ballots = _mine(c, person)
        receipts = receipts_of(c, person.key)
    ballot, planned = _planned(ballots, gid)
    groups = listed(site(), area, ballots, receipts)
    if not any(g["gid"] == gid and g["url"] for g in groups):
        return redirect(url_for("judge.home"), code=303)
    try:
        page = _laid_out_page(area, ballot, planned, groups)
    except MissingSolutionError as missing:
        return _cannot_show(planned, missing.solver), 503
    _note_visit(person)
    return page


def _laid_out_page(
    area: Area,
    ballot: AssignedBallot,
    planned: Group,
    groups: list[dict[str, Any]],
) -> str:
    """Make a page of just what the ballot's layout says, also where files change meanwhile."""
    contents = site().contents(planned)
    for _ in range(_MOST_TRIES):
        ballot = _up_to_date(ballot, contents, area.state)
        with site().store.read() as c:
            state = current_state(c, ballot)
        shown = DisplayedBallot(ballot, state.renamed(_labels_of(ballot)), contents)
        values = group_page(site(), area, shown, groups)
        page = render_template("judge/group.html", **values)
        before, contents = contents, site().contents(planned)
        if contents == before:
            break
    return page


def _cannot_show(planned: Group, solver: str) -> str:
    """Tell the judge that a group cannot be shown, and the organizer why."""
    missing = {"problem": planned.problem, "solver": solver}
    with suppress(OperationalError, UnavailableError), site().store.write(patience=0) as c:
        note_once(c, site().id, "server", "solution-missing", **missing)
    return render_template(
        "judge/message.html",
        study={"title": site().spec.title},
        title=gettext("This task cannot be shown right now"),
        text=gettext(
            "Part of it is missing. The organizer has been notified. Your other tasks are not "
            "affected; please come back to this one later."
        ),
        home_url=url_for("judge.home"),
        notice=None,
    )


@judge.put("/g/<gid>/state")
def save_state(gid: str) -> Response:
    """Save a state of a ranking, or submit it."""
    body = _body("base", "client", "change", "layout", "state", "seconds", "submit")
    if not isinstance(body["submit"], bool):
        _invalid("submit must be true or false")
    return _save(gid, body, "submit" if body["submit"] else "save")


@judge.post("/g/<gid>/reopen")
def reopen(gid: str) -> Response:
    """Open a submitted ranking again."""
    return _save(gid, _body("base", "client", "change", "layout"), "reopen")


@judge.post("/g/<gid>/time")
def add_time(gid: str) -> tuple[str, int]:  # noqa: ARG001  `find_desk` has read it
    """Add working time."""
    desk, ballot = _desk()
    times = _times(desk, _body("seconds"))
    with site().store.write() as c:
        add_seconds(c, ballot, *times)
    return "", 204


@judge.get("/g/<gid>/solution/<version>")
def solution(gid: str, version: str) -> str:
    """Show one solution, for a page that was too small for all."""
    with site().store.read() as c:
        person = current_person(c, "judge")
        area = _area(c)
        ballot = _ballot(c, person, gid)
    planned = site().plan.find(ballot)
    if planned is None or ballot.layout is None:
        abort(404)
    shown = DisplayedBallot(ballot, State(), site().contents(planned))
    return solution_alone(site(), area, shown, version)


@judge.get("/g/<gid>/file/<token>")
@judge.get("/g/<gid>/file/<token>/<int:page>")
def file(gid: str, token: str, page: int | None = None) -> AnyResponse:
    """Send a file of a solution or of the statement, cleaned."""
    with site().store.read() as c:
        ballot = _ballot(c, current_person(c, "judge"), gid)
    return send_file(site(), ballot, token, page)


@judge.get("/done")
def done() -> AnyResponse | str:
    """Thank the judge."""
    with site().store.read() as c:
        person = current_person(c, "judge")
        area = _area(c)
        if site().solutions.consent and person.consented_at is None:
            return redirect(url_for("judge.home"), code=303)
        ballots = _mine(c, person)
        receipts = receipts_of(c, person.key)
        submitted = [b for b in ballots if b.is_submitted and not b.practice]
        ranked = sum(_placed(c, ballot)[0] for ballot in submitted)
        _, left = _makers(c, person, ballots)
    groups = listed(site(), area, ballots, receipts)
    page = home_page(site(), area, groups, person)
    if not page["done"] and not page["closed"]:
        return redirect(url_for("judge.home"), code=303)
    if left:
        return redirect(url_for("judge.makers"), code=303)
    just = just_submitted(groups, request.args.get("submitted"))
    work = {"ranked": ranked, "seconds": sum(ballot.seconds for ballot in submitted)}
    values = {"just": just, "answered": request.args.get("answers", "")}
    return render_template("judge/done.html", **page, **work, **values)


@judge.get("/makers")
def makers() -> AnyResponse | str:
    """Ask who made a solution, one after another, once all is submitted."""
    with site().store.read() as c:
        person = current_person(c, "judge")
        area = _area(c)
        ballots = _mine(c, person)
        drawn, left = _makers(c, person, ballots)
    if not left:
        return redirect(url_for("judge.done"), code=303)
    ballot, solver = left[0]
    _, planned = _planned(ballots, ballot.public_id)
    shown = DisplayedBallot(ballot, State(), site().contents(planned))
    page = maker_page(site(), area, shown, solver, listed(site(), area, ballots))
    place = {"n": len(drawn) - len(left) + 1, "n_all": len(drawn)}
    return render_template("judge/maker.html", **page, **place)


@judge.post("/makers")
def guess_maker() -> AnyResponse:
    """Keep a guess at who made a solution, or that the judge does not want to guess."""
    gid, letter = request.form.get("gid", ""), request.form.get("letter", "")
    guess = request.form.get("guess", "")
    if guess not in (*GUESSES, "skip"):
        abort(400)
    with site().store.write() as c:
        person = current_person(c, "judge")
        _, left = _makers(c, person, _mine(c, person))
        if guess == "skip" and left:
            skip_makers(c, person)
        for ballot, solver in left:
            if (ballot.public_id, _labels_of(ballot)[solver]) == (gid, letter):
                note_guess(c, person, ballot.problem, solver, guess)
    return redirect(url_for("judge.makers"), code=303)


@judge.post("/answers")
def answer_at_the_end() -> AnyResponse:
    """Keep what the judge answered on the page of thanks."""
    answers, written, missing = read_answers(asked_at_the_end(site()), request.form)
    done_page = url_for("judge.done")
    with site().store.write() as c:
        person = current_person(c, "judge")
        lacks_consent = bool(site().solutions.consent) and person.consented_at is None
        is_asked = status_of(c, site().id).state in ("trial", "open") and not lacks_consent
        if not is_asked or not asked_at_the_end(site()):
            return redirect(done_page, code=303)
        asked = {question.id for question in asked_at_the_end(site())}
        answer_closing(c, person, answers, written, asked)
    state = "missing" if missing else "answered"
    return redirect(f"{done_page}?answers={state}#questions-title", code=303)


@judge.get("/receipts.txt")
def receipts_text() -> Response:
    """Send all receipts as a text to be kept."""
    with site().store.read() as c:
        person = current_person(c, "judge")
        area = _area(c)
        ballots = _mine(c, person)
        receipts = receipts_of(c, person.key)
    groups = listed(site(), area, ballots, receipts)
    text = render_template("judge/receipts.txt", study={"title": site().spec.title}, groups=groups)
    headers = {"Content-Disposition": 'attachment; filename="receipts.txt"'}
    return Response(text, content_type="text/plain; charset=utf-8", headers=headers)


def _area(c: Session) -> Area:
    state = status_of(c, site().id).state
    return Area("judge", state, pause_notice(c, site().id) if state == "paused" else "")


def _placed(c: Session, ballot: AssignedBallot) -> tuple[int, int]:
    """Count the solutions of a ballot that have a place, and all of them."""
    state = current_state(c, ballot)
    return sum(map(len, state.ranked)), len(ballot.layout.items) if ballot.layout else 0


def _save(gid: str, body: dict[str, Any], kind: str) -> Response:
    desk, ballot = _desk()
    layout = desk.layouts.get(body["layout"])
    times = _times(desk, body)
    planned = site().plan.find(ballot)
    if planned is None:
        return refusal(409, "gone", gettext(_GONE))
    with suppress(MissingSolutionError):
        # What cannot be read cannot be shown either: the layout stays as it is.
        ballot = _up_to_date(ballot, site().contents(planned), desk.life)
    if layout is None:
        return _other_layout(ballot)
    try:
        change = _change(body, layout, kind)
    except _UnansweredError:
        return refusal(409, "unanswered", gettext(_UNANSWERED), questions=asked_on_tasks(site()))
    if not ballot.head and not ballot.practice and desk.life in ("trial", "open"):
        freeze(site())
    try:
        with site().store.write() as c:
            saved = save(c, desk.judge.key, gid, change, *times)
            if not visited_recently(desk.judge):
                record_visit(c, desk.judge)
    except LayoutError:
        return _other_layout(ballot)
    except (StaleError, ClosedError, PausedError, SubmittedError, IntegrityError) as error:
        return _refused(error, ballot)
    return _acknowledged(saved, desk.judge, gid)


def _refused(error: Exception, ballot: AssignedBallot) -> Response:
    """Say why a change was not saved."""
    if isinstance(error, StaleError):
        newer = error.state.renamed(_labels_of(ballot)).to_json()
        details = {"revision": error.id, "submitted": error.submitted, "state": newer}
        return refusal(409, "stale", gettext(_STALE), **details)
    if isinstance(error, ClosedError):
        return refusal(403, "closed", gettext(_CLOSED))
    if isinstance(error, PausedError):
        with site().store.read() as c:
            return refusal(403, "paused", gettext(_PAUSED), until=_area(c).until)
    if isinstance(error, SubmittedError):
        return refusal(403, "submitted", gettext(_SUBMITTED))
    # Two writers at the same moment: the page asks again, and one of them is told.
    return refusal(503, "busy", gettext("Please try again in a moment."))


def _acknowledged(saved: Saved, person: PersonRow, gid: str) -> Response:
    answer = {
        "revision": revision_id(saved.revision, saved.at),
        "submitted": saved.submitted,
        "saved_at": saved.at and saved.at.isoformat().replace("+00:00", "Z"),
    }
    if saved.submitted:
        answer |= {"receipt": saved.receipt, "next": _next(person, gid)}
    return jsonify(answer)


def _up_to_date(
    ballot: AssignedBallot, contents: Mapping[str, Content | None], state: str
) -> AssignedBallot:
    """Give a ballot with the letters of what is there now, unless the study is closed."""
    if (state == "closed" and ballot.layout) or not needs_labels(ballot, contents):
        return ballot
    with site().store.write() as c:
        return assign_labels(c, ballot, contents)


def _other_layout(ballot: AssignedBallot) -> Response:
    """Refuse what was made on another layout; the page looks at what is different now."""
    assert ballot.layout is not None, "not laid out"  # noqa: S101  a bug of ours
    return refusal(409, "layout", gettext(_OTHER), layout=ballot.layout.id)


def _change(body: dict[str, Any], layout: Layout, kind: str) -> Change:
    """Check what a page sent against the layout that it shows."""
    number = body["change"]
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= _MOST:
        _invalid("change must be a whole number from 0")
    if not isinstance(body["client"], str) or not _CLIENT.fullmatch(body["client"]):
        _invalid("client must be an id of 8 to 40 letters, digits, -, and _")
    state = State()
    if kind != "reopen":
        try:
            state = State.parse(body["state"], layout.solvers).renamed(layout.solvers)
        except InvalidStateError as error:
            _invalid(str(error))
        if not is_by_grades(site(), state):
            _invalid("the order is not that of the grades")
        if kind == "submit" and state.tray:
            _invalid(
                gettext("Some solutions are not ranked. Rank them or mark them as “cannot judge”.")
            )
        if kind == "submit" and not is_answered(site(), state):
            raise _UnansweredError
    # A page of before the ids has a number, which is no id of anything that was saved.
    return Change(str(body["base"]), body["client"], body["change"], layout.id, state, kind)


def _body(*keys: str) -> dict[str, Any]:
    """The JSON object that a page sent, with just these keys, of which times may be missing."""
    data = request.get_json()
    if not isinstance(data, dict) or set(data) | _TIMES != {*keys, *_TIMES}:
        _invalid(f"expected an object with the keys {', '.join(keys)}")
    if "layout" in keys and not (
        isinstance(data["layout"], str) and _LAYOUT.fullmatch(data["layout"])
    ):
        _invalid("layout is not an id of letters, digits, -, and _")
    return data


def _times(desk: Desk, body: dict[str, Any]) -> tuple[float, dict[str, float]]:
    """The working time that a page sent, and for how long it showed each solver's solution.

    A page may still show an earlier layout; time that was spent on it counts too.
    """
    views, letters = body.get("views", {}), desk.letters
    if not isinstance(views, dict) or not views.keys() <= letters.keys():
        _invalid("views must be an object of letters of this task and numbers of seconds")
    spent: defaultdict[str, float] = defaultdict(float)
    for letter, seconds in views.items():
        # A solver whose solution changed has had several letters.
        spent[letters[letter]] += _seconds(seconds, f"views of {letter}")
    return _seconds(body.get("seconds", 0), "seconds"), spent


def _seconds(value: object, name: str) -> float:
    seconds = seconds_of(value)
    if seconds is None:
        _invalid(f"{name} must be a number from 0")
    return seconds


def _invalid(message: str) -> NoReturn:
    abort(422, message)


def _mine(c: Session, person: PersonRow) -> list[AssignedBallot]:
    """A judge's ballots, dealt now where the study has some that they lack."""
    plan = site().plan
    ballots = ballots_of(c, person.key)
    if not is_assigned(plan, ballots):
        with site().store.write() as writer:
            assign_ballots(writer, person.key, plan)
            ballots = ballots_of(writer, person.key)
    return [ballot for ballot in ballots if plan.find(ballot)]


def _makers(
    c: Session, person: PersonRow, ballots: Sequence[AssignedBallot]
) -> tuple[list[tuple[AssignedBallot, str]], list[tuple[AssignedBallot, str]]]:
    """Give the solutions whose makers the judge is to guess, and those that are left."""
    lacks_consent = bool(site().solutions.consent) and person.consented_at is None
    is_asked = site().spec.judging.ask_maker and _area(c).state in ("trial", "open")
    is_done = all(ballot.is_complete for ballot in ballots if not ballot.practice)
    if lacks_consent or not (is_asked and is_done):
        return [], []
    drawn = drawn_makers(c, site(), person, ballots)
    guessed = guessed_makers(c, person)
    if guessed is None:
        return drawn, []
    return drawn, [one for one in drawn if (one[0].problem, one[1]) not in guessed]


def _planned(ballots: list[AssignedBallot], gid: str) -> tuple[AssignedBallot, Group]:
    ballot = next((b for b in ballots if b.public_id == gid), None)
    planned = site().plan.find(ballot) if ballot else None
    if ballot is None or planned is None:
        abort(404)
    return ballot, planned


def _desk() -> tuple[Desk, AssignedBallot]:
    """What the judge works on, as it was when the request came, or 404."""
    desk: Desk = g.desk
    if desk.ballot is None:
        abort(404)
    return desk, desk.ballot


def _ballot(c: Session, person: PersonRow, gid: str) -> AssignedBallot:
    """One of the judge's ballots, or 404: also where it is another judge's."""
    try:
        return ballot_of(c, person.key, gid)
    except NotAssignedError:
        abort(404)


def _labels_of(ballot: AssignedBallot) -> dict[str, str]:
    """Solver to label."""
    return ballot.layout.letters if ballot.layout else {}


def _next(person: PersonRow, gid: str) -> str:
    with site().store.read() as c:
        ballots = _mine(c, person)
        area = _area(c)
    return next_url(area, listed(site(), area, ballots), gid)


def _note_visit(person: PersonRow) -> None:
    if visited_recently(person):
        return
    try:
        with site().store.write(patience=0) as c:
            record_visit(c, person)
    except (OperationalError, UnavailableError):
        # A full or busy database is no reason not to show the page, nor to show it late.
        return
