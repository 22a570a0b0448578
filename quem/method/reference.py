"""The reference line: years of one further person of a reference population, ranked like a system.

The posterior of a person's years, given their place, under a declared density of years; the
system counts as one further person, plus what it varies more than people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtri, gammaln

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from quem.method.variances import Variance

    Floats = NDArray[np.float64]

POINTS = 2001
BEYOND = 1.5  # the default population ends at so many times the highest subject's years
_LEAST_VARIANCE = 1e-9
_LEAST_YEARS, _LEAST_RELIABILITY = 0.05, 0.3


@dataclass(frozen=True)
class Population:
    """Whom the years speak about: a density of years, constant between breaks."""

    years: tuple[float, ...]  # the breaks, at least two
    share: tuple[float, ...] = (1.0,)  # of the people between them, adding up to 1
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
    """Uniform up to half as much again as the most experienced subject of some studies."""
    return Population((0.0, BEYOND * max(float(of.max()) for of in years)), declared=False)


def calibrated(years: Floats, error: float) -> Floats:
    """Expected years given what people reported with a relative error; years are log-normal.

    Shapes: `years` (n,).
    """
    logs = np.log(np.maximum(years, _LEAST_YEARS))
    variance = logs.var(ddof=1)
    if not error or not variance:
        return years
    mean = logs.mean()
    reliability = np.clip(1 - error**2 / variance, _LEAST_RELIABILITY, 1)
    expected = mean + reliability * (logs - mean) + reliability * error**2 / 2
    return np.asarray(np.exp(expected))


@dataclass(frozen=True)
class People:
    """The least squares line of z on years over the subjects."""

    n: int
    mean_years: float
    mean_z: float
    slope: float
    spread: float  # the sum of squared deviations of years
    variance: float  # of z about the line

    def at(self, years: Floats) -> Floats:
        """The z of a typical person of some years."""
        return self.mean_z + self.slope * (years - self.mean_years)


def fit_people(z: Floats, years: Floats) -> People:
    """Fit z to years.

    Shapes: `z`, `years` (n,).
    """
    n, mean_years, mean_z = len(years), years.mean(), z.mean()
    off = years - mean_years
    spread = float((off**2).sum())
    slope = float((off * (z - mean_z)).sum() / spread)
    rest = float(((z - mean_z - slope * off) ** 2).sum() / (n - 2))
    return People(n, float(mean_years), float(mean_z), slope, spread, max(rest, _LEAST_VARIANCE))


@dataclass(frozen=True)
class Posterior:
    """What is known of a system's years; all of shape (points,)."""

    grid: Floats
    log_likelihood: Floats
    weights: Floats  # trapezoid weights that add up to 1


def posterior(people: People, z: float, population: Population, added: Variance) -> Posterior:
    """The posterior of the years of a person of the population whose z is given.

    `added` is a variance of z.
    """
    grid = population.grid()
    n = people.n
    base = people.variance * (1 + 1 / n + (grid - people.mean_years) ** 2 / people.spread)
    v = base + added.value
    uncertain = base**2 / (n - 2) + (added.value**2 / added.df if added.value else 0.0)
    nu = np.minimum(n - 2.0, v**2 / uncertain)
    off = z - people.at(grid)
    log_likelihood = (
        gammaln((nu + 1) / 2)
        - gammaln(nu / 2)
        - 0.5 * np.log(nu * np.pi * v)
        - (nu + 1) / 2 * np.log1p(off**2 / v / nu)
    )
    weights = np.exp(log_likelihood - log_likelihood.max()) * population.density(grid)
    weights[[0, -1]] /= 2
    return Posterior(grid, log_likelihood, weights / weights.sum())


def quantile(grid: Floats, weights: Floats, share: float) -> float:
    """The point below which a share lies, linear between the points of a grid."""
    below = np.cumsum(weights) - weights / 2
    at = int(np.clip((below < share).sum(), 1, len(grid) - 1))
    step = (share - below[at - 1]) / max(below[at] - below[at - 1], 1e-300)
    return float(grid[at - 1] + (grid[at] - grid[at - 1]) * np.clip(step, 0, 1))


@dataclass(frozen=True)
class Reference:
    """The estimate for the population."""

    experience: float  # the median
    interval: tuple[float, float | None]  # no upper end where it is open
    says: bool  # whether the data narrow the years down
    open: bool
    at_least: tuple[tuple[float, float], ...]  # years, and the chance of at least these


def read_posterior(
    of: Posterior,
    population: Population,
    *,
    slope: float,
    level: float,
    at_least: Iterable[float] = (),
) -> Reference:
    """Median, credible interval, and chances of a posterior, and whether it says anything."""
    near = of.log_likelihood > of.log_likelihood.max() - chdtri(1, 1 - level) / 2
    low, median, high = (
        quantile(of.grid, of.weights, share) for share in ((1 - level) / 2, 0.5, (1 + level) / 2)
    )
    is_open = bool(near[-1]) and not population.declared
    chances = ((years, float(of.weights[of.grid >= years].sum())) for years in at_least)
    return Reference(
        median,
        (low, None if is_open else high),
        says=slope > 0 and not (near[0] and near[-1]),
        open=is_open,
        at_least=tuple(chances),
    )
