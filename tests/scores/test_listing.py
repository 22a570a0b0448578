"""The list of measures, and the explanation of each."""

from __future__ import annotations

import pytest

from quem.lists import DEFINITIONS, define, measure
from quem.scores.listing import list_measures


def novelty(items: list[str], truth: dict[str, float], weight: int = 2) -> float:
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
    """An explanation has each label of a definition, and an example with its scores."""
    text = list_measures(name, OWN)
    found = measure(name, OWN)
    labels = {line[2:].split("  ")[0] for line in text.splitlines() if line.startswith("  ")}
    assert {"range", "ties", "notes", "source", "ground truth", found.heading} <= labels
    assert (found.definition.family == "options") == ("\nProperties, on all lists" in text)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("quality_stromer", "quality_stromer    0.4444\nquality_stromer@2  0.6"),
        ("map", "AP                 0.3333\nAP(unjudged=skip)  0.3889\nAP@2               0.1667"),
        ("RBP(p=0.8)@2", "RBP(p=0.8)@2  0.16"),
        ("OLAR", "OLAR          0.6626\nConfidence   yes"),
        ("F1s", "Correctness  no: cwwww (0.5)"),
        ("hits", "range       from 0\nhits@2        1"),
        ("kendall", "kendall(variant=b)  0.3333\nrange       -1 to 1"),
        ("spearman", "spearman      0.5"),
        ("novelty", "weight  of the function; 2 by default\nnovelty@2     0"),
    ],
)
def test_lines(name: str, lines: str) -> None:
    """What a measure is, with computed numbers; without values also those that it can have."""
    text = list_measures(name, OWN)
    for line in lines.splitlines():
        assert f"\n  {line}" in text, text
