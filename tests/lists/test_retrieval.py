"""The example of ProCAKE's page, and what happens at its edges."""

from __future__ import annotations

import math

import pytest

from quem import lists as measures
from tests.lists.golden import GOLDEN

EXAMPLE = GOLDEN["retrieval"]
TRUTH, LISTED = EXAMPLE["ground_truth"], EXAMPLE["predicted"]


@pytest.mark.parametrize(("name", "expected"), EXAMPLE["no_k"].items())
def test_page_without_k(name: str, expected: float) -> None:
    """Without k, each measure gives the value that the page prints."""
    assert measures.score(LISTED, TRUTH, name).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "expected"), EXAMPLE["k2"].items())
def test_page_with_k(name: str, expected: float) -> None:
    """With k = 2, each measure that the page gives a value gives that value."""
    assert measures.score(LISTED, TRUTH, f"{name}@2").value == pytest.approx(expected)


@pytest.mark.parametrize(("name", "expected"), EXAMPLE["by_case"].items())
def test_errors_by_case(name: str, expected: float) -> None:
    """The errors by case are those of the same cases, not of the same positions."""
    assert measures.score(LISTED, TRUTH, name, by="case").value == pytest.approx(expected)


SHORT = {"G2": 0.5, "G4": 0.3}
UNKNOWN = {"G2": 0.5, "X": 0.4, "G3": 0.3, "G4": 0.2}
TIED = {"G2": 0.5, "G3": 0.3, "G4": 0.3}
ALL_TIED = dict.fromkeys(TRUTH, 0.3)
ALONE = {"G2": 0.5}
REVERSED = {"G4": 0.5, "G3": 0.3, "G2": 0.2}
HALF = math.sqrt(3) / 2


@pytest.mark.parametrize(
    ("listed", "truth", "name", "expected"),
    [
        (LISTED, TRUTH, "hits@5", 3),
        (LISTED, TRUTH, "hits_norm@5", 0.6),
        (LISTED, TRUTH, "quality_stromer@5", 4 / 9),
        (TRUTH, TRUTH, "quality_stromer@5", 1),
        (LISTED, TRUTH, "quality_mueller@5", 1),
        (SHORT, TRUTH, "hits", 2),
        (SHORT, TRUTH, "hits_norm", 1),
        (SHORT, TRUTH, "MAE", 0),
        (SHORT, TRUTH, "MAE(by=case)", 0.05),
        (SHORT, TRUTH, "quality_stromer", 4 / 9),
        (SHORT, TRUTH, "quality_mueller", 0.85),
        (SHORT, TRUTH, "correctness", 1),
        (SHORT, TRUTH, "completeness", 1 / 3),
        (SHORT, TRUTH, "completeness(of=listed)", 1),
        ({}, TRUTH, "completeness", 0),
        (SHORT, {**TRUTH, "G5": 0.1}, "completeness", 1 / 6),
        (UNKNOWN, TRUTH, "completeness", 1),
        (ALONE, TIED, "completeness", 0),
        (SHORT, TRUTH, "distance", 0.5),
        (SHORT, TRUTH, "kendall", 1),
        (UNKNOWN, TRUTH, "hits", 3),
        (UNKNOWN, TRUTH, "hits_norm", 0.75),
        (UNKNOWN, TRUTH, "quality_stromer", 4 / 9),
        (UNKNOWN, TRUTH, "quality_mueller", 1),
        (UNKNOWN, TRUTH, "correctness", 1),
        (UNKNOWN, TRUTH, "distance", 2 / 3),
        (UNKNOWN, TRUTH, "MAE(by=case)", 0),
        (UNKNOWN, TRUTH, "MAE", 0.1 / 3 * 2),
        (TIED, TRUTH, "correctness", 1),
        (TIED, TRUTH, "completeness", 2 / 3),
        (TIED, TRUTH, "kendall", 2 / 3),
        (TIED, TRUTH, "kendall(variant=b)", 2 / math.sqrt(6)),
        (TIED, TRUTH, "spearman", HALF),
        (TIED, TRUTH, "quality_stromer", 1),
        (TIED, TRUTH, "distance", 0),
        (TRUTH, TIED, "correctness", 1),
        (TRUTH, TIED, "completeness", 1),
        (TRUTH, TIED, "kendall", 2 / 3),
        (TRUTH, TIED, "spearman", HALF),
        (TIED, TIED, "correctness", 1),
        (TIED, TIED, "completeness", 1),
        (TIED, TIED, "kendall", 2 / 3),
        (TIED, TIED, "spearman", 1),
        (REVERSED, TRUTH, "hits_norm", 1),
        (REVERSED, TRUTH, "MAE", 0),
        (REVERSED, TRUTH, "MAE(by=case)", 0.2),
        (REVERSED, TRUTH, "quality_stromer", 1 / 3),
        (REVERSED, TRUTH, "correctness", -1),
        (REVERSED, TRUTH, "kendall", -1),
        (REVERSED, TRUTH, "spearman", -1),
        (REVERSED, TRUTH, "distance", 4 / 3),
        ({"X": 0.9, "Y": 0.8, "Z": 0.1}, TRUTH, "hits", 0),
        ({"X": 0.9, "Y": 0.8, "Z": 0.1}, TRUTH, "quality_mueller", 1 - 1 / 3),
        ({"X": 0.9, "Y": 0.8, "Z": 0.1}, TRUTH, "quality_stromer@3", 0),
    ],
)
def test_edges(
    listed: dict[str, float], truth: dict[str, float], name: str, expected: float
) -> None:
    """Short lists, unknown cases, ties on either side and reversed lists have these scores."""
    score = measures.score(listed, truth, name, ties="given")
    assert score.value == pytest.approx(expected, abs=1e-12)


def test_ties_broken_the_other_way() -> None:
    """Tied cases stand as they are given, or with the last id first."""
    other = {"G2": 0.5, "G4": 0.3, "G3": 0.3}
    for rule, listed in (("given", other), ("trec", TIED), ("trec", other)):
        for name, expected in (("quality_stromer", 4 / 9), ("distance", 2 / 3)):
            score = measures.score(listed, TRUTH, name, ties=rule)  # type: ignore[arg-type]
            assert score.value == pytest.approx(expected)


FEW = "list and ground truth have fewer than two items in common"


@pytest.mark.parametrize(
    ("listed", "truth", "name", "reason"),
    [
        (ALONE, TRUTH, "correctness", FEW),
        (ALONE, TRUTH, "completeness(of=listed)", FEW),
        (ALONE, TRUTH, "kendall", FEW),
        (ALONE, TRUTH, "spearman", FEW),
        ({}, TRUTH, "kendall", FEW),
        (ALL_TIED, TRUTH, "correctness", "each pair is tied in list or ground truth"),
        (ALL_TIED, TRUTH, "kendall(variant=b)", "all common items are tied in the list"),
        (TRUTH, ALL_TIED, "kendall(variant=b)", "all common items are tied in the ground truth"),
        (ALL_TIED, TRUTH, "spearman", "all common items are tied in the list"),
        (TRUTH, ALL_TIED, "completeness", "the ground truth orders no pair"),
        (TRUTH, ["G2"], "completeness", "the ground truth orders no pair"),
        (TRUTH, ALL_TIED, "completeness_listed", "all common items are tied in the ground truth"),
        (TRUTH, ALL_TIED, "spearman", "all common items are tied in the ground truth"),
        ({"X": 1.0}, TRUTH, "distance", "list and ground truth have no item in common"),
        ({"X": 1.0}, TRUTH, "MAE(by=case)", "list and ground truth have no item in common"),
        ({}, TRUTH, "MSE", "the list or the ground truth is empty"),
        (["G2", "G3"], TRUTH, "MAE", "the list has no similarities, only an order"),
        ({}, TRUTH, "hits_norm", "the list is empty"),
        ({}, TRUTH, "quality_mueller", "the list is empty"),
        (LISTED, {}, "quality_stromer", "the ground truth is empty"),
        (LISTED, {}, "quality_mueller", "the ground truth is empty"),
    ],
)
def test_undefined(listed: object, truth: object, name: str, reason: str) -> None:
    """Where there is no score there is a reason, and no 0."""
    score = measures.score(listed, truth, name)  # type: ignore[arg-type]
    assert math.isnan(score.value)
    assert score.reason == reason


@pytest.mark.parametrize("name", ["completeness", "kendall"])
def test_all_tied_in_the_list(name: str) -> None:
    """A list that ties all cases orders nothing, which is a score."""
    assert measures.score(ALL_TIED, TRUTH, name) == measures.Score(0)
