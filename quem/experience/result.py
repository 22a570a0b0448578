"""The result of analyzing an experience study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from quem.errors import StudyWarning
    from quem.experience.findings import ExperienceFindings
    from quem.experience.loading import Study

__all__ = ["ExperienceResult"]


@dataclass(frozen=True, repr=False)
class ExperienceResult(BaseResult["ExperienceFindings"]):
    """How experienced the systems of a study are."""

    findings: ExperienceFindings
    kind = "experience"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        systems = ", ".join(f"{e.system} {e.experience:.4g}" for e in self.findings.estimates)
        return f"<ExperienceResult of {self.study.spec.id}: {systems or 'no system'}>"

    @staticmethod
    def presentation() -> Presentation[ExperienceFindings]:
        """Say how the results are shown."""
        from quem.experience.presentation import PRESENTATION

        return PRESENTATION

    @property
    def study(self) -> Study:
        """The study that was analyzed."""
        return self.findings.study

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of: the study file and its rankings."""
        return self.study.files

    @property
    def warnings(self) -> tuple[StudyWarning, ...]:
        """What a reader of the result must know, each with a code and a sentence."""
        return self.findings.warnings

    @property
    def estimates(self) -> pd.DataFrame:
        """One row per system: average rank, experience, intervals, bounds."""
        return self.table("estimates")

    @property
    def averages(self) -> pd.DataFrame:
        """One row per solver: kind, experience, average rank, number of ranks."""
        return self.table("averages")

    @property
    def ranks(self) -> pd.DataFrame | None:
        """One row per judged solution; None for a study of averages computed elsewhere."""
        return self.table("ranks") if self.findings.cells else None
