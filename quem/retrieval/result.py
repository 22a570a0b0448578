"""The result of an evaluation of retrievers: what people read, draw, save and compute with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from quem.errors import StudyWarning
    from quem.retrieval.findings import RetrievalFindings
    from quem.retrieval.loading import RetrievalStudy

__all__ = ["RetrievalResult"]


@dataclass(frozen=True, repr=False)
class RetrievalResult(BaseResult["RetrievalFindings"]):
    """How good the retrievers of a study are, and how fast."""

    findings: RetrievalFindings
    kind = "retrieval"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        names = ", ".join(one.id for one in self.findings.evaluated)
        return f"<RetrievalResult of {self.study.spec.id}: {names}>"

    @staticmethod
    def presentation() -> Presentation[RetrievalFindings]:
        """Say how the results are shown."""
        from quem.retrieval.presentation import PRESENTATION

        return PRESENTATION

    @property
    def study(self) -> RetrievalStudy:
        """The study that was analyzed."""
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
        """One row per retriever and measure: mean, interval, number of queries."""
        return self.table("measures")

    @property
    def scores(self) -> pd.DataFrame:
        """One row per retriever, query, and measure: the score, or why there is none."""
        return self.table("scores")

    @property
    def differences(self) -> pd.DataFrame:
        """One row per pair of retrievers and measure, with interval and p values."""
        return self.table("differences")

    @property
    def times(self) -> pd.DataFrame:
        """One row per retriever that ran and query: the median time in seconds."""
        return self.table("times")

    def attachments(self) -> dict[str, Iterable[bytes]]:
        """Give TREC runs and qrels, and the kept ground truth, by name."""
        from quem.retrieval.ground_truth_cache import FILE, similarities_parts
        from quem.retrieval.trec import file_stems, qrels_parts, run_parts

        findings, files = self.findings, dict[str, Iterable[bytes]]()
        ids = [retriever.id for retriever in self.study.spec.retrievers]
        stems = dict(zip(ids, file_stems(ids), strict=True))
        truth = findings.truth
        for one in findings.evaluated:
            lists = truth.lists if one.is_truth else one.run.lists
            content = run_parts(lists.top(findings.depth), one.id, findings.settings.ties)
            if content is not None:
                files[f"{stems[one.id]}.txt"] = content
        content = qrels_parts(truth.lists)
        if content is not None:
            files["qrels.txt"] = content
        if truth.mark and not truth.reused:
            files[FILE] = similarities_parts(truth.lists, truth.mark, truth.depth)
        return files
