"""The list of measures, and the explanation of each."""

from __future__ import annotations

import math

import pytest

from quem.lists import DEFINITIONS, define, measure, score
from quem.scores.listing import list_measures


def novelty(items: list[str], truth: dict[str, float], weight: int = 2) -> float:
    """How many items nobody knows."""
    return float(weight * sum(item not in truth for item in items))


OWN = {"novelty": define(novelty)}


def test_lists_all() -> None:
    """Each measure has its line, those of the user first."""
    lines = list_measures(own=OWN).splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert names[0] == "novelty"
    assert sorted(names[1:]) == sorted(DEFINITIONS)


@pytest.mark.parametrize("name", [*DEFINITIONS, "novelty"])
def test_explains_each(name: str) -> None:
    """An explanation has the sentences of a definition, and an example with its scores."""
    text = list_measures(name, OWN)
    found = measure(name, OWN)
    labels = {line[2:].split("  ")[0] for line in text.splitlines() if line.startswith("  ")}
    assert {"range", "ties", "notes", "source", "ground truth", found.heading} <= labels
    assert found.definition.summary.endswith(".")
    assert found.definition.notes.endswith(".")
    assert (found.definition.family == "options") == ("\nProperties, on all lists" in text)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("quality_stromer", ["quality_stromer    0.4444", "quality_stromer@2  0.6"]),
        (
            "map",
            ["AP                 0.3333", "AP(unjudged=skip)  0.3889", "AP@2               0.1667"],
        ),
        ("RBP(p=0.8)@2", ["RBP(p=0.8)@2  0.16"]),
        (
            "OLAR",
            ["OLAR          0.6626", "Confidence   yes", "also read   ordered_length_aware_recall"],
        ),
        ("F1s", ["Correctness  no: cwwww (0.5) should score better than w (0.5)"]),
        ("hits", ["range       from 0; higher is better", "hits@2        1"]),
        ("kendall", ["kendall(variant=b)  0.3333", "range       -1 to 1; higher is better"]),
        ("novelty", ["weight  of the function; 2 by default; a whole number", "novelty@2     0"]),
    ],
)
def test_lines(name: str, lines: list[str]) -> None:
    """What a measure is, with computed numbers; without values also those that it can have."""
    text = list_measures(name, OWN)
    for line in lines:
        assert f"\n  {line}" in text, text


def test_examples_are_computed() -> None:
    """The example of ProCAKE's page is scored as there."""
    listed, truth = {"G2": 0.5, "G4": 0.3, "G3": 0.2}, {"G2": 0.5, "G3": 0.3, "G4": 0.2}
    value = score(listed, truth, "spearman").value
    assert math.isclose(value, 0.5)
    assert f"\n  spearman      {value:g}" in list_measures("spearman")
