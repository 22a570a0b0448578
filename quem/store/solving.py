"""Subjects' answers to problems, and the clocks that run beside: nothing is lost or overwritten.

The clock of a task is kept by the server, so that it continues after a reload and on another
device. A page in view says so every `BEAT_SECONDS`, and a save is a sign of life too. Where it was
not heard of for `SILENT_SECONDS`, its subject was away since the last sign: the lid was closed, or
the connection lost. A limit is of all time but pauses, whatever the page says.
"""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import delete, func, insert, select, update

from quem.store.ballots import ClosedError, NotAssignedError, PausedError, SubmittedError
from quem.store.digests import keyed, revision_id
from quem.store.events import record
from quem.store.models import (
    PersonRow,
    RevisionRow,
    StudyRow,
    TaskRow,
    UploadRow,
    insert_new,
    now,
)
from quem.store.studies import forget_trial, secret_of

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping, Sequence
    from random import Random

    from sqlalchemy.orm import Session


SolvingState = Literal["trial", "open", "closed"]
Running = Literal["work", "pause", "away"]
Kind = Literal["save", "submit", "reopen", "skip", "timeout"]
BEAT_SECONDS, SILENT_SECONDS = 15, 45
MOST_OF_SUBJECT = 200_000_000


@dataclass(frozen=True)
class SolvingTask:
    """A problem that a subject is to solve; see `quem.store.models.TaskRow`."""

    key: int
    public_id: str
    person_key: int
    problem: str
    practice: bool
    position: int
    head: int
    ended: str | None
    opened_at: dt.datetime | None
    limit_seconds: float | None
    running: str | None
    since: dt.datetime | None
    beat_at: dt.datetime | None
    holder: str | None
    times: Mapping[str, float]  # seconds of work, pause, and away, but for what is running


@dataclass(frozen=True)
class Spent:
    """How long a subject took for a task so far, in seconds."""

    work: float = 0.0
    away: float = 0.0
    pause: float = 0.0

    @property
    def limited(self) -> float:
        """What counts where there is a limit."""
        return self.work + self.away


@dataclass(frozen=True)
class Answer:
    """An answer that a subject's page sends."""

    base: int | str  # the draft that it was made from: its number, or its id as a page has it
    client: str  # the tab
    number: int  # counts up in the tab; with `client` it distinguishes a retry from a new save
    text: str = ""
    files: tuple[str, ...] = ()  # public ids of uploads, in the order of the solution
    kind: Kind = "save"


@dataclass(frozen=True)
class SavedAnswer:
    """An acknowledged draft: it is on the disk."""

    number: int
    kind: str
    at: dt.datetime
    receipt: str
    is_retry: bool = False

    @property
    def is_ended(self) -> bool:
        """Whether the task is over with it."""
        return self.kind in ("submit", "skip", "timeout")


@dataclass(frozen=True)
class Upload:
    """A file that a subject uploaded; see `quem.store.models.UploadRow`."""

    key: int
    public_id: str
    task_key: int
    sha256: str
    size: int
    ending: str
    name: str


class StaleAnswerError(Exception):
    """There is a newer draft than the one that an answer was made from."""

    def __init__(self, number: int, answer: Answer, *, ended: bool) -> None:
        self.number, self.answer, self.ended = number, answer, ended
        super().__init__(f"draft {number} is newer")


class ElsewhereError(Exception):
    """Another tab or device holds the clock."""


_COLUMNS = tuple(getattr(TaskRow, name) for name in SolvingTask.__dataclass_fields__)
_UPLOAD = tuple(getattr(UploadRow, name) for name in Upload.__dataclass_fields__)


def solving_state(c: Session, study_id: str) -> SolvingState:
    """Where the solving session of a study is."""
    mine = select(StudyRow.solving).where(StudyRow.id == study_id)
    state: SolvingState = c.execute(mine).scalar_one()
    return state


def set_solving(c: Session, study_id: str, state: SolvingState, actor: str) -> None:
    """Open or close the solving session of a study, which is logged."""
    before = _locked_state(c, study_id, alone=True)
    if before != state:
        c.execute(update(StudyRow).where(StudyRow.id == study_id).values(solving=state))
        record(c, study_id, actor, f"solving-{state}", before=before)


def _locked_state(c: Session, study_id: str, *, alone: bool = False) -> SolvingState:
    """Give the state; closing waits for whoever read it so, and the other way round."""
    mine = select(StudyRow.solving).where(StudyRow.id == study_id)
    locked = mine.with_for_update(read=not alone, key_share=alone)
    state: SolvingState = c.execute(locked).scalar_one()
    return state


def discard_solving_trial(c: Session, study_id: str, actor: str) -> list[Upload]:
    """Throw away all that people did on trial; gives the uploads, whose bytes are to be deleted.

    Replies go too, and so do consent and withdrawal: whoever tried the pages with somebody's link
    did not answer for them.
    """
    if _locked_state(c, study_id, alone=True) != "trial":
        return []
    subjects = select(PersonRow.key).where(PersonRow.of(study_id, "subject"))
    tasks = select(TaskRow.key).where(TaskRow.person_key.in_(subjects))
    uploads = select(*_UPLOAD).where(UploadRow.task_key.in_(tasks))
    gone = [Upload(*row) for row in c.execute(uploads)]
    for table in (RevisionRow, UploadRow):
        c.execute(delete(table).where(table.task_key.in_(tasks)))
    c.execute(delete(TaskRow).where(TaskRow.person_key.in_(subjects)))
    forget_trial(c, study_id, "subject")
    record(c, study_id, actor, "solving-trial-discarded")
    return gone


def assign_tasks(
    c: Session,
    subject: PersonRow,
    problems: Sequence[str],
    *,
    practice: str = "",
    order: str = "balanced",
    rng: Random,
) -> None:
    """Give a subject the problems that they lack, practice first."""
    _locked_state(c, subject.study_id, alone=True)
    known = {task.problem for task in tasks_of(c, subject.key)}
    lacking = [problem for problem in problems if problem not in known]
    if order == "random":
        rng.shuffle(lacking)
    elif order == "balanced" and not known and lacking:
        rows = balanced_orders(len(lacking))
        others = select(PersonRow.row).where(
            PersonRow.of(subject.study_id, "subject"), PersonRow.withdrawn_at.is_(None)
        )
        row = least_used(c.execute(others).scalars(), len(rows))
        c.execute(update(PersonRow).where(PersonRow.key == subject.key).values(row=row))
        lacking = [lacking[number] for number in rows[row]]
    first = [practice] if practice and practice not in known else []
    for position, problem in enumerate([*first, *lacking], len(known)):
        values = {"person_key": subject.key, "problem": problem, "position": position}
        is_practice = problem == practice
        made = insert_new(c, TaskRow).values(
            **values, practice=is_practice, public_id=secrets.token_urlsafe(9), head=0
        )
        c.execute(made)


def tasks_of(c: Session, person_key: int) -> list[SolvingTask]:
    """Give a subject's tasks, in their order."""
    mine = select(*_COLUMNS).where(TaskRow.person_key == person_key)
    rows = c.execute(mine.order_by(TaskRow.practice.desc(), TaskRow.position, TaskRow.key))
    return [SolvingTask(*row) for row in rows]


def task_of_subject(
    c: Session, person_key: int, public_id: str, *, lock: bool = False
) -> SolvingTask:
    """Find one of a subject's tasks."""
    mine = select(*_COLUMNS).where(TaskRow.public_id == public_id, TaskRow.person_key == person_key)
    row = c.execute(mine.with_for_update() if lock else mine).one_or_none()
    if row is None:
        raise NotAssignedError(public_id)
    return SolvingTask(*row)


def spent_on(tasks: Iterable[SolvingTask], at: dt.datetime | None = None) -> dict[int, Spent]:
    """How long was spent on tasks up to now, by their keys."""
    at = at or now()
    return {task.key: Spent(**_with_times(task, _running(task, at))) for task in tasks}


def _with_times(
    task: SolvingTask, stretches: Iterable[tuple[str, dt.datetime, dt.datetime]]
) -> dict[str, float]:
    """The seconds of a task by kind, with those of further stretches."""
    times = dict(task.times)
    for kind, began, ended in stretches:
        times[kind] = times.get(kind, 0.0) + (ended - began).total_seconds()
    return times


def _add_times(
    c: Session, task: SolvingTask, stretches: Iterable[tuple[str, dt.datetime, dt.datetime]]
) -> None:
    _set(c, task, times=_with_times(task, stretches))


def _running(task: SolvingTask, at: dt.datetime) -> list[tuple[str, dt.datetime, dt.datetime]]:
    """The stretches since the clock last changed: of work only as far as the page was heard of."""
    if task.running is None or task.since is None or task.beat_at is None:
        return []
    if task.running != "work" or (at - task.beat_at).total_seconds() <= SILENT_SECONDS:
        return [(task.running, task.since, max(at, task.since))]
    return [("work", task.since, task.beat_at), ("away", task.beat_at, at)]


def start_task(
    c: Session, subject: PersonRow, public_id: str, client: str, limit: float | None
) -> SolvingTask:
    """Start the clock of a task, whose statement is shown from now on."""
    _require_open(c, subject)
    task = task_of_subject(c, subject.key, public_id, lock=True)
    if task.opened_at is None:
        at = now()
        _set(c, task, opened_at=at, limit_seconds=limit)
        _set(c, task, running="work", since=at, beat_at=at, holder=client)
        task = task_of_subject(c, subject.key, public_id)
    return task


def run_clock(
    c: Session,
    subject: PersonRow,
    public_id: str,
    client: str,
    running: Running,
    *,
    take: bool = False,
) -> SolvingTask:
    """Go on with the clock of a task: at work, in a pause, or away."""
    _require_open(c, subject)
    task = task_of_subject(c, subject.key, public_id, lock=True)
    if task.ended or task.opened_at is None:
        return task
    if task.holder not in (client, None) and not take:
        raise ElsewhereError
    _hear(c, task, running, client)
    return settle(c, subject, task_of_subject(c, subject.key, public_id))


def _hear(c: Session, task: SolvingTask, running: str, holder: str | None) -> None:
    """Take a sign of life: the clock continues as it was, or a new stretch begins."""
    at = now()
    is_beat = task.running == running == "work" and task.holder == holder
    if is_beat and len(_running(task, at)) == 1:
        _set(c, task, beat_at=at)
    else:
        _add_times(c, task, _running(task, at))
        _set(c, task, running=running, since=at, beat_at=at, holder=holder)


def stop_clock(c: Session, task: SolvingTask) -> None:
    """End what counts as work, a pause, or time away, as when the session closes."""
    if task.running is not None:
        _add_times(c, task, _running(task, now()))
        _set(c, task, running=None, since=None, beat_at=None, holder=None)


def settle(c: Session, subject: PersonRow, task: SolvingTask) -> SolvingTask:
    """End a task whose time is over, with its last draft."""
    if task.ended or not _is_over(c, task):
        return task
    task = task_of_subject(c, subject.key, task.public_id, lock=True)
    if not task.ended:
        answer = last_answer(c, task)
        _append(c, task, answer, "timeout", subject.study_id)
    return task_of_subject(c, subject.key, task.public_id)


def save_answer(c: Session, subject: PersonRow, public_id: str, answer: Answer) -> SavedAnswer:
    """Append a draft, submit the answer, skip the problem, or open it again."""
    state = _lock_session(c, subject)
    task = task_of_subject(c, subject.key, public_id, lock=True)
    done = c.execute(
        select(RevisionRow.number, RevisionRow.kind, RevisionRow.made_at, RevisionRow.state)
        .where(RevisionRow.task_key == task.key)
        .where(RevisionRow.client == answer.client, RevisionRow.change == answer.number)
    ).first()
    if done:
        receipt = _receipt(c, subject.study_id, task, done.number, done.state)
        return SavedAnswer(done.number, done.kind, done.made_at, receipt, is_retry=True)
    if state == "closed":
        raise ClosedError
    if task.opened_at is None:
        raise NotAssignedError(public_id)
    last = last_answer(c, task)
    if answer.base not in (task.head, last.base):
        raise StaleAnswerError(task.head, last, ended=task.ended is not None)
    if answer.kind == "reopen":
        if task.ended not in ("submit", "skip") or _is_over(c, task):
            raise SubmittedError
        answer = Answer(answer.base, answer.client, answer.number, last.text, last.files, "reopen")
    else:
        _require_running(c, task)
        _hear(c, task, "work", task.holder)
        task = task_of_subject(c, subject.key, public_id)
    if not set(answer.files) <= {upload.public_id for upload in uploads_of(c, task)}:
        raise NotAssignedError(public_id)
    return _append(c, task, answer, answer.kind, subject.study_id)


def _require_running(c: Session, task: SolvingTask) -> None:
    """Refuse what comes in a pause, or when the task has ended or its time is over."""
    if task.ended or _is_over(c, task):
        raise SubmittedError
    if task.running == "pause":
        raise PausedError


def _is_over(c: Session, task: SolvingTask) -> bool:
    if task.limit_seconds is None:
        return False
    since_end = (now() - _ended_at(c, task)).total_seconds() if task.ended else 0.0
    return spent_on([task])[task.key].limited + since_end >= task.limit_seconds


def _ended_at(c: Session, task: SolvingTask) -> dt.datetime:
    newest = RevisionRow.task_key == task.key, RevisionRow.number == task.head
    at: dt.datetime = c.execute(select(RevisionRow.made_at).where(*newest)).scalar_one()
    return at


def _append(
    c: Session, task: SolvingTask, answer: Answer, kind: Kind, study_id: str
) -> SavedAnswer:
    number, at = task.head + 1, now()
    state = {"text": answer.text, "files": list(answer.files)}
    row = {
        "task_key": task.key,
        "number": number,
        "base": task.head,
        "kind": kind,
        "layout": "",
        "state": state,
        "client": answer.client,
        "change": answer.number,
        "made_at": at,
    }
    c.execute(insert(RevisionRow).values(**row))
    if kind == "reopen":
        if task.limit_seconds is not None:
            # The limit continues while an answer is submitted: nobody thinks it over for nothing.
            _add_times(c, task, [("away", _ended_at(c, task), at)])
        values = {"ended": None, "running": "work", "since": at, "beat_at": at}
        _set(c, task, head=number, holder=None, **values)
    elif kind != "save":
        _add_times(c, task, _running(task, at))
        _set(c, task, head=number, ended=kind, running=None, since=None, beat_at=None)
    else:
        _set(c, task, head=number)
    return SavedAnswer(number, kind, at, _receipt(c, study_id, task, number, state))


def _receipt(
    c: Session, study_id: str, task: SolvingTask, number: int, state: Mapping[str, Any]
) -> str:
    said = (task.public_id, number, state["text"], state["files"])
    return keyed(secret_of(c, study_id), "answer", *said)[:10]


def receipt_of(c: Session, study_id: str, task: SolvingTask) -> tuple[str, dt.datetime] | None:
    """Give the receipt of an answer that is submitted, and when that was."""
    newest = select(RevisionRow).where(
        RevisionRow.task_key == task.key, RevisionRow.number == task.head
    )
    row = c.scalars(newest).one_or_none()
    if row is None or task.ended not in ("submit", "timeout"):
        return None
    return _receipt(c, study_id, task, row.number, row.state), row.made_at


def last_answer(c: Session, task: SolvingTask) -> Answer:
    """Give the newest draft of a task; an empty one where there is none."""
    newest = select(RevisionRow).where(
        RevisionRow.task_key == task.key, RevisionRow.number == task.head
    )
    row = c.scalars(newest).one_or_none()
    if row is None:
        return Answer("0", "server", task.head)
    # What the server makes of it is nobody's change.
    return Answer(
        revision_id(task.head, row.made_at),
        "server",
        task.head,
        row.state["text"],
        tuple(row.state["files"]),
        row.kind,
    )


def answers_to(c: Session, tasks: Iterable[SolvingTask]) -> Mapping[int, Answer]:
    """Give the newest draft of each task, by key."""
    return {task.key: last_answer(c, task) for task in tasks}


def add_upload(
    c: Session,
    subject: PersonRow,
    public_id: str,
    *,
    sha256: str,
    size: int,
    ending: str,
    name: str,
) -> Upload | None:
    """Note a file whose bytes are on the disk; None where the subject has too many bytes."""
    _require_open(c, subject)
    task = task_of_subject(c, subject.key, public_id, lock=True)
    if task.opened_at is None:
        raise SubmittedError
    _require_running(c, task)
    if size > bytes_left(c, subject):
        return None
    token = secrets.token_urlsafe(9)
    values = {"task_key": task.key, "sha256": sha256, "size": size, "ending": ending, "name": name}
    c.execute(insert(UploadRow).values(public_id=token, **values))
    return upload_of(c, task, token)


def bytes_left(c: Session, subject: PersonRow) -> int:
    """Say how many bytes a subject may upload yet."""
    tasks = select(TaskRow.key).where(TaskRow.person_key == subject.key)
    held = select(func.coalesce(func.sum(UploadRow.size), 0)).where(UploadRow.task_key.in_(tasks))
    return MOST_OF_SUBJECT - int(c.execute(held).scalar_one())


def upload_of(c: Session, task: SolvingTask, public_id: str) -> Upload | None:
    """Find an upload of a task."""
    return next((one for one in uploads_of(c, task) if one.public_id == public_id), None)


def uploads_of(c: Session, task: SolvingTask) -> list[Upload]:
    """Give all uploads of a task, also those that are no longer part of the answer."""
    mine = select(*_UPLOAD).where(UploadRow.task_key == task.key).order_by(UploadRow.key)
    return [Upload(*row) for row in c.execute(mine)]


def _lock_session(c: Session, subject: PersonRow) -> SolvingState:
    """Give the session's state, and refuse somebody who withdrew or was erased.

    Closing the session and erasing the subject wait for this transaction.
    """
    state = _locked_state(c, subject.study_id)
    mine = select(PersonRow.withdrawn_at, PersonRow.erased_at).where(PersonRow.key == subject.key)
    withdrawn, erased = c.execute(mine.with_for_update(read=True, key_share=True)).one()
    if withdrawn or erased:
        raise NotAssignedError
    return state


def _require_open(c: Session, subject: PersonRow) -> None:
    """Refuse changes of a closed session, and of somebody who withdrew or was erased."""
    if _lock_session(c, subject) == "closed":
        raise ClosedError


def _set(c: Session, task: SolvingTask, **values: object) -> None:
    c.execute(update(TaskRow).where(TaskRow.key == task.key).values(**values))


def balanced_orders(count: int) -> list[tuple[int, ...]]:
    """Give the rows of a Williams design.

    Over all rows each number is equally often at each position, and each follows each other
    number equally often.
    """
    # 0, 1, count - 1, 2, count - 2, ...
    first = [(step + 1) // 2 if step % 2 else -step // 2 for step in range(count)]
    rows = [tuple((number + row) % count for number in first) for row in range(count)]
    return rows + [row[::-1] for row in rows] if count % 2 and count > 1 else rows


def least_used(used: Iterable[int | None], rows: int) -> int:
    """Give the row that was given out least often, of these the first."""
    counts = Counter(used)
    return min(range(rows), key=lambda row: (counts[row], row))
