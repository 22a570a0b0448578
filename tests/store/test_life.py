"""The life of a study, and what is read of its rankings."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from quem.store import studies
from quem.store.assignment import assign_labels
from quem.store.exporting import shown_digests, submitted_rankings
from quem.store.people import (
    erase,
    people_of,
    person_named,
)
from quem.store.progress import progress_of
from quem.store.state import State
from quem.store.work import PausedError
from tests.store.made import (
    BEST_FIRST,
    PLAN,
    SOLVERS,
    STUDY,
    ballot,
    dealt,
    events,
    judge,
    made_contents,
    revisions,
    save,
    states,
)

if TYPE_CHECKING:
    from quem.store.engine import Store
    from quem.store.exporting import SubmittedRanking
    from quem.store.models import Life, StudyRow


def _set(store: Store, state: Life) -> None:
    with store.write() as c:
        studies.set_state(c, STUDY, state, "dashboard")


def _status(store: Store) -> StudyRow:
    with store.read() as c:
        return studies.status_of(c, STUDY)


def _submitted(store: Store) -> list[SubmittedRanking]:
    with store.read() as c:
        return submitted_rankings(c, STUDY)


def test_a_study_goes_from_trial_to_open_to_closed(store: Store) -> None:
    """Each step is logged with what was before; a step to where it is is none."""
    assert _status(store).state == "trial"
    for state in ("open", "closed", "closed", "open"):
        _set(store, state)
        assert _status(store).state == state
    assert [(what, detail) for _, what, _, detail in events(store)] == [
        ("open", {"before": "trial"}),
        ("closed", {"before": "open"}),
        ("open", {"before": "closed"}),
    ]


def test_a_paused_study_takes_nothing_and_shows_nothing(store: Store) -> None:
    """Saving is refused until it continues; a new notice replaces the one before."""
    mine = ballot(store)
    _set(store, "open")
    for until in ("Monday", "Monday", "Tuesday"):
        with store.write() as c:
            studies.set_state(c, STUDY, "paused", "dashboard", until)
    with store.read() as c:
        assert studies.pause_notice(c, STUDY) == "Tuesday"
    assert not _status(store).is_shown
    with pytest.raises(PausedError):
        save(store, mine)
    _set(store, "open")
    assert save(store, mine).number == 1
    assert [(what, detail) for _, what, _, detail in events(store)] == [
        ("open", {"before": "trial"}),
        ("paused", {"before": "open", "until": "Monday"}),
        ("paused", {"before": "paused", "until": "Tuesday"}),
        ("open", {"before": "paused"}),
    ]


def test_rankings_are_shown_once_closed_or_revealed(store: Store) -> None:
    """Revealing is logged each time it is asked for, and counts from the first."""
    assert not _status(store).is_shown
    _set(store, "open")
    assert not _status(store).is_shown
    with store.write() as c:
        studies.reveal(c, STUDY, "shell")
    first = _status(store).revealed_at
    assert _status(store).is_shown
    with store.write() as c:
        studies.reveal(c, STUDY, "shell")
    assert _status(store).revealed_at == first
    assert [what for _, what, _, _ in events(store)].count("revealed") == 2
    _set(store, "closed")
    assert _status(store).is_shown


def test_trial_data_can_be_discarded(store: Store) -> None:
    """Rankings, ballots, consent and what was shown go; judges and links stay."""
    mine = ballot(store)
    save(store, mine)
    save(store, ballot(store, "J2"), kind="submit")
    with store.write() as c:
        assert studies.discard_trial(c, STUDY, "dashboard") == 2
    assert revisions(store, mine) == []
    with store.read() as c:
        assert shown_digests(c, STUDY) == {}
        assert [p.tasks for p in progress_of(c, people_of(c, STUDY, "judge"), PLAN)] == [(), ()]
    *who, detail = events(store)[-1]
    assert who == ["dashboard", "trial-discarded", None]
    assert detail["rankings"] == 2
    assert {b.public_id for b in dealt(store)}.isdisjoint({mine.public_id})


@pytest.mark.parametrize("state", ["open", "paused", "closed"])
def test_what_is_no_trial_cannot_be_discarded(store: Store, state: Life) -> None:
    """Once a study has opened, nothing is thrown away."""
    mine = ballot(store)
    save(store, mine)
    _set(store, state)
    with store.write() as c:
        assert studies.discard_trial(c, STUDY, "dashboard") == 0
    assert len(revisions(store, mine)) == 1


def test_other_studies_are_left_alone(store: Store) -> None:
    """Studies in one database know nothing of each other."""
    save(store, ballot(store), kind="submit")
    with store.write() as c:
        studies.register_study(c, "other")
        studies.set_state(c, "other", "closed", "shell")
        assert studies.discard_trial(c, "other", "shell") == 0
    with store.read() as c:
        assert submitted_rankings(c, "other") == []
    assert _status(store).state == "trial"
    assert len(_submitted(store)) == 1


def test_a_study_is_registered_once(store: Store) -> None:
    """A later start leaves the state as it is."""
    _set(store, "open")
    with store.write() as c:
        studies.register_study(c, STUDY)
    assert _status(store).state == "open"


def test_digests_are_those_of_what_counts(store: Store) -> None:
    """What a judge is shown now counts, and what their submitted ranking was made on."""
    mine = ballot(store)
    save(store, mine, kind="submit")
    for text in ("second", "third"):
        with store.write() as c:
            assign_labels(c, mine, made_contents(SOLVERS, S1=text))
    texts = {solver: {solver} for solver in SOLVERS} | {"S1": {"S1", "third"}}
    expected = {s: {hashlib.sha256(t.encode()).hexdigest() for t in texts[s]} for s in SOLVERS}
    with store.read() as c:
        digests = shown_digests(c, STUDY)
    assert {solver: digests["P1", solver] for solver in SOLVERS} == expected


def test_the_last_submitted_revision_counts(store: Store) -> None:
    """Drafts do not count; what is reopened counts as it was submitted, until it is again."""
    mine = ballot(store)
    save(store, mine)
    assert _submitted(store) == []
    save(store, mine, base=1, kind="submit")
    save(store, mine, base=2, kind="reopen")
    other = State(ranked=(("S1", "S2", "S3", "sys"),))
    save(store, mine, other, base=3)
    assert [r.state for r in _submitted(store)] == [BEST_FIRST]
    save(store, mine, other, base=4, kind="submit")
    assert [r.state for r in _submitted(store)] == [other]


def test_practice_is_left_out_and_repeats_are_marked(store: Store) -> None:
    """Each submitted ballot is there once, with its occasion, but for practice."""
    for person in ("J1", "J2"):
        for held in dealt(store, person):
            save(store, held, kind="submit")
    rankings = _submitted(store)
    places = [(r.judge, r.problem, r.block, r.occasion) for r in rankings]
    assert places == sorted(places)
    assert len(places) == len(set(places)) == 12
    assert "P0" not in {r.problem for r in rankings}
    assert [r.occasion for r in rankings].count(2) == 4


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(state=states(done=True))
def test_cells_say_rank_and_marks(store: Store, state: State) -> None:
    """Rank 1 is the worst, ties are equal, cannot-judge has no rank, recognized is marked."""
    mine = ballot(store)
    base = mine.head
    if mine.is_submitted:
        base = save(store, mine, base=base, kind="reopen").number
    save(store, mine, state, base, kind="submit")
    cells = {cell.solver: cell for cell in _submitted(store)[0].cells()}
    worst_first = list(reversed(state.ranked))
    assert {name: cell.rank for name, cell in cells.items()} == {
        **{name: place for place, group in enumerate(worst_first, 1) for name in group},
        **dict.fromkeys(state.cannot),
    }
    assert {name for name, cell in cells.items() if cell.recognized} == set(state.recognized)


def test_forgetting_keeps_the_ranks(store: Store) -> None:
    """The rankings of a forgotten judge stay, under his pseudonym."""
    save(store, ballot(store), kind="submit")
    with store.write() as c:
        erase(c, person_named(c, STUDY, "judge", "J1"), "shell")
    assert [(r.judge, r.state) for r in _submitted(store)] == [("erased-1", BEST_FIRST)]


def test_progress_counts_groups(store: Store) -> None:
    """The experimenter sees how far judges are, and nothing of what they ranked."""
    ballots = dealt(store)
    save(store, ballots[0], kind="submit")
    save(store, ballots[1], kind="submit")
    save(store, ballots[2])
    with store.read() as c:
        mine, other = progress_of(c, people_of(c, STUDY, "judge"), PLAN)
    assert mine.judge.key == judge(store).key
    assert [g.status for g in mine.tasks] == ["submitted", "submitted", "started"] + ["new"] * 4
    assert mine.submitted == 1
    assert (other.tasks, other.submitted, other.seconds) == ((), 0, 0)
