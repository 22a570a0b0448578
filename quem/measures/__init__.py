"""Measures of lists: of retrievers, of options offered, of candidates in a dialogue.

``evaluate(run, truth, measures)`` scores a whole run, ``score(listed, truth, by)`` one list;
``properties(by)`` checks what a measure promises. ``DEFINITIONS`` holds all measures by name.
"""

from __future__ import annotations

from quem.measures.evaluation import Score, Scores, evaluate, score
from quem.measures.measure import Definition, Measure, Parameter
from quem.measures.properties import Properties, Property, properties
from quem.measures.rank_quality import granularity, rank_quality, rank_weights
from quem.measures.registry import DEFINITIONS, definition, measure

__all__ = [
    "DEFINITIONS",
    "Definition",
    "Measure",
    "Parameter",
    "Properties",
    "Property",
    "Score",
    "Scores",
    "definition",
    "evaluate",
    "granularity",
    "measure",
    "properties",
    "rank_quality",
    "rank_weights",
    "score",
]
