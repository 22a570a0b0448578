"""Intervals by drawing targets anew, and tests by swapping strategies."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["holm", "intervals", "pairs_of", "replicates", "swap_tests"]

_CHUNK = 2_000_000
_EXACT = 14


def replicates(
    values: NDArray[np.float64], draws: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    """Average over targets that are drawn with replacement.

    Parameters
    ----------
    values : array of float, shape (targets, columns)
        NaN where a target has none.
    draws : int
    seed : int

    Yields
    ------
    array of float, shape (some draws, columns)
        NaN where no target with a value was drawn. The same seed draws the same targets, so that
        columns of several calls belong together.
    """
    targets = len(values)
    random = np.random.default_rng(seed)
    there = ~np.isnan(values)
    filled, counted = np.where(there, values, 0.0), there.astype(float)
    most = max(1, _CHUNK // targets)
    for start in range(0, draws, most):
        rows = min(most, draws - start)
        drawn = random.multinomial(targets, np.full(targets, 1 / targets), size=rows).astype(float)
        count = drawn @ counted
        yield np.where(count > 0, drawn @ filled / np.maximum(count, 1), np.nan)


def intervals(
    values: NDArray[np.float64], draws: int, level: float, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Give means over targets with their percentile bootstrap intervals.

    Parameters
    ----------
    values : array of float, shape (targets, ...)
    draws : int
    level : float
    seed : int

    Returns
    -------
    mean, low, high : arrays of float, shape (...)
        NaN where no target has a value; low and high are NaN without draws.
    """
    shape = values.shape[1:]
    flat = values.reshape(len(values), -1)
    count = (~np.isnan(flat)).sum(axis=0)
    mean = np.where(count > 0, np.nansum(flat, axis=0) / np.maximum(count, 1), np.nan)
    if not draws:
        nothing = np.full(shape, np.nan)
        return mean.reshape(shape), nothing, nothing.copy()
    drawn = np.concatenate(list(replicates(flat, draws, seed)))
    low, high = np.full(mean.shape, np.nan), np.full(mean.shape, np.nan)
    some = ~np.isnan(drawn).all(axis=0)
    tails = [(1 - level) / 2, (1 + level) / 2]
    low[some], high[some] = np.nanquantile(drawn[:, some], tails, axis=0)
    return mean.reshape(shape), low.reshape(shape), high.reshape(shape)


def pairs_of(strategies: int) -> list[tuple[int, int]]:
    """Give all pairs of strategies."""
    return list(combinations(range(strategies), 2))


def swap_tests(
    values: NDArray[np.float64], permutations: int, seed: int
) -> NDArray[np.float64]:
    """Test each pair of strategies by swapping them at random within targets.

    Two-sided, on the mean difference. Exact where at most 14 targets tell them apart; else by
    random swaps, with the observed one counted among them.

    Parameters
    ----------
    values : array of float, shape (targets, strategies, columns)
        A target counts for a pair where both have a value.
    permutations : int
    seed : int

    Returns
    -------
    array of float, shape (pairs, columns)
        NaN where no target has both, or without permutations.
    """
    pairs = pairs_of(values.shape[1])
    columns = values.shape[2]
    if not pairs:
        return np.empty((0, columns))
    one, other = np.array(pairs).T
    apart = (values[:, one] - values[:, other]).reshape(len(values), -1)
    defined = (~np.isnan(apart)).any(axis=0)
    apart = np.nan_to_num(apart, nan=0.0)
    found = np.full(apart.shape[1], np.nan)
    telling = (np.abs(apart) > _NOISE).sum(axis=0)
    for column in np.flatnonzero(defined & (telling <= _EXACT)):
        found[column] = _exact(apart[np.abs(apart[:, column]) > _NOISE, column])
    rest = np.flatnonzero(defined & (telling > _EXACT))
    if permutations and len(rest):
        found[rest] = _random_swaps(apart[:, rest], permutations, seed)
    return found.reshape(len(pairs), columns)


_NOISE = 1e-9


def _exact(apart: NDArray[np.float64]) -> float:
    if not len(apart):
        return 1.0
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * len(apart))).reshape(len(apart), -1)
    total = np.abs(apart @ signs)
    return float((total >= abs(apart.sum()) - _NOISE).mean())


def _random_swaps(
    apart: NDArray[np.float64], permutations: int, seed: int
) -> NDArray[np.float64]:
    random = np.random.default_rng(seed)
    observed = np.abs(apart.sum(axis=0)) - _NOISE
    as_far = np.ones(apart.shape[1])
    most = max(1, _CHUNK // len(apart))
    for start in range(0, permutations, most):
        rows = min(most, permutations - start)
        signs = random.integers(0, 2, size=(rows, len(apart)), dtype=np.int8) * 2.0 - 1
        as_far += (np.abs(signs @ apart) >= observed).sum(axis=0)
    p_values: NDArray[np.float64] = as_far / (permutations + 1)
    return p_values


def holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjust the p values of each column for its number of tests (Holm 1979).

    Parameters
    ----------
    p_values : array of float, shape (tests, columns)
        NaN is no test.
    """
    tests = (~np.isnan(p_values)).sum(axis=0)
    order = np.argsort(p_values, axis=0)
    ordered = np.take_along_axis(p_values, order, axis=0)
    left = tests - np.arange(len(p_values))[:, np.newaxis]
    adjusted = np.minimum(np.maximum.accumulate(ordered * left, axis=0), 1.0)
    found = np.empty_like(p_values)
    np.put_along_axis(found, order, adjusted, axis=0)
    return found
