"""The method over arrays of studies gives each study the numbers of its own analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import quem
from quem.method.reference import Population
from quem.planning.batch import Studies, between
from quem.simulation import HIGH, Scenario, simulate

if TYPE_CHECKING:
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


def _analyzable(simulated: Simulated) -> dict[int, quem.Study]:
    """The studies in which all systems have ranks."""
    systems = simulated.ranks[..., simulated.scenario.subjects :]
    held = np.all(np.isfinite(systems).any(axis=(1, 2)), axis=-1)
    return {at: simulated.study(at) for at in np.flatnonzero(held).tolist()}


@pytest.mark.parametrize("method", _METHODS)
@pytest.mark.parametrize("name", _SCENARIOS)
def test_estimates_are_those_of_single_studies(name: str, method: str) -> None:
    """Both estimates, what a system varies more, and what leads, to 1e-9."""
    simulated, of = simulate(_SCENARIOS[name], 4, seed=3), _METHODS[method]
    population = _DECLARED if "reference_population" in of else None
    error, level = of.get("years_error", 0.0), of.get("level", 0.95)
    studies = Studies(simulated.ranks, simulated.experience, population, error, level)
    single = _analyzable(simulated)
    assert len(single) > 1
    for index, study in single.items():
        cores = quem.analyze(study, **_METHODS[method]).core.estimates
        for system, alone in enumerate(cores, simulated.scenario.subjects):
            found_of, variation = studies.estimate(system), studies.variation(system)
            paper, reference = found_of.paper, alone.reference
            low, high = reference.interval
            ratios = alone.variation.ratio_problems, alone.variation.ratio_judges
            expected = [
                *(alone.experience, *alone.interval, *alone.mean_interval),
                *(reference.experience, low, np.inf if high is None else high),
                alone.variation.added.value,
                *(np.nan if ratio is None else ratio for ratio in ratios),
            ]
            found = (
                *(paper.experience, paper.interval, paper.mean_interval),
                *(found_of.reference.experience, found_of.reference.interval),
                *(variation.added, variation.problems, variation.judges),
            )
            assert_allclose(np.hstack([one[index] for one in found]), expected, 1e-9, 1e-9)
            says = "reference" if found_of.says[index] else None
            assert alone.leads == ("paper" if found_of.paper_leads[index] else says)


def test_differences_are_those_of_single_studies() -> None:
    """Differences of two systems of a study, and of systems of two studies, to 1e-9."""
    compared = {1: 0, 2: 0}
    for scenario in _SCENARIOS.values():
        simulated, n = simulate(scenario, 3, seed=4), scenario.subjects
        single = _analyzable(simulated)
        one, other = (
            Studies(simulated.ranks[part], simulated.experience[part])
            for part in (slice(0, -1), slice(1, None))
        )
        within, across = one.difference(n, n + 1), between(one, other, (n, n + 1))
        for at, difference, those in [
            *((at, within, (at,)) for at in range(2)),
            *((at, across, (at, at + 1)) for at in range(2)),
        ]:
            if not single.keys() >= {*those}:
                continue
            pairs = quem.compare(*(single[which] for which in those)).to_dict()["pairs"]
            pair = next(of for of in pairs if (of["a"], of["b"]) == ("K1", "K2"))
            if pair["years"] is not None:
                low, high = pair["interval"]
                ends = (-np.inf if low is None else low, np.inf if high is None else high)
                found = (difference.years, difference.interval, difference.ahead)
                actual = np.hstack([one[at] for one in found])
                assert_allclose(actual, [pair["years"], *ends, pair["ahead"]], 1e-9, 1e-9)
                compared[len(those)] += 1
    assert min(compared.values()) > 8
