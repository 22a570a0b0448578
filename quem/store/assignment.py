"""Permanent random assignment of tasks to judges and subjects, and of letters to solutions."""

from __future__ import annotations

import secrets
from collections import Counter
from typing import TYPE_CHECKING

from sqlalchemy import select

from quem.store.layouts import Content, arrange, known_item, layout_id
from quem.store.models import Layout, PersonRow, StudyRow, TaskRow, now
from quem.store.planned import Group, JudgingPlan, record_draw
from quem.store.work import task_of, tasks_of
from quem.studyfile.blocks import PairCounts, deal_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from random import Random

    from sqlalchemy.orm import Session


_shuffler = secrets.SystemRandom()


def assign_ballots(c: Session, person_key: int, plan: JudgingPlan) -> None:
    """Assign a judge their missing tasks in random order, repeat tasks last.

    Groups that are too large for one list are divided into blocks, which are consecutive and
    permanent.
    """
    judge = _locked_person(c, person_key)
    ballots = tasks_of(c, person_key)
    taken = {(b.problem, b.block, b.occasion) for b in ballots}
    groups = list(plan.groups)
    _shuffler.shuffle(groups)
    place_of = {(b.problem, b.block): b.position for b in ballots if b.occasion == 1}
    first = _in_blocks(c, judge.study_id, plan, groups, ballots)
    first.sort(key=lambda group: place_of.get((group.problem, group.block), len(ballots)))
    repeated = {(b.problem, b.block) for b in ballots if b.occasion > 1}
    # The first groups are repeated, to maximize the distance.
    fresh = [group for group in first if (group.problem, group.block) not in repeated]
    additions = [
        *([(plan.practice, 1)] if plan.practice else []),
        *((group, 1) for group in first),
        *((group, 2) for group in fresh[: max(plan.repeat - len(repeated), 0)]),
    ]
    new = [
        _task(
            person_key,
            group.problem,
            place,
            practice=group is plan.practice,
            block=group.block,
            occasion=occasion,
            solvers=None if group in plan.everything else list(group.solvers),
        )
        for place, (group, occasion) in enumerate(additions, len(ballots))
        if (group.problem, group.block, occasion) not in taken
    ]
    c.add_all(new)
    c.flush()
    # Test rankings are deleted when the study opens.
    life = select(StudyRow.state).where(StudyRow.id == judge.study_id)
    if new and plan.draw and c.scalar(life) != "trial":
        record_draw(c, judge.study_id, plan.draw)


def assign_tasks(
    c: Session,
    person: PersonRow,
    problems: Sequence[str],
    *,
    practice: str = "",
    order: str = "balanced",
    rng: Random,
) -> None:
    """Assign a subject their missing problems, practice first."""
    c.execute(
        select(StudyRow.id).where(StudyRow.id == person.study_id).with_for_update(key_share=True)
    )
    known = {task.problem for task in tasks_of(c, person.key)}
    lacking = [problem for problem in problems if problem not in known]
    if order == "random":
        rng.shuffle(lacking)
    elif order == "balanced" and not known and lacking:
        rows = balanced_orders(len(lacking))
        others = PersonRow.of(person.study_id, "subject"), PersonRow.withdrawn_at.is_(None)
        row = least_used(c.scalars(select(PersonRow.row).where(*others)), len(rows))
        _locked_person(c, person.key).row = row
        lacking = [lacking[number] for number in rows[row]]
    first = [practice] if practice and practice not in known else []
    c.add_all(
        _task(person.key, problem, place, practice=problem == practice)
        for place, problem in enumerate([*first, *lacking], len(known))
    )
    c.flush()


def _locked_person(c: Session, key: int) -> PersonRow:
    return c.scalars(select(PersonRow).where(PersonRow.key == key).with_for_update()).one()


def _task(
    person_key: int,
    problem: str,
    position: int,
    *,
    practice: bool,
    block: int = 1,
    occasion: int = 1,
    solvers: list[str] | None = None,
) -> TaskRow:
    return TaskRow(
        public_id=secrets.token_urlsafe(9),
        person_key=person_key,
        problem=problem,
        block=block,
        occasion=occasion,
        practice=practice,
        position=position,
        solvers=solvers,
    )


def balanced_orders(count: int) -> list[tuple[int, ...]]:
    """The rows of a Williams design.

    Over all rows, each number is equally often at each position, and follows each other number
    equally often.
    """
    # 0, 1, count - 1, 2, count - 2, ...
    first = [(step + 1) // 2 if step % 2 else -step // 2 for step in range(count)]
    rows = [tuple((number + row) % count for number in first) for row in range(count)]
    return rows + [row[::-1] for row in rows] if count % 2 and count > 1 else rows


def least_used(used: Iterable[int | None], rows: int) -> int:
    """The least used row, the first in case of ties."""
    counts = Counter(used)
    return min(range(rows), key=lambda row: (counts[row], row))


def _in_blocks(
    c: Session, study_id: str, plan: JudgingPlan, groups: list[Group], ballots: list[TaskRow]
) -> list[Group]:
    """The groups for a judge: in earlier blocks, whole, or in new blocks."""
    mine: dict[str, list[Group]] = {}
    for ballot in ballots:
        if ballot.occasion == 1 and not ballot.practice:
            group = plan.find(ballot)
            mine.setdefault(ballot.problem, []).extend([group] if group else [])
    met = _met(c, study_id)
    parts: list[Group] = []
    for group in groups:
        if group.problem in mine:
            parts += mine[group.problem]
            parts += _more_blocks(plan, group, ballots, met)
        else:
            parts += plan.deal(group, met, _shuffler)
    return parts


def _more_blocks(
    plan: JudgingPlan, group: Group, ballots: list[TaskRow], met: PairCounts
) -> list[Group]:
    """Further blocks for solutions added after the judge's blocks of the problem.

    They include some earlier solutions, so that all rankings of the problem are connected.
    """
    missing = _undealt(group, ballots)
    if not missing or plan.block_size is None:
        return []
    known = [solver for solver in group.solvers if solver not in missing]
    count = max(1, plan.block_size // 2 - len(missing))
    links = _shuffler.sample(known, min(count, len(known)))
    last = max(b.block for b in ballots if b.problem == group.problem)
    blocks = deal_blocks((*missing, *links), plan.block_size, met, _shuffler)
    return [Group(group.problem, block, last + n) for n, block in enumerate(blocks, 1)]


def _undealt(group: Group, ballots: list[TaskRow]) -> list[str]:
    """The solvers of a blocked group that are in none of its blocks."""
    blocks = [b.solvers for b in ballots if b.problem == group.problem and not b.practice]
    if not blocks or None in blocks:
        return []
    dealt = {solver for block in blocks for solver in block or ()}
    return [solver for solver in group.solvers if solver not in dealt]


def is_assigned(plan: JudgingPlan, ballots: list[TaskRow]) -> bool:
    """Whether a judge has all tasks of the study."""
    problems = {b.problem for b in ballots if not b.practice}
    in_blocks = {b.problem for b in ballots if b.solvers}
    return (
        (plan.practice is None or any(b.practice and plan.find(b) for b in ballots))
        and problems.issuperset(group.problem for group in plan.groups)
        and not any(_undealt(g, ballots) for g in plan.groups if g.problem in in_blocks)
        and sum(b.occasion > 1 for b in ballots) >= plan.repeat
    )


def _met(c: Session, study_id: str) -> PairCounts:
    """The number of times that solvers met in the blocks of all judges."""
    met = PairCounts()
    for block in c.scalars(
        select(TaskRow.solvers)
        .join(PersonRow, TaskRow.person_key == PersonRow.key)
        .where(PersonRow.of(study_id, "judge"), TaskRow.occasion == 1, TaskRow.solvers.is_not(None))
    ):
        met.add(block or ())
    return met


def assign_labels(c: Session, ballot: TaskRow, contents: Mapping[str, Content | None]) -> TaskRow:
    """Assign permanent random letters to solutions.

    A solution added later gets a new letter. A submitted ranking keeps its layout if solutions
    were only removed.
    """
    ballot = task_of(c, ballot.person_key, ballot.public_id, lock=True)
    if not needs_labels(ballot, contents):
        return ballot
    items = arrange(ballot, contents, _shuffler)
    of_judge = StudyRow.id == PersonRow.study_id, PersonRow.key == ballot.person_key
    secret = c.scalars(select(StudyRow.secret).where(*of_judge)).one()
    ballot.layout_id = layout_id(secret, ballot.public_id, items)
    ballot.opened_at = ballot.opened_at or now()
    if all(one.id != ballot.layout_id for one in ballot.layouts):
        c.add(Layout(task_key=ballot.key, id=ballot.layout_id, rows=items))
    c.flush()
    return task_of(c, ballot.person_key, ballot.public_id)


def needs_labels(ballot: TaskRow, contents: Mapping[str, Content | None]) -> bool:
    """Whether a task needs letters, or new ones."""
    if ballot.layout is None:
        return True
    items = {item.solver: item for item in ballot.layout.items}
    is_other = any(
        solver not in items
        or (
            content is not None
            and (content.is_correction or not content.is_in(items[solver]))
            and known_item(ballot, solver, content) != items[solver]
        )
        for solver, content in contents.items()
    )
    return is_other or (not ballot.is_complete and set(items) != set(contents))
