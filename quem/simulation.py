"""Simulated studies: solvers of known quality, and noisy judges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from quem.method.ranks import adjusted_ranks
from quem.studyfile.blocks import PairCounts, deal_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.method.reference import Population
    from quem.rankings.loading import Study

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Noise:
    """Standard deviations between experience and a judge's impression, in units of experience.

    Parameters
    ----------
    person : float
        Between people of equal experience.
    solution : float
        Between one solver's solutions of different problems; all judges see it.
    judge : float
        Of a judge's impression of one solution.
    taste : float
        Of a judge's liking for one solver, in all problems alike.
    """

    person: float = 1.0
    solution: float = 1.0
    judge: float = 1.0
    taste: float = 0.5


LOW = Noise()
HIGH = Noise(person=2.0, solution=2.0, judge=2.0, taste=1.0)
STRONG_TASTE = Noise(person=0.5, judge=3.0, taste=2.0)
NOISES = {"low": LOW, "high": HIGH}


def _lognormal(u: Floats, low: float, high: float) -> Floats:
    """Quantiles of years with ``low`` and ``high`` two standard deviations from the median."""
    return np.asarray(np.sqrt(low * high) * np.exp(ndtri(u) * np.log(high / low) / 4))


# Quantile functions of subjects' years in a range.
SPREADS: dict[str, Callable[[Floats, float, float], Floats]] = {
    "even": lambda u, low, high: low + (high - low) * u,
    "novices": lambda u, low, high: low + (high - low) * (1 - np.cbrt(1 - u)),
    "experts": lambda u, low, high: low + (high - low) * np.cbrt(u),
    # Half of the subjects in the lowest quarter of the range, half in the highest.
    "clusters": lambda u, low, high: low + (high - low) * (u + np.floor(2 * u)) / 2,
    "lognormal": _lognormal,
}
# Quality by years. The second curve rises about as far as the line over 20 years.
CURVES: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda years: years,
    "saturating": lambda years: 12 * (1 - np.exp(-years / 5)),
}
# Standardized deviations of subjects from their experience.
PERSONS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "skewed": lambda rng, shape: rng.exponential(size=shape) - 1,
    "t3": lambda rng, shape: rng.standard_t(3, shape) / np.sqrt(3),
}


@dataclass(frozen=True)
class Scenario:
    """A kind of study."""

    subjects: int = 12
    judges: int = 3
    problems: int = 6
    # The years of each system, which is *typical* for them. None for a *peer*, drawn from the
    # population.
    systems: tuple[float | None, ...] = (6.5,)
    noise: Noise = LOW
    # Of systems; by default that of subjects, without `person` for typical systems.
    system_noise: Noise | None = None
    experience: tuple[float, float] = (1.0, 12.0)  # range of the population
    # Distribution of its years over the range, a key of SPREADS; or its years.
    population: str | Population = "even"
    recruited: tuple[float, float] | None = None  # the subjects' range, if different
    recruits: str | None = None  # distribution of the subjects' years, if different
    curve: str = "linear"  # quality by years, a key of CURVES
    persons: str = "normal"  # distribution of `Noise.person`, a key of PERSONS
    years_error: float = 0.0  # relative standard deviation of the subjects' reported years
    missing: float = 0.0  # share of solutions missing at random
    system_problems: int | None = None  # number of problems solved by systems; None for all
    system_judges: int | None = None  # number of judges who ranked systems; None for all
    ties: float = 0.0  # resolution of judges' perceived quality; 0 for no ties
    block_size: int | None = None  # most solutions per ranking; None for all
    # Judges, or subjects, with random ranks.
    random_judges: int = 0
    random_subjects: int = 0


@dataclass(frozen=True)
class Simulated:
    """Studies of one scenario; the solvers are the subjects, then the systems."""

    scenario: Scenario
    experience: Floats  # shape (b, subjects): as reported
    truth: Floats  # shape (b, systems): true experience of the systems
    # Shape (b, judges, problems, solvers): adjusted ranks in the whole group; NaN without a
    # solution. Blocks have the same order.
    ranks: Floats

    def __len__(self) -> int:
        """Number of studies."""
        return len(self.ranks)

    def study(self, index: int, **analysis: object) -> Study:
        """One of the studies for `quem.analyze`."""
        return _study(self, index, analysis)


def simulate(scenario: Scenario, studies: int, seed: int | np.random.SeedSequence = 0) -> Simulated:
    r"""Simulate studies.

    The perceived quality of solver s's solution of problem p by judge j is

    .. math:: q_{jps} = f(y_s) + a_s + b_{ps} + t_{js} + e_{jps}

    with experience y, a curve f (by default the identity), and independent normal a (person), b
    (solution), t (taste), and e (judge); a is 0 for typical systems. Each judge ranks each group
    by it.
    """
    rng = np.random.default_rng(seed)
    n, k = scenario.subjects, scenario.subjects + len(scenario.systems)
    b, j, p = studies, scenario.judges, scenario.problems
    recruited = scenario.recruited or scenario.experience
    experience = _years(
        scenario.recruits or scenario.population, rng.uniform(size=(b, n)), recruited
    )
    drawn = _years(scenario.population, rng.uniform(size=(b, k - n)), scenario.experience)
    fixed = np.array([np.nan if years is None else years for years in scenario.systems])
    truth = np.where(np.isnan(fixed), drawn, fixed)
    noises = [scenario.noise] * n + [_system_noise(scenario, years) for years in scenario.systems]
    sd = {
        name: np.array([getattr(noise, name) for noise in noises])
        for name in ("person", "solution", "judge", "taste")
    }
    of_years = CURVES[scenario.curve](np.concatenate([experience, truth], axis=1))
    own = of_years + PERSONS[scenario.persons](rng, (b, k)) * sd["person"]
    quality = rng.standard_normal((b, j, p, k)) * sd["judge"]
    quality += rng.standard_normal((b, j, 1, k)) * sd["taste"]
    quality += rng.standard_normal((b, 1, p, k)) * sd["solution"]
    quality += own[:, np.newaxis, np.newaxis]
    if scenario.missing:
        quality = np.where(rng.random((b, 1, p, k)) < scenario.missing, np.nan, quality)
    if scenario.system_problems is not None:
        quality[:, :, scenario.system_problems :, n:] = np.nan
    if scenario.system_judges is not None:
        quality[:, scenario.system_judges :, :, n:] = np.nan
    if scenario.years_error:
        experience = experience * np.exp(scenario.years_error * rng.standard_normal((b, n)))
    if scenario.random_judges or scenario.random_subjects:
        chance = CURVES[scenario.curve](rng.uniform(*scenario.experience, size=quality.shape))
        at_random = np.zeros(quality.shape[1:], dtype=bool)
        at_random[: scenario.random_judges] = True
        at_random[..., : scenario.random_subjects] = True
        quality = np.where(at_random & ~np.isnan(quality), chance, quality)
    if scenario.ties:
        quality = np.round(quality / scenario.ties)
    return Simulated(scenario, experience, truth, _ranks(quality))


def _years(of: str | Population, u: Floats, between: tuple[float, float]) -> Floats:
    """Quantiles of subjects' years; u is uniform between 0 and 1."""
    if isinstance(of, str):
        return SPREADS[of](u, *between)
    return np.interp(u, np.append(0.0, np.cumsum(of.share)), of.years)


def _system_noise(scenario: Scenario, years: float | None) -> Noise:
    if scenario.system_noise is not None:
        return scenario.system_noise
    return scenario.noise if years is None else replace(scenario.noise, person=0.0)


def _ranks(quality: Floats) -> Floats:
    """Adjusted ranks along the last axis; NaN stays NaN."""
    ranks = np.full(quality.shape, 0.5)
    for solver in range(quality.shape[-1]):
        # Each solution below adds a rank, a tie (also with itself) half of one.
        other = quality[..., solver, np.newaxis]
        ranks += 0.5 * (quality > other)
        ranks += 0.5 * (quality >= other)
    return np.where(np.isnan(quality), np.nan, ranks)


def simulate_study(
    *,
    subjects: int = 12,
    judges: int = 3,
    problems: int = 6,
    systems: tuple[float | None, ...] = (6.5,),
    noise: Noise | str = "low",
    seed: int = 0,
    **more: object,
) -> Study:
    """Simulate one study, to be analyzed like any other.

    Parameters
    ----------
    systems : tuple of float or None
        The true experience of each system, None for one drawn from the population; their ids
        are K1, K2, ...
    noise : Noise or {"low", "high"}
    **more
        ``experience``, ``missing``, ``system_problems``, ``ties``, ``block_size``, and others:
        see `Scenario`.

    Returns
    -------
    Study
    """
    if isinstance(noise, str) and noise not in NOISES:
        raise ValueError(
            f"there is no noise {noise!r}; name one of {', '.join(NOISES)}, or give a Noise"
        )
    known = NOISES[noise] if isinstance(noise, str) else noise
    others: dict[str, Any] = more
    scenario = Scenario(subjects, judges, problems, tuple(systems), known, **others)
    return simulate(scenario, 1, seed).study(0)


def _study(simulated: Simulated, index: int, analysis: dict[str, object]) -> Study:
    """One of the studies, with ids S1, S2, ... for subjects and K1, K2, ... for systems."""
    from quem.rankings.memory import study

    _, judges, problems, _ = simulated.ranks.shape
    counts = {"J": judges, "P": problems, "S": simulated.scenario.subjects}
    counts["K"] = len(simulated.scenario.systems)
    names = {key: [f"{key}{i}" for i in range(1, n + 1)] for key, n in counts.items()}
    judge, problem, block, solver, rank = ranked_blocks(simulated, index)
    columns = {
        "judge": np.array(names["J"])[judge],
        "problem": np.array(names["P"])[problem],
        "solver": np.array(names["S"] + names["K"])[solver],
        "block": block,
        "rank": rank,
    }
    return study(
        columns,
        people=dict(zip(names["S"], simulated.experience[index].tolist(), strict=True)),
        systems=names["K"],
        judges=names["J"],
        title=f"Simulated study {index}",
        id=f"simulated-{index}",
        analysis=analysis,
    )


# Studies of one scenario share this many block designs, since dealing is the slowest step. Solvers
# are exchangeable, so this has no effect.
_WAYS = 16


def ranked_blocks(
    simulated: Simulated, index: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Floats]:
    """Judge, problem, block (from 1), solver, and adjusted rank of every judged solution.

    Shapes: all (n,).
    """
    ranks = simulated.ranks[index]
    size = simulated.scenario.block_size or ranks.shape[-1]
    places = _dealt(*ranks.shape, size, index % _WAYS)
    places = places[:, np.isfinite(ranks[places[0], places[1], places[3]])]
    group = np.unique(places[:3], axis=1, return_inverse=True)[1].ravel()
    judge, problem, block, solver = places
    rank, _ = adjusted_ranks(group, ranks[judge, problem, solver])
    return judge, problem, block, solver, rank


@lru_cache(maxsize=4 * _WAYS)
def _dealt(
    judges: int, problems: int, solvers: int, block_size: int, way: int
) -> NDArray[np.int64]:
    """Judge, problem, block, and solver of every cell, shape (4, n); also of missing solutions."""
    rng, met = Random(way), PairCounts()  # noqa: S311  chance here guards no secret
    names = [str(solver) for solver in range(solvers)]
    rows = [
        (judge, problem, block, int(solver))
        for judge in range(judges)
        for problem in range(problems)
        for block, members in enumerate(deal_blocks(names, block_size, met, rng), 1)
        for solver in members
    ]
    return np.array(rows, dtype=np.int64).T
