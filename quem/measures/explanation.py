"""Explains a measure: its definition, and examples that are computed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

from quem.measures.evaluation import score
from quem.measures.lists import Lists
from quem.measures.properties import properties
from quem.measures.registry import measure
from quem.measures.worked import WORKED

if TYPE_CHECKING:
    from collections.abc import Hashable

    from quem.measures.measure import Definition, Measure

__all__ = ["describe", "explain"]

_Items: TypeAlias = "dict[Hashable, float]"
# List and ground truth, item to score.
_EXAMPLES: dict[str, tuple[_Items, _Items]] = {
    # That of ProCAKE's page.
    "retrieval": ({"G2": 0.5, "G4": 0.3, "G3": 0.2}, {"G2": 0.5, "G3": 0.3, "G4": 0.2}),
    "options": ({"w1": 3, "c": 2, "w2": 1}, {"c": 1}),
    "relevance": ({"d": 4, "a": 3, "x": 2, "b": 1}, {"a": 3, "b": 1, "c": 2, "d": 0}),
    # Nobody knows yet which of b, c and d is nearer, and k = 3 cuts between them.
    "dialogue": (
        {"a": 0.9, "b": 0.8, "c": 0.8, "d": 0.8, "e": 0.2},
        {"c": 0.9, "b": 0.8, "a": 0.7, "e": 0.5, "d": 0.4},
    ),
}
_ONLY_ORDER = ("options", "relevance")


def describe(definition: Definition) -> dict[str, Any]:
    """Tell what a measure is.

    Parameters
    ----------
    definition : Definition

    Returns
    -------
    dict
        Ready for JSON; a bound that does not exist is None.
    """
    bounds = [definition.low, definition.high]
    return {
        "name": definition.name,
        "family": definition.family,
        "summary": definition.summary,
        "definition": definition.formula,
        "range": [bound if math.isfinite(bound) else None for bound in bounds],
        "better": definition.better,
        "parameters": [
            {
                "name": parameter.name,
                "default": parameter.default,
                "meaning": parameter.meaning,
                "allowed": parameter.allowed,
            }
            for parameter in definition.parameters
        ],
        "ground_truth": definition.truth,
        "ties": definition.ties,
        "short_lists": definition.short,
        "unknown_items": definition.unknown,
        "undefined": definition.undefined,
        "source": definition.citation,
    }


def explain(by: str | Measure) -> dict[str, Any]:
    """Explain a measure with a worked example.

    Parameters
    ----------
    by : str or Measure
        With other parameters than the defaults, the example uses these.

    Returns
    -------
    dict
        What `describe` tells; `example` with the list, the ground truth, and the calculation
        and score of each measure; for a measure of option lists, `properties`.

    Raises
    ------
    QuemError
        There is no such measure.
    """
    chosen = measure(by)
    told = describe(chosen.definition)
    kind = chosen.definition.family
    listed, truth = _EXAMPLES[kind]
    plain = chosen.name == chosen.definition.name
    shown = chosen.definition.shown if plain else (chosen.name,)
    told["example"] = {
        "list": list(listed) if kind in _ONLY_ORDER else listed,
        "ground_truth": truth,
        "scores": [_worked(measure(name), listed, truth) for name in shown],
    }
    if kind == "options":
        told["properties"] = [
            {
                "name": found.name,
                "promise": found.promise,
                "holds": found.holds,
                "counterexample": str(found.counterexample) if found.counterexample else None,
            }
            for found in properties(chosen, 5)
        ]
    return told


def _worked(chosen: Measure, listed: _Items, truth: _Items) -> dict[str, str | float | None]:
    found = score(listed, truth, chosen)
    if found.reason:
        return {"measure": chosen.name, "score": None, "undefined": found.reason}
    lists = Lists([listed], [truth])
    calculation = WORKED[chosen.definition.name](lists, **dict(chosen.values))
    return {"measure": chosen.name, "calculation": calculation, "score": found.value}
