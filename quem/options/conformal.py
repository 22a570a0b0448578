"""Option sets that have a correct option with a stated probability: split conformal prediction.

The score of a question is the highest confidence of its correct options in the list; a question
whose list has none can be covered by no threshold. Of n questions, the k-th highest score is the
threshold, k = ceil((n + 1) coverage): the set of a new question, drawn like these, then has a
correct option with at least that probability, whatever the confidences mean.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from quem.options.thresholds import divided, reaching

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.options.lists import Answers
    from quem.study.options import OptionsSettings

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

_ROUNDING = 1e-9


def correct_confidence(answers: Answers) -> Floats:
    """Give the highest confidence of a correct option of each list; -inf without one."""
    score = np.full(len(answers.answered), -np.inf)
    np.maximum.at(score, answers.question[answers.correct], answers.confidence[answers.correct])
    return score


def conformal_threshold(scores: Floats, coverage: float) -> float:
    """Give the threshold whose sets cover a new question with the stated probability.

    References
    ----------
    Vovk, V., Gammerman, A., & Shafer, G. (2005). Algorithmic learning in a random world, section
    2.2. Papadopoulos, H., Proedrou, K., Vovk, V., & Gammerman, A. (2002). Inductive confidence
    machines for regression. ECML, 345-356.

    Shapes: `scores` (n,).
    """
    return _kth_highest(scores, math.ceil((len(scores) + 1) * coverage - _ROUNDING))


def plain_threshold(scores: Floats, coverage: float) -> float:
    """Give the highest threshold whose sets cover that share of these very questions."""
    return _kth_highest(scores, math.ceil(len(scores) * coverage - _ROUNDING))


def fewest_for_coverage(coverage: float) -> int:
    """Say how many questions a conformal threshold needs: 9 for 90%."""
    return max(1, math.ceil(coverage / (1 - coverage) - _ROUNDING))


def held_out_sets(
    answers: Answers,
    counted: Flags,
    settings: OptionsSettings,
    choose: Callable[[Floats, float], float],
) -> tuple[Integers, Flags]:
    """Make the set of each question by the threshold of the other parts of the questions.

    Shapes: `counted` (q,); `length` (counted,); `hit` (counted,).
    """
    every = correct_confidence(answers)
    scores = every[counted]
    fold, folds = divided(len(scores), settings)
    threshold = np.full(len(counted), -np.inf)
    chosen = np.array([choose(scores[fold != part], settings.coverage) for part in range(folds)])
    if folds:
        threshold[counted] = chosen[fold]
    length = reaching(answers, threshold)[counted]
    return length, (scores >= threshold[counted]) & np.isfinite(scores)


def _kth_highest(scores: Floats, k: int) -> float:
    if not 1 <= k <= len(scores):
        return -math.inf
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])
