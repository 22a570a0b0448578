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


def test_cells_average_to_the_worth() -> None:
    """A solver's cells have its worth as their mean, and none where it was not ranked."""
    worths = fit_worths(simulate(Scenario(ties=1.0), 20, seed=3).ranks)
    np.testing.assert_allclose(worths.cells.mean(axis=(1, 2)), worths.worth, atol=1e-7)
    ranks = simulate(_SCENARIOS["missing and ties"], 20, seed=3).ranks
    np.testing.assert_array_equal(np.isnan(fit_worths(ranks).cells), np.isnan(ranks))


def test_cells_say_how_a_group_moves_the_worth() -> None:
    """Without one group of many, the worths move as its cells say, to first order."""
    ranks = simulate(Scenario(subjects=6, judges=10, problems=40), 1, seed=4).ranks
    worths = fit_worths(ranks)
    ranks_without = ranks.copy()
    ranks_without[0, 3, 7] = np.nan
    moved = fit_worths(ranks_without).worth - worths.worth
    predicted = -(worths.cells[:, 3, 7] - worths.worth) / 400
    np.testing.assert_allclose(moved, predicted, atol=0.02 * np.abs(predicted).max())


def test_reversed_ranks_have_negative_worths() -> None:
    """Worst first and best first say the same, with the other sign."""
    scenario = Scenario(subjects=6, noise=HIGH, ties=2.0)
    ranks = simulate(scenario, 5, seed=5).ranks
    reversed_ranks = ranks.shape[-1] + 1 - ranks
    np.testing.assert_allclose(
        fit_worths(reversed_ranks).worth, -fit_worths(ranks).worth, atol=1e-8
    )


def test_order_of_solvers_judges_and_problems_does_not_matter() -> None:
    """Renamed solvers keep their worths, and so do shuffled judges and problems."""
    ranks = simulate(Scenario(subjects=6, missing=0.1), 5, seed=6).ranks
    rng = np.random.default_rng(1)
    at = rng.permutation(ranks.shape[-1])
    shuffled = ranks[:, ::-1, ::-1][..., at]
    np.testing.assert_allclose(
        fit_worths(shuffled).worth, fit_worths(ranks).worth[:, at], atol=1e-8
    )
