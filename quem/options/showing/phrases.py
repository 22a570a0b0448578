"""How the numbers of option lists are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.wording import measured, number, p_text, percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.options.findings import Findings, Standing
    from quem.options.thresholds import Sweep
    from quem.queries import PairDifference

__all__ = [
    "DAGGER",
    "DIGITS",
    "bare_p",
    "count",
    "dagger_note",
    "difference_text",
    "length_text",
    "list_text",
    "mean_text",
    "score",
    "share",
    "span",
    "standing_text",
    "threshold_text",
]

DIGITS = 3
DAGGER = "†"
_LONGEST_DRAWN = 12


def score(value: float) -> str:
    """Write a score to its precision: "0.756"."""
    return measured(value, DIGITS)


def mean_text(found: Findings, standing: Standing, at: int) -> str:
    """Write a mean: "0.756"; with its number of questions where these are not all of them.

    A mean over fewer than half of the questions has a dagger; see `dagger_note`.
    """
    n = standing.defined[at]
    told = score(standing.scores[at])
    if 0 < n < len(found.data.key.ids):
        told += f" n = {n:,}"
    return f"{told} {DAGGER}" if 0 < n < found.fewest else told


def dagger_note(found: Findings, texts: Iterable[str]) -> str:
    """Say over how many questions means are, and what a dagger means, if there is one."""
    told = f"n = {len(found.data.key.ids):,} questions unless stated"
    if any(DAGGER in text for text in texts):
        told += f"; {DAGGER} fewer than half of them: not ranked and not tested"
    return told


def span(interval: tuple[float, float]) -> str:
    """Write an interval of scores; "–" where there is none."""
    return "–" if np.isnan(interval[0]) else f"{score(interval[0])} to {score(interval[1])}"


def share(value: float) -> str:
    """Write a share as a whole percentage; "–" for none."""
    return "–" if np.isnan(value) else f"{100 * value:.0f}%"


def count(n: int, noun: str) -> str:
    """Write how many: "1 list", "1,200 lists"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def bare_p(p: float) -> str:
    """Write a p value without "p ="; "–" for none."""
    return "–" if np.isnan(p) else p_text(p).removeprefix("p ").removeprefix("= ")


def standing_text(found: Findings, standing: Standing) -> str:
    """Say a system's result in one phrase."""
    at = found.scorer.headline
    told = f"{found.headline} {mean_text(found, standing, at)}"
    if not np.isnan(standing.intervals[at][0]):
        told += f" ({percent(found.settings.level)} interval {span(standing.intervals[at])})"
    return (
        f"{told}; the correct option is in {share(standing.share)} of lists of "
        f"{length_text(standing.mean_length)}"
    )


def length_text(length: float) -> str:
    """Write a mean length: "2.4 options"."""
    return f"{number(length)} option{'' if number(length) == '1.0' else 's'}"


def difference_text(found: Findings, pair: PairDifference) -> str:
    """Say how far two systems are apart by the headline."""
    if not pair.n:
        return "no question where both have a score"
    told = measured(pair.difference, DIGITS, sign=True)
    if not np.isnan(pair.interval[0]):
        told += f" ({percent(found.settings.level)} interval {span(pair.interval)})"
    several = len(found.data.systems) > 2  # noqa: PLR2004  more than one pair
    adjusted = "adjusted " if several else ""
    told += f", {adjusted}{p_text(pair.p_holm)}" if not np.isnan(pair.p) else ""
    return f"{told}; better on {pair.higher:,}, worse on {pair.lower:,} of {pair.n:,} questions"


def threshold_text(found: Findings, sweep: Sweep) -> str:
    """Say what the best threshold of a system is, and what it is worth on other questions."""
    best = sweep.best
    told = (
        f"best threshold {sweep.threshold[best]:.4g}: lists of "
        f"{length_text(float(sweep.mean_length[best]))}, {found.headline} "
        f"{score(float(sweep.scores[best, found.scorer.headline]))}"
    )
    if sweep.folds:
        told += f", cross-validated {score(sweep.cross_validated)}"
    return f"{told} (as given {score(sweep.given)})"


def list_text(length: int, place: int) -> str:
    """Draw a list: c for the correct option, w for a wrong one; a long one in words."""
    if length == 0:
        return "empty"
    if length > _LONGEST_DRAWN:
        return f"{length}, " + (f"correct at {place}" if place else "all wrong")
    return "".join("c" if at == place else "w" for at in range(1, length + 1))
