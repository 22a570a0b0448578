"""``quem solve``: a solving session, from the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quem.commands.links import hand_over, link_options, links_session
from quem.commands.options import study_argument

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from quem.commands.links import Row
    from quem.study.relevance import JudgedSpec


@click.command()
@study_argument()
@link_options
@click.option("--reissue", multiple=True, metavar="ID", help="Replace this subject's link.")
@click.option("--revoke", multiple=True, metavar="ID", help="End this subject's link.")
@click.option(
    "--erase",
    multiple=True,
    metavar="ID",
    help="Delete this subject's personal data and answers; times stay under a pseudonym.",
)
@click.option("--add", metavar="ID", help="Add a subject whom the study file does not name.")
@click.option("--name", default="", help="With --add: the subject's name.")
@click.option("--open", "opens", is_flag=True, help="Open the session; test answers are deleted.")
@click.option(
    "--close", "closes", is_flag=True, help="Close the session; write solutions and subjects."
)
def solve(
    study: Path,
    database: str | None,
    url: str,
    reissue: tuple[str, ...],
    revoke: tuple[str, ...],
    erase: tuple[str, ...],
    add: str | None,
    name: str,
    out: Path | None,
    *,
    opens: bool,
    closes: bool,
) -> None:
    """Make the links of those who solve STUDY's problems, or open or close the session.

    Makes a link for each person who has none yet, as `quem judges` does. With --close it writes
    the solutions and the table of subjects, which running servers take up at once.
    """
    if add is None and name:
        raise click.UsageError("--name belongs to --add ID")
    if opens and closes:
        raise click.UsageError("--open and --close exclude each other")
    from quem.errors import FileError
    from quem.study.reading import read_study

    spec = read_study(study)
    if spec.solving is None:
        raise FileError(study, "has no solving session; add the key solving")
    if opens or closes:
        _move(study, database, spec, closes=closes)
        return
    with links_session(study, database, out) as (c, file):
        _take_over(c, spec, add, name)
        files = _erase(c, spec, erase)
        _revoke(c, spec, revoke)
        rows = _rows(c, spec, url, reissue)
        hand_over(rows, file, is_asked=out is not None)
    _delete(study, files)


def _move(study: Path, database: str | None, spec: JudgedSpec, *, closes: bool) -> None:
    """Open or close the session."""
    from quem.solving.closing import close_solving
    from quem.store.engine import held_store
    from quem.store.location import locate_database
    from quem.store.solving import discard_solving_trial, set_solving

    with held_store(locate_database(study, database), study, spec.id) as store:
        if closes:
            for path in close_solving(store, spec, study, "shell"):
                click.echo(f"wrote {path}")
            return
        with store.write() as c:
            gone = discard_solving_trial(c, spec.id, "shell")
            set_solving(c, spec.id, "open", "shell")
    _delete(study, [(one.sha256, one.ending) for one in gone])
    click.echo("The solving session is open.")


def _delete(study: Path, files: list[tuple[str, str]]) -> None:
    from quem.store.uploads import UploadFolder

    UploadFolder(study).remove(files)


def _take_over(c: Connection, spec: JudgedSpec, add: str | None, name: str) -> None:
    from quem.errors import QuemError
    from quem.store.studies import register_study
    from quem.store.subjects import add_subject, sync_subjects

    register_study(c, spec.id)
    if spec.solving:
        sync_subjects(c, spec.id, spec.solving.people)
    if add is not None:
        if add in spec.taken_ids:
            raise QuemError([f"{add} is a judge or another solver; choose another ID"])
        add_subject(c, spec.id, add, name, "shell")


def _erase(c: Connection, spec: JudgedSpec, ids: tuple[str, ...]) -> list[tuple[str, str]]:
    from quem.store.subjects import erase_subject, subject_named

    files: list[tuple[str, str]] = []
    for one in dict.fromkeys(ids):
        files += erase_subject(c, subject_named(c, spec.id, one), "shell")
        click.echo(f"erased {one}", err=True)
        if spec.solving and one in {person.id for person in spec.solving.people}:
            click.echo(f"warning: the study file still names {one}; delete that entry", err=True)
    if ids:
        text = "Solutions that are written already, and backups, still hold the personal data."
        click.echo(text, err=True)
    return files


def _revoke(c: Connection, spec: JudgedSpec, ids: tuple[str, ...]) -> None:
    from quem.store.subjects import revoke_subject_link, subject_named

    for one in dict.fromkeys(ids):
        revoke_subject_link(c, subject_named(c, spec.id, one), "shell")


def _rows(c: Connection, spec: JudgedSpec, base: str, reissue: tuple[str, ...]) -> list[Row]:
    """Give the table of subjects, with the links that are made now."""
    from quem.store.subjects import issue_subject_link, subject_named, subjects_of

    again = {subject_named(c, spec.id, one).key for one in reissue}
    rows: list[Row] = [("subject", "name", "link", "state")]
    for one in subjects_of(c, spec.id):
        link, state = "", "has a link" if one.has_link else "revoked"
        is_new = not (one.linked_at or one.revoked_at or one.is_gone)
        if is_new or one.key in again:
            link, state = f"{base}/p/{issue_subject_link(c, one, 'shell')}", "new link"
        elif one.is_gone:
            state = "gone"
        rows.append((one.id, one.name, link, state))
    return rows
