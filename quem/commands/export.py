"""``quem export``: submitted judgments for other programs, and the store as an archive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import database_option, study_argument
from quem.errors import Mistake, QuemError, refuse

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from quem.solutions import Solutions
    from quem.store.database import Store
    from quem.store.exporting import SubmittedRanking
    from quem.studyfile.reading import StudyFile

FORMATS = ("csv", "preferences")
_SOME_PAIRS = (
    "note: pairs.csv holds the pairs that judges were asked about; a solution is compared with a "
    "few others until it has its place, so intransitive answers cannot show"
)


@click.command()
@study_argument()
@click.option(
    "--format",
    "formats",
    type=click.Choice(FORMATS),
    multiple=True,
    help="What to write; may be repeated.  [default: csv, without --inspect]",
)
@click.option(
    "--ties",
    type=click.Choice(["none", "half"]),
    default="none",
    show_default=True,
    help="Of preferences: leave ties out, or write each in both orders.",
)
@click.option(
    "--inspect",
    "logs",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Copy these logs of Inspect AI, with what judges decided as scores; may be repeated.",
)
@click.option(
    "--epoch",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Of --inspect: whose answers the study has.",
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
@click.option(
    "--archive",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write all that the store holds to this file instead.",
)
@click.option(
    "--pseudonyms",
    is_flag=True,
    help="Of --archive: a copy for sharing, without names and without what judges wrote.",
)
def export(
    study: Path,
    formats: tuple[str, ...],
    out: Path | None,
    database: str | None,
    ties: str,
    logs: tuple[Path, ...],
    epoch: int,
    archive: Path | None,
    *,
    reveal: bool,
    pseudonyms: bool,
) -> None:
    """Write the judging session of STUDY to files.

    csv writes rankings.csv, a long table of what judges submitted, and, if there are any, the
    answers to pairs of solutions (pairs.csv) and to the study's questions (answers.csv).
    preferences.jsonl has each pair of texts of which a judge ranked one higher, for training.
    --inspect copies the logs of Inspect AI that the study was made of, with one more score.

    --archive writes the whole store with its activity log, of which `quem import` makes a store
    again. With --pseudonyms the study file that goes with it is written beside it.
    """
    from quem.report.files import write_files
    from quem.store.database import held_store
    from quem.store.exporting import submitted_rankings
    from quem.store.location import locate_database
    from quem.studyfile.reading import draft_study

    if pseudonyms and archive is None:
        raise click.UsageError("--pseudonyms is for --archive; add it, or leave both out")
    draft: StudyFile = draft_study(study)
    study_id = draft.checked().id
    place = locate_database(study, database)
    with held_store(place, study, study_id) as store:
        _require_shown(store, draft, reveal=reveal)
        with store.read() as c:
            rankings = submitted_rankings(c, study_id)
            tables = _tables(c, study_id, rankings) if archive is None else {}
            whole = "" if archive is None else _archive(c, draft, pseudonyms=pseudonyms)
    if archive is not None:
        files = {archive.name: whole}
        if pseudonyms:
            files = _shared(study, database, whole, archive)
        folder = archive.parent
    else:
        if not rankings:
            click.echo("warning: no ranking is submitted yet", err=True)
        files = tables if "csv" in (formats or ("csv",) * (not logs)) else {}
        if "preferences" in formats:
            files |= _preferences(draft, rankings, half_ties=ties == "half")
        folder = out if out is not None else study.parent / f"{study.stem}-export"
    contents = {name: text.encode() for name, text in files.items()}
    if logs:
        source = {"database": database, "reveal": reveal}
        contents |= _scored_logs(study, draft, rankings, source, logs, epoch)
    # An export into the folder of the study must not replace its files.
    inputs = [draft.path, *draft.tables, *([place.file] if place.file else [])]
    # An archive holds the whole database, so only its owner may read it.
    mode = 0o600 if archive is not None and not pseudonyms else 0o666
    write_files(folder, contents, keep=inputs, mode=mode)
    for name in contents:
        click.echo(f"wrote {folder / name}", err=True)


def _archive(c: Session, draft: StudyFile, *, pseudonyms: bool) -> str:
    from quem.seal import seal_of
    from quem.store.archive import archive_text
    from quem.store.uploads import UploadFolder

    uploads = None if pseudonyms else UploadFolder(draft.path)
    seal = seal_of(draft) if draft.checked().kind == "experience" else None
    if seal and pseudonyms:
        seal = seal.without_names()
    return archive_text(c, draft.checked().id, seal.to_dict() if seal else None, uploads)


def _shared(study: Path, database: str | None, archive: str, path: Path) -> dict[str, str]:
    from quem import kinds
    from quem.exporting.sharing import shared_copy

    loaded = kinds.load_study(study, kind="experience", database=database)
    text, rows = shared_copy(loaded, archive)
    return {f"{path.stem}.yaml": text, path.name: rows}


def _require_shown(store: Store, draft: StudyFile, *, reveal: bool) -> None:
    """Refuse a study with hidden rankings, or log the reveal."""
    from quem.store import studies

    study_id = draft.checked().id
    with store.read() as c:
        status = studies.status_of(c, study_id)
    if reveal and status.state != "closed":
        with store.write() as c:
            studies.reveal(c, study_id, "shell")
    elif not status.is_shown:
        now = "on trial: it has not opened" if status.state == "trial" else status.state
        raise QuemError(
            Mistake(
                draft.name,
                message=f"the judging session is still {now}; close it in the dashboard (quem "
                "serve), or give --reveal, which is logged",
            )
        )


def _tables(c: Session, study_id: str, rankings: list[SubmittedRanking]) -> dict[str, str]:
    """Rankings, and the answers to questions and pairs if there are any."""
    from quem.store.answers import answers_table, answers_to_questions
    from quem.store.exporting import long_table, pairs_table
    from quem.store.people import people_of

    files = {"rankings.csv": long_table(rankings)}
    if any(ranking.state.comparisons for ranking in rankings):
        files["pairs.csv"] = pairs_table(rankings)
        click.echo(_SOME_PAIRS, err=True)
    if answers := list(answers_to_questions(rankings, people_of(c, study_id, "judge"))):
        files["answers.csv"] = answers_table(answers)
    return files


def _preferences(
    draft: StudyFile, rankings: list[SubmittedRanking], *, half_ties: bool
) -> dict[str, str]:
    from quem.exporting.preferences import preference_lines

    lines, left_out = preference_lines(rankings, _solutions(draft), half_ties=half_ties)
    for what, count in left_out.items():
        click.echo(f"left out: {what}: {count:,}", err=True)
    return {"preferences.jsonl": lines}


def _solutions(draft: StudyFile) -> Solutions:
    from quem.solutions import find_solutions

    solutions, mistakes, _ = find_solutions(draft, complete=False)
    refuse(mistakes)
    return solutions


def _scored_logs(
    study: Path,
    draft: StudyFile,
    rankings: list[SubmittedRanking],
    source: dict[str, Any],
    logs: tuple[Path, ...],
    epoch: int,
) -> dict[str, bytes]:
    """Copies of the logs with scores, and with years if the analysis states them."""
    from quem import kinds
    from quem.exporting.inspect_logs import scored_logs, years_metrics

    metrics: dict[str, Any] = {}
    try:
        document = kinds.analyze(kinds.load_study(study, **source)).to_dict()
    except QuemError as error:
        # Scores in logs need no subjects.
        click.echo(f"note: the scores are without years: {error}", err=True)
    else:
        metrics = years_metrics(document)
        if not metrics:
            click.echo(
                "note: no years are written, as the data do not allow to state any", err=True
            )
    return scored_logs(logs, draft.checked(), _solutions(draft), rankings, metrics, epoch=epoch)
