"""The method over arrays of studies gives each study the numbers of its own analysis."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import quem
from quem.method.difference import between as between_two
from quem.method.difference import difference
from quem.method.reference import Population, posterior
from quem.planning.batch import Studies, between
from quem.simulation import HIGH, Scenario, simulate

if TYPE_CHECKING:
    from quem.method.core import Core
    from quem.method.difference import Difference as OneDifference
    from quem.planning.batch import Difference
    from quem.simulation import Simulated

_SCENARIOS = {
    "plain": Scenario(systems=(3.0, 6.5)),
    "high noise": Scenario(subjects=5, noise=HIGH, systems=(None, 9.0)),
    "three subjects": Scenario(subjects=3, judges=2, problems=3, noise=HIGH, systems=(5.0, 9.0)),
    "one judge": Scenario(subjects=7, judges=1, systems=(4.0, 14.0)),
    "one problem": Scenario(subjects=7, problems=1, systems=(4.0, 14.0)),
    "missing": Scenario(subjects=8, judges=2, problems=3, systems=(6.5, 9.0), missing=0.3),
    "fewer judges": Scenario(judges=5, systems=(7.0, 2.0), system_judges=1),
    "fewer problems": Scenario(systems=(7.0, 15.0), system_problems=2),
    "ties": Scenario(subjects=8, systems=(6.5, 12.0), ties=2.0),
}
_DECLARED = Population((0.0, 5.0, 10.0, 15.0), (0.5, 0.3, 0.2))
_METHODS: dict[str, dict[str, Any]] = {
    "default": {},
    "declared": {
        "reference_population": {"years": [0, 5, 10, 15], "share": [50, 30, 20]},
        "level": 0.8,
    },
    "rough years": {"years_error": 0.3},
}


def _core(simulated: Simulated, index: int, method: str) -> Core | None:
    """One of the studies on its own; None where it cannot be analyzed."""
    ranks, n = simulated.ranks[index], simulated.scenario.subjects
    if not np.isfinite(ranks).any(axis=(0, 1))[n:].all():
        return None
    return quem.analyze(simulated.study(index), **_METHODS[method]).core


def _studies(simulated: Simulated, method: str) -> Studies:
    of = _METHODS[method]
    population = _DECLARED if "reference_population" in of else None
    error, level = of.get("years_error", 0.0), of.get("level", 0.95)
    return Studies(simulated.ranks, simulated.experience, population, error, level)


@pytest.mark.parametrize("method", _METHODS)
@pytest.mark.parametrize("name", _SCENARIOS)
def test_estimates_are_those_of_single_studies(name: str, method: str) -> None:
    """Both estimates, what a system varies more, and what leads, to 1e-9."""
    simulated = simulate(_SCENARIOS[name], 4, seed=3)
    studies, n = _studies(simulated, method), simulated.scenario.subjects
    compared = 0
    for index in range(len(simulated)):
        if (core := _core(simulated, index, method)) is None:
            continue
        for system, alone in enumerate(core.estimates, n):
            of, variation = studies.estimate(system), studies.variation(system)
            reference, open_end = alone.reference, np.inf
            high = reference.interval[1]
            expected = [
                *(alone.experience, *alone.interval, *alone.mean_interval),
                *(reference.experience, reference.interval[0]),
                open_end if high is None else high,
                alone.variation.added.value,
                np.nan if (ratio := alone.variation.ratio_problems) is None else ratio,
                np.nan if (ratio := alone.variation.ratio_judges) is None else ratio,
            ]
            found = [
                of.paper.experience[index],
                *of.paper.interval[index],
                *of.paper.mean_interval[index],
                of.reference.experience[index],
                *of.reference.interval[index],
                variation.added[index],
                variation.problems[index],
                variation.judges[index],
            ]
            assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
            leads = "paper" if of.paper_leads[index] else "reference" if of.says[index] else None
            assert leads == alone.leads
            compared += 1
    assert compared > 3


@pytest.mark.parametrize("name", _SCENARIOS)
def test_differences_are_those_of_single_studies(name: str) -> None:
    """Differences of two systems of a study, and of systems of two studies, to 1e-9."""
    simulated = simulate(_SCENARIOS[name], 4, seed=4)
    studies, n = _studies(simulated, "default"), simulated.scenario.subjects
    cores = [_core(simulated, index, "default") for index in range(len(simulated))]
    found = studies.difference(n, n + 1)
    for index, core in enumerate(cores):
        if core is None:
            continue
        a, b = core.estimates
        alone = difference(
            core.people,
            (core.averages.z[a.at], core.averages.z[b.at]),
            (a.error, b.error),
            core.population,
            level=0.95,
            opens=(a.reference.open, b.reference.open),
        )
        _compare(found, index, alone)
    one, other = (
        Studies(simulated.ranks[part], simulated.experience[part])
        for part in (slice(0, -1), slice(1, None))
    )
    found = between(one, other, (n, n + 1))
    for index, (first, second) in enumerate(pairwise(cores)):
        if first is None or second is None:
            continue
        population = max(first.population, second.population, key=lambda of: of.high)
        posteriors = [
            posterior(core.people, core.averages.z[of.at], population, of.added)
            for core, of in ((first, first.estimates[0]), (second, second.estimates[1]))
        ]
        opens = [
            bool(of.log_likelihood[-1] > of.log_likelihood.max() - 1.92073) for of in posteriors
        ]
        _compare(found, index, between_two(*posteriors, level=0.95, opens=(opens[0], opens[1])))


def _compare(found: Difference, index: int, alone: OneDifference) -> None:
    low, high = alone.interval
    ends = (-np.inf if low is None else low, np.inf if high is None else high)
    expected = [alone.years, *ends, alone.ahead]
    actual = [found.years[index], *found.interval[index], found.ahead[index]]
    assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)
