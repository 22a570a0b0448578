"""What one judge works on, read by one statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, select

from quem.store.ballots import LAST_REVISION, AssignedBallot
from quem.store.layouts import Layout
from quem.store.models import Layout as LayoutRow
from quem.store.models import PersonRow, RevisionRow, StudyRow, TaskRow
from quem.store.people import SIGNED_IN, as_person, session_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.orm import Session

_JUDGE = tuple(PersonRow.__table__.c)
_BALLOT = tuple(
    getattr(TaskRow, name)
    for name in AssignedBallot.__dataclass_fields__
    if name not in ("layout", "placed", "saved_at")
)
_MINE = and_(TaskRow.person_key == PersonRow.key, TaskRow.public_id == bindparam("gid"))
# A row for each layout that the ballot has or had; one where there is none, or no ballot.
_DESK = (
    select(
        *_JUDGE,
        *_BALLOT,
        StudyRow.state.label("life"),
        TaskRow.layout.label("holds"),
        RevisionRow.layout.label("last_on"),
        RevisionRow.made_at.label("last_at"),
        LayoutRow.id.label("layout_id"),
        LayoutRow.items,
    )
    .join(StudyRow, StudyRow.id == PersonRow.study_id)
    .join(TaskRow, _MINE, isouter=True)
    .join(LayoutRow, LayoutRow.task_key == TaskRow.key, isouter=True)
    .join(RevisionRow, LAST_REVISION, isouter=True)
    .where(SIGNED_IN)
)


@dataclass(frozen=True)
class Desk:
    """What one judge works on, all seen at one moment."""

    judge: PersonRow
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


def desk_of_session(c: Session, study_id: str, session: str, public_id: str) -> Desk | None:
    """Find the judge whose cookie this is, and one of their ballots."""
    values = {**session_values(study_id, "judge", session), "gid": public_id}
    rows = c.execute(_DESK, values).all()
    if not rows:
        return None
    row, split = rows[0], len(_JUDGE)
    judge = as_person(row[:split])
    layouts = {one.layout_id: Layout.stored(one.layout_id, one.items) for one in rows if one.items}
    ballot = None
    if row.public_id is not None:
        columns = row[split : split + len(_BALLOT)]
        held = (layouts.get(row.holds), layouts.get(row.last_on), row.last_at)
        ballot = AssignedBallot(*(*columns, *held))
    return Desk(judge, row.life, ballot, layouts)
