"""Dealing groups to judges, and labels to solutions: at random, and then for good."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from quem.store.ballots import ballot_of, ballots_of
from quem.store.models import Ballot, Judge, now

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from quem.store.ballots import Dealt, Plan

__all__ = ["deal", "lay_out", "needs_layout"]

_shuffler = secrets.SystemRandom()


def deal(c: Connection, judge_key: int, plan: Plan) -> None:
    """Give a judge the ballots that he lacks, in random order; repeated groups come last.

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
    first = list(plan.groups)
    _shuffler.shuffle(first)
    place_of = {(b.problem, b.block): b.position for b in held if b.occasion == 1}
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
        }
        for place, (group, occasion, practice) in enumerate(wanted)
        if (group.problem, group.block, occasion) not in taken
    ]
    if rows:
        c.execute(insert(Ballot), rows)


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
