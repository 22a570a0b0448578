"""Means over queries, intervals and tests agree with SciPy, statsmodels and brute force."""

from __future__ import annotations

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
    holm,
    query_means,
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


@settings(max_examples=3)  # statsmodels collects garbage each time
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
