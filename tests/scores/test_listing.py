"""The list of measures, the explanation of each, and those that ir_measures has of quem."""

from __future__ import annotations

import ir_measures
import pytest
from ir_measures import Qrel, ScoredDoc, nDCG

from quem.lists import DEFINITIONS, evaluate, measure
from quem.scores.listing import list_measures
from quem.scores.provider import LAR, OLAR, RankQuality


def test_lists_all() -> None:
    lines = list_measures().splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert sorted(names) == sorted(DEFINITIONS)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_explains_each(name: str) -> None:
    text = list_measures(name)
    found = measure(name)
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
    ],
)
def test_lines(name: str, lines: str) -> None:
    text = list_measures(name)
    for line in lines.splitlines():
        assert f"\n  {line}" in text, text


@pytest.mark.parametrize(
    ("theirs", "name"),
    [
        (LAR, "LAR"),
        (OLAR, "OLAR"),
        (OLAR(max_length=3), "OLAR(max_length=3)"),
        (RankQuality @ 2, "rank_quality@2"),
    ],
)
def test_ir_measures_has_ours(theirs: ir_measures.Measure, name: str) -> None:
    truth = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 1, "x": 0}}
    run = {"q1": {"a": 1.0, "b": 0.5, "c": 0.1}, "q2": {"x": 0.5, "a": 0.3}}
    qrels = [Qrel(q, c, grade) for q, cases in truth.items() for c, grade in cases.items()]
    docs = [ScoredDoc(q, c, score) for q, cases in run.items() for c, score in cases.items()]
    found = ir_measures.calc([theirs, nDCG @ 2], qrels, docs).per_query
    scores = [one.value for one in found if one.measure == theirs]
    assert scores == evaluate(run, truth, [name]).values[:, 0].tolist()
    assert ir_measures.parse_measure(str(theirs)) == theirs
