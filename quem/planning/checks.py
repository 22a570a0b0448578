"""Warnings about a plan, as a table of rules.

Every code is explained in ``docs/reference/warnings``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from quem.errors import WarningRules
from quem.planning import closed_form
from quem.wording import format_count, format_number, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.errors import StudyWarning
    from quem.planning.result import PlanFindings

LONG_LIST = 12
_FEW_DEGREES_OF_FREEDOM = 10

_RULES: WarningRules[PlanFindings] = WarningRules()


def find_warnings(plan: PlanFindings) -> Iterator[StudyWarning]:
    """Yield the warnings of a plan."""
    return _RULES.find(plan)


@_RULES.add("width-not-reached")
def _width_not_reached(plan: PlanFindings) -> Iterator[str]:
    width = plan.settings.width
    if width is not None and plan.recommended is None:
        yield " ".join(_nearest_and_needed(plan, width))


def _nearest_and_needed(plan: PlanFindings, width: float) -> Iterator[str]:
    """Name the nearest design, and what would reach the width."""
    design, most = plan.design(plan.nearest), int(plan.designs.subjects[-1])
    yield (
        f"no design in the search reaches ± {width:g} {plan.unit}; the nearest is ± "
        f"{format_number(plan.best_half_width(plan.nearest), 2)} with {design.words}."
    )
    noise, variance = plan.assumptions.noise, plan.experience_variance
    if plan.half_width_limit > width:
        allowed = closed_form.largest_variance(width, 1e6, variance, plan.level) ** 0.5
        yield (
            "No number of subjects, judges, and problems can: the SD between people of equal "
            f"experience, {format_number(noise.person, 2)} {plan.unit}, alone leaves ± "
            f"{format_number(plan.half_width_limit, 2)}. Recruit people who are more alike, with "
            f"an SD below {format_number(float(allowed), 2)}."
        )
        return
    if plan.limit_of_subjects > width:
        yield (
            f"With {format_count(most, 'subject')} no number of judges and problems can (± "
            f"{format_number(plan.limit_of_subjects, 2)} at best)."
        )
    shared = closed_form.average_variance(noise, plan.designs.judges[-1], plan.designs.problems[-1])
    needed = closed_form.subjects_needed(width, float(shared), variance, plan.level)
    judges, problems = int(plan.designs.judges[-1]), int(plan.designs.problems[-1])
    of = f"{format_count(judges, 'judge')} and {format_count(problems, 'problem')}"
    if needed is None:
        yield f"With {of} no number of subjects can; try more problems, then more judges."
    elif needed > most:
        yield f"With {of} you need {format_count(needed, 'subject')}."


@_RULES.add("formula-optimistic", remedy="the simulation decides")
def _formula_optimistic(plan: PlanFindings) -> Iterator[str]:
    width = plan.settings.width
    if width is None or plan.recommended is None:
        return
    half_width = plan.designs.half_width.flat
    wrong = [i for i in plan.trials if not plan.reaches(i) and half_width[i] <= width]
    if wrong:
        designs = "1 design meets" if len(wrong) == 1 else f"{len(wrong)} designs meet"
        yield f"{designs} the target by the closed form but not in simulation"


@_RULES.add(
    "noise-assumed",
    remedy="estimate them from a pilot (`quem plan STUDY`) or set them (`--noise`, `--person`)",
)
def _noise_assumed(plan: PlanFindings) -> Iterator[str]:
    if plan.assumed:
        yield "the SDs are assumed (low)"


@_RULES.add("pilot-incomplete", remedy="add a second judge or problem to the pilot")
def _pilot_incomplete(plan: PlanFindings) -> Iterator[str]:
    pilot = plan.components
    if pilot is None or not pilot.missing_dimension:
        return
    if pilot.missing_dimension == "judge":
        reason = "no two judges ranked the same problem" if pilot.judges > 1 else "it has one judge"
    else:
        reason = "no judge ranked two problems" if pilot.problems > 1 else "it has one problem"
    yield (
        f"the pilot cannot separate the SDs of solution, judge, and taste ({reason}), so they are "
        "assumed in the proportions of low noise, 1 to 1 to 0.5"
    )


@_RULES.add("pilot-negative-variance")
def _pilot_negative_variance(plan: PlanFindings) -> Iterator[str]:
    names = plan.components.negative_variance if plan.components else ()
    if names:
        observed = (
            "variance estimate for {} is negative and is"
            if len(names) == 1
            else "variance estimates for {} are negative and are"
        ).format(join_words(names))
        yield f"the pilot's {observed} set to 0; set it yourself, for example `--{names[0]} 1`"


@_RULES.add("pilot-small")
def _pilot_small(plan: PlanFindings) -> Iterator[str]:
    pilot = plan.components
    if pilot is None or pilot.df >= _FEW_DEGREES_OF_FREEDOM or "person" in plan.replaced:
        return
    low, high = pilot.person_interval
    design = plan.design(plan.suggested_index)
    worse = plan.formula(design, replace(plan.assumptions.noise, person=high))
    yield (
        f"with {format_count(pilot.df, 'degree')} of freedom in the pilot the "
        f"between-person SD may be {format_number(low)} to {format_number(high)} {plan.unit} "
        f"(about 90% confidence); at the upper end {design.words} give ± "
        f"{format_number(worse, 2)}"
    )


@_RULES.add("long-lists")
def _long_lists(plan: PlanFindings) -> Iterator[str]:
    subjects = plan.design(plan.suggested_index).subjects
    length = subjects + plan.assumptions.systems
    if length > LONG_LIST:
        yield (
            f"with {format_count(subjects, 'subject')} a judge ranks {length} solutions in one "
            f"list, and about {LONG_LIST} are manageable; use blocks of 8, with an error 8% to 10% "
            "larger than computed here"
        )
