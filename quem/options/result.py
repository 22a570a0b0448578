"""The result of an analysis of option lists: what people read, draw, save and compute with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quem.report.result import BaseResult

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from quem.errors import StudyWarning
    from quem.options.findings import OptionsFindings

__all__ = ["OptionsResult"]


@dataclass(frozen=True, repr=False)
class OptionsResult(BaseResult):
    """How good the lists of options are that systems answer with.

    Parameters
    ----------
    findings : OptionsFindings
        Every number, as plain results.
    """

    findings: OptionsFindings
    kind = "options"
    figure_stems = ("scores", "lengths", "thresholds", "differences")
    table_stems = ("scores", "lists", "lengths", "thresholds", "differences")

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        at = self.findings.scorer.headline
        systems = ", ".join(
            f"{self.findings.name_of(s.system)} {s.scores[at]:.4g}" for s in self.findings.standings
        )
        return (
            f"<OptionsResult of {self.findings.data.spec.id}: {self.findings.headline} {systems}>"
        )

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
        """One row a system and measure: mean, interval, on how many questions it is defined."""
        return self.tables()["scores"]

    def summary(self, *, warnings: bool = True) -> str:
        """Say the answer, what it rests on and, unless told not to, the warnings, as text."""
        from quem.options.presentation.summary import summary_text

        return summary_text(self.findings, warnings=warnings)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Tables by file stem: scores, lists, lengths and, where there are any, the others."""
        from quem.options.presentation.tables import all_tables

        return all_tables(self.findings)

    def figures(self) -> dict[str, Figure]:
        """Draw every figure, by file stem."""
        from quem.options.presentation.figures import all_figures

        return all_figures(self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Give the content of analysis.json."""
        from quem.options.presentation.tables import options_dict

        return options_dict(self.findings)

    def context(self) -> dict[str, Any]:
        """Give what the report's template shows."""
        from quem.options.presentation.sections import report_context

        return report_context(self.findings)
