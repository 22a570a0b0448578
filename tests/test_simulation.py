"""Simulated studies."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata

import quem
from quem.simulation import Noise, Scenario, simulate


def test_ranks_are_those_of_the_qualities() -> None:
    simulated = simulate(Scenario(missing=0.2, ties=1.0), 5, seed=1)
    for group in simulated.ranks.reshape(-1, simulated.ranks.shape[-1]):
        held = group[np.isfinite(group)]
        assert_allclose(held, rankdata(held))


def test_noise_is_what_it_says() -> None:
    """Of one component alone, solvers change places only where it differs."""
    plain = simulate(Scenario(subjects=8, systems=(6.5,), noise=Noise(0, 0, 0, 0)), 40, seed=2)
    order = rankdata(np.append(plain.experience, plain.truth, axis=1), axis=1)
    assert_array_equal(plain.ranks, np.broadcast_to(order[:, None, None], plain.ranks.shape))
    of_person, of_solution, of_taste = (
        simulate(Scenario(subjects=8, systems=(6.5,), noise=noise), 40, seed=2).ranks
        for noise in (Noise(3, 0, 0, 0), Noise(0, 3, 0, 0), Noise(0, 0, 0, 3))
    )
    assert (of_person == of_person[:, :1, :1]).all()
    assert (of_person != plain.ranks).any()
    assert (of_solution == of_solution[:, :1]).all()
    assert (of_solution != of_solution[:, :, :1]).any()
    assert (of_taste == of_taste[:, :, :1]).all()
    assert (of_taste != of_taste[:, :1]).any()


def test_chance_takes_the_place_of_judges_and_subjects_alone() -> None:
    """A judge at random leaves the others' ranks; a subject at random the order of the others."""
    plain = simulate(Scenario(judges=3), 30, seed=3).ranks
    judge = simulate(Scenario(judges=3, random_judges=1), 30, seed=3).ranks
    subject = simulate(Scenario(judges=3, random_subjects=1), 30, seed=3).ranks
    assert_array_equal(judge[:, 1:], plain[:, 1:])
    assert_array_equal(rankdata(subject[..., 1:], axis=-1), rankdata(plain[..., 1:], axis=-1))
    assert abs(judge[:, 0].mean(axis=(0, 1)) - 7).max() < 1.2
    # Of 30 times 18 places of chance the mean is that of all places, within three standard errors.
    assert abs(subject[..., 0].mean() - 7) < 0.5


@pytest.mark.parametrize(("spread", "mean"), [("even", 6.5), ("novices", 3.75), ("experts", 9.25)])
def test_recruits_spread_as_they_say(spread: str, mean: float) -> None:
    simulated = simulate(Scenario(recruits=spread, systems=(None,)), 2000, seed=4)
    assert abs(simulated.experience.mean() - mean) < 0.06
    assert abs(simulated.truth.mean() - 6.5) < 0.3


def test_unknown_noise_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no noise 'loud'; name one of low, high"):
        quem.simulate_study(noise="loud")
