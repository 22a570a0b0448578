"""Judges' rankings, and saving them: nothing is lost or overwritten unseen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, insert, select, update

from quem.store.models import Ballot, Judge, Revision, Study, now
from quem.store.state import State
from quem.study.blocks import block_sizes, deal_blocks

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping
    from random import Random

    from sqlalchemy import Connection

    from quem.study.blocks import Met

__all__ = [
    "Change",
    "ClosedError",
    "Dealt",
    "Group",
    "NotDealtError",
    "Plan",
    "Saved",
    "StaleError",
    "SubmittedError",
    "add_seconds",
    "ballot_of",
    "ballots_of",
    "current_state",
    "save",
]


@dataclass(frozen=True)
class Group:
    """What is shown together: the solutions of one problem, or a block of them."""

    problem: str
    solvers: tuple[str, ...]
    block: int = 1


@dataclass(frozen=True)
class Plan:
    """What every judge of a study is given.

    Parameters
    ----------
    groups : tuple of Group
    practice : Group or None
    repeat : int
        How many groups or blocks are shown again at the end.
    block_size : int or None
        The most solutions in one list; larger groups are dealt in blocks.
    """

    groups: tuple[Group, ...]
    practice: Group | None = None
    repeat: int = 0
    block_size: int | None = None

    @property
    def parts(self) -> tuple[Group, ...]:
        """The groups, those that are dealt in blocks once for each block; all with all solvers."""
        return tuple(
            replace(group, block=block)
            for group in self.groups
            for block in range(1, len(self.sizes(group)) + 1)
        )

    def sizes(self, group: Group) -> list[int]:
        """Give the sizes of the blocks of a group."""
        size = len(group.solvers)
        return block_sizes(size, self.block_size or max(size, 2))

    def deal(self, group: Group, met: Met, rng: Random) -> list[Group]:
        """Give a group as one judge is to have it: whole, or in blocks.

        Parameters
        ----------
        group : Group
        met : Met
            Who met in the blocks so far, to which those of this group are added.
        rng : random.Random
        """
        if self.block_size is None or len(self.sizes(group)) == 1:
            return [group]
        blocks = deal_blocks(group.solvers, self.block_size, met, rng)
        return [Group(group.problem, block, number) for number, block in enumerate(blocks, 1)]

    def find(self, ballot: Dealt) -> Group | None:
        """Give the group of a ballot, or None where the study has it no more."""
        if ballot.practice:
            same = self.practice and self.practice.problem == ballot.problem
            return self.practice if same else None
        for group in self.groups:
            if group.problem == ballot.problem:
                held = group.solvers
                if ballot.solvers is not None:
                    held = tuple(solver for solver in ballot.solvers if solver in held)
                return Group(group.problem, held, ballot.block) if held else None
        return None


@dataclass(frozen=True)
class Dealt:
    """A ballot; see `quem.store.models.Ballot`."""

    key: int
    public_id: str
    judge_key: int
    problem: str
    block: int
    occasion: int
    practice: bool
    position: int
    solvers: list[str] | None
    layout: list[str] | None
    head: int
    submitted: int | None
    seconds: float
    opened_at: dt.datetime | None

    @property
    def is_submitted(self) -> bool:
        """Whether its last revision is a submitted one."""
        return self.submitted is not None and self.submitted == self.head


_COLUMNS = tuple(getattr(Ballot, name) for name in Dealt.__dataclass_fields__)
# Each page asks these: a statement that is made once takes half the time.
_OF_JUDGE = (
    select(*_COLUMNS)
    .where(Ballot.judge_key == bindparam("judge"))
    .order_by(Ballot.position, Ballot.key)
)
_ONE = select(*_COLUMNS).where(
    Ballot.public_id == bindparam("gid"), Ballot.judge_key == bindparam("judge")
)
_ONE_LOCKED = _ONE.with_for_update()


@dataclass(frozen=True)
class Change:
    """A state that a judge's page sends.

    Parameters
    ----------
    base : int
        The revision that it was made from.
    client : str
        The tab.
    number : int
        Counts up in the tab; with `client` it tells a retry from a new save.
    state : State
        Of solvers.
    kind : {"save", "submit", "reopen"}
    """

    base: int
    client: str
    number: int
    state: State = field(default_factory=State)
    kind: str = "save"


@dataclass(frozen=True)
class Saved:
    """An acknowledged revision: it is on the disk."""

    revision: int
    submitted: bool
    at: dt.datetime


class NotDealtError(Exception):
    """The judge has no such ballot."""


class ClosedError(Exception):
    """The study is closed."""


class SubmittedError(Exception):
    """The ranking is submitted, and has to be reopened before it changes."""


class StaleError(Exception):
    """The ranking has a newer revision than the one that the change was made from.

    Parameters
    ----------
    revision : int
    submitted : bool
    state : State
        The newer one, of solvers.
    """

    def __init__(self, revision: int, state: State, *, submitted: bool) -> None:
        self.revision, self.state, self.submitted = revision, state, submitted
        super().__init__(f"revision {revision} is newer")


def ballots_of(c: Connection, judge_key: int) -> list[Dealt]:
    """Give a judge's ballots, in his order."""
    return [Dealt(*row) for row in c.execute(_OF_JUDGE, {"judge": judge_key})]


def ballot_of(c: Connection, judge_key: int, public_id: str, *, lock: bool = False) -> Dealt:
    """Find one of a judge's ballots.

    Raises
    ------
    NotDealtError
        There is none, or it is another judge's.
    """
    values = {"gid": public_id, "judge": judge_key}
    row = c.execute(_ONE_LOCKED if lock else _ONE, values).one_or_none()
    if row is None:
        raise NotDealtError(public_id)
    return Dealt(*row)


def current_state(c: Connection, ballot: Dealt) -> State:
    """Give the last revision's state, of solvers; before the first all are in the tray."""
    if ballot.head == 0:
        return State(tray=tuple(ballot.layout or ()))
    last = Revision.ballot_key == ballot.key, Revision.number == ballot.head
    return State.stored(c.execute(select(Revision.state).where(*last)).scalar_one())


def save(c: Connection, judge_key: int, public_id: str, change: Change) -> Saved:
    """Append a revision.

    Parameters
    ----------
    c : Connection
        Of a writing transaction.
    judge_key : int
    public_id : str
        Of a ballot that was shown.
    change : Change
        Its state has been checked against the ballot's layout.

    Raises
    ------
    NotDealtError, ClosedError, SubmittedError, StaleError
    """
    life = _lock_session(c, judge_key)
    ballot = ballot_of(c, judge_key, public_id, lock=True)
    retried = (
        Revision.ballot_key == ballot.key,
        Revision.client == change.client,
        Revision.change == change.number,
    )
    done = c.execute(
        select(Revision.number, Revision.kind, Revision.made_at).where(*retried)
    ).first()
    if done:
        return Saved(done.number, done.kind == "submit", done.made_at)
    if life == "closed":
        raise ClosedError
    if change.base != ballot.head:
        state = current_state(c, ballot)
        raise StaleError(ballot.head, state, submitted=ballot.is_submitted)
    if change.kind == "reopen":
        if not ballot.is_submitted:
            return Saved(ballot.head, submitted=False, at=now())
        change = replace(change, state=current_state(c, ballot))
    elif ballot.is_submitted:
        raise SubmittedError
    number, at = ballot.head + 1, now()
    c.execute(
        insert(Revision).values(
            ballot_key=ballot.key,
            number=number,
            base=change.base,
            kind=change.kind,
            state=change.state.to_json(),
            client=change.client,
            change=change.number,
            made_at=at,
        )
    )
    values: Mapping[str, int] = {"head": number}
    if change.kind == "submit":
        values = {"head": number, "submitted": number}
    c.execute(update(Ballot).where(Ballot.key == ballot.key).values(values))
    return Saved(number, change.kind == "submit", at)


def _lock_session(c: Connection, judge_key: int) -> str:
    """Give the study's state; closing it and forgetting the judge wait for this transaction.

    Everybody locks in the order study, judge, ballot, so that nobody waits in a circle.
    """
    life: str = c.execute(
        select(Study.state)
        .join(Judge, Judge.study_id == Study.id)
        .where(Judge.key == judge_key)
        .with_for_update(read=True, of=Study)
    ).scalar_one()
    # Notes of visits, which change nothing that is a key, need not wait.
    mine = select(Judge.forgotten_at).where(Judge.key == judge_key)
    if c.execute(mine.with_for_update(read=True, key_share=True)).scalar_one():
        # What is saved now would bring back the words of a judge who was just forgotten.
        raise NotDealtError
    return life


def add_seconds(c: Connection, ballot: Dealt, seconds: float) -> None:
    """Add working time, of which there cannot be more than time since the group was opened.

    Parameters
    ----------
    c : Connection
        Of a writing transaction.
    ballot : Dealt
    seconds : float
    """
    if ballot.opened_at is None or not seconds > 0:
        return
    most = (now() - ballot.opened_at).total_seconds()
    total = min(ballot.seconds + seconds, most)
    if total > ballot.seconds:
        c.execute(update(Ballot).where(Ballot.key == ballot.key).values(seconds=total))
