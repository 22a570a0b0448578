"""Times that were measured in rounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Time(NamedTuple):
    """A time in seconds, or a ratio of two."""

    median: float = math.nan  # over the rounds; NaN where nothing was measured
    # Between order statistics; NaN where there are too few rounds
    low: float = math.nan
    high: float = math.nan

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends; None where there are none."""
        return None if math.isnan(self.low) else (self.low, self.high)

    @property
    def in_ms(self) -> Time:
        """In milliseconds."""
        return Time(*(1000 * value for value in self))


def time_of(rounds: NDArray[np.float64], level: float) -> Time:
    """The median of what was measured in rounds, with an interval between order statistics.

    The narrowest is taken that holds the median with the level's probability, whatever the
    distribution (David & Nagaraja 2003, section 7.1).
    """
    if not len(rounds):
        return Time()
    from scipy.stats import quantile_test

    median = float(np.median(rounds))
    interval: Any = quantile_test(rounds, q=median, p=0.5).confidence_interval(level)
    return Time(median, float(interval.low), float(interval.high))


def fewest_rounds(level: float) -> int:
    """How many rounds an interval needs: 6 at 95%."""
    return max(2, math.ceil(math.log2(2 / (1 - level)) - 1e-9))
