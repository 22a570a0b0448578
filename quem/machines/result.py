"""The audit of a machine judge as a result: summary, page, figures, tables, and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from quem.machines.auditing import AuditFindings

__all__ = ["AuditResult"]


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
        from quem.machines.presentation import PRESENTATION

        return PRESENTATION

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of: those of the study."""
        return self.findings.study.files

    @property
    def lines(self) -> pd.DataFrame:
        """One row per question."""
        return self.table("lines")
