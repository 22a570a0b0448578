"""The threshold of the highest utility, and what it is worth on other questions.

The study states what a list with a correct option is worth, and what options, misses and
abstentions cost. The best threshold has the highest mean utility; as it was chosen on the
questions that it is scored on, that utility is too high, and two corrections are beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.inference import percentile_ends
from quem.options.thresholds import resampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.options.thresholds import CutLists
    from quem.study.options import OptionsSettings, Utility

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

_SAME = 1e-12


@dataclass(frozen=True)
class BestThreshold:
    """The threshold of the highest utility."""

    system: int
    # Of shape (t,): the mean utility at each threshold of the sweep, with bootstrap intervals
    curve: Floats
    low: Floats
    high: Floats
    at: int  # which threshold is the best; of equal ones, the highest
    threshold: float  # that one
    range: tuple[float, float]  # between which the best threshold lies in resampled questions
    corrected: float  # the utility at the best threshold less its optimism, by bootstrap
    # The mean utility of lists by the best threshold of the other parts of the questions; NaN where
    # there are too few questions.
    cross_validated: float
    # The best threshold if confidences were true probabilities and questions had one correct
    # option: an option then pays where its probability is at least its cost over the difference of
    # a hit and a miss.
    if_calibrated: float


def worth(utility: Utility, length: Integers, hit: Flags) -> Floats:
    """Give the utility of lists."""
    empty = utility.miss if utility.abstain is None else utility.abstain
    shown = np.where(hit, 1.0, -utility.miss) - utility.option * length
    return np.asarray(np.where(length > 0, shown, -empty))


def best_threshold(system: int, lists: CutLists, settings: OptionsSettings) -> BestThreshold:
    """Find the threshold of the highest mean utility.

    References
    ----------
    Efron, B., & Tibshirani, R. J. (1993). An introduction to the bootstrap, chapter 17.
    """
    utility = settings.utility
    assert utility is not None  # noqa: S101  asked before
    values = worth(utility, lists.length, lists.hit)
    curve = np.array([values[row].mean() for row in lists.which])
    drawn = resampled(lambda rows: values[lists.which[rows]].T, len(curve), settings)
    low, high = percentile_ends(drawn, np.full(len(curve), lists.which.shape[1]), settings.level)
    at = _best(curve)
    optimism, best_range = _optimism(drawn, curve, lists.threshold, settings.level)
    return BestThreshold(
        system=system,
        curve=curve,
        low=low,
        high=high,
        at=at,
        threshold=float(lists.threshold[at]),
        range=best_range,
        corrected=float(curve[at]) - optimism,
        cross_validated=_cross_validated(values, lists, settings),
        if_calibrated=utility.option / (1 + utility.miss),
    )


# Parts into which cross-validation divides the questions.
FOLDS = 10


def _cross_validated(values: Floats, lists: CutLists, settings: OptionsSettings) -> float:
    """Give the mean utility of questions by the threshold that is best for the other parts.

    Shapes: `values` (d,), of the distinct lists.
    """
    n = lists.which.shape[1]
    folds = min(FOLDS, n)
    if folds < 2:  # noqa: PLR2004  there are no other questions
        return float("nan")
    fold = np.empty(n, dtype=np.int64)
    fold[np.random.default_rng(settings.seed).permutation(n)] = np.arange(n) % folds
    sums = np.stack(
        [np.bincount(fold, weights=values[row], minlength=folds) for row in lists.which]
    )
    sizes = np.bincount(fold, minlength=folds)
    which = np.zeros(n, dtype=np.int64)
    for part in range(folds):
        inside = fold == part
        means = (sums.sum(axis=1) - sums[:, part]) / (n - int(sizes[part]))
        which[inside] = lists.which[_best(means), inside]
    return float(values[which].mean())


def _best(means: Floats) -> int:
    """The best of the thresholds; of those that are equal but for rounding, the highest."""
    return int(np.flatnonzero(means >= means.max() - _SAME)[-1])


def _optimism(
    drawn: Floats, apparent: Floats, threshold: Floats, level: float
) -> tuple[float, tuple[float, float]]:
    """How much better the best threshold of resampled questions does on these than on all.

    Shapes: `drawn` (replicates, t); `apparent` (t,); `threshold` (t,).
    """
    if not len(drawn):
        return float("nan"), (float("nan"), float("nan"))
    highest = (
        drawn.shape[1]
        - 1
        - np.argmax(drawn[:, ::-1] >= drawn.max(axis=1, keepdims=True) - _SAME, axis=1)
    )
    rows = np.arange(len(drawn))
    optimism = float((drawn[rows, highest] - apparent[highest]).mean())
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(threshold[highest], tails, method="nearest").tolist()
    return optimism, (low, high)
