"""The method vectorized over thousands of studies, for plans and coverage.

Shapes: b studies of equal numbers of judges, problems, and solvers, of whom the first n are
subjects. `quem.method` computes the same for one study of any form; a test compares both.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np
from scipy.special import chdtri, fdtrc, stdtrit

from quem.method.averages import Averages
from quem.method.difference import Difference as OneDifference
from quem.method.difference import between as posteriors_between
from quem.method.difference import difference
from quem.method.line import FEWEST_SUBJECTS, SIGNIFICANT
from quem.method.reference import (
    BEYOND,
    LEAST_VARIANCE,
    POINTS,
    People,
    Population,
    Posterior,
    calibrated,
    posterior_on,
    quantiles,
)
from quem.method.variances import TWICE, Variance, components, excess, total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


Floats: TypeAlias = "NDArray[np.float64]"
Flags: TypeAlias = "NDArray[np.bool_]"

Record = TypeVar("Record", People, Posterior)

_TOUCH = 1e-9


class PaperLine(NamedTuple):
    """The paper's line at a system, shapes (b,) and of intervals (b, 2)."""

    experience: Floats
    interval: Floats
    mean_interval: Floats
    holds: Flags
    inside: Flags


class Variation(NamedTuple):
    """The variance of a system beyond that of subjects, shapes (b,): dispersions and their df."""

    added: Floats
    df: Floats
    error: Floats  # of a typical system
    df_error: Floats
    incidence: Floats
    problems: Floats  # SD ratio to subjects; NaN where unknown
    judges: Floats


class Reading(NamedTuple):
    """A summary of a posterior, shapes (b,) and (b, 2)."""

    experience: Floats
    interval: Floats  # infinite for an open upper end
    says: Flags
    is_open: Flags


class Difference(NamedTuple):
    """The lead of the second system over the first in years, shapes (b,) and (b, 2)."""

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
        """The leading interval, shape (b, 2); NaN if no years are stated."""
        lead = np.where(self.paper_leads[:, None], self.paper.interval, self.reference.interval)
        return np.where(self.says[:, None], lead, np.nan)

    @property
    def experience(self) -> Floats:
        """The leading estimate; NaN if no years are stated."""
        lead = np.where(self.paper_leads, self.paper.experience, self.reference.experience)
        return np.where(self.says, lead, np.nan)


@dataclass(frozen=True)
class Studies:
    """Studies that are analyzed together.

    Shapes: `ranks` (b, judges, problems, solvers), adjusted, NaN where missing; `years` (b, n),
    NaN for excluded subjects.
    """

    ranks: Floats
    years: Floats
    population: Population | None = None  # by default 0 to 1.5 times the highest years
    years_error: float = 0.0
    level: float = 0.95
    highest: Floats | None = None  # shape (b,): highest years, for the default population

    @cached_property
    def place(self) -> Floats:
        """Places in each cell, from 0 for the worst to 1."""
        size = np.isfinite(self.ranks).sum(axis=-1, keepdims=True)
        return np.asarray((self.ranks - 0.5) / size)

    @cached_property
    def averages(self) -> Averages:
        """Average ranks and places, their logits and weights, shapes (b, solvers)."""
        rank, place = _mean(self.ranks, (1, 2)), _mean(self.place, (1, 2))
        n_ranks = np.isfinite(self.ranks).sum(axis=(1, 2))
        return Averages((), (), self.years, rank, place, n_ranks)

    @cached_property
    def is_person(self) -> Flags:
        """Whether a solver is a subject with years and ranks, shape (b, solvers)."""
        known = np.isfinite(self.averages.rank)
        n = self.years.shape[1]
        known[:, :n] &= np.isfinite(self.years)
        known[:, n:] = False
        return known

    def of_subjects(self, values: Floats) -> Floats:
        """Values of the subjects; NaN without years or ranks."""
        n = self.years.shape[1]
        known = self.is_person[:, :n]
        return np.where(
            known[:, None, None] if values.ndim > known.ndim else known, values[..., :n], np.nan
        )

    @cached_property
    @np.errstate(divide="ignore", invalid="ignore")
    def people(self) -> People:
        """The regression of z on years over the subjects, shapes (b, 1)."""
        years = calibrated(self.of_subjects(self.years), self.years_error)
        of = _regression(years, self.of_subjects(self.averages.z))
        return replace(of, variance=np.maximum(of.variance, LEAST_VARIANCE))

    @cached_property
    def ends(self) -> Floats:
        """Lowest and highest years of the population, shape (2, b)."""
        if self.population is None:
            highest = np.nanmax(self.of_subjects(self.years), axis=1)
            highest = BEYOND * (highest if self.highest is None else self.highest)
            return np.stack([np.zeros(len(highest)), highest])
        return np.tile([[self.population.low], [self.population.high]], len(self.years))

    @np.errstate(divide="ignore", invalid="ignore")
    def line(self, system: int) -> PaperLine:
        """Section 3: least squares of years on average rank."""
        x, y = self.of_subjects(self.averages.rank), self.of_subjects(self.years)
        of, at = _regression(x, y), self.averages.rank[:, [system]]
        off = at - of.mean_years
        p_value = fdtrc(1, of.n - 2, of.slope**2 * of.spread / of.variance)
        experience, distance = of.at(at), 1 / of.n + off**2 / of.spread
        t = stdtrit(of.n - 2, (1 + self.level) / 2)
        half = t * np.sqrt(of.variance * [1 + distance, distance])
        one, mean = (np.hstack([experience - h, experience + h]) for h in half)
        is_inside = (np.nanmin(y, 1) <= experience[:, 0]) & (experience[:, 0] <= np.nanmax(y, 1))
        for sign in (-1, 1):
            is_inside &= sign * at[:, 0] < np.nanmax(sign * x, axis=1) - _TOUCH
        holds = (of.slope > 0) & (p_value < SIGNIFICANT) & (of.n >= FEWEST_SUBJECTS)
        return PaperLine(experience[:, 0], one, mean, holds[:, 0], is_inside)

    @np.errstate(divide="ignore", invalid="ignore")
    def variation(self, system: int) -> Variation:
        """Section 4: the error of a system, and its variance beyond that of subjects."""
        _, judges, problems, _ = self.ranks.shape
        held = np.isfinite(self.ranks)
        of = np.stack(components(self.of_subjects(self.place)), axis=1)
        of /= _mean(self.of_subjects(self.averages.weight), 1)[:, None]
        cells = held.sum(axis=(1, 2))
        counts = [(held.sum(axis=axis) ** 2).sum(axis=1) for axis in (1, 2)]
        phi = np.einsum("bc,bck->bk", of, np.stack([*counts, cells], axis=1) / cells[:, None] ** 2)
        own, usual = phi[:, system], _mean(self.of_subjects(phi), 1)
        more = np.where(held[..., system].all(axis=(1, 2)), 0.0, np.fmax(0.0, own - usual))
        beside = np.where(held[..., [system]], self.place, np.nan)
        (over_problems, of_problems), (over_judges, of_judges) = (
            excess(_mean(beside, axis), self.averages.weight, self.is_person, system)
            for axis in (1, 2)
        )
        df = self.people.n[:, 0] * max(judges - 1, 1)
        added = total([Variance(more, df), over_problems, over_judges])
        alone = Variance(own, df * max(problems - 1, 1))
        error = total([alone, over_problems, over_judges])
        return Variation(*added, *error, more, of_problems, of_judges)

    @np.errstate(divide="ignore", invalid="ignore")
    def posterior(self, system: int) -> Posterior:
        """Section 5: the years of a further subject who was ranked like the system."""
        low, high = self.ends
        years = np.linspace(low, high, POINTS, axis=1)
        density = self.population.density(years) if self.population else np.ones(years.shape)
        of = self.variation(system)
        added = Variance((of.added / self.averages.weight[:, system])[:, None], of.df[:, None])
        return posterior_on(years, density, self.people, self.averages.z[:, [system]], added)

    def read(self, posterior: Posterior) -> Reading:
        """Section 5: median, interval, and whether the ranks narrow the population down."""
        log = posterior.log_likelihood
        drop = chdtri(1, 1 - self.level) / 2
        near = log[:, [0, -1]] > log.max(axis=1, keepdims=True) - drop
        is_open = near[:, 1] & (self.population is None)
        each = zip(posterior.grid, posterior.weights, strict=True)
        low, median, high = np.array([quantiles(*of, self.level) for of in each]).T
        interval = np.stack([low, np.where(is_open, np.inf, high)], axis=1)
        says = (self.people.slope[:, 0] > 0) & ~near.all(axis=1)
        return Reading(median, interval, says, is_open)

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
        """Section 7: the lead of one system of a study over another in years, one by one."""
        systems = [first, second]
        variations = [self.variation(system) for system in systems]
        readings = [self.read(self.posterior(system)) for system in systems]
        errors = np.array([(of.error, of.df_error) for of in variations])
        errors[:, 0] /= self.averages.weight[:, systems].T
        found = [
            difference(
                _row(self.people, at),
                tuple(self.averages.z[at, systems].tolist()),
                (Variance(*errors[0, :, at]), Variance(*errors[1, :, at])),
                self.population or Population(tuple(self.ends[:, at].tolist())),
                level=self.level,
                opens=_opens(readings, at),
            )
            for at in range(len(self.ranks))
        ]
        several = self.ranks[0, ..., 0].size > 1
        return _stacked(found, several & readings[0].says & readings[1].says)


def between(first: Studies, second: Studies, systems: tuple[int, int]) -> Difference:
    """Section 7: the same for the systems of two studies that share one population."""
    highest = np.maximum(first.ends[1], second.ends[1]) / BEYOND
    pair = [replace(of, highest=highest) for of in (first, second)]
    posteriors = [of.posterior(system) for of, system in zip(pair, systems, strict=True)]
    readings = [of.read(posterior) for of, posterior in zip(pair, posteriors, strict=True)]
    found = [
        posteriors_between(
            *(_row(of, at) for of in posteriors), level=first.level, opens=_opens(readings, at)
        )
        for at in range(len(first.ranks))
    ]
    return _stacked(found, readings[0].says & readings[1].says)


def _row(of: Record, at: int) -> Record:
    """The record of one study in a record of arrays."""
    return type(of)(*(np.squeeze(getattr(of, field.name)[at]) for field in fields(of)))


def _opens(readings: list[Reading], at: int) -> tuple[bool, bool]:
    first, second = (bool(of.is_open[at]) for of in readings)
    return first, second


def _stacked(found: Sequence[OneDifference], says: Flags) -> Difference:
    """Differences as arrays; open ends are infinite."""
    ends = [
        (-np.inf if low is None else low, np.inf if high is None else high)
        for low, high in (of.interval for of in found)
    ]
    years, ahead, apart = np.array([(of.years, of.ahead, of.says) for of in found]).T
    return Difference(years, np.array(ends), ahead, says & apart.astype(bool))


def _regression(x: Floats, y: Floats) -> People:
    """Least squares of y on x in each row, over known values, shapes (b, 1)."""
    n = np.isfinite(x).sum(axis=1, keepdims=True).astype(float)
    mean_x, mean_y = _mean(x, 1)[:, None], _mean(y, 1)[:, None]
    spread = np.nansum((x - mean_x) ** 2, axis=1, keepdims=True)
    slope = np.nansum((x - mean_x) * (y - mean_y), axis=1, keepdims=True) / spread
    rest = np.nansum((y - mean_y - slope * (x - mean_x)) ** 2, axis=1, keepdims=True)
    return People(n, mean_x, mean_y, slope, spread, rest / (n - 2))


def _mean(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    """Means without NaN; NaN if there is nothing else."""
    known = np.isfinite(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=axis) / known.sum(axis=axis))
