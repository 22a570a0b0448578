"""How experience is written for people, beside the words of all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.experience.skill import SIGNIFICANT
from quem.wording import format_interval, format_number, format_p, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.experience.estimate import Estimate
    from quem.experience.hierarchical import ModelEstimate
    from quem.experience.influence import LeaveOneOut
    from quem.experience.profile import Profile
    from quem.experience.result import ExperienceFindings

# Averages closer than this are equal.
_ROUNDING = 1e-9

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
    "curved-skill": "quality rises ever slower with experience, and near the top of such a curve "
    "estimates are too low, in simulations by 2 to 4 of 19 years",
}


def position_text(findings: ExperienceFindings, estimate: Estimate) -> str:
    """Say where a system is among the subjects, where the data allow no years."""
    name = findings.name_of(estimate.system)
    place = place_among_subjects(findings, estimate)
    jagged = jagged_text(name, findings.profiles.get(estimate.system))
    return f"{name}: no years. {gate_reason(findings)} {place} {jagged}".rstrip()


def gate_reason(findings: ExperienceFindings) -> str:
    """Say why the data allow no years."""
    reasons, p = findings.gate.reasons, format_p(findings.p_value)
    if "decreasing-skill-function" in reasons and findings.p_value < SIGNIFICANT:
        return (
            f"With these people average rank falls with experience ({p}); are the ranks upside "
            "down?"
        )
    if reasons != ("few-subjects",):
        return f"With these people average rank does not clearly rise with experience ({p})."
    miss = "23 to 36" if findings.function.n < 4 else "8 to 15"  # noqa: PLR2004  of simulated studies
    return (
        f"{findings.function.n} subjects are too few: of such intervals that pass the test, {miss} "
        "in 100 miss, where 5 should."
    )


def place_among_subjects(findings: ExperienceFindings, estimate: Estimate) -> str:
    """Say how many subjects a system is above, and its neighbors among them."""
    name = findings.name_of(estimate.system)
    averages, unit = findings.averages, findings.study.spec.experience_unit
    x = estimate.average_rank
    subjects = averages.of_kind("subject")
    off = averages.average[subjects] - x
    off[np.abs(off) < _ROUNDING] = 0.0
    near = []
    for side, where in ((off < 0, "below"), (off == 0, "level"), (off > 0, "above")):
        if side.any():
            at = subjects[side][np.abs(off[side]).argmin()]
            near.append(f"{averages.solvers[at]}, {averages.experience[at]:.3g} {unit}, {where}")
    return (
        f"{name}'s average rank {format_number(x)} is above {(off < 0).sum()} of the "
        f"{len(subjects)} subjects (nearest: {'; '.join(near)})."
    )


def only_source(lefts: Iterable[LeaveOneOut], system: str) -> str:
    """Name the judge or problem whom all ranks of a system are of; empty where there are more."""
    alone = [left.id for left in lefts if (left.system, left.reason) == (system, "no-other-ranks")]
    return f"depends on {alone[0]} alone" if alone else ""


def jagged_text(name: str, profile: Profile | None, *, test: bool = True) -> str:
    """Say that no single number describes a system; empty where it varies as people do."""
    if profile is None or not profile.is_jagged:
        return ""
    text = variation(profile)
    if not test:
        text = text[: text.index(" (F")]
    return f"No single level of experience describes {name}: it {text}."


def variation(profile: Profile) -> str:
    """Say how much more than people a system varies, with the test."""
    return (
        f"varies {format_number(profile.ratio)} times as much from problem to problem as people do "
        f"(F({profile.df}, {profile.df_people}) = {format_number(profile.f)}, "
        f"{format_p(profile.p)})"
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
    """Say a system's result in one phrase, one-sided outside the subjects' range."""
    value, certainty = _value(estimate, interval, level)
    return f"{value} {unit} ({certainty})"


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
