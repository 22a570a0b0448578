"""``quem restore``: a store out of one of its backups."""

from __future__ import annotations

from pathlib import Path

import click

from quem.commands.options import database_option, study_argument


@click.command()
@study_argument()
@click.argument("copy", type=click.Path(path_type=Path))
@database_option
@click.option(
    "--replace", is_flag=True, help="Replace a database that holds a study; it is kept beside."
)
def restore(study: Path, copy: Path, database: str | None, *, replace: bool) -> None:
    """Bring back the judging session of STUDY from a COPY that `quem backup` made.

    Stop the server first. The copy is checked before anything is changed. Judges' links that
    worked when it was made work again.
    """
    from quem.store.backup import UPLOADS, stem_of
    from quem.store.location import locate_database
    from quem.store.restoring import restore_copy
    from quem.store.uploads import UploadFolder
    from quem.study.reading import read_study

    spec = read_study(study)
    place = locate_database(study, database)
    restored = restore_copy(place, spec.id, copy, replace=replace)
    UploadFolder(study).take_back(copy.parent / f"{stem_of(spec.id)}{UPLOADS}")
    if restored.kept:
        click.echo(f"kept the old database as {restored.kept}", err=True)
    rows, last = restored.holdings.rows, restored.holdings.last_at
    summary = f"restored {rows['judge']} judges, {rows['revision']} revisions into {place.name}"
    click.echo(summary, err=True)
    if last:
        click.echo(f"last revision: {last:%Y-%m-%d %H:%M:%S} UTC", err=True)
