"""The coverage study: how often each interval covers the truth, and how wide it is.

    python benchmarks/coverage.py --grid reduced --jobs 2

Results are kept part by part, so that a study that was stopped goes on where it was. With
``--cluster ADDRESS`` the workers of a Dask cluster do the work. ``--docs`` writes the results
into docs/: the table docs/coverage.csv, the figure, and the tables in docs/method.md.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quem.errors import Mistake, QuemError
from quem.experience.coverage import Case, Taste, Truth, cover
from quem.parallel import Workers

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
FORMAT = 1
STUDIES_A_PART = 500
NOISES = ("low", "high")
TRUTHS: tuple[Truth, ...] = (
    "peer",
    "typical",
    "outside",
    "missing",
    "few problems",
    "two studies",
)
TASTES: tuple[Taste, ...] = ("none", "all", "systems")


def estimates(subjects: tuple[int, ...], designs: tuple[tuple[int, int], ...]) -> Iterator[Case]:
    """Cases in which the experience of a system is to be covered."""
    for truth, noise, n, (judges, problems) in product(TRUTHS, NOISES, subjects, designs):
        yield Case(truth, noise, n, judges, problems)


def differences(
    subjects: tuple[int, ...], designs: tuple[tuple[int, int], ...], years: tuple[float, ...]
) -> Iterator[Case]:
    """Cases in which the difference of two systems is to be covered."""
    for noise, n, (judges, problems), d, taste in product(NOISES, subjects, designs, years, TASTES):
        yield Case("difference", noise, n, judges, problems, d, taste)


def blocks(subjects: tuple[int, ...], designs: tuple[tuple[int, int], ...]) -> Iterator[Case]:
    """Cases in which judges rank blocks of the solutions, so that there have to be many."""
    for noise, n, (judges, problems) in product(NOISES, subjects, designs):
        yield Case("blocks", noise, n, judges, problems)


DESIGNS = tuple(product((2, 3, 5), (3, 6, 12)))
# Name: cases, and parts of 500 studies for each.
GRIDS = {
    "tiny": (
        [
            *estimates((7,), ((2, 3),)),
            *blocks((12,), ((2, 3),)),
            *differences((7,), ((2, 3),), (2.0,)),
        ],
        1,
    ),
    "reduced": (
        [
            *estimates((7, 20), ((2, 3), (3, 6), (5, 12))),
            *blocks((20,), ((2, 3), (3, 6))),
            *differences((7, 20), ((2, 3), (3, 6), (5, 12)), (0.0, 4.0)),
        ],
        2,
    ),
    "full": (
        [
            *estimates((7, 12, 20), DESIGNS),
            *blocks((12, 20), DESIGNS),
            *differences((5, 7, 12, 20), DESIGNS, (0.0, 1.0, 2.0, 4.0)),
        ],
        8,
    ),
}


def run_part(case: Case, seed: int, part: int) -> dict[str, object]:
    """Simulate one part of one case."""
    rows = cover(case, STUDIES_A_PART, seed=seed, part=part)
    return {"case": asdict(case), "part": part, "rows": [asdict(row) for row in rows]}


def read_done(path: Path, seed: int) -> list[dict[str, object]]:
    """Read the parts that an earlier run finished; one that it was writing is cut off."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        header = {"format": FORMAT, "seed": seed, "studies": STUDIES_A_PART}
        path.write_text(json.dumps(header) + "\n", encoding="utf-8")
        return []
    whole, newline, _ = path.read_text(encoding="utf-8").rpartition("\n")
    path.write_text(whole + newline, encoding="utf-8")
    header, *done = [json.loads(line) for line in whole.splitlines()] or [{}]
    if header != {"format": FORMAT, "seed": seed, "studies": STUDIES_A_PART}:
        message = "holds results of another seed or format; name another file, or remove it"
        raise QuemError([Mistake(str(path), message=message)])
    return done


@click.command(help=__doc__)
@click.option("--grid", type=click.Choice(list(GRIDS)), default="reduced", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="File of the results.")
@click.option("--jobs", type=int, default=-1, help="Processes; -1 for all processors.")
@click.option("--cluster", help="Address of a Dask scheduler.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--docs", is_flag=True, help="Write the results into docs/.")
def main(
    grid: str, out: Path | None, jobs: int, cluster: str | None, seed: int, *, docs: bool
) -> None:
    """Run what is missing of a grid, and print its tables."""
    import coverage_tables

    path = out or HERE / "coverage-results" / f"{grid}.jsonl"
    cases, parts = GRIDS[grid]
    done = read_done(path, seed)
    held = {(json.dumps(entry["case"]), entry["part"]) for entry in done}
    tasks = [
        (case, seed, part)
        for part in range(parts)
        for case in cases
        if (json.dumps(asdict(case)), part) not in held
    ]
    with (
        path.open("a", encoding="utf-8") as file,
        click.progressbar(length=len(tasks), label="parts", file=sys.stderr) as bar,
    ):
        for found in Workers(jobs, cluster).each(run_part, tasks):
            done.append(found)
            file.write(json.dumps(found) + "\n")
            file.flush()
            bar.update(1)
    names = {json.dumps(asdict(case)) for case in cases}
    table = coverage_tables.collect(entry for entry in done if json.dumps(entry["case"]) in names)
    click.echo(coverage_tables.text(table))
    if docs:
        coverage_tables.write_docs(table, HERE.parent / "docs")


if __name__ == "__main__":
    try:
        main(standalone_mode=False)
    except (QuemError, click.ClickException) as error:
        sys.exit(f"error: {error}")
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted; the next run goes on from here.", err=True)
        sys.exit(130)
