"""An audit of a machine judge, and versions that it tracks, as results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from quem.machines.auditing import AuditFindings
    from quem.machines.tracking import TrackFindings


@dataclass(frozen=True, repr=False)
class AuditResult(BaseResult["AuditFindings"]):
    """What a machine judge is like as an instrument."""

    findings: AuditFindings
    kind = "audit"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        tau = self.findings.agreement.tau.value
        return f"<AuditResult of {self.findings.run.judge}: mean tau-b {tau:.2f} with experts>"

    @staticmethod
    def presentation() -> Presentation[AuditFindings]:
        """Say how the results are shown."""
        from quem.machines.presentation import AUDIT

        return AUDIT

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of: those of the study."""
        return self.findings.study.files

    @property
    def lines(self) -> pd.DataFrame:
        """One row per question."""
        return self.table("lines")


@dataclass(frozen=True, repr=False)
class TrackResult(BaseResult["TrackFindings"]):
    """Years of versions between sessions of experts."""

    findings: TrackFindings
    kind = "track"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        names = ", ".join(version.system.id for version in self.findings.tracked)
        return f"<TrackResult of {self.findings.study.spec.id}: {names}>"

    @staticmethod
    def presentation() -> Presentation[TrackFindings]:
        """Say how the results are shown."""
        from quem.machines.presentation import TRACK

        return TRACK

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of: those of the study."""
        return self.findings.study.files

    @property
    def versions(self) -> pd.DataFrame:
        """One row per version."""
        return self.table("versions")
