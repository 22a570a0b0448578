"""``quem backup``: copies of a running judging session, and restoring one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import DURATION, database_option, study_argument

if TYPE_CHECKING:
    from collections.abc import Callable

    from quem.store.backup import Copy

Command = Any  # a function, or a click command made of one
_KEEP = 48
_TERMINATED = 143  # exit code of a shell after SIGTERM


def keep_option(name: str) -> Callable[[Command], Command]:
    """The option for the number of copies to keep."""
    help_text = "How many copies of this study to keep in FOLDER; the oldest are removed."
    number = click.IntRange(1)
    return click.option(name, "keep", default=_KEEP, show_default=True, type=number, help=help_text)


@click.command()
@study_argument()
@click.option(
    "--to",
    "folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder for the copies; on another disk than the database.",
)
@click.option(
    "--every",
    metavar="TIME",
    type=DURATION,
    help="Make a copy every 5m (or 90s, 2h, 1d) until stopped.  [default: one copy]",
)
@keep_option("--keep")
@click.option(
    "--restore",
    "copy",
    metavar="COPY",
    type=click.Path(path_type=Path),
    help="Bring this copy back. Stop the server first.",
)
@click.option(
    "--replace",
    is_flag=True,
    help="With --restore: replace a database that holds a study; it is kept beside.",
)
@database_option
def backup(
    study: Path,
    folder: Path | None,
    every: float | None,
    keep: int,
    copy: Path | None,
    database: str | None,
    *,
    replace: bool,
) -> None:
    """Copy the judging session of STUDY --to a FOLDER, also while the server runs.

    Each copy is opened and compared with the database before it counts. Nothing of the
    rankings is shown. --restore brings a copy back, which is checked before anything is changed;
    judges' links that worked when it was made work again. PostgreSQL has pg_dump and pg_restore.
    """
    if (folder is None) == (copy is None) or (copy and every):
        raise click.UsageError(
            "give either --to FOLDER, with --every if you like, or --restore COPY"
        )
    if replace and copy is None:
        raise click.UsageError("--replace belongs to --restore")
    if copy:
        _restore(study, copy, database, replace=replace)
    elif folder:
        _back_up(study, folder, every, keep, database)


def _back_up(
    study: Path, folder: Path, every: float | None, keep: int, database: str | None
) -> None:
    import signal
    import time

    from quem.errors import QuemError
    from quem.studyfile.reading import read_study

    study_id = read_study(study).id

    def stop(*_: object) -> None:
        raise SystemExit(0 if every else _TERMINATED)

    # Partial copies are removed on exit.
    signal.signal(signal.SIGTERM, stop)
    while True:
        try:
            _tell(_copy(study, study_id, folder, every, keep, database))
        except QuemError as error:
            if every is None:
                raise
            for mistake in error.mistakes:
                click.echo(f"error: {mistake}", err=True)
        if every is None:
            return
        time.sleep(every)


def _copy(
    study: Path, study_id: str, folder: Path, every: float | None, keep: int, database: str | None
) -> Copy:
    """Make one copy; the database is reopened, as it may have been replaced."""
    from quem.store.backup import back_up
    from quem.store.database import held_store
    from quem.store.location import locate_database
    from quem.store.uploads import UploadFolder

    uploads = UploadFolder(study)
    with held_store(locate_database(study, database), study, study_id) as store:
        return back_up(
            store, study_id, folder, actor="shell", keep=keep, every=every, uploads=uploads
        )


def _tell(copy: Copy) -> None:
    """Print where a copy is, without its contents."""
    import sys

    last = copy.holdings.last_at
    words = [f"{copy.size:,} bytes", f"{copy.holdings.row_count:,} rows"]
    words += [f"last revision {last:%Y-%m-%d %H:%M:%S} UTC"] if last else ["no revisions"]
    click.echo(f"{copy.path}: {', '.join(words)}")
    if copy.note:
        click.echo(f"note: {copy.note}", err=True)
    sys.stdout.flush()


def _restore(study: Path, copy: Path, database: str | None, *, replace: bool) -> None:
    from quem.store.backup import restore_copy, uploads_beside
    from quem.store.location import locate_database
    from quem.store.uploads import UploadFolder
    from quem.studyfile.reading import read_study

    study_id = read_study(study).id
    place = locate_database(study, database)
    restored = restore_copy(place, study_id, copy, replace=replace)
    UploadFolder(study).take_back(uploads_beside(copy, study_id))
    if restored.kept:
        click.echo(f"kept the old database as {restored.kept}", err=True)
    rows, last = restored.holdings.rows, restored.holdings.last_at
    summary = f"restored {rows['person']} people, {rows['revision']} revisions into {place.name}"
    click.echo(summary, err=True)
    if last:
        click.echo(f"last revision: {last:%Y-%m-%d %H:%M:%S} UTC", err=True)
