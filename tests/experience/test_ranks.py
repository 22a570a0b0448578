"""Adjusted ranks, scores and gaps, against SciPy and loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, rankdata

from quem.experience.ranks import adjusted_ranks, scores, unused_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

groups = st.lists(st.lists(st.integers(-5, 12), min_size=1, max_size=9), min_size=1, max_size=5)


def flat(lists: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Group and order of each solution."""
    group = np.repeat(np.arange(len(lists)), [len(one) for one in lists])
    return group, np.array([value for one in lists for value in one], dtype=float)


def test_the_example_of_the_paper() -> None:
    """1, 1, 2, 2, 2, 3 becomes 1.5, 1.5, 4, 4, 4, 6."""
    ranks, sizes = adjusted_ranks(np.zeros(6, dtype=int), np.array([1.0, 1, 2, 2, 2, 3]))
    assert ranks.tolist() == [1.5, 1.5, 4, 4, 4, 6]
    assert sizes.tolist() == [6] * 6


@given(groups, st.randoms(use_true_random=False))
def test_adjusted_ranks_are_those_of_scipy(lists: list[list[int]], random: object) -> None:
    """Whatever the order of the rows, and however groups are mixed."""
    group, order = flat(lists)
    mixed = np.arange(len(group))
    random.shuffle(mixed)  # type: ignore[attr-defined]
    ranks, sizes = adjusted_ranks(group[mixed], order[mixed])
    for number, one in enumerate(lists):
        here = group[mixed] == number
        np.testing.assert_array_equal(ranks[here], rankdata(order[mixed][here]))
        assert ranks[here].sum() == len(one) * (len(one) + 1) / 2
        assert (sizes[here] == len(one)).all()


@given(groups, st.data())
def test_reference_is_the_formula(lists: list[list[int]], data: st.DataObject) -> None:
    """1 + b (S - 1)/S for the others, and plain ranks among the reference."""
    group, order = flat(lists)
    n = len(group)
    drawn = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    reference = np.array(drawn, dtype=bool)
    ranks, sizes = adjusted_ranks(group, order, reference)
    for i in range(n):
        others = [order[k] for k in range(n) if group[k] == group[i] and reference[k]]
        below = sum(o < order[i] for o in others) + sum(o == order[i] for o in others) / 2
        count = len(others)
        assert sizes[i] == count
        if reference[i]:
            assert ranks[i] == below + 0.5
        elif count:
            assert ranks[i] == pytest.approx(1 + below * (count - 1) / count)
        else:
            assert np.isnan(ranks[i])


def test_scores() -> None:
    """Each score is its formula; N is the study's largest group unless told."""
    ranks, sizes = np.array([1.0, 2.5, 2.5, 4, 1, 2]), np.array([4, 4, 4, 4, 2, 2])
    assert scores(ranks, sizes).tolist() == ranks.tolist()
    expected = [r * 5 / (n + 1) for r, n in zip(ranks, sizes, strict=True)]
    assert scores(ranks, sizes, normalize="expected").tolist() == pytest.approx(expected)
    assert scores(ranks, sizes, normalize="expected", largest=9).tolist() == pytest.approx(
        [2 * e for e in expected]
    )
    percentile = [(r - 0.5) / n for r, n in zip(ranks, sizes, strict=True)]
    assert scores(ranks, sizes, normalize="percentile").tolist() == pytest.approx(percentile)
    blom = [norm.ppf((r - 0.375) / (n + 0.25)) for r, n in zip(ranks, sizes, strict=True)]
    assert scores(ranks, sizes, score="blom").tolist() == pytest.approx(blom)


@pytest.mark.parametrize(
    ("ranks", "gaps"),
    [
        ([1, 2, 3], []),
        ([3, 1, 2], []),
        ([1, 2, 4], [3]),
        ([2, 3], [1]),
        ([2, 5], [1, 3, 4]),
        ([0, 1, 2], []),
        ([0, 2], [1]),
        ([1, 1, 3], []),
        ([1.5, 3], []),
        ([-np.inf, 1, 2], []),
        ([-np.inf, 2, 3], []),
        ([-np.inf, 2, 4], [3]),
        ([-np.inf, 1, 3], [2]),
        ([-np.inf, 3, 4], [2]),
        ([-np.inf, -np.inf, 3, 5], [4]),
        ([-np.inf, -np.inf], []),
    ],
)
def test_gaps(ranks: list[float], gaps: list[int]) -> None:
    """A gap is an unused whole rank of an untied group, besides those of failed solutions."""
    group = np.array([0, 0, *[1] * len(ranks)])
    unused = unused_ranks(group, np.array([1.0, 2, *ranks]))
    assert unused == ({1: gaps} if gaps else {})
    alone = unused_ranks(np.zeros(len(ranks), dtype=int), np.array(ranks, dtype=float))
    assert alone == ({0: gaps} if gaps else {})
