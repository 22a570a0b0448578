"""Organizers in the store: those of the study file, and those who were added."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from quem.errors import QuemError
from quem.store.people import (
    DEFAULT,
    add_person,
    issue_link,
    people_of,
    person_named,
    person_of_session,
    revoke_link,
    sign_in,
    sync_people,
)
from quem.studyfile.models import Organizer
from tests.store.made import STUDY, events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.store.database import Store

AMY = Organizer(id="amy", name="Amy")
BOB = Organizer(id="bob")


def sync(store: Store, declared: Sequence[Organizer]) -> None:
    """Start a server on a study file that names these."""
    with store.write() as c:
        sync_people(c, STUDY, "organizer", declared)


def linked(store: Store, organizer: str = DEFAULT) -> str:
    """Give what the cookie of a new link holds."""
    with store.write() as c:
        issue_link(c, person_named(c, STUDY, "organizer", organizer), "shell")
        return sign_in(c, person_named(c, STUDY, "organizer", organizer))


def who(store: Store, session: str) -> str | None:
    """Whose session it is."""
    with store.read() as c:
        organizer = person_of_session(c, STUDY, "organizer", session)
    return organizer.id if organizer else None


def test_links_last_until_they_are_replaced_or_their_owner_goes(store: Store) -> None:
    """A start changes no link of who is still named; the others end, but for those added."""
    default = linked(store)
    sync(store, ())
    assert who(store, default) == DEFAULT
    with store.write() as c:
        add_person(c, STUDY, "organizer", "eve", "shell")
    eve = linked(store, "eve")
    sync(store, (AMY, BOB))
    assert who(store, default) is None
    amy, bob = linked(store, "amy"), linked(store, "bob")
    assert who(store, bob) == "bob"
    assert who(store, linked(store, "amy")) == "amy"
    assert who(store, amy) is None
    sync(store, (BOB,))
    assert who(store, eve) == "eve"
    with store.write() as c:
        revoke_link(c, person_named(c, STUDY, "organizer", "bob"), "organizer:eve")
    assert who(store, bob) is None
    # Who was added, and is then named by the file, goes with it.
    sync(store, (BOB, Organizer(id="eve")))
    sync(store, ())
    assert who(store, eve) is None
    with store.read() as c:
        assert [one.id for one in people_of(c, STUDY, "organizer")] == [DEFAULT]
    assert ("organizer", "link-revoked", None, {"whom": "bob", "organizer": "eve"}) in (
        events(store)
    )


def test_ids_are_taken_once_and_known(store: Store) -> None:
    """A second one of an id is refused, and so is what is asked of nobody."""
    with pytest.raises(QuemError, match="already"), store.write() as c:
        add_person(c, STUDY, "organizer", DEFAULT, "shell")
    with pytest.raises(QuemError, match="no organizer 'zoe'"), store.read() as c:
        person_named(c, STUDY, "organizer", "zoe")
