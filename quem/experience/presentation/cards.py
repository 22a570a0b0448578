"""The two cards below the scale: what a result is based on, and what to know before quoting it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import stdtrit

from quem.experience.presentation.blinding import blinding_said
from quem.experience.presentation.summary import amounts
from quem.experience.presentation.verdict import best_first, is_wide, short_value
from quem.experience.skill import FEWEST_SUBJECTS, SIGNIFICANT
from quem.experience.wording import only_source
from quem.wording import (
    format_count,
    format_interval,
    format_number,
    format_p,
    format_percent,
    join_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quem.experience.estimate import Estimate
    from quem.experience.influence import LeaveOneOut
    from quem.experience.result import ExperienceFindings

# A test that passes by less is weak evidence.
_CLEARLY = 0.01
# Kendall's W: from here judges agree well, and from here in part.
_AGREE, _PARTLY = 0.7, 0.4
# Of the half-width of an interval: what moves an estimate further matters, or decides it.
_MATTERS, _DECIDES = 1 / 3, 1.0


@dataclass(frozen=True)
class Check:
    """One line of a card."""

    sign: Literal["good", "warn", "bad"]
    title: str  # a short sentence
    text: str  # the number behind it


def counts(findings: ExperienceFindings) -> list[tuple[str, str]]:
    """Count what a result is made of: number and noun."""
    n = findings.function.n
    known = [(f"{n:,}", "people" if n > 1 else "person")]
    for count, noun in amounts(findings):
        known.append((f"{count:,}", noun if count == 1 else f"{noun}s"))
    return known


def basis(findings: ExperienceFindings) -> list[Check]:
    """Say how sound the ground of a result is."""
    checks = [_experience(findings), *_agreement(findings)]
    if findings.gate.passed:
        checks += _single(findings, "person", findings.subjects)
        checks += _single(findings, "judge", findings.judges)
    return checks


def _experience(findings: ExperienceFindings) -> Check:
    function, p = findings.function, format_p(findings.p_value)
    reasons = findings.gate.reasons
    if not reasons:
        explained = f"the line explains {format_percent(round(function.r_squared, 2))} of"
        text = f"{p}; {explained} the differences between the people."
        if findings.p_value < _CLEARLY:
            return Check("good", "More experienced people were ranked higher", text)
        text = f"{p}, only just; with {function.n} people this is weak evidence."
        return Check("warn", "More experienced people were ranked higher, but not clearly", text)
    if "decreasing-skill-function" in reasons and findings.p_value < SIGNIFICANT:
        return Check("bad", "More experienced people were ranked lower", f"{p}.")
    if reasons == ("few-subjects",):
        text = f"{format_count(function.n, 'person').replace('persons', 'people')}; at least "
        return Check("bad", "Too few people", f"{text}{FEWEST_SUBJECTS} are needed.")
    text = f"{p}; years are stated only where p is below .05 and the line rises."
    return Check("bad", "No clear relation of experience and rank", text)


def _agreement(findings: ExperienceFindings) -> Iterator[Check]:
    agreement = findings.agreement
    if agreement is None:
        return
    if agreement.overall.n_judges < 2:  # noqa: PLR2004  nobody to agree with
        text = "Nobody knows how another judge would have ranked."
        yield Check("warn", "Everything depends on one judge", text)
        return
    w = agreement.overall.kendall_w
    if not np.isfinite(w):
        return
    each = [c.kendall_w for c in agreement.problems.values() if np.isfinite(c.kendall_w)]
    text = f"{'Mean ' if len(each) > 1 else ''}Kendall’s W {format_number(w, 2)}"
    if 1 < len(each) <= 6:  # noqa: PLR2004  more are in the table
        text += f" ({', '.join(format_number(x, 2) for x in each)} on the problems)"
    if w >= _AGREE and min(each) >= _PARTLY:
        yield Check("good", "The judges agree", f"{text}.")
    elif w >= _PARTLY:
        yield Check("warn", "The judges agree only in part", f"{text}.")
    else:
        yield Check("bad", "The judges hardly agree", f"{text}.")


def _single(
    findings: ExperienceFindings, what: str, left_out: Sequence[LeaveOneOut]
) -> Iterator[Check]:
    """Say how far the estimate moves without one person or judge, of the system it moves most."""
    alone = [
        f"{findings.name_of(estimate.system)} {source}"
        for estimate in findings.estimates
        if (source := only_source(left_out, estimate.system))
    ]
    if alone:
        text = f"Everything said of {join_words(alone)}."
        yield Check("bad", f"One {what} saw a system alone", text)
    worst: tuple[float, Estimate, LeaveOneOut] | None = None
    for estimate in best_first(findings):
        if only_source(left_out, estimate.system):
            continue
        half = np.diff(estimate.prediction)[0] / 2
        for left in left_out:
            if left.system == estimate.system and np.isfinite(left.change) and half > 0:
                share = abs(left.change) / half
                if worst is None or share > worst[0]:
                    worst = float(share), estimate, left
    if worst is None:
        return
    share, estimate, left = worst
    unit = findings.study.spec.experience_unit
    known = [e.estimate for e in left_out if e.system == estimate.system]
    low, high = np.nanmin(known), np.nanmax(known)
    of = f"{findings.name_of(estimate.system)}: " if len(findings.estimates) > 1 else ""
    if share <= _MATTERS:
        text = f"{of}Leaving out any one {what} gives {format_interval((low, high))} {unit}."
        yield Check("good", f"No single {what} decides the result", text)
        return
    title = f"One {what} {'decides the result' if share > _DECIDES else 'matters much'}"
    text = (
        f"{of}Without {left.id} the estimate moves from {format_number(estimate.experience)} to "
        f"{format_number(left.estimate)}."
    )
    yield Check("bad" if share > _DECIDES else "warn", title, text)


def before_quoting(findings: ExperienceFindings) -> list[Check]:
    """Say what a reader has to know before they quote a result."""
    checks = []
    if findings.gate.passed and findings.estimates:
        checks += [*_range(findings), *_jagged(findings), *_width(findings)]
    elif findings.estimates:
        checks += _without_years(findings)
    text = "Other judges, or another kind of problem, can give another answer."
    checks.append(Check("warn", "Holds for these judges and problems", text))
    return [*checks, *([Check(*said)] if (said := blinding_said(findings)) else [])]


def _range(findings: ExperienceFindings) -> Iterator[Check]:
    y, unit = findings.function.y, findings.study.spec.experience_unit
    low, high = f"{y.min():g}", f"{y.max():g}"
    outside = [e for e in findings.estimates if e.side != "inside"]
    if not outside:
        text = f"The people had {low} to {high} {unit}, so nothing is extrapolated."
        yield Check("good", "Inside the range of the people", text)
        return
    names = ""
    if len(findings.estimates) > 1:
        names = f": {join_words(findings.name_of(e.system) for e in outside)}"
    texts = []
    if any(e.side == "above" for e in outside):
        texts.append(
            f"The most experienced person had {high} {unit}. To find the upper end, include people "
            "with more."
        )
    if any(e.side == "below" for e in outside):
        texts.append(
            f"The least experienced person had {low} {unit}. To find the lower end, include people "
            "with less."
        )
    if any(e.side == "outside" for e in outside):
        texts.append("A curve that turns within the people’s range gives no valid interval there.")
    yield Check("warn", f"Outside the range of the people{names}", " ".join(texts))


def _jagged(findings: ExperienceFindings) -> Iterator[Check]:
    names = [
        findings.name_of(system)
        for system, profile in findings.profiles.items()
        if profile.is_jagged
    ]
    if names:
        text = "See how it does on each problem. The number is an average over these problems only."
        yield Check("bad", f"Do not quote {join_words(names)} by the number alone", text)


def _width(findings: ExperienceFindings) -> Iterator[Check]:
    """Where intervals pin nothing down: quote them, and what would narrow them."""
    wide = [e for e in best_first(findings) if e.side == "inside" and is_wide(findings, e)]
    if not wide:
        return
    first, unit = wide[0], findings.study.spec.experience_unit
    value = short_value(findings, first).removeprefix("about ")
    of = f" of {findings.name_of(first.system)}" if len(findings.estimates) > 1 else ""
    text = f"{format_interval(first.interval(findings.settings.interval))} {unit}."
    yield Check("bad", f"Do not quote the {value}{of} without the interval", text)
    text = _more_people(findings, first)
    if text:
        yield Check("warn", "More people would help most", text)


def _more_people(findings: ExperienceFindings, estimate: Estimate) -> str:
    """The half-width with twice as many people who are spread alike, by the formula."""
    function, settings = findings.function, findings.settings
    if function.form.name != "linear":
        return ""
    df = 2 * function.n - function.form.n_coefficients
    s = function.residual_sd**2
    mean = (estimate.error**2 - s) / 2
    half = stdtrit(df, (1 + settings.level) / 2) * np.sqrt(s + max(mean, 0.0))
    now = np.diff(estimate.prediction)[0] / 2
    # What few ranks or jaggedness add would stay.
    added = estimate.widened or estimate.jagged
    if settings.interval != "prediction" or added or not half < now:
        return ""
    return (
        f"{2 * function.n} people instead of {function.n}, spread alike, would narrow it from "
        f"± {format_number(now)} to about ± {format_number(half)} "
        f"{findings.study.spec.experience_unit}."
    )


def _without_years(findings: ExperienceFindings) -> Iterator[Check]:
    averages = findings.averages
    people = averages.average[averages.of_kind("subject")]
    best = best_first(findings)[0]
    below = int((people < best.average_rank - 1e-9).sum())
    name = findings.name_of(best.system)
    many = "" if len(findings.estimates) == 1 else "s"
    title = f"This does not say that the system{many} {'are' if many else 'is'} bad"
    yield Check("warn", title, f"{name} was ranked above {below} of the {len(people)} people.")
    reasons = findings.gate.reasons
    if reasons == ("few-subjects",):
        text = f"Include {FEWEST_SUBJECTS} people at least; 7 or more are better."
    elif "decreasing-skill-function" in reasons and findings.p_value < SIGNIFICANT:
        text = "Ask the judges whether they gave 1 to the worst."
    else:
        text = (
            "Include more people, or people who differ more in experience; or use another "
            "yardstick, such as an examination grade."
        )
    yield Check("warn", "What to do", text)
