"""Systems of one study: what is compared, and what the tests say of it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import quem
from quem.comparison.pair_tests import (
    pair_up,
    problem_test,
    run_test,
    signflip_test,
    twoway_test,
)
from tests.experience.made import cells_of, random_ranks, study_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.loading import Study

SEEDS = st.integers(0, 2**32 - 1)


def _matrix(seed: int, judges: int = 3, problems: int = 7, missing: int = 0) -> NDArray[np.float64]:
    """Differences with effects of judges and problems, some of them missing."""
    rng = np.random.default_rng(seed)
    d = 0.5 + rng.normal(0, 1, (judges, 1)) + rng.normal(0, 1, (1, problems))
    d = d + rng.normal(0, 1, (judges, problems))
    d.ravel()[rng.choice(d.size, missing, replace=False)] = np.nan
    return d


def _study(seed: int, **more: Any) -> Study:  # noqa: ANN401  see random_ranks
    return study_of(*random_ranks(np.random.default_rng(seed), systems=2, **more))


def test_differences_are_those_of_the_rankings_that_hold_both() -> None:
    """D, who is above whom, and what is left out are as counted by hand."""
    years = {"S1": 1.0, "S2": 5.0, "S3": 9.0}
    orders = {
        ("J1", "P1"): {"S1": 1, "S2": 2, "S3": 3, "A": 4, "B": 5},
        ("J1", "P2"): {"S1": 1, "S2": 2, "S3": 3, "A": 3, "B": 3},
        ("J2", "P1"): {"S1": 1, "S2": 3, "S3": 4, "A": 5, "B": 2},
        ("J2", "P2"): {"S1": 1, "S2": 2, "S3": 3, "A": 4},
    }
    ranks = {(j, p, s): float(r) for (j, p), row in orders.items() for s, r in row.items()}
    paired = pair_up(cells_of(study_of(ranks, years)), "A", "B")
    np.testing.assert_array_equal(paired.difference, [[1, 0], [-3, np.nan]])
    np.testing.assert_array_equal(paired.won, [[1, 0.5], [0, np.nan]])
    np.testing.assert_array_equal(paired.by_problem, [-1, 0])
    assert (paired.mean, paired.share_won, paired.n_cells, paired.alone) == (-0.5, 0.5, 3, 1)


def test_who_is_above_whom_does_not_depend_on_the_reference() -> None:
    """Two systems between the same two people tie in rank, and one still beat the other."""
    years = {"S1": 1.0, "S2": 5.0, "S3": 9.0}
    ranks = {("J", "P", s): r for s, r in zip(("S1", "A", "B", "S2", "S3"), range(5), strict=True)}
    study = study_of({cell: float(r) for cell, r in ranks.items()}, years)
    paired = pair_up(cells_of(study, reference="humans"), "A", "B")
    assert (paired.mean, paired.share_won) == (0, 1)


@given(SEEDS, st.integers(2, 9))
def test_problem_test_is_the_t_test_of_scipy(seed: int, problems: int) -> None:
    """t, df, p and interval are those of scipy's one-sample test over the problems."""
    by_problem = _matrix(seed, problems=problems).mean(axis=0)
    result = problem_test(by_problem, 0.9)
    oracle = stats.ttest_1samp(by_problem, 0)
    assert result.statistic == pytest.approx(oracle.statistic)
    assert result.p == pytest.approx(oracle.pvalue)
    assert result.df == oracle.df
    assert result.interval == pytest.approx(tuple(oracle.confidence_interval(0.9)))


@given(SEEDS, st.integers(1, 9))
def test_signflip_test_tries_every_pattern(seed: int, problems: int) -> None:
    """The exact p is that of a loop over all patterns of signs, ties and zeros included."""
    by_problem = np.round(_matrix(seed, problems=problems).mean(axis=0))
    result = signflip_test(by_problem, permutations=0, seed=0)
    sums = [abs(np.dot(signs, by_problem)) for signs in product((-1, 1), repeat=problems)]
    extreme = sum(value >= abs(by_problem.sum()) for value in sums)
    assert (result.extreme, result.patterns, result.exact) == (extreme, 2**problems, True)
    assert result.p == extreme / 2**problems


def test_signflip_test_of_many_problems_is_sampled() -> None:
    """Above 20 problems p is (1 + k)/(1 + n), near the t test's, and the same for one seed."""
    by_problem = _matrix(5, problems=40).mean(axis=0)
    result = signflip_test(by_problem, permutations=4999, seed=1)
    assert (result.patterns, result.exact) == (4999, False)
    assert result.p == (1 + result.extreme) / 5000
    assert result.p == pytest.approx(problem_test(by_problem, 0.95).p, abs=0.02)
    assert signflip_test(by_problem, permutations=4999, seed=1) == result
    assert signflip_test(by_problem, permutations=4999, seed=2) != result
    assert "no random patterns" in signflip_test(by_problem, permutations=0, seed=1).reason


def _mean_squares(d: NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean squares of a complete two-way table, from statsmodels' analysis of variance."""
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    judge, problem = (index.ravel() for index in np.indices(d.shape))
    frame = pd.DataFrame({"d": d.ravel(), "j": judge, "p": problem})
    table = anova_lm(ols("d ~ C(j) + C(p)", frame).fit())
    return tuple((table["sum_sq"] / table["df"])[["C(j)", "C(p)", "Residual"]])


@pytest.mark.parametrize("seed", range(8))
def test_twoway_test_of_a_complete_table_is_that_of_the_mean_squares(seed: int) -> None:
    """The variance is (MS_J + MS_P − MS_JP)/JP with Satterthwaite's df; see statsmodels."""
    d = _matrix(seed)
    judges, problems = d.shape
    ms_j, ms_p, ms_e = _mean_squares(d)
    result = twoway_test(d, 0.95)
    parts = [(1, ms_j, judges - 1), (1, ms_p, problems - 1)]
    parts = [part for part in parts if part[1] > ms_e]
    parts.append((1 - len(parts), ms_e, (judges - 1) * (problems - 1)))
    variance = sum(c * ms for c, ms, _ in parts)
    df = variance**2 / sum((c * ms) ** 2 / own for c, ms, own in parts)
    t = d.mean() / np.sqrt(variance / d.size)
    assert result.statistic == pytest.approx(t)
    assert result.df == pytest.approx(df)
    assert result.p == pytest.approx(2 * stats.t.sf(abs(t), df))


def test_twoway_test_estimates_components_without_bias() -> None:
    """With cells missing, the mean estimated variance of D-bar is its true variance."""
    rng = np.random.default_rng(0)
    held = np.ones((4, 6), dtype=bool)
    held[0, 1] = held[2, 4] = held[2, 5] = False
    n = 1500
    d = rng.normal(0, 2, (n, 4, 1)) + rng.normal(0, 2, (n, 1, 6)) + rng.normal(0, 1, (n, 4, 6))
    d = np.where(held, d, np.nan)
    means = np.nanmean(d, axis=1).mean(axis=1)
    results = [twoway_test(one, 0.95) for one in d]
    errors = [mean / one.statistic for mean, one in zip(means, results, strict=True)]
    assert np.mean(np.square(errors)) == pytest.approx(means.var(), rel=0.08)
    assert np.mean([one.p < 0.05 for one in results]) == pytest.approx(0.05, abs=0.025)


def test_twoway_test_falls_back_on_the_test_over_problems() -> None:
    """Where judges agree more than chance has it, their component is 0 and not negative."""
    d = np.array([[1.0, 3, 2, 5, 4], [1.5, 2.5, 2.5, 4.5, 4]])
    assert _mean_squares(d)[0] < _mean_squares(d)[2]
    twoway, over_problems = twoway_test(d, 0.95), problem_test(d.mean(axis=0), 0.95)
    assert twoway.p == pytest.approx(over_problems.p)
    assert twoway.interval == pytest.approx(over_problems.interval)


@pytest.mark.parametrize("name", ["problem", "twoway"])
def test_no_spread_gives_no_p_value(name: str) -> None:
    """The same difference on every problem has nothing to be held against; none at all is p 1."""
    for value, p in ((2.0, np.nan), (0.0, 1.0)):
        ranks = {
            (j, problem, s): r
            for j in ("J1", "J2")
            for problem in ("P1", "P2", "P3")
            for s, r in {"S1": 1.0, "S2": 2.0, "S3": 3.0, "A": 2.0, "B": 2.0 + value}.items()
        }
        study = study_of(ranks, {"S1": 1, "S2": 2, "S3": 3})
        paired = pair_up(cells_of(study), "A", "B")
        result = run_test(name, paired, level=0.95, permutations=0, seed=0)
        np.testing.assert_equal(result.p, p)
        assert ("no spread" in result.reason) == (value > 0)


@pytest.mark.parametrize(
    ("name", "judges", "problems", "why"),
    [
        ("signflip", 2, 5, "and there are 5: the smallest p that it can give is 0.0625"),
        ("problem", 2, 1, "on one problem only"),
        ("twoway", 1, 4, "one judge only"),
    ],
)
def test_tests_say_why_they_cannot_be(name: str, judges: int, problems: int, why: str) -> None:
    """A test that the data do not allow has no p and a reason."""
    study = _study(1, judges=judges, problems=problems)
    result = run_test(
        name, pair_up(cells_of(study), "K0", "K1"), level=0.95, permutations=99, seed=0
    )
    assert np.isnan(result.p)
    assert why in result.reason


@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.15]))
def test_swapping_two_systems_flips_signs(seed: int, ties: bool, missing: float) -> None:  # noqa: FBT001
    """Whatever is a difference changes its sign, and whatever is not stays."""
    cells = cells_of(_study(seed, ties=ties, missing=missing))
    there, back = pair_up(cells, "K0", "K1"), pair_up(cells, "K1", "K0")
    np.testing.assert_array_equal(there.difference, -back.difference)
    np.testing.assert_array_equal(there.won, 1 - back.won)
    for name in ("problem", "twoway"):
        one, other = (
            run_test(name, paired, level=0.95, permutations=99, seed=0) for paired in (there, back)
        )
        np.testing.assert_allclose(
            [one.p, one.df, *one.interval], [other.p, other.df, *(-np.array(other.interval)[::-1])]
        )


@pytest.mark.parametrize("form", ["linear", "sqrt", "quadratic"])
def test_a_constant_in_experience_changes_no_difference(form: str) -> None:
    """Everybody two years older: no difference, in ranks or years, and no p value moves."""
    ranks, years = random_ranks(np.random.default_rng(4), systems=3, subjects=8)
    older = {subject: y + 2 for subject, y in years.items()}
    one, other = (quem.compare(study_of(ranks, y), form=form) for y in (years, older))
    columns = one.differences.select_dtypes("number").columns
    np.testing.assert_allclose(
        one.differences[columns].astype(float), other.differences[columns].astype(float)
    )


def test_years_by_regression_are_the_difference_of_the_estimates() -> None:
    """With every ranking complete, that difference is that of the two estimates."""
    study = _study(8, subjects=9)
    for form in ("linear", "log"):
        (pair,) = quem.compare(study, form=form).findings.pairs
        a, b = quem.analyze(study, form=form, bootstrap=0).findings.estimates
        assert pair.years.regressed == pytest.approx(b.experience - a.experience)
        assert a.calibration is not None
        assert b.calibration is not None
        calibrated = b.calibration.experience - a.calibration.experience
        assert pair.years.calibrated == pytest.approx(calibrated)
