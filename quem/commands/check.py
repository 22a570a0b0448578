"""``quem check``: everything that is wrong or doubtful in a study, without a report."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["check"]


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
def check(study: Path) -> None:
    """Check STUDY and its rankings, and write nothing.

    Names every mistake with its place and its remedy (exit code 1), or every doubt.
    """
    from quem.commands.output import print_warnings
    from quem.kinds import analyze
    from quem.load import load_study

    result = analyze(load_study(study), bootstrap=0, permutations=0)
    count = len(result.warnings)
    told = f"{count} warning{'' if count == 1 else 's'}" if count else "no warnings"
    click.echo(f"{study}: no mistakes, {told}")
    print_warnings(result.warnings)
