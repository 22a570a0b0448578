"""The activity log: events besides revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from quem.store.models import EventRow

if TYPE_CHECKING:
    from sqlalchemy.orm import Session


def record(
    c: Session,
    study_id: str,
    actor: str,
    what: str,
    person_key: int | None = None,
    **detail: Any,  # noqa: ANN401  JSON holds anything
) -> None:
    """Add an event."""
    actor, _, organizer = actor.partition(":")
    if organizer:
        detail["organizer"] = organizer
    event = {"study_id": study_id, "actor": actor, "what": what, "person_key": person_key}
    c.execute(insert(EventRow).values(**event, detail=detail))


def note_once(c: Session, study_id: str, actor: str, what: str, **detail: Any) -> None:  # noqa: ANN401
    """Add an event, unless it equals the last one of its name."""
    mine = EventRow.study_id == study_id, EventRow.what == what
    last = select(EventRow.detail).where(*mine).order_by(EventRow.key.desc()).limit(1)
    if c.execute(last).scalar_one_or_none() != detail:
        record(c, study_id, actor, what, **detail)
