"""``nox -s trials -- NAME [options]``: run the trials of a name, or list the names."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import click

from tests import trials
from tests.trials.report import write_report
from tests.trials.runner import TRIALS, run_trials

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
@click.option("--again", is_flag=True, help="Run those once more that failed.")
def main(
    name: str | None,
    files: tuple[Path, ...],
    count: int | None,
    seed: int,
    out: Path | None,
    *,
    again: bool,
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
    results = run_trials(TRIALS[name], count or TRIALS[name].count, seed, out, again=again)
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
