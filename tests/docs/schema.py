"""The JSON Schema of analysis.json, and what tests ask of it."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import jsonschema

from quem.kinds import presentations
from quem.report.schema import json_schema

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

SCHEMA = json_schema(presentations())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def mistakes(document: object) -> list[str]:
    """Places where a document does not fit the schema."""
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(document)]


def fits(document: object) -> bool:
    """Whether a document fits the schema, found out without looking for further mistakes."""
    return bool(VALIDATOR.is_valid(document))


def shortened(value: Any) -> Any:  # noqa: ANN401  JSON
    """A document without the rows that have the same keys as the row before them."""
    if isinstance(value, dict):
        return {key: shortened(child) for key, child in value.items()}
    if not isinstance(value, list):
        return value
    kept: list[Any] = []
    for child in map(shortened, value):
        if not kept or not isinstance(child, dict) or [*child] != [*kept[-1]]:
            kept.append(child)
    return kept


def mappings(value: object) -> Iterator[dict[str, Any]]:
    """Each mapping in a document, as a part of it."""
    children: list[Any] = []
    if isinstance(value, dict):
        yield value
        children = list(value.values())
    elif isinstance(value, list):
        children = value
    for child in children:
        yield from mappings(child)


def allows_nothing_else(document: Any, optional: Collection[str] = ()) -> int:  # noqa: ANN401  JSON
    """Refuse a schema that lets a key more or fewer pass; gives the number of sorts of mappings."""
    assert fits(document)
    seen = set()
    for index, mapping in enumerate(mappings(document)):
        keys = tuple(mapping)
        if keys in seen:
            continue
        seen.add(keys)
        for key in {*keys, "surplus"} - {*optional}:
            changed = deepcopy(document)
            one = list(mappings(changed))[index]
            if key in one:
                del one[key]
            else:
                one[key] = 1
            assert not fits(changed), f"{key} beside {sorted(keys)}"
    return len(seen)
