"""Simulated studies, and the estimates of many of them at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

import quem
from quem.experience.batch import batch_estimates
from quem.experience.simulation import HIGH, LOW, Scenario, simulate

_FAST = {"bootstrap": 0, "permutations": 0}
_SCENARIOS = {
    "plain": Scenario(systems=(3.0, 6.5)),
    "three subjects": Scenario(subjects=3, judges=1, problems=1, noise=HIGH),
    "far outside": Scenario(subjects=7, systems=(0.0, 16.0), noise=HIGH),
    "missing": Scenario(subjects=7, problems=5, systems=(6.5, 9.0), missing=0.3),
    "ties": Scenario(subjects=8, judges=2, systems=(6.5,), ties=2.0),
    "blocks": Scenario(subjects=15, judges=2, problems=3, systems=(6.5, 9.0), block_size=6),
    "blocks with ties": Scenario(subjects=13, judges=2, problems=2, ties=1.0, block_size=8),
}


@pytest.mark.parametrize("name", _SCENARIOS)
def test_batched_estimates_are_those_of_analyze(name: str) -> None:
    """Each simulated study has the same estimates alone as among others."""
    simulated = simulate(_SCENARIOS[name], 12, seed=3)
    estimates = batch_estimates(simulated)
    for index in range(len(simulated)):
        alone = quem.analyze(simulated.study(index), **_FAST).estimates
        for column, values in {
            "average_rank": estimates.average[index, simulated.experience.shape[1] :],
            "experience": estimates.experience[index],
            "prediction_low": estimates.prediction[index, :, 0],
            "prediction_high": estimates.prediction[index, :, 1],
            "mean_low": estimates.mean[index, :, 0],
            "mean_high": estimates.mean[index, :, 1],
            "calibration_experience": estimates.calibrated[index],
            "calibration_low": estimates.calibration[index, :, 0],
            "calibration_high": estimates.calibration[index, :, 1],
            "lower_bound": estimates.lower[index],
            "upper_bound": estimates.upper[index],
            "inside_range": estimates.inside[index],
        }.items():
            expected = alone[column].to_numpy(dtype=float)
            np.testing.assert_allclose(values, expected, rtol=1e-7, atol=1e-9, err_msg=column)


def test_ranks_are_those_of_the_qualities() -> None:
    """Simulated ranks are adjusted ranks within each group, absent solutions left out."""
    simulated = simulate(Scenario(missing=0.2, ties=1.0), 5, seed=1)
    for group in simulated.ranks.reshape(-1, simulated.ranks.shape[-1]):
        held = group[np.isfinite(group)]
        np.testing.assert_allclose(held, rankdata(held))


def test_a_simulated_study_is_analysed_like_any_other() -> None:
    """The public function gives a study whose estimate is near the truth."""
    study = quem.simulate_study(subjects=20, judges=5, problems=12, systems=(4.0, 9.0), seed=1)
    estimates = quem.analyze(study, **_FAST).estimates
    assert list(estimates["system"]) == ["K1", "K2"]
    np.testing.assert_allclose(estimates["experience"], [4.0, 9.0], atol=1.5)


def test_unknown_noise_is_refused() -> None:
    """A noise that does not exist is named, with those that do."""
    with pytest.raises(ValueError, match="no noise 'loud'; name one of low, high"):
        quem.simulate_study(noise="loud")
    assert quem.simulate_study(noise=LOW).spec.subjects
