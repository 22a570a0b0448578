"""From what is asked, and perhaps a pilot, to a plan: by formula, then by simulated studies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.comparison.automatic import automatic_tests
from quem.errors import QuemError
from quem.experience.batch import batch_estimates
from quem.experience.cells import judged_cells, score_cells
from quem.experience.simulation import NOISES, Scenario, simulate
from quem.experience.times import solving_times
from quem.parallel import ALONE
from quem.planning.checks import find_warnings
from quem.planning.components import ComponentsError, estimate_components
from quem.planning.designs import Costs, efficient, make_designs, smallest
from quem.planning.result import PlanFindings
from quem.planning.settings import COMPONENTS, plan_settings
from quem.rankings import PrintedAverages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from quem.experience.simulation import Noise, Simulated
    from quem.parallel import Workers
    from quem.planning.components import PilotNoise
    from quem.planning.designs import StudyDesign
    from quem.planning.settings import PlanSettings
    from quem.rankings.loading import Study

_CELLS = 500_000
_TEST_LEVEL = 0.05


@dataclass(frozen=True)
class PlanAssumptions:
    """What all designs of a plan share."""

    noise: Noise
    experience: tuple[float, float]  # the subjects' range
    systems: int = 1
    difference: float | None = None  # for which the power is wanted
    level: float = 0.95


@dataclass(frozen=True)
class SimulatedDesign:
    """What simulated studies of a design gave."""

    studies: int
    half_width: float  # mean of half the prediction interval
    half_width_error: float  # its standard error; NaN for a single study
    coverage: float  # share of the prediction intervals that hold the truth
    power: float  # share of studies that found the better of two systems; NaN where not asked for


def try_designs(
    designs: Sequence[StudyDesign],
    assumptions: PlanAssumptions,
    *,
    studies: int,
    seed: int = 0,
    workers: Workers = ALONE,
) -> Iterator[SimulatedDesign]:
    """Try designs one after the other, or several at a time."""
    tasks = [(design, assumptions, studies, seed) for design in designs]
    return workers.each(try_design, tasks)


def try_design(
    design: StudyDesign, assumptions: PlanAssumptions, studies: int, seed: int = 0
) -> SimulatedDesign:
    """Simulate studies of one design.

    Half-width and coverage are those of systems that are drawn as the subjects are. The power
    is that of the automatic test for two systems in the middle of the range, one as much better as
    asked.
    """
    # Spawned in order: chunk after chunk, width before power.
    seeds = np.random.SeedSequence([seed, *design])
    scenario = Scenario(
        design.subjects,
        design.judges,
        design.problems,
        noise=assumptions.noise,
        experience=assumptions.experience,
    )
    halves, covered = [], []
    peers = replace(scenario, systems=(None,) * assumptions.systems)
    for simulated in _simulated(peers, studies, seeds):
        interval = batch_estimates(simulated, level=assumptions.level).prediction
        halves.append((interval[..., 1] - interval[..., 0]) / 2)
        inside = (interval[..., 0] <= simulated.truth) & (simulated.truth <= interval[..., 1])
        covered.append(inside)
    # The mean over the systems of a study, which share its line.
    half, inside = np.concatenate(halves).mean(axis=1), np.concatenate(covered).mean(axis=1)
    return SimulatedDesign(
        studies,
        float(np.nanmean(half)),
        float(np.nanstd(half, ddof=1) / np.sqrt(studies)) if studies > 1 else np.nan,
        float(inside.mean()),
        _power(scenario, assumptions.difference, studies, seeds),
    )


def _simulated(
    scenario: Scenario, studies: int, seeds: np.random.SeedSequence
) -> Iterator[Simulated]:
    """Simulate in chunks that fit into memory."""
    cells = scenario.judges * scenario.problems * (scenario.subjects + len(scenario.systems))
    most = max(1, _CELLS // cells)
    for start in range(0, studies, most):
        (seed,) = seeds.spawn(1)
        yield simulate(scenario, min(most, studies - start), seed)


def _power(
    scenario: Scenario,
    difference: float | None,
    studies: int,
    seeds: np.random.SeedSequence,
) -> float:
    if difference is None or scenario.problems == 1:
        return np.nan
    middle = sum(scenario.experience) / 2
    pair = (middle + difference / 2, middle - difference / 2)
    detections = [
        automatic_tests(simulated.ranks[..., -2] - simulated.ranks[..., -1]).finds(_TEST_LEVEL)
        for simulated in _simulated(replace(scenario, systems=pair), studies, seeds)
    ]
    return float((np.concatenate(detections) > 0).mean())


_SHOWN = 10
_MINUTES_OF_SOLUTION, _MINUTES_OF_JUDGEMENT = 60.0, 5.0
_EXPERIENCE = (1.0, 12.0)
_BY_HAND = "or leave the pilot out and give --person, --solution, --judge and --taste"


def make_plan(
    pilot: Study | None, settings: dict[str, Any], *, measured: float | None = None
) -> PlanFindings:
    """Plan by the closed form."""
    requested = plan_settings(settings)
    components = _components(pilot) if pilot else None
    if components and requested.noise:
        raise QuemError("noise: a pilot gives the SDs; leave noise out")
    noise, source, replaced = _noise(requested, components)
    systems = requested.systems or max(
        2 if requested.power_for else 1, len(pilot.spec.systems) if pilot else 0
    )
    assumptions = PlanAssumptions(
        noise=noise,
        experience=requested.experience or (components.experience if components else _EXPERIENCE),
        systems=systems,
        difference=requested.power_for,
        level=requested.level or (pilot.spec.analysis.level if pilot else 0.95),
    )
    low, high = assumptions.experience
    solved = _solution_minutes(pilot)
    costs = _costs(requested, measured, solved)
    designs = make_designs(
        (requested.judges, requested.subjects, requested.problems),
        noise,
        (high - low) ** 2 / 12,
        level=assumptions.level,
        systems=systems,
        difference=requested.power_for,
        costs=costs,
    )
    reaching = smallest(designs, requested.width) if requested.width else []
    plan = PlanFindings(
        settings=requested,
        source=source,
        replaced=replaced,
        assumptions=assumptions,
        costs=costs,
        measured=measured is not None and requested.minutes is None,
        solution_measured=solved is not None,
        unit=pilot.spec.experience_unit if pilot else "years",
        pilot=pilot,
        components=components,
        designs=designs,
        shown=tuple(reaching[:_SHOWN] or _thinned(efficient(designs))),
        trials={},
    )
    return replace(plan, warnings=tuple(find_warnings(plan)))


def simulate_plan(
    plan: PlanFindings, *, workers: Workers = ALONE, done: Callable[[], object] = lambda: None
) -> PlanFindings:
    """Try the designs that a plan shows on simulated studies.

    Where none of them reaches the width there, larger ones are tried: those that leave as much
    room as the closed form was wrong, and at last the largest.
    """
    if not plan.settings.simulate:
        return plan
    plan = _with_trials(plan, plan.shown, workers, done)
    width, by_formula = plan.settings.width, plan.designs.half_width.ravel()
    if width is not None and by_formula[plan.designs.largest] <= width:
        wrong = max(plan.trials[index].half_width / by_formula[index] for index in plan.shown)
        for larger in (smallest(plan.designs, width / wrong)[:_SHOWN], [plan.designs.largest]):
            if plan.recommended is None:
                untried = tuple(index for index in larger if index not in plan.trials)
                plan = _with_trials(plan, untried, workers, done)
    return replace(plan, warnings=tuple(find_warnings(plan)))


def _with_trials(
    plan: PlanFindings, places: tuple[int, ...], workers: Workers, done: Callable[[], object]
) -> PlanFindings:
    trials = dict(plan.trials)
    results = try_designs(
        [plan.design(index) for index in places],
        plan.assumptions,
        studies=plan.settings.simulate,
        seed=plan.settings.seed,
        workers=workers,
    )
    for index, trial in zip(places, results, strict=True):
        trials[index] = trial
        done()
    cost = plan.designs.cost.ravel()
    shown = sorted({*plan.shown, *places}, key=lambda index: (cost[index], index))
    return replace(plan, trials=trials, shown=tuple(shown))


def _noise(
    requested: PlanSettings, components: PilotNoise | None
) -> tuple[Noise, str, tuple[str, ...]]:
    source = "pilot" if components else requested.noise or "low"
    noise = components.noise if components else NOISES[source]
    values = {name: getattr(requested, name) for name in COMPONENTS}
    values = {name: value for name, value in values.items() if value is not None}
    return replace(noise, **values), source, tuple(values)


def _solution_minutes(pilot: Study | None) -> float | None:
    """Give the minutes in which the pilot's subjects solved a problem, where they are known."""
    if pilot is None:
        return None
    times = solving_times(pilot.spec.subjects, pilot.spec.problems, pilot.spec.analysis.level)
    return times.typical if times else None


def _costs(requested: PlanSettings, measured: float | None, solved: float | None) -> Costs:
    return Costs(
        solution=solved or _MINUTES_OF_SOLUTION,
        minutes=requested.minutes or measured or _MINUTES_OF_JUDGEMENT,
    )


def _components(pilot: Study) -> PilotNoise:
    """Estimate the noise of a pilot from the ranks of its subjects."""
    if pilot.panel:
        raise QuemError(
            pilot.mistake(
                ("panel",),
                (
                    "the pilot is placed on a panel, and only some of its people were ranked; "
                    "take the "
                    f"study that the panel was made of, {_BY_HAND}"
                ),
            )
        )
    if isinstance(pilot.data, PrintedAverages):
        raise QuemError(
            pilot.mistake(
                ("rankings",),
                (
                    "the pilot has only average ranks, which do not separate the SDs of "
                    "judges and people; "
                    f"give the single ranks, {_BY_HAND}"
                ),
            )
        )
    cells = judged_cells(pilot.data, pilot.declared)
    if cells.block.max(initial=1) > 1:
        raise QuemError(
            pilot.mistake(
                ("rankings",),
                (
                    "the pilot was judged in blocks, and ranks of different blocks do not "
                    "compare; plan "
                    f"from one judged in whole groups, {_BY_HAND}"
                ),
            )
        )
    # In smaller groups ranks are smaller; that is no noise.
    cells = score_cells(cells, score="rank", normalize="expected")
    ranks = np.full((len(cells.judges), len(cells.problems), len(cells.solvers)), np.nan)
    ranks[cells.judge, cells.problem, cells.solver] = cells.score
    years = {subject.id: subject.experience for subject in pilot.spec.subjects}
    experience = np.array([years.get(solver, np.nan) for solver in cells.solvers])
    there = np.isfinite(ranks).any(axis=(0, 1)) & np.isfinite(experience)
    ranks = ranks[..., there]
    held = np.isfinite(ranks)
    ranks = ranks[np.ix_(held.any(axis=(1, 2)), held.any(axis=(0, 2)), np.arange(ranks.shape[2]))]
    try:
        return estimate_components(ranks, experience[there])
    except ComponentsError as error:
        raise QuemError(
            pilot.mistake(
                ("rankings",),
                (
                    f"the SDs cannot be estimated from the pilot: {error}; use another pilot, "
                    f"{_BY_HAND}"
                ),
            )
        ) from None


def _thinned(places: list[int]) -> list[int]:
    """At most `most`, from the first to the last, evenly."""
    if len(places) <= _SHOWN:
        return places
    steps = np.linspace(0, len(places) - 1, _SHOWN).round().astype(int)
    return [places[step] for step in steps]
