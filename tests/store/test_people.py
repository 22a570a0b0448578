"""Links, organizers, and judges who are erased."""

from __future__ import annotations

import hashlib
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


def _owner(store: Store, token: str) -> str | None:
    owner = made.read(store, people.person_of_link, made.STUDY, "judge", token)
    return owner.id if owner else None


def _bytes(store: Store) -> bytes:
    """What lies in the files of an SQLite database; of another, all rows."""
    file = store.place.file
    if file is None:
        return made.contents(store).encode()
    return b"".join(part.read_bytes() for part in file.parent.iterdir())


def test_an_erased_judge_leaves_no_trace(store: Store) -> None:
    """Id, name, reasons and comments are gone, from rows and bytes; links are there as hashes."""
    name = "Id-Conspicuous"
    made.prepare(store, [DeclaredJudge(id=name, name="Ada Conspicuous", experience=12.5)])
    tokens = [made.on(store, name, people.issue_link, "shell") for _ in range(2)]
    assert [_owner(store, token) for token in tokens] == [None, name]
    for secret in (tokens[1], made.on(store, name, people.sign_in)):
        assert secret.encode() not in _bytes(store)
        assert hashlib.sha256(secret.encode()).hexdigest() in made.contents(store)
    ballots = made.dealt(store, name)[1:]
    for mine in ballots:
        made.save(store, mine, WORDS, kind="submit")
        made.save(store, mine, base=1, kind="reopen")
    assert b"Conspicuous" in _bytes(store)
    pseudonyms = [made.on(store, one, people.erase, "shell")[0] for one in ("J2", name, "J1")]
    assert pseudonyms == ["erased-1", "erased-2", "erased-3"]
    assert b"Conspicuous" not in made.contents(store).encode() + _bytes(store)
    assert _owner(store, tokens[1]) is None
    for mine in ballots:
        assert {str(row["state"]) for row in made.revisions(store, mine)} == {
            str(without_words(WORDS.to_json()))
        }
    assert made.judge(store, "erased-2").experience is None


def test_an_erased_judge_does_not_come_back(store: Store) -> None:
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
