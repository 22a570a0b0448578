"""``quem init``: a new study from an example or from a folder of an agent's work."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quem.commands.options import say_next
from quem.resources import resource

if TYPE_CHECKING:
    from quem.importing import Draft

# Kinds with an example study.
_KINDS = sorted(folder.name for folder in (resource("templates") / "init").iterdir())
_ROLES = ("problem", "solver", "answer", "statement", "experience", "ignore")
# More tasks than judges rank in some hours.
_MANY_TASKS = 30


def _columns(ctx: click.Context, param: click.Parameter, value: str) -> tuple[tuple[str, str], ...]:
    """Read roles and columns: ``problem=task,answer=reply``."""
    pairs = [part.partition("=") for part in value.split(",") if part.strip()]
    roles = [(role.strip().casefold(), column.strip()) for role, _, column in pairs]
    for role, column in roles:
        if role not in _ROLES or not column:
            raise click.BadParameter(
                f"write ROLE=COLUMN, with a role of {', '.join(_ROLES)}", ctx, param
            )
    return tuple(roles)


def _names(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """Read names: ``RUN=ID``."""
    pairs = [one.rpartition("=") for one in value]
    if not all(old and new for old, _, new in pairs):
        raise click.BadParameter("write RUN=ID, such as agent=gpt-x", ctx, param)
    return {old: new.strip() for old, _, new in pairs}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(_KINDS),
    default="experience",
    show_default=True,
    help="Kind of study.",
)
@click.option("--judging", is_flag=True, help="An example with solutions and a judging session.")
@click.option(
    "--report",
    is_flag=True,
    help="Write report.qmd instead: a Quarto page of your own, which reads analysis.json.",
)
@click.option(
    "--from",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Make the study of this folder or file of answers; several are joined by problem.",
)
@click.option(
    "--name",
    "names",
    metavar="RUN=ID",
    multiple=True,
    callback=_names,
    help="With --from: the name of a log's solver, or of any solver or problem.",
)
@click.option(
    "--layout",
    type=click.Choice(["solver/problem", "problem/solver"]),
    help="With --from: what the folders are, and what is in them.",
)
@click.option(
    "--columns",
    metavar="ROLE=COLUMN,...",
    default="",
    callback=_columns,
    help="With --from: the columns of a table; ignore=COLUMN leaves one out.",
)
@click.option(
    "--epoch",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="With --from: the epoch of Inspect's logs.",
)
@click.option(
    "--sample",
    type=click.IntRange(1),
    help="With --from: take this many problems, drawn at random.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of --sample.")
@click.option("--dry-run", is_flag=True, help="With --from: show the result and write nothing.")
def init(
    folder: Path,
    kind: str,
    sources: tuple[Path, ...],
    names: dict[str, str],
    layout: str | None,
    columns: tuple[tuple[str, str], ...],
    epoch: int,
    sample: int | None,
    seed: int,
    *,
    judging: bool,
    report: bool,
    dry_run: bool,
) -> None:
    """Write a study to FOLDER: an example, or one made --from a folder of answers.

    The example can be analyzed as it is, and with --judging it can be served. --from takes folders
    of files (one for each solver or each problem), tables (CSV, JSON Lines, JSON, Parquet), logs of
    Inspect AI and lm-evaluation-harness, and tables of people with their experience.

    Existing files are never overwritten.
    """
    _refuse_mixed(kind, judging=judging, report=report, has_sources=bool(sources))
    reading = {"layout": layout, "columns": columns, "names": names}
    if sources:
        _import(folder, sources, (sample, seed), dry_run=dry_run, epoch=epoch, **reading)
        return
    if any([*reading.values(), sample, dry_run, epoch - 1]):
        options = "--name, --layout, --columns, --epoch, --sample and --dry-run"
        raise click.UsageError(f"{options} need --from")
    name = "quarto" if report else "session" if judging else f"init/{kind}"
    _write_example(folder, resource("templates") / name)
    if report:
        page = shlex.quote(str(folder / "report.qmd"))
        click.echo(f"Next: analyze the study, then quarto render {page}", err=True)
    elif judging:
        say_next("serve", folder)
    else:
        say_next("analyze", folder / "study.yaml")


def _refuse_mixed(kind: str, *, judging: bool, report: bool, has_sources: bool) -> None:
    ways = {"--judging": judging, "--report": report, "--from": has_sources}
    chosen = [way for way, is_chosen in ways.items() if is_chosen]
    if len(chosen) > 1:
        raise click.UsageError(
            f"{' and '.join(chosen)} write different things; leave one of them out"
        )
    if chosen and kind != "experience":
        raise click.UsageError(
            f"{chosen[0]} is for studies of kind experience, not {kind}; leave one out"
        )


def _write_example(folder: Path, template: Path) -> None:
    import shutil

    from quem.importing.writing import write_folder

    def copy(new: Path) -> None:
        shutil.copytree(template, new, dirs_exist_ok=True)

    for name in write_folder(folder, copy):
        click.echo(f"wrote {folder / name}", err=True)


def _import(
    folder: Path,
    sources: tuple[Path, ...],
    sample: tuple[int | None, int],
    *,
    dry_run: bool,
    **reading: Any,  # noqa: ANN401  as `collect` takes
) -> None:
    from quem.importing import collect, draft_of, overview, sampled, write_draft

    collected = collect(sources, **reading)
    count, seed = sample
    if count:
        sampled(collected, count, seed)
    draft = draft_of(sources, collected)
    if dry_run:
        click.echo(overview(draft))
        _tell(draft)
        click.echo("Nothing was written.", err=True)
        return
    for name in write_draft(draft, folder):
        click.echo(f"wrote {folder / name}", err=True)
    _tell(draft)
    say_next("serve", folder)


def _tell(draft: Draft) -> None:
    """Print what was imported, and the judges' workload."""
    collected = draft.collected
    click.echo(f"read as {collected.rule}", err=True)
    counts = {"problem": len(draft.problems), "solver": len(draft.solvers)}
    counts["solution"] = draft.n_solutions
    found = ", ".join(f"{n:,} {word}{'' if n == 1 else 's'}" for word, n in counts.items())
    click.echo(f"found: {found}", err=True)
    for note in collected.notes:
        click.echo(f"note: {note}", err=True)
    if collected.errors:
        count = len(collected.errors)
        click.echo(f"failed: {count:,}; first {collected.errors[0]}", err=True)
    for what, count in collected.left_out.items():
        if count:
            click.echo(f"left out: {what}: {count:,}", err=True)
    if len(draft.problems) > _MANY_TASKS:
        message = (
            f"note: each judge would rank {len(draft.problems):,} tasks; --sample 10 takes 10 of "
            "them at random"
        )
        click.echo(message, err=True)
