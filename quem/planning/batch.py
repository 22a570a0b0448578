"""The method over arrays of studies, for plans and coverage: thousands of studies at once.

Shapes: b studies of equal numbers of judges, problems and solvers, of whom the first n are
subjects. `quem.method` computes the same of one study; a test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from scipy.special import chdtri, fdtrc, gammaln, stdtrit

from quem.method.reference import BEYOND, POINTS
from quem.method.variances import TWICE, components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.method.reference import Population

Floats: TypeAlias = "NDArray[np.float64]"
Flags: TypeAlias = "NDArray[np.bool_]"

_PAIR_POINTS = 201  # of years of two systems, in each dimension
_LEAST_WEIGHT, _LEAST_VARIANCE = 0.0196, 1e-9
_FEWEST, _SIGNIFICANT, _TOUCH = 5, 0.05, 1e-9


class People(NamedTuple):
    """The regression of z on years over the subjects, shapes (b,)."""

    n: Floats
    mean_years: Floats
    mean_z: Floats
    slope: Floats
    spread: Floats  # sum of squares of years
    variance: Floats  # of the residuals


class PaperLine(NamedTuple):
    """The paper's line at a system, shapes (b,) and of intervals (b, 2)."""

    experience: Floats
    interval: Floats
    mean_interval: Floats
    p_value: Floats
    holds: Flags
    inside: Flags


class Variation(NamedTuple):
    """What a system varies more than subjects, shapes (b,): dispersions and their df."""

    added: Floats
    df: Floats
    error: Floats  # of a typical system
    df_error: Floats
    incidence: Floats
    problems: Floats  # SD ratio to subjects; NaN where unknown
    judges: Floats


class Posterior(NamedTuple):
    """What is known of a system's years, shapes (b, points)."""

    years: Floats
    log_likelihood: Floats
    weights: Floats


class Reading(NamedTuple):
    """What a posterior says, shapes (b,) and (b, 2)."""

    experience: Floats
    interval: Floats  # infinite where there is no upper limit
    says: Flags
    is_open: Flags


class Difference(NamedTuple):
    """How many years the second system is ahead of the first, shapes (b,) and (b, 2)."""

    years: Floats
    interval: Floats
    ahead: Floats  # probability that the second is better
    says: Flags


class Estimate(NamedTuple):
    """Both estimates of a system, shapes (b,)."""

    paper: PaperLine
    reference: Reading
    paper_leads: Flags
    says: Flags  # whether either leads

    @property
    def interval(self) -> Floats:
        """The leading interval, shape (b, 2); NaN where no years are stated."""
        lead = np.where(self.paper_leads[:, None], self.paper.interval, self.reference.interval)
        return np.where(self.says[:, None], lead, np.nan)

    @property
    def experience(self) -> Floats:
        """The leading estimate; NaN where no years are stated."""
        lead = np.where(self.paper_leads, self.paper.experience, self.reference.experience)
        return np.where(self.says, lead, np.nan)


@dataclass(frozen=True)
class Studies:
    """Studies that are analyzed together.

    Shapes: `ranks` (b, judges, problems, solvers), adjusted, NaN where nothing was ranked; `years`
    (b, n), NaN for a subject who is left out; `averages` (b, solvers): average ranks by other
    means than averaging, in groups of all solvers.
    """

    ranks: Floats
    years: Floats
    population: Population | None = None  # by default 0 to 1.5 times the highest years
    years_error: float = 0.0
    level: float = 0.95
    averages: Floats | None = None
    highest: Floats | None = None  # shape (b,): years that the default population counts as highest

    @cached_property
    def place(self) -> Floats:
        """Places in each cell, 0 the worst and 1 the best."""
        size = np.isfinite(self.ranks).sum(axis=-1, keepdims=True)
        return np.asarray((self.ranks - 0.5) / size)

    @cached_property
    def rank(self) -> Floats:
        """Average ranks, shape (b, solvers)."""
        return _mean(self.ranks, (1, 2)) if self.averages is None else self.averages

    @cached_property
    def average_place(self) -> Floats:
        """Average places, shape (b, solvers)."""
        if self.averages is None:
            return _mean(self.place, (1, 2))
        return np.asarray((self.averages - 0.5) / self.averages.shape[1])

    @cached_property
    def z(self) -> Floats:
        """Logits of average places, shape (b, solvers)."""
        return np.log(self.average_place / (1 - self.average_place))

    @cached_property
    def weight(self) -> Floats:
        """What the variance of an average place is proportional to, shape (b, solvers)."""
        return np.clip(self.average_place * (1 - self.average_place), _LEAST_WEIGHT, None)

    def of_subjects(self, values: Floats) -> Floats:
        """Values of the subjects; NaN for who has no years or no ranks."""
        n = self.years.shape[1]
        known = np.isfinite(self.years) & np.isfinite(self.rank[:, :n])
        return np.where(
            known[:, None, None] if values.ndim > known.ndim else known, values[..., :n], np.nan
        )

    @cached_property
    @np.errstate(divide="ignore", invalid="ignore")
    def people(self) -> People:
        """The regression of z on years over the subjects."""
        years = _calibrated(self.of_subjects(self.years), self.years_error)
        return _regression(years, self.of_subjects(self.z))

    @cached_property
    def ends(self) -> Floats:
        """Lowest and highest years of the population, shape (2, b)."""
        if self.population is None:
            highest = np.nanmax(self.of_subjects(self.years), axis=1)
            highest = BEYOND * (highest if self.highest is None else self.highest)
            return np.stack([np.zeros(len(highest)), highest])
        return np.tile([[self.population.low], [self.population.high]], len(self.years))

    def grid(self, points: int) -> tuple[Floats, Floats]:
        """Years and the population's weight of each, shapes (b, points)."""
        low, high = self.ends
        years = np.linspace(low, high, points, axis=1)
        of = self.population
        weight = np.ones(years.shape) if of is None else of.density(years)
        weight[:, [0, -1]] /= 2
        return years, weight

    @np.errstate(divide="ignore", invalid="ignore")
    def line(self, system: int) -> PaperLine:
        """Section 3: least squares of years on average rank."""
        x, y = self.of_subjects(self.rank), self.of_subjects(self.years)
        n, mean_x, mean_y, slope, spread, variance = _regression(x, y, least=0.0)
        off = self.rank[:, system] - mean_x
        p_value = np.asarray(fdtrc(1, n - 2, slope**2 * spread / variance), dtype=np.float64)
        experience, distance = mean_y + slope * off, 1 / n + off**2 / spread
        half = stdtrit(n - 2, (1 + self.level) / 2) * np.sqrt(variance * [1 + distance, distance])
        one, mean = (np.stack([experience - h, experience + h], axis=1) for h in half)
        inside = (np.nanmin(y, axis=1) <= experience) & (experience <= np.nanmax(y, axis=1))
        for sign in (-1, 1):
            inside &= sign * self.rank[:, system] < np.nanmax(sign * x, axis=1) - _TOUCH
        holds = (slope > 0) & (p_value < _SIGNIFICANT) & (n >= _FEWEST)
        return PaperLine(experience, one, mean, p_value, holds, inside)

    @np.errstate(divide="ignore", invalid="ignore")
    def variation(self, system: int) -> Variation:
        """Section 4: the error of a system, and what it varies more than subjects."""
        b, judges, problems, _ = self.ranks.shape
        if self.averages is not None:
            nothing, unknown, many = np.zeros(b), np.full(b, np.nan), np.full(b, np.inf)
            return Variation(nothing, many, unknown, many, nothing, unknown, unknown)
        held = np.isfinite(self.ranks)
        of = np.stack(components(self.of_subjects(self.place)), axis=1)
        of /= _mean(self.of_subjects(self.weight), 1)[:, None]
        cells = held.sum(axis=(1, 2))
        counts = [(held.sum(axis=axis) ** 2).sum(axis=1) for axis in (1, 2)]
        phi = np.einsum("bc,bck->bk", of, np.stack([*counts, cells], axis=1) / cells[:, None] ** 2)
        own, usual = phi[:, system], _mean(self.of_subjects(phi), 1)
        more = np.where(held[..., system].all(axis=(1, 2)), 0.0, np.fmax(0.0, own - usual))
        over_problems, of_problems = self._excess(system, axis=1)
        over_judges, of_judges = self._excess(system, axis=2)
        df = self.people.n * max(judges - 1, 1)
        added = _summed((more, df), over_problems, over_judges)
        error = _summed((own, df * max(problems - 1, 1)), over_problems, over_judges)
        return Variation(*added, *error, more, of_problems, of_judges)

    def _excess(self, system: int, axis: int) -> tuple[tuple[Floats, Floats], Floats]:
        """Dispersion above subjects' over problems (`axis` 1) or judges (2), its df; SD ratio."""
        held = np.isfinite(self.ranks[..., system, None])
        means = _mean(np.where(held, self.place, np.nan), axis)
        count = np.isfinite(means).sum(axis=1)
        apart = means - _mean(means, 1)[:, None]
        squares = np.nansum(apart**2, axis=1) / self.weight
        freedom = self.of_subjects(count - 1.0)
        freedom[~(freedom > 0)] = np.nan
        usual = np.nansum(self.of_subjects(squares) * (freedom > 0), axis=1)
        usual /= np.nansum(freedom, axis=1)
        n = count[:, system]
        own = squares[:, system] / (n - 1)
        defined = (n > 1) & (usual > 0)
        excess = np.where(defined, np.maximum(0.0, own - usual) / n, 0.0)
        return (excess, np.maximum(n - 1.0, 1.0)), np.where(defined, np.sqrt(own / usual), np.nan)

    @np.errstate(divide="ignore", invalid="ignore")
    def posterior(self, system: int) -> Posterior:
        """Section 5: the years of one further person who was ranked like the system."""
        years, weight = self.grid(POINTS)
        variation = self.variation(system)
        added = (variation.added / self.weight[:, system])[:, None]
        n, mean_years, mean_z, slope, spread, variance = (of[:, None] for of in self.people)
        own = variance * (1 + 1 / n + (years - mean_years) ** 2 / spread)
        total = own + added
        df = total**2 / (own**2 / (n - 2) + added**2 / variation.df[:, None])
        df = np.minimum(n - 2, df)
        off = self.z[:, [system]] - mean_z - slope * (years - mean_years)
        log = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(df * np.pi * total)
        log -= (df + 1) / 2 * np.log1p(off**2 / total / df)
        weight *= np.exp(log - log.max(axis=1, keepdims=True))
        return Posterior(years, log, weight / weight.sum(axis=1, keepdims=True))

    def read(self, posterior: Posterior) -> Reading:
        """Section 5: median, interval, and whether the ranks narrow the population down."""
        log = posterior.log_likelihood
        drop = chdtri(1, 1 - self.level) / 2
        near = log[:, [0, -1]] > log.max(axis=1, keepdims=True) - drop
        is_open = near[:, 1] & (self.population is None)
        low, median, high = quantiles(posterior.years, posterior.weights, self.level)
        interval = np.stack([low, np.where(is_open, np.inf, high)], axis=1)
        return Reading(median, interval, (self.people.slope > 0) & ~near.all(axis=1), is_open)

    @np.errstate(invalid="ignore")
    def estimate(self, system: int) -> Estimate:
        """Section 6: both estimates of a system, and which leads."""
        line, reference = self.line(system), self.read(self.posterior(system))
        of = self.variation(system)
        uneven = (of.incidence > 0) | (of.problems >= TWICE) | (of.judges >= TWICE)
        by_paper = line.holds & line.inside & ~uneven
        if self.population is not None:
            by_paper &= ~reference.says
        return Estimate(line, reference, by_paper, by_paper | reference.says)

    @np.errstate(divide="ignore", invalid="ignore")
    def difference(self, first: int, second: int) -> Difference:
        """Section 7: years by which one system of a study is ahead of another."""
        years, weight = self.grid(_PAIR_POINTS)
        n, mean_years, mean_z, slope, spread, variance = self.people
        pieces = []
        for system in (first, second):
            of = self.variation(system)
            pieces.append(
                (np.fmax(of.error / self.weight[:, system], _LEAST_VARIANCE), of.df_error)
            )
        apart = (self.z[:, second] - self.z[:, first]) / slope
        _, df = _summed(*pieces, (variance / spread * apart**2, n - 2))
        df = np.maximum(1.0, df)[:, None, None]
        off = years - mean_years[:, None]
        mean = mean_z[:, None] + slope[:, None] * off
        a = (self.z[:, [first]] - mean)[:, :, None]
        b = (self.z[:, [second]] - mean)[:, None, :]
        of_mean, of_slope = (variance / n)[:, None, None], (variance / spread)[:, None, None]
        line = of_mean + of_slope * off[:, :, None] ** 2
        v_a = pieces[0][0][:, None, None] + line
        v_b = pieces[1][0][:, None, None] + line.swapaxes(1, 2)
        both = of_mean + of_slope * off[:, :, None] * off[:, None, :]
        determinant = v_a * v_b - both**2
        distance = (v_b * a**2 - 2 * both * a * b + v_a * b**2) / determinant
        log = -0.5 * np.log(determinant) - (df + 2) / 2 * np.log1p(distance / df)
        weights = np.exp(log - log.max(axis=(1, 2), keepdims=True))
        weights *= weight[:, :, None] * weight[:, None, :]
        readings = [self.read(self.posterior(system)) for system in (first, second)]
        found = _difference(_over_diagonals(weights), self.ends, self.level, *readings)
        return found._replace(says=found.says & (self.ranks[0, ..., 0].size > 1))


def between(first: Studies, second: Studies, systems: tuple[int, int]) -> Difference:
    """Section 7: the same for the systems of two studies that share one population."""
    highest = np.maximum(first.ends[1], second.ends[1]) / BEYOND
    first, second = replace(first, highest=highest), replace(second, highest=highest)
    one, other = first.posterior(systems[0]), second.posterior(systems[1])
    length = 2 * POINTS
    spectra = (np.fft.rfft(w, length, axis=1) for w in (one.weights[:, ::-1], other.weights))
    weights = np.fft.irfft(np.prod(list(spectra), axis=0), length, axis=1)[:, :-1]
    return _difference(weights, first.ends, first.level, first.read(one), second.read(other))


def quantiles(years: Floats, weights: Floats, level: float) -> list[Floats]:
    """Lower end, median and upper end of distributions on a grid, shapes (b,)."""
    cumulative = np.cumsum(weights, axis=1) - weights / 2
    rows, found = np.arange(len(weights)), []
    for share in ((1 - level) / 2, 0.5, (1 + level) / 2):
        at = np.clip((cumulative < share).sum(axis=1), 1, weights.shape[1] - 1)
        below, above = cumulative[rows, at - 1], cumulative[rows, at]
        part = np.clip((share - below) / np.maximum(above - below, 1e-300), 0, 1)
        found.append(years[rows, at - 1] + (years[rows, at] - years[rows, at - 1]) * part)
    return found


def _difference(
    weights: Floats, ends: Floats, level: float, first: Reading, second: Reading
) -> Difference:
    """Read distributions of differences on an even grid."""
    weights = weights / weights.sum(axis=1, keepdims=True)
    width, zero = ends[1] - ends[0], weights.shape[1] // 2
    years = np.linspace(-width, width, weights.shape[1], axis=1)
    low, median, high = quantiles(years, weights, level)
    low = np.where(first.is_open & ~second.is_open, -np.inf, low)
    high = np.where(second.is_open & ~first.is_open, np.inf, high)
    ahead = weights[:, zero + 1 :].sum(axis=1) + weights[:, zero] / 2
    says = first.says & second.says & ~(first.is_open & second.is_open)
    return Difference(median, np.stack([low, high], axis=1), ahead, says)


def _over_diagonals(values: Floats) -> Floats:
    """Sums over the diagonals of square matrices, the lowest first, shape (b, 2 size - 1)."""
    b, size, _ = values.shape
    padded = np.zeros((b, size, 2 * size))
    padded[:, :, :size] = values[:, ::-1]
    return np.asarray(padded.reshape(b, -1)[:, :-size].reshape(b, size, -1).sum(axis=1))


def _regression(x: Floats, y: Floats, least: float = _LEAST_VARIANCE) -> People:
    """Least squares of y on x in each row, over what is known; the variance is at least that."""
    n = np.isfinite(x).sum(axis=1).astype(float)
    mean_x, mean_y = _mean(x, 1), _mean(y, 1)
    off_x, off_y = x - mean_x[:, None], y - mean_y[:, None]
    spread = np.nansum(off_x**2, axis=1)
    slope = np.nansum(off_x * off_y, axis=1) / spread
    rest = np.nansum((off_y - slope[:, None] * off_x) ** 2, axis=1)
    return People(n, mean_x, mean_y, slope, spread, np.maximum(rest / (n - 2), least))


def _calibrated(years: Floats, error: float) -> Floats:
    """Section 9: what roughly known years are expected to be."""
    if not error:
        return years
    log = np.log(np.maximum(years, 0.05))
    mean = _mean(log, 1)[:, None]
    kept = np.clip(1 - error**2 / np.nanvar(log, axis=1, ddof=1)[:, None], 0.3, 1)
    return np.asarray(np.exp(mean + kept * (log - mean) + kept * error**2 / 2))


def _summed(*pieces: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The sum of variances with Welch's degrees of freedom, infinite where it is 0."""
    total = np.sum([value for value, _ in pieces], axis=0)
    squares = np.sum([value**2 / df for value, df in pieces], axis=0)
    return total, np.where(total > 0, total**2 / squares, np.inf)


def _mean(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    """Means of what is not NaN; NaN where there is nothing."""
    known = np.isfinite(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=axis) / known.sum(axis=axis))
