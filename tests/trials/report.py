"""``python -m tests.trials report FILE...``: results of trials as a table of docs/trials.md."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.trials.runner import TRIALS, markdown, results_in

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
