"""Saving: acknowledged revisions are there, nobody overwrites another unseen; what counts."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, cast, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quem.store import studies, work
from quem.store.exporting import submitted_rankings
from quem.store.models import Life
from quem.store.people import erase
from quem.store.state import State
from quem.store.work import ClosedError, NotAssignedError, PausedError, StaleError, SubmittedError
from tests.store import made
from tests.store.made import BEST_FIRST, STUDY, at_once, ballot, revisions, save

if TYPE_CHECKING:
    from quem.store.database import Store
    from quem.store.models import Kind

REFUSALS = (ClosedError, PausedError, StaleError, SubmittedError)
NUMBERS = count(1)
STEPS = st.tuples(
    st.sampled_from(["save", "save", "submit", "submit", "reopen", "open", "paused", "closed"]),
    st.sampled_from([0, 0, 0, 0, -1, 1]),
    made.states(),
)


def _set(store: Store, state: Life) -> None:
    made.write(store, studies.set_state, STUDY, state, "shell")


@settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(STEPS, max_size=9))
def test_saving_agrees_with_a_list(store: Store, steps: list[tuple[str, int, State]]) -> None:
    """Revisions are appended and never change; what is stale, ended, or closed is refused."""
    mine, acknowledged = ballot(store), []
    life = "open"
    _set(store, "open")
    held, now = revisions(store, mine), made.read(store, work.current_state, mine)
    for what, off, state in steps:
        if what in get_args(Life):
            life = what
            _set(store, cast("Life", life))
            continue
        is_ended = bool(held) and held[-1]["kind"] == "submit"
        change: dict[str, Any] = {"state": state, "base": len(held) + off, "kind": what}
        change |= {"number": next(NUMBERS)}
        got: Any = None
        try:
            got = save(store, mine, **change)
        except REFUSALS as refused:
            got = refused
        is_new = False
        if life == "closed":
            assert isinstance(got, ClosedError)
        elif life == "paused":
            assert isinstance(got, PausedError)
        elif off:
            assert (got.number, got.submitted, got.state) == (len(held), is_ended, now)
        elif is_ended if what != "reopen" else not held:
            assert isinstance(got, SubmittedError)
        else:
            # What a page sends along with "reopen" is not taken for the state.
            now = now if what == "reopen" else state
            is_new = is_ended or what != "reopen"
            assert (got.number, got.is_ended) == (len(held) + is_new, what == "submit")
            assert not got.is_retry
        rows = revisions(store, mine)
        if isinstance(got, work.Saved):
            assert got.at == rows[-1]["made_at"]
        assert rows[: len(held)] == held
        assert [row["kind"] for row in rows[len(held) :]] == [what] * is_new
        task = made.read(store, work.task_of, mine.person_key, mine.public_id)
        assert made.read(store, work.current_state, task) == now
        held = rows
        if is_new:
            acknowledged.append((change, got))
    # A retry, however late, is acknowledged as it was.
    again = [save(store, mine, **change) for change, _ in acknowledged]
    assert again == [saved for _, saved in acknowledged]
    assert all(one.is_retry for one in again)
    assert revisions(store, mine) == held


def test_the_same_change_of_another_tab_or_ballot_is_no_retry(store: Store) -> None:
    one, two = ballot(store), ballot(store, problem="P2")
    save(store, one, number=1)
    assert save(store, two, number=1).number == 1
    assert save(store, one, base=1, number=1, client="tab-00000002").number == 2
    with pytest.raises(NotAssignedError):
        save(store, one, number=1, by=made.judge(store, "J2"))


def test_of_many_saves_to_one_ballot_one_wins(store: Store) -> None:
    """Of tabs that save from the same revision one wins, and the others get a conflict."""
    mine = ballot(store)
    for base in range(5):

        def tab(number: int, base: int = base) -> work.Saved:
            return save(store, mine, base=base, client=f"tab-0000000{number}")

        results = at_once(6, tab)
        won = [result for result in results if isinstance(result, work.Saved)]
        errors = [result for result in results if isinstance(result, StaleError)]
        assert [saved.number for saved in won] == [base + 1]
        assert [(error.number, error.state) for error in errors] == [(base + 1, BEST_FIRST)] * 5
    assert [r["number"] for r in revisions(store, mine)] == [1, 2, 3, 4, 5]
    # Retries that overtake each other are one revision, and all are acknowledged.
    results = at_once(6, lambda _: save(store, mine, base=5))
    assert len(set(results)) == 1
    assert isinstance(results[0], work.Saved)
    assert len(revisions(store, mine)) == 6


@pytest.mark.parametrize("what", ["close", "discard"])
def test_what_ends_while_judges_save_loses_nothing(store: Store, what: str) -> None:
    held = [b for person in ("J1", "J2") for b in made.dealt(store, person)]

    def act(number: int) -> object:
        if number < len(held):
            return save(store, held[number])
        if what == "discard":
            return made.write(store, studies.discard_trial, STUDY, "dashboard")
        _set(store, "closed")
        return None

    *saved, ended = at_once(len(held) + 1, act)
    is_saved = [isinstance(result, work.Saved) for result in saved]
    left = [len(revisions(store, b)) for b in held]
    refused = ClosedError if what == "close" else NotAssignedError
    assert {type(result) for result in saved} <= {work.Saved, refused}
    assert (ended, left) == ((None, is_saved) if what == "close" else (sum(is_saved), [0] * 14))
    with pytest.raises(refused):
        save(store, held[0], base=left[0], client="tab-00000009")


def test_the_last_submitted_revision_counts(store: Store) -> None:
    """Drafts do not; what is reopened counts as it was submitted, also of an erased judge."""
    mine = made.ballot(store)
    other = State(ranked=(("S1", "S2", "S3", "sys"),))
    counted = []
    steps: list[tuple[State, Kind]] = [(made.BEST_FIRST, "save"), (made.BEST_FIRST, "submit")]
    steps += [(made.BEST_FIRST, "reopen"), (other, "save"), (other, "submit")]
    for base, (state, kind) in enumerate(steps):
        made.save(store, mine, state, base, kind=kind)
        counted.append([one.state for one in made.read(store, submitted_rankings, made.STUDY)])
    assert counted == [[], [made.BEST_FIRST], [made.BEST_FIRST], [made.BEST_FIRST], [other]]
    made.on(store, "J1", erase, "shell")
    (ranking,) = made.read(store, submitted_rankings, made.STUDY)
    assert (ranking.judge, ranking.state) == ("erased-1", other)
    made.write(store, studies.register_study, "other")
    assert made.read(store, submitted_rankings, "other") == []


@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(state=made.states(done=True))
def test_cells_say_rank_and_marks(store: Store, state: State) -> None:
    """Rank 1 is the worst, ties are equal, cannot-judge has no rank, recognized is marked."""
    mine = made.ballot(store)
    base = mine.head
    if mine.is_submitted:
        base = made.save(store, mine, base=base, kind="reopen").number
    made.save(store, mine, state, base, kind="submit")
    (ranking,) = made.read(store, submitted_rankings, made.STUDY)
    cells = {cell.solver: cell for cell in ranking.cells()}
    worst_first = list(reversed(state.ranked))
    assert {name: cell.rank for name, cell in cells.items()} == {
        **{name: place for place, group in enumerate(worst_first, 1) for name in group},
        **dict.fromkeys(state.cannot),
    }
    assert {name for name, cell in cells.items() if cell.recognized} == set(state.recognized)
