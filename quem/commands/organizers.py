"""``quem organizers``: organizers and their private links, from the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quem.commands.links import hand_over, link_options, links_session
from quem.commands.options import mistaken_options, study_argument

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from quem.commands.links import Row
    from quem.study.models import Organizer

_ACTOR = "shell"


@click.command()
@study_argument()
@link_options
@click.option("--new-link", multiple=True, metavar="ID", help="Replace this organizer's link.")
@click.option("--revoke", multiple=True, metavar="ID", help="End this organizer's link.")
@click.option("--add", metavar="ID", help="Add an organizer whom the study file does not name.")
@click.option("--name", default="", help="With --add: the organizer's name.")
@click.option(
    "--role",
    type=click.Choice(["manager", "observer"]),
    help="With --add: a manager may do everything, an observer sees progress only.  "
    "[default: manager]",
)
def organizers(
    study: Path,
    database: str | None,
    url: str,
    new_link: tuple[str, ...],
    revoke: tuple[str, ...],
    add: str | None,
    name: str,
    role: str | None,
    out: Path | None,
) -> None:
    """Make the dashboard links of STUDY's organizers, as CSV.

    Makes a link for each organizer who has none yet. A link is shown once, when it is made: the
    store holds only its hash. It is shown on a terminal; otherwise it is written to a file beside
    the study, or to --out. It works until it is replaced or revoked. Options that name an ID can
    be repeated.
    """
    if add is None and (name or role):
        raise click.UsageError("--name and --role belong to --add ID")
    for organizer in {*new_link} & {*revoke}:
        raise click.UsageError(f"{organizer} can be named by one of --new-link and --revoke only")
    from quem.store.organizers import add_organizer, revoke_organizer_link, sync_organizers
    from quem.store.studies import register_study
    from quem.study.reading import read_study

    spec = read_study(study)
    added = None if add is None else _declared(add, name, role or "manager")
    with links_session(study, database, out) as (c, file):
        register_study(c, spec.id)
        sync_organizers(c, spec.id, spec.organizers)
        if added:
            add_organizer(c, spec.id, added, _ACTOR)
        for organizer in dict.fromkeys(revoke):
            revoke_organizer_link(c, spec.id, organizer, _ACTOR)
        hand_over(_rows(c, spec.id, url, new_link), file, is_asked=out is not None)


def _declared(organizer_id: str, name: str, role: str) -> Organizer:
    """Check an organizer who is to be added as one that the study file names."""
    from pydantic import ValidationError

    from quem.study.models import Organizer

    try:
        return Organizer.model_validate({"id": organizer_id, "name": name, "role": role})
    except ValidationError as error:
        raise mistaken_options(error) from None


def _rows(c: Connection, study_id: str, base: str, again: tuple[str, ...]) -> list[Row]:
    """Give the table of organizers, with the links that are made now."""
    from quem.store.organizers import issue_organizer_link, organizer_named, organizers_of

    replaced = {organizer_named(c, study_id, organizer).id for organizer in again}
    rows: list[Row] = [("organizer", "name", "role", "link", "state")]
    for one in organizers_of(c, study_id):
        link, state = "", "has a link" if one.has_link else "revoked"
        if one.id in replaced or not (one.linked_at or one.revoked_at):
            link = f"{base}/d/{issue_organizer_link(c, study_id, one.id, _ACTOR)}"
            state = "new link"
        rows.append((one.id, one.name, one.role, link, state))
    return rows
