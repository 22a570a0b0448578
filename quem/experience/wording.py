"""How experience is written for people, beside the words of all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.wording import format_interval, format_number, format_p, format_percent

if TYPE_CHECKING:
    from quem.experience.estimate import Estimate

__all__ = [
    "INTERVALS",
    "SIGNIFICANT",
    "caveat",
    "statement",
]

SIGNIFICANT = 0.05

INTERVALS = {
    "prediction": "prediction interval",
    "mean": "confidence band of the mean",
    "calibration": "calibration interval",
}


def caveat(p_value: float, falling: float) -> str:
    """Say why an estimate is not to be relied on; empty where experience does matter.

    Parameters
    ----------
    p_value : float
        Of the test over subjects.
    falling : float
        The share of the subjects' range over which experience falls with quality.
    """
    if falling == 1:
        return "Experience falls with quality here, so that this number does not measure skill."
    if not p_value < SIGNIFICANT:
        return (
            f"These subjects do not show that experience goes with quality ({format_p(p_value)}), "
            "so that this number means little."
        )
    return ""


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
        return (
            f"at least {format_number(estimate.bound)} {unit} ({format_percent(level)} one-sided)"
        )
    if estimate.side == "below":
        return f"at most {format_number(estimate.bound)} {unit} ({format_percent(level)} one-sided)"
    ends = format_interval(estimate.interval(interval))
    value = format_number(estimate.headline(interval))
    if estimate.side == "outside":
        return f"{value} {unit} by the line, which says nothing outside the subjects' range"
    return f"{value} {unit} ({format_percent(level)} {INTERVALS[interval]} {ends})"
