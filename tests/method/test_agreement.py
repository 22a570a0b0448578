"""The agreement of judges against other computations."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from quem.parts import analyze_experience
from tests.made import random_ranks, study_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.method.agreement import Agreement

YEARS = (1.0, 2.0, 4.0, 6.0, 8.0)


def agreement_of(ranks: NDArray[np.float64], years: tuple[float, ...] = YEARS) -> Agreement:
    """The agreement of a study of ranks."""
    found = analyze_experience(study_of(ranks, years)).core.agreement
    assert found
    return found


def by_definition(ranks: NDArray[np.float64]) -> float:
    """W of ranks (judges, solutions) by variances of mean ranks, with ties."""
    m, n = ranks.shape
    adjusted = np.array([stats.rankdata(of) for of in ranks])
    s = ((adjusted.sum(axis=0) - m * (n + 1) / 2) ** 2).sum()
    ties = sum(
        float((count**3 - count).sum())
        for of in ranks
        for count in [np.unique(of, return_counts=True)[1]]
    )
    return float(12 * s / (m**2 * (n**3 - n) - m * ties))


@pytest.mark.parametrize("ties", [False, True])
def test_w_is_the_mean_over_problems(ties: bool) -> None:  # noqa: FBT001
    """Kendall's W, corrected for ties."""
    ranks = random_ranks(np.random.default_rng(5), YEARS, [5.0], judges=4, problems=3)
    if ties:
        ranks = np.ceil(ranks / 2)
    each = [by_definition(ranks[:, problem]) for problem in range(3)]
    assert agreement_of(ranks).kendall_w == pytest.approx(np.mean(each))


def test_w_without_ties_is_friedman_s() -> None:
    """M (n - 1) W is the statistic of Friedman's test."""
    ranks = random_ranks(np.random.default_rng(6), YEARS, [5.0], judges=4, problems=1)
    statistic = stats.friedmanchisquare(*ranks[:, 0].T).statistic
    assert agreement_of(ranks).kendall_w == pytest.approx(statistic / (4 * 5))


def test_the_p_of_two_judges_counts_all_orders() -> None:
    """The chance that random orders agree as much on both problems together."""
    ranks = random_ranks(np.random.default_rng(7), YEARS[:3], [5.0], judges=2, problems=2)
    ranks[1, 0] = [1, 1, 2, 3]
    values = []
    for problem in range(2):
        first, second = ranks[:, problem]
        orders = (np.array([first, order]) for order in permutations(second))
        values.append([by_definition(order) for order in orders])
    sums = [a + b for a, b in product(*values)]
    least = sum(by_definition(ranks[:, problem]) for problem in range(2))
    p = np.mean([one >= least - 1e-9 for one in sums])
    assert agreement_of(ranks, YEARS[:3]).p_value == pytest.approx(p)


def test_p_of_random_judges_is_uniform_in_large_studies_too() -> None:
    """Above 5,000 ranks it is that of a gamma distribution; permutations give about the same."""
    rng = np.random.default_rng(8)
    years = tuple(float(one) for one in range(9))
    large = rng.permuted(np.tile(np.arange(1.0, 11.0), (4, 130, 1)), axis=2)
    # Enough agreement for a p value in the middle.
    found = agreement_of(large, years)
    centered = stats.rankdata(large, axis=2) - 5.5
    drawn = []
    for _ in range(2_000):
        orders = rng.permuted(centered, axis=2)
        drawn.append((orders.sum(axis=0) ** 2).sum())
    p = np.mean(np.array(drawn) >= (centered.sum(axis=0) ** 2).sum())
    assert found.p_value == pytest.approx(p, abs=0.05)


def test_each_judge_with_the_rest() -> None:
    """The correlation of mean ranks, over the solvers whom all judges ranked."""
    ranks = random_ranks(np.random.default_rng(9), YEARS, [5.0], judges=3, problems=4)
    ranks[0, 0, 5] = np.nan
    means = []
    for judge in range(3):
        # Of a problem those count whom all of its judges ranked.
        common = ranks[judge].copy()
        common[0, 5] = np.nan
        means.append(np.nanmean([stats.rankdata(of, nan_policy="omit") for of in common], axis=0))
    found = agreement_of(ranks)
    for judge, own in enumerate(means):
        rest = np.mean([other for at, other in enumerate(means) if at != judge], axis=0)
        assert found.judges[judge].others == pytest.approx(stats.pearsonr(own, rest).statistic)


def test_one_judge_agrees_with_nobody() -> None:
    """There is neither W nor anybody to agree with."""
    found = agreement_of(random_ranks(np.random.default_rng(1), YEARS, [5.0], judges=1))
    assert np.isnan(found.kendall_w)
    assert found.judges == ()


def test_a_judge_whose_order_is_turned_around() -> None:
    """The judge is named, with the estimate as it would be."""
    rng = np.random.default_rng(3)
    right = random_ranks(rng, YEARS, [5.0], judges=3, problems=6, noise=0.5)
    wrong = right.copy()
    wrong[1] = 7 - right[1]
    study = study_of(wrong, YEARS)
    (told,) = (o.message for o in analyze_experience(study).warnings if o.code == "judge-reversed")
    assert told.startswith("J2's order runs against")
    assert not [
        o for o in analyze_experience(study_of(right, YEARS)).warnings if o.code == "judge-reversed"
    ]
