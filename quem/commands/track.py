"""``quem track``: years for versions between sessions of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from quem.commands.audit import machine_named
from quem.commands.options import (
    database_option,
    format_options,
    json_option,
    out_option,
    refuse_out_with_json,
    reveal_option,
    show_result,
    study_argument,
)

if TYPE_CHECKING:
    from pathlib import Path

    from quem.machines.tracking import TrackFindings

_BELOW = 4


@click.command()
@study_argument()
@click.option("--machine", "named", metavar="ID", help="Which one, where the study has several.")
@click.option("--of", metavar="NAME", help="Whose versions, where several systems have new ones.")
@click.option(
    "--fail-below",
    type=click.FloatRange(min=0),
    metavar="YEARS",
    help="Exit with 4 where the newest version does not reach this.",
)
@click.option(
    "--probability",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="How sure that has to be.",
)
@out_option("STUDY's name with -track, beside it")
@json_option
@format_options
@database_option
@reveal_option
def track(
    study: Path,
    named: str | None,
    of: str | None,
    fail_below: float | None,
    probability: float,
    out: Path | None,
    database: str | None,
    formats: dict[str, Any],
    *,
    as_json: bool,
    reveal: bool,
) -> None:
    """Give years to versions in STUDY that a machine judge ranked and experts did not.

    Versions that both ranked calibrate the machine judge. Says why where it cannot, when a session
    of experts pays, and what was said before of versions that experts ranked later. What it says is
    kept in machines/track.jsonl beside STUDY, also with --json.
    """
    refuse_out_with_json(out, as_json=as_json)
    from quem.experience.loading import load_study
    from quem.machines.result import TrackResult
    from quem.machines.tracking import note_sayings, track_versions

    loaded = load_study(study, database=database, reveal=reveal)
    findings = track_versions(loaded, machine_named(loaded, named), of)
    folder = out if out is not None else study.parent / f"{study.stem}-track"
    show_result(TrackResult(findings), folder, formats, as_json=as_json)
    note_sayings(findings)
    if fail_below is not None and not _reaches(findings, fail_below, probability):
        raise SystemExit(_BELOW)


def _reaches(findings: TrackFindings, years: float, probability: float) -> bool:
    """Tell whether the newest version reaches years, and say how sure that is."""
    from quem.wording import format_percent, format_probability

    version = findings.tracked[-1]
    name = version.system.id
    if version.tracked is None:
        click.echo(f"{name} has no years, so it does not reach {years:g}", err=True)
        return False
    chance = version.tracked.at_least(years)
    reached = chance >= probability
    click.echo(
        f"{name} has at least {years:g} with a probability of {format_probability(chance)}; "
        f"{format_percent(probability)} {'is' if reached else 'is not'} reached",
        err=True,
    )
    return reached
