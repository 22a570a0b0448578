"""From which confidence on a system should show an option, and what that is worth.

A list is made of the options whose confidence reaches a threshold. The best threshold is the
one of the best mean score; as it was chosen on the questions that it is scored on, that score
is too good, and two corrections stand beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.options.scoring import distinct_lists
from quem.queries import query_means, resample_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.options.lists import Answers
    from quem.options.scoring import Scorer
    from quem.queries import Means
    from quem.study.options import OptionsAnalysis

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Sweep", "sweep"]

# Options of distinct lists that are scored at most.
_MOST_OPTIONS = 20_000_000
_SAME = 1e-12


@dataclass(frozen=True)
class Sweep:
    """The scores of one system at each threshold.

    Parameters
    ----------
    system : int
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
    system: int, answers: Answers, given: Floats, scorer: Scorer, settings: OptionsAnalysis
) -> Sweep | None:
    """Score the lists of a system at each threshold.

    Parameters
    ----------
    system : int
    answers : Answers
        With a confidence for each option.
    given : array of float, shape (q,)
        The headline of each list as it is.
    scorer : Scorer
    settings : OptionsAnalysis

    Returns
    -------
    Sweep or None
        None where no list has a headline score at any threshold.

    References
    ----------
    Efron, B., & Tibshirani, R. J. (1993). An introduction to the bootstrap, chapter 17.
    """
    answers = answers.by_confidence()
    threshold, length, coarse = _lists(answers, settings.least, settings.thresholds)
    place = np.where(answers.place <= length, answers.place, 0)
    scored = scorer.score(length, place)
    counted = answers.answered | (settings.missing == "empty")
    headline = scored.values[:, scorer.headline][scored.which].T
    headline[~counted] = np.nan
    known = ~np.isnan(headline).any(axis=1)
    if not known.any():
        return None
    headline, n = headline[known], int(known.sum())
    means = _means(headline, settings)
    best = _best(means.mean)
    drawn = resample_means(headline, replicates=settings.bootstrap, seed=settings.seed)
    optimism, best_range = _optimism(drawn, means.mean, threshold, settings.level)
    held_out, folds = _held_out(headline, settings.folds, settings.seed)
    as_given = given[known]
    beside = _means(np.column_stack([held_out, held_out - as_given, as_given]), settings)
    intervals = list(zip(beside.low.tolist(), beside.high.tolist(), strict=True))
    return Sweep(
        system=system,
        threshold=threshold,
        mean_length=length[:, counted].mean(axis=1),
        share=(place[:, counted] > 0).mean(axis=1),
        scores=np.stack([_column_means(scored.values[which[counted]]) for which in scored.which]),
        low=means.low,
        high=means.high,
        best=best,
        best_interval=(float(means.low[best]), float(means.high[best])),
        best_range=best_range,
        corrected=float(means.mean[best]) - optimism,
        cross_validated=float(beside.mean[0]),
        cross_validated_interval=intervals[0],
        folds=folds,
        given=float(beside.mean[2]),
        gain=float(beside.mean[1]),
        gain_interval=intervals[1],
        n=n,
        coarse=coarse,
    )


def _lists(answers: Answers, least: int, most: int) -> tuple[Floats, Integers, bool]:
    """Thresholds to try, and how long they make the list of each question."""
    distinct = np.unique(answers.confidence)
    coarse = False
    while True:
        at = np.unique(np.linspace(0, len(distinct) - 1, min(most, len(distinct))).round())
        threshold = distinct[at.astype(np.int64)]
        length = np.stack([_reaching(answers, t) for t in threshold.tolist()])
        length = np.maximum(length, np.minimum(answers.length, least))
        place = np.where(answers.place <= length, answers.place, 0)
        options = sum(n for n, _ in distinct_lists(length, place)[0])
        if options <= _MOST_OPTIONS or len(threshold) <= 2:  # noqa: PLR2004  the two ends
            return threshold, length, coarse
        coarse, most = True, len(threshold) // 2


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
    level : float

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


def _held_out(headline: Floats, folds: int, seed: int) -> tuple[Floats, int]:
    """Score each question at the threshold that is best for the other parts of the questions.

    Parameters
    ----------
    headline : array of float, shape (q, t)
    folds, seed : int

    Returns
    -------
    array of float, shape (q,)
        NaN where there are fewer than two questions.
    int
        How many parts there are.
    """
    n = len(headline)
    folds = min(folds, n)
    if folds < 2:  # noqa: PLR2004  there are no other questions
        return np.full(n, np.nan), 0
    fold = np.empty(n, dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(n)] = np.arange(n) % folds
    total = headline.sum(axis=0)
    scores = np.empty(n)
    for part in range(folds):
        inside = fold == part
        best = _best((total - headline[inside].sum(axis=0)) / (~inside).sum())
        scores[inside] = headline[inside, best]
    return scores, folds


def _means(scores: Floats, settings: OptionsAnalysis) -> Means:
    return query_means(
        scores, level=settings.level, replicates=settings.bootstrap, seed=settings.seed
    )


def _column_means(scores: Floats) -> Floats:
    """Means over the questions of one threshold, shape (measures,)."""
    return query_means(scores, level=0.5, replicates=0, seed=0).mean
