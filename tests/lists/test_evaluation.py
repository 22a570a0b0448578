"""Runs: forms of lists, queries that lack something, refusals, and what is given back."""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from typing import Any

import numpy as np
import pandas as pd
import pytest

from quem import lists as measures
from quem.errors import QuemError

TRUTH = {"a": 3, "b": 1}


@pytest.mark.parametrize(
    "listed",
    [
        {"x": 0.1, "a": 0.9, "b": 0.5},
        OrderedDict(x=0.1, a=0.9, b=0.5),
        [("a", 0.9), ("b", 0.5), ("x", 0.1)],
        [["x", 0.1], ["a", 0.9], ["b", 0.5]],
        ["a", "b", "x"],
        ("a", "b", "x"),
        {"a": np.float32(0.9), "b": np.int64(0), "x": -1},
        {"a": 2, "b": True, "x": 0},
        pd.Series({"x": 0.1, "a": 0.9, "b": 0.5}),
    ],
)
def test_forms_of_lists(listed: Any) -> None:  # noqa: ANN401  any form
    """A list is a dict, pairs, or items; the highest score is first."""
    scores = measures.evaluate({"q": listed}, {"q": TRUTH}, ["nDCG@2", "RR"])
    assert scores.values.tolist() == [[1, 1]]


@pytest.mark.parametrize("truth", [{"a": 1, "b": 1}, ["b", "a"], {"a", "b"}, [("a", 1), ("b", 1)]])
def test_forms_of_ground_truth(truth: Any) -> None:  # noqa: ANN401  any form
    """A ground truth is a dict, pairs, or the relevant items."""
    assert measures.score(["x", "a"], truth, "AP").value == 0.25


def test_queries() -> None:
    """The ground truth names the queries; one without a list has an empty one."""
    run = {"other": ["a"], "second": ["a"]}
    truth = {"first": ["a"], "second": ["a"]}
    scores = measures.evaluate(run, truth, ["RR", "hits_norm"])
    assert scores.queries == ("first", "second")
    assert scores.ignored == ("other",)
    assert scores["RR"].tolist() == [0, 1]
    assert list(scores.undefined()) == [("first", "hits_norm", "the list is empty")]
    assert len(scores) == 2


def test_means() -> None:
    """A mean is over the queries where a measure is defined, and NaN where there is none."""
    run = {1: ["x", "a"], 2: ["a"], 3: ["x"]}
    truth: dict[int, list[str]] = {1: ["a"], 2: ["a"], 3: []}
    scores = measures.evaluate(run, truth, ["RR", "kendall"])
    assert scores.mean["RR"] == 0.75
    assert math.isnan(scores.mean["kendall"])
    assert scores.defined == {"RR": 2, "kendall": 0}


@pytest.mark.parametrize(
    ("run", "truth", "message"),
    [
        ({"q": {"a": math.nan}}, {"q": ["a"]}, "query 'q', item 'a': the score should be a finite"),
        ({"q": {"a": math.inf}}, {"q": ["a"]}, "item 'a': the score should be a finite number"),
        ({"q": {"a": "high"}}, {"q": ["a"]}, "should be a finite number, and not 'high'"),
        ({"q": {"a": None}}, {"q": ["a"]}, "should be a finite number, and not None"),
        ({"q": {"a": "0.5"}}, {"q": ["a"]}, "should be a finite number, and not '0.5'"),
        ({"q": {"a": 10**400}}, {"q": ["a"]}, "item 'a': the score should be a finite number"),
        ({"q": ["a"]}, {"q": {"a": math.nan}}, "item 'a': the true value should be a finite"),
        ({"q": ["a"]}, {"q": {"b": math.inf}}, "item 'b': the true value should be a finite"),
        ({"q": ["a"]}, {"q": {"b": "x"}}, "item 'b': the true value should be a finite number"),
        ({"q": ["a", "b", "a"]}, {"q": ["a"]}, "query 'q': a: is more than once in the list"),
        ({"q": [("a", 1), ("a", 2)]}, {"q": ["a"]}, "query 'q': a: is more than once"),
        ({"q": [{"a": 1}]}, {"q": ["a"]}, "query 'q': an item should be a name such as a text"),
        ({"q": "abc"}, {"q": ["a"]}, "query 'q': should be a dict or a list of items, and not"),
        ({"q": 3}, {"q": ["a"]}, "query 'q': should be a dict or a list of items, and not 3"),
        (["a"], {"q": ["a"]}, "the run should be a dict of query to list, and not list"),
        ({"q": ["a"]}, ["a"], "the ground truth should be a dict of query to list"),
        ({"q": ["a"]}, {}, "the ground truth has no query"),
        ({"r": ["a"]}, {"q": ["a"]}, "run and ground truth have no query in common"),
    ],
)
def test_refusals(run: Any, truth: Any, message: str) -> None:  # noqa: ANN401  wrong input
    """What cannot be scored is refused, with the query and the item."""
    with pytest.raises(QuemError, match=re.escape(message)):
        measures.evaluate(run, truth, ["nDCG"])


def test_all_refusals_at_once() -> None:
    """Every query that is wrong is named."""
    run = {1: {"a": math.nan}, 2: {"a": 1.0}, 3: {"b": math.nan}}
    truth = {1: {"a": 1.0}, 2: {"c": math.nan}, 3: {"a": 1.0}}
    with pytest.raises(QuemError) as caught:
        measures.evaluate(run, truth, ["AP"])
    assert [str(m)[:7] for m in caught.value.mistakes] == ["query 1", "query 3", "query 2"]


def test_wrong_settings() -> None:
    """No measure, and another order of ties, are refused."""
    with pytest.raises(QuemError, match="no measure is named; name one such as AP"):
        measures.evaluate({"q": ["a"]}, {"q": ["a"]}, [])
    allowed = "ties: should be expected, given or trec, and not"
    for ties, message in {
        "random": f"{allowed} 'random'",
        "id": f"{allowed} 'id'; 'id' is now 'trec'",
        "input": f"{allowed} 'input'; 'input' is now 'given'",
    }.items():
        with pytest.raises(QuemError, match=f"{message}$"):
            measures.evaluate({"q": ["a"]}, {"q": ["a"]}, "AP", ties=ties)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("listed", "truth", "name"),
    [
        ({"a": 1e308, "b": -1e308}, {"a": 1e308, "b": 0}, "MSE"),
        (["a"], {"a": 2000}, "nDCG(gain=exponential)"),
    ],
)
def test_numbers_that_overflow(listed: Any, truth: Any, name: str) -> None:  # noqa: ANN401
    """Numbers whose squares or powers are infinite give no score, and a reason."""
    score = measures.score(listed, truth, name)
    assert math.isnan(score.value)
    assert score.reason == "scores or true values are too large to compute with"
