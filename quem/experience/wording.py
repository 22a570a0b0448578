"""How numbers are written for people, the same in every output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.experience.estimate import Estimate

__all__ = ["INTERVALS", "interval_text", "joined", "number", "p_text", "percent", "statement"]

INTERVALS = {
    "prediction": "prediction interval",
    "mean": "confidence band of the mean",
    "calibration": "calibration interval",
}


def number(value: float, digits: int = 1) -> str:
    """Write a number with a fixed number of decimals and a true minus; "–" for none."""
    if not np.isfinite(value):
        return "–"
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def p_text(p: float) -> str:
    """Write a p value: "p = .0035", "p < .0001"."""
    if not np.isfinite(p):
        return "p unknown"
    if p < 0.0001:  # noqa: PLR2004  no more is read off a p value
        return "p < .0001"
    digits = 4 if p < 0.01 else 3 if p < 0.1 else 2  # noqa: PLR2004
    text = f"{p:.{digits}f}"
    return f"p = {text.removeprefix('0')}"


def percent(share: float) -> str:
    """Write a share as a percentage, with decimals only where it has some: "95%"."""
    return f"{100 * share:.6g}%"


def interval_text(interval: tuple[float, float]) -> str:
    """Write an interval: "3.6 to 10.9"; "unbounded" where it has no ends."""
    low, high = interval
    if not (np.isfinite(low) and np.isfinite(high)):
        return "unbounded"
    return f"{number(low)} to {number(high)}"


def joined(words: Iterable[str], most: int = 6) -> str:
    """List words as a sentence does: "a, b and c", at most so many of them."""
    found = list(words)
    if len(found) > most:
        return f"{', '.join(found[:most])} and {len(found) - most} more"
    return " and ".join(filter(None, [", ".join(found[:-1]), *found[-1:]]))


def statement(estimate: Estimate, *, interval: str, level: float, unit: str) -> str:
    """Say a system's result in one phrase, one-sided outside the subjects' range.

    Parameters
    ----------
    estimate : Estimate
    interval : {"prediction", "mean", "calibration"}
        The headline's.
    level : float
    unit : str
        Of experience.
    """
    if estimate.side == "above":
        return f"at least {number(estimate.bound)} {unit} ({percent(level)} one-sided)"
    if estimate.side == "below":
        return f"at most {number(estimate.bound)} {unit} ({percent(level)} one-sided)"
    ends = interval_text(estimate.interval(interval))
    value = number(estimate.headline(interval))
    return f"{value} {unit} ({percent(level)} {INTERVALS[interval]} {ends})"
