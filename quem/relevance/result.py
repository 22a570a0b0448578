"""What the analysis of relevance judgments finds, and the result that people read and save."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.report.result import BaseResult, Presentation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from quem.errors import StudyWarning
    from quem.relevance.agreement import Alpha, InCommon
    from quem.relevance.judgments import Judgments
    from quem.relevance.loading import RelevanceStudy
    from quem.studyfile.relevance import RelevanceSettings


@dataclass(frozen=True)
class JudgeFindings:
    """What a judge said, and how steadily."""

    judge: str
    # Queries with a judgment, judgments, and candidates that the judge could not judge
    n_queries: int
    n_judged: int
    n_cannot: int
    mean: float  # of the grades or ranks
    repeated: InCommon  # both judgments of the queries that came twice


@dataclass(frozen=True, eq=False)
class RelevanceFindings:
    """The result of an analysis, as plain results."""

    study: RelevanceStudy
    settings: RelevanceSettings  # as used
    # Of shape (pairs,): a grade, or the average rank, of each candidate; NaN where nobody judged
    # it.
    consensus: NDArray[np.float64]
    alpha: Alpha
    judges: tuple[JudgeFindings, ...]
    pairs: dict[tuple[int, int], InCommon]  # of every two judges
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def judgments(self) -> Judgments:
        """What the judges said."""
        return self.study.judgments

    @property
    def grades(self) -> tuple[str, ...]:
        """What grades are called, the lowest first; empty where judges ranked."""
        return self.study.spec.grades

    def qrels(self) -> dict[tuple[str, str], int]:
        """Give the consensus on each query and case, and what was judged before.

        Where a case was judged before and again, the new judgments count. Empty for ranks.
        """
        if not self.grades:
            return {}
        new = {
            pair: int(grade)
            for pair, grade in zip(self.judgments.pairs, self.consensus.tolist(), strict=True)
            if not np.isnan(grade)
        }
        return {pair: int(grade) for pair, grade in self.study.judged.items()} | new


@dataclass(frozen=True, repr=False)
class RelevanceResult(BaseResult["RelevanceFindings"]):
    """How relevant cases are to queries, in the opinion of judges who may differ."""

    findings: RelevanceFindings
    kind = "relevance"

    def __repr__(self) -> str:
        """One line; `summary` says more."""
        n = len(self.findings.judgments.pairs)
        return f"<RelevanceResult of {self.findings.study.spec.id}: {n} candidates>"

    @staticmethod
    def presentation() -> Presentation[RelevanceFindings]:
        """Say how the results are shown."""
        from quem.relevance.presentation import PRESENTATION

        return PRESENTATION

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the result was made of."""
        return self.findings.study.files

    @property
    def file_names(self) -> frozenset[str]:
        """Every file that a report may consist of."""
        return super().file_names | {"judgments.csv", "qrels.csv", "qrels.txt"}

    @property
    def consensus(self) -> pd.DataFrame:
        """One row per candidate: its grade or average rank, and how many judged it."""
        return self.table("consensus")

    @property
    def judges(self) -> pd.DataFrame:
        """One row per judge: what they judged, and how steadily."""
        return self.table("judges")

    def attachments(
        self,
        tables: Sequence[str] = ("csv",),  # noqa: ARG002
    ) -> dict[str, Iterable[bytes]]:
        """Give each judgment, and the qrels as CSV and as TREC has them."""
        files: dict[str, Iterable[bytes]] = {"judgments.csv": [self._judgments()]}
        if qrels := self.findings.qrels():
            rows = [(query, case, str(grade)) for (query, case), grade in qrels.items()]
            files["qrels.csv"] = [_csv(("query", "case", "grade"), rows)]
            names = [name for pair in qrels for name in pair]
            if not any(re.search(r"\s", name) or not name for name in names):
                lines = (f"{query} 0 {case} {grade}\n" for query, case, grade in rows)
                files["qrels.txt"] = ["".join(lines).encode()]
        return files

    def _judgments(self) -> bytes:
        rows = self.findings.judgments.rows()
        return _csv(("query", "case", "judge", "grade"), ((*r[:3], f"{r[3]:g}") for r in rows))


def _csv(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()
