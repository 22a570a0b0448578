"""Scores, times and pairs in words, the same in every output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.queries import fewest_for
from quem.wording import measured, p_text, percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.queries import Means, PairDifference
    from quem.retrieval.findings import Findings, Time

__all__ = [
    "bare_p",
    "basis",
    "ends_of_time",
    "ends_text",
    "pair_text",
    "rounds_text",
    "seconds_text",
    "share_text",
    "shown_pairs",
    "time_text",
    "value_text",
    "winner",
]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_SMALL_TIME, _LARGE_TIME = 10, 100
_LARGE_SHARE = 0.1


def value_text(value: float) -> str:
    """Write a score to its precision: "0.812", "500"; "–" for none."""
    return measured(value)


def ends_text(low: float, high: float) -> str:
    """Write an interval: "0.75 to 0.87"; nothing where there is none."""
    if not (np.isfinite(low) and np.isfinite(high)):
        return ""
    return f"{value_text(low)} to {value_text(high)}"


def cell_text(means: Means, at: int) -> str:
    """Write a mean with its interval: "0.812 (0.75 to 0.87)"."""
    ends = ends_text(float(means.low[at]), float(means.high[at]))
    told = value_text(float(means.mean[at]))
    return f"{told} ({ends})" if ends else told


def seconds_text(seconds: float) -> str:
    """Write a time in a unit that suits it: "1.24 ms"; "–" for none."""
    if not np.isfinite(seconds):
        return "–"
    for unit, name in _UNITS:
        if seconds >= unit or name == "µs":
            return f"{_short(seconds / unit)} {name}"
    return "–"


def time_text(time: Time) -> str:
    """Write a time with its interval: "1.24 ms (1.20 to 1.31)"; "–" for none."""
    ends = ends_of_time(time)
    return f"{seconds_text(time.median)} ({ends})" if ends else seconds_text(time.median)


def ends_of_time(time: Time) -> str:
    """Write the interval of a time in the unit of the time; nothing where there is none."""
    if not np.isfinite(time.low):
        return ""
    unit = seconds_text(time.median).rpartition(" ")[2]
    scale = next(scale for scale, name in _UNITS if name == unit)
    return f"{_short(time.low / scale)} to {_short(time.high / scale)}"


def _short(value: float) -> str:
    """Three digits of a time."""
    return f"{value:,.{2 if value < _SMALL_TIME else 1 if value < _LARGE_TIME else 0}f}"


def share_text(share: Time) -> str:
    """Write a share of time with its interval: "31% (30 to 33)"; "–" for none."""
    if not np.isfinite(share.median):
        return "–"
    digits = 0 if share.median >= _LARGE_SHARE else 1
    middle, low, high = (
        f"{100 * value:.{digits}f}" for value in (share.median, share.low, share.high)
    )
    return f"{middle}%" + (f" ({low} to {high})" if np.isfinite(share.low) else "")


def rounds_text(found: Findings) -> str:
    """Say how time was taken."""
    used = found.settings
    timed = max((len(one.run.timed) for one in found.evaluated), default=0)
    told = (
        f"medians over {used.repeats} round{'' if used.repeats == 1 else 's'} of the mean time of "
        f"{timed:,} quer{'y' if timed == 1 else 'ies'}, all retrievers in turn"
    )
    fewest = fewest_for(used.level)
    if used.repeats < fewest:
        return f"{told}; an interval at {percent(used.level)} needs {fewest} rounds (repeats)"
    return f"{told}, with {percent(used.level)} intervals between order statistics"


def bare_p(p: float) -> str:
    """Write a p value for a table: ".0035", "< .0001"; "–" for none."""
    return p_text(p).removeprefix("p ").removeprefix("= ") if np.isfinite(p) else "–"


def winner(found: Findings, pair: PairDifference) -> tuple[str, str]:
    """Name the better and the worse of two retrievers by a measure."""
    names = [one.name for one in found.scored]
    ahead = pair.difference > 0
    if found.measures[pair.measure].definition.better == "lower":
        ahead = not ahead
    first, second = names[pair.first], names[pair.second]
    return (first, second) if ahead else (second, first)


def pair_text(found: Findings, pair: PairDifference) -> str:
    """Say who is better by a measure, by how much, and how sure that is."""
    better, worse = winner(found, pair)
    name = found.measures[pair.measure].name
    ends = ends_text(*pair.interval)
    apart = f"{measured(pair.difference, sign=True)}" + (f" ({ends})" if ends else "")
    return f"{better} before {worse} by {name}: {apart}, adjusted {p_text(pair.p_holm)}"


def shown_pairs(found: Findings) -> list[PairDifference]:
    """The differences by the headline that are told from chance, at the level of the settings."""
    limit = 1 - found.settings.level
    return [p for p in found.differences if p.measure == found.headline and p.p_holm <= limit]


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
        yield (f"Retrievers were asked for {depth} cases; times are {rounds_text(found)}")
