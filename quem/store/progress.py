"""How far the judges are: what the experimenter may see of an open study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, select

from quem.store.models import PersonRow, RevisionRow, TaskRow
from quem.store.state import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.orm import Session

    from quem.store.planned import JudgingPlan


@dataclass(frozen=True)
class JudgeProgress:
    """How far a judge is."""

    judge: PersonRow
    tasks: tuple[TaskRow, ...]  # without layouts; empty until their first visit

    @property
    def submitted(self) -> int:
        """How many tasks they submitted, without practice."""
        return sum(task.is_submitted for task in self.tasks if not task.practice)

    @property
    def seconds(self) -> float:
        """Their working time."""
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
    """How long judges took to place one solution, in the mean over all they placed."""
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
