"""``quem schema``: the JSON Schema of analysis.json."""

from __future__ import annotations

import json

import click


@click.command()
def schema() -> None:
    """Print the JSON Schema of analysis.json, to check or to read results by program."""
    from quem.kinds import presentations
    from quem.report.columns import json_schema

    content = json_schema(presentations())
    click.echo(json.dumps(content, ensure_ascii=False, indent=1).encode())
