"""The life of a study in the store: on trial, open, paused, closed; hidden or revealed."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, func, select, update

from quem.store.events import record
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
    from sqlalchemy import Select
    from sqlalchemy.orm import Session

    from quem.store.models import Life, Role, SolvingState


_SECRET_BYTES = 32
# Events that go with rankings on trial.
_OF_RANKINGS = ("maker-guessed", "makers-skipped", "blinding-frozen")
# Each page asks this: a statement that is made once takes half the time.
_STUDY = select(StudyRow).where(StudyRow.id == bindparam("id"))


def register_study(c: Session, study_id: str) -> None:
    """Make a study known to the store, if it is not yet."""
    secret = secrets.token_hex(_SECRET_BYTES)
    values = {"id": study_id, "state": "trial", "secret": secret, "made_at": now()}
    c.execute(insert_new(c, StudyRow).values(**values))


def status_of(c: Session, study_id: str) -> StudyRow:
    """A study with its states."""
    return c.get_one(StudyRow, study_id)


def solving_state(c: Session, study_id: str) -> SolvingState:
    """Where the solving session of a study is."""
    return status_of(c, study_id).solving


def secret_of(c: Session, study_id: str) -> str:
    """The key of the hashes that judges see."""
    return status_of(c, study_id).secret


def _locked(c: Session, study_id: str) -> StudyRow:
    """A study whose state is to change, which waits for whoever saves, and the other way round."""
    locked = _STUDY.with_for_update(key_share=True).execution_options(populate_existing=True)
    return c.scalars(locked, {"id": study_id}).one()


def set_state(c: Session, study_id: str, state: Life, actor: str, until: str = "") -> None:
    """Open, pause, or close a study, which is logged.

    A study that is opened again after it was revealed stays revealed: its rankings were seen.
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
    """Open or close the solving session of a study, which is logged."""
    study = _locked(c, study_id)
    before, study.solving = study.solving, state
    c.flush()
    if before != state:
        record(c, study_id, actor, f"solving-{state}", before=before)


def pause_notice(c: Session, study_id: str) -> str:
    """Until when a paused study is paused, as its organizer said it last; may be empty."""
    mine = EventRow.study_id == study_id, EventRow.what == "paused"
    last = select(EventRow.detail).where(*mine).order_by(EventRow.key.desc()).limit(1)
    return str((c.scalar(last) or {}).get("until", ""))


def reveal(c: Session, study_id: str, actor: str) -> None:
    """Let the rankings be seen before the study is closed; logged each time."""
    study = _locked(c, study_id)
    study.revealed_at = study.revealed_at or now()
    c.flush()
    record(c, study_id, actor, "revealed", state=study.state)


def count_ranked(c: Session, study_id: str) -> int:
    """Count the tasks that some judge has started to rank."""
    started = select(func.count()).where(
        TaskRow.key.in_(_tasks(study_id, "judge")), TaskRow.head > 0
    )
    return c.scalar(started) or 0


def discard_trial(c: Session, study_id: str, actor: str) -> int:
    """Throw away what was ranked on trial; gives the number of rankings."""
    study = _locked(c, study_id)
    if study.state != "trial":
        return 0
    # These wait for whoever deals ballots or lays them out, before any of it is deleted.
    forget_trial(c, study_id, "judge")
    c.execute(_tasks(study_id, "judge").order_by(TaskRow.key).with_for_update())
    started = count_ranked(c, study_id)
    _delete_tasks(c, study_id, "judge")
    of_trial = EventRow.what.in_(_OF_RANKINGS)
    c.execute(delete(EventRow).where(EventRow.study_id == study_id, of_trial))
    # Whatever was revealed is gone.
    study.revealed_at = None
    c.flush()
    record(c, study_id, actor, "trial-discarded", rankings=started)
    return started


def discard_solving_trial(c: Session, study_id: str, actor: str) -> list[UploadRow]:
    """Throw away all that people did on trial; gives the uploads, whose bytes are to be deleted.

    Replies go too, and so do consent and withdrawal: whoever tried the pages with somebody's link
    did not answer for them.
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
    """Take back what people of a role agreed to and answered on trial."""
    blank = ("consented_at", "declined_at", "finished_at", "withdrawn_at", "row")
    mine = update(PersonRow).where(PersonRow.of(study_id, role))
    c.execute(mine.values(answers={}, **dict.fromkeys(blank)))
