"""``quem import``: a store from an archive."""

from __future__ import annotations

from pathlib import Path

import click

from quem.commands.options import database_option, study_argument


@click.command(name="import")
@study_argument()
@click.argument("archive", type=click.Path(path_type=Path))
@database_option
def import_(study: Path, archive: Path, database: str | None) -> None:
    """Restore the judging session of STUDY from an ARCHIVE that `quem export` wrote.

    The store must not hold the study yet. All of the archive is taken over, or nothing.
    Judges' links that worked when it was written work again.
    """
    from quem.io.text import read_text
    from quem.store.archive import read_archive, restore_archive
    from quem.store.database import clear_refusals, open_store
    from quem.store.location import locate_database
    from quem.store.uploads import UploadFolder
    from quem.studyfile.reading import read_study

    spec = read_study(study)
    text = read_text(archive, str(archive), what="archive")
    rows = read_archive(text, str(archive), spec.id)
    store = open_store(locate_database(study, database))
    with store, clear_refusals(store.place), store.write() as c:
        counts = restore_archive(c, spec.id, rows, str(archive), UploadFolder(study))
    summary = f"{counts['person']} people, {counts['task']} tasks, {counts['revision']} revisions"
    click.echo(f"restored {summary} into {store.place.name}", err=True)
