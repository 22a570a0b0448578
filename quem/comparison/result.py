"""The result of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from quem.comparison.findings import ComparisonFindings
    from quem.errors import StudyWarning

__all__ = ["ComparisonResult"]


@dataclass(frozen=True, repr=False)
class ComparisonResult(BaseResult["ComparisonFindings"]):
    """How far systems are apart."""

    findings: ComparisonFindings
    kind = "comparison"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        names = ", ".join(self.findings.name_of(s) for s in self.findings.standings)
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
    def warnings(self) -> tuple[StudyWarning, ...]:
        """What a reader of the result must know, each with a code and a sentence."""
        return self.findings.warnings

    @property
    def estimates(self) -> pd.DataFrame:
        """One row per system: study, version, average rank, experience, interval, bounds."""
        return self.table("estimates")

    @property
    def differences(self) -> pd.DataFrame:
        """One row per pair of systems: their difference, with p values."""
        return self.table("differences")
