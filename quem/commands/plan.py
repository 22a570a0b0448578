"""``quem plan``: how large a study has to be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import (
    SettingsCommand,
    code_option,
    database_option,
    format_options,
    json_option,
    out_option,
    refuse_out_with_json,
    reveal_option,
    study_argument,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import BaseModel

    from quem.planning.result import PlanResult


def _settings() -> dict[type[BaseModel], Iterable[str]]:
    from quem.planning.settings import PlanSettings

    return {PlanSettings: PlanSettings.model_fields}


_FIRST = (
    "width judges subjects problems experience noise systems power_for minutes simulate out as_json"
)


@click.command(cls=SettingsCommand, settings=_settings, defaults=True, first=_FIRST)
@study_argument(required=False)
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    help="Number of processes.",
)
@click.option("--cluster", metavar="ADDRESS", help="Dask scheduler whose workers simulate.")
@json_option
@format_options
@out_option("STUDY's name with -plan, beside it; without STUDY quem-plan")
@database_option
@reveal_option
@code_option
def plan(
    study: Path | None,
    jobs: int,
    cluster: str | None,
    out: Path | None,
    database: str | None,
    formats: dict[str, Any],
    *,
    as_json: bool,
    reveal: bool,
    code: bool,
    **settings: Any,  # noqa: ANN401
) -> None:
    """Find how many subjects, judges, and problems a study needs.

    If STUDY is given, it is a pilot from which the SDs are estimated.

    Computes the expected half-width of the prediction interval for many designs in closed form
    and simulates the best of them. With --width: those that reach it, cheapest first. Prints a
    summary and writes report.html, figures, and tables.
    """
    del code  # experience studies name none
    refuse_out_with_json(out, as_json=as_json)
    if study is None and (database or reveal):
        raise click.UsageError(
            "--database and --reveal apply to a pilot's judging session; specify its study file"
        )
    if study is not None and settings["noise"] is not None:
        raise click.UsageError(
            "a pilot gives the SDs; leave --noise out, or replace single SDs: --person 1.5"
        )
    from quem.commands.options import print_warnings
    from quem.kinds import plan as make_plan
    from quem.planning.settings import plan_settings
    from quem.rankings.loading import load_study

    simulate = plan_settings(settings).simulate
    loaded = load_study(study, database=database, reveal=reveal) if study else None
    result = make_plan(loaded, database=database, **(settings | {"simulate": 0}))
    if not as_json:
        click.echo(result.summary(warnings=False))
    result = _simulated(result, simulate, jobs, cluster)
    if as_json:
        from quem.report.files import json_text

        click.echo(json_text(result.to_dict()).encode(), nl=False)
        print_warnings(result.warnings)
        return
    from quem.report.files import write_report

    folder = out or (study.parent / f"{study.stem}-plan" if study else Path("quem-plan"))
    write_report(result, folder, **formats)
    if simulate:
        click.echo(f"\n{result.simulation_summary()}")
    print_warnings(result.warnings)
    click.echo(f"\nReport: {folder / 'report.html'}", err=True)


def _simulated(result: PlanResult, studies: int, jobs: int, cluster: str | None) -> PlanResult:
    """Simulate, with progress on stderr."""
    import sys

    sys.stdout.flush()
    if not studies:
        return result
    with click.progressbar(
        length=len(result.findings.shown), label="Simulating", file=sys.stderr
    ) as bar:
        return result.simulated(studies, jobs=jobs, cluster=cluster, done=lambda: bar.update(1))
