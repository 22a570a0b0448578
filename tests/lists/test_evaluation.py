"""Forms of lists and runs, refusals, scores that do not exist, and measures of option lists."""

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


@pytest.mark.parametrize(
    "listed",
    [
        OrderedDict(x=0.1, a=0.9, b=0.5),
        [["x", 0.1], ["a", 0.9], ("b", 0.5)],
        ("a", "b", "x"),
        {"a": np.float32(0.9), "b": np.int64(0), "x": -1},
        {"a": 2, "b": True, "x": 0},
        pd.Series({"x": 0.1, "a": 0.9, "b": 0.5}),
    ],
)
def test_forms_of_lists(listed: Any) -> None:  # noqa: ANN401  any form
    scores = measures.evaluate({"q": listed}, {"q": {"a": 3, "b": 1}}, ["nDCG@2", "RR"])
    assert scores.values.tolist() == [[1, 1]]


@pytest.mark.parametrize("truth", [{"a": 1, "b": 1}, ["b", "a"], {"a", "b"}, [("a", 1), ("b", 1)]])
def test_forms_of_ground_truth(truth: Any) -> None:  # noqa: ANN401  any form
    assert measures.score(["x", "a"], truth, "AP").value == 0.25


def test_queries_and_means() -> None:
    """The ground truth names the queries; a mean is over those where a measure is defined."""
    run: dict[Any, list[str]] = {"other": ["a"], 1: ["x", "a"], 2: ["a"], 4: []}
    truth: dict[int, list[str]] = {1: ["a"], 2: ["a"], 3: ["a"], 4: []}
    scores = measures.evaluate(run, truth, ["RR", "hits_norm", "kendall"])
    assert (scores.queries, scores.ignored, len(scores)) == ((1, 2, 3, 4), ("other",), 4)
    assert scores["RR"].tolist()[:3] == [0.5, 1, 0]
    assert scores.defined == {"RR": 3, "hits_norm": 2, "kendall": 0}
    assert scores.mean["RR"] == 0.5
    assert math.isnan(scores.mean["kendall"])
    assert (3, "hits_norm", "the list is empty") in set(scores.undefined())


@pytest.mark.parametrize(
    ("run", "truth", "message"),
    [
        *(
            ({"q": {"a": wrong}}, {"q": ["a"]}, "query 'q', item 'a': the score should be a finite")
            for wrong in (math.nan, math.inf, "high", None, "0.5", 10**400)
        ),
        ({"q": ["a"]}, {"q": {"a": math.nan}}, "query 'q', item 'a': the true value should be a"),
        ({"q": ["a"]}, {"q": {"b": "x"}}, "query 'q', item 'b': the true value should be a finite"),
        ({"q": ["a", "b", "a"]}, {"q": ["a"]}, "query 'q': a: is more than once in the list"),
        ({"q": [("a", 1), ("a", 2)]}, {"q": ["a"]}, "query 'q': a: is more than once"),
        ({"q": [{"a": 1}]}, {"q": ["a"]}, "query 'q': an item should be a name"),
        ({"q": "abc"}, {"q": ["a"]}, "query 'q': should be a dict or a list of items"),
        ({"q": 3}, {"q": ["a"]}, "query 'q': should be a dict or a list of items"),
        (["a"], {"q": ["a"]}, "the run should be a dict of query to list"),
        ({"q": ["a"]}, ["a"], "the ground truth should be a dict of query to list"),
        ({"q": ["a"]}, {}, "the ground truth has no query"),
        ({"r": ["a"]}, {"q": ["a"]}, "run and ground truth have no query in common"),
    ],
)
def test_refusals(run: Any, truth: Any, message: str) -> None:  # noqa: ANN401  wrong input
    with pytest.raises(QuemError, match=re.escape(message)):
        measures.evaluate(run, truth, ["nDCG"])


def test_all_refusals_at_once() -> None:
    run = {1: {"a": math.nan}, 2: {"a": 1.0}, 3: {"b": math.nan}}
    truth = {1: {"a": 1.0}, 2: {"c": math.nan}, 3: {"a": 1.0}}
    with pytest.raises(QuemError) as caught:
        measures.evaluate(run, truth, ["AP"])
    assert [str(m)[:7] for m in caught.value.mistakes] == ["query 1", "query 3", "query 2"]


@pytest.mark.parametrize("ties", ["random", "id", "input"])
def test_wrong_ties(ties: Any) -> None:  # noqa: ANN401  no such rule
    with pytest.raises(QuemError, match="ties: should be expected, given or trec"):
        measures.evaluate({"q": ["a"]}, {"q": ["a"]}, "AP", ties=ties)


TRUTH = {"G2": 0.5, "G3": 0.3, "G4": 0.2}
ALL_TIED = dict.fromkeys(TRUTH, 0.3)
ALONE = {"G2": 0.5}
FEW = "list and ground truth have fewer than two items in common"
NONE = "no item is relevant for this query"
RELEVANT = ("F1", "F1s", "LAR", "AP", "APL", "APs", "RR", "nDCGL", "RBPL", "OLAR")
LARGE = "scores or true values are too large to compute with"


@pytest.mark.parametrize(
    ("listed", "truth", "name", "reason"),
    [
        *((ALONE, TRUTH, name, FEW) for name in ("correctness", "kendall", "spearman")),
        (ALONE, TRUTH, "completeness(of=listed)", FEW),
        ({}, TRUTH, "kendall", FEW),
        (ALL_TIED, TRUTH, "correctness", "each pair is tied in list or ground truth"),
        (ALL_TIED, TRUTH, "kendall(variant=b)", "all common items are tied in the list"),
        (ALL_TIED, TRUTH, "spearman", "all common items are tied in the list"),
        (TRUTH, ALL_TIED, "kendall(variant=b)", "all common items are tied in the ground truth"),
        (TRUTH, ALL_TIED, "completeness_listed", "all common items are tied in the ground truth"),
        (TRUTH, ALL_TIED, "spearman", "all common items are tied in the ground truth"),
        (TRUTH, ALL_TIED, "completeness", "the ground truth orders no pair"),
        ({"X": 1.0}, TRUTH, "distance", "list and ground truth have no item in common"),
        ({"X": 1.0}, TRUTH, "MAE(by=case)", "list and ground truth have no item in common"),
        ({}, TRUTH, "MSE", "the list or the ground truth is empty"),
        (["G2", "G3"], TRUTH, "MAE", "the list has no similarities, only an order"),
        *(({}, {"a": 1}, n, "the list is empty") for n in ("hits_norm", "quality_mueller", "LAR")),
        ({}, {"a": 1}, "OLAR", "the list is empty"),
        ({}, TRUTH, "rank_quality@2", "the list is empty"),
        (TRUTH, {}, "quality_stromer", "the ground truth is empty"),
        (TRUTH, {}, "quality_mueller", "the ground truth is empty"),
        *((["a", "b"], [], name, NONE) for name in RELEVANT),
        (["a", "b"], [], "nDCG", "no item has a gain for this query"),
        ([*"abcdef"], ["a"], "OLAR", "the list is longer than max_length, 5"),
        (["G2"], TRUTH, "rank_quality@2", "the list has no similarities, only an order"),
        ({"X": 0.5}, TRUTH, "rank_quality@2", "the list has an item that the ground truth does"),
        ({"G2": 1.1}, TRUTH, "rank_quality@2", "a similarity is not between 0 and 1"),
        ({"a": 1e308, "b": -1e308}, {"a": 1e308, "b": 0}, "MSE", LARGE),
        (["a"], {"a": 2000}, "nDCG(gain=exponential)", LARGE),
    ],
)
def test_undefined(listed: Any, truth: Any, name: str, reason: str) -> None:  # noqa: ANN401
    score = measures.score(listed, truth, name)
    assert math.isnan(score.value)
    assert score.reason.startswith(reason)


@pytest.mark.parametrize("name", ["completeness", "kendall"])
def test_all_tied_in_the_list(name: str) -> None:
    """A list that ties all cases orders nothing, which is a score."""
    assert measures.score(ALL_TIED, TRUTH, name) == measures.Score(0)


# Table 1 of the paper on option lists is in tests/studies.
GAINS = 1 + 1 / math.log2(3) + 0.5 + 1 / math.log2(5)


@pytest.mark.parametrize(
    ("name", "listed", "relevant", "expected"),
    [
        ("F1s", "axb", "abc", 6 / 8),
        ("APL", "axb", "abc", (1 + 2 / 3 + 2 / 3 * (2 + 2 / 3) / 4) / 4),
        ("RBPL", "axb", "abc", 0.5 + 0.125 + 2 / 3 * 0.125),
        ("nDCGL", "axb", "abc", (1 + 0.5 + 2 / 3 / math.log2(5)) / GAINS),
        ("F1s", "", "a", 2 / 3),
        ("APs", "", "a", 0.5),
        *((name, "", "a", 0) for name in ("F1", "AP", "APL", "nDCGL", "RBPL")),
        ("RBP", "ab", "", 0),
        ("LAR", "xab", "ab", (1 + 1 / 3) / 2),
        ("LAR", "xy", "ab", 1 / 4),
        ("OLAR(m=0.1)", "xab", "ab", (1 + 1 / 3 + 0.1 / 2) / 2.1),
        ("OLAR(m=0.1)", "ba", "ab", (1 + 1 / 2 + 0.1) / 2.1),
    ],
)
def test_several_relevant(name: str, listed: str, relevant: str, expected: float) -> None:
    assert float(measures.score([*listed], [*relevant], name)) == pytest.approx(expected)


def test_olar_loses_confidence_at_length_six() -> None:
    """The m of the paper is too large for lists of six, and a counterexample says so."""
    properties = measures.properties("OLAR(m=0.0499)", max_length=6)
    assert properties.correctness.holds
    assert properties.priority.holds
    counterexample = properties.confidence.counterexample
    assert counterexample is not None
    better, worse = counterexample.better, counterexample.worse
    assert (better.count("c"), worse.count("c")) == (1, 1)
    assert len(better) < len(worse) == 6
    assert counterexample.better_score < counterexample.worse_score


@pytest.mark.parametrize("longest", [1, 2, 3, 8, 20])
def test_olar_has_all_properties_with_its_own_m(longest: int) -> None:
    properties = measures.properties(f"OLAR(max_length={longest})", longest)
    assert all(prop.holds for prop in properties)


@pytest.mark.parametrize(
    ("name", "longest", "message"),
    [
        ("distance", 5, "distance: lower is better"),
        ("kendall", 5, "kendall: has no score for the list c: list and ground truth have fewer"),
        ("OLAR", 6, "OLAR: has no score for the list cwwwww: the list is longer than max_length"),
        ("OLAR", 0, "max_length: should be a whole number of at least 1"),
    ],
)
def test_properties_that_cannot_be_checked(name: str, longest: int, message: str) -> None:
    with pytest.raises(QuemError, match=message):
        measures.properties(name, longest)
