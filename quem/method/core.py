"""What the method makes of a study, before anything is said of it."""

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
    """A system's years, twice: by the paper's line, and for the reference population."""

    system: str  # its id
    name: str  # as the study has it, with its version
    at: int  # its index among the solvers
    rank: float  # its average rank
    experience: float  # by the paper's line
    interval: tuple[float, float]  # the paper's prediction interval
    mean_interval: tuple[float, float]  # the paper's interval of the mean
    inside: bool  # whether its average rank and its years lie within the subjects'
    reference: Reference
    posterior: Posterior
    variation: Variation
    added: Variance  # what it varies beyond people, as a variance of z
    error: Variance  # of a typical system, as a variance of z
    rests_on: tuple[Rest, ...]
    leads: Leads | None  # which estimate is stated first; None where no years are stated


@dataclass(frozen=True)
class Core:
    """The method's numbers."""

    study: Study
    settings: ExperienceSettings
    cells: RankCells | None  # None where only averages are known
    averages: Averages
    line: Line
    people: People
    population: Population
    agreement: Agreement | None
    # How averages come from some of the cells, where a part computes them
    again: Callable[[RankCells], Averages] | None = None
    estimates: tuple[SystemEstimate, ...] = ()
    left_out: tuple[LeftOut, ...] = ()  # without each judge, problem, and subject

    @property
    def unit(self) -> str:
        """What experience is counted in."""
        return self.study.spec.experience_unit

    @property
    def states_years(self) -> bool:
        """Whether years are stated of any system."""
        return any(of.leads for of in self.estimates)

    @property
    def best_first(self) -> list[SystemEstimate]:
        """The systems by average rank, the best first."""
        return sorted(self.estimates, key=lambda of: -of.rank)

    def subjects_below(self, of: SystemEstimate) -> int:
        """The number of subjects whose average rank is lower."""
        ranks = self.averages.rank[self.averages.of_kind("subject")]
        return int((ranks < of.rank - _ROUNDING).sum())

    def is_within(self, rank: float) -> int:
        """Whether an average rank is within the subjects' (0), above (1), or below (-1)."""
        x = self.line.x
        if rank >= x.max() - _ROUNDING:
            return 1
        return -1 if rank <= x.min() + _ROUNDING else 0

    def name_of(self, solver: str) -> str:
        """Name a system as the study does, with its version; any other solver by its id."""
        for system in self.study.spec.systems:
            if system.id == solver:
                return " ".join(filter(None, [system.name or system.id, system.version]))
        return solver


def inside(line: Line, rank: float, experience: float) -> bool:
    """Whether average rank and years lie within the subjects'."""
    x, y = line.x, line.y
    within = x.min() + _ROUNDING < rank < x.max() - _ROUNDING
    return bool(within and y.min() <= experience <= y.max())


def round_years(years: NDArray[np.float64]) -> tuple[float, ...]:
    """Years to give the chances of: half and four fifths of the highest subject's, rounded.

    Shapes: `years` (n,).
    """
    low, high = years.min(), years.max()
    digits = 0 if high >= 5 else 1  # noqa: PLR2004  whole years from here on
    chosen = (round(float(share * high), digits) for share in (0.5, 0.8))
    return tuple(dict.fromkeys(value for value in chosen if low < value < high))
