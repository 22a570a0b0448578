"""Progress of all judges, counted by the database: as many statements for ten as for 10,000."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from sqlalchemy import ColumnElement, String, Subquery, and_, case, cast, func, or_, select, tuple_
from sqlalchemy.orm import Session, aliased

from quem.store.models import PersonRow, RevisionRow, TaskRow
from quem.store.state import State

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Iterable

    from quem.store.planned import JudgingPlan


@dataclass(frozen=True)
class JudgeProgress:
    """A judge's progress."""

    judge: PersonRow
    tasks: tuple[TaskRow, ...]  # without layouts; empty until their first visit

    @property
    def submitted(self) -> int:
        """The number of submitted tasks, without practice."""
        return sum(task.is_submitted for task in self.tasks if not task.practice)

    @property
    def seconds(self) -> float:
        """Their active time."""
        return sum(task.seconds for task in self.tasks)


def progress_of(c: Session, judges: Iterable[PersonRow], plan: JudgingPlan) -> list[JudgeProgress]:
    """The progress of some judges of a study with each of their tasks."""
    tasks: dict[int, list[TaskRow]] = {}
    judges = list(judges)
    mine = select(TaskRow).where(TaskRow.person_key.in_([judge.key for judge in judges]))
    for task in c.scalars(mine.order_by(TaskRow.person_key, TaskRow.position, TaskRow.key)):
        if plan.find(task):
            tasks.setdefault(task.person_key, []).append(task)
    return [JudgeProgress(judge, tuple(tasks.get(judge.key, ()))) for judge in judges]


def minutes_a_solution(c: Session, study_id: str) -> float | None:
    """The mean time of judges per placed solution, in minutes."""
    last = and_(RevisionRow.task_key == TaskRow.key, RevisionRow.number == TaskRow.submitted)
    rows = c.execute(
        select(TaskRow.seconds, RevisionRow.state)
        .join(PersonRow, TaskRow.person_key == PersonRow.key)
        .join(RevisionRow, last)
        .where(PersonRow.of(study_id, "judge"), TaskRow.practice.is_(False))
        .where(TaskRow.occasion == 1, TaskRow.seconds > 0)
    ).all()
    placed = sum(
        rank is not None for _, state in rows for rank in State.stored(state).ranks().values()
    )
    return sum(seconds for seconds, _ in rows) / placed / 60 if placed else None


JudgeStatus = Literal["erased", "declined", "done", "active", "unopened", "revoked", "unlinked"]
# Judges with unfinished tasks.
WAITED_FOR: tuple[JudgeStatus, ...] = ("active", "unopened", "revoked", "unlinked")

_DONE = and_(TaskRow.submitted.is_not(None), TaskRow.submitted == TaskRow.head)
_STARTED = TaskRow.head > 0
_REAL = TaskRow.practice.is_(False)


@dataclass(frozen=True)
class JudgeStanding:
    """A judge's progress."""

    judge: PersonRow
    # Numbers of submitted and of started tasks, without practice
    submitted: int
    started: int
    seconds: float  # active time
    status: JudgeStatus  # first matching name of `JudgeStatus`
    total: int  # number of tasks per judge

    @property
    def left(self) -> int:
        """The number of tasks not submitted."""
        return self.total - self.submitted


@dataclass(frozen=True)
class StatusCount:
    """All judges of one status."""

    judges: int = 0
    judges_started: int = 0  # judges who started a task, including practice
    done: int = 0  # judges who submitted all tasks
    # Rankings; those started including practice
    submitted: int = 0
    started: int = 0
    seconds: float = 0.0
    seen_at: dt.datetime | None = None


@dataclass(frozen=True)
class TaskCount:
    """The progress of all judges on one task, without repeat tasks."""

    started: int = 0
    done: int = 0
    # The median time to submit; None without measurements.
    minutes: float | None = None


@dataclass(frozen=True)
class Answers:
    """Counts of judges' answers to which of two solutions is better."""

    count: int
    equal: int  # number of "equally good"

    @property
    def share_equal(self) -> float | None:
        """The share of "equally good"; None without answers."""
        return self.equal / self.count if self.count else None


@dataclass(frozen=True)
class Span:
    """A page of a list of judges."""

    # The order: of creation, or by number of submitted tasks.
    by: Literal["first", "least"] = "first"
    text: str = ""  # substring of id or name
    # Cursor: submitted rankings and key of the judge before the page.
    start: tuple[int, int] | None = None
    is_back: bool = False  # whether the page ends before that judge instead


def counts_by_status(
    c: Session, study_id: str, plan: JudgingPlan
) -> dict[JudgeStatus, StatusCount]:
    """Counts of judges and their work by status."""
    people = _people(study_id, plan)
    of = people.c
    rows = c.execute(
        select(
            of.status,
            func.count(),
            _count(of.opened > 0),
            _count(of.submitted >= max(plan.total, 1)),
            func.sum(of.submitted),
            func.sum(of.opened),
            func.sum(of.seconds),
            func.max(of.seen_at),
        ).group_by(of.status)
    )
    counted = {row[0]: StatusCount(*row[1:]) for row in rows}
    return {status: counted.get(status, StatusCount()) for status in get_args(JudgeStatus)}


def judges_standing(
    c: Session,
    study_id: str,
    plan: JudgingPlan,
    most: int | None = None,
    *,
    span: Span | None = None,
    status: Collection[JudgeStatus] = get_args(JudgeStatus),
    key: int | None = None,
) -> list[JudgeStanding]:
    """Some judges of a study with their progress."""
    span = span or Span()
    people = _people(study_id, plan)
    of = people.c
    order = (of.submitted, of.key) if span.by == "least" else (of.key,)
    columns = (of.submitted, of.started, of.seconds, of.status)
    chosen = select(aliased(PersonRow, people), *columns).where(of.status.in_(tuple(status)))
    if key is not None:
        chosen = chosen.where(of.key == key)
    if span.text:
        held = (name.icontains(span.text, autoescape=True) for name in (of.id, of.name))
        chosen = chosen.where(or_(*held))
    if span.start:
        place, start = tuple_(*order), tuple_(*span.start[-len(order) :])
        chosen = chosen.where(place < start if span.is_back else place > start)
    ends = [one.desc() if span.is_back else one for one in order]
    found = [
        JudgeStanding(one, submitted, started, seconds, how, plan.total)
        for one, submitted, started, seconds, how in c.execute(chosen.order_by(*ends).limit(most))
    ]
    return found[::-1] if span.is_back else found


def task_counts(
    c: Session, study_id: str, plan: JudgingPlan
) -> dict[tuple[str, int, bool], TaskCount]:
    """Started and submitted rankings by problem, block, and whether it is for practice."""
    task = (TaskRow.problem, TaskRow.block, TaskRow.practice)
    mine = TaskRow.person_key == PersonRow.key, PersonRow.of(study_id, "judge")
    these = *mine, TaskRow.occasion == 1, _is_planned(plan)
    counts = c.execute(select(*task, _count(_STARTED), _count(_DONE)).where(*these).group_by(*task))
    found = {(row[0], row[1], bool(row[2])): TaskCount(row[3], row[4]) for row in counts.all()}
    # There is no median function common to both databases.
    place = func.row_number().over(partition_by=task, order_by=TaskRow.seconds)
    timed = (
        select(*task, TaskRow.seconds, place.label("place"))
        .add_columns(func.count().over(partition_by=task).label("all"))
        .where(*these, _DONE, TaskRow.seconds > 0)
        .subquery()
    )
    middle = or_(timed.c.place == (timed.c.all + 1) // 2, timed.c.place == (timed.c.all + 2) // 2)
    names = (timed.c.problem, timed.c.block, timed.c.practice)
    medians = c.execute(select(*names, func.avg(timed.c.seconds)).where(middle).group_by(*names))
    for problem, block, practice, seconds in medians.all():
        one = found[problem, block, bool(practice)]
        found[problem, block, bool(practice)] = TaskCount(one.started, one.done, seconds / 60)
    return found


def share_of_answers(c: Session, study_id: str) -> Answers:
    """Counts of all judges' answers so far, which reveal no rank."""
    newest = (RevisionRow.task_key == TaskRow.key) & (RevisionRow.number == TaskRow.head)
    # A quote within a text is escaped, so this matches only a key.
    verdict = '"verdict":'
    asked = func.replace(cast(RevisionRow.state["comparisons"], String), " ", "")
    found = (
        select(asked.label("asked"))
        .join(TaskRow, newest)
        .join(PersonRow, TaskRow.person_key == PersonRow.key)
        .where(PersonRow.of(study_id, "judge"), _REAL)
        .where(cast(RevisionRow.state, String).contains(verdict))
        .subquery()
    )
    count, equal = (_occurrences(found.c.asked, text) for text in (verdict, f'{verdict}"equal"'))
    row = c.execute(select(func.sum(count), func.sum(equal))).one()
    return Answers(int(row[0] or 0), int(row[1] or 0))


def _occurrences(column: ColumnElement[str], text: str) -> ColumnElement[int]:
    """The number of occurrences of a text in a column."""
    without = func.length(func.replace(column, text, ""))
    return (func.length(column) - without) // len(text)


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


def _is_planned(plan: JudgingPlan) -> ColumnElement[bool]:
    """Whether the study still has a ballot's group, as in `JudgingPlan.find`."""
    practice = plan.practice.problem if plan.practice else None
    groups: ColumnElement[bool] = TaskRow.problem.in_([group.problem for group in plan.groups])
    if plan.block_size is not None:
        # A block without remaining solvers has nothing to rank.
        listed = cast(TaskRow.solvers, String)
        groups = or_(
            *(
                and_(
                    TaskRow.problem == group.problem,
                    or_(
                        TaskRow.solvers.is_(None),
                        *(
                            listed.contains(json.dumps(solver), autoescape=True)
                            for solver in group.solvers
                        ),
                    ),
                )
                for group in plan.groups
            )
        )
    return or_(and_(_REAL, groups), and_(TaskRow.practice.is_(True), TaskRow.problem == practice))


def _people(study_id: str, plan: JudgingPlan) -> Subquery:
    """A row per judge: the columns of `PersonRow`, work, and status."""
    work = (
        select(
            TaskRow.person_key,
            _count(and_(_REAL, _DONE)).label("submitted"),
            _count(and_(_REAL, _STARTED)).label("started"),
            _count(_STARTED).label("opened"),
            func.sum(TaskRow.seconds).label("seconds"),
        )
        .join(PersonRow, TaskRow.person_key == PersonRow.key)
        .where(PersonRow.of(study_id, "judge"), _is_planned(plan))
        .group_by(TaskRow.person_key)
        .subquery()
    )
    submitted = func.coalesce(work.c.submitted, 0)
    status = case(
        (PersonRow.erased_at.is_not(None), "erased"),
        (PersonRow.declined_at.is_not(None), "declined"),
        (submitted >= max(plan.total, 1), "done"),
        (and_(PersonRow.link_hash.is_not(None), PersonRow.seen_at.is_not(None)), "active"),
        (PersonRow.link_hash.is_not(None), "unopened"),
        (PersonRow.revoked_at.is_not(None), "revoked"),
        else_="unlinked",
    )
    others = {
        "submitted": submitted,
        "started": func.coalesce(work.c.started, 0),
        "opened": func.coalesce(work.c.opened, 0),
        "seconds": func.coalesce(work.c.seconds, 0.0),
        "status": status,
    }
    return (
        select(PersonRow, *(value.label(name) for name, value in others.items()))
        .join(work, work.c.person_key == PersonRow.key, isouter=True)
        .where(PersonRow.of(study_id, "judge"))
        .subquery()
    )
