"""How far the tests and intervals of ``quem compare`` can be trusted, on simulated studies.

Run it with ``python benchmarks/comparing.py [STUDIES]``, 2,000 of each sort by default;
docs/explanation/comparisons.md has what it prints.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import stdtrit

from quem.comparison.assistance import measure_uplift
from quem.comparison.automatic import automatic_tests
from quem.comparison.independent import SystemEstimate, compare_apart
from quem.comparison.pair_tests import problem_test, signflip_test, twoway_test
from quem.comparison.selection import locate
from quem.experience.averages import average_cells
from quem.experience.batch import batch_estimates
from quem.experience.cells import judged_cells, score_cells
from quem.experience.estimate import Estimate
from quem.experience.simulation import NOISES, Noise, Scenario, simulate
from quem.experience.skill import FORMS, fit
from quem.rankings import Rankings
from quem.studyfile import Declared
from quem.studyfile.models import Assisted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.experience.simulation import Simulated

GAIN = 3.0
_LEVEL = 0.05
NAN = float("nan")


def main(studies: int) -> None:
    """Print a table of each."""
    print(f"{studies} studies of each sort\n")
    levels(studies)
    chosen(studies)
    welch(studies)
    uplift(studies // 4)


def levels(studies: int) -> None:
    """How often each test at 5% finds a difference between two systems that have none."""
    print("found at 5% where there is none, in percent       problem  twoway  signflip")
    designs = ((2, 6), (3, 6), (3, 10), (5, 10))
    for taste, (judges, problems), name in product((0.0, None), designs, NOISES):
        scenario = Scenario(
            judges=judges,
            problems=problems,
            systems=(6.0, 6.0),
            noise=NOISES[name],
            system_taste=taste,
        )
        ranks = simulate(scenario, studies, seed=1).ranks
        p = [
            (
                problem_test(d.mean(axis=0), 0.95).p,
                twoway_test(d, 0.95).p,
                signflip_test(d.mean(axis=0), permutations=0, seed=0).p,
            )
            for d in ranks[..., -1] - ranks[..., -2]
        ]
        shares = 100 * (np.array(p) < 0.05).mean(axis=0)  # noqa: PLR2004
        what = "without tastes" if taste == 0 else "tastes for systems"
        design = f"{name} noise, {judges} judges, {problems} problems"
        print(f"{what:<18} {design:<32}", "  ".join(f"{share:6.1f}" for share in shares))


def chosen(studies: int) -> None:
    """How often the automatic test and the t test find a difference of 0 years, and of 2."""
    print("\nfound at 5%, in percent, with 3, 6, and 12 problems, 12 subjects")
    for judges in (2, 3, 5):
        found: dict[str, list[str]] = {}
        for problems in (3, 6, 12):
            for what, shares in _found(judges, problems, studies).items():
                found.setdefault(what, []).append(shares)
        for what, shares_of in found.items():
            print(f"{judges} judges, {what:<45}", " / ".join(shares_of))


def _found(judges: int, problems: int, studies: int) -> dict[str, str]:
    """What each test finds at each noise, by what it is asked for."""
    found: dict[str, list[float]] = {}
    for noise, (taste, years) in product(
        NOISES.values(), (("none", 0), ("half", 0), ("systems", 0), ("half", 2))
    ):
        scenario = Scenario(
            judges=judges,
            problems=problems,
            systems=(6.5 + years / 2, 6.5 - years / 2),
            noise=noise if taste == "half" else replace(noise, taste=0.0),
            system_taste=2 * noise.person if taste == "systems" else None,
        )
        ranks = simulate(scenario, studies, seed=2).ranks
        apart = ranks[..., -2] - ranks[..., -1]
        over_problems = automatic_tests(apart.mean(axis=1, keepdims=True))
        for name, of in (("auto", automatic_tests(apart)), ("problem", over_problems)):
            is_found = of.finds(_LEVEL) > 0 if years else of.finds(_LEVEL) != 0
            found.setdefault(f"{name}: {years} years, taste {taste}", []).append(
                100 * float(is_found.mean())
            )
    return {
        what: ", ".join(f"{share:.0f}" for share in shares)
        if "2 years" in what
        else f"{np.mean(shares):.0f}"
        for what, shares in found.items()
    }


def welch(studies: int) -> None:
    """How often the interval between two independent studies covers the true difference."""
    print("\n95% intervals between two studies, in percent     cover   there is one")
    for subjects, name in product((7, 12, 20), NOISES):
        # The systems are drawn as people are, each for itself.
        scenario = Scenario(subjects, 3, 6, (None,), NOISES[name])
        one, other = (simulate(scenario, studies, seed) for seed in (2, 3))
        apart = (other.truth - one.truth)[:, 0]
        pairs = zip(_standings(one), _standings(other), strict=True)
        ends = np.array([compare_apart(a, b, 0.95).interval for a, b in pairs])
        held = np.isfinite(ends[:, 0])
        covered = ((ends[:, 0] <= apart) & (apart <= ends[:, 1]))[held]
        design = f"{name} noise, {subjects} subjects"
        print(f"{design:<49} {100 * covered.mean():6.1f}  {100 * held.mean():6.1f}")


def _standings(simulated: Simulated) -> Iterator[SystemEstimate]:
    """The one system of each study, as a comparison takes it."""
    estimates = batch_estimates(simulated)
    df = simulated.scenario.subjects - 2
    errors = np.diff(estimates.prediction[:, 0], axis=1)[:, 0] / 2 / stdtrit(df, 0.975)
    none = (NAN, NAN)
    for years, error, inside in zip(
        estimates.experience[:, 0], errors, estimates.inside[:, 0], strict=True
    ):
        side: Literal["inside", "above"] = "inside" if inside else "above"
        estimate = Estimate(
            "", 0, 0, 0, 0.0, 0.0, error, df, years, none, none, none, None, side, NAN, ()
        )
        yield SystemEstimate(0, "", "", "", None, estimate)


def uplift(studies: int) -> None:
    """What help reads: against those who never had help, all who had none, ranked together."""
    print(f"\n{studies} studies of 8 problems, 4 of 12 people helped on half of them: years read")
    print("by the skill function, and how often they are found in %; by calibration in brackets")
    print(f"{'':<52} {'never helped':>17} {'unaided':>10} {'together':>9}")
    for gain, name, crossed, whom in product((0.0, GAIN), NOISES, (False, True), WHOM):
        rng = np.random.default_rng(4)
        rows = np.array(
            [
                _three_ways(*assisted_study(rng, NOISES[name], gain, WHOM[whom], crossed=crossed))
                for _ in range(studies)
            ]
        )
        years, calibrated, share, others, other_share, together = np.nanmean(rows, axis=0)
        sets = "either half" if crossed else "same half"
        print(
            f"{gain:g} years, {name} noise, {whom}, {sets}".ljust(52),
            f"{years:5.2f} {100 * share:4.0f} ({calibrated:5.2f})",
            f"{others:5.2f} {100 * other_share:4.0f} {together:9.2f}",
        )


WHOM = {"anybody": (2, 4, 6, 8), "less experienced": (1, 3, 4, 6)}


def _three_ways(
    rankings: Rankings, declared: Declared, assisted: list[Assisted], years: dict[str, float]
) -> tuple[float, ...]:
    experience = np.array([years.get(solver, NAN) for solver in rankings.solvers])
    ours = {name for one in assisted for name in (one.id, one.person)}
    never, unaided = (
        measure_uplift(
            locate(rankings, declared, helped), assisted, experience, FORMS["linear"], level=0.95
        )[0]
        # Where nobody is left who never had help, all who worked alone count.
        for helped in (ours, set(declared.solvers))
    )
    cells = score_cells(judged_cells(rankings, declared), score="rank", normalize="expected")
    averages = average_cells(cells, experience)
    slope = fit(FORMS["linear"], *averages.fitted()).coefficients["slope"]
    of = dict(zip(declared.solvers, averages.average, strict=True))
    together = slope * float(np.mean([of[one.id] - of[one.person] for one in assisted]))
    significant, other_significant = (float(one.test.p < 0.05) for one in (never, unaided))  # noqa: PLR2004
    return never.years, never.calibrated, significant, unaided.years, other_significant, together


def assisted_study(
    rng: np.random.Generator,
    noise: Noise,
    gain: float,
    people: tuple[int, ...],
    *,
    crossed: bool,
    subjects: int = 12,
    judges: int = 3,
    problems: int = 8,
) -> tuple[Rankings, Declared, list[Assisted], dict[str, float]]:
    """Simulate people of whom some have help on half of the problems."""
    years = np.sort(rng.uniform(1, 12, subjects))
    quality = years + rng.normal(0, noise.person, subjects)
    quality = quality + rng.normal(0, noise.solution, (problems, subjects))
    quality = quality + rng.normal(0, noise.taste, (judges, 1, subjects))
    quality = quality + rng.normal(0, noise.judge, (judges, problems, subjects))
    quality = np.concatenate([quality, quality[..., list(people)] + gain], axis=-1)
    second = np.arange(problems) >= problems // 2
    for at, person in enumerate(people):
        with_help = ~second if crossed and at % 2 else second
        quality[:, with_help, person] = np.nan
        quality[:, ~with_help, subjects + at] = np.nan
    names = tuple(f"J{i}" for i in range(judges)), tuple(f"P{i}" for i in range(problems))
    assisted = [Assisted(id=f"A{i}", by="helper", person=f"S{i}") for i in people]
    experience = {f"S{i}": float(y) for i, y in enumerate(years)}
    solvers = dict.fromkeys(experience, "subject") | {one.id: "assisted" for one in assisted}
    judge, problem, solver = np.nonzero(np.isfinite(quality))
    once = np.ones(len(judge), dtype=np.int64)
    rank = quality[judge, problem, solver]
    failed = np.zeros(len(judge), dtype=bool)
    data = Rankings(*names, tuple(solvers), judge, problem, solver, once, once, rank, failed)
    return data, Declared(*names, solvers), assisted, experience


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
