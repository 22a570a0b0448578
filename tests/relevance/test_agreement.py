"""Agreement and consensus, beside other programs and loops."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from statistics import median_low

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from quem.relevance.agreement import alphas, in_common
from quem.relevance.analysis import consensus_grade
from quem.scores.inference import Inference
from tests.relevance.made import drawn

SEEDS = st.integers(0, 10_000)


@settings(max_examples=30)
@given(SEEDS, st.integers(2, 6), st.integers(2, 10))
def test_alpha_is_that_of_another_program(seed: int, judges: int, grades: int) -> None:
    """Over all queries, and of each query by itself."""
    judgments = drawn(seed, judges=judges, grades=grades)
    found = alphas(judgments, Inference(samples=0))
    assert np.isnan(found.interval).all()
    for query, alpha in [(None, found.overall), *enumerate(found.by_query.tolist())]:
        own = judgments.first[:, judgments.query == query] if query is not None else judgments.first
        kept = own[:, (~np.isnan(own)).sum(axis=0) > 1]
        if len(np.unique(kept[~np.isnan(kept)])) < 2:
            assert np.isnan(alpha)
            continue
        expected = krippendorff.alpha(own, level_of_measurement="ordinal")
        assert alpha == pytest.approx(expected, abs=1e-12)


def test_interval_is_that_of_resampled_queries() -> None:
    """Percentiles of alpha over samples of whole queries, each computed from its judgments."""
    judgments = drawn(5, candidates=48)
    found = alphas(judgments, Inference(level=0.9, seed=7))
    assert found.interval[0] < found.overall < found.interval[1]
    n = len(judgments.queries)
    values = []
    for drawn_queries in np.random.default_rng(7).integers(0, n, size=(2000, n)):
        taken = [judgments.first[:, judgments.query == query] for query in drawn_queries]
        values.append(krippendorff.alpha(np.hstack(taken), level_of_measurement="ordinal"))
    assert found.interval == pytest.approx(np.quantile(values, [0.05, 0.95]), abs=1e-9)


@settings(max_examples=30)
@given(SEEDS)
def test_kappa_is_that_of_another_program(seed: int) -> None:
    """Of two judges, and of a judge who judged twice."""
    judgments = drawn(seed, judges=3)
    for one, other in combinations(range(3), 2):
        common = in_common(judgments.first[one], judgments.first[other])
        both = ~np.isnan(judgments.first[[one, other]]).any(axis=0)
        a, b = judgments.first[[one, other]][:, both].astype(int)
        counts = np.zeros((3, 3))
        np.add.at(counts, (a, b), 1)
        assert (common.n, common.same) == (both.sum(), (a == b).mean())
        if len({*a.tolist(), *b.tolist()}) > 1:
            expected = cohens_kappa(counts, wt="quadratic").kappa
            assert common.weighted_kappa == pytest.approx(expected, abs=1e-12)
    for first, again in zip(judgments.first, judgments.again, strict=True):
        common = in_common(first, again)
        assert common.n == (~np.isnan(first) & ~np.isnan(again)).sum()
        # Whoever says the same again agrees with themselves.
        assert common.n == 0 or common.same == 1


@settings(max_examples=30)
@given(SEEDS, st.integers(1, 6))
def test_consensus_is_that_of_a_loop(seed: int, judges: int) -> None:
    """The lower median, and the lowest of the most frequent grades."""
    judgments = drawn(seed, judges=judges)
    median, mode = (consensus_grade(judgments, rule) for rule in ("median", "mode"))
    for at, column in enumerate(judgments.first.T):
        said = column[~np.isnan(column)].tolist()
        if not said:
            assert np.isnan([median[at], mode[at]]).all()
            continue
        counts = Counter(said)
        assert median[at] == median_low(said)
        assert mode[at] == min(g for g, n in counts.items() if n == max(counts.values()))
