"""Measures of dialogues by others, which section 6 of Bogaerts & Leake (2006) names.

Most are about one *applicable* case, the target itself, which leave-one-in keeps in the case base.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.dialogue.users import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.dialogue.users import Candidates

# Kohlmaier et al. (2001): the best of the ideal list, and where they have to be.
_BEST, SHOWN = 3, 5


@dataclass(frozen=True)
class FurtherMeasure:
    """A measure, and what the report says of it."""

    name: str  # in tables
    heading: str  # in the report
    better: str
    meaning: str  # what it is, as a sentence without its end


MEASURES = (
    FurtherMeasure(
        "success",
        "success",
        "higher",
        "Success (Kohlmaier et al. 2001): share of the lists whose first five hold the first three "
        "of the list for the whole problem",
    ),
    FurtherMeasure(
        "recall",
        "recall",
        "higher",
        "Recall (McSherry 2001): share of the lists that have the target among the cases at the "
        "smallest distance",
    ),
    FurtherMeasure(
        "random_precision",
        "random precision",
        "higher",
        "Random precision (McSherry 2001): probability that one of these, drawn at random, is the "
        "target",
    ),
    FurtherMeasure(
        "target_rank",
        "rank of the target",
        "lower",
        "Rank of the target (Gupta et al. 2002, retrieval accuracy): its mean position, from 1; in "
        "a tie, the middle of the tie",
    ),
    FurtherMeasure(
        "questions_to_target",
        "questions to the target",
        "lower",
        "Questions to the target (Gupta et al. 2002, conversational efficiency): answers until its "
        "distance is 0 for the first time; by DD it is so from the beginning",
    ),
)
# Those that each list has; the last is one of dialogues.
BY_ANSWERS = len(MEASURES) - 1


def ideal_cases(true: NDArray[np.int64], ties: NDArray[np.int64], others: int) -> NDArray[np.int64]:
    """Find the first cases of the list for the whole problem.

    Shapes: `true` (n,); `ties` (n,).
    """
    first: NDArray[np.int64] = nearest(true[np.newaxis], ties, min(_BEST, others)).cases[0]
    return first


def list_measures(
    apart: NDArray[np.int64],
    candidates: Candidates,
    ideal: NDArray[np.int64],
    applicable: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Score lists.

    Shapes: `apart` (lists, n); `values` (lists, BY_ANSWERS); `identical` (lists,).
    """
    values = np.full((len(apart), BY_ANSWERS), np.nan)
    shown = candidates.cases[:, :SHOWN, np.newaxis]
    values[:, 0] = (shown == ideal).any(axis=1).all(axis=1)
    if applicable is None:
        return values, np.zeros(len(apart), dtype=bool)
    own = apart[:, [applicable]]
    before, tied = (apart < own).sum(axis=1), (apart == own).sum(axis=1)
    first = before == 0
    values[:, 1], values[:, 2] = first, first / tied
    values[:, 3] = before + (tied + 1) / 2
    return values, own[:, 0] == 0
