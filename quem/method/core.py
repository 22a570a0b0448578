"""The numbers of the method, without words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from quem.method.agreement import Agreement
    from quem.method.averages import Averages
    from quem.method.cells import RankCells
    from quem.method.line import Line
    from quem.method.reference import People, Population, Posterior, Reference
    from quem.method.rests import LeftOut, Rest
    from quem.method.variances import Variance, Variation
    from quem.rankings.loading import Study
    from quem.studyfile import ExperienceSettings

Leads = Literal["paper", "reference"]
_ROUNDING = 1e-9


@dataclass(frozen=True)
class SystemEstimate:
    """Both experience estimates of a system: the paper's, and for the reference population."""

    system: str  # its id
    name: str  # title with version
    at: int  # index among the solvers
    rank: float  # average rank
    experience: float  # by the paper's line
    interval: tuple[float, float]  # the paper's prediction interval
    mean_interval: tuple[float, float]  # the paper's confidence interval for the mean
    inside: bool  # whether average rank and years are within the subjects' range
    reference: Reference
    posterior: Posterior
    variation: Variation
    added: Variance  # variance of z beyond that of subjects
    error: Variance  # variance of z, of a typical system
    rests_on: tuple[Rest, ...]
    leads: Leads | None  # estimate stated first; None if no years are stated


@dataclass(frozen=True)
class Core:
    """The results of the method."""

    study: Study
    settings: ExperienceSettings
    cells: RankCells | None  # None where only averages are known
    averages: Averages
    line: Line
    people: People
    population: Population
    agreement: Agreement | None
    # Recomputes averages from some of the cells, for parts
    again: Callable[[RankCells], Averages] | None = None
    estimates: tuple[SystemEstimate, ...] = ()
    left_out: tuple[LeftOut, ...] = ()  # leave-one-out: judges, problems, and subjects

    @property
    def unit(self) -> str:
        """The unit of experience."""
        return self.study.spec.experience_unit

    @property
    def states_years(self) -> bool:
        """Whether years are stated for any system."""
        return any(of.leads for of in self.estimates)

    @property
    def best_first(self) -> list[SystemEstimate]:
        """The systems by decreasing average rank."""
        return sorted(self.estimates, key=lambda of: -of.rank)

    def subjects_below(self, of: SystemEstimate) -> int:
        """The number of subjects with a lower average rank."""
        ranks = self.averages.rank[self.averages.of_kind("subject")]
        return int((ranks < of.rank - _ROUNDING).sum())

    def is_within(self, rank: float) -> int:
        """Whether an average rank is within the subjects' range (0), above (1), or below (-1)."""
        x = self.line.x
        if rank >= x.max() - _ROUNDING:
            return 1
        return -1 if rank <= x.min() + _ROUNDING else 0

    def name_of(self, solver: str) -> str:
        """The title of a system with its version; the id of any other solver."""
        for system in self.study.spec.systems:
            if system.id == solver:
                return " ".join(filter(None, [system.name or system.id, system.version]))
        return solver


def inside(line: Line, rank: float, experience: float) -> bool:
    """Whether average rank and years are within the subjects' range."""
    x, y = line.x, line.y
    within = x.min() + _ROUNDING < rank < x.max() - _ROUNDING
    return bool(within and y.min() <= experience <= y.max())


def round_years(years: NDArray[np.float64]) -> tuple[float, ...]:
    """Years of the stated probabilities: half and four fifths of the highest subject's, rounded.

    Shapes: `years` (n,).
    """
    low, high = years.min(), years.max()
    digits = 0 if high >= 5 else 1  # noqa: PLR2004  whole years from here on
    chosen = (round(float(share * high), digits) for share in (0.5, 0.8))
    return tuple(dict.fromkeys(value for value in chosen if low < value < high))
