"""``quem track``: years for versions between sessions of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quem.commands.options import (
    database_option,
    json_option,
    out_option,
    refuse_out_with_json,
    reveal_option,
    study_argument,
)

if TYPE_CHECKING:
    from pathlib import Path

_BELOW = 4
_SURE = 0.9


@click.command()
@study_argument()
@click.option("--machine", metavar="ID", help="Which one, where the study has several.")
@click.option("--of", metavar="NAME", help="Whose versions, where several systems have new ones.")
@click.option(
    "--fail-below",
    type=click.FloatRange(min=0),
    metavar="YEARS",
    help="Exit with 4 unless the newest version has that many with a probability of 90%.",
)
@out_option("STUDY's name with -track, beside it")
@json_option
@database_option
@reveal_option
def track(
    study: Path,
    machine: str | None,
    of: str | None,
    fail_below: float | None,
    out: Path | None,
    database: str | None,
    *,
    as_json: bool,
    reveal: bool,
) -> None:
    """Estimate years of versions in STUDY that a machine judge ranked and experts did not.

    Versions that both ranked calibrate the machine judge. Writes a table, and a chart with the
    versions that experts ranked.
    """
    refuse_out_with_json(out, as_json=as_json)
    import pandas as pd

    from quem.rankings.loading import load_study
    from quem.report.drawing import png_bytes, svg_text
    from quem.report.files import json_text, write_files
    from quem.track import course, summary, track_versions
    from quem.wording import format_probability

    findings = track_versions(load_study(study, database=database, reveal=reveal), machine, of)
    if as_json:
        versions = [version._asdict() for version in findings.versions]
        click.echo(json_text({"judge": findings.run.judge, "versions": versions}), nl=False)
    else:
        click.echo(summary(findings))
        files = {"versions.csv": pd.DataFrame(findings.versions).to_csv(index=False).encode()}
        if figure := course(findings):
            files["course.svg"] = svg_text(figure, "course").encode()
            files["course.png"] = png_bytes(figure)
        folder = out if out is not None else study.parent / f"{study.stem}-track"
        write_files(folder, files, keep=findings.study.files)
        click.echo(f"\nTable and chart: {folder}", err=True)
    if fail_below is None:
        return
    name, tracked = findings.newest
    chance = tracked.at_least(fail_below) if tracked else 0.0
    sure = f"a probability of {format_probability(chance)}" if tracked else "no years"
    click.echo(f"{name} has {sure} for at least {fail_below:g}", err=True)
    if chance < _SURE:
        raise SystemExit(_BELOW)
