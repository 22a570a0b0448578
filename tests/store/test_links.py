"""Links, and judges who are forgotten."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import pytest

from quem.errors import QuemError
from quem.store.people import (
    DEFAULT,
    add_person,
    consent,
    erase,
    issue_link,
    people_of,
    person_named,
    person_of_link,
    record_visit,
    revoke_link,
    sign_in,
    visited_recently,
)
from quem.store.state import Comparison, State, without_words
from quem.store.work import NotAssignedError
from quem.studyfile.models import Judge as DeclaredJudge
from tests.store.made import (
    JUDGES,
    STUDY,
    ballot,
    contents,
    dealt,
    events,
    judge,
    prepare,
    revisions,
    save,
)

if TYPE_CHECKING:
    from quem.store.engine import Store

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


def _issue(store: Store, judge_id: str = "J1") -> str:
    with store.write() as c:
        return issue_link(c, person_named(c, STUDY, "judge", judge_id), "shell")


def _who(store: Store, token: str) -> str | None:
    with store.read() as c:
        owner = person_of_link(c, STUDY, "judge", token)
    return owner.id if owner else None


def _forget(store: Store, judge_id: str = "J1") -> str:
    with store.write() as c:
        return erase(c, person_named(c, STUDY, "judge", judge_id), "shell")[0]


def _bytes(store: Store) -> bytes:
    """What lies in the files of an SQLite database; of another, all rows."""
    file = store.place.file
    if file is None:
        return contents(store).encode()
    return b"".join(part.read_bytes() for part in file.parent.iterdir())


def test_a_link_leads_to_its_judge(store: Store) -> None:
    """Each judge has a link of his own, of 192 bits, that works until it is replaced."""
    one, two = _issue(store), _issue(store, "J2")
    assert all(re.fullmatch(r"[\w-]{32}", token) for token in (one, two))
    assert (_who(store, one), _who(store, two)) == ("J1", "J2")
    assert judge(store).has_link
    again = _issue(store)
    assert (_who(store, one), _who(store, again)) == (None, "J1")
    assert _who(store, "invented") is None
    with store.read() as c:
        assert person_of_link(c, "another", "judge", two) is None


def test_the_store_holds_no_secret(store: Store) -> None:
    """Neither a token nor what a cookie holds is in the database, only their hashes."""
    token = _issue(store)
    with store.write() as c:
        dashboard = issue_link(c, person_named(c, STUDY, "organizer", DEFAULT), "shell")
        session = sign_in(c, person_named(c, STUDY, "judge", "J1"))
    for secret in (token, dashboard, session):
        content = contents(store)
        assert secret not in content
        assert hashlib.sha256(secret.encode()).hexdigest() in content
        if store.place.file:
            assert secret.encode() not in _bytes(store)


def test_the_newest_dashboard_link_works(store: Store) -> None:
    """Each new link of the dashboard ends the one before; a judge's link is none."""
    with store.write() as c:
        old = issue_link(c, person_named(c, STUDY, "organizer", DEFAULT), "shell")
        new = issue_link(c, person_named(c, STUDY, "organizer", DEFAULT), "shell")
    mine = _issue(store)
    with store.read() as c:
        known = [
            person_of_link(c, study, "organizer", token) is not None
            for study, token in [*((STUDY, t) for t in (old, new, mine, "")), ("another", new)]
        ]
        assert known == [False, True, False, False, False]


def test_a_revoked_link_ends(store: Store) -> None:
    """After revoking, the link leads nowhere; a new one works and the rankings are there."""
    token, mine = _issue(store), ballot(store)
    save(store, mine)
    with store.write() as c:
        revoke_link(c, person_named(c, STUDY, "judge", "J1"), "dashboard")
    assert _who(store, token) is None
    assert not judge(store).has_link
    assert _who(store, _issue(store)) == "J1"
    assert ballot(store).head == 1
    assert [(actor, what) for actor, what, _, _ in events(store)] == [
        ("shell", "link-made"),
        ("dashboard", "link-revoked"),
        ("shell", "link-replaced"),
    ]


def test_a_forgotten_judge_leaves_no_trace(store: Store) -> None:
    """Id, name, reasons and comments are gone, from rows and bytes; the ranks stay."""
    prepare(store, [DeclaredJudge(id="Id-Conspicuous", name="Ada Conspicuous", experience=12.5)])
    token = _issue(store, "Id-Conspicuous")
    ballots = dealt(store, "Id-Conspicuous")[1:]
    for mine in ballots:
        save(store, mine, WORDS, kind="submit")
        save(store, mine, base=1, kind="reopen")
    assert b"Conspicuous" in _bytes(store)
    with store.write() as c:
        person = person_named(c, STUDY, "judge", "J2")
        erase(c, person, "shell")
        pseudonym, _ = erase(c, person_named(c, STUDY, "judge", "Id-Conspicuous"), "shell")
    with store.write() as c:
        erase(c, person_named(c, STUDY, "judge", "J1"), "shell")
    assert pseudonym == "erased-2"
    assert "Conspicuous" not in contents(store)
    assert b"Conspicuous" not in _bytes(store)
    assert _who(store, token) is None
    for mine in ballots:
        for row in revisions(store, mine):
            assert row["state"] == without_words(WORDS.to_json())
    assert judge(store, pseudonym).experience is None


def test_a_forgotten_judge_is_not_made_again(store: Store) -> None:
    """Though the study file still names him, a later start does not bring him back."""
    _forget(store)
    prepare(store, JUDGES)
    with store.read() as c:
        assert [j.id for j in people_of(c, STUDY, "judge")] == ["erased-1", "J2"]
    with pytest.raises(QuemError, match="J1"):
        judge(store)


def test_nobody_is_forgotten_twice(store: Store) -> None:
    """A pseudonym gets neither a link nor another pseudonym."""
    pseudonym = _forget(store)
    with pytest.raises(QuemError, match="erased"):
        _forget(store, pseudonym)
    with pytest.raises(QuemError, match="erased"):
        _issue(store, pseudonym)


def test_a_forgotten_id_can_be_given_and_forgotten_again(store: Store) -> None:
    """The id is free for somebody else, who can be forgotten too."""
    _forget(store)
    with store.write() as c:
        add_person(c, STUDY, "judge", "J1", "shell", name="Somebody else")
    assert judge(store).name == "Somebody else"
    assert _forget(store) == "erased-2"


def test_words_do_not_come_back(store: Store) -> None:
    """A save that was on its way when its judge was forgotten is not taken."""
    mine = ballot(store)
    _forget(store)
    with pytest.raises(NotAssignedError):
        save(store, mine, WORDS)
    assert revisions(store, mine) == []


def test_a_judge_can_be_added_midway(store: Store) -> None:
    """An added judge is known with name and years, and stays when the file is read again."""
    with store.write() as c:
        added = add_person(c, STUDY, "judge", "J9", "dashboard", name="Cy", experience=4.5)
    assert (added.id, added.name, added.experience, added.added) == ("J9", "Cy", 4.5, True)
    prepare(store)
    assert judge(store, "J9").added
    assert events(store) == [("dashboard", "added", added.key, {})]


@pytest.mark.parametrize("judge_id", ["J1", "", " ", "two\nlines", "x" * 101])
def test_ids_have_to_be_new_and_one_line(store: Store, judge_id: str) -> None:
    """An id that is taken or cannot be written is refused, and nothing is added."""
    with pytest.raises(QuemError), store.write() as c:
        add_person(c, STUDY, "judge", judge_id, "shell")
    with store.read() as c:
        assert len(people_of(c, STUDY, "judge")) == 2


def test_visits_and_consent_are_noted(store: Store) -> None:
    """Consent is kept once, with its event; a visit moves the time he was last seen."""
    for _ in range(2):
        with store.write() as c:
            consent(c, person_named(c, STUDY, "judge", "J1"))
    assert judge(store).consented_at is not None
    assert [what for _, what, _, _ in events(store)] == ["consented"]
    assert not visited_recently(judge(store))
    with store.write() as c:
        record_visit(c, person_named(c, STUDY, "judge", "J1"))
    assert visited_recently(judge(store))
