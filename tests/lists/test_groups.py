"""The joint test of all pairs, the groups made of it, and the agreement of orders."""

from __future__ import annotations

from itertools import combinations, permutations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
