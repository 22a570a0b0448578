"""What holds for every study, whatever its ranks are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import quem
from quem.parts import analyze_experience
from tests.made import random_ranks, study_of

if TYPE_CHECKING:
    from random import Random

    from numpy.typing import NDArray

    from quem.parts.result import ExperienceResult

FEW = settings(max_examples=25, deadline=None)


@st.composite
def studies(draw: st.DrawFn) -> tuple[NDArray[np.float64], list[float]]:
    """Ranks of some people and a system, some of them missing, with years."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(4, 9))
    years = [float(one) for one in np.round(np.sort(rng.uniform(0, 15, n)), 1)]
    years[0], years[-1] = 0.5, 15.0
    shape = {"judges": draw(st.integers(1, 4)), "problems": draw(st.integers(1, 5))}
    ranks = random_ranks(rng, years, [float(rng.uniform(0, 20))], **shape)
    if draw(st.booleans()) and ranks[..., 0].size > 2:
        ranks[0, 0, int(rng.integers(0, n + 1))] = np.nan
    return ranks, years


def analyzed(ranks: NDArray[np.float64], years: list[float]) -> ExperienceResult:
    """The result."""
    return analyze_experience(study_of(ranks, years))


@FEW
@given(studies())
def test_the_paper_s_line_is_that_of_statsmodels(
    made: tuple[NDArray[np.float64], list[float]],
) -> None:
    """Estimate, prediction interval, and the interval of the mean come from its predictions."""
    ranks, years = made
    (of,) = analyzed(ranks, years).core.estimates
    average = np.nanmean(
        stats.rankdata(ranks, axis=2, nan_policy="omit").reshape(-1, ranks.shape[2]), axis=0
    )
    n = len(years)
    fitted = sm.OLS(np.array(years), sm.add_constant(average[:n])).fit()
    frame = fitted.get_prediction([[1.0, average[n]]]).summary_frame(alpha=0.05)
    assert of.rank == pytest.approx(average[n])
    assert of.experience == pytest.approx(frame["mean"][0])
    assert of.interval == pytest.approx((frame["obs_ci_lower"][0], frame["obs_ci_upper"][0]))
    assert of.mean_interval == pytest.approx((frame["mean_ci_lower"][0], frame["mean_ci_upper"][0]))


@FEW
@given(studies(), st.sampled_from([2.0, 10.0]))
def test_another_unit_changes_nothing_else(
    made: tuple[NDArray[np.float64], list[float]], factor: float
) -> None:
    """Years in another unit give the same estimates in that unit."""
    ranks, years = made
    (one,) = analyzed(ranks, years).core.estimates
    (other,) = analyzed(ranks, [factor * year for year in years]).core.estimates
    assert other.experience == pytest.approx(factor * one.experience)
    assert other.reference.experience == pytest.approx(factor * one.reference.experience)
    assert (one.leads, one.reference.open) == (other.leads, other.reference.open)


@FEW
@given(studies(), st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(
    made: tuple[NDArray[np.float64], list[float]], random: Random
) -> None:
    """Other orders of judges and problems, and ranks that are stretched, give the same."""
    ranks, years = made
    (one,) = analyzed(ranks, years).core.estimates
    judges, problems = (random.sample(range(n), n) for n in ranks.shape[:2])
    (other,) = analyzed(ranks[judges][:, problems] ** 2 + 7, years).core.estimates
    assert other.rank == pytest.approx(one.rank)
    assert other.reference.experience == pytest.approx(one.reference.experience)
    assert other.variation.added.value == pytest.approx(one.variation.added.value)


@FEW
@given(studies())
def test_what_an_estimate_rests_on_is_the_study_without(
    made: tuple[NDArray[np.float64], list[float]],
) -> None:
    """Leaving a judge or a problem out and analyzing again gives the same estimates."""
    ranks, years = made
    (of,) = analyzed(ranks, years).core.estimates
    for axis, what in ((0, "judge"), (1, "problem")):
        moved = []
        for at in range(ranks.shape[axis]) if ranks.shape[axis] > 1 else ():
            left = np.delete(ranks, at, axis=axis)
            if np.isfinite(left).any(axis=(0, 1)).all():
                try:
                    (without,) = analyzed(left, years).core.estimates
                except quem.QuemError:  # all people have the same average rank
                    continue
                moved.append(abs(without.experience - of.experience))
        rest = [one for one in of.rests_on if one.what == what]
        assert bool(rest) == bool(moved)
        if moved:
            assert abs(rest[0].experience - of.experience) == pytest.approx(max(moved))


@FEW
@given(studies())
def test_both_intervals_hold_their_estimates(
    made: tuple[NDArray[np.float64], list[float]],
) -> None:
    """They hold the estimate, chances fall with years, and the population bounds its interval."""
    ranks, years = made
    result = analyzed(ranks, years)
    (of,) = result.core.estimates
    low, high = of.reference.interval
    assert of.interval[0] <= of.mean_interval[0] <= of.experience <= of.mean_interval[1]
    assert 0 <= low <= of.reference.experience <= (high or 22.5) <= 22.5
    chances = [p for _, p in of.reference.at_least]
    assert chances == sorted(chances, reverse=True)
    assert len(result.statements) == 1
