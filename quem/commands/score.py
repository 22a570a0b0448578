"""``quem score``: runs against judgments, without a study file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import Command
from quem.commands.pooling import OF_POOL, pool_options, write_pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.scores.certificate import Certificate
    from quem.scores.table import ScoreTable

_FORMATS = ("text", "md", "latex", "html", "csv", "json")
_FIRST = "measure claims ties empty form intervals digits samples out board pool listed"


def _list_measures(context: click.Context, _: click.Parameter, name: str | None) -> None:
    if name is None:
        return
    from quem.scores.listing import list_measures

    click.echo(list_measures(name or None))
    context.exit()


@click.command(cls=Command, first=_FIRST)
@click.argument("qrels")
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option(
    "-m",
    "--measure",
    "measure",
    multiple=True,
    metavar="NAME",
    help="Measures, in any tool's spelling; the first is the headline.  Repeatable.  [default: "
    "nDCG@10 AP RR P@10 R@100]",
)
@click.option(
    "--claim",
    "claims",
    multiple=True,
    metavar="'A > B by NAME'",
    help="Certify that A scores higher than B.  Repeatable.",
)
@click.option(
    "--ties",
    type=click.Choice(("expected", "given", "trec")),
    default="expected",
    show_default=True,
    help="Order of cases with equal scores: the mean over all orders, as in the file, or as "
    "trec_eval has it.",
)
@click.option(
    "--empty",
    type=click.Choice(("leave-out", "zero")),
    default="leave-out",
    show_default=True,
    help="Whether queries without a relevant case are left out or count 0.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="text",
    show_default=True,
    help="Format of what is printed.",
)
@click.option(
    "--intervals",
    type=click.Choice(("none", "headline", "all")),
    help="Measures whose intervals the table has.  [default: headline; none in LaTeX]",
)
@click.option("--digits", type=click.IntRange(1, 9), default=3, show_default=True, help="Decimals.")
@click.option(
    "--level",
    type=click.FloatRange(0.5, 0.9999),
    default=0.95,
    show_default=True,
    help="Level of the intervals and tests.",
)
@click.option(
    "--samples",
    type=click.IntRange(0, 1_000_000),
    default=9999,
    show_default=True,
    help="Random patterns of the joint test; 0 for neither intervals nor tests.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for a report with all numbers."
)
@click.option(
    "--board",
    type=click.Path(path_type=Path),
    help="Folder of a leaderboard, to which the runs are added.",
)
@pool_options
@click.option(
    "--measures",
    "listed",
    is_flag=False,
    flag_value="",
    is_eager=True,
    expose_value=False,
    callback=_list_measures,
    metavar="[NAME]",
    help="List the measures, or explain one, and exit.",
)
def score(
    qrels: str,
    runs: tuple[str, ...],
    measure: tuple[str, ...],
    claims: tuple[str, ...],
    form: str,
    intervals: str | None,
    digits: int,
    out: Path | None,
    board: Path | None,
    pool: Path | None,
    **settings: Any,  # noqa: ANN401
) -> None:
    """Score each RUN against the judgments QRELS.

    Files are as trec_eval reads them, or CSV, TSV, or JSON with a header or keys; .gz, .bz2, and
    .xz too. A run is called as its file, or as in NAME=FILE. Prints means with intervals and one
    joint test of all pairs; * is the best, and letters name the systems that are significantly
    worse.

    With --pool, QRELS is a study of retrievers instead, and judges grade what these find.
    """
    of_pool = {name: settings.pop(name) for name in OF_POOL}
    if pool is not None:
        if runs:
            raise click.UsageError("--pool takes a study of retrievers alone; leave the runs out")
        write_pool(qrels, pool, seed=settings["seed"], **of_pool)
        return
    if not runs:
        raise click.UsageError("name one run at least behind the judgments")
    for name, value in of_pool.items():
        if value is not None and name != "code":
            raise click.UsageError(f"--{name} is for a --pool; leave it out, or name a folder")
    from quem.scoring import DEFAULT_MEASURES
    from quem.scoring import score as score_runs

    named = _named(runs)
    table = score_runs(named, Path(qrels), " ".join(measure) or DEFAULT_MEASURES, **settings)
    if board is not None:
        from quem.scores.joining import added

        table = added(table, board)
    certificates = [table.certificate_of(text) for text in claims]
    for folder in filter(None, (out, board)):
        from quem.scores.result import ScoresResult

        files = [Path(qrels), *map(Path, named.values())]
        ScoresResult.of(table, certificates, files).report(folder)
    click.echo(_written(table, certificates, form, digits, intervals))
    from quem.scores.result import find_warnings

    for warning in find_warnings(table):
        click.echo(f"warning: {warning.message}", err=True)


def _named(runs: Sequence[str]) -> dict[str, str]:
    """Runs by name: as in NAME=FILE, or as the file."""
    from quem.errors import QuemError
    from quem.scoring import name_of

    named: dict[str, str] = {}
    for run in runs:
        name, equals, file = run.partition("=")
        if not equals or Path(run).exists():
            name, file = name_of(run), run
        if name in named:
            raise QuemError(f"two runs are called {name!r}; write NAME=FILE")
        named[name] = file
    return named


def _written(
    table: ScoreTable,
    certificates: Sequence[Certificate],
    form: str,
    digits: int,
    intervals: str | None,
) -> str:
    from quem.scores import present

    if form in ("csv", "json"):
        from quem.report.files import json_text
        from quem.scores.result import ScoresResult

        if form == "json":
            return json_text(ScoresResult.of(table, certificates, []).to_dict()).rstrip()
        return str(table.frame().to_csv(index=False, float_format="%.12g")).rstrip()
    write = {
        "text": present.text,
        "md": present.markdown,
        "latex": present.latex,
        "html": present.html,
    }[form]
    shown: Any = {} if intervals is None else {"intervals": intervals}
    parts = [write(table, digits, **shown), *map(str, certificates if form == "text" else ())]
    return "\n\n".join(parts)
