"""``quem plan``: the necessary size of a study."""

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
    refuse_out_with_json,
    reveal_option,
    show_result,
    study_argument,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import BaseModel


def _settings() -> dict[type[BaseModel], Iterable[str]]:
    from quem.planning.settings import PlanSettings

    return {PlanSettings: PlanSettings.model_fields}


_FIRST = (
    "width subjects judges problems experience reference_population "
    "noise simulate out as_json tables figures"
)


@click.command(cls=SettingsCommand, settings=_settings, defaults=True, first=_FIRST)
@study_argument(required=False)
@json_option
@format_options
@out_option("STUDY's name with -plan, beside it; without STUDY quem-plan")
@database_option
@reveal_option
@code_option
def plan(
    study: Path | None,
    out: Path | None,
    database: str | None,
    formats: dict[str, Any],
    *,
    as_json: bool,
    reveal: bool,
    code: bool,
    **settings: Any,  # noqa: ANN401
) -> None:
    """Find how many subjects, judges, and problems a study needs.

    If STUDY is given, it is a pilot from which the SDs are estimated.

    Computes the expected half-width of the interval for many designs in closed form and simulates
    the best of them. With --width: those that reach it, fewest hours first. Prints a summary and
    writes report.html, a figure, and a table.
    """
    del code  # experience studies have no codes
    refuse_out_with_json(out, as_json=as_json)
    if study is None and (database or reveal):
        raise click.UsageError(
            "--database and --reveal apply to a pilot's judging session; specify its study file"
        )
    if study is not None and settings["noise"] is not None:
        raise click.UsageError(
            "a pilot gives the SDs; leave --noise out, or replace single SDs: --person 1.5"
        )

    from quem.kinds import plan as make_plan
    from quem.rankings.loading import load_study

    loaded = load_study(study, database=database, reveal=reveal) if study else None
    folder = out or (study.parent / f"{study.stem}-plan" if study else Path("quem-plan"))
    result = make_plan(loaded, database=database, **settings)
    show_result(result, folder, formats, as_json=as_json)
