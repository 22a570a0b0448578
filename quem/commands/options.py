"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pydantic import ValidationError

    from quem.errors import QuemError

__all__ = [
    "DURATION",
    "analysis_options",
    "check_url",
    "code_option",
    "data_option",
    "database_option",
    "json_option",
    "mistaken_options",
    "out_option",
    "refuse_foreign",
    "refuse_out_with_json",
    "reveal_option",
    "seed_option",
]

Command = Any  # a function, or a command that click made of one


def _share(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0 < value < 1:
        from quem.io.text import percent_hint

        message = f"{value:g} is not between 0 and 1{percent_hint(value)}"
        raise click.BadParameter(message)
    return value


def _folder(_: click.Context, __: click.Parameter, value: str | None) -> Path | None:
    if value == "":
        message = "is empty; name a folder"
        raise click.BadParameter(message)
    return None if value is None else Path(value)


def check_url(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuse what no link can begin with; gives it without a slash at its end."""
    if value is None:
        return None
    if not value.startswith(("http://", "https://")) or not value.partition("://")[2].strip("/"):
        message = f"{value!r} is not an address such as https://judging.example.org"
        raise click.BadParameter(message)
    return value.rstrip("/")


def out_option(default: str) -> Callable[[Command], Command]:
    """Make the option for the folder of a report, whose default is told in words."""
    help_text = f"Folder for the report.  [default: {default}]"
    return click.option("--out", type=click.Path(), callback=_folder, help=help_text)


def refuse_out_with_json(out: Path | None, *, as_json: bool) -> None:
    """Refuse a folder for what is not written."""
    if as_json and out is not None:
        message = "--json writes nothing, so it takes no --out; leave one of them out"
        raise click.UsageError(message)


def refuse_foreign(kind: str, given: Mapping[str, object], known: Iterable[str]) -> None:
    """Refuse options that mean nothing for a kind of study.

    Parameters
    ----------
    kind : str
    given : mapping
        Values of options by name; None, False and nothing at all were not given.
    known : iterable of str
        The options that the kind takes.
    """
    used = [name for name, value in given.items() if value not in (None, False, ())]
    if foreign := sorted(set(used) - set(known)):
        option = f"--{foreign[0].replace('_', '-')}"
        message = f"{option} is not for a study of kind {kind}; leave it out"
        raise click.UsageError(message)


def mistaken_options(error: ValidationError) -> QuemError:
    """Say what is wrong with the options that describe somebody who is to be added.

    Parameters
    ----------
    error : pydantic.ValidationError
        Of the model of an entry of the study file.
    """
    from quem.errors import QuemError

    return QuemError(
        f"--{'add' if e['loc'][0] == 'id' else e['loc'][0]}: "
        f"{e['msg'].removeprefix('Value error, ')}"
        for e in error.errors()
    )


class _Duration(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A length of time such as ``90s``, ``15m``, ``2h`` or ``1d``; gives seconds."""

    name = "time"
    _seconds: ClassVar = {"s": 1, "m": 60, "h": 3600, "d": 86400}

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read it."""
        if not isinstance(value, str):
            return value
        number, unit = value[:-1], value[-1:]
        if unit not in self._seconds or not number.isdecimal() or not 0 < int(number) < _LONGEST:
            self.fail(f"{value!r} is not a time; write one such as 90s, 15m, 2h or 1d", param, ctx)
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
    "--json", "as_json", is_flag=True, help="Print the result as JSON; write nothing."
)

_ANALYSIS = (
    click.option(
        "--level", type=float, callback=_share, help="Level of the intervals, such as 0.95."
    ),
    click.option(
        "--form",
        type=click.Choice(["linear", "log", "sqrt", "quadratic", "cubic", "auto"]),
        help="Form of the skill function.",
    ),
    click.option("--score", type=click.Choice(["rank", "blom", "pl"]), help="What is averaged."),
    click.option(
        "--normalize",
        type=click.Choice(["none", "expected", "percentile"]),
        help="How ranks of groups of unequal size are made comparable.",
    ),
    click.option(
        "--reference",
        type=click.Choice(["all", "humans"]),
        help="Whom a solution is ranked against.",
    ),
)


def analysis_options(command: Command) -> Command:
    """Give a command the settings that every analysis of ranks has."""
    for option in reversed(_ANALYSIS):
        command = option(command)
    return command


database_option = click.option(
    "--database",
    metavar="URL",
    help="Store of the judging session: a URL, or an SQLite file.  [default: $QUEM_DATABASE_URL, "
    "or STUDY's name with .sqlite3, beside it]",
)

reveal_option = click.option(
    "--reveal", is_flag=True, help="Read a judging session that is not closed; this is logged."
)

seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of what is random."
)
