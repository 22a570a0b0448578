"""Measures of the user: functions of one list, and definitions."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quem import lists
from quem.errors import QuemError

if TYPE_CHECKING:
    from quem.lists.measure import Outcome
    from quem.lists.names import Chosen

Items = dict[str, float]


def first_hit(items: list[str], truth: Items, k: int | None = None) -> float | None:
    assert k is None or len(items) <= k
    if not any(grade >= 1 for grade in truth.values()):
        return None
    return next((1 / at for at, item in enumerate(items, 1) if truth.get(item, 0) >= 1), 0.0)


def unknown(items: list[str], truth: Items, weight: float = 1.0) -> float:
    return weight * sum(item not in truth for item in items)


def gap(items: list[str], _: Items, scores: list[float] | None) -> float | None:
    assert scores is None or len(scores) == len(items)
    return None if scores is None or len(items) < 2 else scores[0] - scores[1]


def _found(run: lists.Lists, k: int | None) -> Outcome:
    hits = run.hits()
    held = hits.found if k is None else hits.sum((hits.position <= k).astype(float))
    return np.asarray(held, dtype=float), ((run.run.sizes == 0, "there is no list"),)


FOUND = lists.Definition(
    name="found",
    summary="How many relevant items the list holds.",
    compute=_found,
    parameters=(lists.measure("AP").definition.parameters[-1],),
)
_LISTS = st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([0.0, 0.5, 1.0]), max_size=5)
_TRUTHS = st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([0.0, 1.0, 2.0]), max_size=5)


@given(listed=_LISTS, truth=_TRUTHS, ties=st.sampled_from(["given", "trec", "expected"]))
def test_a_function_equals_the_measure_that_it_computes(
    listed: Items, truth: Items, ties: Literal["given", "trec", "expected"]
) -> None:
    """Under each rule of ties, with and without a cutoff."""
    for k in ({}, {"k": 1}, {"k": 3}):
        ours = lists.score(listed, truth, "RR", ties=ties, **k)
        own = lists.score(listed, truth, first_hit, ties=ties, **k)
        np.testing.assert_allclose(own.value, ours.value, atol=1e-12)


def test_functions_and_definitions_beside_ours() -> None:
    """They are found by name, with parameters and k, and have means as all measures."""
    run = {"q1": {"a": 0.9, "x": 0.5}, "q2": ["x", "y"], "q3": []}
    truth = {"q1": {"a": 1}, "q2": ["a"], "q3": {}}
    at_one = lists.measure(unknown, weight=2, k=1), lists.measure(FOUND, k=1)
    chosen: list[Chosen] = [unknown, at_one[0], "AP", FOUND, at_one[1], gap]
    scores = lists.evaluate(run, truth, chosen)
    assert scores.names == ("unknown", "unknown(weight=2)@1", "AP", "found", "found@1", "gap")
    assert scores["unknown"].tolist() == [1, 2, 0]
    assert scores["unknown(weight=2)@1"].tolist() == [0, 2, 0]
    assert scores[FOUND].tolist()[:2] == scores["found@1"].tolist()[:2] == [1, 0]
    assert scores["gap"].tolist()[0] == pytest.approx(0.4)
    undefined = set(scores.undefined())
    assert ("q2", "gap", "the function gives no value") in undefined
    assert ("q3", "found", "there is no list") in undefined
    assert scores.mean["unknown"] == 1
    assert scores.to_frame()["found"].tolist()[:2] == [1, 0]
    assert lists.measure("UNKNOWN@1", {"unknown": lists.define(unknown)}).name == "unknown@1"


def test_what_a_function_changes_stays_with_it() -> None:
    seen: list[int] = []

    def greedy(items: list[str], truth: Items) -> float:
        seen.append(len(items) + len(truth))
        items.clear()
        truth.clear()
        return 0.0

    run, truth = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1.0}}
    scores = lists.evaluate(run, truth, [greedy, "P"], ties="expected")
    assert (seen, scores.mean["P"], truth) == ([3, 3], 0.5, {"q": {"a": 1.0}})


def _fails(_: list[str], truth: Items) -> float:
    return truth["nobody"]


def _raises(_: lists.Lists) -> Outcome:
    raise ZeroDivisionError


def _defined(compute: Any) -> lists.Definition:  # noqa: ANN401  right and wrong ones
    return lists.Definition(name="mine", summary="", compute=compute)


@pytest.mark.parametrize("value", [None, math.nan, np.float32("nan")])
def test_no_value_is_undefined(value: object) -> None:
    own = lists.define(lambda *_: value, name="mine")
    assert lists.score(["a"], ["a"], own).reason == "the function gives no value"
    silent = _defined(lambda run: (np.full(len(run), np.nan), ()))
    assert lists.evaluate({"q1": ["a"]}, {"q1": ["a"]}, [silent]).defined == {"mine": 0}


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (_fails, "_fails: query 'q1': the function raised KeyError: 'nobody'"),
        (lambda *_: 0.0, "has no name; give the measure one"),
        (partial(unknown, weight=2), "has no name; give the measure one"),
        (lists.define(lambda *_: "1", name="x"), "x: query 'q1': the function gave '1', where a"),
        (lists.score, "score: the parameter by should have a default"),
        (_defined(_raises), "mine: its definition raised ZeroDivisionError"),
        (_defined(lambda _: (np.zeros(1), ())), "mine: its definition gives arrays of shape (1,)"),
    ],
)
def test_wrong_functions_are_named(own: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(QuemError, match=re.escape(message)):
        lists.evaluate({"q1": ["a"], "q2": ["b"]}, {"q1": ["a"], "q2": ["b"]}, [own])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": "so@3"}, "'so@3' cannot be the name of a measure"),
        ({"better": "more"}, "found: better: should be higher or lower"),
        ({"truth": "none"}, "found: truth: should be order, grades, or both"),
        ({"low": 2, "high": 1}, "found: low (2) is above high (1)"),
    ],
)
def test_wrong_definitions(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(QuemError, match=re.escape(message)):
        lists.Definition(**{"name": "found", "summary": "", "compute": _found, **changed})
