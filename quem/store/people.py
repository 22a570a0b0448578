"""The people of a study in any role: links and sign-ins, consent, answers, erasure."""

from __future__ import annotations

import datetime as dt
import hashlib
import secrets
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol, get_args

from sqlalchemy import ColumnElement, and_, bindparam, delete, exists, select, update
from sqlalchemy.orm import Session, joinedload

from quem.errors import QuemError
from quem.store.database import SCRUB
from quem.store.events import record
from quem.store.models import (
    PersonRow,
    RevisionRow,
    Role,
    SessionRow,
    TaskRow,
    UploadRow,
    insert_new,
    now,
)
from quem.store.outbox import forget_letters
from quem.store.state import without_words
from quem.store.studies import status_of
from quem.studyfile.fields import id_trouble

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from quem.studyfile.relevance import JudgedSpec

ROLES: tuple[Role, ...] = get_args(Role)
# The organizer of a study whose file names nobody.
DEFAULT = "organizer"
# The questions to each subject at the start, and again at the end.
EXPERIENCE, EXPERIENCE_AGAIN = "experience", "experience-again"
LONGEST = dt.timedelta(weeks=26)  # of a session
# Idle timeout of a session.
_IDLE: dict[Role, dt.timedelta] = {"organizer": dt.timedelta(hours=12)}
_NO_ANSWER: dict[str, Any] = {"text": "", "files": []}  # empty state of a subject's revision
_SEEN_SECONDS = 60
_TOKEN_BYTES = 24  # 192 bits
_SESSION_BYTES = 32
_GREATEST_KEY = 2**31 - 1
_LONGEST_ID = 100
_CHOSEN = "answers"  # shelf of chosen answers, without free text


class Declared(Protocol):
    """A person in the study file; a judge's experience is `experience`."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...


_MINE = and_(PersonRow.study_id == bindparam("study"), PersonRow.role == bindparam("role"))
SIGNED_IN = and_(
    SessionRow.hash == bindparam("session"),
    SessionRow.person_key == PersonRow.key,
    SessionRow.link == PersonRow.link_hash,
    SessionRow.seen_at > bindparam("since"),
    _MINE,
)
# Used by each page: prebuilt statements take half the time.
_OF_SESSION = select(PersonRow).options(joinedload(PersonRow.study)).where(SIGNED_IN)


def people_of(
    c: Session, study_id: str, role: Role, *conditions: ColumnElement[bool]
) -> list[PersonRow]:
    """The people of a role, or some of them, in order of creation."""
    mine = select(PersonRow).where(PersonRow.of(study_id, role), *conditions)
    return list(c.scalars(mine.order_by(PersonRow.key)))


def has_people(c: Session, study_id: str, role: Role) -> bool:
    """Whether a study has anybody of a role."""
    return c.scalar(select(exists().where(PersonRow.of(study_id, role)))) is True


def person_named(c: Session, study_id: str, role: Role, person_id: str) -> PersonRow:
    """The person with an id; an error lists the known ones."""
    people = {person.id: person for person in people_of(c, study_id, role)}
    if person_id not in people:
        known = ", ".join(people) or "none"
        raise QuemError(f"there is no {role} {person_id!r}; the study's {role}s are: {known}")
    return people[person_id]


def person_of_key(c: Session, study_id: str, role: Role, key: int) -> PersonRow | None:
    """The person with a key, which may be out of the database's range."""
    if key > _GREATEST_KEY:
        return None
    return next(iter(people_of(c, study_id, role, PersonRow.key == key)), None)


def person_of_link(c: Session, study_id: str, role: Role, token: str) -> PersonRow | None:
    """The person whose link has a token."""
    mine = PersonRow.link_hash == digest_of(token)
    return next(iter(people_of(c, study_id, role, mine)), None)


def person_of_session(c: Session, study_id: str, role: Role, session: str) -> PersonRow | None:
    """The person of a session cookie."""
    return c.scalars(_OF_SESSION, session_values(study_id, role, session)).one_or_none()


def session_values(study_id: str, role: Role, session: str) -> dict[str, Any]:
    """The parameters of a statement with `SIGNED_IN`."""
    since = now() - _IDLE.get(role, LONGEST)
    return {"study": study_id, "role": role, "session": digest_of(session), "since": since}


def sign_in(c: Session, person: PersonRow) -> str:
    """Begin a session; returns its unique cookie value."""
    c.execute(delete(SessionRow).where(SessionRow.seen_at < now() - LONGEST))
    session = secrets.token_hex(_SESSION_BYTES)
    c.add(SessionRow(hash=digest_of(session), person_key=person.key, link=person.link_hash))
    return session


def sign_out(c: Session, session: str) -> None:
    """End a session on all devices with its cookie."""
    c.execute(delete(SessionRow).where(SessionRow.hash == digest_of(session)))


def note_session(c: Session, session: str) -> None:
    """Record the use of a session."""
    mine = update(SessionRow).where(SessionRow.hash == digest_of(session))
    c.execute(mine.values(seen_at=now()))


def digest_of(secret: str) -> str:
    """The stored hash of a token or session."""
    return hashlib.sha256(secret.encode()).hexdigest()


def sync_people(c: Session, study_id: str, role: Role, declared: Iterable[Declared]) -> None:
    """Synchronize with the people of the study file; erased people are not added again.

    Organizers no longer in the file are removed with their links, unless added later; without any,
    there is `DEFAULT`.
    """
    rows = {one.id: (one.name, getattr(one, "experience", None)) for one in declared}
    if role == "organizer" and not rows:
        rows[DEFAULT] = "", None
    known = {person.id: person for person in people_of(c, study_id, role)}
    erased = {person.former for person in known.values()}
    new = [
        {"study_id": study_id, "role": role, "id": id_, "name": name, "experience": years}
        for id_, (name, years) in rows.items()
        if id_ not in known and _hash(study_id, role, id_) not in erased
    ]
    for person in known.values():
        if person.id in rows:
            person.name, person.experience = rows[person.id]
            person.added = False
        elif role == "organizer" and not person.added:
            c.execute(delete(SessionRow).where(SessionRow.person_key == person.key))
            c.delete(person)
            _log(c, person, "server", "removed")
    c.flush()
    if new:
        # Several workers start at once.
        c.execute(insert_new(c, PersonRow), new)


def people_declared(spec: JudgedSpec, role: Role) -> Sequence[Declared]:
    """The people of a role in the study file."""
    if role == "subject":
        return spec.solving.people if spec.solving else ()
    return spec.judges if role == "judge" else spec.organizers


def sync_everybody(c: Session, spec: JudgedSpec) -> None:
    """Synchronize all roles with the study file."""
    for role in ROLES:
        sync_people(c, spec.id, role, people_declared(spec, role))


def refuse_taken(spec: JudgedSpec, role: Role, person_id: str, name: str) -> None:
    """Refuse a subject who is a judge or a solver, and a judge of their own work."""
    if role == "subject" and person_id in spec.taken_ids:
        raise QuemError(f"{person_id} is a judge or another solver; choose another ID")
    if role == "judge":
        names = {subject.name.casefold().strip() for subject in spec.subjects} - {""}
        ids = {subject.id for subject in spec.subjects}
        if person_id in ids or name.casefold().strip() in names:
            raise QuemError(
                f"{person_id} is also a subject; judges must not judge their own solutions"
            )


def add_person(
    c: Session,
    study_id: str,
    role: Role,
    person_id: str,
    actor: str,
    *,
    name: str = "",
    experience: float | None = None,
) -> PersonRow:
    """Add a person to a running session."""
    if trouble := _id_trouble(role, person_id):
        raise QuemError(trouble)
    if any(person.id == person_id for person in people_of(c, study_id, role)):
        raise QuemError(f"{role} {person_id} already exists; choose another ID")
    values = {"study_id": study_id, "role": role, "id": person_id, "name": name}
    person = PersonRow(added=True, experience=experience, **values)
    c.add(person)
    c.flush()
    _log(c, person, actor, "added")
    return person


def _id_trouble(role: Role, person_id: str) -> str:
    if role == "subject":
        return id_trouble(person_id)
    is_line = person_id.strip() and person_id.isprintable() and len(person_id) <= _LONGEST_ID
    return "" if is_line else f"the id of a {role} is one line of 1 to 100 printable characters"


def issue_link(c: Session, person: PersonRow, actor: str) -> str:
    """Create a person's link, replacing an earlier one; returns its token, stored as a hash."""
    (token,) = issue_links(c, [person], actor)
    return token


def issue_links(c: Session, people: Sequence[PersonRow], actor: str) -> list[str]:
    """Create links of many people at once; returns their tokens, as `issue_link`."""
    for person in people:
        _refuse_erased(person)
    if not people:
        return []
    tokens = [secrets.token_urlsafe(_TOKEN_BYTES) for _ in people]
    rows = [
        {"held": one.key, "link_hash": digest_of(token), "linked_at": now(), "revoked_at": None}
        for one, token in zip(people, tokens, strict=True)
    ]
    # The loaded rows are not refreshed, so that `withdraw_link` can restore a link.
    c.connection().execute(update(PersonRow).where(PersonRow.key == bindparam("held")), rows)
    states = {one: status_of(c, one).state for one in {person.study_id for person in people}}
    for person in people:
        # Replacing a judge's link during judging is part of the results.
        state = {"state": states[person.study_id]} if person.role == "judge" else {}
        _log(c, person, actor, "link-replaced" if person.linked_at else "link-made", **state)
    return tokens


def withdraw_link(c: Session, person: PersonRow, token: str, actor: str) -> None:
    """Withdraw a new link that was never sent, and restore the previous one."""
    # It may have been replaced or revoked meanwhile.
    is_new = PersonRow.link_hash == digest_of(token)
    former = {name: getattr(person, name) for name in ("link_hash", "linked_at", "revoked_at")}
    mine = update(PersonRow).where(PersonRow.key == person.key, is_new)
    if c.execute(mine.values(former).returning(PersonRow.key)).first():
        _log(c, person, actor, "link-withdrawn")


def revoke_link(c: Session, person: PersonRow, actor: str) -> None:
    """Revoke a person's link on every device; their work stays."""
    _set(c, person, link_hash=None, revoked_at=now())
    _log(c, person, actor, "link-revoked")


def consent(c: Session, person: PersonRow) -> None:
    """Record consent."""
    if person.consented_at is None:
        _set(c, person, consented_at=now(), declined_at=None)
        _log(c, person, person.role, "consented")


def decline(c: Session, person: PersonRow) -> None:
    """Record refusal; earlier consent stays."""
    if person.consented_at is None and person.declined_at is None:
        _set(c, person, declined_at=now())
        _log(c, person, person.role, "declined")


def finish(c: Session, person: PersonRow) -> None:
    """Record completion of everything."""
    if person.finished_at is None:
        _set(c, person, finished_at=now())
        _log(c, person, person.role, "finished")


def note_replies(c: Session, person: PersonRow, replies: Mapping[str, str]) -> None:
    """Keep a person's replies during solving, by question."""
    answers = _locked_answers(c, person)
    _set(c, person, answers={**answers, "replies": answers.get("replies", {}) | dict(replies)})


def answer_closing(
    c: Session,
    person: PersonRow,
    answers: Mapping[str, str],
    written: Mapping[str, str],
    asked: Container[str],
) -> None:
    """Replace a person's answers at the end of judging.

    Answers to removed questions stay.
    """
    before = _locked_answers(c, person)
    closing = {
        shelf: {q: text for q, text in before.get(shelf, {}).items() if q not in asked} | given
        for shelf, given in ((_CHOSEN, dict(answers)), ("written", dict(written)))
    }
    _set(c, person, answers={**before, **closing})
    _log(c, person, person.role, "answered")


def _locked_answers(c: Session, person: PersonRow) -> dict[str, dict[str, str]]:
    mine = select(PersonRow.answers).where(PersonRow.key == person.key).with_for_update()
    answers: dict[str, dict[str, str]] = c.scalars(mine).one()
    return answers


def reply_after(question: str, problem: str) -> str:
    """The key of the reply to a question after a problem."""
    return f"{question} {problem}"


def minutes_left(problem: str) -> str:
    """The key of the minutes that a person would need for a skipped problem."""
    return f"minutes left for {problem}"


def withdraw(c: Session, person: PersonRow) -> list[tuple[str, str]]:
    """Delete a person's texts at their wish; returns the files to delete."""
    # Concurrent saves wait, and then see it.
    c.execute(select(PersonRow.key).where(PersonRow.key == person.key).with_for_update())
    _set(c, person, withdrawn_at=now(), answers={})
    _log(c, person, person.role, "withdrawn")
    return _delete_words(c, person)


def erase(c: Session, person: PersonRow, actor: str) -> tuple[str, list[tuple[str, str]]]:
    """Erase a person's identity and texts: ranks and times stay, under a pseudonym.

    Returns the pseudonym, and the files to delete.
    """
    _refuse_erased(person)
    taken = set(c.scalars(select(PersonRow.id).where(PersonRow.study_id == person.study_id)))
    pseudonym = next(name for n in count(1) if (name := f"erased-{n}") not in taken)
    chosen = {shelf: given for shelf, given in person.answers.items() if shelf == _CHOSEN}
    values = {"id": pseudonym, "name": "", "experience": None, "seen_at": None, "answers": chosen}
    former = _hash(person.study_id, person.role, person.id)
    _set(c, person, **values, former=former, link_hash=None, revoked_at=now(), erased_at=now())
    c.execute(delete(SessionRow).where(SessionRow.person_key == person.key))
    _log(c, person, actor, "erased")
    return pseudonym, _delete_words(c, person)


def _delete_words(c: Session, person: PersonRow) -> list[tuple[str, str]]:
    """Delete a person's free text, the only case in which saved revisions change."""
    forget_letters(c, person.key)
    tasks = select(TaskRow.key).where(TaskRow.person_key == person.key)
    for revision in c.scalars(select(RevisionRow).where(RevisionRow.task_key.in_(tasks))):
        is_answer = person.role == "subject"
        revision.state = _NO_ANSWER if is_answer else without_words(revision.state)
    uploads = select(UploadRow).join(TaskRow).join(PersonRow)
    mine = uploads.where(PersonRow.key == person.key)
    files = {(one.sha256, one.ending) for one in c.scalars(mine)}
    c.execute(delete(UploadRow).where(UploadRow.task_key.in_(tasks)))
    c.flush()
    others = uploads.where(PersonRow.study_id == person.study_id)
    c.info[SCRUB] = True
    return sorted(files - {(one.sha256, one.ending) for one in c.scalars(others)})


def visited_recently(person: PersonRow) -> bool:
    """Whether a person's last visit was recorded recently."""
    return person.seen_at is not None and (now() - person.seen_at).total_seconds() < _SEEN_SECONDS


def record_visit(c: Session, person: PersonRow) -> None:
    """Record a visit."""
    _set(c, person, seen_at=now())


def _set(c: Session, person: PersonRow, **values: object) -> None:
    c.execute(update(PersonRow).where(PersonRow.key == person.key).values(**values))


def _log(c: Session, person: PersonRow, actor: str, what: str, **detail: Any) -> None:  # noqa: ANN401  JSON holds anything
    """Log an event of a person. Organizers can be removed, so the log holds their ids instead."""
    if person.role == "organizer":
        record(c, person.study_id, actor, what, whom=person.id, **detail)
    else:
        record(c, person.study_id, actor, what, person.key, **detail)


def _refuse_erased(person: PersonRow) -> None:
    if person.erased_at:
        raise QuemError(f"{person.id}'s personal data has been erased; no link can be created")


def _hash(study_id: str, role: Role, person_id: str) -> str:
    return hashlib.sha256(f"{role}\0{study_id}\0{person_id}".encode()).hexdigest()
