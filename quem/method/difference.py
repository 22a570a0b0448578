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

_POINTS, _MOST_POINTS = 201, 1001
_FINE = 6  # least SD of a difference, in steps of the grid
_PASSES = 3
_NO_MASS = 1e-6  # of the highest
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
    for _ in range(_PASSES):
        joint = _joint(people, z, errors, population, grid)
        points, width = len(grid), float(grid[-1] - grid[0])
        at = np.arange(1 - points, points)
        diagonals = np.array([np.trace(joint, offset) for offset in at])
        mean, square = (np.average(at**power, weights=diagonals) for power in (1, 2))
        steps = max(float(square - mean**2), _ROUNDING) ** 0.5
        if steps >= _FINE or points == _MOST_POINTS:
            break
        # Again over the years that have mass, with twice the steps that are needed.
        mass = joint.sum(axis=0) + joint.sum(axis=1)
        held = np.flatnonzero(mass > _NO_MASS * mass.max())
        first, last = max(held[0] - 1, 0), min(held[-1] + 1, points - 1)
        wanted = int(np.ceil((last - first) * 2 * _FINE / steps)) + 1
        grid = np.linspace(grid[first], grid[last], min(wanted, _MOST_POINTS))
    return _read(diagonals, width, level, opens)


def _joint(
    people: People,
    z: tuple[float, float],
    errors: tuple[Variance, Variance],
    population: Population,
    grid: Floats,
) -> Floats:
    """The joint posterior of both systems' years on a grid, shape (points, points)."""
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
    return np.asarray(np.exp(logs - logs.max()) * np.outer(prior, prior))


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
