"""Means over queries, intervals and tests agree with SciPy, statsmodels and brute force."""

from __future__ import annotations

import tracemalloc
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from quem.lists.inference import (
    compare_systems,
    draw_queries,
    holm,
    query_means,
    resample_means,
    sign_flips,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NAN = float("nan")


def scores_like(shape: tuple[int, ...], seed: int = 0, missing: float = 0.0) -> Floats:
    """Draw scores, of which some are missing."""
    rng = np.random.default_rng(seed)
    scores = rng.random(shape)
    scores[rng.random(shape) < missing] = np.nan
    return scores


def test_interval_is_that_of_scipy() -> None:
    """The percentile interval agrees with SciPy's to within what resampling leaves."""
    scores = scores_like((60, 1)) ** 3
    means = query_means(scores, level=0.9, replicates=20_000, seed=1)
    expected = stats.bootstrap(
        (scores[:, 0],),
        np.mean,
        confidence_level=0.9,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(2),
    ).confidence_interval
    assert means.mean[0] == pytest.approx(scores.mean())
    assert (means.low[0], means.high[0]) == pytest.approx((expected.low, expected.high), abs=0.004)


def test_resampled_means_are_those_of_the_drawn_queries() -> None:
    """Each replicate is the mean over drawn queries with a score, drawn again one by one."""
    scores = scores_like((7, 3), missing=0.3)
    means = resample_means(scores, replicates=50, seed=3)
    (times,) = draw_queries(7, replicates=50, seed=3)
    assert (times.sum(axis=1) == 7).all()
    for row, counts in enumerate(times.astype(int)):
        drawn = np.repeat(np.arange(7), counts)
        for column in range(3):
            held = scores[drawn, column]
            held = held[~np.isnan(held)]
            expected = held.mean() if len(held) else np.nan
            assert means[row, column] == pytest.approx(expected, nan_ok=True)


def test_undefined_scores_are_left_out_and_counted() -> None:
    """A mean is over the queries with a score; one score alone has no interval."""
    scores = np.array([[0.5, NAN, NAN], [NAN, NAN, 1.0], [0.1, NAN, NAN]])
    means = query_means(scores, level=0.95, replicates=500, seed=0)
    assert means.mean.tolist() == pytest.approx([0.3, NAN, 1.0], nan_ok=True)
    assert means.defined.tolist() == [2, 0, 1]
    assert means.low[0] == pytest.approx(0.1)
    assert means.high[0] == pytest.approx(0.5)
    assert np.isnan([*means.low[1:], *means.high[1:]]).all()
    none = query_means(scores, level=0.95, replicates=0, seed=0)
    assert np.isnan(none.low).all()


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_all_patterns_are_those_of_scipy(n: int) -> None:
    """Up to 14 queries, p is that of SciPy's exact test, ties included."""
    differences = np.round(scores_like((n, 1), seed=n) - 0.3, 1)
    (test,) = sign_flips(differences, permutations=0, seed=0)
    sums = [abs(np.dot(signs, differences[:, 0])) for signs in product((1, -1), repeat=n)]
    brute = np.mean(np.array(sums) >= abs(differences.sum()) - 1e-9)
    assert test.exact
    assert test.patterns == 2**n
    assert test.p == pytest.approx(brute)
    if n > 1:
        expected = stats.permutation_test(
            (differences[:, 0],), np.sum, permutation_type="samples", n_resamples=2**n
        )
        # SciPy doubles the smaller tail, which is the same for a symmetric distribution.
        assert test.p == pytest.approx(min(1.0, float(expected.pvalue)), abs=1e-9)


def test_random_patterns_approach_all_of_them() -> None:
    """Random patterns give the exact p to within chance, and never 0."""
    differences = scores_like((14, 1), seed=4) - 0.35
    (exact,) = sign_flips(differences, permutations=0, seed=0)
    (drawn,) = sign_flips(differences, permutations=40_000, seed=0, most_exact=3)
    assert exact.exact
    assert not drawn.exact
    assert drawn.p == pytest.approx(exact.p, abs=4 * (exact.p / 40_000) ** 0.5)
    (sure,) = sign_flips(np.ones((100, 1)), permutations=99, seed=0)
    assert sure.p == 1 / 100


def test_nothing_to_test_gives_no_p() -> None:
    """Without differences, or without random patterns where these are needed, p is NaN."""
    empty = sign_flips(np.full((3, 1), np.nan), permutations=99, seed=0)
    unasked = sign_flips(np.ones((15, 1)), permutations=0, seed=0)
    assert np.isnan([empty[0].p, unasked[0].p]).all()
    (same,) = sign_flips(np.zeros((20, 1)), permutations=99, seed=0)
    assert same.p == 1


@settings(max_examples=6)  # statsmodels collects garbage each time
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    """Adjusted p values are statsmodels'; an unknown one counts as 1 and stays unknown."""
    oracle = multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(list(oracle))
    with_unknown = multipletests([*p_values, 1.0], method="holm")[1]
    assert holm([*p_values, np.nan])[:-1] == pytest.approx(list(with_unknown[:-1]))
    assert np.isnan(holm([*p_values, np.nan])[-1])


def test_pairs_are_compared_where_both_have_a_score() -> None:
    """Differences, counts and tests are those of the queries that two systems share."""
    scores = scores_like((3, 25, 2), seed=5, missing=0.2)
    settings = {"level": 0.95, "replicates": 300, "permutations": 999, "seed": 7}
    pairs = compare_systems(scores, **settings)  # type: ignore[arg-type]
    assert [(p.first, p.second, p.measure) for p in pairs] == [
        (i, j, m) for i, j in ((0, 1), (0, 2), (1, 2)) for m in (0, 1)
    ]
    for pair in pairs:
        apart = scores[pair.first, :, pair.measure] - scores[pair.second, :, pair.measure]
        held = apart[~np.isnan(apart)]
        assert pair.n == len(held)
        assert pair.difference == pytest.approx(held.mean())
        assert (pair.higher, pair.lower) == ((held > 0).sum(), (held < 0).sum())
        assert pair.higher + pair.equal + pair.lower == pair.n
        assert pair.interval[0] < pair.difference < pair.interval[1]
    for measure in (0, 1):
        mine = [pair for pair in pairs if pair.measure == measure]
        assert [pair.p_holm for pair in mine] == pytest.approx(holm([pair.p for pair in mine]))


def test_swapping_two_systems_turns_the_sign() -> None:
    """The p stays, the difference and the ends of its interval turn round."""
    scores = scores_like((2, 18, 1), seed=6)
    settings = {"level": 0.95, "replicates": 400, "permutations": 500, "seed": 1}
    (one,) = compare_systems(scores, **settings)  # type: ignore[arg-type]
    (other,) = compare_systems(scores[::-1], **settings)  # type: ignore[arg-type]
    assert other.p == one.p
    assert other.difference == pytest.approx(-one.difference)
    assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]))


def test_many_queries_need_little_memory() -> None:
    """10,000 queries, three systems and twelve measures stay well below what all draws need."""
    scores = scores_like((3, 10_000, 12))
    tracemalloc.start()
    compare_systems(scores, level=0.95, replicates=400, permutations=400, seed=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6
