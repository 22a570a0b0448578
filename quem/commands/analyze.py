"""``quem analyze``: from a study file to a report."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Any

import click

from quem.commands.options import (
    analysis_options,
    database_option,
    json_option,
    out_option,
    refuse_out_with_json,
    reveal_option,
    seed_option,
)

__all__ = ["analyze"]


def _years(
    _: click.Context, __: click.Parameter, values: tuple[float, ...]
) -> tuple[float, ...] | None:
    for value in values:
        if not (isfinite(value) and value >= 0):
            message = f"{value:g} is not a finite number, 0 or more"
            raise click.BadParameter(message)
    return values or None


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
@out_option("STUDY's name with -report, beside it")
@json_option
@analysis_options
@click.option(
    "--interval",
    type=click.Choice(["prediction", "mean", "calibration"]),
    help="Which interval is the headline.",
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
@reveal_option
@seed_option
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
    refuse_out_with_json(out, as_json=as_json)
    from quem.commands.output import show_result
    from quem.kinds import analyze as analyze_study
    from quem.load import load_study

    result = analyze_study(load_study(study, database=database, reveal=reveal), **settings)
    folder = out if out is not None else study.parent / f"{study.stem}-report"
    show_result(result, folder, as_json=as_json)
