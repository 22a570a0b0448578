"""The result of relevance judgments, and the rows of its tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations, compress
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from quem.report.result import BaseResult, Presentation
from quem.report.rows import Interval, Record, Row, col
from quem.scores.inference import Inference, drawn_queries, percentile_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.errors import StudyWarning
    from quem.relevance.judgments import Judgments
    from quem.relevance.loading import RelevanceStudy
    from quem.studyfile.relevance import RelevanceSettings

    Floats = NDArray[np.float64]


class Overall(Record):
    """Counts of judgments, and the agreement between judges."""

    labels: tuple[str, ...] = col("of the grades 0, 1, 2, …")
    n_queries: int = col("queries")
    n_candidates: int = col("candidates")
    n_judgments: int = col("judgments")
    n_before: int = col("judgments from before")
    alpha: float | None = col("Krippendorff's alpha, ordinal, over all queries")
    alpha_interval: Interval = col("of that, by bootstrap over queries")


class JudgeRow(Row):
    """A judge's judgments."""

    title: ClassVar[str] = "Judges"
    judge: str = col("id", "Judge")
    n_queries: int = col("queries with a judgment", "Queries")
    n_judged: int = col("candidates that they judged", "Judged")
    n_cannot: int = col("candidates that they could not judge", "Could not")
    grades: tuple[int, ...] = col("counts of their grades 0, 1, 2, …")
    mean: float | None = col("mean of their grades", "Mean grade", 2)
    n_repeated: int = col("candidates that they judged twice", "Judged twice")
    same_again: float | None = col(
        "share of these with the same judgment", "Same again", kind="share"
    )
    kappa_again: float | None = col(
        "weighted kappa of both judgments of these", "Weighted kappa", 2
    )


class PairRow(Row):
    """Two judges."""

    title: ClassVar[str] = "Pairs of judges"
    first: str = col("id of a judge", "Judge")
    second: str = col("id of another", "And")
    n: int = col("candidates that both judged", "Judged by both")
    same: float | None = col("share of these with the same judgment", "The same", kind="share")
    weighted_kappa: float | None = col("Cohen's kappa with quadratic weights", "Weighted kappa", 2)


class QueryRow(Row):
    """A query, with the agreement on its candidates."""

    title: ClassVar[str] = "What was judged of each query"
    query: str = col("id", "Query")
    n_candidates: int = col("candidates", "Candidates")
    n_judged: int = col("candidates that somebody judged", "Judged")
    n_judgments: int = col("judgments", "Judgments")
    n_relevant: int = col("candidates with a consensus of 1 or more", "Relevant")
    alpha: float | None = col("Krippendorff's alpha, ordinal", "Alpha", 2)


class CandidateRow(Row):
    """A candidate, with the consensus of its judgments."""

    title: ClassVar[str] = "Consensus on each candidate"
    query: str = col("id", "Query")
    case: str = col("id", "Case")
    n_judges: int = col("judges who judged it", "Judges")
    consensus: int | None = col("its grade by `settings.consensus`", "Grade")
    label: str | None = col("of its grade", "Label", kind="csv")
    lowest: int | None = col("lowest grade of a judge", "Lowest")
    highest: int | None = col("highest grade of a judge", "Highest")


class JudgmentRow(Row):
    """A judgment."""

    query: str = col("id")
    case: str = col("id")
    judge: str = col("id")
    grade: int = col("the judge's")


class QrelRow(Row):
    """The relevance judgment of a case that counts."""

    query: str = col("id")
    case: str = col("id")
    grade: int = col("the consensus, or the grade from before where nobody judged it since")


@dataclass(frozen=True, eq=False)
class RelevanceFindings:
    """The judgments and their consensus."""

    study: RelevanceStudy
    settings: RelevanceSettings  # as used
    # Of shape (pairs,): the grade of each candidate; NaN without judgments.
    consensus: NDArray[np.float64]
    alpha: Alpha
    warnings: tuple[StudyWarning, ...] = ()

    @property
    def judgments(self) -> Judgments:
        """The judgments."""
        return self.study.judgments

    @property
    def grades(self) -> tuple[str, ...]:
        """The labels of the grades, lowest first."""
        return self.study.spec.grades

    def overall(self) -> Overall:
        """Counts of judgments, and the agreement between judges."""
        judgments = self.judgments
        return Overall(
            labels=self.grades,
            n_queries=len(judgments.queries),
            n_candidates=len(judgments.pairs),
            n_judgments=int(judgments.counts.sum()),
            n_before=len(self.study.judged),
            alpha=self.alpha.overall,
            alpha_interval=self.alpha.interval,
        )

    def judges(self) -> Iterator[JudgeRow]:
        """One row per judge."""
        judgments = self.judgments
        query = judgments.query
        for at, said in enumerate(judgments.first):
            known, both = ~np.isnan(said), in_common(said, judgments.again[at])
            yield JudgeRow(
                judge=judgments.judges[at],
                n_queries=len(np.unique(query[known])),
                n_judged=int(known.sum()),
                n_cannot=int(judgments.n_cannot[at]),
                grades=tuple(int((said == grade).sum()) for grade in range(len(self.grades))),
                mean=float(said[known].mean()) if known.any() else None,
                n_repeated=both.n,
                same_again=both.same,
                kappa_again=both.weighted_kappa,
            )

    def pairs(self) -> Iterator[PairRow]:
        """One row per pair of judges with common candidates."""
        said = zip(self.judgments.judges, self.judgments.first, strict=True)
        for (one, first), (other, second) in combinations(said, 2):
            if (both := in_common(first, second)).n:
                yield PairRow(first=one, second=other, **both._asdict())

    def queries(self) -> Iterator[QueryRow]:
        """One row per query."""
        judgments = self.judgments
        place, counts = judgments.query, judgments.counts
        for at, query in enumerate(judgments.queries):
            own = place == at
            yield QueryRow(
                query=query,
                n_candidates=int(own.sum()),
                n_judged=int((counts[own] > 0).sum()),
                n_judgments=int(counts[own].sum()),
                n_relevant=int((self.consensus[own] >= 1).sum()),
                alpha=float(self.alpha.by_query[at]),
            )

    def candidates(self) -> Iterator[CandidateRow]:
        """One row per candidate."""
        judgments = self.judgments
        for (query, case), said, value in zip(
            judgments.pairs, judgments.first.T, self.consensus.tolist(), strict=True
        ):
            known = said[~np.isnan(said)].astype(int).tolist()
            grade = int(value) if known else None
            yield CandidateRow(
                query=query,
                case=case,
                n_judges=len(known),
                consensus=grade,
                label=None if grade is None else self.grades[grade],
                lowest=min(known, default=None),
                highest=max(known, default=None),
            )

    def each_judgment(self) -> Iterator[JudgmentRow]:
        """One row per judgment."""
        for query, case, judge, grade in self.judgments.rows():
            yield JudgmentRow(query=query, case=case, judge=judge, grade=int(grade))

    def qrels(self) -> list[QrelRow]:
        """The consensus, with earlier judgments that were not repeated."""
        known = ~np.isnan(self.consensus)
        pairs = compress(self.judgments.pairs, known)
        new = dict(zip(pairs, self.consensus[known], strict=True))
        return [
            QrelRow(query=query, case=case, grade=int(grade))
            for (query, case), grade in {**self.study.judged, **new}.items()
        ]


@dataclass(frozen=True, repr=False)
class RelevanceResult(BaseResult["RelevanceFindings"]):
    """Relevance judgments of cases, with agreement and consensus."""

    findings: RelevanceFindings
    kind = "relevance"

    def __repr__(self) -> str:
        """One line; see `summary`."""
        n = len(self.findings.judgments.pairs)
        return f"<RelevanceResult of {self.findings.study.spec.id}: {n} candidates>"

    @staticmethod
    def presentation() -> Presentation[RelevanceFindings]:
        """The presentation of the results."""
        from quem.relevance.page import PRESENTATION

        return PRESENTATION

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The input files."""
        return self.findings.study.files

    @property
    def file_names(self) -> frozenset[str]:
        """Every possible file of a report."""
        return super().file_names | {"qrels.txt"}

    def attachments(self, _: Sequence[str] = ("csv",)) -> dict[str, bytes]:
        """The qrels in TREC format, unless an id has a space."""
        qrels = self.findings.qrels()
        names = {name for one in qrels for name in (one.query, one.case)}
        if not qrels or any(re.search(r"\s", name) or not name for name in names):
            return {}
        lines = (f"{one.query} 0 {one.case} {one.grade}\n" for one in qrels)
        return {"qrels.txt": "".join(lines).encode()}


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha, over all queries and per query."""

    overall: float  # NaN without two judgments that could differ
    interval: tuple[float, float]  # by bootstrap over queries; NaN where undefined
    by_query: Floats  # of shape (queries,)


def alphas(judgments: Judgments, inference: Inference) -> Alpha:
    r"""Compute Krippendorff's alpha with the ordinal metric.

    :math:`\alpha = 1 - D_o / D_e` with the distance of two grades :math:`\delta^2_{ck} =
    (\sum_{g=c}^{k} n_g - (n_c + n_k)/2)^2`, where :math:`n_g` counts the pairable judgments with
    grade g; candidates with one judgment are excluded.

    References
    ----------
    Krippendorff, K. (2013). *Content analysis* (3rd ed.), chapter 12. Sage.
    """
    met = _coincidences(judgments)
    overall = float(_alpha(met.sum(axis=0)[None])[0])
    interval = (np.nan, np.nan)
    if (met.sum(axis=(1, 2)) > 0).sum() > 1:
        samples = drawn_queries(len(met), inference, met[0].size)
        drawn = [_alpha(np.tensordot(times, met, axes=1)) for times in samples]
        known = np.concatenate([np.empty(0), *drawn])[:, None]
        low, high = percentile_interval(known, inference.level)
        interval = (float(low[0]), float(high[0]))
    return Alpha(overall, interval, _alpha(met))


def _coincidences(judgments: Judgments) -> Floats:
    """Coincidence matrices of grades on candidates, shape (queries, grades, grades)."""
    said = judgments.first
    levels = np.unique(said[~np.isnan(said)])
    counts = (said[:, :, None] == levels).sum(axis=0).astype(float)[:, :, None]
    # A judgment is not paired with itself.
    pairs = counts * counts.swapaxes(1, 2) - counts * np.eye(len(levels))
    pairs /= np.maximum(counts.sum(axis=1, keepdims=True) - 1, 1)
    met = np.zeros((len(judgments.queries), len(levels), len(levels)))
    np.add.at(met, judgments.query, pairs)
    return met


def _alpha(met: Floats) -> Floats:
    """Alpha of each coincidence matrix, shape (n,); NaN where nothing could differ."""
    share = met.sum(axis=2)
    total = share.sum(axis=1)
    place = np.cumsum(share, axis=1) - share / 2
    apart = (place[:, :, None] - place[:, None, :]) ** 2
    observed = (met * apart).sum(axis=(1, 2))
    expected = (share[:, :, None] * share[:, None, :] * apart).sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha = 1 - (total - 1) * observed / expected
    return np.where(expected > 0, alpha, np.nan)


class InCommon(NamedTuple):
    """Agreement of two sets of judgments on the same candidates."""

    n: int  # candidates that both judged
    same: float  # share of identical grades; NaN without common candidates
    weighted_kappa: float  # NaN where undefined


def in_common(one: Floats, other: Floats) -> InCommon:
    """Compare two judges, or a judge's repeats, by Cohen's kappa with quadratic weights.

    It is one minus the ratio of the mean squared difference to its expectation for independent
    judges with the same grades: the sum of both variances and of the squared difference of both
    means.

    References
    ----------
    Cohen, J. (1968). Weighted kappa. *Psychological Bulletin*, 70(4), 213-220.

    Shapes: `one`, `other` (candidates,).
    """
    both = ~np.isnan(one) & ~np.isnan(other)
    a, b = one[both], other[both]
    if not len(a):
        return InCommon(0, np.nan, np.nan)
    expected = a.var() + b.var() + (a.mean() - b.mean()) ** 2
    kappa = 1 - ((a - b) ** 2).mean() / expected if expected > 0 else np.nan
    return InCommon(len(a), float((a == b).mean()), float(kappa))
