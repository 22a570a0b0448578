"""What a measure is, with an example, for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

from quem.lists.evaluation import score
from quem.lists.properties import properties
from quem.lists.registry import is_own, measure

if TYPE_CHECKING:
    from collections.abc import Hashable

    from quem.lists.measure import Definition, Measure
    from quem.lists.registry import Chosen

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

_ONLY_ORDER = ("options", "relevance", "own")


def describe(definition: Definition) -> dict[str, Any]:
    """Tell what a measure is."""
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


def explain(by: Chosen) -> dict[str, Any]:
    """Explain a measure with an example."""
    chosen = measure(by)
    description = describe(chosen.definition)
    kind = chosen.definition.family
    # Those of the user are shown on the example of any list.
    listed, truth = _EXAMPLES.get(kind, _EXAMPLES["relevance"])
    plain = chosen.name == chosen.definition.name
    shown = chosen.definition.shown if plain else (chosen.name,)
    own = {chosen.definition.name: chosen.definition} if is_own(chosen.definition) else {}
    description["example"] = {
        "list": list(listed) if kind in _ONLY_ORDER else listed,
        "ground_truth": truth,
        "scores": [_scored(measure(name, own), listed, truth) for name in shown],
    }
    if kind == "options":
        description["properties"] = [
            {
                "name": entry.name,
                "promise": entry.promise,
                "holds": entry.holds,
                "counterexample": str(entry.counterexample) if entry.counterexample else None,
            }
            for entry in properties(chosen, 5)
        ]
    return description


def _scored(chosen: Measure, listed: _Items, truth: _Items) -> dict[str, str | float | None]:
    result = score(listed, truth, chosen)
    if result.reason:
        return {"measure": chosen.name, "score": None, "undefined": result.reason}
    return {"measure": chosen.name, "score": result.value}
