"""The joint test of all pairs, the groups made of it, and the agreement of orders."""

from __future__ import annotations

from itertools import combinations, permutations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from quem.lists.groups import (
    common_queries,
    group_letters,
    indistinct_groups,
    joint_test,
)
from quem.lists.inference import sign_flips

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def all_pairs(scores: Floats, fewest: int = 1) -> NDArray[np.bool_]:
    """Every pair with that many common queries."""
    return (common_queries(scores) >= fewest) & ~np.eye(len(scores), dtype=bool)


def statistic(first: Floats, second: Floats) -> float:
    """The statistic of a pair, one query at a time."""
    total = squares = 0.0
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        if not np.isnan(a) and not np.isnan(b):
            total += a - b
            squares += (a - b) ** 2
    return abs(total) / np.sqrt(squares) if squares > 1e-15 else 0.0


def enumerated(scores: Floats) -> Floats:
    """The exact p values of the joint test: every exchange on every query, one after another."""
    systems, queries = scores.shape
    pairs = list(combinations(range(systems), 2))
    observed = [statistic(scores[a], scores[b]) for a, b in pairs]
    reached = np.zeros(len(pairs))
    ways = []
    for query in range(queries):
        there = np.flatnonzero(~np.isnan(scores[:, query])).tolist()
        ways.append([dict(zip(there, order, strict=True)) for order in permutations(there)])
    count = 0
    for chosen in product(*ways):
        moved = np.full(scores.shape, np.nan)
        for query, order in enumerate(chosen):
            for to, source in order.items():
                moved[to, query] = scores[source, query]
        largest = max(statistic(moved[a], moved[b]) for a, b in pairs)
        reached += [largest >= one - 1e-9 for one in observed]
        count += 1
    p = np.full((systems, systems), np.nan)
    for (a, b), times in zip(pairs, reached.tolist(), strict=True):
        p[a, b] = p[b, a] = times / count
    return p


@pytest.mark.parametrize("missing", [False, True])
def test_all_exchanges_give_the_same(*, missing: bool) -> None:
    """Random exchanges agree with a loop over all of them, with missing scores too."""
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(3, 5, 1)) + np.array([0.0, 0.3, 3.0]).reshape(3, 1, 1)
    if missing:
        scores[0, 1, 0] = scores[2, 4, 0] = np.nan
    found = joint_test(scores, all_pairs(scores), permutations=40_000, seed=0)[0]
    expected = enumerated(scores[:, :, 0])
    assert np.isnan(np.diag(found)).all()
    assert found[~np.eye(3, dtype=bool)] == pytest.approx(
        expected[~np.eye(3, dtype=bool)], abs=0.009
    )
    assert np.nanmin(expected) < 0.2 < np.nanmax(expected)


@pytest.mark.parametrize("queries", [7, 40])
def test_two_systems_have_the_paired_test(queries: int) -> None:
    """Of two systems the test is the paired randomization test; with few queries, exact."""
    rng = np.random.default_rng(queries)
    scores = rng.random((2, queries, 3))
    scores[0, 2] = np.nan
    found = joint_test(scores, all_pairs(scores), permutations=999, seed=4)
    tests = sign_flips(scores[0] - scores[1], permutations=999, seed=4)
    assert found[:, 0, 1].tolist() == found[:, 1, 0].tolist() == [test.p for test in tests]
    assert tests[0].exact == (queries == 7)
    if queries == 7:
        apart = (scores[0] - scores[1])[~np.isnan(scores[0, :, 0]), 0]
        flips = np.array(list(product((1, -1), repeat=6))) @ apart
        assert found[0, 0, 1] == (np.abs(flips) >= abs(apart.sum()) - 1e-12).mean()


def test_two_among_exchanges_agree_with_sign_flips() -> None:
    """The statistic orders the exchanges of two systems as the sum of differences does."""
    rng = np.random.default_rng(1)
    pair = rng.random((2, 30, 1)) + np.array([0.0, 0.12]).reshape(2, 1, 1)
    # A third system far off takes part in no pair, but makes the general way compute.
    scores = np.concatenate([pair, pair[:1] * np.nan])
    testable = all_pairs(scores)
    assert testable.sum() == 2
    (expected,) = sign_flips(pair[0] - pair[1], permutations=20_000, seed=9)
    from quem.lists.groups import _joint

    general = _joint(pair.transpose(2, 1, 0), testable[0][:2, :2], 20_000, 5)
    assert general[0, 0, 1] == pytest.approx(expected.p, abs=0.012)


def test_equal_systems_are_rarely_told_apart() -> None:
    """Among equal systems any is told apart in about 5 of 100 samples, not in 20 or 30."""
    rng = np.random.default_rng(12)
    wrong, alone, samples = 0, 0, 120
    for _ in range(samples):
        # Queries differ in difficulty, and systems in what they find difficult.
        scores = rng.random((5, 25, 1)) + rng.normal(size=(1, 25, 1))
        testable = all_pairs(scores)
        p = joint_test(scores, testable, permutations=199, seed=int(rng.integers(2**31)))
        wrong += bool((p[testable] <= 0.05).any())
        pairs = np.stack([scores[a, :, 0] - scores[b, :, 0] for a, b in combinations(range(5), 2)])
        alone += bool(np.min(stats.ttest_1samp(pairs, 0, axis=1).pvalue) <= 0.05)
    low, high = stats.binom.interval(0.999, samples, 0.05)
    assert low <= wrong <= high, wrong
    assert alone > high, "without a joint test far too many are"


def test_a_bad_system_hides_no_difference() -> None:
    """Two systems that differ on every query are told apart beside one that is far off."""
    rng = np.random.default_rng(2)
    base = rng.random(40)
    scores = np.stack([base, base + 0.02 + 0.01 * rng.random(40), base - 5 * rng.random(40)])
    p = joint_test(scores[:, :, None], all_pairs(scores[:, :, None]), permutations=999, seed=0)
    assert (p[0][np.triu_indices(3, 1)] <= 0.01).all()


def test_equal_scores_are_equal() -> None:
    """Systems with the same scores have p = 1, and pairs that are not testable none."""
    scores = np.tile(np.linspace(0, 1, 9), (4, 1))[:, :, None].repeat(2, axis=2)
    scores[3, 4:, 1] = np.nan
    p = joint_test(scores, all_pairs(scores, 6), permutations=99, seed=0)
    assert (p[0][~np.eye(4, dtype=bool)] == 1).all()
    assert np.isnan(p[1, 3]).all()
    assert p[1, 0, 1] == 1
    assert np.isnan(joint_test(scores, all_pairs(scores), permutations=0, seed=0)).all()


@st.composite
def patterns(draw: st.DrawFn) -> NDArray[np.bool_]:
    """Which of up to nine systems differ, in whatever pattern."""
    n = draw(st.integers(1, 9))
    differ = np.zeros((n, n), dtype=bool)
    for a, b in combinations(range(n), 2):
        differ[a, b] = differ[b, a] = draw(st.booleans())
    return differ


@given(patterns())
def test_two_share_a_letter_where_they_do_not_differ(differ: NDArray[np.bool_]) -> None:
    """Systems share a letter if, and only if, no test tells them apart; each has a letter."""
    n = len(differ)
    groups = indistinct_groups(differ)
    letters = group_letters(groups, n)
    assert all(letters)
    for a, b in combinations(range(n), 2):
        assert bool(set(letters[a]) & set(letters[b])) == (not differ[a, b])
    for group in groups:
        others = [other for other in groups if other != group]
        assert not any(set(group) <= set(other) for other in others)
    assert groups == sorted(groups), "the first letter is that of the best"


def test_letters_of_an_example() -> None:
    """A row of systems of which neighbors cannot be told apart; after z comes a2."""
    differ = np.abs(np.subtract.outer(range(4), range(4))) > 1
    assert group_letters(indistinct_groups(differ), 4) == ["a", "ab", "bc", "c"]
    apart = ~np.eye(28, dtype=bool)
    assert group_letters(indistinct_groups(apart), 28)[24:] == ["y", "z", "a2", "b2"]
    assert indistinct_groups(np.zeros((0, 0), dtype=bool)) == []
