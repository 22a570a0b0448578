"""Study states in the store: test mode, open, paused, closed; hidden or revealed."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from sqlalchemy import Select, bindparam, delete, func, select, update

from quem.errors import FileError
from quem.store.events import record
from quem.store.location import same_as
from quem.store.models import (
    EventRow,
    Layout,
    PersonRow,
    RevisionRow,
    StudyRow,
    TaskRow,
    UploadRow,
    insert_new,
    now,
)

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy.orm import Session

    from quem.store.models import Life, Role, SolvingState


_SECRET_BYTES = 32
# Events that are deleted with test rankings.
_OF_RANKINGS = ("maker-guessed", "makers-skipped", "blinding-frozen")
# Used by each page: prebuilt statements take half the time.
_STUDY = select(StudyRow).where(StudyRow.id == bindparam("id"))


def register_study(c: Session, study_id: str, beside: Path | None = None) -> None:
    """Add a study to the store if it is missing, but not beside its file as another study."""
    known = [*c.scalars(select(StudyRow.id))]
    if beside and known and study_id not in known:
        raise FileError(beside, f"is not the study of the database beside it; {same_as(known)}")
    secret = secrets.token_hex(_SECRET_BYTES)
    values = {"id": study_id, "state": "trial", "secret": secret, "made_at": now()}
    c.execute(insert_new(c, StudyRow).values(**values))


def status_of(c: Session, study_id: str) -> StudyRow:
    """The row of a study with its states."""
    return c.get_one(StudyRow, study_id)


def solving_state(c: Session, study_id: str) -> SolvingState:
    """The state of a study's solving session."""
    return status_of(c, study_id).solving


def secret_of(c: Session, study_id: str) -> str:
    """The key of the judges' hashes."""
    return status_of(c, study_id).secret


def _locked(c: Session, study_id: str) -> StudyRow:
    """Lock a study for a change of state, excluding concurrent saves."""
    locked = _STUDY.with_for_update(key_share=True).execution_options(populate_existing=True)
    return c.scalars(locked, {"id": study_id}).one()


def set_state(c: Session, study_id: str, state: Life, actor: str, until: str = "") -> None:
    """Open, pause, or close a study, and log it.

    A study that is reopened after a reveal stays revealed, since its rankings were seen.
    """
    study = _locked(c, study_id)
    before, study.state = study.state, state
    c.flush()
    if state == "paused":
        if before != state or pause_notice(c, study_id) != until:
            record(c, study_id, actor, state, before=before, until=until)
    elif before != state:
        record(c, study_id, actor, state, before=before)


def set_solving(c: Session, study_id: str, state: SolvingState, actor: str) -> None:
    """Open or close the solving session of a study, and log it."""
    study = _locked(c, study_id)
    before, study.solving = study.solving, state
    c.flush()
    if before != state:
        record(c, study_id, actor, f"solving-{state}", before=before)


def pause_notice(c: Session, study_id: str) -> str:
    """The organizer's last notice on a paused study; may be empty."""
    mine = EventRow.study_id == study_id, EventRow.what == "paused"
    last = select(EventRow.detail).where(*mine).order_by(EventRow.key.desc()).limit(1)
    return str((c.scalar(last) or {}).get("until", ""))


def reveal(c: Session, study_id: str, actor: str) -> None:
    """Reveal rankings before the study is closed; logged each time."""
    study = _locked(c, study_id)
    study.revealed_at = study.revealed_at or now()
    c.flush()
    record(c, study_id, actor, "revealed", state=study.state)


def count_ranked(c: Session, study_id: str) -> int:
    """The number of tasks with a started ranking."""
    started = select(func.count()).where(
        TaskRow.key.in_(_tasks(study_id, "judge")), TaskRow.head > 0
    )
    return c.scalar(started) or 0


def discard_trial(c: Session, study_id: str, actor: str) -> int:
    """Discard test rankings; returns their number."""
    study = _locked(c, study_id)
    if study.state != "trial":
        return 0
    # Wait for concurrent assignments and layouts before deleting.
    forget_trial(c, study_id, "judge")
    c.execute(_tasks(study_id, "judge").order_by(TaskRow.key).with_for_update())
    started = count_ranked(c, study_id)
    _delete_tasks(c, study_id, "judge")
    of_trial = EventRow.what.in_(_OF_RANKINGS)
    c.execute(delete(EventRow).where(EventRow.study_id == study_id, of_trial))
    # All revealed rankings are gone.
    study.revealed_at = None
    c.flush()
    record(c, study_id, actor, "trial-discarded", rankings=started)
    return started


def discard_solving_trial(c: Session, study_id: str, actor: str) -> list[UploadRow]:
    """Discard all work of subjects in test mode; returns the uploads with bytes to delete.

    This includes replies, consent, and withdrawal, which testers entered by other people's links.
    """
    if _locked(c, study_id).solving != "trial":
        return []
    forget_trial(c, study_id, "subject")
    mine = UploadRow.task_key.in_(_tasks(study_id, "subject"))
    gone = list(c.scalars(select(UploadRow).where(mine)))
    _delete_tasks(c, study_id, "subject")
    record(c, study_id, actor, "solving-trial-discarded")
    return gone


def _tasks(study_id: str, role: Role) -> Select[int]:
    people = select(PersonRow.key).where(PersonRow.of(study_id, role))
    return select(TaskRow.key).where(TaskRow.person_key.in_(people))


def _delete_tasks(c: Session, study_id: str, role: Role) -> None:
    tasks = _tasks(study_id, role)
    for of_task in (RevisionRow.task_key, Layout.task_key, UploadRow.task_key, TaskRow.key):
        c.execute(
            delete(of_task.class_)
            .where(of_task.in_(tasks))
            .execution_options(synchronize_session=False)
        )


def forget_trial(c: Session, study_id: str, role: Role) -> None:
    """Reset consent and answers of people of a role from test mode."""
    blank = ("consented_at", "declined_at", "finished_at", "withdrawn_at", "row")
    mine = update(PersonRow).where(PersonRow.of(study_id, role))
    c.execute(mine.values(answers={}, **dict.fromkeys(blank)))
