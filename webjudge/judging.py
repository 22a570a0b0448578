"""The judge's pages, and the requests of the ranking page."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, abort, redirect, render_template, request, url_for
from sqlalchemy.exc import IntegrityError

from quem.store.answers import guessed_makers, note_guess, skip_makers
from quem.store.assignment import assign_ballots, assign_labels, is_assigned, needs_labels
from quem.store.digests import keyed
from quem.store.events import note_once
from quem.store.exporting import receipts_of
from quem.store.layouts import MissingSolutionError
from quem.store.people import answer_closing, record_visit, visited_recently
from quem.store.state import InvalidStateError, State
from quem.store.studies import pause_notice, status_of
from quem.store.work import (
    Change,
    LayoutError,
    PausedError,
    StaleError,
    add_seconds,
    current_state,
    desk_of_session,
    save,
    task_of,
    tasks_of,
)
from quem.studyfile.relevance import GRADE
from webjudge.access import (
    current_person,
    held_session,
    lacks_consent,
    note,
    note_visit,
    share,
    site,
)
from webjudge.bodies import GuessForm, ReopenBody, SaveBody, TimeBody, acknowledged
from webjudge.errors import RefusedError, go, message_page
from webjudge.files import send_file
from webjudge.languages import choose_language
from webjudge.pages import (
    MOST_MAKERS,
    Area,
    asked_at_the_end,
    asked_on_tasks,
    group_page,
    judge_page,
    listed,
    maker_page,
    next_url,
    read_answers,
    solution_alone,
)
from webjudge.solution_review import freeze

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy.orm import Session
    from werkzeug.wrappers import Response as AnyResponse

    from quem.store.living import Contents
    from quem.store.models import Kind, Layout, PersonRow, TaskRow
    from quem.store.planned import Group


judge = Blueprint("judge", __name__, url_prefix="/judge")
# These requests find the judge in the transaction that saves.
share(judge, "judge", admitting=("state", "reopen", "time"))

_MOST_TRIES = 3
_REOPEN: Kind = "reopen"


@judge.get("")
def home() -> str:
    """Show briefing, consent, and the list of tasks."""
    with site().store.read() as c:
        person = current_person(c, "judge")
        waits, area = lacks_consent(person), _area(c)
        ballots = [] if waits else _dealt(c, person)
        tasks, left = listed(site(), area, ballots, {}), _makers(c, person, ballots)[1]
        for task, ballot in zip(tasks, ballots, strict=True):
            if ballot.head and not ballot.is_complete:
                task["ranked"] = _placed(c, ballot)
    # No visit is stored for a judge who declined.
    if not (waits and person.declined_at):
        note_visit(person)
    page = judge_page(site(), area, tasks, person)
    return render_template("judge/welcome.html", left=left, **page)


@judge.get("/g/<gid>")
def task(gid: str) -> AnyResponse | str:
    """Show the ranking page of a task."""
    with site().store.read() as c:
        person, area, ballots = _admitted(c)
        ballot, group = _planned(ballots, gid)
        receipts = receipts_of(c, person.key) if ballot.is_submitted else {}
        tasks = listed(site(), area, ballots, receipts)
        if not any(task["gid"] == gid and task["url"] for task in tasks):
            go("judge.home")
        try:
            page = _laid_out_page(c, area, ballot, group, tasks)
        except MissingSolutionError as missing:
            about = {"problem": group.problem, "solver": missing.solver}
            note(lambda c: note_once(c, site().id, "server", "solution-missing", **about))
            return message_page("task-incomplete", 503)
    note_visit(person)
    return page


def _laid_out_page(
    c: Session, area: Area, ballot: TaskRow, group: Group, tasks: list[dict[str, Any]]
) -> str:
    """Render exactly the contents in the ballot's layout, even if files change meanwhile."""
    contents = site().contents(group)
    for _ in range(_MOST_TRIES):
        if _is_outdated(ballot, contents, area.state):
            with site().store.write() as writer:
                ballot = assign_labels(writer, ballot, contents)
                state = current_state(writer, ballot)
        else:
            state = current_state(c, ballot)
        values = group_page(site(), area, ballot, state, contents, tasks)
        page = render_template("judge/group.html", **values)
        before, contents = contents, site().contents(group)
        if contents == before:
            break
    return page


@judge.put("/g/<gid>/state")
def state(gid: str) -> Response:
    """Save a state of a ranking, or submit it."""
    return _save(gid, SaveBody)


@judge.post("/g/<gid>/reopen")
def reopen(gid: str) -> Response:
    """Reopen a submitted ranking."""
    return _save(gid, ReopenBody)


@judge.post("/g/<gid>/time")
def time(gid: str) -> tuple[str, int]:
    """Add working time."""
    _, _, ballot = _desk(gid)
    body = TimeBody.read()
    times = body.seconds, _views(ballot, body)
    with site().store.write() as c:
        add_seconds(c, ballot, *times)
    return "", 204


@judge.get("/g/<gid>/solution/<version>")
def solution(gid: str, version: str) -> str:
    """Send a solution that the page left out for its size."""
    with site().store.read() as c:
        ballot = task_of(c, current_person(c, "judge").key, gid)
        area = _area(c)
    group = site().plan.find(ballot)
    return solution_alone(site(), area, ballot, site().contents(group) if group else {}, version)


@judge.get("/g/<gid>/file/<token>")
@judge.get("/g/<gid>/file/<token>/<int:page>")
def file(gid: str, token: str, page: int | None = None) -> AnyResponse:
    """Send a cleaned file of a solution or the statement."""
    with site().store.read() as c:
        ballot = task_of(c, current_person(c, "judge").key, gid)
    return send_file(site(), ballot, token, page)


@judge.get("/done")
def done() -> str:
    """Thank the judge."""
    with site().store.read() as c:
        person, area, ballots = _admitted(c)
        submitted = [b for b in ballots if b.is_submitted and not b.practice]
        ranked = sum(_placed(c, ballot)[0] for ballot in submitted)
        _, left = _makers(c, person, ballots)
        tasks = listed(site(), area, ballots, receipts_of(c, person.key))
    page = judge_page(site(), area, tasks, person)
    if not page["done"] and not page["closed"]:
        go("judge.home")
    if left:
        go("judge.makers")
    seconds = sum(ballot.seconds for ballot in submitted)
    return render_template("judge/done.html", **page, ranked=ranked, seconds=seconds)


@judge.get("/makers")
def makers() -> str:
    """After the last submission, ask who made each of some solutions."""
    with site().store.read() as c:
        person, area, ballots = _admitted(c)
        count, left = _makers(c, person, ballots)
        tasks = listed(site(), area, ballots, {})
    if not left:
        go("judge.done")
    ballot, solver = left[0]
    _, group = _planned(ballots, ballot.public_id)
    page = maker_page(site(), area, ballot, solver, site().contents(group), tasks)
    return render_template("judge/maker.html", **page, n=count - len(left) + 1, n_all=count)


@judge.post("/makers")
def guess_maker() -> AnyResponse:
    """Store a guess at who made a solution, or that the judge skipped it."""
    form = GuessForm.read()
    with site().store.write() as c:
        person = current_person(c, "judge")
        _, left = _makers(c, person, _mine(c, person))
        if form.guess == "skip" and left:
            skip_makers(c, person)
        for ballot, solver in left:
            if (ballot.public_id, _letters(ballot)[solver]) == (form.gid, form.letter):
                note_guess(c, person, ballot.problem, solver, form.guess)
    return redirect(url_for("judge.makers"), code=303)


@judge.post("/answers")
def answer_at_the_end() -> AnyResponse:
    """Store the answers on the page of thanks."""
    questions = asked_at_the_end(site())
    answers = read_answers(questions, request.form)
    with site().store.write() as c:
        person = current_person(c, "judge")
        if questions and not lacks_consent(person) and _area(c).state in ("trial", "open"):
            texts = {question.id for question in questions if question.kind == "text"}
            written = {id_: answers.pop(id_) for id_ in texts & answers.keys()}
            answer_closing(c, person, answers, written, {question.id for question in questions})
    return redirect(url_for("judge.done", _anchor="questions-title"), code=303)


@judge.get("/receipts.txt")
def receipts_text() -> Response:
    """Send the judge's receipts as a text file."""
    with site().store.read() as c:
        person, area, ballots = _admitted(c)
        tasks = listed(site(), area, ballots, receipts_of(c, person.key))
    text = render_template("judge/receipts.txt", **area.page(site()), tasks=tasks)
    headers = {"Content-Disposition": 'attachment; filename="receipts.txt"'}
    return Response(text, content_type="text/plain; charset=utf-8", headers=headers)


def _area(c: Session) -> Area:
    state = status_of(c, site().id).state
    return Area("judge", state, pause_notice(c, site().id) if state == "paused" else "")


def _admitted(c: Session) -> tuple[PersonRow, Area, list[TaskRow]]:
    """The judge, the study's state, and the judge's ballots; redirects if consent is missing."""
    person = current_person(c, "judge")
    if lacks_consent(person):
        go("judge.home")
    return person, _area(c), _dealt(c, person)


def _placed(c: Session, ballot: TaskRow) -> tuple[int, int]:
    """Numbers of ranked solutions and of those that can be judged."""
    state = current_state(c, ballot)
    return sum(map(len, state.ranked)), len(_letters(ballot)) - len(state.cannot)


def _save(gid: str, sends: type[SaveBody | ReopenBody]) -> Response:
    person, life, ballot = _desk(gid)
    body = sends.read()
    shown = next((one for one in ballot.layouts if one.id == body.layout), None)
    times = body.seconds, _views(ballot, body)
    ballot = _with_layout(ballot, life)
    if shown is None:
        raise _other_layout(ballot)
    change = _change(body, shown)
    if not ballot.head and not ballot.practice and life in ("trial", "open"):
        freeze(site())
    after = ""
    try:
        with site().store.write() as c:
            saved = save(c, person, gid, change, *times)
            if not visited_recently(person):
                record_visit(c, person)
            if saved.is_ended:
                area = _area(c)
                after = next_url(area, listed(site(), area, _mine(c, person), {}), gid)
    except LayoutError:
        raise _other_layout(ballot) from None
    except StaleError as stale:
        newer = stale.state.renamed(_letters(ballot)).to_json()
        now = {"revision": stale.revision, "submitted": stale.submitted, "state": newer}
        raise RefusedError("stale", **now) from None
    except PausedError:
        with site().store.read() as c:
            raise RefusedError("paused", until=_area(c).until) from None
    except IntegrityError:
        # Two tabs saved at the same moment: the page asks again, and one gets a conflict.
        raise RefusedError("conflict") from None
    return acknowledged(saved, after)


def _other_layout(ballot: TaskRow) -> RefusedError:
    return RefusedError("layout", layout=ballot.layout.id if ballot.layout else "")


def _with_layout(ballot: TaskRow, life: str) -> TaskRow:
    """Update a ballot's layout to the current solutions."""
    group = site().plan.find(ballot)
    if group is None:
        raise RefusedError("gone")
    contents = site().contents(group)
    if _is_outdated(ballot, contents, life):
        # Unreadable solutions cannot be shown: keep the layout.
        with suppress(MissingSolutionError), site().store.write() as c:
            return assign_labels(c, ballot, contents)
    return ballot


def _change(body: SaveBody | ReopenBody, layout: Layout) -> Change:
    """Translate a page's change from letters of its layout to solvers."""
    state, kind = State(), _REOPEN
    if isinstance(body, SaveBody):
        state, kind = _state(body, layout), "submit" if body.submit else "save"
    return Change(str(body.base), body.client, body.change, layout.id, state, kind)


def _state(body: SaveBody, layout: Layout) -> State:
    try:
        state = State.parse(body.state, layout.solvers).renamed(layout.solvers)
    except InvalidStateError as error:
        abort(422, str(error))
    if not _is_by_grades(state):
        abort(422, "the order is not that of the grades")
    if body.submit and state.tray:
        raise RefusedError("unranked")
    if body.submit and not _is_answered(state):
        raise RefusedError("unanswered", questions=asked_on_tasks(site()))
    return state


def _is_by_grades(state: State) -> bool:
    """Whether tie groups are in descending order of grade, one grade each."""
    if not site().spec.labels:
        return True
    given = state.answers.get(GRADE, {})
    known = {str(grade): grade for grade in range(len(site().spec.labels))}
    placed = [name for group in state.ranked for name in group]
    if given.keys() != set(placed) or not known.keys() >= set(given.values()):
        return False
    grades = [{known[given[name]] for name in group} for group in state.ranked]
    order = [min(group) for group in grades]
    is_one = all(len(group) == 1 for group in grades)
    return is_one and order == sorted(set(order), reverse=True)


def _is_answered(state: State) -> bool:
    """Whether a ranking has all required answers.

    Questions on solutions and placements apply to ranked solutions only.
    """
    placed = [name for group in state.ranked for name in group]
    for question in site().spec.questions:
        if not question.required or question.about == "study":
            continue
        if question.about == "placement":
            given: Mapping[str, str] = state.sure
        else:
            shelf = state.written if question.kind == "text" else state.answers
            given = shelf.get(question.id, {})
        if not given.keys() >= set(placed if question.about != "task" else [""]):
            return False
    return True


def _views(ballot: TaskRow, body: TimeBody) -> dict[str, float]:
    """Viewing time per solver, including earlier layouts."""
    letters = ballot.letters
    if not body.views.keys() <= letters.keys():
        abort(422, "views must be of letters of this task")
    spent: defaultdict[str, float] = defaultdict(float)
    for letter, seconds in body.views.items():
        # A changed solution gets a new letter, so a solver may have several.
        spent[letters[letter]] += seconds
    return spent


def _is_outdated(ballot: TaskRow, contents: Contents, life: str) -> bool:
    """Whether a ballot needs a new layout."""
    return not (life == "closed" and ballot.layout) and needs_labels(ballot, contents)


def _mine(c: Session, person: PersonRow) -> list[TaskRow]:
    """A judge's ballots."""
    plan = site().plan
    return [ballot for ballot in tasks_of(c, person.key) if plan.find(ballot)]


def _dealt(c: Session, person: PersonRow) -> list[TaskRow]:
    """A judge's ballots; assigns missing ones."""
    plan, tasks = site().plan, tasks_of(c, person.key)
    if not is_assigned(plan, tasks):
        with site().store.write() as writer:
            assign_ballots(writer, person.key, plan)
            tasks = tasks_of(writer, person.key)
    return [task for task in tasks if plan.find(task)]


def _makers(
    c: Session, person: PersonRow, ballots: Sequence[TaskRow]
) -> tuple[int, list[tuple[TaskRow, str]]]:
    """Number of solutions in the guessing task, and those still without a guess.

    They are sampled from the judge's ranked solutions with the study's secret as the seed.
    """
    is_asked = site().spec.judging.ask_maker and _area(c).state in ("trial", "open")
    counting = [ballot for ballot in ballots if not ballot.practice]
    if lacks_consent(person) or not is_asked or not all(b.is_complete for b in counting):
        return 0, []
    placed = {
        (ballot.problem, solver): ballot
        for ballot in counting
        if ballot.occasion == 1
        for solver in chain.from_iterable(current_state(c, ballot).ranked)
        if solver in _letters(ballot)
    }
    by_chance = sorted(placed, key=lambda one: keyed(site().secret, "maker", person.id, *one))
    drawn, guessed = by_chance[:MOST_MAKERS], guessed_makers(c, person)
    # A judge who skipped the rest is not asked again.
    left = [] if guessed is None else [one for one in drawn if one not in guessed]
    return len(drawn), [(placed[one], one[1]) for one in left]


def _planned(ballots: list[TaskRow], gid: str) -> tuple[TaskRow, Group]:
    ballot = next((b for b in ballots if b.public_id == gid), None)
    group = site().plan.find(ballot) if ballot else None
    if ballot is None or group is None:
        abort(404)
    return ballot, group


def _desk(gid: str) -> tuple[PersonRow, str, TaskRow]:
    """The signed-in judge, the study's state, and one of the judge's ballots."""
    with site().store.read() as c:
        desk = desk_of_session(c, site().id, held_session("judge"), gid)
    if desk is None:
        raise RefusedError("link-lacking")
    choose_language(site(), desk.judge)
    if desk.ballot is None:
        abort(404)
    return desk.judge, desk.state, desk.ballot


def _letters(ballot: TaskRow) -> dict[str, str]:
    """Map solvers to letters."""
    return ballot.layout.letters if ballot.layout else {}
