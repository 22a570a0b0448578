"""Which people of a panel a solution is ranked with, and what its place among them says."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DEFAULT_ANCHORS = 4
FEWEST_ANCHORS = 2
_SEPARATOR = "\x1f"


def seed_of(digest: str, problem: str, solvers: Iterable[str]) -> str:
    """Give the seed of a draw, in hexadecimal."""
    return _hash(digest, problem, *sorted(solvers))


def _hash(*parts: str) -> str:
    return hashlib.sha256(_SEPARATOR.join(parts).encode()).hexdigest()


def draw_anchors(levels: Mapping[str, float], count: int, seed: str) -> tuple[str, ...]:
    """Draw one person from each of as many strata of equal size, ordered by consensus rank."""
    ordered = sorted(levels, key=lambda one: (levels[one], one))
    size, larger = divmod(len(ordered), count)
    anchors, start = [], 0
    for stratum in range(count):
        end = start + size + (stratum < larger)
        anchors.append(min(ordered[start:end], key=lambda one: _hash(seed, one)))
        start = end
    return tuple(anchors)


def score_of(below: float, levels: Iterable[float], people: int) -> float:
    """Turn a place among anchors into a rank among all people."""
    ranks = [0.5, *sorted(levels), people + 0.5]
    low, high = int(below), int(below + 0.5)
    return (ranks[low] + ranks[low + 1] + ranks[high] + ranks[high + 1]) / 4
