"""The analysis of relevance judgments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.errors import WarningRules
from quem.relevance.result import RelevanceFindings, RelevanceResult, alphas
from quem.scores.inference import Inference
from quem.studyfile.schema import changed_settings
from quem.wording import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.relevance.judgments import Judgments
    from quem.relevance.loading import RelevanceStudy

    Floats = NDArray[np.float64]


def analyze_relevance(study: RelevanceStudy, **settings: object) -> RelevanceResult:
    """Analyze a study of kind ``relevance`` (see `quem.analyze`)."""
    used = changed_settings(study.spec.analysis, settings)
    said = study.judgments
    consensus = consensus_grade(said, used.consensus)
    alpha = alphas(said, Inference(used.level, used.samples, used.seed))
    found = RelevanceFindings(study, used, consensus, alpha)
    return RelevanceResult(replace(found, warnings=(*study.warnings, *_RULES.find(found))))


def consensus_grade(judgments: Judgments, rule: Literal["median", "mode"]) -> Floats:
    """The grade of each candidate: the median or the mode, the lower of two."""
    values = judgments.first
    if rule == "median":
        ordered = np.sort(values, axis=0)  # NaN last
        middle = np.maximum(judgments.counts - 1, 0) // 2
        return np.take_along_axis(ordered, middle[None], axis=0)[0] if len(values) else values[:0]
    levels = np.unique(values[~np.isnan(values)])
    votes = np.array([(values == level).sum(axis=0) for level in levels])
    # The first of equal counts is the lowest grade.
    return np.where(judgments.counts > 0, levels[votes.argmax(axis=0)], np.nan)


_RULES: WarningRules[RelevanceFindings] = WarningRules()
# Krippendorff's limit for tentative conclusions.
_LOW = 0.667


@_RULES.add("unjudged-candidates", remedy="have them judged, or read unjudged as not relevant")
def _unjudged(found: RelevanceFindings) -> Iterator[str]:
    nobody = np.flatnonzero(found.judgments.counts == 0).tolist()
    if nobody:
        queries = {found.judgments.pairs[at][0] for at in nobody}
        yield (
            f"{format_count(len(nobody), 'candidate')} of {format_count(len(queries), 'query')} "
            f"{'has' if len(nobody) == 1 else 'have'} no judgment"
        )


@_RULES.add("judged-once", remedy="ask a second judge, at least for a part")
def _judged_once(found: RelevanceFindings) -> Iterator[str]:
    counts = found.judgments.counts
    once = int((counts == 1).sum())
    if once > len(counts) / 2:
        yield (
            f"{once:,} of {format_count(len(counts), 'candidate')} have one judge, so that nothing "
            "shows how far others would agree"
        )


@_RULES.add("low-relevance-agreement", remedy="look at the pairs of judges and at the briefing")
def _low_agreement(found: RelevanceFindings) -> Iterator[str]:
    if found.alpha.overall < _LOW:
        yield (
            f"Krippendorff's alpha is {found.alpha.overall:.2f}, below {_LOW}, where even "
            "tentative conclusions need care"
        )
