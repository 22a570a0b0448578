"""From what judges said to findings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.errors import WarningRules
from quem.relevance.agreement import alphas, pairs_of_judges, with_themselves
from quem.relevance.result import JudgeFindings, RelevanceFindings, RelevanceResult
from quem.studyfile.schema import changed_settings
from quem.wording import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.errors import StudyWarning
    from quem.relevance.judgments import Judgments
    from quem.relevance.loading import RelevanceStudy

    Floats = NDArray[np.float64]


def analyze_relevance(study: RelevanceStudy, **settings: object) -> RelevanceResult:
    """Analyze a study of kind ``relevance`` (see `quem.analyze`)."""
    used = changed_settings(study.spec.analysis, settings)
    judgments = study.judgments
    graded = bool(study.spec.grades)
    findings = RelevanceFindings(
        study=study,
        settings=used,
        consensus=consensus_grade(judgments, used.consensus) if graded else average_rank(judgments),
        alpha=alphas(judgments, level=used.level, replicates=used.bootstrap, seed=used.seed),
        judges=tuple(_judges(judgments)),
        pairs=pairs_of_judges(judgments),
    )
    warnings = (*study.warnings, *find_warnings(findings))
    return RelevanceResult(replace(findings, warnings=warnings))


def check_relevance(study: RelevanceStudy) -> tuple[StudyWarning, ...]:
    """Say what an analysis of a study would warn of, without what takes long."""
    return analyze_relevance(study, bootstrap=0).warnings


def _judges(judgments: Judgments) -> Iterator[JudgeFindings]:
    query, repeated = judgments.query, with_themselves(judgments)
    for at, judge in enumerate(judgments.judges):
        said = ~np.isnan(judgments.first[at])
        yield JudgeFindings(
            judge=judge,
            n_queries=len(np.unique(query[said])),
            n_judged=int(said.sum()),
            n_cannot=int(judgments.n_cannot[at]),
            mean=float(judgments.first[at][said].mean()) if said.any() else np.nan,
            repeated=repeated[at],
        )


def consensus_grade(judgments: Judgments, rule: Literal["median", "mode"]) -> Floats:
    """Give the grade of each candidate: the median or the most frequent one, the lower of two."""
    values = judgments.first
    if rule == "median":
        ordered = np.sort(values, axis=0)  # NaN last
        middle = np.maximum(judgments.counts - 1, 0) // 2
        return np.take_along_axis(ordered, middle[None], axis=0)[0] if len(values) else values[:0]
    levels = np.unique(values[~np.isnan(values)])
    votes = np.array([(values == level).sum(axis=0) for level in levels])
    # The first of equal counts is the lowest grade.
    return np.where(judgments.counts > 0, levels[votes.argmax(axis=0)], np.nan)


def average_rank(judgments: Judgments) -> Floats:
    """Give the mean rank of each candidate, 1 for the worst; NaN where nobody ranked it."""
    total = np.nansum(judgments.first, axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / judgments.counts)


_RULES: WarningRules[RelevanceFindings] = WarningRules()
# Krippendorff's limit for tentative conclusions.
_LOW = 0.667


def find_warnings(findings: RelevanceFindings) -> Iterator[StudyWarning]:
    """Find all warnings about an analysis."""
    yield from _RULES.find(findings)


@_RULES.add("unjudged-candidates", remedy="have them judged, or read unjudged as not relevant")
def _unjudged(findings: RelevanceFindings) -> Iterator[str]:
    nobody = findings.judgments.counts == 0
    if nobody.any():
        queries = {findings.judgments.pairs[at][0] for at in np.flatnonzero(nobody).tolist()}
        yield (
            f"{format_count(int(nobody.sum()), 'candidate')} of "
            f"{len(queries):,} quer{'y' if len(queries) == 1 else 'ies'} "
            f"{'has' if nobody.sum() == 1 else 'have'} no judgment"
        )


@_RULES.add("judged-once", remedy="ask a second judge, at least for a part")
def _judged_once(findings: RelevanceFindings) -> Iterator[str]:
    counts = findings.judgments.counts
    if (counts == 1).sum() > len(counts) / 2:
        yield (
            f"{int((counts == 1).sum()):,} of {format_count(len(counts), 'candidate')} have one "
            "judge, so that nothing shows how far others would agree"
        )


@_RULES.add("low-relevance-agreement", remedy="look at the pairs of judges and at the briefing")
def _low_agreement(findings: RelevanceFindings) -> Iterator[str]:
    alpha = findings.alpha.overall
    if alpha < _LOW:
        yield (
            f"Krippendorff's alpha is {alpha:.2f}, below {_LOW}, where even tentative conclusions "
            "need care"
        )
