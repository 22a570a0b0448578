"""Judges' rankings, and saving them: nothing is lost or overwritten unseen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, bindparam, insert, select, update
from sqlalchemy.orm import aliased

from quem.store.digests import receipt_code, revision_id
from quem.store.layouts import Layout
from quem.store.models import Layout as LayoutRow
from quem.store.models import PersonRow, RevisionRow, StudyRow, TaskRow, now
from quem.store.state import State
from quem.studyfile.blocks import block_sizes, deal_blocks

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Mapping, Sequence
    from random import Random

    from sqlalchemy import Select
    from sqlalchemy.orm import Session

    from quem.store.drawing import ProblemDraw
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

    def sizes(self, group: Group) -> list[int]:
        """Give the sizes of the blocks of a group."""
        size = len(group.solvers)
        return block_sizes(size, self.block_size or max(size, 2))

    def deal(self, group: Group, met: PairCounts, rng: Random) -> list[Group]:
        """Give a group as one judge is to have it: whole, or in blocks."""
        if self.block_size is None or len(self.sizes(group)) == 1:
            return [group]
        blocks = deal_blocks(group.solvers, self.block_size, met, rng)
        return [Group(group.problem, block, number) for number, block in enumerate(blocks, 1)]

    def find(self, ballot: AssignedBallot) -> Group | None:
        """Give the group of a ballot, or None where the study has it no more."""
        if ballot.practice:
            same = self.practice and self.practice.problem == ballot.problem
            return self.practice if same else None
        for group in self.groups:
            if group.problem == ballot.problem:
                solvers = group.solvers
                if ballot.solvers is not None:
                    solvers = tuple(solver for solver in ballot.solvers if solver in solvers)
                return Group(group.problem, solvers, ballot.block) if solvers else None
        return None


@dataclass(frozen=True)
class AssignedBallot:
    """A ballot; see `quem.store.models.TaskRow`."""

    key: int
    public_id: str
    person_key: int
    problem: str
    block: int
    occasion: int
    practice: bool
    position: int
    solvers: list[str] | None
    head: int
    submitted: int | None
    seconds: float
    views: Mapping[str, float]  # for how many seconds each solver's solution was in view
    opened_at: dt.datetime | None
    layout: Layout | None  # the one that holds now; None until it is shown
    placed: Layout | None  # the one that the last revision was made on; None where nothing is saved
    saved_at: dt.datetime | None  # when the last revision was made

    @property
    def revision(self) -> str:
        """What a page sends back as the revision that a change was made from."""
        return revision_id(self.head, self.saved_at)

    @property
    def is_submitted(self) -> bool:
        """Whether its last revision is a submitted one."""
        return self.submitted is not None and self.submitted == self.head

    @property
    def to_place(self) -> list[str]:
        """The letters of solutions that came after the last revision."""
        if self.layout is None or self.placed is None:
            return []
        return [letter for letter in self.layout.solvers if letter not in self.placed.solvers]

    @property
    def is_complete(self) -> bool:
        """Whether it is submitted and nothing came since that is to be placed."""
        return self.is_submitted and not self.to_place


_COLUMNS = tuple(
    getattr(TaskRow, name)
    for name in AssignedBallot.__dataclass_fields__
    if name not in ("layout", "placed", "saved_at")
)
LAST_REVISION = and_(RevisionRow.task_key == TaskRow.key, RevisionRow.number == TaskRow.head)
_HOLDS = and_(LayoutRow.task_key == TaskRow.key, LayoutRow.id == TaskRow.layout)
# Each page asks these: a statement that is made once takes half the time.
_ALL = (
    select(*_COLUMNS, LayoutRow.id, LayoutRow.items, RevisionRow.layout, RevisionRow.made_at)
    .join(LayoutRow, _HOLDS, isouter=True)
    .join(RevisionRow, LAST_REVISION, isouter=True)
)
_OF_JUDGE = _ALL.where(TaskRow.person_key == bindparam("judge")).order_by(
    TaskRow.position, TaskRow.key
)
_ONE = _ALL.where(TaskRow.public_id == bindparam("gid"), TaskRow.person_key == bindparam("judge"))
_LAYOUT = select(LayoutRow.items).where(
    LayoutRow.task_key == bindparam("ballot"), LayoutRow.id == bindparam("layout")
)
_STATE = select(RevisionRow.state).where(
    RevisionRow.task_key == bindparam("ballot"), RevisionRow.number == bindparam("number")
)
_LOCK = (
    select(TaskRow.key)
    .where(TaskRow.public_id == bindparam("gid"), TaskRow.person_key == bindparam("judge"))
    .with_for_update()
)
_LOCK_STUDY = (
    select(StudyRow.state)
    .join(PersonRow, PersonRow.study_id == StudyRow.id)
    .where(PersonRow.key == bindparam("judge"))
    .with_for_update(read=True, of=StudyRow)
)
# Notes of visits, which change nothing that is a key, need not wait.
_LOCK_JUDGE = (
    select(PersonRow.erased_at)
    .where(PersonRow.key == bindparam("judge"))
    .with_for_update(read=True, key_share=True)
)
_TIMES = (
    select(TaskRow.seconds, TaskRow.views, TaskRow.opened_at)
    .where(TaskRow.key == bindparam("ballot"))
    .with_for_update()
)
_DONE = aliased(RevisionRow)
# The ballot, and what the same change saved before.
_SAVING = _ONE.add_columns(_DONE.number, _DONE.kind, _DONE.made_at, _DONE.state).join(
    _DONE,
    and_(
        _DONE.task_key == TaskRow.key,
        _DONE.client == bindparam("client"),
        _DONE.change == bindparam("change"),
    ),
    isouter=True,
)
_APPEND = insert(RevisionRow)


@dataclass(frozen=True)
class Change:
    """A state that a judge's page sends."""

    base: int | str  # the revision that it was made from: its number, or its id as a page has it
    client: str  # the tab
    number: int  # counts up in the tab; with `client` it distinguishes a retry from a new save
    layout: str  # the id of the layout that the page shows
    state: State = field(default_factory=State)  # of solvers
    kind: str = "save"


@dataclass(frozen=True)
class Saved:
    """An acknowledged revision: it is on the disk."""

    revision: int
    submitted: bool
    at: dt.datetime | None  # None where nothing was saved yet
    receipt: str = ""  # what a judge keeps; empty where nothing was submitted


class NotAssignedError(Exception):
    """The judge has no such ballot."""


class ClosedError(Exception):
    """The study is closed."""


class PausedError(Exception):
    """The study is paused."""


class SubmittedError(Exception):
    """The ranking is submitted, and has to be reopened before it changes."""


class LayoutError(Exception):
    """The page shows another layout than the ballot has now."""


class StaleError(Exception):
    """The ranking has a newer revision than the one that the change was made from."""

    def __init__(self, ballot: AssignedBallot, state: State) -> None:
        self.revision, self.id, self.state = ballot.head, ballot.revision, state
        self.submitted = ballot.is_complete
        super().__init__(f"revision {ballot.head} is newer")


def ballots_of(c: Session, person_key: int) -> list[AssignedBallot]:
    """Give a judge's ballots, in their order."""
    rows = c.execute(_OF_JUDGE, {"judge": person_key}).all()
    return [_dealt(c, row) for row in rows]


def ballots_of_judges(c: Session, judges: Collection[int]) -> list[AssignedBallot]:
    """Give the ballots of some judges, each judge's in their order, without layouts."""
    order = TaskRow.person_key, TaskRow.position, TaskRow.key
    rows = c.execute(select(*_COLUMNS).where(TaskRow.person_key.in_(judges)).order_by(*order))
    return [AssignedBallot(*[*row, None, None, None]) for row in rows]


def opened_ballots() -> Select[Any]:
    """Make a statement that gives what `opened_ballot` takes of ballots that were shown."""
    on = aliased(LayoutRow)
    other = and_(on.task_key == TaskRow.key, on.id == RevisionRow.layout, on.id != LayoutRow.id)
    columns = (
        *_COLUMNS,
        LayoutRow.id,
        LayoutRow.items,
        RevisionRow.layout,
        RevisionRow.made_at,
        on.items,
    )
    joined = select(*columns).join(LayoutRow, _HOLDS).join(RevisionRow, LAST_REVISION, isouter=True)
    return joined.join(on, other, isouter=True)


def opened_ballot(row: Sequence[Any]) -> AssignedBallot:
    """Give a ballot that was shown, of a row of `opened_ballots`."""
    *columns, identity, items, on, at, before = row
    layout = Layout.stored(identity, items)
    placed = layout if on == identity else Layout.stored(on, before) if before else None
    return AssignedBallot(*[*columns, layout, placed, at])


def ballot_of(c: Session, person_key: int, public_id: str, *, lock: bool = False) -> AssignedBallot:
    """Find one of a judge's ballots."""
    values = {"gid": public_id, "judge": person_key}
    if lock:
        # Not in one statement: PostgreSQL locks no rows of an outer join.
        c.execute(_LOCK, values)
    row = c.execute(_ONE, values).one_or_none()
    if row is None:
        raise NotAssignedError(public_id)
    return _dealt(c, row)


def _dealt(c: Session, row: Any) -> AssignedBallot:  # noqa: ANN401  a row of `_ALL`
    *columns, identity, items, on, at = row
    layout = Layout.stored(identity, items) if identity else None
    key = columns[0]
    placed = layout if on == identity else layout_of(c, key, on) if on else None
    return AssignedBallot(*[*columns, layout, placed, at])


def layout_of(c: Session, task_key: int, identity: str) -> Layout | None:
    """Give a layout that a ballot has or had."""
    values = {"ballot": task_key, "layout": identity}
    items = c.execute(_LAYOUT, values).scalar_one_or_none()
    return None if items is None else Layout.stored(identity, items)


def current_state(c: Session, ballot: AssignedBallot) -> State:
    """Give the last revision's state, of solvers, as far as it fits the layout that holds now.

    Solutions that are no longer there are left out of it, and new ones are in the tray; before
    the first revision all are.
    """
    if ballot.layout is None:
        return State()
    if ballot.head == 0:
        return State(tray=tuple(ballot.layout.letters))
    last = {"ballot": ballot.key, "number": ballot.head}
    state = State.stored(c.execute(_STATE, last).scalar_one())
    if ballot.placed is None or ballot.placed == ballot.layout:
        return state
    still = ballot.placed.shares(ballot.layout).values()
    new = (ballot.layout.solvers[letter] for letter in ballot.to_place)
    return state.renamed({solver: solver for solver in still}, new)


def save(
    c: Session,
    person_key: int,
    public_id: str,
    change: Change,
    seconds: float = 0.0,
    views: Mapping[str, float] | None = None,
) -> Saved:
    """Append a revision, and add the working time that led to it."""
    life = _lock_session(c, person_key)
    values = {"gid": public_id, "judge": person_key}
    c.execute(_LOCK, values)
    row = c.execute(_SAVING, values | {"client": change.client, "change": change.number}).first()
    if row is None:
        raise NotAssignedError(public_id)
    *columns, number, kind, at, state = row
    if number:
        receipt = receipt_code(public_id, number, state) if kind == "submit" else ""
        return Saved(number, kind == "submit", at, receipt)
    ballot = _dealt(c, columns)
    if life == "closed":
        raise ClosedError
    if life == "paused":
        raise PausedError
    if ballot.layout is None or change.layout != ballot.layout.id:
        raise LayoutError
    if change.base not in (ballot.head, ballot.revision):
        raise StaleError(ballot, current_state(c, ballot))
    if change.kind == "reopen":
        if not ballot.is_complete:
            return Saved(ballot.head, submitted=False, at=ballot.saved_at)
        change = replace(change, state=current_state(c, ballot))
    elif ballot.is_complete:
        raise SubmittedError
    revision = _revision_row(ballot, change)
    c.execute(_APPEND, revision)
    number, is_submit = revision["number"], change.kind == "submit"
    new = {"head": number} | ({"submitted": number} if is_submit else {})
    new |= _total_times(ballot.seconds, ballot.views, ballot.opened_at, seconds, views or {})
    c.execute(update(TaskRow).where(TaskRow.key == ballot.key).values(new))
    receipt = receipt_code(public_id, number, revision["state"]) if is_submit else ""
    return Saved(number, is_submit, revision["made_at"], receipt)


def _revision_row(ballot: AssignedBallot, change: Change) -> dict[str, Any]:
    """Give the row of a ballot's next revision."""
    return {
        "task_key": ballot.key,
        "number": ballot.head + 1,
        "base": ballot.head,
        "kind": change.kind,
        "layout": change.layout,
        "state": change.state.to_json(),
        "client": change.client,
        "change": change.number,
        "made_at": now(),
    }


def _lock_session(c: Session, person_key: int) -> str:
    """Give the study's state.

    Closing the study and erasing the judge wait for this transaction. Everybody locks in the
    order study, judge, ballot, so that nobody waits in a circle.
    """
    life: str = c.execute(_LOCK_STUDY, {"judge": person_key}).scalar_one()
    if c.execute(_LOCK_JUDGE, {"judge": person_key}).scalar_one():
        # What is saved now would bring back the words of a judge who was just erased.
        raise NotAssignedError
    return life


def add_seconds(
    c: Session, ballot: AssignedBallot, seconds: float, views: Mapping[str, float] | None = None
) -> None:
    """Add working time, of which there cannot be more than time since the group was opened."""
    # Two pages may add at the same time: what they read before is not what is there now.
    row = c.execute(_TIMES, {"ballot": ballot.key}).first()
    if row is not None:
        values = _total_times(row.seconds, row.views, row.opened_at, seconds, views or {})
        c.execute(update(TaskRow).where(TaskRow.key == ballot.key).values(values))


def _total_times(
    before: float,
    views: Mapping[str, float],
    opened_at: dt.datetime | None,
    seconds: float,
    more: Mapping[str, float],
) -> dict[str, Any]:
    """Give working time in all, as columns of a ballot; as it was where it was never opened."""
    if opened_at is None:
        return {"seconds": before, "views": dict(views)}
    most: float = (now() - opened_at).total_seconds()

    def total(before: float, spent: float) -> float:
        return max(before, min(before + max(spent, 0.0), most))

    viewed = {name: total(views.get(name, 0.0), spent) for name, spent in more.items() if spent > 0}
    return {"seconds": total(before, seconds), "views": {**views, **viewed}}
