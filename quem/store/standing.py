"""How far all judges are, counted by the database: as many statements for ten as for 10,000."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from sqlalchemy import String, and_, case, cast, func, or_, select, tuple_

from quem.store.models import PersonRow, RevisionRow, TaskRow
from quem.store.people import as_person
from quem.store.progress import Answers

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection

    from sqlalchemy import ColumnElement, Subquery
    from sqlalchemy.orm import Session

    from quem.store.ballots import JudgingPlan

JudgeStatus = Literal["erased", "declined", "done", "active", "unopened", "revoked", "unlinked"]
# Whom the study waits for.
WAITED_FOR: tuple[JudgeStatus, ...] = ("active", "unopened", "revoked", "unlinked")

_DONE = and_(TaskRow.submitted.is_not(None), TaskRow.submitted == TaskRow.head)
_STARTED = TaskRow.head > 0
_REAL = TaskRow.practice.is_(False)
_JUDGE = tuple(PersonRow.__table__.c)


@dataclass(frozen=True)
class JudgeStanding:
    """How far a judge is."""

    judge: PersonRow
    # How many tasks they submitted, and how many they started, without practice
    submitted: int
    started: int
    seconds: float  # their working time
    status: JudgeStatus  # the first of the names of `JudgeStatus` that is true of them
    total: int  # how many tasks there are for each judge

    @property
    def left(self) -> int:
        """How many tasks they have not submitted."""
        return self.total - self.submitted


@dataclass(frozen=True)
class StatusCount:
    """All judges of one status together."""

    judges: int = 0
    judges_started: int = 0  # how many of the judges started a task, be it practice
    done: int = 0  # how many of them submitted all tasks
    # Rankings; those that were started with practice
    submitted: int = 0
    started: int = 0
    seconds: float = 0.0
    seen_at: dt.datetime | None = None


@dataclass(frozen=True)
class TaskCount:
    """How far all judges are with one task, repetitions left out."""

    started: int = 0
    done: int = 0
    # The median time of those who submitted it; None where none was measured.
    minutes: float | None = None


@dataclass(frozen=True)
class Span:
    """Which judges of many."""

    # The order: as they were made, or by how many tasks they submitted.
    by: Literal["first", "least"] = "first"
    text: str = ""  # what their id or name contains
    # Rankings submitted and key of the judge after whom it begins.
    start: tuple[int, int] | None = None
    is_back: bool = False  # whether it ends before that judge instead


def counts_by_status(
    c: Session, study_id: str, plan: JudgingPlan
) -> dict[JudgeStatus, StatusCount]:
    """Count the judges of a study, and what they did, for each status."""
    people = _people(study_id, plan)
    of = people.c
    total = _total(plan)
    rows = c.execute(
        select(
            of.status,
            func.count(),
            func.sum(case((of.opened > 0, 1), else_=0)),
            func.sum(case((of.submitted >= max(total, 1), 1), else_=0)),
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
    """Give some judges of a study, with how far they are."""
    span = span or Span()
    people = _people(study_id, plan)
    of = people.c
    order = (of.submitted, of.key) if span.by == "least" else (of.key,)
    chosen = select(people).where(of.status.in_(tuple(status)))
    if key is not None:
        chosen = chosen.where(of.key == key)
    if span.text:
        held = (
            of.id.icontains(span.text, autoescape=True),
            of.name.icontains(span.text, autoescape=True),
        )
        chosen = chosen.where(or_(*held))
    if span.start:
        place, start = tuple_(*order), tuple_(*span.start[-len(order) :])
        chosen = chosen.where(place < start if span.is_back else place > start)
    ends = [one.desc() if span.is_back else one for one in order]
    rows = c.execute(chosen.order_by(*ends).limit(most)).all()
    split, total = len(_JUDGE), _total(plan)
    found = [
        JudgeStanding(
            as_person(row[:split]), row.submitted, row.started, row.seconds, row.status, total
        )
        for row in rows
    ]
    return found[::-1] if span.is_back else found


def task_counts(
    c: Session, study_id: str, plan: JudgingPlan
) -> dict[tuple[str, int, bool], TaskCount]:
    """Count started and submitted rankings by problem, block, and whether it is for practice."""
    task = (TaskRow.problem, TaskRow.block, TaskRow.practice)
    mine = TaskRow.person_key == PersonRow.key, PersonRow.of(study_id, "judge")
    these = *mine, TaskRow.occasion == 1, _is_planned(plan)
    counts = c.execute(
        select(*task, func.sum(case((_STARTED, 1), else_=0)), func.sum(case((_DONE, 1), else_=0)))
        .where(*these)
        .group_by(*task)
    )
    found = {(row[0], row[1], bool(row[2])): TaskCount(row[3], row[4]) for row in counts.all()}
    # No function for medians is in both databases.
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
    """Count what all judges of a study answered so far, as `quem.store.progress.answers_of`."""
    newest = (RevisionRow.task_key == TaskRow.key) & (RevisionRow.number == TaskRow.head)
    # A quote within a text has a backslash before it, so that this is only found as a key.
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
    """How often a text occurs in a column."""
    without = func.length(func.replace(column, text, ""))
    return (func.length(column) - without) // len(text)


def _total(plan: JudgingPlan) -> int:
    return len(plan.parts) + plan.repeat


def _is_planned(plan: JudgingPlan) -> ColumnElement[bool]:
    """Whether the study still has what a ballot is of, as `JudgingPlan.find` says."""
    practice = plan.practice.problem if plan.practice else None
    groups: ColumnElement[bool] = TaskRow.problem.in_([group.problem for group in plan.groups])
    if plan.block_size is not None:
        # Of a block whose solvers are all gone nothing is left to be ranked.
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
    """A row for each judge: the columns of `PersonRow`, what they did, and their status."""
    work = (
        select(
            TaskRow.person_key,
            func.sum(case((and_(_REAL, _DONE), 1), else_=0)).label("submitted"),
            func.sum(case((and_(_REAL, _STARTED), 1), else_=0)).label("started"),
            func.sum(case((_STARTED, 1), else_=0)).label("opened"),
            func.sum(TaskRow.seconds).label("seconds"),
        )
        .join(PersonRow, TaskRow.person_key == PersonRow.key)
        .where(PersonRow.of(study_id, "judge"), _is_planned(plan))
        .group_by(TaskRow.person_key)
        .subquery()
    )
    total = _total(plan)
    submitted = func.coalesce(work.c.submitted, 0)
    status = case(
        (PersonRow.erased_at.is_not(None), "erased"),
        (PersonRow.declined_at.is_not(None), "declined"),
        (submitted >= max(total, 1), "done"),
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
        select(*_JUDGE, *(value.label(name) for name, value in others.items()))
        .join(work, work.c.person_key == PersonRow.key, isouter=True)
        .where(PersonRow.of(study_id, "judge"))
        .subquery()
    )
