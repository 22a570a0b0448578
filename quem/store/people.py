"""Judges, people who solve, and organizers alike: links, and their states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from quem.store.judges import issue_links, judges_of, revoke_link, sync_judges
from quem.store.organizers import (
    issue_organizer_link,
    organizers_of,
    revoke_organizer_link,
    sync_organizers,
)
from quem.store.outbox import awaiting_letter
from quem.store.studies import person_named
from quem.store.subjects import issue_subject_link, revoke_subject_link, subjects_of, sync_subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sqlalchemy import Connection

    from quem.store.judges import StoredJudge
    from quem.store.organizers import StoredOrganizer
    from quem.store.outbox import Role
    from quem.store.subjects import StoredSubject
    from quem.studyfile.relevance import JudgedSpec

RoleName = Literal["judges", "people", "organizers"]
# An id, a name, a link or nothing, and a state.
LinkRow = tuple[str, str, str, str]
NEW_LINK = "new link"
_ACTOR = "shell"


@dataclass(frozen=True)
class _Role:
    noun: Role | Literal["organizer"]
    path: str  # that a link begins with
    everybody: Callable[[Connection, str], list[Any]]
    sync: Callable[[Connection, JudgedSpec], None]
    issue: Callable[[Connection, str, list[Any]], list[str]]
    revoke: Callable[[Connection, str, Any], None]


_ROLES: dict[RoleName, _Role] = {
    "judges": _Role(
        "judge",
        "j",
        judges_of,
        lambda c, spec: sync_judges(c, spec.id, spec.judges),
        lambda c, _, judges: issue_links(c, judges, _ACTOR),
        lambda c, _, judge: revoke_link(c, judge, _ACTOR),
    ),
    "people": _Role(
        "subject",
        "p",
        subjects_of,
        lambda c, spec: sync_subjects(c, spec.id, spec.solving.people if spec.solving else ()),
        lambda c, _, people: [issue_subject_link(c, one, _ACTOR) for one in people],
        lambda c, _, one: revoke_subject_link(c, one, _ACTOR),
    ),
    "organizers": _Role(
        "organizer",
        "d",
        organizers_of,
        lambda c, spec: sync_organizers(c, spec.id, spec.organizers),
        lambda c, study, people: [issue_organizer_link(c, study, p.id, _ACTOR) for p in people],
        lambda c, study, one: revoke_organizer_link(c, study, one.id, _ACTOR),
    ),
}


def sync_people(c: Connection, role: RoleName, spec: JudgedSpec) -> None:
    """Take the people of the study file over."""
    _ROLES[role].sync(c, spec)


def revoke_links(c: Connection, role: RoleName, study_id: str, ids: Collection[str]) -> None:
    """End the links of some people."""
    mine = _ROLES[role]
    for one in dict.fromkeys(ids):
        mine.revoke(c, study_id, person_named(mine.everybody(c, study_id), one, mine.noun))


def link_table(
    c: Connection,
    role: RoleName,
    study_id: str,
    base: str,
    *,
    again: Collection[str] = (),
    by_mail: Collection[str] = (),
) -> list[LinkRow]:
    """Give id, name, link, and state of everybody of a role, with the links that are made now.

    Whoever never had a link gets one, except where it comes by mail, or a letter with it is
    queued already; so does everybody in `again`.
    """
    mine = _ROLES[role]
    people = mine.everybody(c, study_id)
    named = {person_named(people, one, mine.noun).key for one in again}
    awaiting = awaiting_letter(c, study_id, mine.noun)
    states = {
        one.key: _state(one, is_by_mail=one.id in by_mail or one.key in awaiting) for one in people
    }
    new = [one for one in people if one.key in named or states[one.key] == NEW_LINK]
    tokens = dict(zip((one.key for one in new), mine.issue(c, study_id, new), strict=True))
    return [
        (one.id, one.name, f"{base}/{mine.path}/{tokens[one.key]}", NEW_LINK)
        if one.key in tokens
        else (one.id, one.name, "", states[one.key])
        for one in people
    ]


def _state(one: StoredJudge | StoredSubject | StoredOrganizer, *, is_by_mail: bool) -> str:
    if getattr(one, "forgotten_at", None):
        return "erased"
    if getattr(one, "withdrawn_at", None):
        return "withdrawn"
    if one.linked_at is one.revoked_at is None:
        return "not invited yet: see --mail, or the dashboard" if is_by_mail else NEW_LINK
    return "has a link" if one.has_link else "revoked"
