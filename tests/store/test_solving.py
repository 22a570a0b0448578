"""Subjects' answers, clocks, and orders in the store."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quem.store import studies, work
from quem.store.assignment import assign_tasks, balanced_orders, least_used
from quem.store.clock import SILENT_SECONDS, spent_on
from quem.store.people import EXPERIENCE, add_person, note_replies, people_of, withdraw
from quem.store.uploads import add_upload, uploads_of
from tests.store import solving as session
from tests.store.made import STUDY, at_once, on, read, write

if TYPE_CHECKING:
    from quem.store.clock import Running
    from quem.store.database import Store
    from quem.store.models import Role, TaskRow

S1: tuple[Role, str] = ("subject", "S1")


def _text(store: Store, of: TaskRow) -> str:
    return read(store, work.last_answer, session.found(store, of.public_id)).text


@given(st.integers(1, 12))
def test_orders_are_balanced(count: int) -> None:
    rows = balanced_orders(count)
    odd = count % 2 and count > 1
    assert len(rows) == (2 * count if odd else count)
    for place in range(count):
        assert set(Counter(row[place] for row in rows).values()) == {len(rows) // count}
    followed = Counter(pair for row in rows for pair in pairwise(row))
    assert len(followed) == count * (count - 1)
    assert set(followed.values()) <= {2 if odd else 1}
    # As Williams (1949) has them.
    assert balanced_orders(4) == [(0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1)]


def test_seven_subjects_and_four_problems(store: Store) -> None:
    session.with_session(store, 7)
    at_once(7, lambda n: session.assigned(store, f"S{n + 1}", "balanced"))
    orders = []
    for n in range(1, 8):
        first, *tasks = read(store, work.tasks_of, session.subject(store, f"S{n}").key)
        assert first.practice
        orders.append([one.problem for one in tasks])
    assert {tuple(sorted(order)) for order in orders} == {session.PROBLEMS}
    for place in range(4):
        counts = Counter(order[place] for order in orders)
        assert set(counts) == set(session.PROBLEMS)
        assert set(counts.values()) <= {1, 2}
    assert least_used([0, 0, 1, None], 3) == 2


_SAID = st.tuples(
    st.sampled_from(["work", "work", "pause", "away"]),
    st.sampled_from([1, 15, 45, 46, 300]),
    st.sampled_from(["tab-1", "tab-2"]),
)


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(_SAID, max_size=14))
def test_the_clock_agrees_with_a_loop(store: Store, said: list[tuple[Running, int, str]]) -> None:
    """Work, pauses, and absence add up to the time that passed; work is what was heard of."""
    with pytest.MonkeyPatch.context() as patch:
        time = session.FakeTime(patch)
        with store.write() as c:
            name = f"T{len(people_of(c, STUDY, 'subject'))}"
            one = add_person(c, STUDY, "subject", name, "shell", name="")
            assign_tasks(c, one, ["P1"], rng=random.Random(0))
            gid = work.tasks_of(c, one.key)[0].public_id
            work.start_task(c, one, gid, "start", None)
        expected = dict.fromkeys(("work", "pause", "away"), 0.0)
        running = "work"
        for now_running, seconds, client in said:
            time.passes(seconds)
            silent = running == "work" and seconds > SILENT_SECONDS
            expected["away" if silent else running] += seconds
            write(store, work.run_clock, one, gid, client, now_running, take=True)
            running = now_running
        mine = read(store, work.task_of, one.key, gid)
        assert vars(spent_on(mine)) == expected
        time.passes(30)
        expected[running] += 30
        assert vars(spent_on(mine)) == expected


def test_who_withdraws_while_a_tab_saves_leaves_no_word(store: Store) -> None:
    """Texts, replies, and names of files are in no byte of the database file."""
    session.with_session(store)
    mine = session.task(store)
    with store.write() as c:
        about = {"sha256": "ab" * 32, "size": 3, "ending": ".pdf", "name": "zebrafile.pdf"}
        add_upload(c, session.subject(store), mine.public_id, **about)  # type: ignore[arg-type]
        note_replies(c, session.subject(store), {"field": "zebrareply"})

    def do(number: int) -> object:
        if number:
            return session.save(store, mine, 0, "zebratext", client=f"tab-{number}")
        return on(store, S1, withdraw)

    gone, *_ = at_once(4, do)
    assert gone == [("ab" * 32, ".pdf")]
    assert _text(store, mine) == ""
    assert read(store, uploads_of, mine) == []
    with pytest.raises(work.NotAssignedError):
        session.save(store, mine, 1)
    if store.place.file:
        for path in store.place.file.parent.glob("store.sqlite3*"):
            assert b"zebra" not in path.read_bytes()


def test_test_answers_go_when_the_session_opens(store: Store) -> None:
    """Drafts, orders, replies, consent, and withdrawals of the trial are gone; later ones stay."""
    session.with_session(store, state="trial")
    session.save(store, session.task(store), 0)
    on(store, S1, note_replies, {EXPERIENCE: "40"})
    on(store, ("subject", "S2"), withdraw)
    write(store, studies.discard_solving_trial, STUDY, "shell")
    write(store, studies.set_solving, STUDY, "open", "shell")
    assert not session.subject(store, "S2").is_gone
    assert (session.subject(store).consented_at, session.subject(store).replies) == (None, {})
    assert read(store, work.tasks_of, session.subject(store).key) == []
    mine = session.task(store)
    session.save(store, mine, 0)
    assert write(store, studies.discard_solving_trial, STUDY, "shell") == []
    assert session.save(store, mine, 1).number == 2
