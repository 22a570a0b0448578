"""The result of an analysis of option lists: what people read, draw, save and compute with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from quem.errors import StudyWarning
    from quem.options.findings import OptionsFindings

__all__ = ["OptionsResult"]


@dataclass(frozen=True, repr=False)
class OptionsResult(BaseResult["OptionsFindings"]):
    """How good the lists of options are that systems answer with."""

    findings: OptionsFindings
    kind = "options"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        at = self.findings.scorer.headline
        systems = ", ".join(
            f"{self.findings.name_of(s.system)} {s.scores[at]:.4g}" for s in self.findings.standings
        )
        return (
            f"<OptionsResult of {self.findings.data.spec.id}: {self.findings.headline} {systems}>"
        )

    @staticmethod
    def presentation() -> Presentation[OptionsFindings]:
        """Say how the results are shown."""
        from quem.options.presentation import PRESENTATION

        return PRESENTATION

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of: the study file, questions and lists."""
        return self.findings.data.files

    @property
    def warnings(self) -> tuple[StudyWarning, ...]:
        """What a reader of the result must know, each with a code and a sentence."""
        return self.findings.warnings

    @property
    def scores(self) -> pd.DataFrame:
        """One row per system and measure: mean, interval, number of questions."""
        return self.table("scores")
