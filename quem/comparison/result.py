"""The result of a comparison: what people read, draw, save and compute with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quem.report.result import BaseResult

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from quem.comparison.findings import ComparisonFindings
    from quem.errors import StudyWarning

__all__ = ["ComparisonResult"]


@dataclass(frozen=True, repr=False)
class ComparisonResult(BaseResult):
    """How far systems are apart.

    Parameters
    ----------
    findings : ComparisonFindings
        Every number, as plain results.
    """

    findings: ComparisonFindings
    kind = "comparison"
    figure_stems = ("estimates", "differences", "wins", "progression", "uplift")
    table_stems = ("estimates", "differences", "rankings", "progression", "uplift")

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        names = ", ".join(self.findings.name_of(s) for s in self.findings.standings)
        return f"<ComparisonResult of {names or 'people with and without help'}>"

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of: study files and their rankings."""
        return tuple(file for found in self.findings.studies for file in found.study.files)

    @property
    def warnings(self) -> tuple[StudyWarning, ...]:
        """What a reader of the result must know, each with a code and a sentence."""
        return self.findings.warnings

    @property
    def estimates(self) -> pd.DataFrame:
        """One row a system: study, version, average rank, experience, interval, bounds."""
        from quem.comparison.presentation.tables import estimates_table

        return estimates_table(self.findings)

    @property
    def differences(self) -> pd.DataFrame:
        """One row a pair of systems: how far they are apart, with p values."""
        from quem.comparison.presentation.tables import differences_table

        return differences_table(self.findings)

    def summary(self, *, warnings: bool = True) -> str:
        """Say the answer, what it rests on and, unless told not to, the warnings, as text."""
        from quem.comparison.presentation.summary import summary_text

        return summary_text(self.findings, warnings=warnings)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Tables by file stem: estimates, differences and whatever else there is."""
        from quem.comparison.presentation.tables import all_tables

        return all_tables(self.findings)

    def figures(self) -> dict[str, Figure]:
        """Draw every figure, by file stem."""
        from quem.comparison.presentation.figures import all_figures

        return all_figures(self.findings)

    def plot_estimates(self) -> Figure | None:
        """Draw the estimates with their intervals; None without a system."""
        from quem.comparison.presentation.figures import estimates

        return estimates(self.findings)

    def plot_differences(self) -> Figure | None:
        """Draw how far each two systems are apart; None where there are no pairs."""
        from quem.comparison.presentation.figures import differences

        return differences(self.findings)

    def plot_wins(self) -> Figure | None:
        """Draw who beats whom on each problem; None where there are no pairs."""
        from quem.comparison.presentation.figures import wins

        return wins(self.findings)

    def plot_progression(self) -> Figure | None:
        """Draw the versions of each system in order; None without versions."""
        from quem.comparison.presentation.figures import progression

        return progression(self.findings)

    def plot_uplift(self) -> Figure | None:
        """Draw each person with and without help; None without assisted solvers."""
        from quem.comparison.presentation.figures import uplift

        return uplift(self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Give the content of analysis.json."""
        from quem.comparison.presentation.export import comparison_dict

        return comparison_dict(self.findings)

    def context(self) -> dict[str, Any]:
        """Give what the report's template shows."""
        from quem.comparison.presentation.sections import report_context

        return report_context(self.findings)
