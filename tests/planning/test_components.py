"""Components of pilots, against statsmodels, brute force and known truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from quem.planning.components import (
    ComponentsError,
    estimate_components,
)
from statsmodels.formula.api import ols

from quem.experience.components import components
from quem.experience.simulation import HIGH, LOW, Noise, Scenario, simulate

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _pilot(
    subjects: int = 8,
    judges: int = 3,
    problems: int = 4,
    seed: int = 0,
    **more: Any,  # noqa: ANN401  the fields of Scenario
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ranks and the experience of a simulated pilot."""
    scenario = Scenario(subjects, judges, problems, (6.5,), **more)
    simulated = simulate(scenario, 1, seed)
    return simulated.ranks[0, ..., :subjects], simulated.experience[0]


def test_the_person_is_what_the_line_leaves() -> None:
    """The person's component is that of a regression by statsmodels, less what is explained."""
    noise = Noise(person=2, solution=1, judge=1, taste=2)
    ranks, experience = _pilot(subjects=10, noise=noise, missing=0.15, seed=6)
    shared = components(ranks)
    assert min(shared.solution, shared.rest, shared.taste) > 0
    frame = pd.DataFrame({"x": np.nanmean(ranks, axis=(0, 1)), "y": experience})
    model = ols("x ~ y", frame).fit()
    explained = 0.0
    for solver, leverage in enumerate(model.get_influence().hat_matrix_diag):
        held = np.isfinite(ranks[..., solver])
        weights = held / held.sum()
        own = shared.rest * (weights**2).sum()
        own += shared.solution * (weights.sum(axis=0) ** 2).sum()
        own += shared.taste * (weights.sum(axis=1) ** 2).sum()
        explained += (1 - leverage) * own / 8
    estimated = estimate_components(ranks, experience)
    assert_allclose(estimated.ranks_per_year, model.params["y"])
    assert_allclose(estimated.p_value, model.pvalues["y"])
    assert_allclose(estimated.noise.person, np.sqrt(model.scale - explained) / model.params["y"])
    assert_allclose(estimated.noise.judge, np.sqrt(shared.rest) / model.params["y"])
    assert estimated.df == 8
    low, high = estimated.person_interval
    assert low < estimated.noise.person < high


@pytest.mark.parametrize("noise", [LOW, HIGH], ids=["low", "high"])
def test_truth_is_found_on_average(noise: Noise) -> None:
    """Pilots tell the truth in the median; judges too much, as rounding to ranks is noise."""
    simulated = simulate(Scenario(20, 3, 6, noise=noise), 150, seed=7)
    pilots = zip(simulated.ranks[..., :20], simulated.experience, strict=True)
    estimates = [estimate_components(ranks, experience) for ranks, experience in pilots]
    for name, low, high in (
        ("person", 0.88, 1.06),
        ("solution", 0.9, 1.05),
        ("judge", 1.0, 1.2),
        ("taste", 0.8, 1.1),
    ):
        median = np.median([getattr(estimate.noise, name) for estimate in estimates])
        assert low < median / getattr(noise, name) < high, name
    held = [t.person_interval[0] <= noise.person <= t.person_interval[1] for t in estimates]
    assert 0.8 < np.mean(held) < 0.98


@pytest.mark.parametrize(
    ("judges", "problems", "missing"), [(1, 5, "judge"), (4, 1, "problem"), (2, 2, "")]
)
def test_one_judge_or_problem_tells_a_sum(judges: int, problems: int, missing: str) -> None:
    """Of a sum the shares are assumed, and the sum is kept."""
    ranks, experience = _pilot(judges=judges, problems=problems, seed=2)
    estimated = estimate_components(ranks, experience)
    assert estimated.missing_dimension == missing
    shared, noise = components(ranks), estimated.noise
    if missing == "judge":
        total = shared.of_problems
        assert_allclose(noise.solution**2 + noise.judge**2, total / estimated.ranks_per_year**2)
    elif missing == "problem":
        total = shared.of_judges
        assert_allclose(noise.taste**2 + noise.judge**2, total / estimated.ranks_per_year**2)
    if missing:
        assert_allclose(noise.judge, noise.solution)
        assert_allclose(noise.taste, noise.solution / 2)


def test_hopeless_pilots_are_refused() -> None:
    """One judge and one problem tell nothing; nor do ranks that fall with experience."""
    ranks, experience = _pilot(judges=1, problems=1)
    with pytest.raises(ComponentsError, match="one judge and one problem"):
        estimate_components(ranks, experience)
    ranks, experience = _pilot()
    with pytest.raises(ComponentsError, match="do not rise with experience"):
        estimate_components(-ranks, experience)
