"""A save in five round trips: one reads all that it needs, and of the others one writes it all.

The statement that writes does so only where everything is still as it was read. Else nothing is
written by it, and `quem.store.ballots.save` says what is different, step by step.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    Boolean,
    Integer,
    String,
    and_,
    bindparam,
    cast,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from quem.store.ballots import (
    LAST_REVISION,
    AssignedBallot,
    NotAssignedError,
    Saved,
    add_seconds,
    revision_row,
    save,
    total_times,
)
from quem.store.judges import StoredJudge, record_visit
from quem.store.layouts import Layout
from quem.store.models import BallotRow, JudgeRow, RevisionRow, StudyRow
from quem.store.models import Layout as LayoutRow
from quem.store.studies import digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from quem.store.ballots import Change

_JUDGE = tuple(getattr(JudgeRow, name) for name in StoredJudge.__dataclass_fields__)
_BALLOT = tuple(
    getattr(BallotRow, name)
    for name in AssignedBallot.__dataclass_fields__
    if name not in ("layout", "placed", "views")
)
_MINE = and_(BallotRow.judge_key == JudgeRow.key, BallotRow.public_id == bindparam("gid"))
# A row for each layout that the ballot has or had; one where there is none, or no ballot.
_DESK = (
    select(
        *_JUDGE,
        *_BALLOT,
        JudgeRow.id_digest.label("digest"),
        StudyRow.state.label("life"),
        cast(BallotRow.views, String).label("views"),
        BallotRow.layout.label("holds"),
        RevisionRow.layout.label("last_on"),
        RevisionRow.link.label("last_link"),
        LayoutRow.id.label("layout_id"),
        LayoutRow.items,
    )
    .join(StudyRow, StudyRow.id == JudgeRow.study_id)
    .join(BallotRow, _MINE, isouter=True)
    .join(LayoutRow, LayoutRow.ballot_key == BallotRow.key, isouter=True)
    .join(RevisionRow, LAST_REVISION, isouter=True)
)
_OF_SESSION = _DESK.where(
    JudgeRow.session_hash == bindparam("session"), JudgeRow.study_id == bindparam("study")
)
_OF_JUDGE = _DESK.where(JudgeRow.key == bindparam("judge"))


@dataclass(frozen=True)
class Desk:
    """What one judge works on, all seen at one moment."""

    judge: StoredJudge
    life: str  # the study's state
    ballot: AssignedBallot | None  # none where the judge has no such ballot
    layouts: Mapping[str, Layout]  # all that the ballot has or had, by id
    digest: str  # the judge's, for links of revisions
    link: str  # of the last revision; empty before the first
    views: str  # those of the ballot, as they are stored

    @property
    def letters(self) -> dict[str, str]:
        """The solver of each letter that the ballot has or had; a letter is never another's."""
        return {
            letter: solver
            for layout in self.layouts.values()
            for letter, solver in layout.solvers.items()
        }


def desk_of_session(c: Connection, study_id: str, session: str, public_id: str) -> Desk | None:
    """Find the judge whose cookie this is, and one of their ballots; one statement."""
    values = {"session": digest_of(session), "study": study_id, "gid": public_id}
    rows = c.execute(_OF_SESSION, values).all()
    return _desk(rows) if rows else None


def desk_of(c: Connection, judge_key: int, public_id: str) -> Desk:
    """Give one of a judge's ballots with all that saving it needs."""
    return _desk(c.execute(_OF_JUDGE, {"judge": judge_key, "gid": public_id}).all())


def _desk(rows: Sequence[Any]) -> Desk:
    row, split = rows[0], len(_JUDGE)
    judge = StoredJudge(*row[:split])
    layouts = {one.layout_id: Layout.stored(one.layout_id, one.items) for one in rows if one.items}
    ballot = None
    if row.public_id is not None:
        columns = dict(
            zip((column.key for column in _BALLOT), row[split : split + len(_BALLOT)], strict=True)
        )
        columns |= {"views": json.loads(row.views)}
        columns |= {"layout": layouts.get(row.holds), "placed": layouts.get(row.last_on)}
        ballot = AssignedBallot(**columns)
    link = row.last_link or ""
    return Desk(judge, row.life, ballot, layouts, row.digest, link, row.views or "")


def save_at(
    c: Connection,
    desk: Desk,
    change: Change,
    seconds: float = 0.0,
    views: Mapping[str, float] | None = None,
    *,
    visit: bool = False,
) -> Saved:
    """Append a revision to the ballot of a desk, and add the working time that led to it."""
    ballot = desk.ballot
    if ballot is None:
        raise NotAssignedError
    # SQLite is in this process, has no round trips, and cannot write within a larger statement.
    if c.dialect.name == "postgresql" and change.kind != "reopen" and change.base == ballot.head:
        saved = _save_at_once(c, desk, ballot, change, seconds, views or {}, visit=visit)
        if saved:
            return saved
    saved = save(c, ballot.judge_key, ballot.public_id, change)
    if not saved.is_retry:
        add_seconds(c, ballot, seconds, views)
    if visit:
        record_visit(c, desk.judge)
    return saved


_WHO = (
    select(JudgeRow.key)
    .where(JudgeRow.key == bindparam("judge"), JudgeRow.forgotten_at.is_(None))
    .with_for_update(read=True, key_share=True)
    .cte("who")
)
_WHO_KEY = select(_WHO.c.key).scalar_subquery()
_RUNS = exists().where(
    StudyRow.id == bindparam("study"), StudyRow.state.not_in(("closed", "paused"))
)
_RETRIED = exists().where(
    RevisionRow.ballot_key == bindparam("new_ballot_key"),
    RevisionRow.client == bindparam("new_client"),
    RevisionRow.change == bindparam("new_change"),
)
_HEAD = (
    update(BallotRow)
    .where(
        BallotRow.key == bindparam("new_ballot_key"),
        # The judge's row is locked before the ballot's, as everywhere.
        BallotRow.judge_key == _WHO_KEY,
        BallotRow.head == bindparam("new_base"),
        BallotRow.layout == bindparam("new_layout"),
        or_(BallotRow.submitted.is_(None), BallotRow.submitted != BallotRow.head),
        BallotRow.seconds == bindparam("seconds_before"),
        cast(BallotRow.views, String) == bindparam("views_before"),
        _RUNS,
        ~_RETRIED,
    )
    .values(
        head=bindparam("new_number"),
        submitted=func.coalesce(bindparam("new_submitted", type_=Integer()), BallotRow.submitted),
        seconds=bindparam("new_seconds"),
        views=bindparam("new_views"),
    )
    .returning(BallotRow.key)
    .cte("head")
)
_VISIT = (
    update(JudgeRow)
    .where(JudgeRow.key == _WHO_KEY, bindparam("visit", type_=Boolean()))
    .values(seen_at=bindparam("new_made_at"))
    .returning(JudgeRow.key)
    .cte("visit")
)
_REVISION = [
    name
    for name in map(str, RevisionRow.__table__.columns.keys())
    if name not in ("key", "ballot_key")
]
_SAVE = (
    insert(RevisionRow)
    .from_select(
        ["ballot_key", *_REVISION],
        select(
            _HEAD.c.key,
            *(
                bindparam(f"new_{name}", type_=RevisionRow.__table__.c[name].type)
                for name in _REVISION
            ),
        ),
    )
    .returning(RevisionRow.number)
    .add_cte(_VISIT)
)


def _save_at_once(
    c: Connection,
    desk: Desk,
    ballot: AssignedBallot,
    change: Change,
    seconds: float,
    views: Mapping[str, float],
    *,
    visit: bool,
) -> Saved | None:
    """Write all by one statement; None where anything is not as the desk has it.

    Who waits for a row sees it as it is then, and the study's state is safe from closing, which
    waits until this transaction ends.
    """
    more = {solver: spent for solver, spent in views.items() if spent > 0}
    times = total_times(ballot.seconds, ballot.views, ballot.opened_at, max(seconds, 0.0), more)
    row = revision_row(ballot, change, desk.digest, desk.link)
    is_submit = change.kind == "submit"
    others = {
        "judge": ballot.judge_key,
        "study": desk.judge.study_id,
        "seconds_before": ballot.seconds,
        "views_before": desk.views,
        "visit": visit,
    }
    new = row | times | {"submitted": row["number"] if is_submit else None}
    # A name of a column would be set by itself.
    values = {f"new_{name}": value for name, value in new.items()} | others
    if c.execute(_SAVE, values).one_or_none() is None:
        return None
    return Saved(row["number"], is_submit, row["made_at"], row["link"])
