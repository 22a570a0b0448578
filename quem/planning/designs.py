"""Designs: expected intervals by the closed form, hours, and the efficient ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import stdtrit

from quem.method.reference import Population
from quem.report.rows import Row, col

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from quem.simulation import Noise

    Floats = NDArray[np.float64]


class Design(Row):
    """A design."""

    title: ClassVar[str] = "Designs"
    design: str = col("its size in words", "Design", kind="csv")
    subjects: int = col("number of subjects")
    judges: int = col("number of judges")
    problems: int = col("number of problems")
    half_width: float = col(
        "half of the leading interval: median of simulated studies, else by the closed form; null "
        "where most intervals are open",
        "Half-width",
        2,
    )
    by_formula: float = col("the same by the closed form")
    says: float | None = col(
        "share of simulated estimates that state years; null without simulation", "Years stated", 2
    )
    covers: float | None = col("share of their intervals that include the truth", "Cover", 2)
    reaches: bool | None = col("whether it meets the target; null without one")
    hours_per_subject: float = col("to solve all problems", "Hours per subject")
    hours_per_judge: float = col("to rank all solutions once", "Hours per judge")
    hours: float = col("of all people together", "Hours in all", 0)

    @property
    def size(self) -> tuple[int, int, int]:
        """Numbers of subjects, judges, and problems."""
        return self.subjects, self.judges, self.problems


@dataclass(frozen=True)
class Assumptions:
    """Assumptions shared by all designs of a plan."""

    noise: Noise
    experience: tuple[float, float]  # the subjects' range
    population: Population | None  # of systems, if declared; else the subjects' range
    systems: int
    minutes: float  # per judge and solution
    solving_minutes: float  # per subject and problem
    level: float

    def half_width(
        self, subjects: ArrayLike, judges: ArrayLike, problems: ArrayLike
    ) -> NDArray[np.float64]:
        r"""The expected half-width of the leading interval; vectorized, possibly infinite.

        .. math:: h = t_{S-2} \sqrt{\left(1 + \frac{2}{S}\right) \frac{V_y V}{V_y + V}}, \quad
            V = \sigma_{person}^2 + \frac{\sigma_{solution}^2}{P} + \frac{\sigma_{judge}^2}{J P}
            + \frac{\sigma_{taste}^2}{J}

        V is the variance of an average quality around experience, V_y that of the years of the
        population.
        """
        s, j, p = (np.asarray(count, dtype=np.float64) for count in (subjects, judges, problems))
        of = self.noise
        v = of.person**2 + of.solution**2 / p + of.judge**2 / (j * p) + of.taste**2 / j
        of_years = self._variance_of_years()
        # With a million degrees of freedom Student's t is normal.
        quantile = stdtrit(np.minimum(s - 2, 1e6), (1 + self.level) / 2)
        return np.asarray(quantile * np.sqrt((1 + 2 / s) * of_years * v / (of_years + v)))

    def _variance_of_years(self) -> float:
        of = self.population or Population(self.experience)
        breaks, share = np.asarray(of.years), np.asarray(of.share)
        middle, width = (breaks[1:] + breaks[:-1]) / 2, np.diff(breaks)
        return float(share @ ((middle - share @ middle) ** 2 + width**2 / 12))

    @property
    def limit(self) -> float:
        """The limit of the half-width for many subjects, judges, and problems."""
        return float(self.half_width(np.inf, np.inf, np.inf))

    def hours(self, subjects: Any, judges: Any, problems: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401
        """Hours per subject, per judge, and in total; vectorized."""
        subject = problems * self.solving_minutes / 60
        judge = (subjects + self.systems) * problems * self.minutes / 60
        return subject, judge, subjects * subject + judges * judge


def efficient(half_width: Floats, hours: Floats) -> NDArray[np.int64]:
    """The indices of the Pareto-optimal designs in hours and half-width.

    Shapes: `half_width`, `hours` alike.
    """
    order = np.lexsort((half_width.ravel(), hours.ravel()))
    narrowest = np.minimum.accumulate(half_width.ravel()[order])
    return np.asarray(order[np.append(True, narrowest[1:] < narrowest[:-1])])
