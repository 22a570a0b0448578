"""Submitted rankings in the forms that other programs read."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field, fields, replace
from io import StringIO
from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, func, or_, select

from quem.store.digests import receipt_code
from quem.store.models import Layout, PersonRow, RevisionRow, TaskRow
from quem.store.state import QUESTIONS, State

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Mapping

    from sqlalchemy.orm import Session


# Comments are for the dashboard and the archive.
_ANSWERS = tuple(field for field in QUESTIONS if field.has_cells)
_HEADER = (
    *("judge", "problem", "block", "occasion", "solver", "rank", "reason"),
    *(field.name for field in _ANSWERS),
    *("views", "receipt"),
)


def long_table(rankings: Iterable[SubmittedRanking]) -> str:
    """Write rankings as CSV, one row per solution, as ``rankings: {from: long}`` reads them."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    for ranking in rankings:
        place = (ranking.judge, ranking.problem, ranking.block, ranking.occasion)
        for cell in ranking.cells():
            reason = "absent" if cell.rank is None else ""
            answers = [field.cell(ranking.state, cell.solver) for field in _ANSWERS]
            spent = ranking.views.get(cell.solver)
            view = "" if spent is None else f"{spent:.1f}"
            writer.writerow(
                [*place, cell.solver, cell.rank, reason, *answers, view, ranking.receipt]
            )
    return text.getvalue()


_SUBMITTED = and_(RevisionRow.task_key == TaskRow.key, RevisionRow.number == TaskRow.submitted)

_MADE_ON = and_(Layout.task_key == TaskRow.key, Layout.id == RevisionRow.layout)

# Each page asks this: a statement that is made once takes half the time.
_RECEIPTS = (
    select(TaskRow.public_id, RevisionRow.number, RevisionRow.state, RevisionRow.made_at)
    .join(RevisionRow, _SUBMITTED)
    .where(TaskRow.person_key == bindparam("judge"))
)


@dataclass(frozen=True)
class RankedCell:
    """One judge's verdict on one solution."""

    solver: str
    rank: int | None  # 1 for the worst; None where the judge could not judge it
    recognized: bool  # whether the judge recognized its author


@dataclass(frozen=True)
class SubmittedRanking:
    """The last submitted revision of a ballot."""

    judge: str
    problem: str
    block: int
    occasion: int
    state: State  # of solvers
    # For how many seconds each solver's solution was in view.
    views: Mapping[str, float] = field(default_factory=dict)
    # The solvers in the order of their letters, in which the judge was given them.
    queue: tuple[str, ...] = ()
    receipt: str = ""  # see `quem.store.digests.receipt_code`
    seconds: float = 0.0  # of active time

    def without(self, gone: set[str]) -> SubmittedRanking:
        """Leave solvers out, as if they had not been ranked."""
        names = {solver: solver for solver in self.state.ranks() if solver not in gone}
        return replace(self, state=self.state.renamed(names))

    def cells(self) -> Iterator[RankedCell]:
        """Give every solution of the block, in a fixed order."""
        marked = set(self.state.recognized)
        for solver, rank in sorted(self.state.ranks().items()):
            yield RankedCell(solver, rank, solver in marked)


@dataclass(frozen=True)
class Receipt:
    """What shows that a ranking was submitted."""

    code: str  # see `quem.store.digests.receipt_code`
    at: dt.datetime


def receipts_of(c: Session, person_key: int) -> dict[str, Receipt]:
    """Give a judge's receipts, of the last submitted revisions, by the public ids of ballots."""
    rows = c.execute(_RECEIPTS, {"judge": person_key})
    return {
        ballot: Receipt(receipt_code(ballot, number, state), at)
        for ballot, number, state, at in rows
    }


def submitted_rankings(c: Session, study_id: str) -> list[SubmittedRanking]:
    """Give what was submitted last of each ballot, without practice."""
    rows = c.execute(
        select(
            *(PersonRow.id, TaskRow.problem, TaskRow.block, TaskRow.occasion),
            *(RevisionRow.state, TaskRow.views, Layout.items),
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
    """Give the digests of what judges are shown now or last submitted, by problem and solver.

    Several where judges saw different contents.
    """
    rows = c.execute(
        select(TaskRow.problem, Layout.items)
        .join(PersonRow, TaskRow.person_key == PersonRow.key)
        .join(RevisionRow, _SUBMITTED, isouter=True)
        .join(Layout, Layout.task_key == TaskRow.key)
        .where(or_(Layout.id == TaskRow.layout, Layout.id == RevisionRow.layout))
        .where(PersonRow.of(study_id, "judge"), TaskRow.practice.is_(False))
    )
    shown: dict[tuple[str, str], set[str]] = {}
    for problem, items in rows:
        for _, solver, digest, _ in items:
            shown.setdefault((problem, solver), set()).add(digest)
    return shown


def last_submitted(c: Session, study_id: str) -> dt.datetime | None:
    """Say when the last ranking of a study was submitted, without practice; None without any."""
    when: dt.datetime | None = c.scalar(
        select(func.max(RevisionRow.made_at))
        .join(TaskRow, _SUBMITTED)
        .join(PersonRow, TaskRow.person_key == PersonRow.key)
        .where(PersonRow.of(study_id, "judge"), TaskRow.practice.is_(False))
    )
    return when


@dataclass(frozen=True)
class Pair:
    """One answer; see `quem.store.state.Comparison`."""

    judge: str
    problem: str
    block: int
    occasion: int
    number: int  # counts the answers of a ranking from 1, in the order in which they were given
    new: str
    other: str
    verdict: str
    side: str
    seconds: float


def pairs_of(rankings: Iterable[SubmittedRanking]) -> Iterator[Pair]:
    """Give all answers, ranking by ranking."""
    for ranking in rankings:
        place = (ranking.judge, ranking.problem, ranking.block, ranking.occasion)
        for number, answer in enumerate(ranking.state.comparisons, 1):
            yield Pair(*place, number, **vars(answer))


def pairs_table(pairs: Iterable[Pair]) -> str:
    """Write pairs as CSV, one row per answer."""
    text = StringIO()
    names = [field.name for field in fields(Pair)]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(vars, pairs))
    return text.getvalue()
