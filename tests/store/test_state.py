"""A state holds each solution exactly once, whatever is sent."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quem.errors import QuemError
from quem.store.state import InvalidStateError, State, labels, without_words
from tests.store.made import SOLVERS, states

EMPTY: dict[str, Any] = State(tray=SOLVERS).to_json()
COMPARED: dict[str, Any] = {
    "new": "S1",
    "other": "S2",
    "verdict": "better",
    "side": "left",
    "seconds": 12.3,
}
WRONG_ANSWERS: tuple[dict[str, Any], ...] = (
    *({"new": name} for name in ("S2", "S9", "", None, ["S1"])),
    *({"verdict": verdict} for verdict in ("best", "", None, ["better"])),
    *({"side": side} for side in ("top", "", True)),
    *({"seconds": n} for n in (-1, "1", True, None, math.inf, math.nan, 10**400)),
    {"order": 1},
)


@given(states())
def test_any_weak_order_goes_round(state: State) -> None:
    """Ties, tray, cannot-judge and words survive being written and read."""
    sent = json.loads(json.dumps(state.to_json()))
    assert State.parse(sent, SOLVERS) == state
    assert State.stored(sent) == state


@given(states(), st.data())
def test_each_solution_has_to_stand_in_it_once(state: State, data: st.DataObject) -> None:
    """A solution that is lost, doubled or unknown is refused, wherever it stands."""
    sent = state.to_json()
    solver = data.draw(st.sampled_from(SOLVERS))
    places = [*sent["ranked"], sent["tray"]]
    if data.draw(st.booleans()):
        for place in places:
            place[:] = [name for name in place if name != solver]
        sent["ranked"] = [group for group in sent["ranked"] if group]
        sent["cannot"].pop(solver, None)
    else:
        data.draw(st.sampled_from(places)).append(data.draw(st.sampled_from([*SOLVERS, "S9", ""])))
    with pytest.raises(InvalidStateError):
        State.parse(sent, SOLVERS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(JSON, st.sampled_from([*EMPTY, ""]))
def test_hostile_json_is_refused(value: object, key: str) -> None:
    """Whatever is sent is a state of the block, or is refused."""
    sent = {**EMPTY, key: value} if key else value
    try:
        state = State.parse(sent, SOLVERS)
    except InvalidStateError:
        return
    assert sorted(state.ranks() | dict.fromkeys(state.tray)) == sorted(SOLVERS)


@pytest.mark.parametrize(
    "change",
    [
        {"ranked": [["S1"], []], "tray": ["S2", "S3", "sys"]},
        {"ranked": ["S1"], "tray": ["S2", "S3", "sys"]},
        {"ranked": {"S1": 1}},
        {"tray": "S1"},
        {"tray": ["S1", "S2", "S3", ["sys"]]},
        {"tray": ["S1", "S2", "S3"], "cannot": {"sys": ""}},
        {"tray": ["S1", "S2", "S3"], "cannot": {"sys": " \n"}},
        {"tray": ["S1", "S2", "S3"], "cannot": {"sys": "x" * 501}},
        {"tray": ["S1", "S2", "S3"], "cannot": ["sys"]},
        {"cannot": {"S1": "too long"}},
        {"recognized": ["S1", "S1"]},
        {"recognized": ["S9"]},
        {"recognized": {"S1": True}},
        {"comments": {"S9": "who?"}},
        {"comments": {"S1": ""}},
        {"comments": {"S1": "x" * 4001}},
        {"comments": {"S1": 1}},
        {"comment": None},
        {"comment": "x" * 4001},
        {"comment": "no\0text"},
        {"comment": "half a \ud83d pair"},
        {"comparisons": {}},
        {"comparisons": [COMPARED] * 1001},
        {"comparisons": ["S1"]},
        *({"comparisons": [COMPARED, COMPARED | change]} for change in WRONG_ANSWERS),
        *({"comparisons": [{k: v for k, v in COMPARED.items() if k != key}]} for key in COMPARED),
        {"placed_by": {"S1": "luck"}},
        {"placed_by": {"S1": ""}},
        {"placed_by": {"S9": "drag"}},
        {"placed_by": ["S1"]},
        {"sure": {"S1": "very"}},
        {"sure": {"S1": 1}},
        {"sure": "sure"},
        {"more": 1},
    ],
)
def test_what_is_no_state_is_refused(change: dict[str, Any]) -> None:
    """Wrong types, empty tie groups, doubled marks, empty and endless texts are no state."""
    with pytest.raises(InvalidStateError):
        State.parse({**EMPTY, **change}, SOLVERS)


def test_what_is_lacking_has_its_default() -> None:
    """A state that says nothing but the order is read."""
    order = {"ranked": [["S1", "S2"]], "tray": ["S3", "sys"], "cannot": {}}
    state = State(ranked=(("S1", "S2"),), tray=("S3", "sys"))
    assert State.parse(order, SOLVERS) == State.stored(order) == state


def test_as_many_comparisons_as_a_long_list_takes_are_kept_in_their_order() -> None:
    """A thousand answers go round, also several on the same pair."""
    entries = [COMPARED | {"seconds": n} for n in range(1000)]
    state = State.parse({**EMPTY, "comparisons": entries}, SOLVERS)
    assert [entry.seconds for entry in state.comparisons] == list(range(1000))
    assert state.to_json()["comparisons"] == entries


@given(states(), st.sampled_from(SOLVERS))
def test_comparisons_with_a_solution_that_is_gone_go_too(state: State, gone: str) -> None:
    """The others stay, with all that was said of them."""
    left = state.renamed({solver: solver for solver in SOLVERS if solver != gone})
    assert left.comparisons == tuple(c for c in state.comparisons if gone not in c.solutions)
    for name in ("placed_by", "sure"):
        before, after = getattr(state, name), getattr(left, name)
        assert after == {solver: how for solver, how in before.items() if solver != gone}


def test_a_damaged_state_is_told() -> None:
    """What cannot be read of a database is no bug."""
    with pytest.raises(QuemError, match="cannot be read: ranked must be a list"):
        State.stored({**EMPTY, "ranked": 1})


@given(states())
def test_names_can_be_replaced_and_back(state: State) -> None:
    """A state of labels is that of solvers under other names."""
    names = dict(zip(SOLVERS, labels(len(SOLVERS)), strict=True))
    other = state.renamed(names)
    assert State.parse(other.to_json(), names.values()) == other
    assert other.renamed({label: solver for solver, label in names.items()}) == state


@given(states())
def test_ranks_count_tie_groups_from_the_worst(state: State) -> None:
    """Rank 1 is the worst, ties are equal, what cannot be judged has none."""
    ranks = state.ranks()
    for place, group in enumerate(reversed(state.ranked), 1):
        assert {ranks[solver] for solver in group} == {place}
    assert {solver for solver, rank in ranks.items() if rank is None} == set(state.cannot)
    assert set(state.tray).isdisjoint(ranks)


@given(states())
def test_words_can_be_taken_out(state: State) -> None:
    """Without words, the order and the marks are what they were, and it is still a state."""
    bare = State.parse(without_words(state.to_json()), SOLVERS)
    assert replace(bare, cannot={}) == replace(
        state, cannot={}, comments={}, comment="", written={}
    )
    assert set(bare.cannot) == set(state.cannot)
    assert set(bare.cannot.values()) <= {"not told"}


def test_labels_go_on_after_z() -> None:
    """Labels are A to Z, then AA, AB and so on, each once."""
    assert labels(3) == ["A", "B", "C"]
    assert labels(30)[25:] == ["Z", "AA", "AB", "AC", "AD"]
    assert labels(703)[-2:] == ["ZZ", "AAA"]
    assert len(set(labels(800))) == 800
