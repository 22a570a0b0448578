"""An evaluation of dialogues, as what people read, draw, save and compute with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from quem.report.result import BaseResult

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from quem.dialogue.findings import DialogueFindings
    from quem.dialogue.loading import DialogueStudy
    from quem.dialogue.sensitivity import Sensitivity
    from quem.errors import StudyWarning

__all__ = ["DialogueResult"]


@dataclass(frozen=True, repr=False)
class DialogueResult(BaseResult):
    """How good a conversational CBR system is with each strategy.

    Parameters
    ----------
    study : DialogueStudy
    findings : DialogueFindings
        Every number, as plain results.
    tried : Sensitivity or None
        What other values of the open choices give, if that was asked for.
    warnings : tuple of StudyWarning
        What a reader of the result must know, each with a code and a sentence.
    """

    study: DialogueStudy
    findings: DialogueFindings
    tried: Sensitivity | None
    warnings: tuple[StudyWarning, ...]
    kind = "dialogue"
    figure_stems = ("rank-quality", "outcomes", "agreement-efficiency", "agreement-precision")
    table_stems = (
        "outcomes",
        "rank-quality",
        "differences",
        "agreement",
        "targets",
        "sensitivity",
        "search",
    )

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        found = self.findings
        best = found.strategies[found.whole.order(0)[0]]
        return (
            f"<DialogueResult of {self.study.spec.id}: {len(found.experiment.cases)} targets, "
            f"best rank quality: {best} {found.whole.mean.max():.3f}>"
        )

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of."""
        return self.study.files

    @property
    def outcomes(self) -> pd.DataFrame:
        """One row a measure, user and strategy: efficiency and precision with intervals."""
        from quem.dialogue.presentation.tables import outcomes_table

        return outcomes_table(self.findings)

    @property
    def rank_quality(self) -> pd.DataFrame:
        """One row a strategy and number of answers: rank quality with intervals."""
        from quem.dialogue.presentation.tables import quality_table

        return quality_table(self.findings)

    @property
    def targets(self) -> pd.DataFrame:
        """One row a target and strategy: its means over dialogues."""
        from quem.dialogue.presentation.tables import targets_table

        return targets_table(self.findings)

    def summary(self, *, warnings: bool = True) -> str:
        """Say the result and, unless told not to, the warnings, as text."""
        from quem.dialogue.presentation.summary import summary_text

        return summary_text(self, warnings=warnings)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Tables by file stem."""
        from quem.dialogue.presentation import tables

        found = self.findings
        told = {
            "outcomes": self.outcomes,
            "rank-quality": self.rank_quality,
            "differences": tables.differences_table(found),
            "agreement": tables.agreement_table(found),
            "targets": self.targets,
        }
        if self.tried:
            told["sensitivity"] = tables.sensitivity_table(found, self.tried)
            if self.tried.found:
                told["search"] = tables.search_table(self.tried.found)
        return told

    def figures(self) -> dict[str, Figure]:
        """Draw every figure, by file stem."""
        drawn = {
            "rank-quality": self.plot_rank_quality(),
            "outcomes": self.plot_outcomes(),
            "agreement-efficiency": self.plot_agreement("efficiency"),
            "agreement-precision": self.plot_agreement("precision"),
        }
        return {stem: figure for stem, figure in drawn.items() if figure is not None}

    def plot_rank_quality(self) -> Figure:
        """Draw rank quality over the number of answers, with bands."""
        from quem.dialogue.presentation.figures import rank_quality

        return rank_quality(self.findings)

    def plot_outcomes(self) -> Figure:
        """Draw efficiency and precision of each strategy by user, with intervals."""
        from quem.dialogue.presentation.figures import outcomes

        return outcomes(self.findings)

    def plot_agreement(self, measure: Literal["efficiency", "precision"]) -> Figure | None:
        """Draw how alike users order the strategies; None for one strategy."""
        from quem.dialogue.presentation.figures import agreement

        return agreement(self.findings, measure)

    def to_dict(self) -> dict[str, Any]:
        """Give the content of analysis.json."""
        from quem.dialogue.presentation.tables import analysis_dict

        return analysis_dict(self)

    def context(self) -> dict[str, Any]:
        """Give what the report's template shows."""
        from quem.dialogue.presentation.sections import report_context

        return report_context(self)
