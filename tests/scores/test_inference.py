"""Means, intervals, and the joint test, against brute force and SciPy."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from quem.scores.inference import Inference, compare, query_means
from tests.scores.made import Named, table_of

_ROUNDED = st.integers(-4, 4).map(lambda n: n / 4)


def _stepped(values: np.ndarray) -> dict[tuple[int, int], float]:
    """Joint p values of one measure, over all patterns of signs, one pair after another."""
    pairs = [*combinations(range(len(values)), 2)]
    apart = {pair: values[pair[0]] - values[pair[1]] for pair in pairs}

    def statistic(d: np.ndarray, signs: tuple[int, ...]) -> float:
        size = np.sqrt((d**2).sum())
        return float(abs((d * signs).sum()) / size) if size else 0.0

    n = values.shape[1]
    seen = {pair: statistic(apart[pair], (1,) * n) for pair in pairs}
    left = sorted(pairs, key=lambda pair: -seen[pair])
    drawn = [
        {pair: statistic(apart[pair], signs) for pair in pairs}
        for signs in product((1, -1), repeat=n)
    ]
    p: dict[tuple[int, int], float] = {}
    last = 0.0
    while left:
        reached = sum(max(one[pair] for pair in left) >= seen[left[0]] - 1e-9 for one in drawn)
        last = p[left[0]] = max(last, reached / len(drawn))
        left = left[1:]
    return p


@given(arrays(float, st.tuples(st.integers(2, 4), st.integers(2, 7)), elements=_ROUNDED))
def test_p_values_are_those_of_all_patterns(values: np.ndarray) -> None:
    """Up to 14 queries p is the share of all patterns of signs, stepped down."""
    found = compare(values[:, :, np.newaxis], Inference())
    expected = _stepped(values)
    for pair in found:
        assert pair.p == pytest.approx(expected[pair.a, pair.b], abs=1e-12)


@given(
    arrays(float, st.tuples(st.integers(2, 4), st.integers(2, 20)), elements=_ROUNDED),
    st.sampled_from([0.8, 0.9, 0.95]),
)
def test_intervals_agree_with_p(values: np.ndarray, level: float) -> None:
    """An interval excludes 0 exactly where p is at most 1 - level."""
    for pair in compare(values[:, :, np.newaxis], Inference(level, samples=199)):
        if pair.tested:
            assert (pair.p <= 1 - level + 1e-12) == (pair.low > 0 or pair.high < 0)
            assert not pair.low > pair.difference
            assert not pair.high < pair.difference


def test_two_systems_have_the_paired_randomization_test() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.normal(0.5, 1, 10), rng.normal(size=10)

    def mean(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray((a - b).mean(axis=axis))

    expected = stats.permutation_test(
        [first, second], mean, permutation_type="samples", vectorized=True, n_resamples=10_000
    )
    (pair,) = compare(np.stack([first, second])[:, :, np.newaxis], Inference())
    assert pair.p == pair.p_alone == pytest.approx(expected.pvalue)


def test_many_queries_have_random_patterns() -> None:
    """Beyond 14 queries p is near the normal one, and more patterns move it little."""
    apart = np.random.default_rng(4).normal(0.25, 1, 80)
    values = np.stack([apart, np.zeros(80)])[:, :, np.newaxis]
    few, many = (compare(values, Inference(samples=n))[0] for n in (1999, 49_999))
    assert few.p == pytest.approx(stats.ttest_1samp(apart, 0).pvalue, abs=0.02)
    assert few.p == pytest.approx(many.p, abs=0.015)
    assert few.low == pytest.approx(
        stats.t.interval(0.95, 79, apart.mean(), stats.sem(apart))[0], abs=0.03
    )


def test_scores_are_compared_where_both_are_defined() -> None:
    """Queries where one has no score do not count; a pair on too few is not tested."""
    values = np.random.default_rng(5).normal(size=(3, 12, 1))
    values[0, :4] = np.nan
    values[1, 3:10] = np.nan
    first, second, third = compare(values, Inference())
    assert (first.n, second.n, third.n) == (2, 8, 5)
    assert [pair.tested for pair in (first, second, third)] == [False, True, False]
    assert second.difference == pytest.approx((values[0, 4:, 0] - values[2, 4:, 0]).mean())
    assert np.isnan(first.low)


def test_bootstrap_intervals_are_percentiles() -> None:
    """The interval of a mean is that of SciPy's percentile bootstrap, but for the draw."""
    scores = np.random.default_rng(6).gamma(2, size=60)
    means = query_means(scores[:, np.newaxis], Inference())
    other = stats.bootstrap((scores,), np.mean, method="percentile", n_resamples=9999, rng=1)
    assert means.low[0] == pytest.approx(other.confidence_interval.low, abs=0.03)
    assert means.high[0] == pytest.approx(other.confidence_interval.high, abs=0.03)


def test_best_and_letters() -> None:
    values = np.random.default_rng(8).normal(size=(3, 30, 2)) * 0.1
    values[2] += 1
    values[1, :, 1] -= 1
    table = table_of(values, Named("gain"), Named("error", "lower"))
    assert table.best.tolist() == [[False, False], [False, True], [True, False]]
    assert [table.beaten(2, 0), table.beaten(2, 1), table.beaten(1, 1)] == [[0, 1], [], [0, 2]]
    assert table.order[0] == 2
    assert "* ab" in str(table)


def test_no_star_where_queries_differ() -> None:
    """Systems with scores on other queries are not called best or worse."""
    values = np.random.default_rng(9).normal(size=(2, 20, 1))
    values[1] += 3
    assert table_of(values).best.any()
    values[0, 3] = np.nan
    table = table_of(values)
    assert not table.best.any()
    assert table.beaten(1, 0) == []
