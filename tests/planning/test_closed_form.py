"""The closed form, against regressions without ranks, scipy and simulated studies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from quem.planning.closed_form import (
    average_variance,
    half_width,
    least_half_width,
    power,
)
from scipy import stats

from quem.experience.simulation import HIGH, LOW, Noise
from quem.planning.designs import StudyDesign
from quem.planning.planner import PlanAssumptions, try_design

VARIANCE = 121 / 12

deviations = st.floats(0.1, 5)
noises = st.builds(Noise, deviations, deviations, deviations, deviations)
counts = st.integers(1, 30)
subjects = st.integers(3, 60)


def test_variance_is_that_of_an_average() -> None:
    """V is the variance of the mean quality over judges and problems of drawn solvers."""
    rng = np.random.default_rng(0)
    noise, judges, problems, solvers = Noise(1.5, 2.0, 3.0, 1.2), 3, 4, 40_000
    quality = rng.normal(0, noise.person, (1, 1, solvers))
    quality = quality + rng.normal(0, noise.solution, (1, problems, solvers))
    quality = quality + rng.normal(0, noise.taste, (judges, 1, solvers))
    quality = quality + rng.normal(0, noise.judge, (judges, problems, solvers))
    expected = quality.mean(axis=(0, 1)).var()
    assert_allclose(average_variance(noise, judges, problems), expected, rtol=0.03)
    shared = average_variance(noise, judges, problems, person=False)
    assert_allclose(shared + noise.person**2, average_variance(noise, judges, problems))


@pytest.mark.parametrize(("n", "variance"), [(12, 1.3), (20, 5.0), (40, 0.4)])
def test_half_width_is_that_of_a_regression(n: int, variance: float) -> None:
    """Regressions of experience on blurred experience have intervals of that width."""
    rng = np.random.default_rng(n)
    y = rng.uniform(1, 12, (700, n + 1))
    x = y + rng.normal(0, np.sqrt(variance), y.shape)
    half_widths = []
    for own_x, own_y in zip(x, y, strict=True):
        fit = stats.linregress(own_x[:n], own_y[:n])
        rest = own_y[:n] - fit.intercept - fit.slope * own_x[:n]
        off = own_x - own_x[:n].mean()
        spread = 1 + 1 / n + off[n] ** 2 / (off[:n] ** 2).sum()
        half_widths.append(stats.t.ppf(0.975, n - 2) * np.sqrt(rest @ rest / (n - 2) * spread))
    assert_allclose(half_width(n, variance, VARIANCE), np.mean(half_widths), rtol=0.04)


@pytest.mark.parametrize("noise", [LOW, HIGH], ids=["low", "high"])
@pytest.mark.parametrize(
    "design", [StudyDesign(7, 2, 3), StudyDesign(12, 3, 6), StudyDesign(20, 5, 12)]
)
def test_half_width_is_near_simulation(noise: Noise, design: StudyDesign) -> None:
    """The closed form is within −3 and +11% of simulated studies, and their intervals cover."""
    trial = try_design(design, PlanAssumptions(noise, (1.0, 12.0)), studies=1500, seed=2)
    formula = half_width(
        design.subjects, average_variance(noise, design.judges, design.problems), VARIANCE
    )
    assert -0.03 < trial.half_width / formula - 1 < 0.11
    assert trial.half_width_error < 0.02 * trial.half_width
    assert 0.93 < trial.coverage < 0.97


@given(subjects, counts, counts, noises, st.sampled_from(["subjects", "judges", "problems"]))
def test_more_is_never_wider(n: int, judges: int, problems: int, noise: Noise, what: str) -> None:
    """One more of anything makes the interval narrower, never narrower than the limit."""

    def width(n: int, judges: int, problems: int) -> float:
        return float(half_width(n, average_variance(noise, judges, problems), VARIANCE))

    more = {"subjects": n, "judges": judges, "problems": problems}
    now = width(*more.values())
    more[what] += 1
    least = least_half_width(noise, VARIANCE)
    assert least < width(*more.values()) < now
    assert least < least_half_width(noise, VARIANCE, subjects=n) < now


def test_power_of_one_judge_is_noncentral_t() -> None:
    """Of one judge without tastes, the power is that of scipy's noncentral t."""
    noise, problems = Noise(1, 1.5, 2.0, 0.0), np.array([2, 3, 8, 30])
    spread = np.sqrt(2 * (1.5**2 + 2.0**2) / problems)
    critical = stats.t.ppf(0.975, problems - 1)
    expected = stats.nct.sf(critical, problems - 1, 1.7 / spread)
    assert_allclose(power(noise, 1, problems, 1.7), expected, atol=2e-3)
    assert_allclose(power(noise, 1, problems, 0.0), 0.025, atol=1e-3)
