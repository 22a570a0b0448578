"""``quem measures``: which measures of lists there are, and what each of them is."""

from __future__ import annotations

from pathlib import Path

import click

from quem.commands.options import code_option, study_in


@click.command()
@click.argument("name", required=False)
@click.option("--study", type=click.Path(path_type=Path), help="Also those of this study's own.")
@code_option
def measures(name: str | None, study: Path | None, *, code: bool) -> None:
    """List the measures of lists, or explain the one with NAME."""
    from quem import kinds
    from quem.scores.listing import list_measures

    loaded = None if study is None else kinds.load_study(study_in(study), code=code)
    click.echo(list_measures(name, getattr(loaded, "own_measures", {})))
