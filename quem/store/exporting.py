"""Submitted rankings in the forms that other programs read."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, bindparam, func, or_, select

from quem.store.chains import receipt_code
from quem.store.models import BallotRow, JudgeRow, Layout, RevisionRow
from quem.store.state import QUESTIONS, State

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Mapping

    from sqlalchemy import Connection

# Comments are for the dashboard and the archive.
_ANSWERS = tuple(field for field in QUESTIONS if field.has_cells)
_HEADER = (
    *("judge", "problem", "block", "occasion", "solver", "rank", "reason"),
    *(field.name for field in _ANSWERS),
    "views",
)

_LONGEST_STEM = 100


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
            writer.writerow([*place, cell.solver, cell.rank, reason, *answers, view])
    return text.getvalue()


def preflib_files(
    rankings: Iterable[SubmittedRanking], solvers: tuple[str, ...], title: str
) -> dict[str, str]:
    """Write one PrefLib file per problem: one order per judge, best first, solvers as alternatives.

    What a judge could not judge is left out of the order, and an order without any solution
    left out of the file; orders of repeated groups and of other blocks than the first are
    not written.
    """
    by_problem: dict[str, list[SubmittedRanking]] = {}
    for ranking in rankings:
        if (ranking.block, ranking.occasion) == (1, 1) and ranking.state.ranked:
            by_problem.setdefault(ranking.problem, []).append(ranking)
    names = _file_names(by_problem)
    return {
        names[problem]: _preflib(names[problem], f"{title}: {problem}", group, solvers)
        for problem, group in by_problem.items()
    }


def _preflib(
    name: str, title: str, rankings: list[SubmittedRanking], solvers: tuple[str, ...]
) -> str:
    shown = {solver for ranking in rankings for solver in ranking.state.ranks()}
    alternatives = [solver for solver in solvers if solver in shown]
    alternatives += sorted(shown.difference(alternatives))
    number = {solver: str(place) for place, solver in enumerate(alternatives, 1)}
    orders = [_order(ranking, number) for ranking in rankings]
    # PrefLib calls it "toi" where an order is not complete; the file's ending stays the same.
    incomplete = (
        any(ranking.state.cannot for ranking in rankings)
        or len({frozenset(ranking.state.ranks()) for ranking in rankings}) > 1
    )
    header = {
        "FILE NAME": name,
        "TITLE": title,
        "DESCRIPTION": f"orders of {', '.join(ranking.judge for ranking in rankings)}",
        "DATA TYPE": "toi" if incomplete else "toc",
        "MODIFICATION TYPE": "original",
        "NUMBER ALTERNATIVES": len(alternatives),
        "NUMBER VOTERS": len(orders),
        "NUMBER UNIQUE ORDERS": len(set(orders)),
        **{f"ALTERNATIVE NAME {place}": solver for solver, place in number.items()},
    }
    lines = [f"# {key}: {value}" for key, value in header.items()]
    return "\n".join([*lines, *(f"1: {order}" for order in orders)]) + "\n"


def _order(ranking: SubmittedRanking, number: Mapping[str, str]) -> str:
    """Write a weak order, best first: ``3,{1,2}``."""
    groups = [sorted((number[solver] for solver in g), key=int) for g in ranking.state.ranked]
    return ",".join(g[0] if len(g) == 1 else f"{{{','.join(g)}}}" for g in groups)


def _file_names(problems: Iterable[str]) -> dict[str, str]:
    """Name a file for each problem, on any system, also where case does not count."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for problem in problems:
        stem = re.sub(r"[^\w.-]+", "-", problem, flags=re.ASCII).strip(".-")[:_LONGEST_STEM]
        stem = stem or "problem"
        number, name = 1, stem
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.casefold())
        names[problem] = f"{name}.toc"
    return names


_SUBMITTED = and_(
    RevisionRow.ballot_key == BallotRow.key, RevisionRow.number == BallotRow.submitted
)

_MADE_ON = and_(Layout.ballot_key == BallotRow.key, Layout.id == RevisionRow.layout)

# Each page asks this: a statement that is made once takes half the time.
_RECEIPTS = (
    select(BallotRow.public_id, RevisionRow.link, RevisionRow.made_at)
    .join(RevisionRow, _SUBMITTED)
    .where(BallotRow.judge_key == bindparam("judge"))
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

    code: str  # the first ten digits of its link, which archives hold too
    at: dt.datetime


def receipts_of(c: Connection, judge_key: int) -> dict[str, Receipt]:
    """Give a judge's receipts, of the last submitted revisions, by the public ids of ballots."""
    rows = c.execute(_RECEIPTS, {"judge": judge_key})
    return {ballot: Receipt(receipt_code(link), at) for ballot, link, at in rows}


def submitted_rankings(c: Connection, study_id: str) -> list[SubmittedRanking]:
    """Give what was submitted last of each ballot, without practice."""
    rows = c.execute(
        select(
            *(JudgeRow.id, BallotRow.problem, BallotRow.block, BallotRow.occasion),
            *(RevisionRow.state, BallotRow.views, Layout.items),
        )
        .join(BallotRow, BallotRow.judge_key == JudgeRow.key)
        .join(RevisionRow, _SUBMITTED)
        .join(Layout, _MADE_ON, isouter=True)
        .where(JudgeRow.study_id == study_id, BallotRow.practice.is_(False))
        .order_by(JudgeRow.key, BallotRow.problem, BallotRow.block, BallotRow.occasion)
    )
    return [
        SubmittedRanking(
            *(judge, problem, block, occasion, State.stored(state), views),
            queue=tuple(solver for _, solver, *_ in items or ()),
        )
        for judge, problem, block, occasion, state, views, items in rows
    ]


class Sight(NamedTuple):
    """What one judge was shown of one solution."""

    problem: str
    solver: str
    digest: str
    judge: str
    letter: str


def sights(c: Connection, study_id: str) -> list[Sight]:
    """Give what judges are shown now, and what they last submitted a ranking of."""
    rows = c.execute(
        select(JudgeRow.id, BallotRow.problem, Layout.items)
        .join(BallotRow, BallotRow.judge_key == JudgeRow.key)
        .join(RevisionRow, _SUBMITTED, isouter=True)
        .join(Layout, Layout.ballot_key == BallotRow.key)
        .where(or_(Layout.id == BallotRow.layout, Layout.id == RevisionRow.layout))
        .where(JudgeRow.study_id == study_id, BallotRow.practice.is_(False))
    )
    unique = {
        Sight(problem, solver, digest, judge, letter)
        for judge, problem, items in rows
        for letter, solver, digest, _ in items
    }
    return sorted(unique)


def shown_digests(c: Connection, study_id: str) -> dict[tuple[str, str], set[str]]:
    """Give the digests of what judges were shown, by problem and solver.

    Several where judges saw different contents; see `sights`.
    """
    shown: dict[tuple[str, str], set[str]] = {}
    for sight in sights(c, study_id):
        shown.setdefault((sight.problem, sight.solver), set()).add(sight.digest)
    return shown


def last_submitted(c: Connection, study_id: str) -> dt.datetime | None:
    """Say when the last ranking of a study was submitted, without practice; None without any."""
    when: dt.datetime | None = c.scalar(
        select(func.max(RevisionRow.made_at))
        .join(BallotRow, _SUBMITTED)
        .join(JudgeRow, BallotRow.judge_key == JudgeRow.key)
        .where(JudgeRow.study_id == study_id, BallotRow.practice.is_(False))
    )
    return when
