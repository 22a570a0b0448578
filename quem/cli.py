"""The command line: assembles the commands and maps every outcome to an exit code."""

from __future__ import annotations

import codecs
import errno
import gc
import io
import logging
import os
import sys

import click

from quem import __version__
from quem.commands.analyze import analyze
from quem.commands.backup import backup
from quem.commands.check import check
from quem.commands.compare import compare
from quem.commands.export import export
from quem.commands.import_ import import_
from quem.commands.init import init
from quem.commands.judge import judge
from quem.commands.links import links
from quem.commands.panel import panel
from quem.commands.plan import plan
from quem.commands.score import score
from quem.commands.seal import seal
from quem.commands.serve import serve
from quem.commands.track import track
from quem.errors import QuemError

_MAIN = (init, check, serve, analyze, compare, score, plan)
_MORE = (links, judge, track, panel, seal, backup, export, import_)
# Former commands and their replacements.
FORMER = {
    "judges": "links judges",
    "measures": "score --measures",
    "pool": "score --pool",
    "solve": "links people",
    "organizers": "links organizers",
    "invite": "links ROLE --mail",
    "schema": "analyze --schema",
    "restore": "backup --restore",
    "audit": "analyze (its report says how machine judges rank)",
    "verify": "analyze (its report says whether a study is as it was sealed)",
}
# Replacements for characters that an encoding such as Windows-1252 or ASCII lacks.
_PLAIN = {
    "−": "-",
    "–": "-",
    "±": "+-",
    "×": "x",
    "²": "^2",
    "³": "^3",
    "√": "sqrt",
    "∞": "inf",
    "…": "...",
}
# Variables for the number of threads in linear algebra.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
_MISTAKE, _USAGE, _BUG, _INTERRUPTED = 1, 2, 3, 130


class Groups(click.Group):
    """The commands in two groups; errors for former names give the new one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command by name."""
        if args[0] in FORMER and args[0] not in self.commands:
            raise click.ClickException(f"quem {args[0]} is now quem {FORMER[args[0]]}")
        return super().resolve_command(ctx, args)

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands of every study, then those that some need."""
        for title, commands in (("Main", _MAIN), ("More", _MORE)):
            with formatter.section(title):
                formatter.write_dl(
                    [(str(one.name), one.get_short_help_str(80)) for one in commands]
                )


@click.group(
    cls=Groups,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="quem")
def main() -> None:
    """Measure AI systems in years of human experience.

    Experts blindly rank solutions by systems and by people with known experience. A regression
    converts a system's average rank into years of experience, with an interval (Hayes & Parzen
    1997).
    """


for _command in (*_MAIN, *_MORE):
    main.add_command(_command)


def run() -> None:
    """Run the command line.

    Exits with 0 (warnings included), 1 for a user's error, 2 for wrong usage, 3 for a bug, 130
    when interrupted.
    """
    codecs.register_error("plain", _plain)
    # Matrices are small, so threads would only wait for each other at full load. NumPy reads this
    # at import, which no module above causes.
    if not any(name in os.environ for name in _THREADS):
        os.environ["OMP_NUM_THREADS"] = "1"
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")
    # Without a writable HOME, matplotlib prints a long warning and works anyway.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    # A command is short and makes few cycles: collecting them would take a fifth of the time of
    # `quem analyze`.
    gc.disable()
    code = _exit_code()
    gc.freeze()
    sys.exit(code)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Replace what the terminal's encoding lacks by plain characters."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in text), error.end


def _lack(error: Exception) -> str:
    """The missing resource of the machine; empty if that is not the cause."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; split the files, or use a larger machine"
    if isinstance(error, OSError) and error.errno in _WRITE_ERRORS:
        _drop_output()
        return f"the output cannot be written: {error.strerror}"
    return ""


def _exit_code() -> int:
    try:
        return _invoke()
    except QuemError as error:
        for mistake in error.mistakes:
            click.echo(f"error: {mistake}", err=True)
        return _MISTAKE
    except click.ClickException as error:
        error.show()
        return _USAGE
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001  whatever else it is, it is a bug, and says so
        if lack := _lack(error):
            click.echo(f"error: {lack}", err=True)
            return _MISTAKE
        import traceback

        traceback.print_exc()
        click.echo("This is a bug in quem; please report it with the lines above.", err=True)
        return _BUG


def _invoke() -> int:
    try:
        # Not `main()`, in which click would end a broken pipe with 1.
        with main.make_context("quem", sys.argv[1:]) as context:
            main.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except BrokenPipeError:
        # The reader of a pipe, such as `head`, has left, which is not an error.
        _drop_output()
    return 0


def _drop_output() -> None:
    """Discard further output, including what Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
