"""Saving: each acknowledged revision is there, and nobody overwrites another unseen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from quem.store import studies, work
from quem.store.models import Kind, Life, RevisionRow
from quem.store.state import State
from quem.store.work import (
    Change,
    ClosedError,
    NotAssignedError,
    Saved,
    StaleError,
    SubmittedError,
    current_state,
)
from quem.studyfile.models import Judge as DeclaredJudge
from tests.store.made import (
    BEST_FIRST,
    SOLVERS,
    STUDY,
    at_once,
    ballot,
    dealt,
    judge,
    prepare,
    revisions,
    save,
    states,
)

if TYPE_CHECKING:
    from quem.store.engine import Store

OTHER = State(ranked=(("S1",), ("S2",)), tray=("S3", "sys"))
FULL = State(
    ranked=(("S1",), ("S2",)),
    cannot={"S3": "two pages are missing"},
    tray=("sys",),
    recognized=("S1",),
    comments={"S2": "“thorough” – naïve 🙂\nsecond line"},
    comment="hard to compare",
)


SAVES: tuple[Kind, ...] = ("save", "submit")


def _close(store: Store, state: Life = "closed") -> None:
    with store.write() as c:
        studies.set_state(c, STUDY, state, "shell")


def test_revisions_count_up(store: Store) -> None:
    """Each save is a new revision, made from the one before."""
    mine = ballot(store)
    for base in range(3):
        saved = save(store, mine, base=base)
        assert (saved.number, saved.is_ended) == (base + 1, False)
    rows = revisions(store, mine)
    assert [(r["number"], r["base"], r["kind"]) for r in rows] == [
        (1, 0, "save"),
        (2, 1, "save"),
        (3, 2, "save"),
    ]
    assert ballot(store).head == 3
    assert all(r["made_at"].utcoffset().total_seconds() == 0 for r in rows)


def test_everything_of_a_state_is_kept(store: Store) -> None:
    """Order, ties, tray, reasons, marks and comments in any script come back."""
    mine = ballot(store)
    save(store, mine, FULL)
    with store.read() as c:
        assert current_state(c, ballot(store)) == FULL


def test_a_stale_save_is_refused_with_the_newer_state(store: Store) -> None:
    """Who saves from an older revision is told what the newer one is; nothing is stored."""
    mine = ballot(store)
    save(store, mine, OTHER)
    for base in (0, 2, -1):
        with pytest.raises(StaleError) as refused:
            save(store, mine, FULL, base=base, client="tab-00000002")
        assert (refused.value.number, refused.value.submitted) == (1, False)
        assert refused.value.state == OTHER
    assert len(revisions(store, mine)) == 1
    save(store, mine, kind="submit", base=1)
    with pytest.raises(StaleError) as refused:
        save(store, mine, FULL, base=1, client="tab-00000002")
    assert refused.value.submitted


def test_a_retry_is_acknowledged_once(store: Store) -> None:
    """A save whose answer was lost is acknowledged again, and stands there once."""
    mine = ballot(store)
    first = save(store, mine, OTHER, number=1)
    assert save(store, mine, OTHER, number=1) == first
    save(store, mine, FULL, base=1, client="tab-00000002")
    # Also after another tab went on, and after the study closed.
    assert save(store, mine, OTHER, number=1) == first
    _close(store)
    assert save(store, mine, OTHER, number=1) == first
    assert len(revisions(store, mine)) == 2


def test_a_retry_of_a_submit_says_so(store: Store) -> None:
    """The answer to a retry is that of the first time: submitted."""
    mine = ballot(store)
    done = save(store, mine, kind="submit")
    assert done.is_ended
    assert save(store, mine, kind="submit") == done


def test_the_same_change_of_another_tab_or_ballot_is_no_retry(store: Store) -> None:
    """A retry is told by tab and number together, within one ballot."""
    one, two = ballot(store), ballot(store, problem="P2")
    save(store, one, number=1)
    assert save(store, two, number=1).number == 1
    assert save(store, one, base=1, number=1, client="tab-00000002").number == 2


def test_a_submitted_ranking_has_to_be_reopened(store: Store) -> None:
    """After submitting, nothing changes until it is reopened; its state is then the same."""
    mine = ballot(store)
    save(store, mine, FULL, kind="submit")
    assert ballot(store).is_submitted
    for kind in SAVES:
        with pytest.raises(SubmittedError):
            save(store, mine, OTHER, base=1, kind=kind)
    # What a page sends along with "reopen" is not taken for the state.
    again = save(store, mine, State(), base=1, kind="reopen")
    assert (again.number, again.is_ended) == (2, False)
    with store.read() as c:
        assert current_state(c, ballot(store)) == FULL
    assert not ballot(store).is_submitted
    assert save(store, mine, OTHER, base=2).number == 3
    assert [r["kind"] for r in revisions(store, mine)] == ["submit", "reopen", "save"]


def test_reopening_what_is_open_changes_nothing(store: Store) -> None:
    """A ranking that is not submitted is acknowledged as it is."""
    mine = ballot(store)
    save(store, mine)
    assert save(store, mine, base=1, kind="reopen").number == 1
    assert len(revisions(store, mine)) == 1


@pytest.mark.parametrize("kind", ["save", "submit", "reopen"])
def test_a_closed_study_takes_nothing(store: Store, kind: Kind) -> None:
    """Once closed, nothing can be saved; opened again, it can."""
    mine = ballot(store)
    save(store, mine, kind="submit" if kind == "reopen" else "save")
    _close(store)
    with pytest.raises(ClosedError):
        save(store, mine, base=1, kind=kind)
    assert len(revisions(store, mine)) == 1
    _close(store, "open")
    assert save(store, mine, base=1, kind=kind).number == 2


def test_another_judges_ballot_cannot_be_saved(store: Store) -> None:
    """A judge who knows the id of another's ballot finds nothing there."""
    mine, other = ballot(store), judge(store, "J2")
    assert mine.layout is not None
    change = Change("0", "tab-00000001", 1, mine.layout.id, BEST_FIRST)
    with pytest.raises(NotAssignedError), store.write() as c:
        work.save(c, other, mine.public_id, change)
    assert revisions(store, mine) == []


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(saved=st.lists(st.tuples(states(), st.sampled_from(SAVES)), max_size=5))
def test_saved_revisions_never_change(store: Store, saved: list[tuple[State, Kind]]) -> None:
    """Whatever is saved later, earlier revisions stay as they are, to the byte."""
    mine = ballot(store)
    raw = select(RevisionRow.__table__).where(RevisionRow.task_key == mine.key)

    def rows() -> list[str]:
        with store.read() as c:
            mappings = c.execute(raw.order_by(RevisionRow.number)).mappings()
            return [json.dumps(dict(row), default=str) for row in mappings]

    held = rows()
    for state, kind in saved:
        base = ballot(store).head
        if ballot(store).is_submitted:
            save(store, mine, base=base, kind="reopen")
            base += 1
        save(store, mine, state, base, kind=kind)
        now = rows()
        assert now[: len(held)] == held
        assert len(now) > len(held)
        held = now
        with store.read() as c:
            assert current_state(c, ballot(store)) == state


def test_of_many_saves_to_one_ballot_one_wins(store: Store) -> None:
    """Of tabs that save from the same revision one is kept, and the others are told of it."""
    mine = ballot(store)
    for base in range(5):

        def tab(number: int, base: int = base) -> Saved:
            return save(store, mine, FULL, base, client=f"tab-0000000{number}")

        results = at_once(6, tab)
        won = [result for result in results if isinstance(result, Saved)]
        errors = [result for result in results if isinstance(result, StaleError)]
        assert [saved.number for saved in won] == [base + 1]
        assert [error.number for error in errors] == [base + 1] * 5
        assert all(error.state == FULL for error in errors)
    assert [r["number"] for r in revisions(store, mine)] == [1, 2, 3, 4, 5]


def test_a_save_that_is_sent_many_times_at_once_stands_there_once(store: Store) -> None:
    """Retries that overtake each other are one revision, and all are acknowledged."""
    mine = ballot(store)
    results = at_once(6, lambda _: save(store, mine, FULL))
    assert len(set(results)) == 1
    assert isinstance(results[0], Saved)
    assert len(revisions(store, mine)) == 1


def test_judges_do_not_hinder_each_other(store: Store) -> None:
    """Eight judges who save at the same time lose nothing."""
    people = tuple(DeclaredJudge(id=f"J{number}") for number in range(1, 9))
    prepare(store, people)
    mine = [ballot(store, person.id) for person in people]
    orders = [SOLVERS[n % 4 :] + SOLVERS[: n % 4] for n in range(20)]

    def session(number: int) -> int:
        for base, order in enumerate(orders):
            state = State(ranked=tuple((solver,) for solver in order))
            save(store, mine[number], state, base)
        return len(orders)

    assert at_once(8, session) == [20] * 8
    for held in mine:
        rankings = [[group[0] for group in r["state"]["ranked"]] for r in revisions(store, held)]
        assert rankings == [list(order) for order in orders]


def test_closing_while_judges_save_loses_nothing(store: Store) -> None:
    """A save is acknowledged and there, or refused as closed; none comes after closing."""
    held = [b for person in ("J1", "J2") for b in dealt(store, person)]

    def work(number: int) -> Any:  # noqa: ANN401  whatever it gives
        return save(store, held[number]) if number < len(held) else _close(store)

    results = at_once(len(held) + 1, work)
    counts = [len(revisions(store, b)) for b in held]
    assert counts == [1 if isinstance(result, Saved) else 0 for result in results[:-1]]
    assert {type(result) for result in results[:-1]} <= {Saved, ClosedError}
    with pytest.raises(ClosedError):
        save(store, held[0], base=counts[0], client="tab-00000009")


def test_discarding_while_judges_save_hinders_nobody(store: Store) -> None:
    """Saves and the discarding of trial data wait for each other, and never in a circle."""
    held = [b for person in ("J1", "J2") for b in dealt(store, person)]

    def work(number: int) -> object:
        if number < len(held):
            return save(store, held[number])
        with store.write() as c:
            return studies.discard_trial(c, STUDY, "dashboard")

    *saved, discarded = at_once(len(held) + 1, work)
    assert isinstance(discarded, int)
    assert {type(result) for result in saved} <= {Saved, NotAssignedError}
    assert discarded == sum(isinstance(result, Saved) for result in saved)
    assert all(revisions(store, b) == [] for b in held)
