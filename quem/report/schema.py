"""The JSON Schema of analysis.json, and its reference: both follow from the declared columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from quem.report.result import Presentation

__all__ = ["json_schema", "keys_table", "tables_table"]


def json_schema(presentations: Mapping[str, Presentation[Any]]) -> dict[str, Any]:
    """Give the JSON Schema (draft 2020-12) of analysis.json: every key, and no other.

    Parameters
    ----------
    presentations : mapping of str to Presentation
        How results of each kind are shown.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:quem:analysis:1",
        "title": "analysis.json, format 1",
        "description": "The result of `quem analyze`, `quem compare` or `quem plan`. null means "
        "unbounded, undefined or unknown.",
        "type": "object",
        "required": ["format", "kind"],
        "properties": {"format": {"const": 1}, "kind": {"enum": list(presentations)}},
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": kind}}},
                "then": {"$ref": f"#/$defs/{kind}"},
            }
            for kind in presentations
        ],
        "$defs": {kind: shown.document.schema() for kind, shown in presentations.items()},
    }


def keys_table(presentation: Presentation[Any]) -> Iterator[str]:
    """Give the keys of analysis.json as lines of a Markdown table."""
    yield "| key | content |"
    yield "|---|---|"
    for key, meaning in presentation.document.reference():
        yield f"| `{key}` | {meaning} |"


def tables_table(presentation: Presentation[Any]) -> Iterator[str]:
    """Give the columns of the CSV files as lines of a Markdown table."""
    yield "| file | column | content |"
    yield "|---|---|---|"
    for table in presentation.tables:
        yield f"| `{table.stem}.csv` | | {table.meaning} |"
        for name, meaning in table.columns.saved():
            yield f"| | `{name}` | {meaning} |"
