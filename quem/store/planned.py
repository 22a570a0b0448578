"""What every judge of a study is given: groups of solutions, or blocks of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from quem.studyfile.blocks import block_sizes, deal_blocks

if TYPE_CHECKING:
    from random import Random

    from quem.store.drawing import ProblemDraw
    from quem.store.models import TaskRow
    from quem.studyfile.blocks import PairCounts


@dataclass(frozen=True)
class Group:
    """What is shown together: the solutions of one problem, or a block of them."""

    problem: str
    solvers: tuple[str, ...]
    block: int = 1


@dataclass(frozen=True)
class JudgingPlan:
    """What every judge of a study is given."""

    groups: tuple[Group, ...]
    practice: Group | None = None
    repeat: int = 0  # how many groups or blocks are shown again at the end
    # The most solutions in one list; larger groups are dealt in blocks.
    block_size: int | None = None
    # By which problems were drawn, where machine judges rank the others.
    draw: ProblemDraw | None = None

    @property
    def parts(self) -> tuple[Group, ...]:
        """The groups, those that are dealt in blocks once for each block; all with all solvers."""
        return tuple(
            replace(group, block=block)
            for group in self.groups
            for block in range(1, len(self.sizes(group)) + 1)
        )

    @property
    def everything(self) -> tuple[Group, ...]:
        """The groups, with that for practice."""
        return (*self.groups, *([self.practice] if self.practice else []))

    @property
    def total(self) -> int:
        """How many tasks there are for each judge, without practice."""
        return len(self.parts) + self.repeat

    def sizes(self, group: Group) -> list[int]:
        """The sizes of the blocks of a group."""
        size = len(group.solvers)
        return block_sizes(size, self.block_size or max(size, 2))

    def deal(self, group: Group, met: PairCounts, rng: Random) -> list[Group]:
        """A group as one judge is to have it: whole, or in blocks."""
        if self.block_size is None or len(self.sizes(group)) == 1:
            return [group]
        blocks = deal_blocks(group.solvers, self.block_size, met, rng)
        return [Group(group.problem, block, number) for number, block in enumerate(blocks, 1)]

    def find(self, task: TaskRow) -> Group | None:
        """The group of a task, or None where the study has it no more."""
        if task.practice:
            same = self.practice and self.practice.problem == task.problem
            return self.practice if same else None
        group = next((one for one in self.groups if one.problem == task.problem), None)
        if group is None or task.solvers is None:
            return group
        solvers = tuple(solver for solver in task.solvers if solver in group.solvers)
        return Group(group.problem, solvers, task.block) if solvers else None
