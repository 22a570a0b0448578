"""Blocks: every solution once or twice, together with others about equally often."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quem.studyfile.blocks import PairCounts, block_sizes, deal_blocks

_SIZES = st.integers(2, 12)


@given(n=st.integers(1, 40), block_size=_SIZES, seed=st.integers(0, 1000))
def test_every_solution_is_dealt_and_all_hang_together(n: int, block_size: int, seed: int) -> None:
    """Each solver has a place, nobody stands in one block twice, and blocks form one chain."""
    solvers = [f"S{number}" for number in range(n)]
    blocks = deal_blocks(solvers, block_size, PairCounts(), Random(seed))
    assert sorted(map(len, blocks)) == sorted(block_sizes(n, block_size))
    assert set().union(*blocks) == set(solvers)
    assert all(len(set(block)) == len(block) for block in blocks)
    reached, waiting = set(blocks[0]), list(blocks[1:])
    while joined := [block for block in waiting if reached & set(block)]:
        reached.update(*joined)
        waiting = [block for block in waiting if block not in joined]
    assert reached == set(solvers)


@pytest.mark.parametrize(("n", "block_size"), [(16, 8), (24, 8), (20, 5)])
def test_pairs_meet_about_equally_often(n: int, block_size: int) -> None:
    """Over judges and problems pairs meet more evenly than blocks at random would have it."""
    solvers = [f"S{number}" for number in range(n)]
    rng = Random(1)
    spreads = []
    for balanced in (True, False):
        met, rounds = PairCounts(), 30
        for _ in range(rounds):
            blocks = deal_blocks(solvers, block_size, met if balanced else PairCounts(), rng)
            if not balanced:
                for block in blocks:
                    met.add(block)
        times = [met.times.get(frozenset(pair), 0) for pair in combinations(solvers, 2)]
        mean = sum(times) / len(times)
        spreads.append(sum((t - mean) ** 2 for t in times) / len(times))
        assert min(times) > 0 or not balanced
    assert spreads[0] < 0.5 * spreads[1]
