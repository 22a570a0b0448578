"""Systems of one study: what is compared, and what the tests say of it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

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

    from quem.rankings.loading import Study

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
