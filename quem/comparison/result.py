"""What a comparison finds, and the result that people read, draw and save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from quem.comparison.assistance import AssistanceGain
    from quem.comparison.independent import IndependentDifference, SystemEstimate
    from quem.comparison.pairs import Pair
    from quem.comparison.versions import Progression
    from quem.errors import StudyWarning
    from quem.experience.result import ExperienceFindings

Mode = Literal["systems", "studies", "time"]


@dataclass(frozen=True)
class ComparisonFindings:
    """What was compared, and what came out."""

    # The systems of one study, unrelated systems of independent studies, or one system in several
    # studies.
    mode: Mode
    studies: tuple[ExperienceFindings, ...]
    system_estimates: tuple[SystemEstimate, ...]  # the systems that were compared, in order
    test: str  # for systems of the same study
    chosen: tuple[str, ...]  # the systems that the caller named; empty for all
    level: float
    pairs: tuple[Pair, ...] = ()  # only of mode "systems"
    differences: tuple[IndependentDifference, ...] = ()  # only of mode "studies"
    progressions: tuple[Progression, ...] = ()
    uplifts: tuple[AssistanceGain, ...] = ()  # only of mode "systems"
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def states_years(self) -> bool:
        """Whether every study allows years."""
        return all(study.gate.passed for study in self.studies)

    def allows_years(self, *system_estimates: SystemEstimate) -> bool:
        """Tell whether the studies of some systems allow years."""
        return all(self.studies[entry.study].gate.passed for entry in system_estimates)

    @property
    def unit(self) -> str:
        """The unit of experience, in which all studies agree."""
        return self.studies[0].study.spec.experience_unit

    def study_of(self, entry: SystemEstimate) -> str:
        """Give the id of the study that a system was measured in."""
        return self.studies[entry.study].study.spec.id

    def name_of(self, entry: SystemEstimate) -> str:
        """Name a system, with its study where there are several."""
        if len(self.studies) == 1:
            return entry.name
        return f"{entry.name} ({self.study_of(entry)})"


@dataclass(frozen=True, repr=False)
class ComparisonResult(BaseResult["ComparisonFindings"]):
    """How far systems are apart."""

    findings: ComparisonFindings
    kind = "comparison"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        names = ", ".join(self.findings.name_of(s) for s in self.findings.system_estimates)
        return f"<ComparisonResult of {names or 'people with and without help'}>"

    @staticmethod
    def presentation() -> Presentation[ComparisonFindings]:
        """Say how the results are shown."""
        from quem.comparison.presentation import PRESENTATION

        return PRESENTATION

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of: study files and their rankings."""
        return tuple(file for findings in self.findings.studies for file in findings.study.files)

    @property
    def estimates(self) -> pd.DataFrame:
        """One row per system: study, version, average rank, experience, interval, bounds."""
        return self.table("estimates")

    @property
    def differences(self) -> pd.DataFrame:
        """One row per pair of systems: their difference, with p values."""
        return self.table("differences")
