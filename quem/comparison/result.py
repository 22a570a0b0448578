"""The result of a comparison: the rows of its tables, and its methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel

from quem.report.result import BaseResult, Presentation
from quem.report.rows import Interval, Row, StudyRecord, col

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from quem.comparison.systems import Measured
    from quem.errors import StudyWarning
    from quem.method.core import Core


class ComparedStudy(StudyRecord):
    """A study that is compared."""

    experience_unit: str = col("unit of experience")
    population: str = col("reference population")


class ComparisonSettings(BaseModel):
    """The settings as used."""

    level: float  # confidence level
    systems: tuple[str, ...]  # as named; empty for all


class Difference(Row):
    """The years of the second minus those of the first."""

    title: ClassVar[str] = "Pairs of systems"
    first: str = col("by name", "First", kind="csv")
    second: str = col("by name", "Second", kind="csv")
    a: str = col("id of the first")
    b: str = col("id of the second")
    years: float | None = col("lead of b, in the study's unit", "Second is ahead by")
    interval: Interval = col("credible interval; an end is null where it is open", "Interval")
    ahead: float | None = col("probability that b is better", "Second is better", kind="chance")
    reason: str = col("why there is no difference in years; else empty", kind="csv")


class PairRow(Difference):
    """Two systems."""

    a_study: str = col("id of the study of a")
    b_study: str = col("id of the study of b")
    # Where a judge ranked both; null without such a ranking.
    won: float | None = col("share in which b is above a, ties one half", "Second is above", 2)
    rankings: int | None = col(
        "fewest rankings whose omission removes the lead", "Rankings to undo"
    )
    judges: int | None = col("fewest judges whose omission removes the lead", "Judges to undo")
    ranks: float | None = col("mean rank of b minus that of a", kind="csv")
    n_rankings: int = col("how many", kind="csv")
    n_judges: int = col("number of judges", kind="csv")


class PersonRow(Difference):
    """A subject, unassisted and assisted."""

    title: ClassVar[str] = "People without and with help"
    alone: float = col("average rank without help", "Rank alone", 2)
    helped: float = col("average rank with help", "Rank with help", 2)


class GainRow(Row):
    """The gain from assistance by a system."""

    system: str = col("id")
    name: str = col("of the system", kind="csv")
    gain: float = col("in average rank, the mean over the people")
    interval: Interval = col("confidence interval of the gain", default=(None, None))
    t: float | None = col("of the t test over the problems", default=None)
    df: int | None = col("its degrees of freedom", default=None)
    p_value: float | None = col("of the test of no gain", default=None)
    reason: str = col("why there is no test; else empty", kind="csv", default="")
    common: bool = col("whether ranks with and without help are among the same people", kind="csv")
    people: tuple[PersonRow, ...] = col("each of them: a without help, b with it")


class SystemRow(Row):
    """A system's years, for the population of the differences."""

    title: ClassVar[str] = "Systems"
    name: str = col("with its version", "System")
    study: str = col("id")
    system: str = col("id")
    of: str = col("base name of a system's versions")
    date: str = col("of the version; empty without", "Date")
    experience: float | None = col("median, in the study's unit; null where open", "Estimate")
    interval: Interval = col("credible interval; an end is null where it is open", "Interval")


@dataclass(frozen=True)
class ComparisonFindings:
    """The findings of a comparison."""

    cores: tuple[Core, ...]  # of each study
    chosen: tuple[str, ...]  # named by the caller; empty for all
    systems: tuple[Measured, ...]  # as compared, in order
    pairs: tuple[PairRow, ...] = ()
    gains: tuple[GainRow, ...] = ()
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def unit(self) -> str:
        """The common unit of experience."""
        return self.cores[0].unit

    @property
    def level(self) -> float:
        """Confidence level."""
        return self.cores[0].settings.level

    @property
    def settings(self) -> ComparisonSettings:
        """The settings as used."""
        return ComparisonSettings(level=self.level, systems=self.chosen)

    @property
    def rows(self) -> tuple[SystemRow, ...]:
        """The systems."""
        return tuple(one.row for one in self.systems)

    @property
    def people(self) -> tuple[PersonRow, ...]:
        """Every assisted subject."""
        return tuple(person for gain in self.gains for person in gain.people)


@dataclass(frozen=True, repr=False)
class ComparisonResult(BaseResult["ComparisonFindings"]):
    """Differences between systems and gains from assistance."""

    findings: ComparisonFindings
    kind = "comparison"

    def __repr__(self) -> str:
        """One line; see `summary`."""
        names = ", ".join(one.name for one in self.findings.rows)
        return f"<ComparisonResult of {names or 'people with and without help'}>"

    def __str__(self) -> str:
        """The summary."""
        return self.summary()

    @staticmethod
    def presentation() -> Presentation[ComparisonFindings]:
        """The presentation of the results."""
        from quem.comparison.presentation import PRESENTATION

        return PRESENTATION

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The input files: study files and their rankings."""
        return tuple(file for core in self.findings.cores for file in core.study.files)

    @property
    def differences(self) -> pd.DataFrame:
        """One row per pair of systems."""
        return self.table("differences")

    @property
    def estimates(self) -> pd.DataFrame:
        """One row per system: its years, and its date."""
        return self.table("estimates")
