"""From which confidence on a system should show an option, and what that is worth.

A list is made of the options whose confidence reaches a threshold. The best threshold is the
one of the best mean score; as it was chosen on the questions that it is scored on, that score
is too good, and two corrections are beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.lists.inference import percentile_ends, query_means, resample_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.lists.inference import Means
    from quem.options.lists import Answers, Scorer
    from quem.study.options import OptionsSettings

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Sweep", "sweep"]

# Options of distinct lists that are scored at most.
_MOST_OPTIONS = 20_000_000
_SAME = 1e-12
# Thresholds whose scores are held at once.
_AT_ONCE = 50


@dataclass(frozen=True)
class Sweep:
    """The scores of one system at each threshold.

    Parameters
    ----------
    threshold : array of float, shape (t,)
        Rising.
    mean_length, share : array of float, shape (t,)
        Of the lists that each threshold leaves: their mean length, and the share that has the
        correct option.
    scores : array of float, shape (t, measures)
        Means over the questions where a measure is defined.
    low, high : array of float, shape (t,)
        Bootstrap intervals of the headline, threshold by threshold.
    best : int
        The threshold of the best headline; of equal ones, the highest.
    best_interval : (float, float)
        Of the score there, with the threshold held fixed.
    best_range : (float, float)
        Between which the best threshold lies in resampled questions.
    corrected : float
        The score at the best threshold less its optimism, by bootstrap.
    cross_validated : float
        The mean score of questions whose threshold was chosen on the other questions.
    cross_validated_interval : (float, float)
    folds : int
        Parts for that; 0 where there are too few questions.
    given : float
        The headline of the lists as they are.
    gain : float
        How much better the cross-validated lists score than those, in the mean.
    gain_interval : (float, float)
    n : int
        Questions with a score.
    coarse : bool
        Whether fewer thresholds were tried than asked for, to bound the work.
    """

    system: int
    threshold: Floats
    mean_length: Floats
    share: Floats
    scores: Floats
    low: Floats
    high: Floats
    best: int
    best_interval: tuple[float, float]
    best_range: tuple[float, float]
    corrected: float
    cross_validated: float
    cross_validated_interval: tuple[float, float]
    folds: int
    given: float
    gain: float
    gain_interval: tuple[float, float]
    n: int
    coarse: bool


def sweep(
    system: int, answers: Answers, headlines: Floats, scorer: Scorer, settings: OptionsSettings
) -> Sweep | None:
    """Score the lists of a system at each threshold.

    Parameters
    ----------
    answers : Answers
        With a confidence for each option.
    headlines : array of float, shape (q,)
        The headline of each list as it is.

    Returns
    -------
    Sweep or None
        None where no list has a headline score at any threshold.

    References
    ----------
    Efron, B., & Tibshirani, R. J. (1993). An introduction to the bootstrap, chapter 17.
    """
    answers = answers.by_confidence()
    trial = _try(answers, settings.least, settings.thresholds)
    scored = scorer.score(trial.length, trial.place)
    every = scored.values[scored.which]
    values = every[:, scorer.headline]
    counted = answers.answered | (settings.missing == "empty")
    known = counted.copy()
    for row in trial.which:
        known &= ~np.isnan(values[row])
    if not known.any():
        return None
    which, n = trial.which[:, known], int(known.sum())
    mean = np.array([values[row].mean() for row in which])
    drawn = _drawn(values, which, settings)
    low, high = percentile_ends(drawn, np.full(len(mean), n), settings.level)
    best = _best(mean)
    optimism, best_range = _optimism(drawn, mean, trial.threshold, settings.level)
    held_out, folds = _held_out(values, which, settings.folds, settings.seed)
    as_given = headlines[known]
    beside = _means(np.column_stack([held_out, held_out - as_given, as_given]), settings)
    intervals = list(zip(beside.low.tolist(), beside.high.tolist(), strict=True))
    # How often each distinct list is there, at each threshold.
    times = np.stack([np.bincount(row[counted], minlength=len(every)) for row in trial.which])
    return Sweep(
        system=system,
        threshold=trial.threshold,
        mean_length=times @ trial.length / counted.sum(),
        share=times @ (trial.place > 0) / counted.sum(),
        scores=_weighted_means(every, times),
        low=low,
        high=high,
        best=best,
        best_interval=(float(low[best]), float(high[best])),
        best_range=best_range,
        corrected=float(mean[best]) - optimism,
        cross_validated=float(beside.mean[0]),
        cross_validated_interval=intervals[0],
        folds=folds,
        given=float(beside.mean[2]),
        gain=float(beside.mean[1]),
        gain_interval=intervals[1],
        n=n,
        coarse=trial.coarse,
    )


@dataclass(frozen=True)
class _Tried:
    """The lists that thresholds leave; many are alike, and the distinct ones are held once.

    Parameters
    ----------
    threshold : array of float, shape (t,)
        Rising.
    length, place : array of int, shape (d,)
        Of each distinct list.
    which : array of int, shape (t, q)
        Which of them each list is; of a type as small as will do, since this is large.
    """

    threshold: Floats
    length: Integers
    place: Integers
    which: NDArray[np.integer[Any]]
    coarse: bool


def _try(answers: Answers, least: int, most: int) -> _Tried:
    """Choose the thresholds, and make the list of each question at each."""
    distinct = np.unique(answers.confidence)
    coarse = False
    width = int(answers.length.max(initial=0)) + 1
    while True:
        at = np.unique(np.linspace(0, len(distinct) - 1, min(most, len(distinct))).round())
        threshold = distinct[at.astype(np.int64)]
        shape = len(threshold), len(answers.answered)
        codes = np.empty(shape, dtype=np.min_scalar_type(width * width))
        for row, t in zip(codes, threshold.tolist(), strict=True):
            length = np.maximum(_reaching(answers, t), np.minimum(answers.length, least))
            row[:] = length * width + np.where(answers.place <= length, answers.place, 0)
        lists = np.unique(np.concatenate([np.unique(row) for row in codes])).astype(np.int64)
        options = int((lists // width).sum())
        if options <= _MOST_OPTIONS or len(threshold) <= 2:  # noqa: PLR2004  the two ends
            break
        coarse, most = True, len(threshold) // 2
    for row in codes:
        row[:] = np.searchsorted(lists, row)
    return _Tried(threshold, lists // width, lists % width, codes, coarse)


def _drawn(values: Floats, which: NDArray[np.integer[Any]], settings: OptionsSettings) -> Floats:
    """Mean scores over resampled questions, shape (replicates, t), some thresholds at a time."""
    parts = [
        resample_means(
            values[which[start : start + _AT_ONCE]].T,
            replicates=settings.bootstrap,
            seed=settings.seed,
        )
        for start in range(0, len(which), _AT_ONCE)
    ]
    return np.hstack(parts)


def _reaching(answers: Answers, threshold: float) -> Integers:
    reached = answers.question[answers.confidence >= threshold]
    return np.bincount(reached, minlength=len(answers.answered))


def _best(means: Floats) -> int:
    """The best of the thresholds; of those that are equal but for rounding, the highest."""
    return int(np.flatnonzero(means >= means.max() - _SAME)[-1])


def _optimism(
    drawn: Floats, apparent: Floats, threshold: Floats, level: float
) -> tuple[float, tuple[float, float]]:
    """How much better the best threshold of resampled questions scores on these than on all.

    Parameters
    ----------
    drawn : array of float, shape (replicates, t)
        Mean scores over resampled questions.
    apparent : array of float, shape (t,)
        Those over all questions.
    threshold : array of float, shape (t,)

    Returns
    -------
    optimism : float
    best_range : (float, float)
        Quantiles of the thresholds that are best.
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


def _held_out(
    values: Floats, which: NDArray[np.integer[Any]], folds: int, seed: int
) -> tuple[Floats, int]:
    """Score each question at the threshold that is best for the other parts of the questions.

    Parameters
    ----------
    values : array of float, shape (d,)
        The headline of each distinct list.
    which : array of int, shape (t, q)

    Returns
    -------
    array of float, shape (q,)
        NaN where there are fewer than two questions.
    int
        How many parts there are.
    """
    n = which.shape[1]
    folds = min(folds, n)
    if folds < 2:  # noqa: PLR2004  there are no other questions
        return np.full(n, np.nan), 0
    fold = np.empty(n, dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(n)] = np.arange(n) % folds
    sums = np.stack([np.bincount(fold, weights=values[row], minlength=folds) for row in which])
    sizes = np.bincount(fold, minlength=folds)
    scores = np.empty(n)
    for part in range(folds):
        best = _best((sums.sum(axis=1) - sums[:, part]) / (n - sizes[part]))
        inside = fold == part
        scores[inside] = values[which[best, inside]]
    return scores, folds


def _means(scores: Floats, settings: OptionsSettings) -> Means:
    return query_means(
        scores, level=settings.level, replicates=settings.bootstrap, seed=settings.seed
    )


def _weighted_means(values: Floats, times: Integers) -> Floats:
    """Means over the questions where a measure is defined, shape (t, measures).

    Parameters
    ----------
    values : array of float, shape (d, measures)
    times : array of int, shape (t, d)
    """
    known = ~np.isnan(values)
    defined = times @ known
    total = times @ np.where(known, values, 0)
    return np.where(defined > 0, total / np.maximum(defined, 1), np.nan)
