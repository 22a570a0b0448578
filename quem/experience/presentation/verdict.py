"""The verdict: what a study found, in one sentence, and how sure it is, in another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.presentation.machines import not_drawn, used_text
from quem.experience.presentation.panel import panel_text, wide_text
from quem.experience.presentation.summary import equation
from quem.experience.wording import (
    INTERVALS,
    format_ends,
    gate_reason,
    jagged_text,
    model_text,
    place_among_subjects,
    statement,
)
from quem.wording import format_interval, format_number, format_p, format_percent, join_words

if TYPE_CHECKING:
    from quem.experience.estimate import Estimate
    from quem.experience.result import ExperienceFindings

# Smaller numbers have a decimal.
_FEW = 2
# Systems; with more, what the model gives is said of each farther down.
_MOST_NAMED = 2


@dataclass(frozen=True)
class Verdict:
    """What the first screen says before any figure."""

    title: str  # the result in plain words
    lead: list[str]  # how sure it is: paragraphs
    # What is said after the scale: what the model of persons, problems, and judges gives, or where
    # each of several systems is among the subjects.
    second: list[str]


def verdict(findings: ExperienceFindings) -> Verdict:
    """Say what a study found."""
    estimates = best_first(findings)
    if not estimates:
        title = "No system has ranks; only the skill function is reported."
        return Verdict(title, [f"{equation(findings)}."], [])
    if not findings.gate.passed:
        names = [findings.name_of(e.system) for e in estimates]
        whose = f"{names[0]}’s" if len(names) == 1 else "the systems’"
        unit = findings.study.spec.experience_unit
        places = [place_among_subjects(findings, e) for e in estimates]
        title = f"This study cannot state {whose} skill in {unit}."
        reason = gate_reason(findings)
        jagged = [jagged_text(findings.name_of(s), p) for s, p in findings.profiles.items()]
        lead = [" ".join(filter(None, [reason, *jagged]))]
        if len(places) == 1:
            lead = [f"{reason} {places[0]} {jagged[0] if jagged else ''}".rstrip()]
        return Verdict(title, lead, places if len(places) > 1 else [])
    several = len(estimates) > 1
    known = ((e, _model(findings, e)) for e in estimates)
    second = [
        f"{findings.name_of(e.system)}: {text}" if several else text for e, text in known if text
    ]
    if len(estimates) > _MOST_NAMED:
        second = []
    if several:
        return _several(findings, estimates, second)
    (only,) = estimates
    return Verdict(_title(findings, only), [_lead(findings, only), *_alone(findings)], second)


def _alone(findings: ExperienceFindings) -> list[str]:
    """Say what the experts alone give, that their problems were chosen, or who was ranked."""
    return list(
        filter(
            None,
            [
                used_text(findings),
                not_drawn(findings),
                panel_text(findings),
                *wide_text(findings),
            ],
        )
    )


def _model(findings: ExperienceFindings, estimate: Estimate) -> str:
    """What the model gives, and what it leaves out."""
    unit = findings.study.spec.experience_unit
    text = model_text(estimate.model, findings.settings.level, unit)
    if text and _is_jagged(findings, estimate):
        text += " This does not allow for how much it varies from problem to problem."
    return text


def best_first(findings: ExperienceFindings) -> list[Estimate]:
    """Give the systems by average rank, the best first."""
    return sorted(findings.estimates, key=lambda estimate: -estimate.average_rank)


def rounded(value: float, direction: int = 0) -> str:
    """Write years as a headline does: whole, below 2 with one decimal."""
    digits = 1 if abs(value) < _FEW else 0
    scale = 10.0**digits
    # A bound that is exact but for its last bits is not moved by a whole year.
    scaled = round(value * scale, 9)
    whole = round(scaled) if not direction else math.floor(scaled)
    if direction > 0:
        whole = math.ceil(scaled)
    return f"{whole / scale:,.{digits}f}".replace("-", "−")


def short_value(findings: ExperienceFindings, estimate: Estimate) -> str:
    """Write a system's result as its label does: "about 7 years", "at least 7 years"."""
    return f"{_amount(findings, estimate)} {findings.study.spec.experience_unit}"


def is_wide(findings: ExperienceFindings, estimate: Estimate) -> bool:
    """Whether an interval is wider than the range of the people, so that it pins nothing down."""
    low, high = estimate.interval(findings.settings.interval)
    return bool(not high - low <= np.ptp(findings.function.y))


def _is_bound(findings: ExperienceFindings, estimate: Estimate) -> bool:
    by_model = findings.settings.interval == "hierarchical"
    return estimate.side in ("above", "below") and not by_model


def _amount(findings: ExperienceFindings, estimate: Estimate) -> str:
    if _is_bound(findings, estimate):
        if estimate.side == "above":
            return f"at least {rounded(estimate.bound, -1)}"
        return f"at most {rounded(estimate.bound, 1)}"
    return f"about {rounded(estimate.headline(findings.settings.interval))}"


def _says_nothing(findings: ExperienceFindings, estimate: Estimate) -> bool:
    """Whether a bound leaves everything open that people of the study can have."""
    people = findings.function.y
    if estimate.side == "above":
        return bool(estimate.bound <= people.min())
    return bool(estimate.bound >= people.max())


def _title(findings: ExperienceFindings, estimate: Estimate) -> str:
    name, spec = findings.name_of(estimate.system), findings.study.spec
    if jagged := jagged_text(name, findings.profiles.get(estimate.system), test=False):
        return jagged
    if _is_bound(findings, estimate) and _says_nothing(findings, estimate):
        side = "better" if estimate.side == "above" else "worse"
        return f"{name} {spec.verb} {side} than the people, but this study cannot say by how much."
    text = f"{name} {spec.verb} like someone with {short_value(findings, estimate)} of experience"
    return f"{text}{_reservation(findings, estimate)}."


def _reservation(findings: ExperienceFindings, estimate: Estimate) -> str:
    if _is_bound(findings, estimate):
        return ""
    if estimate.side == "outside" and findings.settings.interval != "hierarchical":
        return ", but no interval or bound is valid"
    return ", but this study cannot pin it down" if is_wide(findings, estimate) else ""


def _lead(findings: ExperienceFindings, estimate: Estimate) -> str:
    profile = findings.profiles.get(estimate.system)
    if profile is not None and profile.is_jagged:
        text = _with_certainty(findings, estimate)
        test = f"F({profile.df}, {profile.df_people}) = {format_number(profile.f)}"
        return f"On average over these problems {text}. {test}, {format_p(profile.p)}."
    if _is_bound(findings, estimate):
        return _bound_lead(findings, estimate)
    if estimate.side == "outside" and findings.settings.interval != "hierarchical":
        return (
            "Its average rank and its estimate leave the people’s range on different sides, so "
            "the estimate is extrapolated."
        )
    return _interval_lead(findings, estimate)


def _interval_lead(findings: ExperienceFindings, estimate: Estimate) -> str:
    """Say what the headline's interval is of, and its ends."""
    settings, unit = findings.settings, findings.study.spec.experience_unit
    low, high = ends = estimate.interval(settings.interval)
    who, kind = {
        "prediction": ("One person of that quality", INTERVALS["prediction"]),
        "mean": ("The mean of all people of that quality", INTERVALS["mean"]),
        "calibration": ("A typical person of that quality", INTERVALS["calibration"]),
        "hierarchical": _of_model(estimate),
    }[settings.interval]
    kind = f"{format_percent(settings.level)} {kind}"
    if np.isnan(ends).any():
        return f"The {kind} has no ends."
    if np.isinf(ends).any():
        return f"{who} would have {format_ends(ends)} {unit} ({kind})."
    if low < 0:
        return (
            f"{who} could have anything from no experience to {format_number(high)} {unit} "
            f"({kind} {format_interval(ends)})."
        )
    if is_wide(findings, estimate):
        return f"{who} could have anything from {format_interval(ends)} {unit} ({kind})."
    between = f"{format_number(low)} and {format_number(high)}"
    return f"{who} would have between {between} {unit} ({kind})."


def _of_model(estimate: Estimate) -> tuple[str, str]:
    """Whom the interval of the model is for: without a typical person's it is one person's."""
    if estimate.model is not None and estimate.model.fallback:
        return "One person of that quality", "interval of one further person"
    return "A typical person of that quality", INTERVALS["hierarchical"]


def _bound_lead(findings: ExperienceFindings, estimate: Estimate) -> str:
    x, above = findings.function.x, estimate.side == "above"
    side = "above" if above else "below"
    by_rank = estimate.average_rank > x.max() if above else estimate.average_rank < x.min()
    what = "average rank is" if by_rank else "estimate is"
    whose = "every person’s" if by_rank else "every person’s experience"
    level = format_percent(findings.settings.level)
    return (
        f"Its {what} {side} {whose}, so only {'a lower' if above else 'an upper'} bound holds "
        f"(one-sided {level} prediction bound: {format_number(estimate.bound)})."
    )


def _with_certainty(findings: ExperienceFindings, estimate: Estimate) -> str:
    """The number with a decimal, and its interval or bound."""
    return statement(
        estimate,
        interval=findings.settings.interval,
        level=findings.settings.level,
        unit=findings.study.spec.experience_unit,
    )


def _several(findings: ExperienceFindings, estimates: list[Estimate], second: list[str]) -> Verdict:
    """Name the best system and another one, each in the form of its case."""
    best, other = estimates[0], _other(findings, estimates)
    unit = findings.study.spec.experience_unit
    jagged = [e for e in estimates if _is_jagged(findings, e)]
    name, amount = findings.name_of(other.system), _amount(findings, other)
    if _is_jagged(findings, other):
        clause = f"no single level of experience describes {name}"
    elif _is_jagged(findings, best):
        text = f"{name} {findings.study.spec.verb} like someone with {amount} {unit} of experience"
        clause = f"{text}{_reservation(findings, other)}"
    else:
        clause = f"{name}, like someone with {amount}{_reservation(findings, other)}"
    if _reservation(findings, best) and _reservation(findings, best) == _reservation(
        findings, other
    ):
        clause = f"{name}, like someone with {amount}, likewise"
    title = f"{_title(findings, best).removesuffix('.')}; {clause}."
    lead = []
    for estimate in (best, other):
        text = _with_certainty(findings, estimate)
        average = " on average over these problems" if estimate in jagged else ""
        lead.append(f"{findings.name_of(estimate.system)}:{average} {text}")
    unnamed = [findings.name_of(e.system) for e in jagged if e not in (best, other)]
    more = f" No single level of experience describes {join_words(unnamed)}." if unnamed else ""
    return Verdict(
        title,
        [
            f"{'; '.join(lead)}.{more}",
            *_alone(findings),
            *([] if findings.on_panel else ["`quem compare` tests whether two of them differ."]),
        ],
        second,
    )


def _other(findings: ExperienceFindings, estimates: list[Estimate]) -> Estimate:
    """The oldest version of the best system, if it has others; else the second best system."""
    names = {system.id: system.name or system.id for system in findings.study.spec.systems}
    best = estimates[0].system
    ranked = {estimate.system: estimate for estimate in estimates}
    versions = [
        system.id
        for system in findings.study.spec.systems
        if system.id in ranked and system.version and names[system.id] == names.get(best)
    ]
    if len(versions) > 1 and versions[0] != best:
        return ranked[versions[0]]
    return estimates[1]


def _is_jagged(findings: ExperienceFindings, estimate: Estimate) -> bool:
    profile = findings.profiles.get(estimate.system)
    return profile is not None and profile.is_jagged
