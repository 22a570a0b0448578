"""``quem panel``: subjects once, and systems whenever there is a new one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from quem.commands.options import (
    conversion_progress,
    database_option,
    print_warnings,
    say_next,
    study_argument,
    unsandboxed_option,
)
from quem.errors import FileError, QuemError, refuse

if TYPE_CHECKING:
    import datetime as dt

    from quem.studyfile.reading import StudyFile


@click.group()
def panel() -> None:
    """Freeze a study's people in a reference panel, and place new systems on it.

    Judges then rank a new system with four people of the panel on each problem. The people do
    nothing again.
    """


@panel.command()
@study_argument()
@click.option("--out", type=click.Path(path_type=Path), help="[default: STUDY-panel.zip beside it]")
@click.option("--license", "license_text", default="", help="Under which others may use it.")
@click.option(
    "--consent",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="What the people agreed to.  [default: `solving.consent`]",
)
@click.option(
    "--round",
    "step",
    type=click.FloatRange(0, min_open=True),
    help="Round years to a multiple of this, so that they identify nobody.",
)
@database_option
@click.option("--reveal", is_flag=True, help="Read rankings of an open session; it is logged.")
@unsandboxed_option
def make(
    study: Path,
    out: Path | None,
    license_text: str,
    consent: Path | None,
    step: float | None,
    database: str | None,
    *,
    reveal: bool,
    unsandboxed: bool,
) -> None:
    """Freeze the people of STUDY in a panel.

    Takes everybody with `reuse: true`: their solutions as judges saw them, under random ids, their
    years, and the judges' rankings of them. Names nobody.
    """
    import pandas as pd

    from quem import kinds
    from quem.panels.making import make_panel
    from quem.panels.package import read_panel
    from quem.rankings import Decisions
    from quem.rankings.loading import judges_panel
    from quem.report.files import write_files
    from quem.solutions import check_solutions
    from quem.studyfile.reading import draft_experience

    path = out if out is not None else study.with_name(f"{study.stem}-panel.zip")
    if path.exists():
        raise FileError(
            path, "is there already, and a lost panel cannot be made again; name another with --out"
        )
    loaded = kinds.load_study(study, kind="experience", database=database, reveal=reveal)
    if isinstance(loaded.data, Decisions):
        message = "judges decided between pairs, and a panel needs rankings of whole groups"
        raise QuemError(loaded.mistake(("rankings",), message))
    if loaded.panel:
        message = "this study is placed on a panel; make panels of studies whose people were ranked"
        raise QuemError(loaded.mistake(("panel",), message))
    given = judges_panel(loaded)
    if changed := [one for one in loaded.data.warnings if one.code == "solutions-changed"]:
        raise FileError(study, f"{changed[0].message}; put back what judges ranked")
    draft = draft_experience(study)
    solutions, mistakes, warnings = check_solutions(
        draft, complete=True, sandboxed=not unsandboxed, tell=conversion_progress
    )
    refuse(mistakes)
    tasks = pd.MultiIndex.from_product([given.judges, given.problems], names=["judge", "problem"])
    table = given.ranks.reshape(len(tasks), -1)
    content, left_out = make_panel(
        draft,
        solutions,
        pd.DataFrame(table, tasks, list(given.solvers)).dropna(how="all"),
        license_text=license_text,
        consent=consent,
        step=step or 0.0,
        last_ranked_on=_last_day(draft, database),
    )
    write_files(path.parent, {path.name: content})
    print_warnings(one for one in warnings if one.code in ("identity", "metadata"))
    for one, why in left_out.items():
        click.echo(f"left out: {one}: {why}", err=True)
    if not (consent or solutions.solving_consent):
        click.echo("note: no text says what the people agreed to; --consent adds it", err=True)
    click.echo(f"wrote {path}", err=True)
    click.echo(f"panel: {read_panel(path).digest}")
    say_next("panel", "place", path, "--system", "NAME=FOLDER")


def _last_day(draft: StudyFile, database: str | None) -> dt.date | None:
    """The day of the last submission, if a store knows it."""
    from quem.rankings.stored import Session, session_of_study
    from quem.store.exporting import last_submitted
    from quem.store.location import locate_database

    study_id = draft.spec.id if draft.spec else ""
    store = session_of_study(Session(locate_database(draft.path, database)), study_id)
    if store is None:
        return None
    with store, store.read() as c:
        when = last_submitted(c, study_id)
    return when.date() if when else None


def _systems(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, Path]:
    systems: dict[str, Path] = {}
    for value in values:
        name, equals, folder = value.partition("=")
        if not (name and equals and folder):
            raise click.BadParameter(f"{value!r} is not NAME=FOLDER")
        if name in systems:
            raise click.BadParameter(f"{name} is there twice")
        systems[name] = Path(folder)
    return systems


@panel.command()
@click.argument("panel_file", metavar="PANEL", type=click.Path(path_type=Path))
@click.option(
    "--system",
    "systems",
    multiple=True,
    required=True,
    callback=_systems,
    metavar="NAME=FOLDER",
    help="A system, and the folder of its solutions, named by problem. Can be repeated.",
)
@click.option(
    "--anchors",
    default=4,
    show_default=True,
    type=click.IntRange(2),
    help="People of the panel per problem that judges rank with it; 6 if the panel is years old.",
)
@click.option(
    "--judges", default=2, show_default=True, type=click.IntRange(1, 100), help="How many judges."
)
@click.option("--failed", is_flag=True, help="Solutions that are not in the folder failed.")
@click.option("--out", type=click.Path(path_type=Path), help="[default: a folder named by NAME]")
def place(
    panel_file: Path,
    systems: dict[str, Path],
    anchors: int,
    judges: int,
    out: Path | None,
    *,
    failed: bool,
) -> None:
    """Write a judging study that places systems on PANEL.

    For each problem it draws the people whom judges rank with the systems. `quem serve` opens it
    for judges, and `quem analyze` gives each system's years.
    """
    from quem.panels.package import read_panel
    from quem.panels.placing import place_systems

    folder = out if out is not None else Path("-".join(systems))
    written = place_systems(
        read_panel(panel_file), systems, folder, count=anchors, judges=judges, failed=failed
    )
    for name in written:
        click.echo(f"wrote {folder / name}", err=True)
    say_next("serve", folder)


@panel.command()
@click.argument("panel_file", metavar="PANEL", type=click.Path(path_type=Path))
@click.option("--digest", default="", help="The digest that it must have, or its beginning.")
def verify(panel_file: Path, digest: str) -> None:
    """Check that PANEL is as it was made.

    Recomputes the digest of every file, and names each that differs (exit code 1).
    """
    from quem.panels.package import read_panel

    found = read_panel(panel_file)
    if not found.digest.startswith(digest.strip().casefold()):
        raise FileError(panel_file, f"is another panel: its digest is {found.digest}")
    counts = f"{len(found.people)} people, {len(found.problems)} problems"
    click.echo(f"{panel_file}: whole; {counts}, {len(found.spec.judges)} judges")
    click.echo(f"panel: {found.digest}")
