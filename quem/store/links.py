"""The links of a role as a table: existing and new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sqlalchemy import ColumnElement, and_, func, select

from quem.store.models import PersonRow, Role
from quem.store.outbox import awaiting
from quem.store.people import issue_links, people_of, person_named, revoke_link

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy.orm import Session


RoleName = Literal["judges", "people", "organizers"]
# Id, name, link or nothing, and state.
LinkRow = tuple[str, str, str, str]
NEW_LINK = "new link"
ROLE_NAMED: dict[RoleName, Role] = {
    "judges": "judge",
    "people": "subject",
    "organizers": "organizer",
}
PATHS: dict[Role, str] = {"judge": "j", "subject": "p", "organizer": "d"}  # in links
_ACTOR = "shell"


def revoke_links(c: Session, study_id: str, role: Role, ids: Collection[str]) -> None:
    """Revoke the links of some people."""
    for one in dict.fromkeys(ids):
        revoke_link(c, person_named(c, study_id, role, one), _ACTOR)


def unlinked(c: Session, study_id: str, role: Role) -> list[PersonRow]:
    """The people who never had a link, and have no queued letter with one."""
    return people_of(c, study_id, role, _never_linked(study_id, role))


def count_unlinked(c: Session, study_id: str, role: Role) -> int:
    """The number of people who never had a link, and have no queued letter with one."""
    mine = PersonRow.of(study_id, role), _never_linked(study_id, role)
    return c.execute(select(func.count()).select_from(PersonRow).where(*mine)).scalar_one()


def _never_linked(study_id: str, role: Role) -> ColumnElement[bool]:
    never = (PersonRow.linked_at, PersonRow.revoked_at, PersonRow.erased_at, PersonRow.withdrawn_at)
    return and_(
        *(column.is_(None) for column in never), PersonRow.key.not_in(awaiting(study_id, role))
    )


def link_table(
    c: Session,
    study_id: str,
    role: Role,
    base: str,
    *,
    again: Collection[str] = (),
    by_mail: Collection[str] = (),
) -> list[LinkRow]:
    """Id, name, link, and state of everybody of a role, creating missing links.

    Everybody without a link gets one, except by mail or if a letter with it is queued; so does
    everybody in `again`.
    """
    people = people_of(c, study_id, role)
    named = {person_named(c, study_id, role, one).key for one in again}
    queued = set(c.execute(awaiting(study_id, role)).scalars())
    states = {
        one.key: _state(one, is_by_mail=one.id in by_mail or one.key in queued) for one in people
    }
    new = [one for one in people if one.key in named or states[one.key] == NEW_LINK]
    tokens = dict(zip((one.key for one in new), issue_links(c, new, _ACTOR), strict=True))
    return [
        (one.id, one.name, f"{base}/{PATHS[role]}/{tokens[one.key]}", NEW_LINK)
        if one.key in tokens
        else (one.id, one.name, "", states[one.key])
        for one in people
    ]


def _state(one: PersonRow, *, is_by_mail: bool) -> str:
    if one.erased_at:
        return "erased"
    if one.withdrawn_at:
        return "withdrawn"
    if one.linked_at is one.revoked_at is None:
        return "not invited yet: see --mail, or the dashboard" if is_by_mail else NEW_LINK
    return "has a link" if one.has_link else "revoked"
