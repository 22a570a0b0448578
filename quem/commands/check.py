"""``quem check``: everything that is wrong or doubtful in a study, without a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from quem.load import Study

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

    loaded = load_study(study)
    result = analyze(loaded, bootstrap=0, permutations=0)
    count = len(result.warnings)
    told = f"{count} warning{'' if count == 1 else 's'}" if count else "no warnings"
    click.echo(f"{study}: no mistakes, {told}")
    click.echo(f"read: {_contents(loaded)}")
    print_warnings(result.warnings)


def _contents(study: Study) -> str:
    """Count what was read."""
    from quem.rankings import Rankings

    kinds = list(study.declared.solvers.values())
    counts = {
        "subject": kinds.count("subject"),
        "system": kinds.count("system"),
        "judge": len(study.declared.judges),
        "problem": len(study.declared.problems),
    }
    if isinstance(study.data, Rankings):
        counts["judge"] = len(study.data.judges)
        counts["rank"] = int((study.data.rank >= 0).sum())
    else:
        counts["average rank"] = int((study.data.average >= 0).sum())
    return ", ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for noun, n in counts.items() if n)
