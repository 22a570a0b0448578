"""Organizers and their links: made once, kept until they are replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select, update

from quem.store.inserting import insert_new
from quem.store.models import Organizer, now
from quem.store.studies import digest_of, new_token, session_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["is_organizer", "issue_organizer_link"]

# Who runs a study whose file names nobody.
DEFAULT = "organizer"


def issue_organizer_link(c: Connection, study_id: str, organizer: str = DEFAULT) -> str:
    """Make an organizer's link, in place of an earlier one; gives its token, stored hashed.

    Parameters
    ----------
    c : Connection
        Of a writing transaction.
    study_id, organizer : str
    """
    token = new_token()
    c.execute(insert_new(c, Organizer).values(study_id=study_id, id=organizer))
    mine = Organizer.study_id == study_id, Organizer.id == organizer
    values = {"session_hash": digest_of(session_of(token)), "linked_at": now()}
    c.execute(update(Organizer).where(*mine).values(**values))
    return token


def is_organizer(c: Connection, study_id: str, session: str) -> bool:
    """Whether a session is that of an organizer's link."""
    held = Organizer.study_id == study_id, Organizer.session_hash == digest_of(session)
    return c.execute(select(Organizer.key).where(*held)).first() is not None
