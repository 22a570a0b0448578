"""The life of a study in the store: on trial, open, paused, closed; hidden or revealed."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlalchemy import bindparam, delete, func, select, update

from quem.store.events import record
from quem.store.models import (
    EventRow,
    Layout,
    PersonRow,
    RevisionRow,
    StudyRow,
    TaskRow,
    insert_new,
    now,
)

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.orm import Session

    from quem.store.models import Role


Life = Literal["trial", "open", "paused", "closed"]


_SECRET_BYTES = 32
# Events that go with rankings on trial.
_OF_RANKINGS = ("maker-guessed", "makers-skipped", "blinding-frozen")


@dataclass(frozen=True)
class StudyStatus:
    """Where a study is in its life."""

    id: str
    state: Life
    # When the rankings were first shown before the study was closed.
    revealed_at: dt.datetime | None

    @property
    def is_shown(self) -> bool:
        """Whether the experimenter may see rankings."""
        return self.state == "closed" or self.revealed_at is not None


# Each page asks this: a statement that is made once takes half the time.
_STATUS = select(StudyRow.id, StudyRow.state, StudyRow.revealed_at).where(
    StudyRow.id == bindparam("id")
)


def register_study(c: Session, study_id: str) -> None:
    """Make a study known to the store, if it is not yet."""
    secret = secrets.token_hex(_SECRET_BYTES)
    values = {"id": study_id, "state": "trial", "secret": secret, "made_at": now()}
    c.execute(insert_new(c, StudyRow).values(**values))


def status_of(c: Session, study_id: str) -> StudyStatus:
    """Give a study's state."""
    return StudyStatus(**c.execute(_STATUS, {"id": study_id}).mappings().one())


def set_state(c: Session, study_id: str, state: Life, actor: str, until: str = "") -> None:
    """Open, pause, or close a study, which is logged.

    A study that is opened again after it was revealed stays revealed: its rankings were seen.
    """
    before = c.execute(
        select(StudyRow.state).where(StudyRow.id == study_id).with_for_update(key_share=True)
    ).scalar_one()
    if before == state and (state != "paused" or pause_notice(c, study_id) == until):
        return
    c.execute(update(StudyRow).where(StudyRow.id == study_id).values(state=state))
    if state == "paused":
        record(c, study_id, actor, state, before=before, until=until)
    else:
        record(c, study_id, actor, state, before=before)


def pause_notice(c: Session, study_id: str) -> str:
    """Give until when a paused study is paused, as its organizer said it last; may be empty."""
    mine = EventRow.study_id == study_id, EventRow.what == "paused"
    last = select(EventRow.detail).where(*mine).order_by(EventRow.key.desc()).limit(1)
    return str((c.execute(last).scalar_one_or_none() or {}).get("until", ""))


def reveal(c: Session, study_id: str, actor: str) -> None:
    """Let the rankings be seen before the study is closed; logged each time."""
    hidden = StudyRow.id == study_id, StudyRow.revealed_at.is_(None)
    c.execute(update(StudyRow).where(*hidden).values(revealed_at=now()))
    record(c, study_id, actor, "revealed", state=status_of(c, study_id).state)


def count_ranked(c: Session, study_id: str) -> int:
    """Count the ballots that somebody has started to rank."""
    judges = select(PersonRow.key).where(PersonRow.of(study_id, "judge"))
    started = select(func.count()).where(TaskRow.person_key.in_(judges), TaskRow.head > 0)
    return int(c.execute(started).scalar_one())


def discard_trial(c: Session, study_id: str, actor: str) -> int:
    """Throw away what was ranked on trial; gives the number of rankings."""
    state = c.execute(
        select(StudyRow.state).where(StudyRow.id == study_id).with_for_update(key_share=True)
    ).scalar_one()
    if state != "trial":
        return 0
    judges = select(PersonRow.key).where(PersonRow.of(study_id, "judge"))
    ballots = select(TaskRow.key).where(TaskRow.person_key.in_(judges))
    # These wait for whoever deals ballots or lays them out, before any of it is deleted.
    forget_trial(c, study_id, "judge")
    c.execute(ballots.order_by(TaskRow.key).with_for_update())
    started = count_ranked(c, study_id)
    for table in (RevisionRow, Layout):
        c.execute(delete(table).where(table.task_key.in_(ballots)))
    c.execute(delete(TaskRow).where(TaskRow.person_key.in_(judges)))
    of_trial = EventRow.what.in_(_OF_RANKINGS)
    c.execute(delete(EventRow).where(EventRow.study_id == study_id, of_trial))
    # Whatever was revealed is gone.
    c.execute(update(StudyRow).where(StudyRow.id == study_id).values(revealed_at=None))
    record(c, study_id, actor, "trial-discarded", rankings=started)
    return started


def forget_trial(c: Session, study_id: str, role: Role) -> None:
    """Take back what people of a role agreed to and answered on trial."""
    blank = ("consented_at", "declined_at", "finished_at", "withdrawn_at", "row")
    mine = update(PersonRow).where(PersonRow.of(study_id, role))
    c.execute(mine.values(answers={}, **dict.fromkeys(blank)))


def secret_of(c: Session, study_id: str) -> str:
    """Give the key of the hashes that judges see."""
    return str(c.execute(select(StudyRow.secret).where(StudyRow.id == study_id)).scalar_one())
