"""``quem compare``: systems of one study, of several studies, and people with help.

Experience studies are compared in `quem.comparison`; other studies query by query, as one table of
scores.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import (
    SettingsCommand,
    code_option,
    data_option,
    database_option,
    format_options,
    json_option,
    out_option,
    pseudonyms_option,
    refuse_foreign,
    refuse_out_with_json,
    reveal_option,
    show_result,
    study_in,
)
from quem.errors import Mistake, QuemError, collecting, refuse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import BaseModel

    from quem.rankings.loading import Study


def _settings() -> dict[type[BaseModel], Iterable[str]]:
    from quem.studyfile.retrieval import RetrievalSettings

    return {RetrievalSettings: ("level", *_OF_SCORES)}


_OF_SCORES = ("samples", "seed", "measures", "claims", "ties")
_FIRST = (
    "systems level samples measures claims out as_json tables figures database reveal pseudonyms"
)


@click.command(cls=SettingsCommand, settings=_settings, first=_FIRST)
@click.argument("studies", metavar="STUDY...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--systems",
    multiple=True,
    metavar="ID",
    help="System to compare, or what its versions share (`of`).  Repeatable.  [default: all]",
)
@out_option("STUDY's name with -compare, beside it; of several studies in the current folder")
@json_option
@format_options
@click.option(
    "--jobs", type=click.IntRange(1, 1024), help="Number of processes (dialogue studies)."
)
@click.option("--cluster", metavar="ADDRESS", help="Dask scheduler (dialogue studies).")
@data_option
@database_option
@reveal_option
@pseudonyms_option
@code_option
def compare(
    studies: tuple[str, ...],
    systems: tuple[str, ...],
    out: Path | None,
    database: str | None,
    formats: dict[str, Any],
    data: Path | None,
    *,
    as_json: bool,
    reveal: bool,
    pseudonyms: bool,
    code: bool,
    **settings: Any,  # noqa: ANN401
) -> None:
    """Compare the systems in STUDY, or those of several studies.

    Systems of one experience study, or of several, are compared in years of experience, and the
    gain of people assisted by a system is measured. Retrievers, lists of options, and strategies
    of dialogues are compared query by query, also those of several studies with the same queries.
    Options replace the settings of the study files.
    """
    refuse_out_with_json(out, as_json=as_json)
    paths = [study_in(Path(study)) for study in studies]
    if systems:
        _refuse_bare_names(paths)

    kind = _kind(paths)
    sources = {"database": database, "reveal": reveal, "pseudonyms": pseudonyms, "data": data}
    given = {name: value for name, value in settings.items() if value is not None}
    given |= {"systems": systems} if systems else {}
    result: Any
    if kind == "experience":
        foreign = {**{name: given.get(name) for name in _FOREIGN}, "data": data}
        refuse_foreign(kind, foreign, ())
        own: dict[str, Any] = {"systems": systems, "level": given.get("level")}
        result = _compare_estimates(paths, own, database, reveal=reveal, pseudonyms=pseudonyms)
    else:
        result = _compare_scores(paths, sources, given, code=code)
    if out is None:
        beside = paths[0].parent if len(paths) == 1 else Path()
        out = beside / f"{paths[0].stem}-compare"
    show_result(result, out, formats, as_json=as_json)


# Settings that experience studies lack.
_FOREIGN = (*_OF_SCORES, "jobs", "cluster")


def _kind(paths: list[Path]) -> str:
    """The first kind that a study states; errors are found at loading."""
    from quem.studyfile.reading import kind_of

    for path in paths:
        try:
            return kind_of(path)
        except QuemError:
            continue
    return "experience"


def _compare_estimates(
    paths: list[Path],
    settings: dict[str, Any],
    database: str | None,
    *,
    reveal: bool,
    pseudonyms: bool,
) -> object:
    from quem.comparing import compare as compare_studies

    loaded = _load(paths, database=database, reveal=reveal)
    if pseudonyms:
        from quem.rankings.pseudonyms import pseudonymize

        loaded = pseudonymize(loaded)
    return compare_studies(*loaded, **settings)


def _compare_scores(
    paths: list[Path],
    sources: dict[str, Any],
    settings: dict[str, Any],
    *,
    code: bool,
) -> object:
    """Compare studies query by query."""
    from quem import comparing, kinds
    from quem.commands.analyze import show_progress
    from quem.studyfile.reading import kind_of

    running = {name: settings.get(name) for name in ("jobs", "cluster")}
    studies = []
    mistakes: list[Mistake] = []
    for path in paths:
        with collecting(mistakes):
            kind = kind_of(path)
            if kinds.KINDS[kind].quick is None:
                message = (
                    f"a study of kind {kind} has no scores of queries, and does not compare with "
                    "others that have; leave it out"
                )
                mistakes.append(Mistake(str(path), key="kind", message=message))
                continue
            refuse_foreign(kind, sources, kinds.KINDS[kind].sources)
            refuse_foreign(kind, running, kinds.KINDS[kind].running)
            own = {name: value for name, value in sources.items() if value}
            studies.append(kinds.load_study(path, code=code, **own))
    refuse(mistakes)
    known = {"systems", "measures", *running}
    known |= {name for study in studies for name in type(study.spec.analysis).model_fields}
    refuse_foreign(studies[0].spec.kind, settings, known)
    return comparing.compare(*studies, **settings, progress=show_progress())


def _refuse_bare_names(paths: list[Path]) -> None:
    """Refuse study paths that follow ``--systems A``."""
    bare = [path for path in paths if not path.suffix and not path.exists()]
    if bare and len(bare) < len(paths):
        raise click.UsageError(
            f"there is no study {bare[0]}; each system takes its own --systems: "
            "--systems A --systems B"
        )


def _load(paths: list[Path], *, database: str | None, reveal: bool) -> list[Study]:
    """Load all studies, and collect the errors of all."""
    from quem.rankings.loading import load_study

    studies: list[Study] = []
    mistakes: list[Mistake] = []
    for path in paths:
        with collecting(mistakes):
            studies.append(load_study(path, database=database, reveal=reveal))
    refuse(mistakes)
    return studies
