"""Scores, times and pairs in words, the same in every output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.queries import fewest_of
from quem.wording import number, p_text, signed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.queries import Means, PairDifference
    from quem.retrieval.findings import Evaluated, Findings

__all__ = [
    "DAGGER",
    "bare_p",
    "basis",
    "cell_text",
    "dagger_note",
    "ends_text",
    "list_rows",
    "mean_cells",
    "pair_text",
    "seconds_text",
    "shown_pairs",
    "value_text",
    "winner",
]

DAGGER = "†"
_DIGITS = 3
_LARGE = 100
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_SMALL_TIME = 10


_TIES = {
    "expected": "Tied cases: each score is the mean over all orders of cases with equal similarity",
    "id": "Tied cases are ordered by id, the last first, as trec_eval does",
    "input": "Tied cases are in the order in which they were given",
}


def value_text(value: float) -> str:
    """Write a score: "0.812"; "–" for none."""
    return number(value, _DIGITS if abs(value) < _LARGE else 1)


def ends_text(low: float, high: float) -> str:
    """Write an interval: "0.75 to 0.87"; nothing where there is none."""
    if not (np.isfinite(low) and np.isfinite(high)):
        return ""
    return f"{value_text(low)} to {value_text(high)}"


def cell_text(
    means: Means, at: int, fewest: int = 0, *, count: bool = False, interval: bool = True
) -> str:
    """Write a mean with its interval: "0.812 (0.75 to 0.87)"; with its number of queries, too.

    A mean over fewer queries than `fewest` has a dagger; see `dagger_note`.
    """
    told, n = value_text(float(means.mean[at])), int(means.defined[at])
    ends = ends_text(float(means.low[at]), float(means.high[at]))
    told += f" ({ends})" if ends and interval else ""
    told += f" n = {n:,}" if count else ""
    return f"{told} {DAGGER}" if 0 < n < fewest else told


def mean_cells(
    found: Findings, columns: Iterable[Evaluated], at: int, *, interval: bool = True
) -> list[str]:
    """Write a measure's row: over how many queries its means are, and the means.

    Where retrievers differ in this number, it stands beside each mean.
    """
    means = [one.means for one in columns if one.means is not None]
    counts = {int(mean.defined[at]) for mean in means}
    differ, fewest = len(counts) > 1, fewest_of(found.n_scorable)
    count = "" if differ else f"{counts.pop():,}"
    each = (cell_text(mean, at, fewest, count=differ, interval=interval) for mean in means)
    return [count, *each]


def list_rows(columns: Iterable[Evaluated]) -> list[tuple[str, ...]]:
    """Write a row with the failures of each retriever, and one with its tied positions."""
    told = [
        ("", "") if one.source == "judges" else (f"{one.n_failed:,}", tied_text(one.tied_share))
        for one in columns
    ]
    failures, shares = zip(*told, strict=True)
    rows = [("failures", "", *failures), ("tied positions", "", *shares)]
    # Rows that only say 0 are left out.
    return [row for row in rows if set(row[2:]) - {"", "0", "0%", "–"}]


def tied_text(share: float) -> str:
    """Write a share of positions: "12%", "<1%"; "–" for none."""
    if not np.isfinite(share):
        return "–"
    return "<1%" if 0 < share < 0.005 else f"{100 * share:.0f}%"  # noqa: PLR2004  rounds to 0


def dagger_note(found: Findings, texts: Iterable[str]) -> str:
    """Say what a dagger means, if there is one."""
    if not any(DAGGER in text for text in texts):
        return ""
    return (
        f"{DAGGER} defined for fewer than half of the {found.n_scorable:,} queries with a ground "
        "truth: not ranked and not tested"
    )


def seconds_text(seconds: float) -> str:
    """Write a time in a unit that suits it: "1.24 ms"; "–" for none."""
    if not np.isfinite(seconds):
        return "–"
    for unit, name in _UNITS:
        if seconds >= unit or name == "µs":
            value = seconds / unit
            return f"{value:.{2 if value < _SMALL_TIME else 1}f} {name}"
    return "–"


def bare_p(p: float) -> str:
    """Write a p value for a table: ".0035", "< .0001"; "–" for none."""
    return p_text(p).removeprefix("p ").removeprefix("= ") if np.isfinite(p) else "–"


def winner(found: Findings, pair: PairDifference) -> tuple[str, str]:
    """Name the better and the worse of two retrievers by a measure."""
    first, second = (found.scored[at].name for at in (pair.first, pair.second))
    return (first, second) if _first_wins(found, pair) else (second, first)


def _first_wins(found: Findings, pair: PairDifference) -> bool:
    lower = found.measures[pair.measure].definition.better == "lower"
    return (pair.difference > 0) != lower


def pair_text(found: Findings, pair: PairDifference) -> str:
    """Say who is better by a measure, by how much, and how sure that is."""
    better, worse = winner(found, pair)
    name = found.measures[pair.measure].name
    # Its sign is that of the better one less the worse one, whichever the study names first.
    low, high = pair.interval
    difference = pair.difference
    if not _first_wins(found, pair):
        difference, low, high = -difference, -high, -low
    ends = ends_text(low, high)
    apart = signed(difference, _DIGITS) + (f" ({ends})" if ends else "")
    return f"{better} before {worse} by {name}: {apart}, adjusted {p_text(pair.p_holm)}"


def shown_pairs(found: Findings) -> list[PairDifference]:
    """The differences that are told from chance, at the level of the settings."""
    limit = 1 - found.settings.level
    return [pair for pair in found.differences if pair.p_holm <= limit]


def basis(found: Findings) -> Iterable[str]:
    """Say in a line or two each what the result rests on."""
    task, truth = found.task, found.truth
    n = len(task.queries)
    queries = f"{n:,} quer{'y' if n == 1 else 'ies'}"
    if task.leave_one_out:
        yield f"{queries}, each case in turn, left out of the {len(task.cases):,} cases"
    else:
        yield f"{queries}, {len(task.cases):,} cases"
    yield f"Ground truth: {truth.source}" + (
        ", kept in similarities.csv by an earlier evaluation and used again" if truth.reused else ""
    )
    if any(one.run.lists.tied.any() for one in found.scored):
        yield _TIES[found.settings.ties]
    if found.experts is not None:
        n_judges = len(found.experts.judges)
        yield (
            f"Experts: the consensus of {n_judges} judge{'' if n_judges == 1 else 's'}, by average "
            "rank"
            + (
                ", drawn anew in the intervals"
                if found.n_panels and found.settings.bootstrap
                else ""
            )
        )
    if any(one.source in ("linear", "python") for one in found.evaluated):
        depth = "all" if found.depth == task.n_candidates else f"{found.depth:,}"
        yield (
            f"Retrievers were asked for {depth} cases; times are medians of "
            f"{found.settings.repeats} calls a query, after {found.settings.warm_up} to warm up"
        )
