"""Simulated studies: solvers of known quality, and judges who see it through noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.experience.choices import weak_orders
from quem.experience.expected_ranks import expected_ranks
from quem.experience.plackett_luce import connection, fit_plackett_luce
from quem.experience.ranks import adjusted_ranks
from quem.studyfile.blocks import PairCounts, deal_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.rankings.loading import Study


@dataclass(frozen=True)
class Noise:
    """What comes between a solver's experience and a judge's impression of a solution.

    All are standard deviations in units of experience.

    Parameters
    ----------
    person : float
        How much better or worse somebody is than others of the same experience.
    solution : float
        How much a solver's quality differs from problem to problem; all judges see it.
    judge : float
        How much a judge's impression of one solution is off.
    taste : float
        How much a judge likes a solver's style, in all problems alike.
    """

    person: float = 1.0
    solution: float = 1.0
    judge: float = 1.0
    taste: float = 0.5


LOW = Noise()
HIGH = Noise(person=2.0, solution=2.0, judge=2.0, taste=1.0)
NOISES = {"low": LOW, "high": HIGH}


def _linear(years: NDArray[np.float64]) -> NDArray[np.float64]:
    return years


def _saturating(years: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(12 * (1 - np.exp(-years / 5)))


def _logarithmic(years: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(4 * np.log(years + 0.5))


# How quality rises with experience. The curves rise about as far as the line over 20 years.
CURVES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "linear": _linear,
    "saturating": _saturating,
    "logarithmic": _logarithmic,
}


@dataclass(frozen=True)
class Scenario:
    """What sort of study is simulated."""

    subjects: int = 12
    judges: int = 3
    problems: int = 6
    # The true experience of each system, which is *typical*: just as good as its experience says.
    # None for a *peer*: somebody who is drawn as the subjects are, and not fitted.
    systems: tuple[float | None, ...] = (6.5,)
    noise: Noise = LOW
    # The subjects' experience is uniform between these.
    experience: tuple[float, float] = (1.0, 12.0)
    missing: float = 0.0  # the share of solutions that are absent, at random
    # How many of the problems the systems solved; all by default.
    system_problems: int | None = None
    system_judges: int | None = None  # how many of the judges ranked the systems; all by default
    in_turn: bool = False  # whether only one judge, by turns, ranked the systems on each problem
    # How much the quality of systems differs from problem to problem, where it is not as for
    # people.
    system_solution: float | None = None
    ties: float = 0.0  # step in which judges see quality, in units of experience; 0 for no ties
    # The taste for systems, where it differs from that for people.
    system_taste: float | None = None
    # Judges rank each problem in balanced blocks of at most this number of solutions.
    block_size: int | None = None
    first_judge: float = 1.0  # how many times the noise of the other judges the first one has
    is_first_reversed: bool = False  # whether the first judge gives 1 to the best
    veteran: float | None = None  # the experience of the first subject
    # How quality rises with experience: as experience itself, 12(1 - exp(-y/5)), or 4 ln(y + 1/2).
    curve: str = "linear"
    # How much better or worse systems of given experience are than others of it, where they are not
    # typical.
    system_person: float | None = None

    @property
    def experience_variance(self) -> float:
        """The variance of the subjects' experience."""
        low, high = self.experience
        return (high - low) ** 2 / 12


@dataclass(frozen=True)
class Simulated:
    """Many studies of one scenario.

    Solvers are the subjects and then the systems.
    """

    scenario: Scenario
    experience: NDArray[np.float64]  # of shape (b, subjects)
    truth: NDArray[np.float64]  # of shape (b, systems): the experience of the systems
    # Of shape (b, judges, problems, solvers): adjusted ranks in the whole group; NaN where there is
    # no solution. A block of it is ranked alike.
    ranks: NDArray[np.float64]

    def __len__(self) -> int:
        """Count the studies."""
        return len(self.ranks)

    def study(self, index: int, **analysis: Any) -> Study:  # noqa: ANN401  settings of any type
        """Make one of the studies into one that `quem.analyze` takes."""
        return _study(self, index, analysis)


def simulate(scenario: Scenario, studies: int, seed: int | np.random.SeedSequence = 0) -> Simulated:
    r"""Simulate studies.

    The quality of the solution of problem p by solver s, as judge j sees it, is

    .. math:: q_{jps} = f(y_s) + a_s + b_{ps} + t_{js} + e_{jps}

    with experience y, a curve f (which is y itself unless said otherwise) and independent normal
    a (person), b (solution), t (taste) and e (judge); a is 0 for typical systems. Each judge ranks
    each group by it.
    """
    rng = np.random.default_rng(seed)
    noise, n = scenario.noise, scenario.subjects
    b, j, p, k = studies, scenario.judges, scenario.problems, n + len(scenario.systems)
    experience = rng.uniform(*scenario.experience, size=(b, n))
    if scenario.veteran is not None:
        experience[:, 0] = scenario.veteran
    fixed = np.array([np.nan if s is None else s for s in scenario.systems], dtype=float)
    drawn = rng.uniform(*scenario.experience, size=(b, k - n))
    truth = np.where(np.isnan(fixed), drawn, fixed)
    apart = np.full(k, noise.person)
    apart[n:][~np.isnan(fixed)] = scenario.system_person or 0.0
    person = rng.standard_normal((b, k)) * apart
    taste = np.full(k, noise.taste)
    if scenario.system_taste is not None:
        taste[n:] = scenario.system_taste
    quality = rng.standard_normal((b, j, p, k)) * noise.judge
    quality[:, 0] *= scenario.first_judge
    quality += rng.standard_normal((b, j, 1, k)) * taste
    solution = np.full(k, noise.solution)
    if scenario.system_solution is not None:
        solution[n:] = scenario.system_solution
    quality += rng.standard_normal((b, 1, p, k)) * solution
    of_years = CURVES[scenario.curve](np.concatenate([experience, truth], axis=1))
    quality += (of_years + person)[:, np.newaxis, np.newaxis]
    if scenario.missing:
        absent = rng.random((b, 1, p, k)) < scenario.missing
        quality = np.where(absent, np.nan, quality)
    if scenario.system_problems is not None:
        quality[:, :, scenario.system_problems :, n:] = np.nan
    if scenario.system_judges is not None:
        quality[:, scenario.system_judges :, :, n:] = np.nan
    if scenario.in_turn:
        away = np.arange(j)[:, np.newaxis] != np.arange(p) % j
        quality[..., n:][:, away] = np.nan
    if scenario.ties:
        quality = np.round(quality / scenario.ties)
    if scenario.is_first_reversed:
        quality[:, 0] *= -1
    return Simulated(scenario, experience, truth, _ranks(quality, ties=scenario.ties > 0))


def simulate_study(
    *,
    subjects: int = 12,
    judges: int = 3,
    problems: int = 6,
    systems: tuple[float | None, ...] = (6.5,),
    noise: Noise | str = "low",
    seed: int = 0,
    **more: Any,  # noqa: ANN401  the fields of Scenario
) -> Study:
    """Simulate one study, to be analyzed like any other.

    Parameters
    ----------
    systems : tuple of float or None
        The true experience of each system, None for one drawn as the subjects are; their ids
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
    scenario = Scenario(subjects, judges, problems, tuple(systems), known, **more)
    return simulate(scenario, 1, seed).study(0)


def _study(simulated: Simulated, index: int, analysis: dict[str, Any]) -> Study:
    """One of the studies, with ids S1, S2, ... for subjects and K1, K2, ... for systems."""
    from quem.rankings import Rankings
    from quem.rankings.loading import Study
    from quem.studyfile import Declared, ExperienceSpec

    ranks = simulated.ranks[index]
    n_judges, n_problems, _ = ranks.shape
    names = {
        letter: tuple(f"{letter}{number}" for number in range(1, n + 1))
        for letter, n in (
            ("J", n_judges),
            ("P", n_problems),
            ("S", simulated.experience.shape[1]),
            ("K", simulated.truth.shape[1]),
        )
    }
    solvers = dict.fromkeys(names["S"], "subject") | dict.fromkeys(names["K"], "system")
    judge, problem, solver = np.nonzero(np.isfinite(ranks))
    once = np.ones(len(judge), dtype=np.int64)
    block, rank = once, ranks[judge, problem, solver]
    if simulated.scenario.block_size is not None:
        judge, problem, block, solver, rank = ranked_blocks(simulated, index)
        once = np.ones(len(judge), dtype=np.int64)
    data = Rankings(
        names["J"],
        names["P"],
        tuple(solvers),
        judge,
        problem,
        solver,
        block,
        once,
        rank,
        np.zeros(len(judge), dtype=bool),
    )
    spec = ExperienceSpec.model_validate(
        {
            "id": f"simulated-{index}",
            "title": f"Simulated study {index}",
            "problems": [{"id": name} for name in names["P"]],
            "judges": [{"id": name} for name in names["J"]],
            "subjects": [
                {"id": name, "experience": years}
                for name, years in zip(names["S"], simulated.experience[index], strict=True)
            ],
            "systems": [{"id": name} for name in names["K"]],
            "analysis": analysis,
        }
    )
    declared = Declared(names["J"], names["P"], solvers)
    return Study(Path("simulated.yaml"), "simulated.yaml", spec, declared, data)


def _ranks(quality: NDArray[np.float64], *, ties: bool) -> NDArray[np.float64]:
    """Adjusted ranks along the last axis; NaN stays NaN."""
    ranks = np.full(quality.shape, 0.5 if ties else 1.0)
    for solver in range(quality.shape[-1]):
        other = quality[..., solver, np.newaxis]
        if ties:
            # Who is better than the other gains a whole rank, who is tied (itself) half of one.
            ranks += 0.5 * (quality > other)
            ranks += 0.5 * (quality >= other)
        else:
            ranks += quality > other
    return np.where(np.isnan(quality), np.nan, ranks)


# Studies of one scenario take turns with so many ways of dealing, since dealing takes longer than
# all the rest. Solvers of a scenario are exchangeable, so that it makes no difference.
_WAYS = 16


def ranked_blocks(
    simulated: Simulated, index: int
) -> tuple[
    NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]
]:
    """Give judge, problem, block (from 1), solver and adjusted rank of a study in blocks."""
    ranks = simulated.ranks[index]
    judges, problems, solvers = ranks.shape
    size = simulated.scenario.block_size or solvers
    places = _dealt(judges, problems, solvers, size, index % _WAYS)
    mask = np.isfinite(ranks[places[0], places[1], places[3]])
    judge, problem, block, solver = places[:, mask]
    group = np.unique(places[:3, mask], axis=1, return_inverse=True)[1].ravel()
    rank, _ = adjusted_ranks(group, ranks[judge, problem, solver])
    return judge, problem, block, solver, rank


@lru_cache(maxsize=4 * _WAYS)
def _dealt(
    judges: int, problems: int, solvers: int, block_size: int, way: int
) -> NDArray[np.int64]:
    """Judge, problem, block and solver of every place, shape (4, n); also of absent solutions."""
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


def blocked_ranks(simulated: Simulated) -> NDArray[np.float64]:
    """Give the expected ranks of all solvers by the worths of each study, judged in blocks."""
    values = np.full((len(simulated), simulated.ranks.shape[-1]), np.nan)
    for index, ranks in enumerate(simulated.ranks):
        judge, problem, block, solver, rank = ranked_blocks(simulated, index)
        ranking = (judge * ranks.shape[1] + problem) * int(block.max()) + block - 1
        orders = weak_orders(ranking, solver, rank)
        if len(connection(orders, len(values[index])).parts) == 1:
            model = fit_plackett_luce(orders, len(values[index]))
            values[index] = expected_ranks(model, np.isfinite(ranks).any(axis=(0, 1)))
    return values
