"""``quem seal``: the plan of a study, fixed before the first ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quem.commands.options import database_option, study_argument

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@study_argument()
@database_option
def seal(study: Path, database: str | None) -> None:
    """Seal STUDY before the first ranking.

    Writes settings, plan, problems, solvers, judges, and digests of solutions beside STUDY, and
    prints the SHA-256 of that record, to be mailed or registered. Reports and archives name it and
    list what differs from the record since. It does not attest rankings.
    """
    from quem.seal import seal_study
    from quem.studyfile.reading import draft_experience

    path, digest = seal_study(draft_experience(study), database)
    click.echo(f"wrote {path}", err=True)
    click.echo(f"seal: {digest}")
