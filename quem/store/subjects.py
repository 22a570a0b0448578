"""Subjects and their links, their consent, and what they replied to questions."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, insert, select, update

from quem.errors import QuemError
from quem.store.engine import SCRUB
from quem.store.events import record
from quem.store.models import (
    DraftRow,
    ErasedJudgeRow,
    ReplyRow,
    SubjectRow,
    TaskRow,
    UploadRow,
    insert_new,
    now,
)
from quem.store.outbox import forget_letters
from quem.store.studies import (
    digest_of,
    ended_link,
    new_link,
    person_named,
    session_of,
    session_values,
    signed_in,
)
from quem.studyfile.fields import id_trouble

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Connection

    from quem.studyfile.models import Person

# The questions that each subject is asked: at the start, and once more at the end.
EXPERIENCE, EXPERIENCE_AGAIN = "experience", "experience-again"
_SEEN_SECONDS = 60


@dataclass(frozen=True)
class StoredSubject:
    """A subject as the store knows them; see `quem.store.models.SubjectRow`."""

    key: int
    study_id: str
    id: str
    name: str
    added: bool
    session_hash: str | None
    linked_at: dt.datetime | None
    revoked_at: dt.datetime | None
    seen_at: dt.datetime | None
    consented_at: dt.datetime | None
    declined_at: dt.datetime | None
    finished_at: dt.datetime | None
    withdrawn_at: dt.datetime | None
    forgotten_at: dt.datetime | None
    row: int | None

    @property
    def has_link(self) -> bool:
        """Whether the subject has a link that works."""
        return self.session_hash is not None

    @property
    def is_gone(self) -> bool:
        """Whether nothing of what they wrote is there any more."""
        return bool(self.withdrawn_at or self.forgotten_at)


_COLUMNS = tuple(getattr(SubjectRow, name) for name in StoredSubject.__dataclass_fields__)
_OF_SESSION = select(*_COLUMNS).where(
    signed_in(SubjectRow.session_hash), SubjectRow.study_id == bindparam("study")
)


def subjects_of(c: Connection, study_id: str) -> list[StoredSubject]:
    """Give all subjects of a study, in the order in which they were made."""
    mine = select(*_COLUMNS).where(SubjectRow.study_id == study_id).order_by(SubjectRow.key)
    return [StoredSubject(**row) for row in c.execute(mine).mappings()]


def subject_of_session(c: Connection, study_id: str, session: str) -> StoredSubject | None:
    """Find the subject whose cookie this is."""
    values = session_values(study_id, session)
    row = c.execute(_OF_SESSION, values).one_or_none()
    return StoredSubject(*row) if row else None


def subject_named(c: Connection, study_id: str, subject_id: str) -> StoredSubject:
    """Find a subject by id."""
    return person_named(subjects_of(c, study_id), subject_id, "subject")


def sync_subjects(c: Connection, study_id: str, declared: Iterable[Person]) -> None:
    """Take the people of the study file over; whose data were erased is not made again."""
    known = {subject.id: subject for subject in subjects_of(c, study_id)}
    mine = select(ErasedJudgeRow.id_hash).where(ErasedJudgeRow.study_id == study_id)
    erased = set(c.execute(mine).scalars())
    for person in declared:
        if person.id not in known:
            if _hash(study_id, person.id) not in erased:
                values = {"study_id": study_id, "id": person.id, "name": person.name}
                c.execute(insert_new(c, SubjectRow).values(**values, added=False))
        elif known[person.id].name != person.name:
            mine_now = update(SubjectRow).where(SubjectRow.key == known[person.id].key)
            c.execute(mine_now.values(name=person.name))


def add_subject(
    c: Connection, study_id: str, subject_id: str, name: str, actor: str
) -> StoredSubject:
    """Add a subject midway."""
    if trouble := id_trouble(subject_id):
        raise QuemError(trouble)
    if any(subject.id == subject_id for subject in subjects_of(c, study_id)):
        raise QuemError(f"subject {subject_id} already exists; choose another ID")
    c.execute(insert(SubjectRow).values(study_id=study_id, id=subject_id, name=name, added=True))
    subject = subject_named(c, study_id, subject_id)
    record(c, study_id, actor, "subject-added", subject=subject.key)
    return subject


def issue_subject_link(c: Connection, subject: StoredSubject, actor: str) -> str:
    """Make a link in place of the one before; gives its token, which is stored hashed only."""
    if subject.forgotten_at:
        raise QuemError(f"{subject.id}'s personal data has been erased; no link can be created")
    token, values = new_link()
    c.execute(update(SubjectRow).where(SubjectRow.key == subject.key).values(values))
    what = "subject-link-replaced" if subject.linked_at else "subject-link-made"
    record(c, subject.study_id, actor, what, subject=subject.key)
    return token


def withdraw_subject_link(c: Connection, subject: StoredSubject, token: str, actor: str) -> None:
    """Take back a new link that its subject was never sent: the one that they had holds again."""
    is_new = SubjectRow.session_hash == digest_of(session_of(token))
    former = ("session_hash", "linked_at", "revoked_at")
    values = {name: getattr(subject, name) for name in former}
    mine = update(SubjectRow).where(SubjectRow.key == subject.key, is_new)
    if c.execute(mine.values(values)).rowcount:
        record(c, subject.study_id, actor, "subject-link-withdrawn", subject=subject.key)


def revoke_subject_link(c: Connection, subject: StoredSubject, actor: str) -> None:
    """End a subject's link on every device."""
    c.execute(update(SubjectRow).where(SubjectRow.key == subject.key).values(ended_link()))
    record(c, subject.study_id, actor, "subject-link-revoked", subject=subject.key)


def agree(c: Connection, subject: StoredSubject) -> None:
    """Note that a subject takes part."""
    if subject.consented_at is None:
        _set(c, subject, consented_at=now(), declined_at=None)
        record(c, subject.study_id, "subject", "subject-consented", subject=subject.key)


def refuse(c: Connection, subject: StoredSubject) -> None:
    """Note that a subject would rather not take part; one who has agreed is left as they are."""
    if subject.consented_at is None and subject.declined_at is None:
        _set(c, subject, declined_at=now())
        record(c, subject.study_id, "subject", "subject-declined", subject=subject.key)


def finish(c: Connection, subject: StoredSubject) -> None:
    """Note that a subject is done with everything."""
    if subject.finished_at is None:
        _set(c, subject, finished_at=now())
        record(c, subject.study_id, "subject", "subject-finished", subject=subject.key)


def note_replies(c: Connection, subject: StoredSubject, replies: Mapping[str, str]) -> None:
    """Keep what a subject replied, by question; earlier replies stay in the history."""
    before = replies_of(c, [subject.key])[subject.key]
    rows = [
        {"subject_key": subject.key, "question": question, "value": value, "made_at": now()}
        for question, value in replies.items()
        if before.get(question) != value
    ]
    if rows:
        c.execute(insert(ReplyRow), rows)


def replies_of(c: Connection, keys: Iterable[int]) -> defaultdict[int, dict[str, str]]:
    """Give what subjects replied last, by key and question."""
    columns = select(ReplyRow.subject_key, ReplyRow.question, ReplyRow.value)
    rows = c.execute(columns.where(ReplyRow.subject_key.in_(list(keys))).order_by(ReplyRow.key))
    replies: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for key, question, value in rows:
        replies[key][question] = value
    return replies


def reply_after(question: str, problem: str) -> str:
    """Give what the reply to a question after a problem is stored under."""
    return f"{question} {problem}"


def minutes_left(problem: str) -> str:
    """Give what is stored under: how many more minutes somebody needs who skips a problem."""
    return f"minutes left for {problem}"


def withdraw(c: Connection, subject: StoredSubject) -> list[tuple[str, str]]:
    """Delete what a subject wrote, at their wish; their row stays."""
    _set(c, subject, withdrawn_at=now())
    record(c, subject.study_id, "subject", "subject-withdrawn", subject=subject.key)
    return _delete_work(c, subject)


def erase_subject(c: Connection, subject: StoredSubject, actor: str) -> list[tuple[str, str]]:
    """Erase who a subject is and what they wrote; how long they took stays, under a pseudonym."""
    count = sum(one.forgotten_at is not None for one in subjects_of(c, subject.study_id))
    id_hash = _hash(subject.study_id, subject.id)
    c.execute(insert_new(c, ErasedJudgeRow).values(study_id=subject.study_id, id_hash=id_hash))
    _set(c, subject, id=f"erased-{count + 1}", name="", forgotten_at=now(), **ended_link())
    record(c, subject.study_id, actor, "subject-erased", subject=subject.key)
    return _delete_work(c, subject)


def _delete_work(c: Connection, subject: StoredSubject) -> list[tuple[str, str]]:
    forget_letters(c, subject.study_id, "subject", subject.key)
    tasks = select(TaskRow.key).where(TaskRow.subject_key == subject.key)
    c.execute(delete(ReplyRow).where(ReplyRow.subject_key == subject.key))
    mine = update(DraftRow).where(DraftRow.task_key.in_(tasks))
    c.execute(mine.values(text="", files=[]))
    held = select(UploadRow.sha256, UploadRow.ending).where(UploadRow.task_key.in_(tasks))
    files = {(sha256, ending) for sha256, ending in c.execute(held)}
    c.execute(delete(UploadRow).where(UploadRow.task_key.in_(tasks)))
    others = (
        select(UploadRow.sha256, UploadRow.ending)
        .join(TaskRow, TaskRow.key == UploadRow.task_key)
        .join(SubjectRow, SubjectRow.key == TaskRow.subject_key)
        .where(SubjectRow.study_id == subject.study_id)
        .where(UploadRow.sha256.in_([one for one, _ in files]))
    )
    kept = {(sha256, ending) for sha256, ending in c.execute(others)}
    c.info[SCRUB] = True
    return sorted(files - kept)


def visited_lately(subject: StoredSubject) -> bool:
    """Whether their last visit needs no new note yet."""
    seen = subject.seen_at
    return seen is not None and (now() - seen).total_seconds() < _SEEN_SECONDS


def note_visit(c: Connection, subject: StoredSubject) -> None:
    """Note that a subject is here."""
    _set(c, subject, seen_at=now())


def _set(c: Connection, subject: StoredSubject, **values: object) -> None:
    c.execute(update(SubjectRow).where(SubjectRow.key == subject.key).values(**values))


def _hash(study_id: str, subject_id: str) -> str:
    return hashlib.sha256(f"subject\0{study_id}\0{subject_id}".encode()).hexdigest()
