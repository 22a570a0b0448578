"""``quem plan``: how large a study has to be."""

from __future__ import annotations

import re
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import code_option, database_option

if TYPE_CHECKING:
    from quem.planning.result import PlanResult

__all__ = ["plan"]

_STUDIES = 1000
_MOST_NUMBERS = 10_000


def _numbers(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Read whole numbers: 12, 6-20, 6-20:2 (every second), or several with commas."""
    if value is None:
        return None
    found: set[int] = set()
    for part in value.split(","):
        read = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?\s*", part, re.ASCII)
        if not read:
            message = f"{value!r} is no number such as 12, and none of 6-20, 6-20:2 or 8,12"
            raise click.BadParameter(message)
        first, last, step = int(read[1]), int(read[2] or read[1]), int(read[3] or 1)
        if last < first or not step:
            message = f"{part.strip()!r} holds no number; write it rising: 6-20 or 6-20:2"
            raise click.BadParameter(message)
        if len(range(first, last + 1, step)) > _MOST_NUMBERS:
            message = f"{part.strip()!r} are too many numbers; name {_MOST_NUMBERS} at most"
            raise click.BadParameter(message)
        found.update(range(first, last + 1, step))
    return tuple(sorted(found))


def _span(_: click.Context, __: click.Parameter, value: str | None) -> tuple[float, float] | None:
    """Read two numbers, such as 1-12."""
    if value is None:
        return None
    number = r"\s*(\d+(?:\.\d+)?)\s*"
    read = re.fullmatch(f"{number}-{number}", value, re.ASCII)
    if not read or not float(read[1]) < float(read[2]):
        message = f"{value!r} is not from the least to the most experience; write 1-12"
        raise click.BadParameter(message)
    return float(read[1]), float(read[2])


def _positive(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and not (isfinite(value) and value > 0):
        message = f"{value:g} is not a finite number above 0"
        raise click.BadParameter(message)
    return value


def _share(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0 < value < 1:
        from quem.io.text import percent_hint

        message = f"{value:g} is not between 0 and 1{percent_hint(value)}"
        raise click.BadParameter(message)
    return value


def _finite(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and not (isfinite(value) and value >= 0):
        message = f"{value:g} is not a finite number, 0 or more"
        raise click.BadParameter(message)
    return value


@click.command()
@click.argument("study", required=False, type=click.Path(path_type=Path))
@click.option(
    "--width",
    type=float,
    callback=_positive,
    help="Half-width that the prediction interval should have at most, in years: 2 is for "
    "estimates ± 2.",
)
@click.option(
    "--from",
    "pilot",
    metavar="STUDY",
    type=click.Path(path_type=Path),
    help="The same as STUDY: a pilot, from which the noise is estimated.",
)
@click.option(
    "--judges",
    callback=_numbers,
    metavar="NUMBERS",
    help="Numbers to try: 3, 2-5 or 2,4.  [default: 2-5]",
)
@click.option(
    "--subjects",
    callback=_numbers,
    metavar="NUMBERS",
    help="The same of subjects.  [default: 6-20]",
)
@click.option(
    "--problems",
    callback=_numbers,
    metavar="NUMBERS",
    help="The same of problems.  [default: 3-12]",
)
@click.option(
    "--experience",
    callback=_span,
    metavar="FROM-TO",
    help="The subjects' range of experience.  [default: 1-12, or the pilot's spread]",
)
@click.option(
    "--noise",
    type=click.Choice(["low", "high"]),
    help="How much is random: standard deviations of 1 year (low) or 2, tastes of half of it.",
)
@click.option(
    "--person",
    type=float,
    callback=_finite,
    help="Standard deviation of people of equal experience, in years.",
)
@click.option(
    "--solution", type=float, callback=_finite, help="The same of one person's solutions."
)
@click.option(
    "--judge", type=float, callback=_finite, help="The same of a judge's impression of a solution."
)
@click.option(
    "--taste", type=float, callback=_finite, help="The same of a judge's liking for a solver."
)
@click.option("--systems", type=click.IntRange(1, 100), help="Systems ranked among the subjects.")
@click.option(
    "--power-for",
    type=float,
    callback=_positive,
    metavar="YEARS",
    help="Tell how surely two systems that are so far apart are told apart.",
)
@click.option(
    "--cost-solution",
    type=float,
    callback=_finite,
    help="Cost of one subject's solution of one problem.  [default: 60 minutes]",
)
@click.option(
    "--cost-judgement",
    type=float,
    callback=_finite,
    help="Cost of one judge's placing one solution, in the same unit.  [default: --minutes]",
)
@click.option(
    "--minutes",
    type=float,
    callback=_positive,
    help="Minutes in which a judge places one solution.  [default: as in the pilot's judging "
    "session, else 5]",
)
@click.option("--level", type=float, callback=_share, help="Level of the interval, such as 0.95.")
@click.option(
    "--simulate",
    type=click.IntRange(0, 1_000_000),
    default=_STUDIES,
    show_default=True,
    metavar="N",
    help="Studies to simulate of each design shown; 0 for none.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    show_default=True,
    help="Seed of the simulation.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    help="Processes that simulate.",
)
@click.option("--cluster", metavar="ADDRESS", help="Dask scheduler whose workers simulate.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON; write nothing.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for the report.  [default: STUDY's name with -plan, beside it; without one "
    "quem-plan]",
)
@database_option
@click.option(
    "--reveal", is_flag=True, help="Read a judging session that is not closed; this is logged."
)
@code_option
def plan(
    study: Path | None,
    pilot: Path | None,
    simulate: int,
    jobs: int,
    cluster: str | None,
    out: Path | None,
    database: str | None,
    *,
    as_json: bool,
    reveal: bool,
    code: bool,
    **settings: Any,  # noqa: ANN401
) -> None:
    """Say how many subjects, judges and problems a study needs.

    With STUDY, a pilot, its noise is estimated.

    Tells the expected half-width of the prediction interval of many designs by a closed form,
    at once, and tries those that are worth it on simulated studies. With --width: those that
    reach it, cheapest first. Prints a summary, and writes report.html, figures and tables.
    """
    del code  # experience studies name none
    if study is not None and pilot is not None:
        message = "STUDY and --from both name the pilot; leave one of them out"
        raise click.UsageError(message)
    pilot = pilot or study
    if as_json and out is not None:
        message = "--json writes nothing, so it takes no --out; leave one of them out"
        raise click.UsageError(message)
    if pilot is None and (database or reveal):
        message = "--database and --reveal are about a pilot's judging session; name its study file"
        raise click.UsageError(message)
    _refuse_half_said(pilot, settings)
    from quem.commands.output import print_warnings
    from quem.kinds import plan as make_plan
    from quem.load import load_study

    loaded = load_study(pilot, database=database, reveal=reveal) if pilot else None
    result = make_plan(loaded, database=database, simulate=0, **settings)
    if not as_json:
        click.echo(result.summary(warnings=False))
    result = _simulated(result, simulate, jobs, cluster)
    if as_json:
        from quem.report.files import json_text

        click.echo(json_text(result.to_dict()).encode(), nl=False)
        print_warnings(result.warnings)
        return
    from quem.report.files import write_report

    folder = out or (pilot.parent / f"{pilot.stem}-plan" if pilot else Path("quem-plan"))
    write_report(result, folder)
    if simulate:
        click.echo(f"\n{result.simulation_summary()}")
    print_warnings(result.warnings)
    click.echo(f"\nReport: {folder / 'report.html'}", err=True)


def _refuse_half_said(pilot: Path | None, settings: dict[str, Any]) -> None:
    """Refuse options that contradict each other or lack another."""
    if pilot is not None and settings["noise"] is not None:
        message = "a pilot tells the noise; leave --noise out, or replace parts: --person 1.5"
        raise click.UsageError(message)
    if settings["cost_judgement"] is not None and settings["cost_solution"] is None:
        message = "--cost-judgement needs --cost-solution beside it, in the same unit"
        raise click.UsageError(message)


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
