"""Times that were measured in rounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.retrieval.running import Run


class Time(NamedTuple):
    """A time in seconds, or a ratio of two."""

    median: float  # over the rounds; NaN where nothing was measured
    # Between order statistics; NaN where there are too few rounds
    low: float
    high: float

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends; None where there are none."""
        return None if math.isnan(self.low) else (self.low, self.high)

    def times(self, factor: float) -> Time:
        """In another unit."""
        return Time(*(factor * value for value in self))


def time_of(rounds: NDArray[np.float64], level: float) -> Time:
    """The median of what was measured in rounds, with its interval."""
    if not len(rounds):
        return Time(math.nan, math.nan, math.nan)
    return Time(float(np.median(rounds)), *median_interval(rounds, level))


def ratio_of(one: Run, other: Run, level: float) -> Time:
    """The time of one as a multiple of that of the other, round by round, on the same queries."""
    both = np.intersect1d(one.timed, other.timed)
    return time_of(one.rounds(both) / other.rounds(both), level)


def median_interval(values: NDArray[np.float64], level: float) -> tuple[float, float]:
    """An interval of the median, between two order statistics.

    The l-th lowest and the l-th highest of n values hold the median between them with the
    probability 1 - 2 P(B < l), B binomial of n and 1/2, whatever the distribution. The narrowest
    of them that reaches the level is given.

    References
    ----------
    David, H. A., & Nagaraja, H. N. (2003). Order statistics, section 7.1.

    Shapes: `values` (n,).
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


def fewest_rounds(level: float) -> int:
    """How many rounds an interval needs: 6 at 95%."""
    return max(2, math.ceil(math.log2(2 / (1 - level)) - 1e-9))
