"""``quem analyze``: from a study file to a report."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Any

import click

from quem.commands.options import database_option

__all__ = ["analyze"]


def _share(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0 < value < 1:
        from quem.text import percent_hint

        message = f"{value:g} is not between 0 and 1{percent_hint(value)}"
        raise click.BadParameter(message)
    return value


def _years(
    _: click.Context, __: click.Parameter, values: tuple[float, ...]
) -> tuple[float, ...] | None:
    for value in values:
        if not (isfinite(value) and value >= 0):
            message = f"{value:g} is not a finite number, 0 or more"
            raise click.BadParameter(message)
    return values or None


def _folder(_: click.Context, __: click.Parameter, value: str | None) -> Path | None:
    if value == "":
        message = "is empty; name a folder"
        raise click.BadParameter(message)
    return None if value is None else Path(value)


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(),
    callback=_folder,
    help="Folder for the report.  [default: STUDY's name with -report, beside it]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON; write nothing.")
@click.option("--level", type=float, callback=_share, help="Level of the intervals, such as 0.95.")
@click.option(
    "--form",
    type=click.Choice(["linear", "log", "sqrt", "quadratic", "cubic", "auto"]),
    help="Form of the skill function.",
)
@click.option(
    "--interval",
    type=click.Choice(["prediction", "mean", "calibration"]),
    help="Which interval is the headline.",
)
@click.option("--score", type=click.Choice(["rank", "blom"]), help="What is averaged.")
@click.option(
    "--normalize",
    type=click.Choice(["none", "expected", "percentile"]),
    help="How ranks of groups of unequal size are made comparable.",
)
@click.option(
    "--reference", type=click.Choice(["all", "humans"]), help="Whom a solution is ranked against."
)
@click.option(
    "--at-least",
    multiple=True,
    type=float,
    callback=_years,
    help="Years for which to report the chance of at least so many; may be repeated.",
)
@click.option("--bootstrap", type=click.IntRange(0, 10_000_000), help="Bootstrap replicates.")
@click.option(
    "--permutations",
    type=click.IntRange(0, 10_000_000),
    help="Random orders of the permutation test above 9 subjects.",
)
@database_option
@click.option(
    "--reveal", is_flag=True, help="Read a judging session that is not closed; this is logged."
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of what is random.")
def analyze(
    study: Path,
    out: Path | None,
    database: str | None,
    *,
    as_json: bool,
    reveal: bool,
    **settings: Any,  # noqa: ANN401
) -> None:
    """Analyse STUDY and write a report.

    Prints a summary, and writes report.html, figures, tables and analysis.json. Options
    replace the settings of the study file.
    """
    if as_json and out is not None:
        message = "--json writes nothing, so it takes no --out; leave one of them out"
        raise click.UsageError(message)
    from quem.commands.output import print_warnings
    from quem.kinds import analyze as analyze_study
    from quem.load import load_study

    result = analyze_study(load_study(study, database=database, reveal=reveal), **settings)
    if as_json:
        from quem.report.files import json_text

        # JSON is UTF-8, whatever the terminal is.
        click.echo(json_text(result.to_dict()).encode(), nl=False)
        print_warnings(result.warnings)
        return
    from quem.report.files import write_report

    folder = out if out is not None else study.parent / f"{study.stem}-report"
    write_report(result, folder)
    click.echo(result.summary(warnings=False))
    print_warnings(result.warnings)
    click.echo(f"\nReport: {folder / 'report.html'}", err=True)
