"""Means over queries, and how far they would move with other queries of the same sort."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "LEAST_SHARE",
    "Means",
    "fewest_of",
    "percentile_ends",
    "query_means",
    "resample_means",
]

# A mean over fewer of the queries says little of all of them: it is not ranked and not tested.
LEAST_SHARE = 0.5

# Draws of queries that are held at once.
_CHUNK = 4_000_000
_FEWEST = 2


@dataclass(frozen=True)
class Means:
    """Means of columns of scores, each over the queries where it is defined.

    Parameters
    ----------
    mean : array of float, shape (c,)
        NaN where no query has a score.
    low, high : array of float, shape (c,)
        The ends of the bootstrap interval; NaN where fewer than two queries have a score, and
        where none was asked for.
    defined : array of int, shape (c,)
        How many queries have a score.
    """

    mean: Floats
    low: Floats
    high: Floats
    defined: NDArray[np.int64]


def fewest_of(n: int) -> int:
    """Say over how many of n queries a mean has to be, so that it is ranked and tested."""
    return math.ceil(LEAST_SHARE * n)


def query_means(scores: Floats, *, level: float, replicates: int, seed: int) -> Means:
    """Average scores over queries, with bootstrap percentile intervals.

    Queries are drawn with replacement, the same ones for all columns; in a replicate too the
    mean is over the queries with a score, and a replicate that drew none of them is left out.

    Parameters
    ----------
    scores : array of float, shape (q, c)
        NaN where a score is undefined.
    level : float
        Of the intervals, in (0, 1).
    replicates : int
        0 for no intervals.
    seed : int

    References
    ----------
    Efron, B., & Tibshirani, R. J. (1993). An introduction to the bootstrap, chapter 13.
    """
    known = ~np.isnan(scores)
    defined = known.sum(axis=0)
    mean = _ratio(scores.sum(axis=0, where=known), defined)
    drawn = resample_means(scores, replicates=replicates, seed=seed)
    low, high = percentile_ends(drawn, defined, level)
    return Means(mean, low, high, defined)


def percentile_ends(
    drawn: Floats, defined: NDArray[np.int64], level: float
) -> tuple[Floats, Floats]:
    """Give the ends of bootstrap percentile intervals.

    Parameters
    ----------
    drawn : array of float, shape (replicates, c)
        As from `resample_means`.
    defined : array of int, shape (c,)
        On how many queries each mean is based.
    level : float

    Returns
    -------
    low, high : array of float, shape (c,)
        NaN where fewer than two queries have a score, and without replicates.
    """
    low, high = np.full((2, drawn.shape[1]), np.nan)
    tails = [(1 - level) / 2, (1 + level) / 2]
    for column in np.flatnonzero(defined >= _FEWEST).tolist() if len(drawn) else ():
        means = drawn[:, column]
        low[column], high[column] = np.quantile(means[~np.isnan(means)], tails)
    return low, high


def resample_means(scores: Floats, *, replicates: int, seed: int) -> Floats:
    """Give the means of columns over queries that are drawn with replacement.

    Parameters
    ----------
    scores : array of float, shape (q, c)
        NaN where a score is undefined.
    replicates, seed : int

    Returns
    -------
    array of float, shape (replicates, c)
        NaN where a replicate drew no query with a score.
    """
    known = ~np.isnan(scores)
    complete = bool(known.all())
    # Of many queries these are large, and where nothing is missing they are not needed.
    filled = scores if complete else np.where(known, scores, 0)
    counted = np.empty(0) if complete else known.astype(float)
    parts = []
    for times in draw_queries(len(scores), replicates=replicates, seed=seed):
        held = len(scores) if complete else times @ counted
        parts.append(_ratio(times @ filled, held))
    return np.concatenate(parts) if parts else np.empty((0, scores.shape[1]))


def draw_queries(n: int, *, replicates: int, seed: int) -> Iterator[Floats]:
    """Draw n of n queries with replacement, again and again.

    Parameters
    ----------
    n, replicates, seed : int

    Yields
    ------
    array of float, shape (some replicates, n)
        How often each query was drawn.
    """
    rng = np.random.default_rng(seed)
    step = max(1, _CHUNK // max(n, 1))
    for start in range(0, replicates if n else 0, step):
        rows = min(step, replicates - start)
        drawn = rng.integers(0, n, size=(rows, n))
        drawn += np.arange(rows)[:, np.newaxis] * n
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(float)


def _ratio(total: Floats, count: Floats | NDArray[np.int64] | int) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    count = np.asarray(count)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
