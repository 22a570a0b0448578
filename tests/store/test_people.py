"""Links, organizers, and judges who are erased."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import pytest

from quem.errors import QuemError
from quem.store import people
from quem.store.state import Comparison, State, without_words
from quem.store.work import NotAssignedError
from quem.studyfile.models import Judge as DeclaredJudge
from tests.store import made

if TYPE_CHECKING:
    from quem.store.database import Store
    from quem.store.models import Role

WORDS = State(
    ranked=(("S1",), ("S2", "S3")),
    cannot={"sys": "Reason-Conspicuous"},
    recognized=("S2",),
    comments={"S1": "Comment-Conspicuous " + "long " * 700},
    comment="Group-Conspicuous",
    comparisons=(Comparison("S1", "S2", "better", "left", 1.5),),
    placed_by={"S1": "compare"},
    sure={"S1": "sure"},
)


def _owner(store: Store, token: str, role: Role = "judge", study: str = made.STUDY) -> str | None:
    owner = made.read(store, people.person_of_link, study, role, token)
    return owner.id if owner else None


def _bytes(store: Store) -> bytes:
    """What lies in the files of an SQLite database; of another, all rows."""
    file = store.place.file
    if file is None:
        return made.contents(store).encode()
    return b"".join(part.read_bytes() for part in file.parent.iterdir())


def test_a_link_leads_to_its_judge_until_it_is_replaced_or_revoked(store: Store) -> None:
    """Each is of 192 bits and of one study; the store holds hashes alone."""
    mine = made.ballot(store)
    made.save(store, mine)
    one, two = (made.on(store, name, people.issue_link, "shell") for name in ("J1", "J2"))
    assert all(re.fullmatch(r"[\w-]{32}", token) for token in (one, two))
    assert (_owner(store, one), _owner(store, two)) == ("J1", "J2")
    again = made.on(store, "J1", people.issue_link, "shell")
    assert (_owner(store, one), _owner(store, again)) == (None, "J1")
    wrong = (
        ("invented", "judge", made.STUDY),
        (again, "organizer", made.STUDY),
        (two, "judge", "other"),
    )
    assert [_owner(store, *those) for those in wrong] == [None] * 3  # type: ignore[arg-type]
    for secret in (again, made.on(store, "J1", people.sign_in)):
        assert secret.encode() not in _bytes(store)
        assert hashlib.sha256(secret.encode()).hexdigest() in made.contents(store)
    assert made.judge(store).has_link
    made.on(store, "J1", people.revoke_link, "dashboard")
    assert not made.judge(store).has_link
    assert _owner(store, again) is None
    made.on(store, "J1", people.issue_link, "shell")
    assert made.ballot(store).head == 1
    key = mine.person_key
    assert [(actor, what) for actor, what, who, _ in made.events(store) if who == key] == [
        ("shell", "link-made"),
        ("shell", "link-replaced"),
        ("dashboard", "link-revoked"),
        ("shell", "link-replaced"),
    ]


def test_an_erased_judge_leaves_no_trace(store: Store) -> None:
    """Id, name, reasons and comments are gone, from rows and bytes; the ranks stay."""
    name = "Id-Conspicuous"
    made.prepare(store, [DeclaredJudge(id=name, name="Ada Conspicuous", experience=12.5)])
    token = made.on(store, name, people.issue_link, "shell")
    ballots = made.dealt(store, name)[1:]
    for mine in ballots:
        made.save(store, mine, WORDS, kind="submit")
        made.save(store, mine, base=1, kind="reopen")
    assert b"Conspicuous" in _bytes(store)
    pseudonyms = [made.on(store, one, people.erase, "shell")[0] for one in ("J2", name, "J1")]
    assert pseudonyms == ["erased-1", "erased-2", "erased-3"]
    assert b"Conspicuous" not in made.contents(store).encode() + _bytes(store)
    assert _owner(store, token) is None
    for mine in ballots:
        assert {str(row["state"]) for row in made.revisions(store, mine)} == {
            str(without_words(WORDS.to_json()))
        }
    assert made.judge(store, "erased-2").experience is None


def test_an_erased_judge_does_not_come_back(store: Store) -> None:
    """Neither by the study file nor by a save that was on its way; the id is free for others."""
    mine = made.ballot(store)
    made.on(store, "J1", people.erase, "shell")
    with pytest.raises(NotAssignedError):
        made.save(store, mine, WORDS)
    assert made.revisions(store, mine) == []
    made.prepare(store, made.JUDGES)
    assert [j.id for j in made.read(store, people.people_of, made.STUDY, "judge")] == [
        "erased-1",
        "J2",
    ]
    for refused in (people.erase, people.issue_link):
        with pytest.raises(QuemError, match="erased"):
            made.on(store, "erased-1", refused, "shell")
    made.write(store, people.add_person, made.STUDY, "judge", "J1", "shell", name="Somebody else")
    assert made.judge(store).name == "Somebody else"
    assert made.on(store, "J1", people.erase, "shell")[0] == "erased-2"
