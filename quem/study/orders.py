"""Orders of problems in which no subject's fatigue or practice falls on one problem.

Williams, E. J. (1949). Experimental designs balanced for the estimation of residual effects of
treatments. *Australian Journal of Scientific Research A*, 2, 149-168.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def balanced_orders(count: int) -> list[tuple[int, ...]]:
    """Give the rows of a Williams design.

    Over all rows each number is equally often at each position, and each follows each other
    number equally often.
    """
    # 0, 1, count - 1, 2, count - 2, ...
    first = [(step + 1) // 2 if step % 2 else -step // 2 for step in range(count)]
    rows = [tuple((number + row) % count for number in first) for row in range(count)]
    return rows + [row[::-1] for row in rows] if count % 2 and count > 1 else rows


def least_used(used: Iterable[int | None], rows: int) -> int:
    """Give the row that was given out least often, of these the first."""
    counts = Counter(used)
    return min(range(rows), key=lambda row: (counts[row], row))
