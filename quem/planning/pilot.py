"""Estimates from a pilot: the noise of its ranks in years, and solving times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import chdtri

from quem.errors import QuemError
from quem.method.cells import judged_cells
from quem.method.variances import components
from quem.rankings import PrintedAverages
from quem.report.rows import Row, col
from quem.simulation import LOW, Noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.rankings.loading import Study

    Floats = NDArray[np.float64]

# Of the chi-square interval for the person SD. It ignores the error of the slope, so in simulated
# pilots it covers about 90%.
_TAIL = 0.025


class Pilot(Row):
    """Estimates from a pilot; standard deviations are in units of experience."""

    judges: int = col("of the pilot")
    problems: int = col("of the pilot")
    subjects: int = col("of the pilot")
    person: float = col("standard deviation between persons of equal experience")
    solution: float = col("standard deviation person × problem")
    judge: float = col("residual standard deviation of a judge's rating")
    taste: float = col("standard deviation judge × solver")
    person_low: float = col("lower end of about 90% for `person`")
    person_high: float = col("its upper end")
    df: int = col("its degrees of freedom")
    negative_variance: tuple[str, ...] = col("components of no positive variance, taken as 0")
    missing_dimension: Literal["judge", "problem"] | None = col(
        "where a second one is missing, so that only a sum was estimated and its shares are assumed"
    )
    experience: tuple[float, ...] = col("uniform range with mean and variance of its subjects")

    @property
    def noise(self) -> Noise:
        """The four standard deviations."""
        return Noise(self.person, self.solution, self.judge, self.taste)


def read_pilot(study: Study) -> Pilot:
    """Estimate the noise of a pilot from the places of its subjects."""
    refusal = ""
    if study.panel:
        refusal = "is placed on a panel, and only some of its people were ranked"
    elif isinstance(study.data, PrintedAverages):
        refusal = "has only average ranks, which do not separate the SDs of judges and people"
    elif (cells := judged_cells(study.data, study.declared)).is_blocked or not cells.has_ranks:
        refusal = "was judged in blocks, and ranks of different blocks do not compare"
    if refusal:
        raise _refused(study, f"the pilot {refusal}")
    place = np.full((len(cells.judges), len(cells.problems), len(cells.solvers)), np.nan)
    place[cells.judge, cells.problem, cells.solver] = cells.place
    known = {subject.id: subject.experience for subject in study.spec.subjects}
    years = np.array([known.get(solver, np.nan) for solver in cells.solvers])
    there = np.isfinite(years) & np.isfinite(place).any(axis=(0, 1))
    try:
        return estimate_noise(place[..., there], years[there])
    except ValueError as error:
        raise _refused(study, f"the SDs cannot be estimated from the pilot: {error}") from None


def _refused(study: Study, reason: str) -> QuemError:
    text = f"{reason}; use another pilot, or none with --person, --solution, --judge and --taste"
    return QuemError(study.mistake(("rankings",), text))


def estimate_noise(place: Floats, years: Floats) -> Pilot:
    r"""Estimate the noise from places, in units of experience.

    `quem.method.variances.components` gives solution, taste, and judge. The average places are
    regressed on experience; the residual variance beyond those three is the person component. The
    slope c of that regression converts all to years: σ_years = σ_places/c.

    Shapes: `place` (judges, problems, subjects); `years` (subjects,).
    """
    held = np.isfinite(place)
    n, shared = len(years), np.asarray(held.any(axis=2))
    of, missing = _components(place, shared)
    off = years - years.mean()
    spread = float(off @ off)
    average = np.nanmean(place, axis=(0, 1))
    slope = float(off @ average) / spread
    if slope <= 0:
        raise ValueError(
            "its ranks do not rise with experience, so that they cannot be brought to years"
        )
    scale = float(((average - average.mean() - slope * off) ** 2).sum()) / (n - 2)
    # The residual variance due to the three others.
    count = held.sum(axis=(0, 1))
    of_average = of["solution"] * (held.sum(axis=0) ** 2).sum(axis=0) / count**2
    of_average += of["taste"] * (held.sum(axis=1) ** 2).sum(axis=0) / count**2
    of_average += of["judge"] / count
    explained = float((1 - 1 / n - off**2 / spread) @ of_average) / (n - 2)
    of["person"] = max(0.0, scale - explained)
    quantiles = chdtri(n - 2, np.array([_TAIL, 1 - _TAIL]))
    low, high = np.sqrt(np.maximum((n - 2) * scale / quantiles - explained, 0)) / slope
    least = max(0.0, float(years.mean() - np.sqrt(3) * years.std(ddof=1)))
    return Pilot(
        **{name: float(np.sqrt(variance)) / slope for name, variance in of.items()},
        person_low=float(low),
        person_high=float(high),
        df=n - 2,
        negative_variance=tuple(sorted(name for name, variance in of.items() if not variance)),
        missing_dimension=missing,
        experience=(least, least + float(np.sqrt(12) * years.std(ddof=1))),
        judges=int(shared.any(axis=1).sum()),
        problems=int(shared.any(axis=0).sum()),
        subjects=n,
    )


def _components(
    place: Floats, shared: NDArray[np.bool_]
) -> tuple[dict[str, float], Literal["judge", "problem"] | None]:
    """Variances of solution, judge, and taste; also which of judge and problem is single.

    With one judge or one problem, only a sum is identified. It is divided, and the missing
    component added, in the proportions of low noise. Shape: `shared` (judges, problems).
    """
    solution, taste, rest = map(float, components(place))
    many_judges, many_problems = (shared.sum(axis=axis).max() > 1 for axis in (0, 1))
    if many_judges and many_problems:
        return {"solution": solution, "judge": rest, "taste": taste}, None
    if not (many_judges or many_problems):
        raise ValueError(
            "with one judge and one problem the variances between judges and between people cannot "
            "be separated"
        )
    other = LOW.taste if many_judges else LOW.solution
    unit = rest / (LOW.judge**2 + other**2)
    assumed = {name: unit * getattr(LOW, name) ** 2 for name in ("solution", "judge", "taste")}
    return assumed, "problem" if many_judges else "judge"


def solving_minutes(study: Study) -> float | None:
    """The geometric mean of known solving times over subjects, in minutes.

    Times are skewed to the right, so each subject's geometric mean counts.
    """
    logs = [
        np.log([seconds / 60 for seconds in subject.seconds.values() if seconds > 0]).mean()
        for subject in study.spec.subjects
        if any(seconds > 0 for seconds in subject.seconds.values())
    ]
    return float(np.exp(np.mean(logs))) if logs else None
