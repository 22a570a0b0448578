"""``quem analyze``: from a study file to a report."""

from __future__ import annotations

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
    study_argument,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pydantic import BaseModel

    from quem.parallel import Progress


def _settings() -> dict[type[BaseModel], Iterable[str]]:
    from quem.studyfile.models import ExperienceSettings

    # A population is declared in the study file.
    return {ExperienceSettings: ("form", "level", "at_least", "years_error")}


def _print_schema(context: click.Context, _: click.Parameter, value: object) -> None:
    if not value:
        return
    import json

    from quem.kinds import presentations
    from quem.report.schema import json_schema

    click.echo(json.dumps(json_schema(presentations()), ensure_ascii=False, indent=1).encode())
    context.exit()


_FIRST = (
    "form level at_least years_error out as_json tables figures data database reveal pseudonyms"
)


@click.command(cls=SettingsCommand, settings=_settings, first=_FIRST)
@study_argument()
@out_option("STUDY's name with -report, beside it")
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
@click.option("--without-machines", is_flag=True, help="Leave out what machine judges ranked.")
@code_option
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of analysis.json and exit.",
)
def analyze(
    study: Path,
    out: Path | None,
    database: str | None,
    formats: dict[str, Any],
    data: Path | None,
    *,
    as_json: bool,
    reveal: bool,
    pseudonyms: bool,
    without_machines: bool,
    code: bool,
    **settings: Any,  # noqa: ANN401
) -> None:
    """Analyze STUDY and write a report.

    Prints a summary and writes report.html, figures, tables, and analysis.json. Options replace
    the settings of the study file; available options depend on the kind of study.
    """
    refuse_out_with_json(out, as_json=as_json)
    from quem import kinds
    from quem.studyfile.reading import kind_of

    kind = kind_of(study)
    sources: dict[str, Any] = {
        "database": database,
        "reveal": reveal,
        "data": data,
        "pseudonyms": pseudonyms,
        "without_machines": without_machines,
    }
    refuse_foreign(kind, sources, kinds.KINDS[kind].sources)
    loaded = kinds.load_study(study, code=code, **sources)
    refuse_foreign(kind, settings, kinds.settings_of(loaded))
    # 0 is a value, though it equals False.
    arguments = {
        n: value for n, value in settings.items() if value is not None and value is not False
    }
    folder = out if out is not None else study.parent / f"{study.stem}-report"
    if "progress" in kinds.KINDS[kind].running:
        arguments["progress"] = show_progress()
    result = kinds.analyze(loaded, **arguments)
    show_result(result, folder, formats, as_json=as_json)


def show_progress() -> Progress:
    """Show progress bars on stderr, one after another."""
    import sys

    bars: list[Any] = []

    def begin(label: str, length: int) -> Callable[[int], object]:
        for bar in bars:
            bar.render_finish()
        bar = click.progressbar(length=length, label=label, file=sys.stderr)
        bars[:] = [bar]
        bar.render_progress()
        left = length

        def done(steps: int) -> None:
            nonlocal left
            left -= steps
            bar.update(steps)
            if left <= 0:
                bar.render_finish()
                bars.clear()

        return done

    return begin
