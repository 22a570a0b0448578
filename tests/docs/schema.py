"""The JSON Schema of analysis.json, and what tests ask of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jsonschema

from quem.kinds import presentations
from quem.report.columns import json_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SCHEMA", "mappings", "mistakes"]

SCHEMA = json_schema(presentations())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def mistakes(document: object) -> list[str]:
    """Say where a document does not fit the schema."""
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(document)]


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
