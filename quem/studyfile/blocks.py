"""Draws of a design: problems by verifiable lot, and blocks, a partially balanced division."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import combinations
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

# Greatest number of solutions in one list.
LONGEST_LIST = 12
# Exchanges per solver: more hardly improve the balance.
_TRIED = 30
_BETWEEN = "\x1f"


def block_sizes(n: int, block_size: int) -> list[int]:
    """The sizes of the blocks of n solutions."""
    if n <= block_size:
        return [n]
    count = ceil((n - 1) / (block_size - 1))
    size, more = divmod(n + count - 1, count)
    return [size + 1] * more + [size] * (count - more)


@dataclass
class PairCounts:
    """The number of common blocks of each pair of solvers."""

    times: dict[frozenset[str], int] = field(default_factory=dict)

    def add(self, block: Iterable[str]) -> None:
        """Count the pairs of a block."""
        for pair in map(frozenset, combinations(block, 2)):
            self.times[pair] = self.times.get(pair, 0) + 1


def deal_blocks(
    solvers: Sequence[str], block_size: int, met: PairCounts, rng: Random
) -> list[tuple[str, ...]]:
    """Divide the solutions of a problem into blocks for a judge."""
    sizes = block_sizes(len(solvers), block_size)
    rng.shuffle(sizes)
    row = list(solvers)
    rng.shuffle(row)
    ends = _ends(sizes)
    if len(sizes) > 1:
        _exchange(row, ends, met, rng)
    blocks = [tuple(row[start:end]) for start, end in ends]
    for block in blocks:
        met.add(block)
    rng.shuffle(blocks)
    return blocks


def _ends(sizes: list[int]) -> list[tuple[int, int]]:
    """The start and end of blocks of these sizes in the row."""
    ends, start = [], 0
    for size in sizes:
        ends.append((start, start + size))
        start += size - 1
    return ends


def _exchange(row: list[str], ends: list[tuple[int, int]], met: PairCounts, rng: Random) -> None:
    """Exchange solvers in the row while that reduces repeated pairs."""
    seen = [[met.times.get(frozenset((a, b)), 0) for b in row] for a in row]
    held = list(range(len(row)))
    # A solver who ends one block and begins the next shares both.
    near = [
        [q for start, end in ends if start <= p < end for q in range(start, end) if q != p]
        for p in range(len(row))
    ]
    for _ in range(_TRIED * len(row)):
        p, q = rng.sample(range(len(row)), 2)
        at_p, at_q = seen[held[p]], seen[held[q]]
        gain = sum(at_p[held[o]] - at_q[held[o]] for o in near[p] if o != q)
        gain += sum(at_q[held[o]] - at_p[held[o]] for o in near[q] if o != p)
        if gain > 0:
            held[p], held[q] = held[q], held[p]
    row[:] = [row[index] for index in held]


def lot(*parts: str) -> str:
    """SHA-256 of parts joined by US (the character 1F), in hexadecimal digits."""
    return hashlib.sha256(_BETWEEN.join(parts).encode()).hexdigest()


def digest_of_solutions(solutions: Iterable[tuple[str, str, str]], nonce: str) -> str:
    """The SHA-256 that seeds the draw of problems, in hexadecimal digits.

    Of one line ``problem US solver US digest`` per solution (US is the character 1F), sorted, and
    of the nonce on the last line, in UTF-8.
    """
    lines = sorted(_BETWEEN.join(solution) for solution in solutions)
    return hashlib.sha256("\n".join([*lines, nonce]).encode()).hexdigest()


def order_of_draw(problems: Iterable[str], digest: str) -> tuple[str, ...]:
    """Sort problems by SHA-256 of ``digest US problem``; experts rank the first n of them."""
    return tuple(sorted(problems, key=lambda problem: lot(digest, problem)))
