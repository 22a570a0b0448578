"""How far the judges are: what the experimenter may see of an open study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlalchemy import select

from quem.store.ballots import ballots_of_judges
from quem.store.models import PersonRow, RevisionRow, TaskRow
from quem.store.people import people_of
from quem.store.state import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.orm import Session

    from quem.store.ballots import AssignedBallot, JudgingPlan

TaskStatus = Literal["new", "started", "submitted"]


@dataclass(frozen=True)
class TaskProgress:
    """How far a judge is with a task; see `quem.store.models.TaskRow`."""

    problem: str
    block: int
    occasion: int
    practice: bool
    status: TaskStatus
    seconds: float


@dataclass(frozen=True)
class JudgeProgress:
    """How far a judge is."""

    judge: PersonRow
    tasks: tuple[TaskProgress, ...]  # empty until their first visit

    @property
    def submitted(self) -> int:
        """How many tasks they submitted, without practice."""
        return sum(g.status == "submitted" for g in self.tasks if not g.practice)

    @property
    def seconds(self) -> float:
        """Their working time."""
        return sum(task.seconds for task in self.tasks)


def task_status(ballot: AssignedBallot) -> TaskStatus:
    """Say how far a ballot is."""
    if ballot.is_submitted:
        return "submitted"
    return "started" if ballot.head else "new"


def progress_of(c: Session, judges: Iterable[PersonRow], plan: JudgingPlan) -> list[JudgeProgress]:
    """Give the progress of some judges of a study with each of their tasks."""
    judges = list(judges)
    tasks: dict[int, list[TaskProgress]] = {judge.key: [] for judge in judges}
    for b in ballots_of_judges(c, tasks):
        if plan.find(b):
            tasks[b.person_key].append(
                TaskProgress(b.problem, b.block, b.occasion, b.practice, task_status(b), b.seconds)
            )
    return [JudgeProgress(judge, tuple(tasks[judge.key])) for judge in judges]


@dataclass(frozen=True)
class Answers:
    """How many times a judge was asked which of two solutions is better."""

    count: int
    equal: int  # how many of the answers were "equally good"

    @property
    def share_equal(self) -> float | None:
        """The share of "equally good"; None where nothing was asked."""
        return self.equal / self.count if self.count else None


def answers_of(c: Session, study_id: str) -> dict[str, Answers]:
    """Count what the judges of a study answered so far, which reveals no rank."""
    newest = (RevisionRow.task_key == TaskRow.key) & (RevisionRow.number == TaskRow.head)
    rows = c.execute(
        select(PersonRow.id, RevisionRow.state)
        .join(TaskRow, TaskRow.person_key == PersonRow.key)
        .join(RevisionRow, newest)
        .where(PersonRow.of(study_id, "judge"), TaskRow.practice.is_(False))
    ).all()
    verdicts: dict[str, list[str]] = {judge.id: [] for judge in people_of(c, study_id, "judge")}
    for judge, state in rows:
        verdicts[judge] += [answer.verdict for answer in State.stored(state).comparisons]
    return {judge: Answers(len(of), of.count("equal")) for judge, of in verdicts.items()}


def minutes_a_solution(c: Session, study_id: str) -> float | None:
    """Say how long judges took to place one solution, in the mean over all they placed."""
    rows = c.execute(
        select(TaskRow.seconds, RevisionRow.state)
        .join(PersonRow, TaskRow.person_key == PersonRow.key)
        .join(
            RevisionRow,
            (RevisionRow.task_key == TaskRow.key) & (RevisionRow.number == TaskRow.submitted),
        )
        .where(
            PersonRow.of(study_id, "judge"),
            TaskRow.practice.is_(False),
            TaskRow.occasion == 1,
            TaskRow.seconds > 0,
        )
    ).all()
    placed = sum(
        sum(rank is not None for rank in State.stored(state).ranks().values()) for _, state in rows
    )
    return sum(seconds for seconds, _ in rows) / placed / 60 if placed else None
