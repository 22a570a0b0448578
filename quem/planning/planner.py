"""Plans from settings and an optional pilot: by formula, then by simulation, with warnings."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import QuemError, WarningRules
from quem.method.reference import Population
from quem.method.warnings import POPULATION
from quem.planning.batch import Studies
from quem.planning.designs import Assumptions, Design, efficient
from quem.planning.pilot import read_pilot, solving_minutes
from quem.planning.result import PlanFindings
from quem.planning.settings import COMPONENTS, PlanSettings
from quem.simulation import NOISES, Scenario, simulate
from quem.studyfile.schema import changed_settings
from quem.wording import format_count, format_interval, format_number, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.rankings.loading import Study
    from quem.studyfile.models import ReferencePopulation

_CELLS = 20_000  # cells simulated at once
_SHOWN = 10
_LONG_LIST, _FEW_DF, _MOST_SUBJECTS = 12, 10, 1000
_RULES: WarningRules[PlanFindings] = WarningRules()


def make_plan(
    study: Study | None, settings: dict[str, Any], *, minutes: float | None = None
) -> PlanFindings:
    """Make a plan, from a pilot if there is one; `minutes` is the judging time per solution."""
    asked = changed_settings(PlanSettings(), settings)
    pilot = read_pilot(study) if study else None
    if pilot and asked.noise:
        raise QuemError("noise: a pilot gives the SDs; leave noise out")
    solved = solving_minutes(study) if study else None
    of = study.spec.analysis if study else None
    declared = asked.reference_population or (of.reference_population if of else None)
    noise = pilot.noise if pilot else NOISES[asked.noise or "low"]
    given = {name: getattr(asked, name) for name in COMPONENTS}
    low, high = asked.experience or (pilot.experience if pilot else (1.0, 12.0))
    used = Assumptions(
        noise=replace(noise, **{name: sd for name, sd in given.items() if sd is not None}),
        experience=(low, high),
        population=_population(declared),
        systems=asked.systems or max(1, len(study.spec.systems) if study else 0),
        minutes=asked.minutes or minutes or 5.0,
        solving_minutes=asked.solving_minutes or solved or 60.0,
        level=asked.level or (of.level if of else 0.95),
    )
    plan = PlanFindings(asked, declared, study, pilot, used, _searched(asked, used))
    warnings = [*_RULES.find(plan)]
    if used.population:
        warnings += POPULATION.find(used.population, used.experience[1], plan.unit)
    return replace(plan, warnings=tuple(warnings))


def _population(declared: ReferencePopulation | None) -> Population | None:
    if declared is None:
        return None
    share = np.asarray(declared.share or np.diff(declared.years), dtype=np.float64)
    return Population(declared.years, tuple((share / share.sum()).tolist()))


def _searched(asked: PlanSettings, used: Assumptions) -> tuple[Design, ...]:
    """Designs to show, among the Pareto-optimal ones of the closed form.

    The design of fewest hours that reaches the width is found by bisection, in simulated studies.
    """
    grid = np.meshgrid(asked.subjects, asked.judges, asked.problems, indexing="ij")
    places = efficient(used.half_width(*grid), used.hours(*grid)[2])

    @cache
    def tried(at: int) -> Design:
        return _design(asked, used, *(int(axis.flat[places[at]]) for axis in grid))

    low, high = 0, len(places) - 1
    if asked.width is None:
        steps = np.linspace(low, high, min(_SHOWN, len(places))).round()
        return tuple(tried(int(at)) for at in steps)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if tried(middle).reaches else (middle + 1, high)
    shown = range(max(0, low - _SHOWN // 2), min(len(places), low + _SHOWN // 2))
    return tuple(tried(at) for at in shown)


def _design(asked: PlanSettings, used: Assumptions, *size: int) -> Design:
    """A design, simulated on request."""
    by_formula = float(used.half_width(*size))
    found = (by_formula, None, None)
    half_width, says, covers = _tried(asked, used, *size) if asked.simulate else found
    subject, judge, hours = used.hours(*size)
    nouns = zip(size, ("subject", "judge", "problem"), strict=True)
    return Design(
        design=", ".join(format_count(count, noun) for count, noun in nouns),
        **dict(zip(("subjects", "judges", "problems"), size, strict=True)),
        half_width=half_width,
        by_formula=by_formula,
        says=says,
        covers=covers,
        # To two decimals, as displayed.
        reaches=None if asked.width is None else round(half_width, 2) <= asked.width,
        hours_per_subject=subject,
        hours_per_judge=judge,
        hours=hours,
    )


def _tried(
    asked: PlanSettings, used: Assumptions, subjects: int, judges: int, problems: int
) -> tuple[float, float, float | None]:
    """Half-width, share that states years, and coverage in simulated studies of a design.

    Systems are drawn from the population. The half-width is the median over the estimates that
    state years, with open ends as infinite.
    """
    scenario = Scenario(
        subjects,
        judges,
        problems,
        systems=(None,) * used.systems,
        noise=used.noise,
        experience=used.experience,
        population=used.population or "even",
        recruits="even",
    )
    n_parts = -(-asked.simulate * judges * problems * (subjects + used.systems) // _CELLS)
    seeds = np.random.SeedSequence([asked.seed, subjects, judges, problems]).spawn(n_parts)
    half, covered = [], []
    for seed in seeds:
        simulated = simulate(scenario, -(-asked.simulate // n_parts), seed)
        studies = Studies(simulated.ranks, simulated.experience, used.population, level=used.level)
        for at, truth in enumerate(simulated.truth.T, subjects):
            low, high = studies.estimate(at).interval.T
            half.append((high - low) / 2)
            covered.append((low <= truth) & (truth <= high))
    halves = np.concatenate(half)
    says = ~np.isnan(halves)
    if not says.any():
        return np.inf, 0.0, None
    covers = float(np.concatenate(covered)[says].mean())
    return float(np.median(halves[says])), float(says.mean()), covers


@_RULES.add("width-not-reached")
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


@_RULES.add(
    "noise-assumed",
    remedy="estimate them from a pilot (`quem plan STUDY`) or set them (`--noise`, `--person`)",
)
def _noise_assumed(plan: PlanFindings) -> Iterator[str]:
    if not plan.pilot and not plan.asked.noise and len(plan.replaced) < len(COMPONENTS):
        yield "the SDs are assumed (low)"


@_RULES.add("pilot-incomplete", remedy="add a second judge or problem to the pilot")
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


@_RULES.add("pilot-negative-variance")
def _pilot_negative_variance(plan: PlanFindings) -> Iterator[str]:
    names = plan.pilot.negative_variance if plan.pilot else ()
    if names := tuple(name for name in names if name not in plan.replaced):
        yield (
            f"the pilot shows no variance of {join_words(names)}, taken as 0; set it yourself, "
            f"for example `--{names[0]} 1`"
        )


@_RULES.add("pilot-small")
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


@_RULES.add("pilot-outside")
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


@_RULES.add("long-lists")
def _long_lists(plan: PlanFindings) -> Iterator[str]:
    subjects = plan.suggested.subjects
    length = subjects + plan.used.systems
    if length > _LONG_LIST:
        yield (
            f"with {format_count(subjects, 'subject')} a judge ranks {length} solutions in one "
            f"list, and about {_LONG_LIST} are manageable; use blocks of 8, with an error 8% to "
            "10% larger than computed here"
        )
