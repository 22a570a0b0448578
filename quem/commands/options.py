"""What commands share: options, settings as options, and output."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args, get_origin

import click

from quem.errors import FileError, QuemError, StudyWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pydantic import BaseModel, ValidationError

    from quem.report.result import BaseResult

Decorated = Any  # a function, or a click command made of one


def _folder(_: click.Context, __: click.Parameter, value: str | None) -> Path | None:
    if value == "":
        raise click.BadParameter("is empty; name a folder")
    return None if value is None else Path(value)


def study_in(path: Path) -> Path:
    """The study file of a path: itself, or the one in a folder."""
    if not path.is_dir():
        return path

    if (path / "study.yaml").exists():
        return path / "study.yaml"
    files = sorted(file for file in path.iterdir() if file.suffix in (".yaml", ".yml"))
    if len(files) == 1:
        return files[0]
    names = ", ".join(file.name for file in files)
    raise FileError(
        path, f"holds {names}; name one of them" if files else "holds no study.yaml; name a study"
    )


def _study(_: click.Context, __: click.Parameter, value: Path | None) -> Path | None:
    return None if value is None else study_in(value)


def study_argument(*, required: bool = True) -> Callable[[Decorated], Decorated]:
    """The argument for a study: its file or its folder."""
    kind = click.Path(path_type=Path)
    return click.argument("study", type=kind, callback=_study, required=required)


def check_url(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuse what is not the start of a link; returns it without a slash at the end."""
    if value is None:
        return None
    if not value.startswith(("http://", "https://")) or not value.partition("://")[2].strip("/"):
        raise click.BadParameter(f"{value!r} is not an address such as https://judging.example.org")
    return value.rstrip("/")


def say_next(*words: object) -> None:
    """Print the next command, with quem as it is run here."""
    command = shlex.join(map(str, words))
    click.echo(f"Next: {program()} {command}", err=True)


def program() -> str:
    """How quem is run here: by name, or by its full command where it is not on the path."""
    uv = os.environ.get("UV")
    if uv and "UV_RUN_RECURSION_DEPTH" in os.environ:
        name = os.path.relpath(uv) if Path(uv).is_relative_to(Path.cwd()) else "uv"
        return f"{name} run quem"
    if shutil.which("quem"):
        return "quem"
    called = Path(sys.argv[0])
    return os.path.relpath(called) if called.stem == "quem" else "python -m quem"


def out_option(default: str) -> Callable[[Decorated], Decorated]:
    """The option for a report's folder, with its default in words."""
    help_text = f"Folder for the report.  [default: {default}]"
    return click.option("--out", type=click.Path(), callback=_folder, help=help_text)


def refuse_out_with_json(out: Path | None, *, as_json: bool) -> None:
    """Refuse an output folder when nothing is written."""
    if as_json and out is not None:
        raise click.UsageError("--json writes nothing, so it takes no --out; leave one of them out")


def refuse_foreign(kind: str, values: Mapping[str, object], known: Iterable[str]) -> None:
    """Refuse options that a kind of study does not have."""
    used = [name for name, value in values.items() if value not in (None, False, ())]
    if foreign := sorted(set(used) - set(known)):
        option = f"--{foreign[0].replace('_', '-')}"
        raise click.UsageError(f"{option} is not for a study of kind {kind}; leave it out")


def mistaken_options(error: ValidationError) -> QuemError:
    """The error on options that describe a person to add."""
    return QuemError(
        f"--{'add' if e['loc'][0] == 'id' else e['loc'][0]}: "
        f"{e['msg'].removeprefix('Value error, ')}"
        for e in error.errors()
    )


class _Duration(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A length of time such as ``90s``, ``15m``, ``2h`` or ``1d``, in seconds."""

    name = "time"
    _seconds: ClassVar = {"s": 1, "m": 60, "h": 3600, "d": 86400}

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Parse a length of time."""
        if not isinstance(value, str):
            return value
        number, unit = value[:-1], value[-1:]
        if unit not in self._seconds or not number.isdecimal() or not 0 < int(number) < _LONGEST:
            self.fail(f"{value!r} is not a time; write one such as 90s, 15m, 2h, or 1d", param, ctx)
        return float(int(number) * self._seconds[unit])


_LONGEST = 1_000_000
DURATION = _Duration()

data_option = click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Folder of the data of a dialogue study, if they are not beside STUDY.",
)

code_option = click.option(
    "--no-code",
    "code",
    flag_value=False,
    default=True,
    help="Refuse Python functions that STUDY names, for studies from strangers.",
)

json_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    is_eager=True,
    help="Print the result as JSON; write nothing.",
)

database_option = click.option(
    "--database",
    metavar="URL",
    help="Store of the judging session: a URL, or an SQLite file.  [default: $QUEM_DATABASE_URL, "
    "or STUDY's name with .sqlite3, beside it]",
)

unsandboxed_option = click.option(
    "--unsandboxed",
    "--office-unsandboxed",
    "unsandboxed",
    is_flag=True,
    help="Convert documents, and take files of subjects, where no sandbox keeps them from the "
    "network.",
)


def conversion_progress(done: int, total: int) -> None:
    """Show LibreOffice's progress: on a terminal in one line that changes, else once."""
    if sys.stderr.isatty():
        end = done >= total
        click.echo(f"\rdocuments converted: {done} of {total}", err=True, nl=end)
    elif not done:
        click.echo(f"converting {total} document{'' if total == 1 else 's'} …", err=True)


# Those of quem.report, whose import would slow down `quem --help`.
_TABLES = ("csv", "markdown", "latex", "none")
_FIGURES = ("svg", "png", "pdf", "none")


def _formats(
    context: click.Context, option: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...] | None:
    """Parse formats, repeated or separated by commas; None where there are none."""
    known = _TABLES if option.name == "tables" else _FIGURES
    names = tuple(dict.fromkeys(name.strip() for part in value for name in part.split(",")))
    if names and context.params.get("as_json"):
        raise click.UsageError(
            f"--json writes nothing, so it takes no --{option.name}; leave one of them out"
        )
    if unknown := [name for name in names if name not in known]:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(known)}")
    if "none" in names and len(names) > 1:
        raise click.BadParameter("none leaves no other format; leave one of them out")
    return tuple(name for name in names if name != "none") if names else None


def _format_option(
    name: str, default: str, formats: tuple[str, ...]
) -> Callable[[Decorated], Decorated]:
    *first, last = formats
    return click.option(
        f"--{name}",
        multiple=True,
        metavar="FORMAT",
        callback=_formats,
        help=f"{name.capitalize()} as {', '.join(first)}, or {last}; several with commas, or "
        f"repeated.  [default: {default}]",
    )


def format_options(function: Callable[..., Any]) -> Decorated:
    """Add options on the formats of a report; the command gets them as `formats`."""

    @_format_option("tables", "csv", _TABLES)
    @_format_option("figures", "svg", _FIGURES)
    @click.option(
        "--dpi",
        type=click.IntRange(50, 1200),
        help="Dots per inch of figures as PNG; journals often ask for 300.  [default: 160]",
    )
    @wraps(function)
    def command(*args: Any, **given: Any) -> Any:  # noqa: ANN401  of any command
        formats = {name: given.pop(name) for name in ("tables", "figures", "dpi")}
        if formats["dpi"] and "png" not in (formats["figures"] or ()):
            raise click.UsageError("--dpi is for figures as png; add --figures png")
        kept = {name: value for name, value in formats.items() if value is not None}
        return function(*args, formats=kept, **given)

    return command


reveal_option = click.option(
    "--reveal", is_flag=True, help="Read a judging session that is not closed; this is logged."
)

pseudonyms_option = click.option(
    "--pseudonyms",
    is_flag=True,
    help="Call judges J1, J2, ... and subjects S1, S2, ... in all output, in a drawn order.",
)


class Command(click.Command):
    """A command whose help shows the options named in `first`, and all with --help-all."""

    def __init__(self, *args: Any, first: str, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self._first = frozenset(first.split())
        self.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=self._show_all,
                help="Show all options and exit.",
            )
        )

    def _show_all(self, context: click.Context, _: click.Parameter, value: object) -> None:
        if value:
            click.echo(self.full_help(context))
            context.exit()

    def full_help(self, context: click.Context) -> str:
        """The help with all options."""
        context.meta["quem.help_all"] = True
        return self.get_help(context)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the basic options, or all of them."""
        shown = [
            record
            for one in self.get_params(ctx)
            if isinstance(one, click.Option)
            if "quem.help_all" in ctx.meta
            or one.name in self._first
            or one.opts[-1] in ("--help", "--help-all")
            if (record := one.get_help_record(ctx))
        ]
        with formatter.section("Options"):
            formatter.write_dl(shown)


class SettingsCommand(Command):
    """A command with an option for each setting of pydantic models.

    The models are loaded only when the command runs or shows its help, so listing the commands
    stays fast. An unused option has the value None.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401  those of click
        settings: Callable[[], Mapping[type[BaseModel], Iterable[str]]],
        defaults: bool = False,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*args, **kwargs)
        self._settings, self._defaults = settings, defaults
        self._parameters: list[click.Parameter] = []

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters of the command, those of its settings first."""
        if not self._parameters:
            self._parameters = [
                _setting_option(model, name, show_default=self._defaults)
                for model, names in self._settings().items()
                for name in names
            ]
        return [*self._parameters, *super().get_params(ctx)]


_METAVARS: dict[object, str] = {int: "INTEGER", str: "NAME"}


def _setting_option(model: type[BaseModel], name: str, *, show_default: bool) -> click.Option:
    """The option for a setting, whose values the model checks."""
    from quem.studyfile.fields import OneOrMore

    field = model.model_fields[name]
    annotation = _without_none(field.annotation)
    multiple = OneOrMore in field.metadata

    def check(_: click.Context, __: click.Parameter, value: object) -> object:
        from quem.studyfile.schema import setting_value

        if value in (None, ()):
            return None
        try:
            return setting_value(model, name, value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    # Descriptions are those of the reference, where some words are links.
    help_text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", field.description or "")
    help_text += "  Repeatable." if multiple else ""
    if show_default and field.default is not None:
        numbers = field.default
        default = f"{numbers[0]}-{numbers[-1]}" if isinstance(numbers, tuple) else numbers
        help_text += f"  [default: {default}]"
    flag = f"--{name.replace('_', '-')}"
    if annotation is bool:
        return click.Option([flag], is_flag=True, help=help_text)
    choices = get_args(annotation) if get_origin(annotation) is Literal else ()
    return click.Option(
        [flag],
        type=click.Choice(choices) if choices else str,
        multiple=multiple,
        callback=check,
        metavar=None if choices else field.title or _METAVARS.get(annotation, "NUMBER"),
        help=help_text,
    )


def _without_none(annotation: object) -> object:
    """The type of a setting, without None and pydantic's constraints."""
    if type(None) in get_args(annotation):
        annotation = next(kind for kind in get_args(annotation) if kind is not type(None))
    return get_args(annotation)[0] if hasattr(annotation, "__metadata__") else annotation


def show_result(
    result: BaseResult[Any], folder: Path, formats: Mapping[str, Any], *, as_json: bool
) -> None:
    """Print a result as JSON; or write its report, and print its summary."""
    if as_json:
        from quem.report.files import json_text

        # JSON is UTF-8, whatever the terminal is.
        click.echo(json_text(result.to_dict()).encode(), nl=False)
        print_warnings(result.warnings)
        return
    from quem.report.files import write_report

    write_report(result, folder, **formats)
    click.echo(result.summary(warnings=False))
    print_warnings(result.warnings)
    click.echo(f"\nReport: {folder / 'report.html'}", err=True)


def print_warnings(warnings: Iterable[StudyWarning]) -> None:
    """Print warnings on stderr, each with its code."""
    # On a terminal, the summary above and the warnings should appear in order.
    sys.stdout.flush()
    warnings = list(warnings)
    if warnings:
        click.echo(err=True)
    for warning in warnings:
        click.echo(f"warning: {warning.code}: {warning.message}", err=True)
