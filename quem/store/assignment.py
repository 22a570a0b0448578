"""Dealing groups to judges, and labels to solutions: at random, and then for good."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from quem.store.ballots import Group, ballot_of, ballots_of
from quem.store.drawing import record_draw
from quem.store.layouts import Layout as Shown
from quem.store.layouts import arrange, as_stored, layout_id
from quem.store.models import Layout, PersonRow, StudyRow, TaskRow, now
from quem.studyfile.blocks import PairCounts, deal_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.orm import Session

    from quem.store.ballots import AssignedBallot, JudgingPlan
    from quem.store.drawing import ProblemDraw
    from quem.store.layouts import Content

_shuffler = secrets.SystemRandom()


def assign_ballots(c: Session, person_key: int, plan: JudgingPlan) -> None:
    """Give a judge the ballots that they lack, in random order; repeated groups come last.

    Groups that are too large for one list are dealt in blocks, which follow on each other and
    stay as they are for good.
    """
    c.execute(select(PersonRow.key).where(PersonRow.key == person_key).with_for_update())
    ballots = ballots_of(c, person_key)
    taken = {(b.problem, b.block, b.occasion) for b in ballots}
    groups = list(plan.groups)
    _shuffler.shuffle(groups)
    place_of = {(b.problem, b.block): b.position for b in ballots if b.occasion == 1}
    first = _in_blocks(c, person_key, plan, groups, ballots)
    first.sort(key=lambda group: place_of.get((group.problem, group.block), len(ballots)))
    additions = [(group, 1, False) for group in first]
    repeated = {(b.problem, b.block) for b in ballots if b.occasion > 1}
    # The groups that he sees first come again: most lies between the two.
    fresh = [group for group in first if (group.problem, group.block) not in repeated]
    additions += [(group, 2, False) for group in fresh[: max(plan.repeat - len(repeated), 0)]]
    if plan.practice:
        additions.insert(0, (plan.practice, 1, True))
    rows = [
        {
            "public_id": secrets.token_urlsafe(9),
            "person_key": person_key,
            "problem": group.problem,
            "block": group.block,
            "occasion": occasion,
            "practice": practice,
            "position": place + len(ballots),
            "solvers": None if practice or group in plan.groups else list(group.solvers),
        }
        for place, (group, occasion, practice) in enumerate(additions)
        if (group.problem, group.block, occasion) not in taken
    ]
    if rows:
        c.execute(insert(TaskRow), rows)
        if plan.draw:
            _keep_draw(c, person_key, plan.draw)


def _keep_draw(c: Session, person_key: int, draw: ProblemDraw) -> None:
    """Note the draw, unless what is ranked is thrown away when the study opens."""
    of = select(StudyRow.id, StudyRow.state).join(PersonRow, PersonRow.study_id == StudyRow.id)
    study_id, state = c.execute(of.where(PersonRow.key == person_key)).one()
    if state != "trial":
        record_draw(c, study_id, draw)


def _in_blocks(
    c: Session,
    person_key: int,
    plan: JudgingPlan,
    groups: list[Group],
    ballots: list[AssignedBallot],
) -> list[Group]:
    """The groups as a judge is to have them: as dealt already, whole, or in fresh blocks."""
    mine: dict[str, list[Group]] = {}
    for ballot in ballots:
        if ballot.occasion == 1 and not ballot.practice:
            group = plan.find(ballot)
            mine.setdefault(ballot.problem, []).extend([group] if group else [])
    parts: list[Group] = []
    met = None
    for group in groups:
        met = met or _met(c, person_key)
        if group.problem in mine:
            parts += mine[group.problem]
            parts += _more_blocks(plan, group, ballots, met)
            continue
        parts += plan.deal(group, met, _shuffler)
    return parts


def _more_blocks(
    plan: JudgingPlan, group: Group, ballots: list[AssignedBallot], met: PairCounts
) -> list[Group]:
    """Further blocks for solutions that came after a judge was dealt the problem in blocks.

    Some known solutions are in them too, so that all rankings of the problem hang together.
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


def _undealt(group: Group, ballots: list[AssignedBallot]) -> list[str]:
    """The solvers of a group that is dealt in blocks who are in none of them."""
    blocks = [b.solvers for b in ballots if b.problem == group.problem and not b.practice]
    if not blocks or None in blocks:
        return []
    dealt = {solver for block in blocks for solver in block or ()}
    return [solver for solver in group.solvers if solver not in dealt]


def is_assigned(plan: JudgingPlan, ballots: list[AssignedBallot]) -> bool:
    """Whether a judge has all ballots that the study has for them."""
    problems = {b.problem for b in ballots if not b.practice}
    return (
        (plan.practice is None or any(b.practice and plan.find(b) for b in ballots))
        and all(g.problem in problems and not _undealt(g, ballots) for g in plan.groups)
        and sum(b.occasion > 1 for b in ballots) >= plan.repeat
    )


def _met(c: Session, person_key: int) -> PairCounts:
    """How often solvers met in the blocks of all judges of the study."""
    study = select(PersonRow.study_id).where(PersonRow.key == person_key).scalar_subquery()
    blocks = c.execute(
        select(TaskRow.solvers)
        .join(PersonRow, TaskRow.person_key == PersonRow.key)
        .where(PersonRow.study_id == study, PersonRow.role == "judge", TaskRow.occasion == 1)
    ).scalars()
    met = PairCounts()
    for block in blocks:
        met.add(block or ())
    return met


def assign_labels(
    c: Session, ballot: AssignedBallot, contents: Mapping[str, Content | None]
) -> AssignedBallot:
    """Give solutions their letters, at random and then for good.

    A solution that came since gets a new letter. A submitted ranking keeps its layout where
    solutions only went.
    """
    ballot = ballot_of(c, ballot.person_key, ballot.public_id, lock=True)
    if not needs_labels(ballot, contents):
        return ballot
    mine = select(Layout.id, Layout.items).where(Layout.task_key == ballot.key)
    earlier = [Shown.stored(*row) for row in c.execute(mine.order_by(Layout.key))]
    items = arrange(earlier, ballot.layout, contents, _shuffler)
    secret = c.execute(
        select(StudyRow.secret)
        .join(PersonRow, PersonRow.study_id == StudyRow.id)
        .where(PersonRow.key == ballot.person_key)
    ).scalar_one()
    identity, at = layout_id(secret, ballot.public_id, items), now()
    if identity not in {layout.id for layout in earlier}:
        values = {"task_key": ballot.key, "id": identity, "items": as_stored(items)}
        c.execute(insert(Layout).values(made_at=at, **values))
    columns = {"layout": identity, "opened_at": ballot.opened_at or at}
    c.execute(update(TaskRow).where(TaskRow.key == ballot.key).values(columns))
    return ballot_of(c, ballot.person_key, ballot.public_id)


def needs_labels(ballot: AssignedBallot, contents: Mapping[str, Content | None]) -> bool:
    """Whether a ballot is to be given letters, or other ones."""
    if ballot.layout is None:
        return True
    items = {item.solver: item for item in ballot.layout.items}
    is_other = any(
        solver not in items or not (content is None or content.is_in(items[solver]))
        for solver, content in contents.items()
    )
    return is_other or (not ballot.is_complete and set(items) != set(contents))
