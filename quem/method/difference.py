"""Differences in years: of systems of one study, and of two studies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.method.reference import LEAST_VARIANCE, Population, quantiles
from quem.method.variances import Variance, total

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.method.reference import People, Posterior

    Floats = NDArray[np.float64]

_POINTS = 201
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Difference:
    """Years of b minus years of a."""

    years: float  # median
    interval: tuple[float | None, float | None]  # None for an open end
    ahead: float  # probability that b is better
    says: bool  # false if both ends are open: years do not distinguish them


def difference(
    people: People,
    z: tuple[float, float],
    errors: tuple[Variance, Variance],
    population: Population,
    *,
    level: float,
    opens: tuple[bool, bool],
) -> Difference:
    """Compare two systems of one study, each as good as a typical subject of some years.

    `errors` are variances of z.
    """
    grid = population.grid(_POINTS)
    prior = population.density(grid)
    prior[[0, -1]] /= 2
    n, s2, u = people.n, people.variance, grid - people.mean_years
    a, b = (max(error.value, LEAST_VARIANCE) for error in errors)
    off_a, off_b = (z[0] - people.at(grid))[:, np.newaxis], (z[1] - people.at(grid))[np.newaxis]
    q = s2 / people.spread
    var_a = a + s2 / n + q * u[:, np.newaxis] ** 2
    var_b = b + s2 / n + q * u[np.newaxis] ** 2
    both = s2 / n + q * np.outer(u, u)
    det = var_a * var_b - both**2
    of_slope = Variance(q * ((z[1] - z[0]) / people.slope) ** 2, n - 2)
    parts = [Variance(value, error.df) for value, error in zip((a, b), errors, strict=True)]
    nu = max(1.0, total([*parts, of_slope]).df)
    squares = (var_b * off_a**2 - 2 * both * off_a * off_b + var_a * off_b**2) / det
    logs = -0.5 * np.log(det) - (nu + 2) / 2 * np.log1p(squares / nu)
    joint = np.exp(logs - logs.max()) * np.outer(prior, prior)
    diagonals = [np.trace(joint, at) for at in range(1 - _POINTS, _POINTS)]
    return _read(np.array(diagonals), population.high - population.low, level, opens)


def between(a: Posterior, b: Posterior, *, level: float, opens: tuple[bool, bool]) -> Difference:
    """Compare systems of two studies, whose posteriors are independent and on one grid."""
    weights = np.convolve(b.weights, a.weights[::-1])
    return _read(weights, float(a.grid[-1] - a.grid[0]), level, opens)


def _read(weights: Floats, width: float, level: float, opens: tuple[bool, bool]) -> Difference:
    weights = weights / weights.sum()
    grid = np.linspace(-width, width, len(weights))
    low, median, high = quantiles(grid, weights, level)
    open_a, open_b = opens
    even = np.abs(grid) <= _ROUNDING
    ahead = float(weights[grid > _ROUNDING].sum() + weights[even].sum() / 2)
    ends = (None if open_a and not open_b else low, None if open_b and not open_a else high)
    return Difference(median, ends, ahead, says=not (open_a and open_b))


def lead_lost(leads: Floats) -> int:
    """The smallest number of units without which a lead vanishes; 0 without a lead.

    Exact, since each unit contributes only its own term to the sum.

    Shapes: `leads` (n,).
    """
    whole = float(leads.sum())
    if not whole > 0:
        return 0
    left = whole - np.cumsum(np.sort(leads)[::-1])
    return int(np.argmax(left <= _ROUNDING)) + 1
