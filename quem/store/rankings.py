"""The submitted rankings of a study, as rows of the rankings table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import and_, select

from quem.store.chains import receipt_code
from quem.store.models import Ballot, Judge, Layout, Revision
from quem.store.state import State

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from sqlalchemy import Connection

__all__ = [
    "RankedCell",
    "Receipt",
    "SubmittedRanking",
    "receipts_of",
    "shown_digests",
    "submitted_rankings",
]


@dataclass(frozen=True)
class RankedCell:
    """One judge's verdict on one solution.

    Parameters
    ----------
    solver : str
    rank : int or None
        1 for the worst; None where he could not judge it.
    recognised : bool
        Whether he recognised its author.
    """

    solver: str
    rank: int | None
    recognised: bool


@dataclass(frozen=True)
class SubmittedRanking:
    """The last submitted revision of a ballot.

    Parameters
    ----------
    judge, problem : str
    block, occasion : int
    state : State
        Of solvers.
    """

    judge: str
    problem: str
    block: int
    occasion: int
    state: State

    def without(self, gone: set[str]) -> SubmittedRanking:
        """Leave solvers out, as if they had not been ranked."""
        names = {solver: solver for solver in self.state.ranks() if solver not in gone}
        return replace(self, state=self.state.fitted(names, ()))

    def cells(self) -> Iterator[RankedCell]:
        """Give every solution of the block, in a fixed order."""
        marked = set(self.state.recognised)
        for solver, rank in sorted(self.state.ranks().items()):
            yield RankedCell(solver, rank, solver in marked)


@dataclass(frozen=True)
class Receipt:
    """What shows that a ranking was submitted.

    Parameters
    ----------
    code : str
        The first ten digits of its link, which archives hold too.
    at : datetime
    """

    code: str
    at: dt.datetime


def receipts_of(c: Connection, judge_key: int) -> dict[str, Receipt]:
    """Give a judge's receipts, of the last submitted revisions, by the public ids of ballots."""
    last = and_(Revision.ballot_key == Ballot.key, Revision.number == Ballot.submitted)
    rows = c.execute(
        select(Ballot.public_id, Revision.link, Revision.made_at)
        .join(Revision, last)
        .where(Ballot.judge_key == judge_key)
    )
    return {ballot: Receipt(receipt_code(link), at) for ballot, link, at in rows}


def submitted_rankings(c: Connection, study_id: str) -> list[SubmittedRanking]:
    """Give what was submitted last of each ballot, without practice.

    Parameters
    ----------
    c : Connection
    study_id : str

    Returns
    -------
    list of SubmittedRanking
        In the order of judges, problems, blocks and occasions.
    """
    last = and_(Revision.ballot_key == Ballot.key, Revision.number == Ballot.submitted)
    rows = c.execute(
        select(Judge.id, Ballot.problem, Ballot.block, Ballot.occasion, Revision.state)
        .join(Ballot, Ballot.judge_key == Judge.key)
        .join(Revision, last)
        .where(Judge.study_id == study_id, Ballot.practice.is_(False))
        .order_by(Judge.key, Ballot.problem, Ballot.block, Ballot.occasion)
    )
    return [
        SubmittedRanking(judge, problem, block, occasion, State.stored(state))
        for judge, problem, block, occasion, state in rows
    ]


def shown_digests(c: Connection, study_id: str) -> dict[tuple[str, str], set[str]]:
    """Give what judges were shown last of each solution, without practice.

    Parameters
    ----------
    c : Connection
    study_id : str

    Returns
    -------
    dict of (str, str) to set of str
        The digests, by problem and solver; several where judges saw different contents.
    """
    holds = and_(Layout.ballot_key == Ballot.key, Layout.id == Ballot.layout)
    rows = c.execute(
        select(Ballot.problem, Layout.items)
        .join(Judge, Judge.key == Ballot.judge_key)
        .join(Layout, holds)
        .where(Judge.study_id == study_id, Ballot.practice.is_(False))
    )
    shown: dict[tuple[str, str], set[str]] = {}
    for problem, items in rows:
        for _, solver, digest, _ in items:
            if digest is not None:
                shown.setdefault((problem, solver), set()).add(digest)
    return shown
