"""The reference line: years of a further subject of a reference population, ranked like a system.

The posterior of a subject's years, given their place, under a declared density of years; the
system counts as a further subject, with its additional variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtri, gammaln

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from quem.method.variances import Variance

    Floats = NDArray[np.float64]

POINTS = 2001
BEYOND = 1.5  # the default population ends at this multiple of the highest subject's years
LEAST_VARIANCE = 1e-9
_LEAST_YEARS, _LEAST_RELIABILITY = 0.05, 0.3


@dataclass(frozen=True)
class Population:
    """The reference population: a density of years, constant between breaks."""

    years: tuple[float, ...]  # breaks, at least two
    share: tuple[float, ...] = (1.0,)  # share between breaks, summing to 1
    declared: bool = True

    @property
    def low(self) -> float:
        """The fewest years."""
        return self.years[0]

    @property
    def high(self) -> float:
        """The most years."""
        return self.years[-1]

    def grid(self, points: int = POINTS) -> Floats:
        """Equally spaced years from the fewest to the most."""
        return np.linspace(self.low, self.high, points)

    def density(self, years: Floats) -> Floats:
        """The density at years, shape as `years`; 0 outside."""
        breaks = np.asarray(self.years)
        at = np.clip(np.searchsorted(breaks, years, "right") - 1, 0, len(self.share) - 1)
        inside = (years >= self.low) & (years <= self.high)
        return np.where(inside, np.asarray(self.share)[at] / np.diff(breaks)[at], 0.0)


def default_population(*years: Floats) -> Population:
    """Uniform from 0 to 1.5 times the highest experience among subjects."""
    return Population((0.0, BEYOND * max(float(of.max()) for of in years)), declared=False)


def calibrated(years: Floats, error: float) -> Floats:
    """Expected years given reported years with a relative error; years are log-normal.

    Shapes: `years` (..., n), NaN for excluded subjects.
    """
    if not error:
        return years
    logs = np.log(np.maximum(years, _LEAST_YEARS))
    mean = np.nanmean(logs, axis=-1, keepdims=True)
    variance = np.nanvar(logs, axis=-1, ddof=1, keepdims=True)
    with np.errstate(divide="ignore"):
        reliability = np.clip(1 - error**2 / variance, _LEAST_RELIABILITY, 1)
    expected = mean + reliability * (logs - mean) + reliability * error**2 / 2
    return np.where(variance > 0, np.exp(expected), years)


@dataclass(frozen=True)
class People:
    """The least squares line of z on years over the subjects: scalars, or arrays over studies."""

    n: Any
    mean_years: Any
    mean_z: Any
    slope: Any
    spread: Any  # sum of squared deviations of years
    variance: Any  # residual variance of z

    def at(self, years: Floats) -> Floats:
        """The z of a typical subject of some years."""
        return np.asarray(self.mean_z + self.slope * (years - self.mean_years))


def fit_people(z: Floats, years: Floats) -> People:
    """Regress z on years.

    Shapes: `z`, `years` (n,).
    """
    n, mean_years, mean_z = len(years), years.mean(), z.mean()
    off = years - mean_years
    spread = float((off**2).sum())
    slope = float((off * (z - mean_z)).sum() / spread)
    rest = float(((z - mean_z - slope * off) ** 2).sum() / (n - 2))
    return People(n, float(mean_years), float(mean_z), slope, spread, max(rest, LEAST_VARIANCE))


@dataclass(frozen=True)
class Posterior:
    """The posterior of a system's years; all of shape (..., points)."""

    grid: Floats
    log_likelihood: Floats
    weights: Floats  # trapezoid weights, summing to 1


def posterior(people: People, z: float, population: Population, added: Variance) -> Posterior:
    """The posterior of the years of a subject of the population with a given z.

    `added` is a variance of z.
    """
    grid = population.grid()
    return posterior_on(grid, population.density(grid), people, z, added)


def posterior_on(
    grid: Floats, density: Floats, people: People, z: Floats | float, added: Variance
) -> Posterior:
    """The posterior on a grid of years, of one study or many.

    Shapes: `grid`, `density` (..., points), even grids; all else (..., 1).
    """
    n = people.n
    base = people.variance * (1 + 1 / n + (grid - people.mean_years) ** 2 / people.spread)
    v = base + added.value
    nu = np.minimum(n - 2.0, v**2 / (base**2 / (n - 2) + added.value**2 / added.df))
    off = z - people.at(grid)
    log_likelihood = (
        gammaln((nu + 1) / 2)
        - gammaln(nu / 2)
        - 0.5 * np.log(nu * np.pi * v)
        - (nu + 1) / 2 * np.log1p(off**2 / v / nu)
    )
    weights = np.exp(log_likelihood - log_likelihood.max(axis=-1, keepdims=True)) * density
    weights[..., [0, -1]] /= 2
    return Posterior(grid, log_likelihood, weights / weights.sum(axis=-1, keepdims=True))


def quantiles(grid: Floats, weights: Floats, level: float) -> list[float]:
    """Lower end, median, and upper end of a distribution, linear between grid points."""
    below = np.cumsum(weights) - weights / 2
    found: list[float] = np.interp([(1 - level) / 2, 0.5, (1 + level) / 2], below, grid).tolist()
    return found


@dataclass(frozen=True)
class Reference:
    """The estimate for the population."""

    experience: float  # median
    interval: tuple[float, float | None]  # None for an open upper end
    says: bool  # whether the data narrow the population down
    open: bool
    at_least: tuple[tuple[float, float], ...]  # years, with the probability of at least these


def read_posterior(
    of: Posterior,
    population: Population,
    *,
    slope: float,
    level: float,
    at_least: Iterable[float] = (),
) -> Reference:
    """Median, credible interval, and probabilities of a posterior; whether it is informative."""
    near = of.log_likelihood > of.log_likelihood.max() - chdtri(1, 1 - level) / 2
    low, median, high = quantiles(of.grid, of.weights, level)
    is_open = bool(near[-1]) and not population.declared
    years = tuple(at_least)
    chances = 1 - np.interp(years, of.grid, np.cumsum(of.weights) - of.weights / 2, 0, 1)
    return Reference(
        median,
        (low, None if is_open else high),
        says=slope > 0 and not (near[0] and near[-1]),
        open=is_open,
        at_least=tuple(zip(years, chances.tolist(), strict=True)),
    )
