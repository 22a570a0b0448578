"""``quem judges``: judges' private links, from the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quem.commands.links import hand_over, link_options, links_session
from quem.commands.options import mistaken_options, study_argument

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from quem.commands.links import Row
    from quem.study.models import Judge
    from quem.study.relevance import JudgedSpec


@click.command()
@study_argument()
@link_options
@click.option("--reissue", multiple=True, metavar="ID", help="Replace this judge's link.")
@click.option("--revoke", multiple=True, metavar="ID", help="End this judge's link.")
@click.option(
    "--erase",
    multiple=True,
    metavar="ID",
    help="Delete this judge's personal data; rankings stay under a pseudonym.",
)
@click.option("--add", metavar="ID", help="Add a judge whom the study file does not name.")
@click.option("--name", default="", help="With --add: the judge's name.")
@click.option("--experience", type=float, help="With --add: the judge's years of experience.")
def judges(
    study: Path,
    database: str | None,
    url: str,
    reissue: tuple[str, ...],
    revoke: tuple[str, ...],
    erase: tuple[str, ...],
    add: str | None,
    name: str,
    experience: float | None,
    out: Path | None,
) -> None:
    """Make the links of STUDY's judges, as CSV, to be emailed.

    Makes a link for each judge who has none yet. A link is shown once, when it is made: the
    store holds only its hash. It is shown on a terminal; otherwise it is written to a file beside
    the study, or to --out. Options that name an ID can be repeated.
    """
    if add is None and (name or experience is not None):
        raise click.UsageError("--name and --experience belong to --add ID")
    for judge in {*reissue} & {*revoke} | {*erase} & {*reissue, *revoke}:
        raise click.UsageError(
            f"{judge} can be named by only one of --reissue, --revoke, and --erase"
        )
    from quem.study.reading import read_study

    spec = read_study(study)
    added = None if add is None else _declared(spec, add, name, experience)
    with links_session(study, database, out) as (c, file):
        _take_over(c, spec, added)
        lines = _erase(c, spec, study, erase)
        _revoke(c, spec, revoke)
        rows = _rows(c, spec, url, reissue)
        hand_over(rows, file, is_asked=out is not None)
    for line in lines:
        click.echo(line, err=True)


def _declared(spec: JudgedSpec, judge_id: str, name: str, experience: float | None) -> Judge:
    """Check a judge who is to be added as one that the study file names."""
    from pydantic import ValidationError

    from quem.errors import QuemError
    from quem.study.models import Judge

    try:
        judge = Judge(id=judge_id, name=name, experience=experience)
    except ValidationError as error:
        raise mistaken_options(error) from None
    names = {subject.name.casefold().strip() for subject in spec.subjects} - {""}
    if judge.id in {subject.id for subject in spec.subjects} or name.casefold().strip() in names:
        raise QuemError(
            [f"{judge.id} is also a subject; judges must not judge their own solutions"]
        )
    return judge


def _take_over(c: Connection, spec: JudgedSpec, added: Judge | None) -> None:
    from quem.store.judges import add_judge, sync_judges
    from quem.store.studies import register_study

    register_study(c, spec.id)
    sync_judges(c, spec.id, spec.judges)
    if added:
        add_judge(c, spec.id, added.id, added.name, added.experience, "shell")


def _erase(c: Connection, spec: JudgedSpec, study: Path, ids: tuple[str, ...]) -> list[str]:
    """Erase judges' personal data; gives what to say of it."""
    from quem.store.judges import erase_judge, judge_named
    from quem.study.addresses import PEOPLE, addresses_of

    listed = addresses_of(spec.model_copy(update={"judges": ()}), study) if ids else {}
    lines = []
    for judge_id in dict.fromkeys(ids):
        pseudonym = erase_judge(c, judge_named(c, spec.id, judge_id), "shell")
        lines.append(f"erased {judge_id}, whose rankings stay as those of {pseudonym}")
        if judge_id in {judge.id for judge in spec.judges}:
            lines.append(f"warning: {study} still names the judge {judge_id}; delete that entry")
        if ("judge", judge_id) in listed:
            people = study.with_name(PEOPLE)
            lines.append(f"warning: {people} still names the judge {judge_id}; delete that line")
    if lines:
        lines.append("Archives and backups made before still hold the personal data.")
    return lines


def _revoke(c: Connection, spec: JudgedSpec, ids: tuple[str, ...]) -> None:
    from quem.store.judges import judge_named, revoke_link

    for judge_id in dict.fromkeys(ids):
        revoke_link(c, judge_named(c, spec.id, judge_id), "shell")


def _rows(c: Connection, spec: JudgedSpec, base: str, reissue: tuple[str, ...]) -> list[Row]:
    """Give the table of judges, with the links that are made now."""
    from quem.store.judges import issue_links, judge_named, judges_of

    again = {judge_named(c, spec.id, judge_id).key for judge_id in reissue}
    judges = judges_of(c, spec.id)
    new = [
        one
        for one in judges
        if one.key in again or not (one.linked_at or one.revoked_at or one.forgotten_at)
    ]
    tokens = dict(zip((one.key for one in new), issue_links(c, new, "shell"), strict=True))
    rows: list[Row] = [("judge", "name", "link", "state")]
    for judge in judges:
        link, state = "", "has a link" if judge.has_link else "revoked"
        if judge.key in tokens:
            link, state = f"{base}/j/{tokens[judge.key]}", "new link"
        elif judge.forgotten_at:
            state = "erased"
        rows.append((judge.id, judge.name, link, state))
    return rows
