"""What one judge works on, read by one statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, select

from quem.store.ballots import LAST_REVISION, AssignedBallot
from quem.store.judges import StoredJudge
from quem.store.layouts import Layout
from quem.store.models import BallotRow, JudgeRow, RevisionRow, StudyRow
from quem.store.models import Layout as LayoutRow
from quem.store.studies import session_values, signed_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

_JUDGE = tuple(getattr(JudgeRow, name) for name in StoredJudge.__dataclass_fields__)
_BALLOT = tuple(
    getattr(BallotRow, name)
    for name in AssignedBallot.__dataclass_fields__
    if name not in ("layout", "placed", "saved_at")
)
_MINE = and_(BallotRow.judge_key == JudgeRow.key, BallotRow.public_id == bindparam("gid"))
# A row for each layout that the ballot has or had; one where there is none, or no ballot.
_DESK = (
    select(
        *_JUDGE,
        *_BALLOT,
        StudyRow.state.label("life"),
        BallotRow.layout.label("holds"),
        RevisionRow.layout.label("last_on"),
        RevisionRow.made_at.label("last_at"),
        LayoutRow.id.label("layout_id"),
        LayoutRow.items,
    )
    .join(StudyRow, StudyRow.id == JudgeRow.study_id)
    .join(BallotRow, _MINE, isouter=True)
    .join(LayoutRow, LayoutRow.ballot_key == BallotRow.key, isouter=True)
    .join(RevisionRow, LAST_REVISION, isouter=True)
    .where(signed_in(JudgeRow.session_hash), JudgeRow.study_id == bindparam("study"))
)


@dataclass(frozen=True)
class Desk:
    """What one judge works on, all seen at one moment."""

    judge: StoredJudge
    life: str  # the study's state
    ballot: AssignedBallot | None  # None where the judge has no such ballot
    layouts: Mapping[str, Layout]  # all that the ballot has or had, by id

    @property
    def letters(self) -> dict[str, str]:
        """The solver of each letter that the ballot has or had; a letter is never another's."""
        return {
            letter: solver
            for layout in self.layouts.values()
            for letter, solver in layout.solvers.items()
        }


def desk_of_session(c: Connection, study_id: str, session: str, public_id: str) -> Desk | None:
    """Find the judge whose cookie this is, and one of their ballots."""
    values = {**session_values(study_id, session), "gid": public_id}
    rows = c.execute(_DESK, values).all()
    if not rows:
        return None
    row, split = rows[0], len(_JUDGE)
    judge = StoredJudge(*row[:split])
    layouts = {one.layout_id: Layout.stored(one.layout_id, one.items) for one in rows if one.items}
    ballot = None
    if row.public_id is not None:
        columns = row[split : split + len(_BALLOT)]
        held = (layouts.get(row.holds), layouts.get(row.last_on), row.last_at)
        ballot = AssignedBallot(*(*columns, *held))
    return Desk(judge, row.life, ballot, layouts)
