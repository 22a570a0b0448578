"""``nox -s trials -- NAME [options]``: run trials, list their names, or write docs/trials.md."""

from __future__ import annotations

import sys
from collections import Counter
from importlib import import_module
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import click

from tests import trials
from tests.trials.runner import TRIALS, markdown, results_in, run_trials

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.trials.runner import Results

PAGE = Path(__file__).parents[2] / "docs" / "trials.md"
_ABOUT = ("name", "seed", "trial", "failed", "on")


def written(results: Results, text: str) -> str:
    """Put the table between the marks of a page."""
    newest = max((result["on"] for result in results), key=lambda on: on["date"])
    loads = [result["on"]["load"] for result in results]
    lines = [
        f"{newest['date']}: quem {newest['quem']}, Python {newest['python']}, {newest['system']}, "
        f"{newest['cores']} cores, load {min(loads)} to {max(loads)}.",
        "",
        markdown(
            "trial | what is tried | seeds | trials | figures | lost or wrong", _rows(results)
        ),
    ]
    before, begin, rest = text.partition("<!-- trials begin -->\n")
    _, end, after = rest.partition("<!-- trials end -->")
    return "\n".join([before + begin + lines[0], *lines[1:], end + after])


def _rows(results: Results) -> Iterable[tuple[object, ...]]:
    name_of = itemgetter("name")
    for name, group in groupby(sorted(results, key=name_of), name_of):
        each, trial = [*group], TRIALS[name]
        failed = sum(bool(result["failed"]) for result in each)
        missed = f"{failed} of them" if failed else trial.bar(each) or "nothing"
        seeds = ", ".join(str(seed) for seed in sorted({result["seed"] for result in each}))
        meaning = trial.meaning.replace("``", "`")
        yield f"`{name}`", meaning, seeds, len(each), totals(each), missed


def totals(results: Results) -> str:
    """What was counted in all trials: numbers are added up, and what is listed is counted."""
    sums: Counter[str] = Counter()
    for result in results:
        for key, value in result.items():
            if key not in _ABOUT:
                sums[key] += _count(value)
    return ", ".join(f"{count:,} {key}" for key, count in sums.items() if count)


def _count(value: object) -> int:
    """A number, or how many there are in a list of names or a tally."""
    if isinstance(value, dict):
        return sum(map(_count, value.values()))
    if isinstance(value, list):
        return sum(isinstance(one, str) or _count(one) for one in value)
    return value if isinstance(value, int) else 0


def write_report(files: Iterable[Path]) -> None:
    results = [result for file in files for result in results_in(file)]
    PAGE.write_text(written(results, PAGE.read_text("utf-8")), "utf-8")


FILE = click.Path(path_type=Path)
for module in iter_modules(trials.__path__):
    if not module.name.startswith(("_", "test_")):
        import_module(f"{trials.__name__}.{module.name}")  # registers its trials


@click.command()
@click.argument("name", required=False)
@click.argument("files", nargs=-1, type=FILE)
@click.option("--trials", "count", type=click.IntRange(1), help="How many.  [default: by name]")
@click.option("--seed", default=0, show_default=True, help="Another seed makes other trials.")
@click.option("--out", type=FILE, help="[default: .trials/NAME-SEED.jsonl]")
def main(
    name: str | None,
    files: tuple[Path, ...],
    count: int | None,
    seed: int,
    out: Path | None,
) -> None:
    """Run the trials of NAME; those that are in the file of results are not run again.

    With "report" as NAME, the results in FILES become the table of docs/trials.md.
    """
    if name == "report" and files:
        write_report(files)
        return
    if name not in TRIALS or files:
        for known, trial in sorted(TRIALS.items()):
            click.echo(f"{known:20} {trial.meaning} ({trial.count:,} trials)")
        sys.exit(2 if name else 0)
    out = out or Path(".trials") / f"{name}-{seed}.jsonl"
    results = run_trials(TRIALS[name], count or TRIALS[name].count, seed, out)
    failed = [result for result in results if result["failed"]]
    if not failed and (table := TRIALS[name].table(results)):
        click.echo(table)
    for result in failed:
        click.echo(f"trial {result['trial']}: {result['failed']}")
    total = f"{len(results):,} trial{'' if len(results) == 1 else 's'}"
    click.echo(f"{name}: {total}, {len(failed):,} failed; {out}")
    if missed := "" if failed else TRIALS[name].bar(results):
        click.echo(f"{name}: {missed}")
    sys.exit(1 if failed or missed else 0)


if __name__ == "__main__":
    main()
