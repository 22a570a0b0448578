"""Worths from average ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_expit

from quem.experience.expected_ranks import fit_worths
from quem.experience.simulation import HIGH, Scenario, simulate

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SCENARIOS = {
    "plain": Scenario(subjects=5, judges=2, problems=2),
    "missing and ties": Scenario(
        subjects=6, judges=2, problems=4, noise=HIGH, missing=0.2, ties=2.0
    ),
    "one always first": Scenario(subjects=4, judges=1, problems=2, systems=(60.0,)),
}


def _negative_log_likelihood(worth: NDArray[np.float64], ranks: NDArray[np.float64]) -> float:
    """Every pair of every group one by one: a win counts 1, a tie one half for each side."""
    total = 0.0
    for group in ranks.reshape(-1, ranks.shape[-1]):
        for i, a in enumerate(group):
            if np.isnan(a):
                continue
            total += 0.2 * (log_expit(worth[i]) + log_expit(-worth[i]))
            for k, b in enumerate(group):
                won = float(a > b) + 0.5 * float(a == b)
                if k != i and not np.isnan(b):
                    total += won * log_expit(worth[i] - worth[k])
    return -total


@pytest.mark.parametrize("name", _SCENARIOS)
def test_worths_maximise_the_likelihood_of_all_pairs(name: str) -> None:
    """The worths are where a general optimiser finds the greatest likelihood."""
    ranks = simulate(_SCENARIOS[name], 3, seed=2).ranks
    for study, worth in zip(ranks, fit_worths(ranks).worth, strict=True):
        best = minimize(_negative_log_likelihood, np.zeros(len(worth)), args=(study,), tol=1e-10)
        np.testing.assert_allclose(worth, best.x, atol=2e-4)
