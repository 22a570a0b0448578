"""The median of a few values, with an interval that takes no distribution for granted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["fewest_for", "median_interval"]


def median_interval(values: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Give an interval of the median, between two order statistics.

    The l-th lowest and the l-th highest of n values hold the median between them with the
    probability 1 - 2 P(B < l), B binomial of n and 1/2, whatever the distribution (David &
    Nagaraja 2003, section 7.1). The narrowest of them that reaches the level is given.

    Parameters
    ----------
    values : array of float, shape (n,)
    level : float

    Returns
    -------
    (float, float)
        NaN where there are fewer values than `fewest_for`.
    """
    n = len(values)
    place, below = 0, 0.0
    while place < n // 2:
        below += math.comb(n, place) / 2**n
        if 1 - 2 * below < level:
            break
        place += 1
    if not place:
        return math.nan, math.nan
    ordered = np.sort(values)
    return float(ordered[place - 1]), float(ordered[n - place])


def fewest_for(level: float) -> int:
    """Say how many values an interval of the median needs: 6 at 95%."""
    return max(2, math.ceil(math.log2(2 / (1 - level)) - 1e-9))
