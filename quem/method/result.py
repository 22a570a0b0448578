"""Findings of an experience study, and the rows of its tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from quem.method.statement import Statement, state
from quem.report.rows import Interval, Row, StudyRecord, col

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.errors import StudyWarning
    from quem.method.core import Core, SystemEstimate
    from quem.method.part import Part
    from quem.rankings.loading import Study


class StudiedRecord(StudyRecord):
    """An experience study."""

    experience_unit: str = col("unit of experience")


class RankRow(Row):
    """A judged solution."""

    judge: str = col("id")
    problem: str = col("id")
    block: int = col("block of the task, from 1")
    occasion: int = col("first or later ranking of the task, from 1")
    solver: str = col("id")
    kind: Literal["subject", "system", "assisted", "withheld"] = col("of the solver")
    rank: float | None = col("as the judge gave it; empty where the solution failed")
    adjusted_rank: float = col("mid-rank in its group, 1 is the worst")
    score: float = col("averaged value: the adjusted rank, with the adjustment by machine judges")
    size: int = col("solutions in its group")
    reason: Literal["", "failed", "withheld"] = col("why there is no rank, or why it was placed")
    recognized: bool = col(
        "whether the judge recognized the author; only where some author was recognized"
    )


class Average(Row):
    """A solver's average."""

    title: ClassVar[str] = "Averages"
    solver: str = col("id", "Solver")
    kind: Literal["subject", "system", "assisted"] = col("what it is", "Kind")
    experience: float | None = col("of a subject, in the study's unit", "Experience", kind="csv")
    average_rank: float | None = col("mean adjusted rank, 1 is the worst", "Average rank", 2)
    n_ranks: int | None = col(
        "how many, failed solutions included; null if averaged elsewhere", "Ranks"
    )


class Skill(Row):
    """The paper's line."""

    form: Literal["linear", "log", "quadratic"] = col("predictor of the years")
    intercept: float = col("in the study's unit")
    slope: float = col("in the study's unit, for each rank")
    quadratic: float | None = col("of the squared rank; only of a quadratic", kind="csv")
    r_squared: float = col("share of the variance of experience that it explains")
    residual_sd: float = col("residual standard deviation, in the study's unit")
    p_value: float = col("of the F test over subjects for the slope")
    holds: bool = col("whether it rises, p is below .05, and there are 5 subjects at least")


class PopulationRow(Row):
    """The reference population."""

    years: tuple[float, ...] = col("from the fewest to the most, and the breaks of `share`")
    share: tuple[float, ...] = col("of the people between the breaks; empty where uniform")
    declared: bool = col("whether the study declares it")


class PaperEstimate(Row):
    """A system on the paper's line."""

    experience: float = col("estimate, in the study's unit", "As in the paper")
    interval: Interval = col("prediction interval", "Prediction interval")
    mean_interval: Interval = col("interval of the mean, the paper's band")


class Chance(Row):
    """The probability of at least some years."""

    years: float = col("in the study's unit")
    p: float = col("probability of at least that many")


class ReferenceEstimate(Row):
    """The estimate of a system as a member of the population."""

    experience: float = col("median, in the study's unit")
    interval: Interval = col("credible interval; the upper end is null where it is open")
    at_least: tuple[Chance, ...] = col("chances")
    says: bool = col("whether the rankings narrow the years down")
    open: bool = col("whether there is no upper limit")


class Varies(Row):
    """The variance of a system beyond that of subjects."""

    problems: float | None = col("between problems, ratio of standard deviations")
    judges: float | None = col("between judges, ratio of standard deviations")


class Moved(Row):
    """The most influential unit for the paper's estimate."""

    id: str = col("id")
    experience: float = col("the estimate without, in the study's unit")


class RestsOn(Row):
    """Influence on the paper's estimate."""

    judge: Moved | None = col("judge whose omission moves it most")
    problem: Moved | None = col("problem whose omission moves it most")
    subject: Moved | None = col("subject whose omission moves it most")


class Estimate(Row):
    """A system's estimates."""

    title: ClassVar[str] = "Estimates"
    system: str = col("id", "System")
    average_rank: float = col("mean adjusted rank, 1 is the worst", "Average rank", kind="csv")
    leads: Literal["paper", "reference"] | None = col(
        "the estimate that is stated first; null where no years are stated"
    )
    inside: bool = col("whether rank and years lie within the subjects'")
    paper: PaperEstimate = col("regression as in the paper")
    reference: ReferenceEstimate = col("estimate for the declared or assumed population")
    varies: Varies = col("variation beyond that of people; null where unknown")
    rests_on: RestsOn = col("most influential judge, problem, and subject; null where unknown")


class JudgeRow(Row):
    """A judge's agreement."""

    title: ClassVar[str] = "Judges"
    judge: str = col("id", "Judge")
    agreement: float | None = col("correlation of mean ranks with the other judges'", "r", 2)


class AgreementRow(Row):
    """Agreement between judges."""

    kendall_w: float | None = col("Kendall's W, corrected for ties, mean over problems")
    p_value: float | None = col("of the mean W, if judges ranked at random")
    judges: tuple[JudgeRow, ...] = col("each judge with the rest; empty for one judge")


def average_rows(core: Core) -> list[Average]:
    """One row per solver, except withheld ones."""
    of = core.averages
    return [
        Average(
            solver=solver,
            kind=of.kinds[at],
            experience=_known(of.years[at]),
            average_rank=_known(of.rank[at]),
            n_ranks=int(of.n_ranks[at]) if core.cells is not None or of.n_ranks.any() else None,
        )
        for at, solver in enumerate(of.solvers)
        if of.kinds[at] != "withheld"
    ]


def skill_row(core: Core) -> Skill:
    """The numbers of the paper's line."""
    intercept, slope, *more = core.line.coefficients
    quadratic = more[0] if more else None
    return Skill.taken_from(core.line, intercept=intercept, slope=slope, quadratic=quadratic)


def population_row(core: Core) -> PopulationRow:
    """The numbers of the population."""
    share = core.population.share
    return PopulationRow.taken_from(core.population, share=share if len(share) > 1 else ())


def estimate_row(of: SystemEstimate) -> Estimate:
    """The numbers of a system's estimates."""
    chances = tuple(Chance(years=years, p=p) for years, p in of.reference.at_least)
    ratios = of.variation.ratio_problems, of.variation.ratio_judges
    moved = {one.what: Moved.taken_from(one) for one in of.rests_on}
    return Estimate.taken_from(
        of,
        average_rank=of.rank,
        paper=PaperEstimate.taken_from(of),
        reference=ReferenceEstimate.taken_from(of.reference, at_least=chances),
        varies=Varies(problems=ratios[0], judges=ratios[1]),
        rests_on=RestsOn(**{what: moved.get(what) for what in ("judge", "problem", "subject")}),
    )


def agreement_row(core: Core) -> AgreementRow | None:
    """The numbers of the agreement between judges; None where unknown."""
    of = core.agreement
    if of is None:
        return None
    judges = tuple(JudgeRow(judge=one.judge, agreement=_known(one.others)) for one in of.judges)
    return AgreementRow(kendall_w=_known(of.kendall_w), p_value=_known(of.p_value), judges=judges)


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


@dataclass(frozen=True)
class ExperienceFindings:
    """The findings of the method and the parts."""

    core: Core
    parts: dict[Part[Any], Any] = field(default_factory=dict)  # findings of each part
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def settings(self) -> Any:  # noqa: ANN401  those of the study's model
        """The settings as used."""
        return self.core.settings

    @property
    def study(self) -> Study:
        """The analyzed study."""
        return self.core.study

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The statements on the systems, the best first."""
        return tuple(state(self.core, of) for of in self.core.best_first)

    def of_parts(self, hook: str) -> Iterator[Any]:
        """The sentences of all parts for one place."""
        for part, found in self.parts.items():
            yield from getattr(part, hook)(found, self.core)
