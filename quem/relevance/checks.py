"""Warnings about relevance judgments, as a table of rules.

Every code is explained in ``docs/reference/warnings``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import WarningRules
from quem.wording import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.errors import StudyWarning
    from quem.relevance.result import RelevanceFindings

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
