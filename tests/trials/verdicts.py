"""Studies of known truth: what is said of those that show nothing, and of jagged systems."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import quem
from quem.experience.presentation.verdict import verdict
from quem.experience.simulation import HIGH, LOW, Scenario, simulate
from tests.experience.years import statements, states_years, unmarked
from tests.trials.runner import registered

if TYPE_CHECKING:
    import random
    from pathlib import Path

# A line rises with p < .05 in 2.5% of studies without a relation; at most 12 of 200.
_RISING = 0.025
_FLAGGED = 0.87


def _few_pass(results: list[dict[str, Any]]) -> str:
    n, passed = len(results), sum(result["passed"] for result in results)
    most = math.ceil(_RISING * n + 3 * math.sqrt(_RISING * (1 - _RISING) * n))
    return "" if passed <= most else f"{passed} of {n} studies passed the gate; at most {most}"


@registered("no-relation", count=200, bar=_few_pass)
def no_relation(rng: random.Random, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    """A study without a relation of experience and rank states no years anywhere."""
    scenario = Scenario(rng.choice([7, 8, 12]), 3, rng.choice([3, 4, 6]), (6.0, None), noise=HIGH)
    simulated = simulate(scenario, 1, rng.getrandbits(32))
    mixed = np.random.default_rng(rng.getrandbits(32))
    simulated.experience[:] = mixed.permuted(simulated.experience, axis=1)
    result = quem.analyze(simulated.study(0), bootstrap=50, permutations=99)
    passed = result.findings.gate.passed
    said = [*statements(result), unmarked(result.to_html()), unmarked(result._repr_html_())]
    if not passed:
        assert not [text for text in said if states_years(text)]
        assert "estimate" not in result.figures()
    return {"passed": passed}


def _most_flagged(results: list[dict[str, Any]]) -> str:
    n, flagged = len(results), sum(result["flagged"] for result in results)
    least = _FLAGGED * n
    return "" if flagged >= least else f"{flagged} of {n} were flagged; at least {least:.0f}"


@registered("jagged-systems", count=400, bar=_most_flagged)
def jagged_systems(rng: random.Random, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    """A system that varies 6 times as much over problems as people is flagged in the headline."""
    noise = rng.choice([LOW, HIGH])
    scenario = Scenario(12, 3, 6, (6.5,), noise=noise, system_solution=6 * noise.solution)
    simulated = simulate(scenario, 1, rng.getrandbits(32))
    result = quem.analyze(simulated.study(0), bootstrap=0, permutations=99)
    (profile,) = result.findings.profiles.values()
    if profile.is_jagged:
        said = verdict(result.findings)
        words = "No single level of experience describes"
        assert words in " ".join([said.title, *said.lead])
        assert words in " ".join(result.summary().split())
        codes = {warning.code for warning in result.warnings}
        assert "jagged" in codes or not result.findings.gate.passed
    return {"flagged": profile.is_jagged}
