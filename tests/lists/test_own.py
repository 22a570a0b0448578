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
    from collections.abc import Callable, Hashable

    from quem.lists.measure import Outcome
    from quem.lists.names import Chosen

Items = dict[str, float]


def first_hit(items: list[str], truth: Items, k: int | None = None) -> float | None:
    """One over the place of the first relevant item.

    The rest of the docstring is not shown.
    """
    assert k is None or len(items) <= k
    if not any(grade >= 1 for grade in truth.values()):
        return None
    return next((1 / at for at, item in enumerate(items, 1) if truth.get(item, 0) >= 1), 0.0)


def ideal_gain(items: list[str], truth: Items) -> float | None:
    """The normalized discounted gain, without looking at what ours does."""
    best = sorted((max(grade, 0) for grade in truth.values()), reverse=True)
    ideal = sum(grade / math.log2(at + 1) for at, grade in enumerate(best, 1))
    found = sum(max(truth.get(x, 0), 0) / math.log2(at + 1) for at, x in enumerate(items, 1))
    return found / ideal if ideal else None


def unknown(items: list[str], truth: Items, weight: float = 1.0) -> float:
    """How many items nobody knows."""
    return weight * sum(item not in truth for item in items)


def gap(items: list[str], _: Items, scores: list[float] | None) -> float | None:
    """How far the first two scores are apart."""
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
    low=0,
    parameters=(lists.measure("AP").definition.parameters[-1],),
)

_LISTS = st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([0.0, 0.5, 1.0]), max_size=5)
_TRUTHS = st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([0.0, 1.0, 2.0]), max_size=5)


@given(listed=_LISTS, truth=_TRUTHS, ties=st.sampled_from(["given", "trec", "expected"]))
def test_a_function_equals_the_measure_that_it_computes(
    listed: Items, truth: Items, ties: Literal["given", "trec", "expected"]
) -> None:
    """A function of one list has the scores of ours with the same formula, under each rule."""
    for name, function in (("RR", first_hit), ("nDCG", ideal_gain)):
        ours = lists.score(listed, truth, name, ties=ties)
        own = lists.score(listed, truth, function, ties=ties)
        np.testing.assert_allclose(own.value, ours.value, atol=1e-12)
    for k in (1, 3):
        ours = lists.score(listed, truth, "RR", k=k, ties=ties)
        own = lists.score(listed, truth, first_hit, k=k, ties=ties)
        np.testing.assert_allclose(own.value, ours.value, atol=1e-12)


def test_functions_and_definitions_beside_ours() -> None:
    """They are found by name, with parameters and k, and have means as all measures."""
    run = {"q1": {"a": 0.9, "x": 0.5}, "q2": ["x", "y"], "q3": []}
    truth = {"q1": {"a": 1}, "q2": ["a"], "q3": {}}
    chosen: list[Chosen] = [
        unknown,
        lists.measure(unknown, weight=2, k=1),
        "AP",
        FOUND,
        lists.measure(FOUND, k=1),
    ]
    scores = lists.evaluate(run, truth, chosen)
    assert scores.names == ("unknown", "unknown(weight=2)@1", "AP", "found", "found@1")
    assert scores["unknown"].tolist() == [1, 2, 0]
    assert scores["unknown(weight=2)@1"].tolist() == [0, 2, 0]
    assert scores[FOUND].tolist()[:2] == [1, 0]
    assert scores["found@1"].tolist()[:2] == [1, 0]
    assert ("q3", "found", "there is no list") in set(scores.undefined())
    assert scores.mean["unknown"] == 1
    assert scores.to_frame()["found"].tolist()[:2] == [1, 0]
    assert lists.measure("UNKNOWN@1", {"unknown": lists.define(unknown)}).name == "unknown@1"


def test_scores_are_given_to_those_that_ask() -> None:
    """A parameter `scores` has those of the items, and None for a list without."""
    run = {"q1": {"b": 0.25, "a": 1.0}, "q2": ["a", "b"]}
    scores = lists.evaluate(run, {"q1": ["a"], "q2": ["a"]}, [gap, lists.measure(gap, k=1)])
    assert scores["gap"].tolist()[0] == 0.75
    assert list(scores.undefined()) == [
        ("q1", "gap@1", "the function gives no value"),
        ("q2", "gap", "the function gives no value"),
        ("q2", "gap@1", "the function gives no value"),
    ]


@pytest.mark.parametrize("value", [None, math.nan, np.float32("nan")])
def test_no_value_is_undefined(value: object) -> None:
    """None and NaN are no score, and never 0."""
    own = lists.define(lambda *_: value, name="mine")
    assert lists.score(["a"], ["a"], own).reason == "the function gives no value"


def test_what_a_function_changes_stays_with_it() -> None:
    """A function that empties what it is given spoils nothing for others, or for its next order."""
    seen: list[int] = []

    def greedy(items: list[str], truth: Items) -> float:
        """Empty both."""
        seen.append(len(items) + len(truth))
        items.clear()
        truth.clear()
        return 0.0

    run, truth = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1.0}}
    scores = lists.evaluate(run, truth, [greedy, "P"], ties="expected")
    assert (seen, scores.mean["P"], truth) == ([3, 3], 0.5, {"q": {"a": 1.0}})


def _fails(_: list[str], truth: Items) -> float:
    return truth["nobody"]


def _tells(items: list[str], truth: Items) -> str:
    return f"{len(items)} of {len(truth)}"


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (_fails, r"_fails: query 'q1': the function raised KeyError: 'nobody' (test_own.py:"),
        (_tells, "_tells: query 'q1': the function gave '1 of 1', where a number should be"),
        (lambda *_: 0.0, "has no name; give the measure one"),
        (partial(unknown, weight=2), "has no name; give the measure one"),
        (lists.score, "score: the parameter by should have a default that is a number or a text"),
    ],
)
def test_wrong_functions_are_named(own: Callable[..., object], message: str) -> None:
    """What fails, or is no measure, is refused, with the measure and the query."""
    with pytest.raises(QuemError, match=re.escape(message)):
        lists.evaluate({"q1": ["a"]}, {"q1": ["a"]}, [own])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": "so@3"}, "'so@3' cannot be the name of a measure"),
        ({"better": "more"}, "found: better: should be higher or lower, not 'more'"),
        ({"truth": "none"}, "found: truth: should be order, grades, or both, not 'none'"),
        ({"low": 2, "high": 1}, "found: low (2) is above high (1)"),
    ],
)
def test_wrong_definitions(changed: dict[str, Any], message: str) -> None:
    """A definition that could not be used is refused when it is made."""
    kept = {"name": "found", "summary": "", "compute": _found}
    with pytest.raises(QuemError, match=re.escape(message)):
        lists.Definition(**{**kept, **changed})


def test_definitions_that_fail_are_named() -> None:
    """What the code of a definition raises, or gives in a wrong shape, is told with its name."""

    def fails(_: lists.Lists) -> Outcome:
        raise ZeroDivisionError

    def short(_: lists.Lists) -> Outcome:
        return np.zeros(1), ()

    def silent(run: lists.Lists) -> Outcome:
        return np.full(len(run), np.nan), ()

    run: dict[Hashable, list[str]] = {"q1": ["a"], "q2": ["b"]}
    for compute, message in (
        (fails, "mine: its definition raised ZeroDivisionError"),
        (short, "mine: its definition gives arrays of shape (1,) for 2 lists"),
    ):
        own = lists.Definition(name="mine", summary="", compute=compute)
        with pytest.raises(QuemError, match=re.escape(message)):
            lists.evaluate(run, run, [own])
    own = lists.Definition(name="mine", summary="", compute=silent)
    assert lists.evaluate(run, run, [own]).defined == {"mine": 0}
