"""The result of an analysis: what people read, draw, save and compute with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quem.report.result import BaseResult

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from quem.errors import StudyWarning
    from quem.experience.findings import ExperienceFindings
    from quem.load import Study

__all__ = ["ExperienceResult"]


@dataclass(frozen=True, repr=False)
class ExperienceResult(BaseResult):
    """How experienced the systems of a study are.

    Parameters
    ----------
    findings : ExperienceFindings
        Every number, as plain results.
    """

    findings: ExperienceFindings
    kind = "experience"
    figure_stems = ("skill-function", "estimate", "sensitivity", "influence", "agreement", "ranks")
    table_stems = ("ranks", "averages", "estimates")

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        systems = ", ".join(f"{e.system} {e.experience:.4g}" for e in self.findings.estimates)
        return f"<ExperienceResult of {self.study.spec.id}: {systems or 'no system'}>"

    @property
    def study(self) -> Study:
        """The study that was analysed."""
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
        """One row a system: average rank, experience, intervals, bounds."""
        from quem.experience.presentation.tables import estimates_table

        return estimates_table(self.findings)

    @property
    def averages(self) -> pd.DataFrame:
        """One row a solver: kind, experience, average rank, number of ranks."""
        from quem.experience.presentation.tables import averages_table

        return averages_table(self.findings)

    @property
    def ranks(self) -> pd.DataFrame | None:
        """One row a judged solution; None for a study of averages computed elsewhere."""
        return self.findings.cells.to_frame() if self.findings.cells else None

    def summary(self, *, warnings: bool = True) -> str:
        """Say the answer, what it rests on and, unless told not to, the warnings, as text."""
        from quem.experience.presentation.summary import summary_text

        return summary_text(self.findings, warnings=warnings)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Tables by file stem: averages, estimates and, where there are any, ranks."""
        found = {"averages": self.averages, "estimates": self.estimates}
        ranks = self.ranks
        return found if ranks is None else {"ranks": ranks, **found}

    def figures(self) -> dict[str, Figure]:
        """Draw every figure, by file stem."""
        from quem.experience.presentation.figures import all_figures

        return all_figures(self.findings)

    def plot_skill_function(self) -> Figure:
        """Draw the subjects and the skill function (Figure 2 of the paper)."""
        from quem.experience.presentation.figures import skill_function

        return skill_function(self.findings)

    def plot_estimate(self) -> Figure:
        """Draw the bands and each system's estimate (Figure 3 of the paper)."""
        from quem.experience.presentation.figures import estimate

        return estimate(self.findings)

    def plot_sensitivity(self) -> Figure | None:
        """Draw the estimates without each judge, subject and problem; None without a system."""
        from quem.experience.presentation.figures import sensitivity

        return sensitivity(self.findings)

    def plot_influence(self) -> Figure:
        """Draw the subjects' residuals and influence."""
        from quem.experience.presentation.figures import influence

        return influence(self.findings)

    def plot_agreement(self) -> Figure | None:
        """Draw the judges' agreement as a heat map; None where there is none to draw."""
        from quem.experience.presentation.figures import agreement

        return agreement(self.findings)

    def plot_ranks(self) -> Figure | None:
        """Draw every rank of each solver; None for averages computed elsewhere."""
        from quem.experience.presentation.figures import ranks

        return ranks(self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Give the content of analysis.json."""
        from quem.experience.presentation.export import analysis_dict

        return analysis_dict(self.findings)

    def context(self) -> dict[str, Any]:
        """Give what the report's template shows."""
        from quem.experience.presentation.sections import report_context

        return report_context(self.findings)
