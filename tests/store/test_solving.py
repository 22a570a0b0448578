"""Subjects' answers, clocks, and orders in the store."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quem.store import solving, studies
from quem.store.assignment import assign_tasks, balanced_orders, least_used
from quem.store.clock import SILENT_SECONDS, spent_on
from quem.store.people import (
    EXPERIENCE,
    add_person,
    erase,
    note_replies,
    people_of,
    person_named,
    withdraw,
)
from quem.store.uploads import add_upload, uploads_of
from quem.store.work import (
    ClosedError,
    ElsewhereError,
    NotAssignedError,
    PausedError,
    StaleError,
    SubmittedError,
    last_answer,
    task_of,
    tasks_of,
)
from tests.store.made import STUDY, at_once
from tests.store.solving import (
    PROBLEMS,
    FakeTime,
    assigned,
    run,
    save,
    subject,
    task,
    with_session,
)

if TYPE_CHECKING:
    from pathlib import Path

    from quem.store.clock import Running
    from quem.store.engine import Store


@given(st.integers(1, 12))
def test_orders_are_balanced(count: int) -> None:
    """Each number is equally often at each place, and each follows each other equally often."""
    rows = balanced_orders(count)
    odd = count % 2 and count > 1
    assert len(rows) == (2 * count if odd else count)
    for place in range(count):
        assert set(Counter(row[place] for row in rows).values()) == {len(rows) // count}
    followed = Counter(pair for row in rows for pair in pairwise(row))
    assert len(followed) == count * (count - 1)
    assert set(followed.values()) <= {2 if odd else 1}


def test_orders_of_the_literature() -> None:
    """The rows for four, as Williams (1949) has them."""
    assert balanced_orders(4) == [(0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1)]
    assert balanced_orders(3)[:3] == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]


def test_seven_subjects_and_four_problems(store: Store) -> None:
    """Each problem is once or twice at each position; who comes at once gets another row."""
    with_session(store, 7)
    at_once(7, lambda n: assigned(store, f"S{n + 1}", "balanced"))
    orders = []
    for n in range(1, 8):
        with store.read() as c:
            tasks = tasks_of(c, person_named(c, STUDY, "subject", f"S{n}").key)
        assert tasks[0].practice
        orders.append([one.problem for one in tasks[1:]])
    assert {tuple(sorted(order)) for order in orders} == {PROBLEMS}
    for place in range(4):
        counts = Counter(order[place] for order in orders)
        assert set(counts) == set(PROBLEMS)
        assert set(counts.values()) <= {1, 2}
    assert least_used([0, 0, 1, None], 3) == 2


def test_saving(store: Store) -> None:
    """Drafts are appended; a retry is the same; an older base is refused with the newer draft."""
    with_session(store)
    gid = task(store)
    assert save(store, gid, 0, "one").number == 1
    again = save(store, gid, 0, "one")
    assert (again.number, again.is_retry) == (1, True)
    with pytest.raises(StaleError) as stale:
        save(store, gid, 0, "other", client="tab-2")
    assert (stale.value.number, stale.value.state.text, stale.value.submitted) == (1, "one", False)
    submitted = save(store, gid, 1, "two", kind="submit")
    assert submitted.is_ended
    assert len(submitted.receipt) == 10
    with pytest.raises(SubmittedError):
        save(store, gid, 2, "three")
    assert save(store, gid, 2, kind="reopen", number=9).kind == "reopen"
    with store.read() as c:
        mine = task_of(c, subject(store).key, gid)
        assert last_answer(c, mine).text == "two"
        assert mine.ended is None
    assert save(store, gid, 3, "three").number == 4
    assert save(store, gid, 4, "three", kind="skip").is_ended


def test_who_may_not_save(store: Store) -> None:
    """Another's task is not there; nothing is saved before the start or after the end."""
    with_session(store)
    gid = task(store)
    other = assigned(store, "S2")[1].public_id
    with pytest.raises(NotAssignedError):
        save(store, other, 0)
    with pytest.raises(NotAssignedError):
        save(store, other, 0, name="S2")
    with pytest.raises(NotAssignedError):
        save(store, gid, 0, files=("nothing",))
    with store.write() as c:
        studies.set_solving(c, STUDY, "closed", "shell")
    with pytest.raises(ClosedError):
        save(store, gid, 0)
    with pytest.raises(ClosedError):
        run(store, gid)


def test_two_savers_at_once_lose_nothing(store: Store) -> None:
    """Of two saves from one draft one is kept, and the other is told."""
    with_session(store)
    gid = task(store)
    refused = []

    def saving(tab: int) -> None:
        client = f"tab-{tab}"
        try:
            save(store, gid, 0, client, client=client)
        except StaleError as stale:
            refused.append((client, stale.state.text))

    at_once(2, saving)
    assert [{client, kept} for client, kept in refused] == [{"tab-0", "tab-1"}]


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["work", "work", "pause", "away"]),
            st.sampled_from([1, 15, 45, 46, 300]),
            st.sampled_from(["tab-1", "tab-2"]),
        ),
        max_size=14,
    )
)
def test_the_clock_agrees_with_a_loop(
    clock_store: Store, said: list[tuple[Running, int, str]]
) -> None:
    """Work, pauses, and absence add up to the time that passed; work is what was heard of."""
    store = clock_store
    with pytest.MonkeyPatch.context() as patch:
        time = FakeTime(patch)
        with store.write() as c:
            name = f"T{len(people_of(c, STUDY, 'subject'))}"
            one = add_person(c, STUDY, "subject", name, "shell", name="")
            rng = random.Random(0)
            assign_tasks(c, one, ["P1"], rng=rng)
            gid = tasks_of(c, one.key)[0].public_id
            solving.start_task(c, one, gid, "start", None)
        expected = dict.fromkeys(("work", "pause", "away"), 0.0)
        running = "work"
        for now_running, seconds, client in said:
            time.passes(seconds)
            silent = running == "work" and seconds > SILENT_SECONDS
            expected["away" if silent else running] += seconds
            with store.write() as c:
                solving.run_clock(c, one, gid, client, now_running, take=True)
            running = now_running
        with store.read() as c:
            mine = task_of(c, one.key, gid)
            spent = spent_on(mine)
        assert vars(spent) == expected
        time.passes(30)
        with store.read() as c:
            spent = spent_on(mine)
        expected[running] += 30
        assert vars(spent) == expected


def test_the_newest_tab_holds_the_clock(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The older one is refused until it takes the clock over again."""
    with_session(store)
    time = FakeTime(monkeypatch)
    gid = task(store)
    run(store, gid, client="tab-1", take=True)
    time.passes(10)
    run(store, gid, client="tab-2", take=True)
    time.passes(10)
    with pytest.raises(ElsewhereError):
        run(store, gid, client="tab-1")
    run(store, gid, client="tab-2")
    mine = run(store, gid, client="tab-1", take=True)
    assert spent_on(mine).work == 20


def test_the_limit(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses do not count, absence does; at the end the last draft counts, and nothing later."""
    with_session(store)
    time = FakeTime(monkeypatch)
    gid = task(store, limit=60)
    save(store, gid, 0, "first")
    time.passes(20)
    run(store, gid, "pause", take=True)
    time.passes(1000)
    with pytest.raises(PausedError):
        save(store, gid, 1, "in a pause")
    run(store, gid, "away")
    time.passes(39)
    assert run(store, gid).ended is None
    time.passes(2)
    with pytest.raises(SubmittedError):
        save(store, gid, 1, "too late")
    assert run(store, gid).ended == "timeout"
    with pytest.raises(SubmittedError):
        save(store, gid, 2, kind="reopen", number=9)
    with store.read() as c:
        mine = task_of(c, subject(store).key, gid)
        assert last_answer(c, mine).text == "first"
        spent = spent_on(mine)
        assert 61 <= spent.work + spent.away <= 62


def test_withdrawing_leaves_no_word(store: Store, tmp_path: Path) -> None:
    """Text, replies, and names of files are in no byte of the database file."""
    with_session(store)
    gid = task(store)
    with store.write() as c:
        one = subject(store)
        about: dict[str, Any] = {
            "sha256": "ab" * 32,
            "size": 3,
            "ending": ".pdf",
            "name": "zebrafile.pdf",
        }
        upload = add_upload(c, one, gid, **about)
        note_replies(c, one, {"field": "zebrareply"})
    assert upload is not None
    save(store, gid, 0, "zebratext", files=(upload.public_id,))
    with store.write() as c:
        assert withdraw(c, subject(store)) == [("ab" * 32, ".pdf")]
    with pytest.raises(NotAssignedError):
        save(store, gid, 1)
    with store.read() as c:
        mine = task_of(c, subject(store).key, gid)
        assert last_answer(c, mine).text == ""
        assert uploads_of(c, mine) == []
    for path in tmp_path.glob("store.sqlite3*"):
        assert b"zebra" not in path.read_bytes()


def test_who_withdraws_while_a_tab_saves_leaves_no_word(store: Store) -> None:
    """Either the save is first, and its words go, or it is refused."""
    with_session(store)
    gid = task(store)

    def work(number: int) -> object:
        if number:
            return save(store, gid, 0, "zebratext", client=f"tab-{number}")
        with store.write() as c:
            return withdraw(c, subject(store))

    at_once(4, work)
    with store.read() as c:
        assert last_answer(c, task_of(c, subject(store).key, gid)).text == ""


def test_erasing(store: Store) -> None:
    """Name and id go; the study file does not bring the person back."""
    with_session(store)
    with store.write() as c:
        erase(c, subject(store), "shell")
    with_session(store)
    with store.read() as c:
        ids = [one.id for one in people_of(c, STUDY, "subject")]
    assert ids == ["erased-1", "S2"]


def test_the_newest_reply_counts(store: Store) -> None:
    """Replies to other questions stay."""
    with_session(store)
    for years in ("7", "7", "9"):
        with store.write() as c:
            note_replies(c, subject(store), {EXPERIENCE: years})
            note_replies(c, subject(store), {"field": "tea"})
    assert subject(store).replies == {EXPERIENCE: "9", "field": "tea"}


def test_test_answers_go_when_the_session_opens(store: Store) -> None:
    """Drafts, orders, replies, consent, and withdrawals of the trial are gone; later ones stay."""
    with_session(store, state="trial")
    gid = task(store)
    save(store, gid, 0)
    with store.write() as c:
        note_replies(c, subject(store), {EXPERIENCE: "40"})
        withdraw(c, subject(store, "S2"))
    with store.write() as c:
        studies.discard_solving_trial(c, STUDY, "shell")
        studies.set_solving(c, STUDY, "open", "shell")
    assert subject(store).consented_at is None
    assert not subject(store, "S2").is_gone
    with store.read() as c:
        assert subject(store).replies == {}
    with store.read() as c:
        assert tasks_of(c, subject(store).key) == []
    gid = task(store)
    save(store, gid, 0)
    with store.write() as c:
        assert studies.discard_solving_trial(c, STUDY, "shell") == []
    assert save(store, gid, 1).number == 2
