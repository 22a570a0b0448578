"""Warnings about a plan; ``docs/reference/warnings.md`` explains every code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import QuemError, WarningRules
from quem.planning.settings import COMPONENTS
from quem.wording import format_count, format_interval, format_number, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.planning.result import PlanFindings

_LONG_LIST, _FEW_DF, _MOST_SUBJECTS = 12, 10, 1000

RULES: WarningRules[PlanFindings] = WarningRules()


@RULES.add("width-not-reached")
def _width_not_reached(plan: PlanFindings) -> Iterator[str]:
    width = plan.asked.width
    if width is None or plan.recommended is not None:
        return
    nearest, limit = plan.nearest, plan.used.limit
    text = (
        f"no design in the search reaches ± {width:g} {plan.unit}; the nearest is ± "
        f"{format_number(nearest.half_width, 2)} with {nearest.design}"
    )
    counts = np.arange(nearest.subjects + 1, _MOST_SUBJECTS + 1)
    enough = counts[plan.used.half_width(counts, *nearest.size[1:]) <= width]
    if limit > width:
        person = format_number(plan.used.noise.person, 2)
        yield (
            f"{text}. No number of subjects, judges, and problems can: the SD between people of "
            f"equal experience, {person} {plan.unit}, alone leaves ± {format_number(limit, 2)}. "
            "Recruit people who are more alike, or accept a wider interval"
        )
    elif len(enough):
        yield f"{text}. By the closed form it takes {format_count(int(enough[0]), 'subject')}"
    else:
        yield f"{text}; try more problems, then more judges"


@RULES.add(
    "noise-assumed",
    remedy="estimate them from a pilot (`quem plan STUDY`) or set them (`--noise`, `--person`)",
)
def _noise_assumed(plan: PlanFindings) -> Iterator[str]:
    if not plan.pilot and not plan.asked.noise and len(plan.replaced) < len(COMPONENTS):
        yield "the SDs are assumed (low)"


@RULES.add("pilot-incomplete", remedy="add a second judge or problem to the pilot")
def _pilot_incomplete(plan: PlanFindings) -> Iterator[str]:
    if plan.pilot and plan.pilot.missing_dimension:
        ranked = "no two judges ranked the same problem"
        reason = (
            ranked if plan.pilot.missing_dimension == "judge" else "no judge ranked two problems"
        )
        yield (
            f"the pilot cannot separate the SDs of solution, judge, and taste ({reason}), so they "
            "are assumed in the proportions of low noise, 1 to 1 to 0.5"
        )


@RULES.add("pilot-negative-variance")
def _pilot_negative_variance(plan: PlanFindings) -> Iterator[str]:
    names = plan.pilot.negative_variance if plan.pilot else ()
    if names := tuple(name for name in names if name not in plan.replaced):
        yield (
            f"the pilot shows no variance of {join_words(names)}, taken as 0; set it yourself, "
            f"for example `--{names[0]} 1`"
        )


@RULES.add("pilot-small")
def _pilot_small(plan: PlanFindings) -> Iterator[str]:
    pilot = plan.pilot
    if pilot is None or pilot.df >= _FEW_DF or "person" in plan.replaced:
        return
    interval = format_interval((pilot.person_low, pilot.person_high))
    design = plan.suggested
    used = replace(plan.used, noise=replace(plan.used.noise, person=pilot.person_high))
    worse = float(used.half_width(*design.size))
    yield (
        f"with {format_count(pilot.df, 'degree')} of freedom in the pilot the between-person SD "
        f"may be {interval} {plan.unit} (about 90% confidence); at the upper "
        f"end {design.design} give ± {format_number(worse, 2)}"
    )


@RULES.add("pilot-outside")
def _pilot_outside(plan: PlanFindings) -> Iterator[str]:
    if plan.study is None:
        return
    from quem.parts import analyze_experience

    try:
        core = analyze_experience(plan.study).core
    except QuemError:
        return  # a pilot that cannot be analyzed can still show its noise
    least, most = core.line.y.min(), core.line.y.max()
    for side, where, people in (
        (1, "above", f"{most:g} to {core.population.high:g}"),
        (-1, "below", f"less than {least:g}"),
    ):
        names = [of.name for of in core.estimates if core.is_within(of.rank) == side]
        if names and (side > 0 or least > 0):
            yield (
                f"{join_words(names)} ranked {where} all subjects of the pilot ({least:g} to "
                f"{most:g} {plan.unit}); recruit people of {people} {plan.unit} too"
            )


@RULES.add("long-lists")
def _long_lists(plan: PlanFindings) -> Iterator[str]:
    subjects = plan.suggested.subjects
    length = subjects + plan.used.systems
    if length > _LONG_LIST:
        yield (
            f"with {format_count(subjects, 'subject')} a judge ranks {length} solutions in one "
            f"list, and about {_LONG_LIST} are manageable; use blocks of 8, with an error 8% to "
            "10% larger than computed here"
        )
