"""``quem export``: what judges submitted, for other programs, and the whole store as an archive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import database_option, study_argument

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from quem.store.engine import Store
    from quem.store.exporting import SubmittedRanking
    from quem.study.reading import StudyFile
    from quem.study.relevance import JudgedSpec

# What is written where no format is named.
_USUAL = ("csv", "toc", "pairs", "answers", "archive")
FORMATS = (*_USUAL, "preferences", "every-eval-ever", "inspect", "ro-crate")
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
    help="What to write; may be repeated.  [default: the first five; pairs and answers only if "
    "there are any]",
)
@click.option(
    "--ties",
    type=click.Choice(["none", "half"]),
    default="none",
    show_default=True,
    help="Of preferences: leave ties out, or write each in both orders.",
)
@click.option(
    "--logs",
    type=click.Path(exists=True, path_type=Path),
    help="For inspect: the logs that the study was made of.",
)
@click.option(
    "--epoch",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="For inspect: whose answers the study has.",
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
    "--archive", "as_archive", is_flag=True, help="Write a sealed study as one file to verify."
)
@click.option(
    "--redacted",
    "without_names",
    is_flag=True,
    help="Of --archive: replace the names of judges and people, and leave out what they wrote.",
)
def export(
    study: Path,
    formats: tuple[str, ...],
    out: Path | None,
    database: str | None,
    ties: str,
    logs: Path | None,
    epoch: int,
    *,
    reveal: bool,
    as_archive: bool,
    without_names: bool,
) -> None:
    """Write the judging session of STUDY to files.

    rankings.csv is a long table of what judges submitted, each PROBLEM.toc its orders as
    PrefLib has them, and archive.jsonl all that the store holds, with the audit trail:
    `quem import` makes a store of it. machines.zip has what machine judges were asked and answered.

    pairs.csv and pairs.jsonl are the answers that judges gave when they compared two solutions.
    A solution is compared with a few others until it has its place, so these are some pairs of
    a list, and intransitive answers cannot show. answers.csv has what judges answered to the
    questions of judging.questions.

    preferences.jsonl has each pair of texts of which a judge ranked one higher, for training.
    every-eval-ever writes a record per system. inspect copies the logs of Inspect AI in --logs,
    with what judges decided as scores. ro-crate describes the files that are written with it.

    With --archive, STUDY has to be sealed: one ZIP file has all of it with its analysis, and
    `quem verify` checks it anywhere. --redacted writes it without names and solutions.
    """
    from quem.report.files import write_files

    if as_archive:
        if formats or logs is not None:
            raise click.UsageError("--archive writes one file; leave out --format and --logs")
        from quem.commands.archiving import sealed_archive

        raw = sealed_archive(study, database, reveal=reveal, without_names=without_names)
        name = f"{study.stem}-{'redacted' if without_names else 'archive'}.zip"
        folder = out if out is not None else study.parent
        write_files(folder, {name: raw})
        click.echo(f"wrote {folder / name}", err=True)
        return
    _refuse_unfit(formats, logs, without_names=without_names)
    from quem.errors import QuemError
    from quem.exporting.crates import CRATE, crate
    from quem.store.engine import held_store
    from quem.store.exporting import submitted_rankings
    from quem.store.location import locate_database
    from quem.study.reading import draft_experience, draft_study

    is_of_systems = {"every-eval-ever", "inspect"} & {*formats}
    draft: StudyFile = draft_experience(study) if is_of_systems else draft_study(study)
    if draft.mistakes or draft.spec is None:
        raise QuemError(draft.mistakes)
    place = locate_database(study, database)
    with held_store(place, study, draft.spec.id) as store:
        _require_shown(store, draft, reveal=reveal)
        with store.read() as c:
            files = _files(c, draft, {*formats} - {"ro-crate"})
            rankings = submitted_rankings(c, draft.spec.id)
    if "preferences" in formats:
        files |= _preferences(draft, rankings, half_ties=ties == "half")
    if is_of_systems:
        source = {"database": database, "reveal": reveal}
        files |= _results(study, draft.spec, rankings, {*formats}, source, logs, epoch)
    if not formats or "archive" in formats:
        files |= _machines(study)
    if "ro-crate" in formats:
        files[CRATE] = crate(files, draft.spec).encode()
    folder = out if out is not None else study.parent / f"{study.stem}-export"
    write_files(folder, files, keep=_inputs(draft, place.file))
    for name in files:
        click.echo(f"wrote {folder / name}", err=True)


def _refuse_unfit(formats: tuple[str, ...], logs: Path | None, *, without_names: bool) -> None:
    if without_names:
        raise click.UsageError("--redacted is for --archive; add it, or leave both out")
    if ("inspect" in formats) != (logs is not None):
        raise click.UsageError("--format inspect and --logs go together")


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
        raise QuemError(
            [
                Mistake(
                    draft.name,
                    message=(
                        f"the judging session is still {now}; close it in the dashboard (quem "
                        "serve), or "
                        "give --reveal, which is logged"
                    ),
                )
            ]
        )


def _files(c: Connection, draft: StudyFile, named: set[str]) -> dict[str, bytes]:
    """Make the files, by name, all of one state of the store."""
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
    formats = named or {*_USUAL} - lacking
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


def _preferences(
    draft: StudyFile, rankings: list[SubmittedRanking], *, half_ties: bool
) -> dict[str, bytes]:
    from quem.errors import QuemError
    from quem.exporting.preferences import preference_lines
    from quem.solutions import find_solutions

    solutions, mistakes, _ = find_solutions(draft, complete=False)
    if mistakes:
        raise QuemError(mistakes)
    lines, left_out = preference_lines(rankings, solutions, half_ties=half_ties)
    for what, count in left_out.items():
        click.echo(f"left out: {what}: {count:,}", err=True)
    return {"preferences.jsonl": lines.encode()}


def _results(
    study: Path,
    spec: JudgedSpec,
    rankings: list[SubmittedRanking],
    formats: set[str],
    source: dict[str, Any],
    logs: Path | None,
    epoch: int,
) -> dict[str, bytes]:
    """Analyze the session, and write what that gives for other programs."""
    from quem import kinds
    from quem.errors import QuemError
    from quem.exporting.evaluations import evaluation_files
    from quem.exporting.inspect_logs import scored_logs, years_metrics

    files: dict[str, bytes] = {}
    document = None
    try:
        document = kinds.analyze(kinds.load_study(study, **source)).to_dict()
    except QuemError as error:
        # Scores in logs need no people to compare with.
        if "every-eval-ever" in formats:
            raise
        click.echo(f"note: the scores are without years: {error}", err=True)
    if document and document["headline"] != "years":
        click.echo("note: no years are written, as the data do not allow to state any", err=True)
    if document and "every-eval-ever" in formats:
        files |= evaluation_files(document, spec.organizer.name)
    if logs is not None:
        metrics = years_metrics(document) if document else {}
        files |= scored_logs(logs, spec, rankings, metrics, epoch=epoch)
    return files


def _machines(study: Path) -> dict[str, bytes]:
    """Pack what machine judges were asked and answered, beside the archive; the same twice."""
    from io import BytesIO
    from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

    from quem.study.runs import FOLDER

    folder = study.parent / FOLDER
    files = sorted(path for path in folder.rglob("*.json") if path.is_file())
    files += sorted(path for path in (folder / "blobs").rglob("*") if path.is_file())
    if not files:
        return {}
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for path in files:
            archive.writestr(ZipInfo(path.relative_to(study.parent).as_posix()), path.read_bytes())
    return {"machines.zip": packed.getvalue()}


def _inputs(draft: StudyFile, database: Path | None) -> list[Path]:
    """The files of the study, which an export into its folder must not replace."""
    source = draft.source.file if draft.source else ""
    names = [source] if isinstance(source, str) else [entry.file for entry in source]
    sources = [draft.beside(name)[0] for name in names if name]
    return [draft.path, *sources, *([database] if database else [])]
