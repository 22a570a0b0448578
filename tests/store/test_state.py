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
THREE = ["S1", "S2", "S3"]
COMPARED: dict[str, Any] = {
    "new": "S1",
    "other": "S2",
    "verdict": "better",
    "side": "left",
    "seconds": 12.3,
}
# By key, what is no value of it.
WRONG: dict[str, list[object]] = {
    "ranked": [{"S1": 1}],
    "tray": ["S1", [*THREE, ["sys"]]],
    "cannot": [{"S1": "too long"}],
    "recognized": [["S1", "S1"], ["S9"], {"S1": True}],
    "comments": [{"S9": "who?"}, {"S1": ""}, {"S1": "x" * 4001}, {"S1": 1}],
    "comment": [None, "x" * 4001, "no\0text", "half a \ud83d pair"],
    "comparisons": [{}, [COMPARED] * 1001, ["S1"]],
    "placed_by": [{"S1": "luck"}, {"S1": ""}, {"S9": "drag"}, ["S1"]],
    "sure": [{"S1": "very"}, {"S1": 1}, "sure"],
    "more": [1],
}
WRONG_ANSWERS: dict[str, list[object]] = {
    "new": ["S2", "S9", "", None, ["S1"]],
    "verdict": ["best", "", None, ["better"]],
    "side": ["top", "", True],
    "seconds": [-1, "1", True, None, math.inf, math.nan, 10**400],
    "order": [1],
}
REFUSED: list[dict[str, Any]] = [
    {"ranked": [["S1"], []], "tray": ["S2", "S3", "sys"]},
    {"ranked": ["S1"], "tray": ["S2", "S3", "sys"]},
    *({"tray": THREE, "cannot": {"sys": why}} for why in ("", " \n", "x" * 501)),
    {"tray": THREE, "cannot": ["sys"]},
    *({key: value} for key, values in WRONG.items() for value in values),
    *(
        {"comparisons": [COMPARED, COMPARED | {key: value}]}
        for key, values in WRONG_ANSWERS.items()
        for value in values
    ),
    *({"comparisons": [{k: v for k, v in COMPARED.items() if k != key}]} for key in COMPARED),
]


@pytest.mark.parametrize("change", REFUSED)
def test_what_is_no_state_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidStateError) as told:
        State.parse({**EMPTY, **change}, SOLVERS)
    words = str(told.value).replace("'", "").split()
    assert words[0] in change or words[:2] in (["each", "solution"], ["each", "of"])


@given(states())
def test_any_weak_order_goes_round(state: State) -> None:
    sent = json.loads(json.dumps(state.to_json()))
    assert State.parse(sent, SOLVERS) == State.stored(sent) == state
    names = dict(zip(SOLVERS, labels(len(SOLVERS)), strict=True))
    other = state.renamed(names)
    assert State.parse(other.to_json(), names.values()) == other
    assert other.renamed({label: solver for solver, label in names.items()}) == state


@given(states(), st.data())
def test_each_solution_has_to_stand_in_it_once(state: State, data: st.DataObject) -> None:
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
    sent = {**EMPTY, key: value} if key else value
    try:
        state = State.parse(sent, SOLVERS)
    except InvalidStateError:
        return
    assert sorted(state.ranks() | dict.fromkeys(state.tray)) == sorted(SOLVERS)


def test_what_is_lacking_has_its_default_and_a_thousand_answers_keep_their_order() -> None:
    """A state that says nothing but the order is read; a damaged one of a database is no bug."""
    order = {"ranked": [["S1", "S2"]], "tray": ["S3", "sys"], "cannot": {}}
    state = State(ranked=(("S1", "S2"),), tray=("S3", "sys"))
    assert State.parse(order, SOLVERS) == State.stored(order) == state
    entries = [COMPARED | {"seconds": n} for n in range(1000)]
    sent = {**EMPTY, "comparisons": entries}
    assert State.parse(sent, SOLVERS).to_json()["comparisons"] == entries
    with pytest.raises(QuemError, match="cannot be read: ranked must be a list"):
        State.stored({**EMPTY, "ranked": 1})


@given(states(), st.sampled_from(SOLVERS))
def test_what_was_said_of_a_solution_that_is_gone_goes_too(state: State, gone: str) -> None:
    left = state.renamed({solver: solver for solver in SOLVERS if solver != gone})
    assert left.comparisons == tuple(c for c in state.comparisons if gone not in c.solutions)
    for name in ("placed_by", "sure"):
        before, after = getattr(state, name), getattr(left, name)
        assert after == {solver: how for solver, how in before.items() if solver != gone}


@given(states())
def test_words_can_be_taken_out(state: State) -> None:
    """Without words, the order and the marks are what they were, and it is still a state."""
    bare = State.parse(without_words(state.to_json()), SOLVERS)
    wordless = replace(state, cannot={}, comments={}, comment="", written={})
    assert replace(bare, cannot={}) == wordless
    assert bare.cannot == dict.fromkeys(state.cannot, "not told")


def test_labels_go_on_after_z() -> None:
    assert labels(30)[25:] == ["Z", "AA", "AB", "AC", "AD"]
    assert labels(703)[-2:] == ["ZZ", "AAA"]
    assert len(set(labels(800))) == 800
