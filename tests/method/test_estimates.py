"""The estimate for the population against quadrature by brute force, and laws of every study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import quem
from quem.method.statement import headline
from quem.parts import analyze_experience
from tests.made import random_ranks, study_of
from tests.method.brute import YEARS, System, ends, people_of, places, posterior

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from numpy.typing import NDArray

    from quem.parts.result import ExperienceResult

    Floats = NDArray[np.float64]


def analyzed(ranks: Floats, years: Sequence[float] = YEARS, **analysis: object) -> ExperienceResult:
    """The result of ranks with one system."""
    return analyze_experience(study_of(ranks, years, analysis=analysis))


def is_quadrature(
    result: ExperienceResult, ranks: Floats, low: float, high: float
) -> tuple[bool, bool]:
    """Compare quadrature on 2,001 points with that on 20,001; gives whether each end is near."""
    (of,), (p, z) = result.core.estimates, places(ranks)
    people, added, grid = people_of(z, YEARS), of.variation.added, np.linspace(low, high, 20_001)
    more = added.value / max(p[-1] * (1 - p[-1]), 0.0196)
    weights, near = posterior(people, System(z[-1], added=more, added_df=added.df), grid)
    start, median, end = ends(grid, weights)
    assert of.reference.experience == pytest.approx(median, abs=2e-3)
    assert of.reference.interval[0] == pytest.approx(start, abs=2e-3)
    if of.reference.interval[1] is not None:
        assert of.reference.interval[1] == pytest.approx(end, abs=2e-3)
    for years, chance in of.reference.at_least:
        below = np.interp(years, grid, weights.cumsum() - weights / 2)
        assert chance == pytest.approx(1 - below, abs=2e-5)
    return near


@pytest.mark.parametrize("shape", [(3, 6), (1, 6), (3, 1), (1, 1)])
@pytest.mark.parametrize("system", [1.5, 6.0, 14.0, 25.0])
def test_one_judge_or_one_problem(shape: tuple[int, int], system: float) -> None:
    """Each is defined, open ends too; what is added is checked elsewhere."""
    rng = np.random.default_rng(hash((shape, system)) % 1000)
    ranks = random_ranks(rng, YEARS, [system], judges=shape[0], problems=shape[1])
    result = analyzed(ranks)
    (of,) = result.core.estimates
    near_low, near_high = is_quadrature(result, ranks, 0.0, 18.0)
    rises = people_of(places(ranks)[1], YEARS).line.slope > 0
    assert of.reference.open == near_high == (of.reference.interval[1] is None)
    assert of.reference.says == (rises and not (near_low and near_high))
    if of.leads == "reference":
        assert result.statements[0].interval == of.reference.interval
    assert (of.variation.ratio_judges is None) == (shape[0] == 1)
    assert (of.variation.ratio_problems is None) == (shape[1] == 1)


def test_a_declared_population_is_never_open() -> None:
    """It is taken at its word."""
    ranks = random_ranks(np.random.default_rng(1), YEARS, [30.0])
    assert analyzed(ranks).core.estimates[0].reference.open
    result = analyzed(ranks, reference_population={"years": [2, 20]})
    is_quadrature(result, ranks, 2.0, 20.0)
    (of,) = result.core.estimates
    assert not of.reference.open
    assert of.reference.interval[1] is not None


@pytest.mark.parametrize(("most", "warned"), [(18, False), (18.1, True)])
def test_a_declared_population_far_beyond_the_subjects_is_warned_of(
    most: float, *, warned: bool
) -> None:
    ranks = random_ranks(np.random.default_rng(1), YEARS, [6.0])
    result = analyzed(ranks, reference_population={"years": [0, most]})
    assert ("population-beyond-subjects" in {one.code for one in result.warnings}) == warned


def test_years_that_go_against_quality_say_nothing() -> None:
    """No years are stated where ranks fall with experience, and the paper's numbers stay."""
    ranks = random_ranks(np.random.default_rng(2), [13 - y for y in YEARS], [6.0])
    result = analyzed(ranks, at_least=[5])
    (of,), (said,) = result.core.estimates, result.statements
    assert (of.reference.says, of.leads, said.chances) == (False, None, "")
    assert said.sentence.startswith("No experience estimate for K1")
    assert result.estimates.loc[0, "paper_experience"] == pytest.approx(of.experience)
    assert "decreasing-skill-function" in {one.code for one in result.warnings}


def test_a_declared_population_that_is_silent_states_no_years() -> None:
    """The paper's line does not speak in its place, and nothing is said to use it."""
    ranks = random_ranks(np.random.default_rng(1), YEARS, [6.0], noise=0.5)
    assert analyzed(ranks).core.estimates[0].leads == "paper"
    result = analyzed(ranks, reference_population={"years": [9, 10]})
    (of,), (said,) = result.core.estimates, result.statements
    assert (of.reference.says, of.leads) == (False, None)
    assert "do not narrow down the declared population, 9 to 10 years" in said.sentence
    assert "This uses the declared population" not in result.summary() + result.to_html()
    assert "They do not support one." not in result.to_html()


def test_words_on_the_line_beyond_it_and_without_years() -> None:
    """The interval has its name; years above all subjects are told; who has none is named."""
    paper = analyzed(random_ranks(np.random.default_rng(1), YEARS, [6.0], noise=0.5))
    assert paper.statements[0].meaning.endswith(" years (95% prediction interval).")
    ranks = random_ranks(np.random.default_rng(29), YEARS, [12.5, 3.0], noise=1.5)
    above = analyze_experience(study_of(ranks, YEARS, systems=2)).statements[0]
    assert above.reason == "On the line K1 has 12.1 years, above 12 of the subjects."
    years = (1.0, 3.0, 4.0, 6.0, 8.0, 9.3)
    ranks = random_ranks(np.random.default_rng(1), years, [8.0, 2.0], noise=4.0, problems=3)
    wide = analyze_experience(study_of(ranks, years, systems=2, analysis={"level": 0.99}))
    assert headline(wide.core, wide.statements).endswith("; no years are stated for K1.")


def test_the_assumed_population_that_leads_is_in_the_methods() -> None:
    ranks = random_ranks(np.random.default_rng(1), YEARS, [30.0], noise=0.5)
    result = analyzed(ranks)
    assert result.core.estimates[0].leads == "reference"
    assert "This assumes a uniform prior from 0 to" in result.context()["methods"]


def test_a_system_that_is_as_good_as_the_best_subject_is_above_nobody() -> None:
    ranks = random_ranks(np.random.default_rng(1), YEARS, [6.0], noise=0.5)
    best = int(np.nanmean(ranks, axis=(0, 1))[:-1].argmax())
    ranks[:, :, -1] = ranks[:, :, best]
    (said,) = analyzed(ranks).statements
    assert said.reason.startswith("K1’s average rank is not below any subject’s.")


def test_a_fall_by_chance_accuses_nobody_of_the_direction() -> None:
    ranks = random_ranks(np.random.default_rng(2), [7.0] * 7, [6.0])
    result = analyzed(ranks)
    assert not result.core.line.rises
    codes = {one.code for one in result.warnings}
    assert "not-significant" in codes
    assert "decreasing-skill-function" not in codes


def test_cells_of_a_system_beside_those_of_subjects() -> None:
    """In every cell nothing is added, whatever subjects lack; else the numbers are told."""
    ranks = random_ranks(np.random.default_rng(4), YEARS, [6.0], judges=4, problems=5)
    ranks[0, 0, 7] = np.nan
    (told,) = [one for one in analyzed(ranks).warnings if one.code == "uneven-system"]
    assert told.message == "K1 has 19 ranks, subjects have 20.0 on average"
    ranks = random_ranks(np.random.default_rng(0), YEARS, [6.0], judges=4, problems=5)
    ranks[1:, 1:] = ranks[1:, 0, :5] = np.nan
    (of,) = analyzed(ranks).core.estimates
    assert of.variation.incidence.value == 0


def test_ranks_that_everybody_ties_but_the_people() -> None:
    """People who never vary add nothing, and a system that does is called uneven."""
    ranks = np.tile(np.arange(1.0, 9.0), (2, 4, 1))
    # The system alone changes its place, between the two people on its sides.
    ranks[:, ::2, 7], ranks[:, 1::2, 7] = 3.5, 5.5
    (of,) = analyzed(ranks).core.estimates
    assert of.variation.ratio_problems is not None
    assert of.leads != "paper"


Made = tuple["NDArray[np.float64]", list[float]]
FEW = settings(max_examples=15, deadline=None)


@st.composite
def studies(draw: st.DrawFn) -> Made:
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


@FEW
@given(studies())
def test_the_paper_s_line_is_that_of_statsmodels(made: Made) -> None:
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
def test_another_unit_changes_nothing_else(made: Made, factor: float) -> None:
    ranks, years = made
    (one,) = analyzed(ranks, years).core.estimates
    (other,) = analyzed(ranks, [factor * year for year in years]).core.estimates
    assert other.experience == pytest.approx(factor * one.experience)
    assert other.reference.experience == pytest.approx(factor * one.reference.experience)
    assert (one.leads, one.reference.open) == (other.leads, other.reference.open)


@FEW
@given(studies(), st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(made: Made, random: Random) -> None:
    ranks, years = made
    (one,) = analyzed(ranks, years).core.estimates
    judges, problems = (random.sample(range(n), n) for n in ranks.shape[:2])
    (other,) = analyzed(ranks[judges][:, problems] ** 2 + 7, years).core.estimates
    assert other.rank == pytest.approx(one.rank)
    assert other.reference.experience == pytest.approx(one.reference.experience)
    assert other.variation.added.value == pytest.approx(one.variation.added.value)


@FEW
@given(studies())
def test_what_an_estimate_rests_on_is_the_study_without(made: Made) -> None:
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
def test_both_intervals_hold_their_estimates(made: Made) -> None:
    """They hold the estimate, chances fall with years, and the population bounds its interval."""
    ranks, years = made
    result = analyzed(ranks, years)
    (of,) = result.core.estimates
    low, high = of.reference.interval
    assert of.interval[0] <= of.mean_interval[0] <= of.experience <= of.mean_interval[1]
    assert 0 <= low <= of.reference.experience <= (high or 22.5) <= 22.5
    each, chances = zip(*of.reference.at_least, strict=True)
    assert each == (8, 12)
    assert list(chances) == sorted(chances, reverse=True)
    assert len(result.statements) == 1
