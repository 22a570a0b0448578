"""Submitted rankings in the formats of other programs."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, bindparam, func, or_, select

from quem.io.rows import csv_text
from quem.store.digests import receipt_code
from quem.store.models import Layout, PersonRow, RevisionRow, TaskRow
from quem.store.state import QUESTIONS, Comparison, State

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Mapping

    from sqlalchemy.orm import Session


# Comments are for the dashboard and the archive.
_ANSWERS = tuple(field for field in QUESTIONS if field.has_cells)
_PLACE = ("judge", "problem", "block", "occasion")
_HEADER = (
    *(*_PLACE, "solver", "rank", "reason"),
    *(field.name for field in _ANSWERS),
    *("views", "receipt"),
)


def long_table(rankings: Iterable[SubmittedRanking]) -> str:
    """Rankings as CSV, one row per solution, for ``rankings: {from: long}``."""
    rows = (
        (
            *(*ranking.place, cell.solver, cell.rank, "absent" if cell.rank is None else ""),
            *(field.cell(ranking.state, cell.solver) for field in _ANSWERS),
            *(ranking.seen(cell.solver), ranking.receipt),
        )
        for ranking in rankings
        for cell in ranking.cells()
    )
    return csv_text([_HEADER, *rows])


def pairs_table(rankings: Iterable[SubmittedRanking]) -> str:
    """Judges' paired answers as CSV, those of a ranking numbered from 1."""
    header = (*_PLACE, "number", *(field.name for field in fields(Comparison)))
    rows = (
        (*ranking.place, number, *vars(answer).values())
        for ranking in rankings
        for number, answer in enumerate(ranking.state.comparisons, 1)
    )
    return csv_text([header, *rows])


_SUBMITTED = and_(RevisionRow.task_key == TaskRow.key, RevisionRow.number == TaskRow.submitted)

_MADE_ON = and_(Layout.task_key == TaskRow.key, Layout.id == RevisionRow.layout)

# Used by each page: prebuilt statements take half the time.
_RECEIPTS = (
    select(TaskRow.public_id, RevisionRow.number, RevisionRow.state, RevisionRow.made_at)
    .join(RevisionRow, _SUBMITTED)
    .where(TaskRow.person_key == bindparam("judge"))
)


class RankedCell(NamedTuple):
    """A judge's verdict on a solution."""

    solver: str
    rank: int | None  # 1 for the worst; None if the judge could not judge it
    recognized: bool  # whether the judge recognized its author


@dataclass(frozen=True)
class SubmittedRanking:
    """The last submitted revision of a ballot."""

    judge: str
    problem: str
    block: int
    occasion: int
    state: State  # in terms of solvers
    # Seconds in view by solver.
    views: Mapping[str, float] = field(default_factory=dict)
    # The solvers in the order of letters, as initially shown.
    queue: tuple[str, ...] = ()
    receipt: str = ""  # see `quem.store.digests.receipt_code`
    seconds: float = 0.0  # active time

    @property
    def place(self) -> tuple[str, str, int, int]:
        """The key of the ranking: judge, problem, block, and occasion."""
        return self.judge, self.problem, self.block, self.occasion

    def seen(self, solver: str) -> str:
        """A solution's seconds in view, as a cell; empty if never in view."""
        seconds = self.views.get(solver)
        return "" if seconds is None else f"{seconds:.1f}"

    def without(self, gone: set[str]) -> SubmittedRanking:
        """The ranking without some solvers."""
        names = {solver: solver for solver in self.state.ranks() if solver not in gone}
        return replace(self, state=self.state.renamed(names))

    def cells(self) -> Iterator[RankedCell]:
        """Every solution of the block, in a fixed order."""
        marked = set(self.state.recognized)
        for solver, rank in sorted(self.state.ranks().items()):
            yield RankedCell(solver, rank, solver in marked)


class Receipt(NamedTuple):
    """The receipt of a submitted ranking."""

    code: str  # see `quem.store.digests.receipt_code`
    at: dt.datetime


def receipts_of(c: Session, person_key: int) -> dict[str, Receipt]:
    """A judge's receipts for the last submitted revisions, by the public ids of ballots."""
    rows = c.execute(_RECEIPTS, {"judge": person_key})
    return {
        ballot: Receipt(receipt_code(ballot, number, state), at)
        for ballot, number, state, at in rows
    }


def submitted_rankings(c: Session, study_id: str) -> list[SubmittedRanking]:
    """The last submission of each ballot, without practice."""
    rows = c.execute(
        select(
            *(PersonRow.id, TaskRow.problem, TaskRow.block, TaskRow.occasion),
            *(RevisionRow.state, TaskRow.views, Layout.rows),
            *(TaskRow.public_id, RevisionRow.number, TaskRow.seconds),
        )
        .join(TaskRow, TaskRow.person_key == PersonRow.key)
        .join(RevisionRow, _SUBMITTED)
        .join(Layout, _MADE_ON, isouter=True)
        .where(PersonRow.of(study_id, "judge"), TaskRow.practice.is_(False))
        .order_by(PersonRow.key, TaskRow.problem, TaskRow.block, TaskRow.occasion)
    )
    return [
        SubmittedRanking(
            *(judge, problem, block, occasion, State.stored(state), views),
            queue=tuple(solver for _, solver, *_ in items or ()),
            receipt=receipt_code(ballot, number, state),
            seconds=seconds,
        )
        for judge, problem, block, occasion, state, views, items, ballot, number, seconds in rows
    ]


def shown_digests(c: Session, study_id: str) -> dict[tuple[str, str], set[str]]:
    """The digests of solutions that judges see now or last submitted, by problem and solver.

    Several if judges saw different contents.
    """
    rows = c.execute(
        select(TaskRow.problem, Layout.rows)
        .join(PersonRow, TaskRow.person_key == PersonRow.key)
        .join(RevisionRow, _SUBMITTED, isouter=True)
        .join(Layout, Layout.task_key == TaskRow.key)
        .where(or_(Layout.id == TaskRow.layout_id, Layout.id == RevisionRow.layout))
        .where(PersonRow.of(study_id, "judge"), TaskRow.practice.is_(False))
    )
    shown: dict[tuple[str, str], set[str]] = {}
    for problem, items in rows:
        for _, solver, digest, _ in items:
            shown.setdefault((problem, solver), set()).add(digest)
    return shown


def last_submitted(c: Session, study_id: str) -> dt.datetime | None:
    """The time of a study's last submission, without practice; None without any."""
    when: dt.datetime | None = c.scalar(
        select(func.max(RevisionRow.made_at))
        .join(TaskRow, _SUBMITTED)
        .join(PersonRow, TaskRow.person_key == PersonRow.key)
        .where(PersonRow.of(study_id, "judge"), TaskRow.practice.is_(False))
    )
    return when
