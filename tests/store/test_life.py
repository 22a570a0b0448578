"""The life of a study, and what is read of its rankings."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings

from quem.store import studies
from quem.store.assignment import assign_labels
from quem.store.exporting import shown_digests, submitted_rankings
from quem.store.people import erase, people_of
from quem.store.standing import progress_of
from quem.store.state import State
from tests.store import made

if TYPE_CHECKING:
    from quem.store.database import Store
    from quem.store.models import Kind, Life


def _set(store: Store, state: Life, until: str = "") -> None:
    made.write(store, studies.set_state, made.STUDY, state, "dashboard", until)


def test_trial_data_can_be_discarded(store: Store) -> None:
    mine = made.ballot(store)
    made.save(store, mine)
    made.save(store, made.ballot(store, "J2"), kind="submit")
    made.write(store, studies.register_study, "other")
    assert made.write(store, studies.discard_trial, "other", "shell") == 0
    later: tuple[Life, ...] = ("open", "paused", "closed")
    for state in later:
        _set(store, state)
        assert made.write(store, studies.discard_trial, made.STUDY, "shell") == 0
    assert len(made.revisions(store, mine)) == 1
    _set(store, "trial")
    assert made.write(store, studies.discard_trial, made.STUDY, "dashboard") == 2
    assert made.revisions(store, mine) == []
    assert made.read(store, shown_digests, made.STUDY) == {}
    judges = made.read(store, people_of, made.STUDY, "judge")
    assert [one.tasks for one in made.read(store, progress_of, judges, made.PLAN)] == [(), ()]
    *who, detail = made.events(store)[-1]
    assert (who, detail["rankings"]) == (["dashboard", "trial-discarded", None], 2)
    assert {b.public_id for b in made.dealt(store)}.isdisjoint({mine.public_id})


def test_digests_are_those_of_what_counts(store: Store) -> None:
    """What a judge is shown now counts, and what their submitted ranking was made on."""
    mine = made.ballot(store)
    made.save(store, mine, kind="submit")
    for text in ("second", "third"):
        made.write(store, assign_labels, mine, made.made_contents(made.SOLVERS, S1=text))
    texts = {solver: {solver} for solver in made.SOLVERS} | {"S1": {"S1", "third"}}
    digests = made.read(store, shown_digests, made.STUDY)
    for solver in made.SOLVERS:
        expected = {hashlib.sha256(text.encode()).hexdigest() for text in texts[solver]}
        assert digests["P1", solver] == expected


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


def test_practice_is_left_out_and_repeats_are_marked(store: Store) -> None:
    for person in ("J1", "J2"):
        for held in made.dealt(store, person):
            made.save(store, held, kind="submit")
    rankings = made.read(store, submitted_rankings, made.STUDY)
    places = [(r.judge, r.problem, r.block, r.occasion) for r in rankings]
    assert places == sorted(set(places))
    assert "P0" not in {r.problem for r in rankings}
    assert (len(places), [r.occasion for r in rankings].count(2)) == (12, 4)


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
