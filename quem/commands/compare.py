"""``quem compare``: systems of one study, of several studies, and people with help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import (
    SettingsCommand,
    code_option,
    database_option,
    format_options,
    json_option,
    out_option,
    pseudonyms_option,
    refuse_out_with_json,
    reveal_option,
    study_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import BaseModel

    from quem.errors import Mistake
    from quem.experience.loading import Study

__all__ = ["compare"]


def _settings() -> dict[type[BaseModel], Iterable[str]]:
    from quem.comparison.settings import ComparisonSettings
    from quem.study.models import ExperienceSettings

    shared = ("level", "form", "score", "normalize", "reference", "permutations", "seed")
    return {ComparisonSettings: ComparisonSettings.model_fields, ExperienceSettings: shared}


@click.command(cls=SettingsCommand, settings=_settings)
@click.argument("studies", metavar="STUDY...", nargs=-1, required=True, type=click.Path())
@out_option("STUDY's name with -compare, beside it; of several studies in the current folder")
@json_option
@format_options
@database_option
@reveal_option
@pseudonyms_option
@code_option
def compare(
    studies: tuple[str, ...],
    out: Path | None,
    database: str | None,
    formats: dict[str, Any],
    *,
    as_json: bool,
    reveal: bool,
    pseudonyms: bool,
    code: bool,
    **settings: Any,  # noqa: ANN401
) -> None:
    """Compare the systems in STUDY, or those of several studies.

    Within one study, systems are compared on the rankings that include both, and the gain of
    people assisted by a system is measured. Systems of different studies are compared as
    independent estimates. Options replace the settings of the study files.
    """
    del code  # experience studies name none
    refuse_out_with_json(out, as_json=as_json)
    paths = [study_in(Path(study)) for study in studies]
    if settings["systems"]:
        _refuse_bare_names(paths)
    if settings["same_system"] and len(paths) == 1:
        message = "--same-system needs two studies; versions in one study are shown without it"
        raise click.UsageError(message)
    from quem.commands.options import show_result
    from quem.kinds import compare as compare_studies

    loaded = _load(paths, database=database, reveal=reveal)
    if pseudonyms:
        from quem.experience.pseudonyms import pseudonymize

        loaded = pseudonymize(loaded)
    result = compare_studies(*loaded, **{k: v for k, v in settings.items() if v is not None})
    if out is None:
        beside = paths[0].parent if len(paths) == 1 else Path()
        out = beside / f"{paths[0].stem}-compare"
    show_result(result, out, formats, as_json=as_json)


def _refuse_bare_names(paths: list[Path]) -> None:
    """``--systems A B`` reads B as a study."""
    bare = [path for path in paths if not path.suffix and not path.exists()]
    if bare and len(bare) < len(paths):
        message = (
            f"there is no study {bare[0]}; each system takes its own --systems: "
            "--systems A --systems B"
        )
        raise click.UsageError(message)


def _load(paths: list[Path], *, database: str | None, reveal: bool) -> list[Study]:
    """Load all studies, and name the mistakes of all of them."""
    from quem.errors import QuemError
    from quem.experience.loading import load_study

    studies: list[Study] = []
    mistakes: list[Mistake] = []
    for path in paths:
        try:
            studies.append(load_study(path, database=database, reveal=reveal))
        except QuemError as error:
            mistakes += error.mistakes
    if mistakes:
        raise QuemError(dict.fromkeys(mistakes))
    return studies
