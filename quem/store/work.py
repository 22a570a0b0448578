"""The tasks of judges and subjects; saves never lose or silently overwrite anything."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, bindparam, insert, inspect, or_, select, update
from sqlalchemy.orm import Session, joinedload

from quem.store import clock
from quem.store.digests import receipt_code
from quem.store.models import Kind, Life, PersonRow, RevisionRow, StudyRow, TaskRow, UploadRow, now
from quem.store.people import SIGNED_IN, session_values
from quem.store.state import AnswerState, State

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

    from quem.store.clock import Running

_ENDS = ("submit", "skip", "timeout")
_SUBMITS = ("submit", "timeout")


@dataclass(frozen=True)
class Change:
    """A state that a page sends."""

    base: str  # id of the base revision
    client: str  # tab
    number: int  # increases in the tab; with `client` it distinguishes a retry from a new save
    layout: str = ""  # id of the page's layout; subjects have none
    state: State | AnswerState = field(default_factory=State)  # in terms of solvers
    kind: Kind = "save"


@dataclass(frozen=True)
class Saved:
    """An acknowledged revision, which is on disk."""

    number: int
    revision: str  # its id
    kind: str
    at: dt.datetime
    receipt: str = ""  # empty if nothing was submitted
    is_retry: bool = field(default=False, compare=False)

    @property
    def is_ended(self) -> bool:
        """Whether it ended the task."""
        return self.kind in _ENDS


class NotAssignedError(Exception):
    """The person has no such task."""


class ClosedError(Exception):
    """The session is closed."""


class PausedError(Exception):
    """The study, or the clock of the task, is paused."""


class SubmittedError(Exception):
    """The task has ended and must be reopened before it changes, or its time is over."""


class LayoutError(Exception):
    """The page's layout is outdated."""


class ElsewhereError(Exception):
    """Another tab or device holds the clock."""


class StaleError(Exception):
    """The task has a newer revision than the change's base."""

    def __init__(self, task: TaskRow, state: State | AnswerState) -> None:
        self.number, self.revision, self.submitted = task.head, task.revision, task.is_complete
        self.state: Any = state  # in terms of solvers for a judge's task
        super().__init__(f"revision {task.head} is newer")


# The last revision without its state.
LAST = joinedload(TaskRow.last).load_only(
    RevisionRow.number, RevisionRow.layout, RevisionRow.made_at, raiseload=True
)


_LAYOUTS = joinedload(TaskRow.layouts)


# Used by each page: prebuilt statements take half the time.
_FRESH = select(TaskRow).execution_options(populate_existing=True)


_OF_PERSON = (
    _FRESH.options(LAST, _LAYOUTS)
    .where(TaskRow.person_key == bindparam("person"))
    .order_by(TaskRow.practice.desc(), TaskRow.position, TaskRow.key)
)


_THIS = TaskRow.public_id == bindparam("gid"), TaskRow.person_key == bindparam("person")


_ONE = _FRESH.options(LAST, _LAYOUTS).where(*_THIS)


_LOCKED = _FRESH.where(*_THIS).with_for_update()


# Columns instead of rows: the mapper would take longer than the database.
_STUDY, _PERSON = StudyRow.__table__.c, PersonRow.__table__.c


_LOCK_STUDY = {
    role: select(column).where(_STUDY.id == bindparam("study")).with_for_update(read=True)
    for role, column in (("judge", _STUDY.state), ("subject", _STUDY.solving))
}


# Visits, which change no key, need not wait.
_LOCK_PERSON = (
    select(_PERSON.withdrawn_at, _PERSON.erased_at)
    .where(_PERSON.key == bindparam("person"))
    .with_for_update(read=True, key_share=True)
)


# The last revision, and an earlier save of the same change.
_EARLIER = select(RevisionRow).where(
    RevisionRow.task_key == bindparam("task"),
    or_(
        RevisionRow.number == bindparam("head"),
        and_(RevisionRow.client == bindparam("client"), RevisionRow.change == bindparam("change")),
    ),
)


_INSERT = insert(RevisionRow)


_UPDATE = update(TaskRow).where(TaskRow.key == bindparam("task"))


_UPDATED = frozenset(TaskRow.__table__.c.keys())


_ADDED = [column.name for column in RevisionRow.__table__.c if column.name != "key"]


_STATE = select(RevisionRow.state).where(
    RevisionRow.task_key == bindparam("task"), RevisionRow.number == bindparam("number")
)


_DESK = (
    select(PersonRow, StudyRow.state, TaskRow)
    .join(PersonRow.study)
    .join(
        TaskRow,
        and_(TaskRow.person_key == PersonRow.key, TaskRow.public_id == bindparam("gid")),
        isouter=True,
    )
    .options(_LAYOUTS)
    .where(SIGNED_IN)
)


class Desk(NamedTuple):
    """A judge's work in one snapshot."""

    judge: PersonRow
    state: Life  # of the study
    ballot: TaskRow | None  # None if the judge has no such task


def desk_of_session(c: Session, study_id: str, session: str, public_id: str) -> Desk | None:
    """The judge of a session cookie, with one of their tasks."""
    values = {**session_values(study_id, "judge", session), "gid": public_id}
    row = c.execute(_DESK, values).unique().one_or_none()
    desk = Desk(*row) if row else None
    if desk and desk.ballot:
        # Loads the last revision, which only ended ones and those with new letters need.
        _ = desk.ballot.is_complete or (len(desk.ballot.layouts) > 1 and desk.ballot.last)
    return desk


def tasks_of(c: Session, person_key: int) -> list[TaskRow]:
    """A person's tasks in order."""
    c.flush()
    return list(c.scalars(_OF_PERSON, {"person": person_key}).unique())


def task_of(c: Session, person_key: int, public_id: str, *, lock: bool = False) -> TaskRow:
    """A person's task; if locked, layouts and revision are loaded lazily."""
    c.flush()
    values = {"gid": public_id, "person": person_key}
    # Not locked in one statement: PostgreSQL would join rows from before the wait.
    task = c.scalars(_LOCKED if lock else _ONE, values).unique().one_or_none()
    if task is None:
        raise NotAssignedError(public_id)
    return task


def current_state(c: Session, task: TaskRow) -> State:
    """A judge's last state, in terms of solvers, adapted to the current layout.

    Removed solutions are left out, and new ones are unranked; before the first revision all are.
    """
    layout, placed = task.layout, task.placed
    if layout is None:
        return State()
    if task.head == 0:
        return State(tray=tuple(layout.letters))
    state = State.stored(_last_state(c, task))
    if placed is None or placed is layout:
        return state
    still = [solver for letter, solver in placed.solvers.items() if letter in layout.solvers]
    new = (layout.solvers[letter] for letter in task.to_place)
    return state.renamed({solver: solver for solver in still}, new)


def last_answer(c: Session, task: TaskRow) -> AnswerState:
    """A subject's newest draft of a task; empty without one."""
    if task.head == 0:
        return AnswerState()
    state = _last_state(c, task)
    return AnswerState(state["text"], tuple(state["files"]))


def _state_of(c: Session, task: TaskRow) -> State | AnswerState:
    return current_state(c, task) if task.layout_id else last_answer(c, task)


def _last_state(c: Session, task: TaskRow) -> dict[str, Any]:
    state: dict[str, Any] = c.execute(_STATE, {"task": task.key, "number": task.head}).scalar_one()
    return state


def save(
    c: Session,
    person: PersonRow,
    public_id: str,
    change: Change,
    seconds: float = 0.0,
    views: Mapping[str, float] | None = None,
) -> Saved:
    """Append a revision, and add its working time."""
    life = lock_session(c, person)
    task = task_of(c, person.key, public_id, lock=True)
    this = {"client": change.client, "change": change.number}
    earlier = c.scalars(_EARLIER, {"task": task.key, "head": task.head, **this}).all()
    task.last = next((one for one in earlier if one.number == task.head), None)
    for one in earlier:
        if (one.client, one.change) == (change.client, change.number):
            return _acknowledged(task, one, is_retry=True)
    _require_fit(c, task, change, life)
    if change.kind != "reopen":
        require_running(task)
    elif task.last is None or task.ended == "timeout" or clock.is_over(task):
        raise SubmittedError
    elif not task.is_complete:
        return Saved(task.head, task.revision, change.kind, task.last.made_at)
    else:
        change = replace(change, state=_state_of(c, task))
    if isinstance(change.state, AnswerState):
        _require_uploads(c, task, change.state)
    if person.role == "subject":
        clock.tick(task, change.kind)
    _add_times(task, seconds, views or {})
    revision = append(c, task, change)
    _write_back(c, task)
    return _acknowledged(task, revision)


def _require_fit(c: Session, task: TaskRow, change: Change, life: str) -> None:
    """Refuse a change of a task that is not open, or has a newer revision."""
    if life == "closed":
        raise ClosedError
    if life == "paused":
        raise PausedError
    if task.opened_at is None:
        raise NotAssignedError(task.public_id)
    if change.layout != (task.layout_id or ""):
        raise LayoutError
    if change.base != task.revision:
        raise StaleError(task, _state_of(c, task))


def lock_session(c: Session, person: PersonRow) -> str:
    """Lock a person's session and return its state; refuses an erased person.

    Closing the session and erasing the person wait for this transaction. The lock order is study,
    person, task, to avoid deadlocks.
    """
    connection = c.connection()
    mine = {"study": person.study_id}
    life: str = connection.execute(_LOCK_STUDY[person.role], mine).scalar_one()
    if any(connection.execute(_LOCK_PERSON, {"person": person.key}).one()):
        # A save would restore the texts of a person who was just erased.
        raise NotAssignedError
    return life


def require_running(task: TaskRow) -> None:
    """Refuse changes in a pause, or after the end of the task or its time."""
    if task.is_complete or clock.is_over(task):
        raise SubmittedError
    if task.running == "pause":
        raise PausedError


def append(c: Session, task: TaskRow, change: Change) -> RevisionRow:
    """Append a revision, whatever its base."""
    revision = RevisionRow(
        task_key=task.key,
        number=task.head + 1,
        base=task.head,
        kind=change.kind,
        layout=change.layout,
        state=change.state.to_json(),
        client=change.client,
        change=change.number,
        made_at=now(),
    )
    # Bypasses the session, which takes longer than the database.
    c.connection().execute(_INSERT, {name: getattr(revision, name) for name in _ADDED})
    task.head, task.last = revision.number, revision
    task.ended = change.kind if change.kind in _ENDS else None
    if change.kind in _SUBMITS:
        task.submitted = task.head
    return revision


def _write_back(c: Session, task: TaskRow) -> None:
    """Update a task's changed columns without the session, which it leaves."""
    changed = inspect(task).committed_state.keys() & _UPDATED
    values = {name: getattr(task, name) for name in changed}
    c.connection().execute(_UPDATE, {"task": task.key, **values})
    c.expunge(task)


def _acknowledged(task: TaskRow, revision: RevisionRow, *, is_retry: bool = False) -> Saved:
    number, kind, receipt = revision.number, revision.kind, ""
    if kind in _SUBMITS:
        receipt = receipt_code(task.public_id, number, revision.state)
    return Saved(number, revision.id, kind, revision.made_at, receipt, is_retry)


def _require_uploads(c: Session, task: TaskRow, answer: AnswerState) -> None:
    """Refuse files that were not uploaded to the task."""
    held = c.scalars(select(UploadRow.public_id).where(UploadRow.task_key == task.key))
    if not set(answer.files) <= set(held):
        raise NotAssignedError(task.public_id)


def add_seconds(
    c: Session, task: TaskRow, seconds: float, views: Mapping[str, float] | None = None
) -> None:
    """Add a judge's active time."""
    # Two pages may add at the same time, so the stored value is incremented in place.
    held = c.get(TaskRow, task.key, populate_existing=True, with_for_update=True)
    if held:
        _add_times(held, seconds, views or {})


def _add_times(task: TaskRow, seconds: float, views: Mapping[str, float]) -> None:
    """Add working time, at most the time since the task was opened."""
    if task.opened_at is None:
        return
    most = (now() - task.opened_at).total_seconds()

    def total(before: float, spent: float) -> float:
        return max(before, min(before + max(spent, 0.0), most))

    task.seconds = total(task.seconds, seconds)
    viewed = {name: total(task.views.get(name, 0.0), spent) for name, spent in views.items()}
    task.views = {**task.views, **{name: seen for name, seen in viewed.items() if views[name] > 0}}


def open_task(c: Session, person: PersonRow, public_id: str) -> TaskRow:
    """Lock a task of a session that is not closed."""
    if lock_session(c, person) == "closed":
        raise ClosedError
    return task_of(c, person.key, public_id, lock=True)


def start_task(
    c: Session, person: PersonRow, public_id: str, client: str, limit: float | None
) -> TaskRow:
    """Start the clock of a task and show its statement."""
    task = open_task(c, person, public_id)
    if task.opened_at is None:
        task.opened_at, task.limit_seconds = now(), limit
        clock.hear(task, "work", client)
    return task


def run_clock(
    c: Session,
    person: PersonRow,
    public_id: str,
    client: str,
    running: Running,
    *,
    take: bool = False,
) -> TaskRow:
    """Continue the clock of a task: at work, in a pause, or away."""
    task = open_task(c, person, public_id)
    if task.ended or task.opened_at is None:
        return task
    if task.holder not in (client, None) and not take:
        raise ElsewhereError
    clock.hear(task, running, client)
    return settle(c, task)


def settle(c: Session, task: TaskRow) -> TaskRow:
    """End a task whose time is over, with its last draft."""
    if task.ended or not clock.is_over(task):
        return task
    task = task_of(c, task.person_key, task.public_id, lock=True)
    if not task.ended:
        clock.tick(task, "timeout")
        # The server's own revision has no client.
        change = Change(task.revision, "server", task.head, "", last_answer(c, task), "timeout")
        append(c, task, change)
    return task
