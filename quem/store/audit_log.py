"""Reading the audit trail: events, without rankings."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Select, func, or_, select

from quem.store.models import EventRow, PersonRow, RevisionRow, TaskRow
from quem.store.people import DEFAULT

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.orm import Session


_FREQUENT = ("backup", "maker-guessed")
# With the names of the values of an `AuditEvent`.
_PERSON = tuple(
    func.coalesce(column, "").label(name)
    for name, column in (("person", PersonRow.id), ("role", PersonRow.role))
)
_EVENTS = select(
    EventRow.made_at.label("at"), EventRow.actor, EventRow.what, EventRow.detail, *_PERSON
).join(PersonRow, PersonRow.key == EventRow.person_key, isouter=True)
_SAVED = (
    select(RevisionRow.made_at.label("at"), RevisionRow.kind.label("what"), *_PERSON)
    .add_columns(TaskRow.problem, TaskRow.occasion, TaskRow.practice)
    .join(TaskRow, TaskRow.key == RevisionRow.task_key)
    .join(PersonRow, PersonRow.key == TaskRow.person_key)
)


@dataclass(frozen=True)
class AuditEvent:
    """An event in a study."""

    at: dt.datetime
    what: str  # name of an event, or "submit" or "reopen"
    actor: str = "judge"  # or subject, organizer, shell, or server
    # The person concerned: their current id, and their role; both may be empty.
    person: str = ""
    role: str = ""
    problem: str = ""  # submitted or reopened
    occasion: int = 1
    practice: bool = False
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def by(self) -> str:
        """The actor in words."""
        if named := self.detail.get("organizer"):
            return "organizer" if named == DEFAULT else f"organizer {named}"
        return "command line" if self.actor == "shell" else self.actor


class Stamp(NamedTuple):
    """A value that changes whenever an analysis would: rankings, judges, or state."""

    judges: tuple[str, ...]  # ids; an erased judge has a new one
    state: str
    submitted: int  # key of the last submitted revision; 0 without one
    noted: int  # number of events in results
    guessed: int  # key of the last guess of an author; 0 without one


def last_key(c: Session, study_id: str, what: str) -> int:
    """The key of the newest event of a name, or 0."""
    newest = select(func.max(EventRow.key))
    mine = EventRow.study_id == study_id, EventRow.what == what
    return c.execute(newest.where(*mine)).scalar() or 0


def audit_events(c: Session, study_id: str, most: int) -> list[AuditEvent]:
    """The latest events, newest first: also submitted and reopened rankings.

    Periodic events are left out, except the newest backup; so are judges' guesses.
    """
    mine = EventRow.study_id == study_id
    backup = select(func.max(EventRow.key)).where(mine, EventRow.what == "backup").scalar_subquery()
    events = _EVENTS.where(mine, or_(EventRow.what.not_in(_FREQUENT), EventRow.key == backup))
    kinds = RevisionRow.kind.in_(("submit", "reopen"))
    saved = _SAVED.where(PersonRow.of(study_id, "judge"), kinds)
    found = _read(c, events.order_by(EventRow.key.desc()).limit(most))
    found += _read(c, saved.order_by(RevisionRow.key.desc()).limit(most))
    return sorted(found, key=attrgetter("at"), reverse=True)[:most]


def _read(c: Session, events: Select[Any]) -> list[AuditEvent]:
    return [AuditEvent(**row) for row in c.execute(events).mappings()]


def noteworthy(c: Session, study_id: str) -> list[AuditEvent]:
    """The events that affect results, oldest first.

    These are reveals of rankings, reopening of a closed study, and replacement of a judge's link
    while the study was open. Events before test rankings were discarded do not count, since those
    rankings are gone.
    """
    names = EventRow.what.in_(("revealed", "open", "link-replaced", "trial-discarded"))
    mine = _EVENTS.where(EventRow.study_id == study_id, names)
    events: list[AuditEvent] = []
    for event in _read(c, mine.order_by(EventRow.key)):
        if event.what == "trial-discarded":
            events = []
        conditions = {
            "revealed": True,
            "open": event.detail.get("before") == "closed",
            "link-replaced": event.detail.get("state") in ("open", "paused"),
        }
        if conditions.get(event.what):
            events.append(event)
    return events


def stamp_of(c: Session, study_id: str, state: str) -> Stamp:
    """The stamp of the current store, to detect outdated analyses."""
    mine = PersonRow.of(study_id, "judge")
    judges = c.execute(select(PersonRow.id).where(mine).order_by(PersonRow.key)).scalars()
    last = c.execute(
        select(func.max(RevisionRow.key))
        .join(TaskRow, TaskRow.key == RevisionRow.task_key)
        .join(PersonRow, PersonRow.key == TaskRow.person_key)
        .where(mine, RevisionRow.kind == "submit")
    ).scalar()
    noted, guessed = len(noteworthy(c, study_id)), last_key(c, study_id, "maker-guessed")
    return Stamp(tuple(judges), state, last or 0, noted, guessed)
