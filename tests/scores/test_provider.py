"""Measures of quem in ir_measures."""

from __future__ import annotations

import ir_measures
import pytest
from ir_measures import Qrel, ScoredDoc, nDCG

from quem import lists
from quem.scores.provider import LAR, OLAR, RankQuality

_QRELS = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 1, "x": 0}}
_RUN = {"q1": {"a": 1.0, "b": 0.5, "c": 0.1}, "q2": {"x": 0.5, "a": 0.3}}


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        (LAR, "LAR"),
        (OLAR, "OLAR"),
        (OLAR(max_length=3), "OLAR(max_length=3)"),
        (RankQuality @ 2, "rank_quality@2"),
    ],
)
def test_values_are_those_of_lists(measure: ir_measures.Measure, name: str) -> None:
    """Each query has the score that quem gives, beside measures of other providers."""
    qrels = [Qrel(q, c, grade) for q, cases in _QRELS.items() for c, grade in cases.items()]
    run = [ScoredDoc(q, c, score) for q, cases in _RUN.items() for c, score in cases.items()]
    found = ir_measures.calc([measure, nDCG @ 2], qrels, run).per_query
    own = {one.query_id: one.value for one in found if one.measure == measure}
    assert own == {q: float(lists.score(_RUN[q], _QRELS[q], name, ties="expected")) for q in own}
    assert own.keys() == _QRELS.keys()
    assert ir_measures.parse_measure(str(measure)) == measure
