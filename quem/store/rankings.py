"""The submitted rankings of a study, as rows of the rankings table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, bindparam, or_, select

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
    "Sight",
    "SubmittedRanking",
    "receipts_of",
    "shown_digests",
    "sights",
    "submitted_rankings",
]


_SUBMITTED = and_(Revision.ballot_key == Ballot.key, Revision.number == Ballot.submitted)
# Each page asks this: a statement that is made once takes half the time.
_RECEIPTS = (
    select(Ballot.public_id, Revision.link, Revision.made_at)
    .join(Revision, _SUBMITTED)
    .where(Ballot.judge_key == bindparam("judge"))
)


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
    rows = c.execute(_RECEIPTS, {"judge": judge_key})
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
    rows = c.execute(
        select(Judge.id, Ballot.problem, Ballot.block, Ballot.occasion, Revision.state)
        .join(Ballot, Ballot.judge_key == Judge.key)
        .join(Revision, _SUBMITTED)
        .where(Judge.study_id == study_id, Ballot.practice.is_(False))
        .order_by(Judge.key, Ballot.problem, Ballot.block, Ballot.occasion)
    )
    return [
        SubmittedRanking(judge, problem, block, occasion, State.stored(state))
        for judge, problem, block, occasion, state in rows
    ]


class Sight(NamedTuple):
    """What one judge was shown of one solution."""

    problem: str
    solver: str
    digest: str
    judge: str
    letter: str


def sights(c: Connection, study_id: str) -> list[Sight]:
    """Give what judges are shown now, and what they last submitted a ranking of.

    Parameters
    ----------
    c : Connection
    study_id : str

    Returns
    -------
    list of Sight
        Sorted, without practice and without what an older quem kept no digest of.
    """
    rows = c.execute(
        select(Judge.id, Ballot.problem, Layout.items)
        .join(Ballot, Ballot.judge_key == Judge.key)
        .join(Revision, _SUBMITTED, isouter=True)
        .join(Layout, Layout.ballot_key == Ballot.key)
        .where(or_(Layout.id == Ballot.layout, Layout.id == Revision.layout))
        .where(Judge.study_id == study_id, Ballot.practice.is_(False))
    )
    found = {
        Sight(problem, str(solver), digest, judge, str(letter))
        for judge, problem, items in rows
        for letter, solver, digest, _ in items
        if digest is not None
    }
    return sorted(found)


def shown_digests(c: Connection, study_id: str) -> dict[tuple[str, str], set[str]]:
    """Give the digests of what judges were shown, by problem and solver.

    Several where judges saw different contents; see `sights`.

    Parameters
    ----------
    c : Connection
    study_id : str
    """
    shown: dict[tuple[str, str], set[str]] = {}
    for sight in sights(c, study_id):
        shown.setdefault((sight.problem, sight.solver), set()).add(sight.digest)
    return shown
