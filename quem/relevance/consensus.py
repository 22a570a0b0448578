"""One grade of several judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.relevance.judgments import Judgments

    Floats = NDArray[np.float64]


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
