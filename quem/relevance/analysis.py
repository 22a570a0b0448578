"""From what judges said to findings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quem.relevance.agreement import alphas, pairs_of_judges, with_themselves
from quem.relevance.checks import find_warnings
from quem.relevance.consensus import average_rank, consensus_grade
from quem.relevance.result import JudgeFindings, RelevanceFindings, RelevanceResult
from quem.study.schema import changed_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.errors import StudyWarning
    from quem.relevance.judgments import Judgments
    from quem.relevance.loading import RelevanceStudy


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
