"""JSON Schema of analysis.json, and the tables of its keys and of the columns of CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import BaseModel

    from quem.report.result import Presentation


def json_schema(presentations: Mapping[str, Presentation[Any]]) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of analysis.json: every key, and no other."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:quem:analysis:1",
        "title": "analysis.json, format 1",
        "description": "The result of `quem analyze`, `quem compare` or `quem plan`. null means "
        "unbounded, undefined, or unknown.",
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


def settings_schema(model: type[BaseModel]) -> dict[str, Any]:
    """JSON Schema of settings as used: all are required, whatever their defaults."""
    schema = model.model_json_schema(mode="serialization")
    settings: dict[str, Any] = _strict(_inlined(schema, schema.pop("$defs", {})))
    return settings


def _inlined(schema: Any, models: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON
    """A schema with its references resolved."""
    if isinstance(schema, list):
        return [_inlined(part, models) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(models[schema["$ref"].rpartition("/")[2]], models)
    return {key: _inlined(value, models) for key, value in schema.items()}


def _strict(schema: Any) -> Any:  # noqa: ANN401  JSON
    """A schema with all properties required and no others, without titles and defaults."""
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    entries = {
        key: {name: _strict(part) for name, part in value.items()}
        if key == "properties"
        else _strict(value)
        for key, value in schema.items()
        if key not in ("title", "default")
    }
    if "properties" not in entries:
        return entries
    return {**entries, "required": list(entries["properties"]), "additionalProperties": False}


def keys_table(presentation: Presentation[Any]) -> Iterator[str]:
    """The keys of analysis.json as lines of a Markdown table."""
    yield "| key | content |"
    yield "|---|---|"
    for key, meaning in presentation.document.reference():
        yield f"| `{key}` | {meaning} |"


def tables_table(presentation: Presentation[Any]) -> Iterator[str]:
    """The columns of the CSV files as lines of a Markdown table."""
    yield "| file | column | content |"
    yield "|---|---|---|"
    for table in presentation.tables:
        yield f"| `{table.stem}.csv` | | {table.meaning} |"
        for name, meaning in table.saved():
            yield f"| | `{name}` | {meaning} |"
