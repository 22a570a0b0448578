"""What a reader of a plan must know."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from quem.errors import StudyWarning
from quem.experience.wording import SIGNIFICANT
from quem.planning import closed_form
from quem.wording import format_number, format_p, format_percent, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.planning.components import Components
    from quem.planning.findings import PlanFindings

__all__ = ["LONG_LIST", "find_warnings"]

LONG_LIST = 12
_FALSE_ALARMS = 0.1
_FEW = 10
# Twice the standard error, as a part of the half-width.
_ROUGH = 0.05


def find_warnings(plan: PlanFindings) -> Iterator[StudyWarning]:
    """Yield the warnings of a plan.

    Parameters
    ----------
    plan : PlanFindings
    """
    if plan.settings.width is not None and plan.recommended is None:
        yield StudyWarning("width-not-reached", " ".join(_not_reached(plan, plan.settings.width)))
    elif plan.recommended is not None:
        yield from _overrated(plan)
    yield from _few_simulated(plan)
    if plan.assumed:
        yield StudyWarning(
            "noise-assumed",
            "the noise is an assumption (low); estimate it from a pilot (--from), or say it "
            "(--noise high, --person and others)",
        )
    yield from _of_pilot(plan)
    design = plan.design(plan.reference)
    length = design.subjects + plan.circumstances.systems
    if length > LONG_LIST:
        yield StudyWarning(
            "long-lists",
            f"a judge of {_counted(design.subjects, 'subject')} would rank {length} solutions in "
            f"one list, and about {LONG_LIST} are manageable; in balanced blocks of 8 the error is "
            "8 to 10% larger than is computed here",
        )
    false_alarms = plan.designs.false_alarms.flat[plan.reference]
    if false_alarms > _FALSE_ALARMS:
        yield StudyWarning(
            "taste-false-alarms",
            "with the tastes of these judges the test over problems would call "
            f"{format_percent(round(false_alarms, 2))} of equal pairs of systems different, and "
            "not 5%; "
            "more judges lower that",
        )


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _not_reached(plan: PlanFindings, width: float) -> Iterator[str]:
    """Say that no design reaches the width, which is nearest, and what would."""
    design, most = plan.design(plan.nearest), int(plan.designs.subjects[-1])
    yield (
        f"no design tried reaches ± {width:g} {plan.unit}; the nearest is ± "
        f"{format_number(plan.best_half_width(plan.nearest), 2)} with {design.words}."
    )
    noise, variance = plan.circumstances.noise, plan.experience_variance
    if plan.limit > width:
        allowed = closed_form.largest_variance(width, 1e6, variance, plan.level) ** 0.5
        yield (
            f"No number of subjects, judges and problems can: people of equal experience differ by "
            f"{format_number(noise.person, 2)} {plan.unit} (standard deviation), which alone "
            "leaves ± "
            f"{format_number(plan.limit, 2)}. Only people who are more alike would do, with a "
            "standard "
            f"deviation below {format_number(float(allowed), 2)}."
        )
        return
    if plan.limit_of_subjects > width:
        yield (
            f"With {_counted(most, 'subject')} no number of judges and problems can (± "
            f"{format_number(plan.limit_of_subjects, 2)} at best)."
        )
    shared = closed_form.average_variance(noise, plan.designs.judges[-1], plan.designs.problems[-1])
    needed = closed_form.subjects_needed(width, float(shared), variance, plan.level)
    judges, problems = int(plan.designs.judges[-1]), int(plan.designs.problems[-1])
    of = f"{_counted(judges, 'judge')} and {_counted(problems, 'problem')}"
    if needed is None:
        yield f"With {of} no number of subjects does; try more problems, then more judges."
    elif needed > most:
        yield f"With {of} it takes {_counted(needed, 'subject')}."


def _overrated(plan: PlanFindings) -> Iterator[StudyWarning]:
    width = plan.settings.width
    wrong = [
        index
        for index in plan.trials
        if not plan.reaches(index) and plan.designs.half_width.flat[index] <= (width or 0)
    ]
    if wrong:
        yield StudyWarning(
            "formula-optimistic",
            f"{_counted(len(wrong), 'design')} shown reach{'es' if len(wrong) == 1 else ''} the "
            "width by the formula and not in simulation, which decides",
        )


def _few_simulated(plan: PlanFindings) -> Iterator[StudyWarning]:
    """A simulation that is too small to decide between designs."""
    if not plan.trials:
        return
    error = 2 * plan.simulation_error
    if not error <= _ROUGH * plan.best_half_width(plan.reference):
        studies = next(iter(plan.trials.values())).studies
        tell = f"{studies:,} simulated studies tell" if studies > 1 else "one simulated study tells"
        near = f" only to ± {format_number(error, 2)}" if studies > 1 else " by chance"
        yield StudyWarning(
            "few-simulations",
            f"{tell} the half-width{near}; simulate more, for example --simulate 1000",
        )


def _of_pilot(plan: PlanFindings) -> Iterator[StudyWarning]:
    found = plan.components
    if found is None:
        return
    if found.lacking:
        one = "no two judges ranked the same problem" if found.judges > 1 else "it has one judge"
        if found.lacking == "problem":
            one = "no judge ranked two problems" if found.problems > 1 else "it has one problem"
        yield StudyWarning(
            "pilot-incomplete",
            f"the pilot cannot tell the noise of solution, judge and taste apart ({one}); they "
            "are assumed to be in the proportions of low noise, 1 to 1 to 0.5",
        )
    if found.none_seen:
        are = "it is" if len(found.none_seen) == 1 else "they are"
        yield StudyWarning(
            "pilot-none-seen",
            f"the pilot shows less than no noise of {join_words(found.none_seen)}, by chance or "
            f"because there is little; {are} taken for 0",
        )
    if not found.p_value < SIGNIFICANT:
        yield StudyWarning(
            "pilot-weak",
            "in the pilot quality does not clearly rise with experience "
            f"({format_p(found.p_value)}), so that its noise in {plan.unit} is hardly known",
        )
    if found.df < _FEW and "person" not in plan.replaced:
        yield StudyWarning("pilot-small", _small(plan, found))


def _small(plan: PlanFindings, found: Components) -> str:
    """How little is known of persons, and what that means for the design to begin with."""
    low, high = found.person_interval
    design = plan.design(plan.reference)
    worse = plan.formula(design, replace(plan.circumstances.noise, person=high))
    return (
        f"what the pilot says of people rests on {_counted(found.df, 'degree')} of freedom: their "
        f"standard deviation may be anything from {format_number(low)} to {format_number(high)} "
        f"{plan.unit} "
        f"(about 90% confidence); at the upper end {design.words} give ± {format_number(worse, 2)}"
    )
