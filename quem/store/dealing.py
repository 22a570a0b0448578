"""Dealing groups to judges, and labels to solutions: at random, and then for good."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from quem.store.ballots import ballot_of, ballots_of
from quem.store.models import Ballot, Judge, now
from quem.study.blocks import Met

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from quem.store.ballots import Dealt, Group, Plan

__all__ = ["deal", "lay_out", "needs_layout"]

_shuffler = secrets.SystemRandom()


def deal(c: Connection, judge_key: int, plan: Plan) -> None:
    """Give a judge the ballots that he lacks, in random order; repeated groups come last.

    Groups that are too large for one list are dealt in blocks, which follow on each other and
    stay as they are for good.

    Parameters
    ----------
    c : Connection
        Of a writing transaction.
    judge_key : int
    plan : Plan
    """
    c.execute(select(Judge.key).where(Judge.key == judge_key).with_for_update())
    held = ballots_of(c, judge_key)
    taken = {(b.problem, b.block, b.occasion) for b in held}
    groups = list(plan.groups)
    _shuffler.shuffle(groups)
    place_of = {(b.problem, b.block): b.position for b in held if b.occasion == 1}
    first = _in_blocks(c, judge_key, plan, groups, held)
    first.sort(key=lambda group: place_of.get((group.problem, group.block), len(held)))
    wanted = [(group, 1, False) for group in first]
    repeated = {(b.problem, b.block) for b in held if b.occasion > 1}
    # The groups that he sees first come again: most lies between the two.
    fresh = [group for group in first if (group.problem, group.block) not in repeated]
    wanted += [(group, 2, False) for group in fresh[: max(plan.repeat - len(repeated), 0)]]
    if plan.practice:
        wanted.insert(0, (plan.practice, 1, True))
    rows = [
        {
            "public_id": secrets.token_urlsafe(9),
            "judge_key": judge_key,
            "problem": group.problem,
            "block": group.block,
            "occasion": occasion,
            "practice": practice,
            "position": place + len(held),
            "solvers": None if practice or group in plan.groups else list(group.solvers),
        }
        for place, (group, occasion, practice) in enumerate(wanted)
        if (group.problem, group.block, occasion) not in taken
    ]
    if rows:
        c.execute(insert(Ballot), rows)


def _in_blocks(
    c: Connection, judge_key: int, plan: Plan, groups: list[Group], held: list[Dealt]
) -> list[Group]:
    """The groups as a judge is to have them: as dealt already, whole, or in fresh blocks."""
    mine: dict[str, list[Group]] = {}
    for ballot in held:
        if ballot.occasion == 1 and not ballot.practice:
            group = plan.find(ballot)
            mine.setdefault(ballot.problem, []).extend([group] if group else [])
    parts: list[Group] = []
    met = None
    for group in groups:
        if group.problem in mine:
            parts += mine[group.problem]
            continue
        met = met or _met(c, judge_key)
        parts += plan.deal(group, met, _shuffler)
    return parts


def _met(c: Connection, judge_key: int) -> Met:
    """How often solvers met in the blocks of all judges of the study."""
    study = select(Judge.study_id).where(Judge.key == judge_key).scalar_subquery()
    blocks = c.execute(
        select(Ballot.solvers)
        .join(Judge, Ballot.judge_key == Judge.key)
        .where(Judge.study_id == study, Ballot.occasion == 1)
    ).scalars()
    met = Met()
    for block in blocks:
        met.add(block or ())
    return met


def lay_out(c: Connection, ballot: Dealt, solvers: tuple[str, ...]) -> list[str]:
    """Give solutions their labels: a random order, fixed when the ballot is first shown.

    As long as nothing is saved, solutions that came or went since are dealt anew.

    Parameters
    ----------
    c : Connection
        Of a writing transaction.
    ballot : Dealt
    solvers : tuple of str

    Returns
    -------
    list of str
        Solvers in the order of their labels.
    """
    current = ballot_of(c, ballot.judge_key, ballot.public_id, lock=True)
    if current.layout is not None and not needs_layout(current, solvers):
        return current.layout
    layout = list(solvers)
    _shuffler.shuffle(layout)
    c.execute(update(Ballot).where(Ballot.key == ballot.key).values(layout=layout, opened_at=now()))
    return layout


def needs_layout(ballot: Dealt, solvers: tuple[str, ...]) -> bool:
    """Whether a ballot is to be dealt its labels, or other ones."""
    if ballot.layout is None:
        return True
    return ballot.head == 0 and set(ballot.layout) != set(solvers)
