"""Organizers and their links: made once, kept until they are replaced or revoked."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, insert, select, update

from quem.errors import QuemError
from quem.store.events import record
from quem.store.models import Organizer, insert_new
from quem.store.studies import ended_link, new_link, person_named, session_values, signed_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from quem.studyfile.models import Organizer as DeclaredOrganizer

# Who runs a study whose file names nobody.
DEFAULT = "organizer"
IDLE = dt.timedelta(hours=12)  # after which an organizer's session ends


@dataclass(frozen=True)
class StoredOrganizer:
    """An organizer as the store knows them; see `quem.store.models.Organizer`."""

    key: int
    id: str
    name: str
    added: bool
    session_hash: str | None
    linked_at: dt.datetime | None
    revoked_at: dt.datetime | None

    @property
    def has_link(self) -> bool:
        """Whether a link of theirs works."""
        return self.session_hash is not None


_COLUMNS = tuple(getattr(Organizer, name) for name in StoredOrganizer.__dataclass_fields__)
_OF_SESSION = select(*_COLUMNS).where(
    signed_in(Organizer.session_hash), Organizer.study_id == bindparam("study")
)


def organizers_of(c: Connection, study_id: str) -> list[StoredOrganizer]:
    """Give all organizers of a study, in the order in which they were made."""
    mine = select(*_COLUMNS).where(Organizer.study_id == study_id)
    return [StoredOrganizer(*row) for row in c.execute(mine.order_by(Organizer.key))]


def organizer_of_session(c: Connection, study_id: str, session: str) -> StoredOrganizer | None:
    """Find the organizer whose cookie this is."""
    values = session_values(study_id, session, IDLE)
    row = c.execute(_OF_SESSION, values).one_or_none()
    return StoredOrganizer(*row) if row else None


def organizer_named(c: Connection, study_id: str, organizer_id: str) -> StoredOrganizer:
    """Find an organizer by their id."""
    return person_named(organizers_of(c, study_id), organizer_id, "organizer")


def sync_organizers(c: Connection, study_id: str, declared: Iterable[DeclaredOrganizer]) -> None:
    """Take the organizers of the study file over; those it no longer names go, with their links.

    Where the file names nobody there is one, `DEFAULT`. Who was added midway stays.
    """
    rows = {one.id: {"name": one.name, "added": False} for one in declared}
    rows = rows or {DEFAULT: {"name": "", "added": False}}
    known = {one.id: one for one in organizers_of(c, study_id)}
    for organizer_id, values in rows.items():
        row = known.get(organizer_id)
        if row is None:
            # Several workers start at once.
            c.execute(insert_new(c, Organizer).values(study_id=study_id, id=organizer_id, **values))
        elif any(getattr(row, name) != value for name, value in values.items()):
            c.execute(update(Organizer).where(Organizer.key == row.key).values(**values))
    for one in known.values():
        if one.id not in rows and not one.added:
            c.execute(delete(Organizer).where(Organizer.key == one.key))
            record(c, study_id, "server", "organizer-removed", whom=one.id)


def add_organizer(
    c: Connection, study_id: str, declared: DeclaredOrganizer, actor: str
) -> StoredOrganizer:
    """Add an organizer whom the study file does not name."""
    if any(one.id == declared.id for one in organizers_of(c, study_id)):
        raise QuemError(f"there is an organizer {declared.id!r} already; give another id")
    values = {"id": declared.id, "name": declared.name}
    c.execute(insert(Organizer).values(study_id=study_id, added=True, **values))
    record(c, study_id, actor, "organizer-added", whom=declared.id)
    return organizer_named(c, study_id, declared.id)


def issue_organizer_link(
    c: Connection, study_id: str, organizer: str = DEFAULT, actor: str = "shell"
) -> str:
    """Make an organizer's link, in place of an earlier one; gives its token, stored hashed."""
    row = organizer_named(c, study_id, organizer)
    token, values = new_link()
    c.execute(update(Organizer).where(Organizer.key == row.key).values(**values))
    what = "organizer-link-replaced" if row.linked_at else "organizer-link-made"
    record(c, study_id, actor, what, whom=organizer)
    return token


def revoke_organizer_link(c: Connection, study_id: str, organizer: str, actor: str) -> None:
    """End an organizer's link, on all devices."""
    row = organizer_named(c, study_id, organizer)
    c.execute(update(Organizer).where(Organizer.key == row.key).values(**ended_link()))
    record(c, study_id, actor, "organizer-link-revoked", whom=organizer)
