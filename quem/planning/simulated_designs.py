"""Designs tried out on simulated studies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from quem.experience.batch import batch_estimates
from quem.experience.simulation import Scenario, simulate
from quem.parallel import ALONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quem.experience.simulation import Noise, Simulated
    from quem.parallel import Workers
    from quem.planning.designs import StudyDesign

__all__ = ["PlanAssumptions", "SimulatedDesign", "try_design", "try_designs"]

_CELLS = 500_000
_TEST_LEVEL = 0.05


@dataclass(frozen=True)
class PlanAssumptions:
    """What all designs of a plan share.

    Parameters
    ----------
    experience : (float, float)
        The subjects' range.
    difference : float or None
        For which the power is wanted.
    """

    noise: Noise
    experience: tuple[float, float]
    systems: int = 1
    difference: float | None = None
    level: float = 0.95


@dataclass(frozen=True)
class SimulatedDesign:
    """What simulated studies of a design gave.

    Parameters
    ----------
    half_width : float
        Mean of half the prediction interval.
    half_width_error : float
        Its standard error; NaN for a single study.
    coverage : float
        Share of the prediction intervals that hold the truth.
    power : float
        Share of studies that found the better of two systems; NaN where not asked for.
    """

    studies: int
    half_width: float
    half_width_error: float
    coverage: float
    power: float


def try_designs(
    designs: Sequence[StudyDesign],
    circumstances: PlanAssumptions,
    *,
    studies: int,
    seed: int = 0,
    workers: Workers = ALONE,
) -> Iterator[SimulatedDesign]:
    """Try designs one after the other, or several at a time.

    Parameters
    ----------
    studies : int
        How many are simulated of each.
    workers : Workers
        The numbers are the same with any.

    Returns
    -------
    iterator of SimulatedDesign
        In the order of the designs, each as soon as it is known.
    """
    tasks = [(design, circumstances, studies, seed) for design in designs]
    return workers.each(try_design, tasks)


def try_design(
    design: StudyDesign, circumstances: PlanAssumptions, studies: int, seed: int = 0
) -> SimulatedDesign:
    """Simulate studies of one design.

    Half-width and coverage are those of systems that are drawn as the subjects are. The power
    is that of the t test over problems for two systems in the middle of the range, one as much
    better as asked.

    Parameters
    ----------
    seed : int
        The same seed gives a design the same studies, whatever else is tried.
    """
    # Spawned in order: chunk after chunk, width before power.
    seeds = np.random.SeedSequence([seed, *design])
    scenario = Scenario(
        design.subjects,
        design.judges,
        design.problems,
        noise=circumstances.noise,
        experience=circumstances.experience,
    )
    halves, covered = [], []
    peers = replace(scenario, systems=(None,) * circumstances.systems)
    for simulated in _simulated(peers, studies, seeds):
        interval = batch_estimates(simulated, level=circumstances.level).prediction
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
        _power(scenario, circumstances.difference, studies, seeds),
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
    found = [
        _found_better(simulated.ranks[..., -2] - simulated.ranks[..., -1])
        for simulated in _simulated(replace(scenario, systems=pair), studies, seeds)
    ]
    return float(np.concatenate(found).mean())


def _found_better(difference: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether the t test over problems finds the first of two systems better.

    Differences in rank have shape (studies, judges, problems).
    """
    by_problem = difference.mean(axis=1)
    problems = by_problem.shape[1]
    error = by_problem.std(axis=1, ddof=1) / np.sqrt(problems)
    critical = stdtrit(problems - 1, 1 - _TEST_LEVEL / 2)
    return np.asarray(by_problem.mean(axis=1) > critical * error)
