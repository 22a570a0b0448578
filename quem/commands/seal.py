"""``quem seal``: what is planned, fixed before the first ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quem.commands.options import database_option, study_argument

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@study_argument()
@click.option("--text", is_flag=True, help="Print the text of a preregistration; seal nothing.")
@click.option("--again", metavar="REASON", help="Seal a sealed study again; it is a deviation.")
@database_option
def seal(study: Path, again: str | None, database: str | None, *, text: bool) -> None:
    """Seal STUDY before the first ranking.

    Writes a record of settings, plan, problems, solvers, judges, and digests of solutions beside
    STUDY, and its hash into the log and the store. From then on, `quem analyze` opens with what
    differs from the record. Mail or register the hash that is printed: it proves the record.
    """
    from quem.errors import QuemError
    from quem.study.reading import draft_experience

    if text and again is not None:
        raise click.UsageError("--text seals nothing; leave out --again")
    if again is not None and not again.strip():
        raise click.UsageError("--again needs a reason")
    draft = draft_experience(study)
    if draft.mistakes or draft.spec is None:
        raise QuemError(draft.mistakes)
    if text:
        from quem.sealing.preregistration import preregistration

        click.echo(preregistration(draft), nl=False)
        return
    from quem.sealing.seal import seal_study

    path, digest = seal_study(draft, database, (again or "").strip())
    click.echo(f"wrote {path}", err=True)
    click.echo(f"seal: {digest}")
    click.echo("Mail or register this hash: `quem analyze --seal HASH` compares it.", err=True)
