"""How experience is written for people, beside the words of all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.wording import format_interval, format_number, format_p, format_percent

if TYPE_CHECKING:
    from quem.experience.estimate import Estimate
    from quem.experience.profile import Profile

__all__ = [
    "INTERVALS",
    "SIGNIFICANT",
    "caveat",
    "jagged_text",
    "sentence",
    "statement",
]

SIGNIFICANT = 0.05

INTERVALS = {
    "prediction": "prediction interval",
    "mean": "confidence interval for the mean",
    "calibration": "calibration interval",
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


def statement(estimate: Estimate, *, interval: str, level: float, unit: str) -> str:
    """Say a system's result in one phrase, one-sided outside the subjects' range.

    Parameters
    ----------
    interval : {"prediction", "mean", "calibration"}
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
    if estimate.side in ("above", "below"):
        least = "at least" if estimate.side == "above" else "at most"
        certainty = f"one-sided {format_percent(level)} prediction bound"
        return f"{least} {format_number(estimate.bound)}", certainty
    value = format_number(estimate.headline(interval))
    if estimate.side == "outside":
        return value, "extrapolated; no valid interval or bound"
    ends = format_interval(estimate.interval(interval))
    return value, f"{format_percent(level)} {INTERVALS[interval]} {ends}"
