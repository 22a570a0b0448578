"""In which orders a machine judge is shown solutions: balanced, and the same wherever it runs."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")
_BETWEEN = "\x1f"


def first_order(
    study: str, judge: str, problem: str, block: int, solvers: Iterable[str]
) -> tuple[str, ...]:
    """Sort solvers by the SHA-256 of ``study US judge US problem US block US solver``.

    It depends on names alone, and differs by machine and problem.
    """

    def lot(solver: str) -> str:
        key = _BETWEEN.join([study, judge, problem, str(block), solver])
        return hashlib.sha256(key.encode()).hexdigest()

    return tuple(sorted(solvers, key=lot))


def orders(first: Sequence[T], repeats: int) -> list[tuple[T, ...]]:
    """Give the orders of all repeats: the first one rotated evenly, each then reversed.

    Reversal cancels a liking for a place that is linear in the place; rotation most of one that
    is not.
    """
    turns = (repeats + 1) // 2
    balanced = []
    for repeat in range(repeats):
        start = repeat // 2 * len(first) // turns
        order = (*first[start:], *first[:start])
        balanced.append(order[::-1] if repeat % 2 else order)
    return balanced
