"""Whether a system varies more from problem to problem than people do, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc

from quem.lists.inference import holm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.experience.cells import RankCells, RankTable

    Floats = NDArray[np.float64]

_SIGNIFICANT = 0.05
# Beyond so many standard deviations of people, a problem stands out.
_FAR = 2.0
# Less than this share of the squared mean is what rounding leaves of no variance.
_ROUNDING = 1e-12
# A solver's ranks vary most in the middle of the field, their worths most at its ends; this is
# how the variance of ranks goes with information.
_POWER = 1.5
# Of subjects who vary at all; with fewer, people are no yardstick.
_FEWEST_VARYING = 2 / 3


@dataclass(frozen=True)
class Jaggedness:
    """How a system of b studies varies over problems, beside the subjects of each."""

    # Of shape (b, problems, solvers): the mean score on each problem, over the judges who ranked
    # the system there; NaN where there is none.
    means: Floats
    # Of shape (b,): of the test that the system varies no more than people; NaN where there is none
    f: Floats
    p: Floats
    # Of shape (b,)
    df: NDArray[np.int64]
    df_people: NDArray[np.int64]
    # Of shape (b,): of the system's means over problems, and what it would be for people of that
    # quality
    variance: Floats
    expected: Floats
    # Of shape (b, problems): how far the system lies from its mean on each problem, in standard
    # deviations of people.
    z: Floats

    @property
    def is_jagged(self) -> NDArray[np.bool_]:
        """Whether the system clearly varies more than people do, shape (b,)."""
        return np.asarray(self.p < _SIGNIFICANT)

    @property
    def added(self) -> Floats:
        """What the variance of the system's average has beyond that of people, shape (b,)."""
        return np.asarray(np.fmax(self.variance - self.expected, 0.0) / (self.df + 1))


def jaggedness(
    scores: Floats, information: Floats, people: NDArray[np.bool_], system: int
) -> Jaggedness:
    r"""Hold the variance of a system over problems against that of the subjects.

    With :math:`m_{sp}` the mean of solver s on problem p over the judges who ranked the system
    there, so that a system which one judge saw is compared with people as that judge saw them,
    and :math:`V_s` the variance of :math:`m_{sp}` over problems,

    .. math:: F = \frac{V_k}{I_k^{1.5}} \Big/
              \frac{\sum_s (P_s - 1) V_s/I_s^{1.5}}{\sum_s (P_s - 1)}

    over the subjects with two problems or more, on :math:`P_k - 1` and
    :math:`\sum_s (P_s - 1)` degrees of freedom.

    Shapes: `scores` (b, judges, problems, solvers); `information` (b, solvers); `people`
    (solvers,).
    """
    held = np.isfinite(scores) & np.isfinite(scores[..., system, np.newaxis])
    count = held.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(held, scores, 0.0).sum(axis=1) / count
        n_problems = (count > 0).sum(axis=1)
        center = np.where(count > 0, means, 0.0).sum(axis=1) / n_problems
        off = np.where(count > 0, means - center[:, np.newaxis], 0.0)
        variance = (off**2).sum(axis=1) / (n_problems - 1)
        variance = np.where(variance < _ROUNDING * (1 + center**2), 0.0, variance)
        of_ranks = information**_POWER
        some = people & (n_problems > 1)
        freedom = np.where(some, n_problems - 1, 0)
        scaled = np.where(some, freedom * variance / of_ranks, 0.0)
        df_people = freedom.sum(axis=1)
        usual = scaled.sum(axis=1) / df_people
        varying = (some & (variance > 0)).sum(axis=1) >= _FEWEST_VARYING * people.sum()
        tested = varying & (n_problems[:, system] > 1)
        expected = usual * of_ranks[:, system]
        f = np.where(tested, variance[:, system] / expected, np.nan)
        df = n_problems[:, system] - 1
        z = off[..., system] / np.sqrt(expected * (1 - 1 / n_problems[:, system]))[:, np.newaxis]
    return Jaggedness(
        means=means,
        f=f,
        p=fdtrc(df, df_people, f),
        df=df,
        df_people=df_people,
        variance=variance[:, system],
        expected=np.where(tested, expected, np.nan),
        z=np.where(tested[:, np.newaxis] & (count[..., system] > 0), z, np.nan),
    )


@dataclass(frozen=True)
class ProblemPlace:
    """How a system compares on one problem, by the judges who ranked it there."""

    problem: str
    mean_rank: float  # its mean score
    # How many subjects have a lower mean there, and how many have one
    below: int
    subjects: int
    # How far from the system's mean over problems, in standard deviations of people of that
    # quality; NaN where these are unknown.
    z: float

    @property
    def stands_out(self) -> bool:
        """Whether the system is unusually good or bad on it."""
        return abs(self.z) > _FAR


@dataclass(frozen=True)
class Profile:
    """A system from problem to problem."""

    system: str
    places: tuple[ProblemPlace, ...]
    # Of the test that it varies no more than people do; NaN where there is none
    f: float
    p: float
    p_holm: float  # the p value, adjusted for all systems of the study
    df: int
    df_people: int
    # Of the system's means over problems, and what it would be for people of that quality
    variance: float
    expected: float
    added: float  # what the variance of its average has beyond that of people

    @property
    def is_jagged(self) -> bool:
        """Whether the system clearly varies more than people do."""
        return self.p < _SIGNIFICANT

    @property
    def widening(self) -> float:
        """What the variance of its average has beyond that of people, if it is jagged."""
        return self.added if self.is_jagged else 0.0

    @property
    def ratio(self) -> float:
        """How many times as much it varies as people do, as standard deviations."""
        return float(np.sqrt(self.f))


def profiles(cells: RankCells, table: RankTable, information: Floats) -> dict[str, Profile]:
    """Describe each system of a study of whole groups.

    Shapes: `information` (solvers,).
    """
    kinds = np.array(cells.kinds)[table.solvers]
    people = kinds == "subject"
    by_system = {}
    for at in np.flatnonzero(kinds == "system"):
        of = jaggedness(table.scores[np.newaxis], information[np.newaxis], people, int(at))
        by_system[cells.solvers[table.solvers[at]]] = of, int(at)
    adjusted = holm([float(of.p[0]) for of, _ in by_system.values()])
    return {
        system: Profile(
            system,
            tuple(_places(cells, table, of, at, people)),
            float(of.f[0]),
            float(of.p[0]),
            p_holm,
            int(of.df[0]),
            int(of.df_people[0]),
            float(of.variance[0]),
            float(of.expected[0]),
            float(of.added[0]),
        )
        for (system, (of, at)), p_holm in zip(by_system.items(), adjusted, strict=True)
    }


def _places(
    cells: RankCells, table: RankTable, of: Jaggedness, at: int, people: NDArray[np.bool_]
) -> Iterator[ProblemPlace]:
    means = of.means[0]
    for index, own in enumerate(means[:, at]):
        if np.isfinite(own):
            others = means[index, people]
            yield ProblemPlace(
                cells.problems[table.problems[index]],
                float(own),
                int((others < own - _ROUNDING).sum()),
                int(np.isfinite(others).sum()),
                float(of.z[0, index]),
            )
