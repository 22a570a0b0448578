"""Plans from settings and an optional pilot: by formula, then by simulation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import QuemError
from quem.method.reference import Population
from quem.method.warnings import POPULATION
from quem.planning.batch import Studies
from quem.planning.designs import Assumptions, Design, efficient
from quem.planning.pilot import read_pilot, solving_minutes
from quem.planning.result import PlanFindings
from quem.planning.settings import COMPONENTS, PlanSettings
from quem.planning.warnings import RULES
from quem.simulation import NOISES, Scenario, simulate
from quem.studyfile.schema import changed_settings
from quem.wording import format_count

if TYPE_CHECKING:
    from quem.rankings.loading import Study
    from quem.studyfile.models import ReferencePopulation

_CELLS = 20_000  # cells simulated at once
_SHOWN = 10


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
    warnings = [*RULES.find(plan)]
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
