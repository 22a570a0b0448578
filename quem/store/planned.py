"""The judging plan of a study: groups of solutions, or blocks of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sqlalchemy import select

from quem.store.events import note_once
from quem.store.models import EventRow, TaskRow
from quem.studyfile.blocks import block_sizes, deal_blocks, digest_of_solutions, order_of_draw

if TYPE_CHECKING:
    from random import Random

    from sqlalchemy.orm import Session

    from quem.solutions import Solutions
    from quem.studyfile.blocks import PairCounts
    from quem.studyfile.relevance import JudgedSpec

_WHAT = "problems-drawn"


@dataclass(frozen=True)
class ProblemDraw:
    """The draw of the problems that experts rank."""

    digest: str  # of the solutions and the study's nonce; see `quem.studyfile.blocks`
    problems: tuple[str, ...]  # in drawn order
    solvers: tuple[str, ...]  # solvers of the solutions in the digest
    drawn_at: str = ""  # time of the first assignment, in UTC; empty before


def draw_of(spec: JudgedSpec, solutions: Solutions) -> ProblemDraw | None:
    """Draw the problems for experts from the current solutions."""
    if spec.machine is None or spec.machine.experts_on is None:
        return None
    practice = (spec.judging.practice, spec.solving.practice if spec.solving else "")
    by_problem = {p: of for p, of in solutions.by_problem.items() if of and p not in practice}
    digest = digest_of_solutions(
        (
            (problem, solver, solution.digest)
            for problem, by_solver in by_problem.items()
            for solver, solution in by_solver.items()
        ),
        spec.machine.experts_on.nonce,
    )
    drawn = order_of_draw(by_problem, digest)[: spec.machine.experts_on.n]
    return ProblemDraw(digest, drawn, tuple(sorted(set().union(*by_problem.values()))))


def record_draw(c: Session, study_id: str, draw: ProblemDraw) -> None:
    """Record the draw of problems, which is final."""
    names = {"problems": list(draw.problems), "solvers": list(draw.solvers)}
    note_once(c, study_id, "server", _WHAT, digest=draw.digest, **names)


def recorded_draw(c: Session, study_id: str) -> ProblemDraw | None:
    """The recorded draw; None before judges had tasks."""
    mine = EventRow.study_id == study_id, EventRow.what == _WHAT
    event = c.scalars(select(EventRow).where(*mine).order_by(EventRow.key).limit(1)).one_or_none()
    if event is None:
        return None
    problems, solvers = (tuple(event.detail[name]) for name in ("problems", "solvers"))
    return ProblemDraw(
        event.detail["digest"], problems, solvers, f"{event.made_at:%Y-%m-%dT%H:%M:%SZ}"
    )


@dataclass(frozen=True)
class Group:
    """Solutions shown together: those of one problem, or a block of them."""

    problem: str
    solvers: tuple[str, ...]
    block: int = 1


@dataclass(frozen=True)
class JudgingPlan:
    """The judging plan of a study."""

    groups: tuple[Group, ...]
    practice: Group | None = None
    repeat: int = 0  # number of groups or blocks repeated at the end
    # Greatest length of a list; larger groups are divided into blocks.
    block_size: int | None = None
    # The draw of problems, if machine judges rank the others.
    draw: ProblemDraw | None = None

    @property
    def parts(self) -> tuple[Group, ...]:
        """The groups, blocked ones once per block; all with all solvers."""
        return tuple(
            replace(group, block=block)
            for group in self.groups
            for block in range(1, len(self.sizes(group)) + 1)
        )

    @property
    def everything(self) -> tuple[Group, ...]:
        """The groups, including practice."""
        return (*self.groups, *([self.practice] if self.practice else []))

    @property
    def total(self) -> int:
        """The number of tasks per judge, without practice."""
        return len(self.parts) + self.repeat

    def sizes(self, group: Group) -> list[int]:
        """The sizes of the blocks of a group."""
        size = len(group.solvers)
        return block_sizes(size, self.block_size or max(size, 2))

    def deal(self, group: Group, met: PairCounts, rng: Random) -> list[Group]:
        """A group for one judge: whole, or in blocks."""
        if self.block_size is None or len(self.sizes(group)) == 1:
            return [group]
        blocks = deal_blocks(group.solvers, self.block_size, met, rng)
        return [Group(group.problem, block, number) for number, block in enumerate(blocks, 1)]

    @cached_property
    def _by_problem(self) -> dict[str, Group]:
        return {group.problem: group for group in self.groups}

    def find(self, task: TaskRow) -> Group | None:
        """The group of a task, or None if the study no longer has it."""
        if task.practice:
            same = self.practice and self.practice.problem == task.problem
            return self.practice if same else None
        group = self._by_problem.get(task.problem)
        if group is None or task.solvers is None:
            return group
        solvers = tuple(solver for solver in task.solvers if solver in group.solvers)
        return Group(group.problem, solvers, task.block) if solvers else None
