"""The result of an evaluation of dialogues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from quem.dialogue.loading import DialogueStudy
    from quem.dialogue.outcomes import DialogueFindings

__all__ = ["DialogueResult"]


@dataclass(frozen=True, repr=False)
class DialogueResult(BaseResult["DialogueFindings"]):
    """How good a conversational CBR system is with each strategy."""

    findings: DialogueFindings
    kind = "dialogue"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        findings = self.findings
        best = findings.strategies[findings.whole.order(0)[0]]
        return (
            f"<DialogueResult of {self.study.spec.id}: {len(findings.experiment.targets)} targets, "
            f"best rank quality: {best} {findings.whole.mean.max():.3f}>"
        )

    @staticmethod
    def presentation() -> Presentation[DialogueFindings]:
        """Say how the results are shown."""
        from quem.dialogue.presentation import PRESENTATION

        return PRESENTATION

    @property
    def study(self) -> DialogueStudy:
        """The study that was analyzed."""
        return self.findings.study

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of."""
        return self.study.files

    @property
    def outcomes(self) -> pd.DataFrame:
        """One row per measure, user, and strategy: efficiency and precision with intervals."""
        return self.table("outcomes")

    @property
    def rank_quality(self) -> pd.DataFrame:
        """One row per strategy and number of answers: rank quality with intervals."""
        return self.table("rank-quality")

    @property
    def targets(self) -> pd.DataFrame:
        """One row per target and strategy: its means over dialogues."""
        return self.table("targets")
