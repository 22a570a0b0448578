"""What the report of an analysis shows, as text and tables ready to be laid out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.experience.showing.methods import methods_paragraph, references
from quem.experience.showing.sections import sections
from quem.experience.showing.summary import averaged, equation, system_name
from quem.experience.wording import INTERVALS, caveat, chance, interval_text, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.experience.estimate import Estimate
    from quem.experience.findings import Findings

__all__ = ["Answer", "Dependence", "report_context"]


@dataclass(frozen=True)
class Dependence:
    """How far the estimate moves when one thing is changed.

    Parameters
    ----------
    what : str
    low, high : str
        The lowest and highest estimate.
    low_by, high_by : str
        Which change gives them.
    """

    what: str
    low: str
    low_by: str
    high: str
    high_by: str


@dataclass(frozen=True)
class Answer:
    """A system's result, as the first screen says it.

    Parameters
    ----------
    name : str
    lead : str
        "at least", "at most" or nothing.
    value : str
        The number.
    interval : str
        The headline's, "one-sided" where there is only a bound.
    detail : str
        The interval in words, or why there is only a bound.
    chances : list of (str, str)
        Years, and the probability of at least so many.
    dependences : list of Dependence
    """

    name: str
    lead: str
    value: str
    interval: str
    detail: str
    chances: list[tuple[str, str]]
    dependences: list[Dependence]


def report_context(found: Findings) -> dict[str, Any]:
    """Give what the template ``report/experience.html`` shows.

    Parameters
    ----------
    found : Findings
    """
    spec = found.study.spec
    return {
        "title": spec.title,
        "study_id": spec.id,
        "description": spec.description,
        "unit": spec.experience_unit,
        "answers": [_answer(found, estimate) for estimate in found.estimates],
        "interval_name": f"{percent(found.settings.level)} {INTERVALS[found.settings.interval]}",
        "n_systems": len(found.estimates),
        "equation": equation(found),
        "first_figure": "estimate" if found.estimates else "skill-function",
        "sections": sections(found),
        "methods": methods_paragraph(found),
        "references": references(found),
        "caveat": caveat(found.p_value, found.function.falling_share),
        "settings": [
            (key, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
            for key, value in found.settings.model_dump(mode="json").items()
        ],
        "captions": _captions(found),
    }


def _captions(found: Findings) -> dict[str, str]:
    """What stands below each figure, with the name of what the skill function is fitted to."""
    if not found.pooled:
        return CAPTIONS
    return {stem: text.replace("average rank", averaged(found)) for stem, text in CAPTIONS.items()}


CAPTIONS = {
    "estimate": "Skill function with its bands. The dashed line leads from a system's average rank "
    "to its experience; the bar at the left is its prediction interval, or all "
    "that its one-sided bound leaves.",
    "skill-function": "The subjects' experience against their average rank, and the "
    "skill function.",
    "sensitivity": "The estimate and its prediction interval without each judge, subject and "
    "problem, and under other settings, one at a time.",
    "influence": "How far each subject lies from the skill function, and how much each bends it.",
    "agreement": "Rank correlation of the judges on each problem: 1 is the same order, "
    "−1 the reverse.",
    "ranks": "Every rank that each solver got; the larger the dot, the more often.",
}


def _answer(found: Findings, estimate: Estimate) -> Answer:
    settings = found.settings
    unit = found.study.spec.experience_unit
    if estimate.side in ("above", "below"):
        lead = "at least" if estimate.side == "above" else "at most"
        value, interval = number(estimate.bound), "one-sided"
        detail = (
            f"with {percent(settings.level)} confidence, one-sided: the system lies "
            f"{estimate.side} the subjects' range, where only this bound holds. The line alone "
            f"would say {number(estimate.experience)}."
        )
    else:
        lead, value = "", number(estimate.headline(settings.interval))
        interval = interval_text(estimate.interval(settings.interval))
        detail = f"{percent(settings.level)} {INTERVALS[settings.interval]}: {interval}"
    return Answer(
        system_name(found, estimate.system),
        lead,
        value,
        interval,
        detail,
        [(f"{years:g} {unit}", chance(p)) for years, p in estimate.at_least],
        list(_dependences(found, estimate.system)),
    )


def _dependences(found: Findings, system: str) -> Iterator[Dependence]:
    """The range of a system's estimate over all changes of a sort."""
    groups = {
        f"each {what}": [
            (left.estimate, f"without {left.id}") for left in lefts if left.system == system
        ]
        for what, lefts in (
            ("judge", found.judges),
            ("subject", found.subjects),
            ("problem", found.problems),
        )
    }
    groups["each setting"] = [
        (variant.estimate, variant.label) for variant in found.variants if variant.system == system
    ]
    for what, changes in groups.items():
        known = sorted(change for change in changes if np.isfinite(change[0]))
        if known:
            (low, low_by), (high, high_by) = known[0], known[-1]
            yield Dependence(what, number(low), low_by, number(high), high_by)
    if found.bootstrap and system in found.bootstrap.intervals:
        low, high = found.bootstrap.intervals[system]
        by = f"{percent(found.settings.level)} of resamples"
        yield Dependence("all drawn anew", number(low), "", number(high), by)
