"""Scores of systems on the same queries: means, intervals, and whether systems differ.

What all evaluations of lists share. Arrays go in, arrays and frozen dataclasses come out.
"""

from __future__ import annotations

from quem.queries.comparing import PairDifference, compare_systems
from quem.queries.holm import holm
from quem.queries.means import (
    LEAST_SHARE,
    Means,
    fewest_of,
    percentile_ends,
    query_means,
    resample_means,
)
from quem.queries.medians import fewest_for, median_interval
from quem.queries.randomisation import SignFlips, sign_flips

__all__ = [
    "LEAST_SHARE",
    "Means",
    "PairDifference",
    "SignFlips",
    "compare_systems",
    "fewest_for",
    "fewest_of",
    "holm",
    "median_interval",
    "percentile_ends",
    "query_means",
    "resample_means",
    "sign_flips",
]
