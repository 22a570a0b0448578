"""The list of measures, and the explanation of each, as text."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from quem.lists import DEFINITIONS, Definition, Measure, Parameter, measure, properties, score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


_WIDTH = 100
_LONGEST_LABEL = 24
_FAMILIES = {
    "retrieval": "Cases that a retriever found, against their true similarities",
    "relevance": "Any list, against the items that are relevant",
    "options": "Lists of options, with one or more correct ones",
    "dialogue": "Candidates in a dialogue, against the nearest cases",
}
# A list and its ground truth, item to score; where only the order counts, scores are omitted.
_EXAMPLES: dict[str, tuple[dict[str, float], dict[str, float]]] = {
    # The example on ProCAKE's page.
    "retrieval": ({"G2": 0.5, "G4": 0.3, "G3": 0.2}, {"G2": 0.5, "G3": 0.3, "G4": 0.2}),
    "options": ({"w1": 3, "c": 2, "w2": 1}, {"c": 1}),
    "relevance": ({"d": 4, "a": 3, "x": 2, "b": 1}, {"a": 3, "b": 1, "c": 2, "d": 0}),
    # b, c, and d are tied so far, and k = 2 cuts between them.
    "dialogue": (
        {"a": 0.9, "b": 0.8, "c": 0.8, "d": 0.8, "e": 0.2},
        {"c": 0.9, "b": 0.8, "a": 0.7, "e": 0.5, "d": 0.4},
    ),
}
_TIES = (
    "Items of equal score are in every order, over which the score is the mean; or as given; or as "
    "trec_eval has them."
)


def list_measures(name: str | None = "") -> str:
    """List all measures, or explain one with an example."""
    return "\n".join(_explanation(measure(name)) if name else _listing())


def _listing() -> Iterator[str]:
    for family, heading in _FAMILIES.items():
        yield heading
        yield from _labelled(
            (one.name, one.summary) for one in DEFINITIONS.values() if one.family == family
        )
        yield ""
    yield "quem score --measures NAME explains one of them."


def _explanation(chosen: Measure) -> Iterator[str]:
    definition = chosen.definition
    yield from textwrap.wrap(f"{definition.name}: {definition.summary}", _WIDTH)
    yield ""
    yield from _labelled((label, text) for label, text in _facts(definition) if text)
    yield ""
    yield "Example"
    yield from _labelled(_example(chosen))
    if definition.family == "options":
        yield ""
        yield "Properties, on all lists of up to 5 options"
        yield from _labelled(
            (one.name, "yes" if one.holds else f"no: {one.counterexample}")
            for one in properties(chosen, 5)
        )


def _facts(definition: Definition) -> Iterator[tuple[str, str]]:
    yield "definition", definition.formula
    yield "range", f"{_range(definition.low, definition.high)}; {definition.better} is better"
    yield "also read", ", ".join(definition.aliases)
    for parameter in definition.parameters:
        yield parameter.name, _parameter(parameter)
    ties = definition.ties or _TIES
    if definition.truth == "order":
        ties += " The same holds for the ground truth, whose order it needs."
    yield "ties", ties
    yield "notes", definition.notes
    yield "source", definition.citation


def _range(low: float, high: float) -> str:
    return f"{low:g} to {high:g}" if math.isfinite(high) else f"from {low:g}"


def _parameter(parameter: Parameter) -> str:
    value = parameter.default
    shown = f"{value:g}" if isinstance(value, float) else value
    default = "" if value is None else f"; {shown} by default"
    return f"{parameter.meaning}{default}; {parameter.allowed}"


def _example(chosen: Measure) -> Iterator[tuple[str, str]]:
    family = chosen.definition.family
    listed, truth = _EXAMPLES[family]
    in_order = family not in {"retrieval", "dialogue"}
    yield "list", ", ".join(listed) if in_order else _items(listed)
    yield "ground truth", _items(truth)
    for one in _shown(chosen):
        result = score(listed, truth, one)
        yield one.heading, f"undefined: {result.reason}" if result.reason else f"{result.value:.4g}"


def _shown(chosen: Measure) -> Iterator[Measure]:
    """The measure; without values, also with possible ones."""
    yield chosen
    if chosen.name == chosen.definition.name:
        for parameter in chosen.definition.parameters:
            values = [2] if parameter.name == "k" else parameter.choices
            for value in values:
                if value != parameter.default:
                    yield measure(chosen, **{parameter.name: value})


def _items(items: Mapping[str, float]) -> str:
    return ", ".join(f"{item} {value:g}" for item, value in items.items())


def _labelled(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Labels with wrapped texts beside them."""
    rows = list(lines)
    width = min(max(len(label) for label, _ in rows), _LONGEST_LABEL)
    for label, text in rows:
        hanging = " " * (width + 4)
        head = f"  {label:{width}}  "
        if len(label) > width:
            yield f"  {label}"
            head = hanging
        yield textwrap.fill(text, _WIDTH, initial_indent=head, subsequent_indent=hanging)
