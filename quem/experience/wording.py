"""How experience is written for people, beside the words of all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.wording import format_interval, format_number, format_p, format_percent

if TYPE_CHECKING:
    from quem.experience.estimate import Estimate
    from quem.experience.hierarchical import ModelEstimate
    from quem.experience.profile import Profile

__all__ = [
    "INTERVALS",
    "SIGNIFICANT",
    "caveat",
    "format_ends",
    "jagged_text",
    "model_text",
    "sentence",
    "statement",
]

SIGNIFICANT = 0.05

INTERVALS = {
    "prediction": "prediction interval",
    "mean": "confidence interval for the mean",
    "calibration": "calibration interval",
    "hierarchical": "interval of a typical person",
}
# Why the interval of a typical person is that of one further person.
_FALLBACKS = {
    "one-judge": "with one judge taste cannot be separated from persons",
    "one-problem": "with one problem solutions cannot be separated from persons",
    "person-not-seen": "the subjects differ no more than judges and problems explain",
    "nearly-certain-order": "the judges hardly ever differ, so ranks are an order and no scale",
    "curved-skill": "quality rises ever slower with experience",
}


def caveat(p_value: float, falling: float) -> str:
    """Say why an estimate must not be used; empty if experience is related to quality.

    Parameters
    ----------
    p_value : float
        Of the test over subjects.
    falling : float
        The share of the subjects' range over which experience falls with quality.
    """
    if falling == 1:
        return (
            "In these data experience decreases as quality increases, so this estimate does not "
            "measure skill."
        )
    if not p_value < SIGNIFICANT:
        return (
            "These data do not show an association between experience and quality "
            f"({format_p(p_value)}); do not interpret this estimate."
        )
    return ""


def jagged_text(name: str, profile: Profile | None) -> str:
    """Say that no single number describes a system; empty where it varies as people do."""
    if profile is None or not profile.is_jagged:
        return ""
    return (
        f"No single level of experience describes {name}: it varies "
        f"{format_number(profile.ratio)} times as much from problem to problem as people do "
        f"(F({profile.df}, {profile.df_people}) = {format_number(profile.f)}, "
        f"{format_p(profile.p)})."
    )


def model_text(model: ModelEstimate | None, level: float, unit: str) -> str:
    """Say what the model of persons, problems, and judges gives; empty where it gives nothing."""
    if model is None or np.isnan(model.peer).any():
        return ""
    text = (
        f"In a model of persons, problems, and judges: {format_number(model.experience)} {unit}; "
        f"{format_percent(level)} interval of "
    )
    if model.fallback:
        why = f"there is none of a typical person, because {_FALLBACKS[model.fallback]}"
        return f"{text}one further person {format_ends(model.peer)} ({why})."
    return (
        f"{text}a typical person {format_ends(model.typical)}, of one further person "
        f"{format_ends(model.peer)}."
    )


def format_ends(interval: tuple[float, float]) -> str:
    """Write an interval of which one end can be open: "3.6 to 10.9", "at least 3.6"."""
    low, high = interval
    if np.isposinf(high):
        return f"at least {format_number(low)}"
    if np.isneginf(low):
        return f"at most {format_number(high)}"
    return format_interval(interval)


def statement(estimate: Estimate, *, interval: str, level: float, unit: str) -> str:
    """Say a system's result in one phrase, one-sided outside the subjects' range.

    Parameters
    ----------
    interval : {"prediction", "mean", "calibration", "hierarchical"}
        The headline's.
    unit : str
        Of experience.
    """
    value, certainty = _value(estimate, interval, level)
    return f"{value} {unit} ({certainty})"


def sentence(
    name: str,
    estimate: Estimate,
    profile: Profile | None,
    *,
    interval: str,
    level: float,
    unit: str,
) -> str:
    """Say a system's result in a sentence or two, for readers who have not heard of the method."""
    value, certainty = _value(estimate, interval, level)
    if jagged := jagged_text(name, profile):
        return f"{jagged} On average over these problems {value} {unit} ({certainty})."
    return (
        f"{name} is estimated to perform like a person with {value} {unit} of experience "
        f"({certainty})."
    )


def _value(estimate: Estimate, interval: str, level: float) -> tuple[str, str]:
    """The number, with "at least" or "at most" before a bound, and how sure it is."""
    if interval == "hierarchical":
        ends = format_ends(estimate.interval(interval))
        value = format_number(estimate.headline(interval))
        return value, f"{format_percent(level)} {INTERVALS[interval]} {ends}"
    if estimate.side in ("above", "below"):
        least = "at least" if estimate.side == "above" else "at most"
        certainty = f"one-sided {format_percent(level)} prediction bound"
        return f"{least} {format_number(estimate.bound)}", certainty
    value = format_number(estimate.headline(interval))
    if estimate.side == "outside":
        return value, "extrapolated; no valid interval or bound"
    ends = format_interval(estimate.interval(interval))
    return value, f"{format_percent(level)} {INTERVALS[interval]} {ends}"
