"""``quem export``: what judges submitted, for other programs, and the whole store as an archive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from quem.commands.options import database_option, study_argument

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from quem.store.engine import Store
    from quem.study.reading import StudyFile

__all__ = ["export"]

FORMATS = ("csv", "toc", "pairs", "answers", "archive")
_SOME_PAIRS = (
    "note: pairs.csv and pairs.jsonl hold the pairs that judges were asked about; a solution is "
    "compared with a few others until it has its place, so intransitive answers cannot show"
)


@click.command()
@study_argument()
@click.option(
    "--format",
    "formats",
    type=click.Choice(FORMATS),
    multiple=True,
    help="What to write; may be repeated.  [default: all; pairs and answers only if there are any]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for the files.  [default: STUDY's name with -export, beside it]",
)
@database_option
@click.option(
    "--reveal", is_flag=True, help="Export a judging session that is not closed; this is logged."
)
def export(
    study: Path, formats: tuple[str, ...], out: Path | None, database: str | None, *, reveal: bool
) -> None:
    """Write the judging session of STUDY to files.

    rankings.csv is a long table of what judges submitted, each PROBLEM.toc its orders as
    PrefLib has them, and archive.jsonl all that the store holds, with the audit trail:
    `quem import` makes a store of it.

    pairs.csv and pairs.jsonl are the answers that judges gave when they compared two solutions.
    A solution is compared with a few others until it has its place, so these are some pairs of
    a list, and intransitive answers cannot show. answers.csv has what judges answered to the
    questions of judging.questions.
    """
    from quem.errors import QuemError
    from quem.report.files import write_files
    from quem.store.engine import held_store
    from quem.store.location import locate_database
    from quem.study.reading import draft_study

    draft = draft_study(study)
    if draft.mistakes or draft.spec is None:
        raise QuemError(draft.mistakes)
    place = locate_database(study, database)
    with held_store(place, study, draft.spec.id) as store:
        _require_shown(store, draft, reveal=reveal)
        with store.read() as c:
            files = _files(c, draft, set(formats))
    folder = out if out is not None else study.parent / f"{study.stem}-export"
    write_files(folder, files, keep=_inputs(draft, place.file))
    for name in files:
        click.echo(f"wrote {folder / name}", err=True)


def _require_shown(store: Store, draft: StudyFile, *, reveal: bool) -> None:
    """Refuse a study whose rankings are hidden still, or log that they are revealed."""
    from quem.errors import Mistake, QuemError
    from quem.store import studies

    study_id = draft.spec.id if draft.spec else ""
    with store.read() as c:
        status = studies.status_of(c, study_id)
    if reveal and status.state != "closed":
        with store.write() as c:
            studies.reveal(c, study_id, "shell")
    elif not status.is_shown:
        now = "on trial: it has not opened" if status.state == "trial" else status.state
        message = (
            f"the judging session is still {now}; close it in the dashboard (quem serve), or "
            "give --reveal, which is logged"
        )
        raise QuemError([Mistake(draft.name, message=message)])


def _files(c: Connection, draft: StudyFile, named: set[str]) -> dict[str, bytes]:
    """Make the files, by name, all of one state of the store.

    Parameters
    ----------
    named : set of str
        The formats; empty for all that there is something of.
    """
    from quem.store.answers import answers_table, answers_to_questions
    from quem.store.archive import archive_text
    from quem.store.exporting import long_table, preflib_files, submitted_rankings
    from quem.store.judges import judges_of
    from quem.store.pairs import pairs_lines, pairs_of, pairs_table

    study_id = draft.spec.id if draft.spec else ""
    rankings = submitted_rankings(c, study_id)
    if not rankings:
        click.echo("warning: no ranking is submitted yet", err=True)
    files = {}
    pairs = list(pairs_of(rankings))
    answers = list(answers_to_questions(rankings, judges_of(c, study_id)))
    lacking = {name for name, rows in (("pairs", pairs), ("answers", answers)) if not rows}
    formats = named or {*FORMATS} - lacking
    if "csv" in formats:
        files["rankings.csv"] = long_table(rankings)
    if "toc" in formats:
        title = draft.spec.title if draft.spec else ""
        files |= preflib_files(rankings, tuple(draft.declared.solvers), title)
    if "pairs" in formats:
        files |= {"pairs.csv": pairs_table(pairs), "pairs.jsonl": pairs_lines(pairs)}
        click.echo(_SOME_PAIRS, err=True)
    if "answers" in formats:
        files["answers.csv"] = answers_table(answers)
    if "archive" in formats:
        files["archive.jsonl"] = archive_text(c, study_id)
    return {name: text.encode() for name, text in files.items()}


def _inputs(draft: StudyFile, database: Path | None) -> list[Path]:
    """The files of the study, which an export into its folder must not replace."""
    source = draft.source.file if draft.source else ""
    names = [source] if isinstance(source, str) else [entry.file for entry in source]
    sources = [draft.beside(name)[0] for name in names if name]
    return [draft.path, *sources, *([database] if database else [])]
