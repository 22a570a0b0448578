"""The result of an evaluation of retrievers: what people read, draw, save and compute with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quem.report.result import BaseResult

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from quem.errors import StudyWarning
    from quem.retrieval.findings import RetrievalFindings
    from quem.retrieval.loading import RetrievalStudy

__all__ = ["RetrievalResult"]


@dataclass(frozen=True, repr=False)
class RetrievalResult(BaseResult):
    """How good the retrievers of a study are, and how fast.

    Parameters
    ----------
    findings : RetrievalFindings
        Every number, as plain results.
    """

    findings: RetrievalFindings
    kind = "retrieval"
    figure_stems = ("quality", "differences", "times", "mac-fac")
    table_stems = (
        "measures",
        "scores",
        "differences",
        "times",
        "rounds",
        "mac-fac",
        "mac-fac-queries",
    )

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        names = ", ".join(one.id for one in self.findings.evaluated)
        return f"<RetrievalResult of {self.study.spec.id}: {names}>"

    @property
    def study(self) -> RetrievalStudy:
        """The study that was analysed."""
        return self.findings.study

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of."""
        return self.study.files

    @property
    def file_names(self) -> frozenset[str]:
        """Every file that a report may consist of."""
        from quem.retrieval.trec import file_stems

        ids = [retriever.id for retriever in self.study.spec.retrievers]
        # What was read from an earlier report stays as it is.
        kept = [] if self.findings.truth.reused else ["similarities.csv"]
        runs = {f"{stem}.txt" for stem in file_stems(ids)}
        return super().file_names | {"qrels.txt", *kept, *runs}

    @property
    def warnings(self) -> tuple[StudyWarning, ...]:
        """What a reader of the result must know, each with a code and a sentence."""
        return self.findings.warnings

    @property
    def measures(self) -> pd.DataFrame:
        """One row a retriever and measure: mean, interval, number of queries."""
        from quem.retrieval.presentation.tables import measures_table

        return measures_table(self.findings)

    @property
    def scores(self) -> pd.DataFrame:
        """One row a retriever, query and measure: the score, or why there is none."""
        from quem.retrieval.presentation.tables import scores_table

        return scores_table(self.findings)

    @property
    def differences(self) -> pd.DataFrame:
        """One row a pair of retrievers and measure, with interval and p values."""
        from quem.retrieval.presentation.tables import differences_table

        return differences_table(self.findings)

    @property
    def times(self) -> pd.DataFrame:
        """One row a retriever that ran and query: the median time in seconds."""
        from quem.retrieval.presentation.tables import times_table

        return times_table(self.findings)

    def summary(self, *, warnings: bool = True) -> str:
        """Say the answer, what it rests on and, unless told not to, the warnings, as text."""
        from quem.retrieval.presentation.summary import summary_text

        return summary_text(self.findings, warnings=warnings)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Tables by file stem; those without a row are left out."""
        from quem.retrieval.presentation.tables import all_tables

        return all_tables(self.findings)

    def attachments(self) -> dict[str, Iterable[bytes]]:
        """Files besides figures and tables: TREC runs and qrels, and the kept ground truth."""
        from quem.retrieval.presentation.tables import attached_files

        return attached_files(self.findings)

    def figures(self) -> dict[str, Figure]:
        """Draw every figure that there are data for, by file stem."""
        from quem.retrieval.presentation.figures import all_figures

        return all_figures(self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Give the content of analysis.json."""
        from quem.retrieval.presentation.tables import analysis_dict

        return analysis_dict(self.findings)

    def context(self) -> dict[str, Any]:
        """Give what the report's template shows."""
        from quem.retrieval.presentation.sections import report_context

        return report_context(self.findings)
