"""Measures of lists: of retrievers, of options offered, of candidates in a dialogue.

``evaluate(run, truth, measures)`` scores a whole run, ``score(listed, truth, by)`` one list;
``properties(by)`` checks the properties of a measure. ``DEFINITIONS`` holds all measures by name;
``define(function)`` makes a custom one of a function.
"""

from __future__ import annotations

from quem.lists.evaluation import Score, Scores, evaluate, score
from quem.lists.lists import Hits, Lists
from quem.lists.measure import Definition, Measure, Parameter
from quem.lists.names import measure, measures
from quem.lists.own import define
from quem.lists.properties import Properties, Property, properties
from quem.lists.rank_quality import granularity, rank_quality, rank_weights
from quem.lists.registry import DEFINITIONS

__all__ = [
    "DEFINITIONS",
    "Definition",
    "Hits",
    "Lists",
    "Measure",
    "Parameter",
    "Properties",
    "Property",
    "Score",
    "Scores",
    "define",
    "evaluate",
    "granularity",
    "measure",
    "measures",
    "properties",
    "rank_quality",
    "rank_weights",
    "score",
]
