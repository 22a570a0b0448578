"""How often answers are wrong if a system answers only where it is sure.

A list is answered if the confidence of its best option reaches a threshold. Coverage is the share
of questions that are answered; risk is the share of these whose answer is wrong: whose best option
is, or whose whole list lacks a correct one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from quem.lists.inference import draw_queries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.options.lists import Answers
    from quem.study.options import OptionsSettings

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class RiskOf:
    """The risk of one kind of error."""

    risk: Floats  # of shape (t,): at each threshold
    intervals: Floats  # of shape (t, 2): wilson's
    # Where every list is answered; with confidences that say nothing the area is as large.
    overall: float
    # Under the curve: the mean risk of answering the 1, 2, ..., n surest questions, and over all
    # orders of questions of equal confidence.
    area: float
    area_interval: tuple[float, float]  # by bootstrap over questions
    least_area: float  # if all right answers were surer than all wrong ones


@dataclass(frozen=True)
class RiskCurve:
    """The risk of a system by its coverage."""

    system: int
    # Questions, and those with a list that is not empty
    n: int
    n_answered: int
    threshold: Floats  # of shape (t,): falling: at the first the fewest questions are answered
    answered: NDArray[np.int64]  # of shape (t,): how many questions are answered
    # That the best option is wrong, and that the whole list lacks a correct one
    best: RiskOf
    whole: RiskOf

    @property
    def coverage(self) -> Floats:
        """The share of questions that is answered at each threshold, shape (t,)."""
        return self.answered / max(self.n, 1)


def risk_curve(
    system: int, answers: Answers, counted: Flags, settings: OptionsSettings
) -> RiskCurve:
    """Compute the risk of a system by its coverage.

    References
    ----------
    El-Yaniv, R., & Wiener, Y. (2010). On the foundations of noise-free selective classification.
    Journal of Machine Learning Research, 11, 1605-1641. Geifman, Y., Uziel, G., & El-Yaniv, R.
    (2019). Bias-reduced uncertainty estimation for deep neural classifiers. ICLR.

    Shapes: `counted` (q,).
    """
    asked = np.flatnonzero(counted & (answers.length > 0))
    first = np.cumsum(answers.length) - answers.length
    confidence = answers.confidence[first[asked]]
    order = np.argsort(-confidence, kind="stable")
    confidence, place = confidence[order], answers.place[asked][order]
    wrong = np.stack([place != 1, place == 0], axis=1)
    changes = np.append(np.diff(confidence) != 0, True)
    last = np.flatnonzero(changes)
    rows = np.unique(np.linspace(0, len(last) - 1, min(settings.thresholds, len(last))).round())
    at = last[rows.astype(np.int64)]
    errors = wrong.cumsum(axis=0)
    answers_by_level = _Levels.of(wrong, np.cumsum(changes) - changes)
    drawn = answers_by_level.drawn_areas(settings)
    tails = [(1 - settings.level) / 2, (1 + settings.level) / 2]
    ends = np.quantile(drawn, tails, axis=0) if len(drawn) else np.full((2, 2), np.nan)
    areas = answers_by_level.areas(np.ones(len(wrong)))
    best, whole = (
        RiskOf(
            risk=errors[at, kind] / (at + 1),
            intervals=_wilson(errors[at, kind], at + 1, settings.level),
            overall=float(wrong[:, kind].mean()),
            area=areas[kind],
            area_interval=(float(ends[0, kind]), float(ends[1, kind])),
            least_area=_least(len(wrong), int(errors[-1, kind])),
        )
        for kind in range(2)
    )
    return RiskCurve(system, int(counted.sum()), len(asked), confidence[at], at + 1, best, whole)


@dataclass(frozen=True)
class _Levels:
    """Answers by their confidence, the surest first."""

    level: NDArray[np.int64]  # of shape (n,): which of the distinct confidences each answer has
    wrong: tuple[NDArray[np.int64], ...]  # the answers that are wrong, for each kind of error
    harmonic: Floats  # of shape (n + 1,): the sum of 1/1, ..., 1/k, for each k from 0

    @classmethod
    def of(cls, wrong: Flags, level: NDArray[np.int64]) -> Self:
        """Find the wrong answers, of `wrong` of shape (n, kinds)."""
        harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, len(wrong) + 1))])
        return cls(level, tuple(np.flatnonzero(kind) for kind in wrong.T), harmonic)

    def areas(self, times: Floats) -> list[float]:
        """Give the mean risk of answering the 1, 2, ..., n surest, for each kind of error.

        Of n questions of one confidence, e wrong ones, behind k others, E of them wrong, the risk
        of the k + 1, ..., k + n surest has the mean (E + (j - k) e/n)/j over all their orders. Its
        sum is e + (E - k e/n)(H(k + n) - H(k)), with the harmonic numbers H.

        Shapes: `times` (n,).
        """
        counts = np.bincount(self.level, weights=times)
        upto = counts.cumsum()
        before = upto - counts
        sums = self.harmonic[upto.astype(np.int64)] - self.harmonic[before.astype(np.int64)]
        share_before = before / np.maximum(counts, 1)
        areas = []
        for wrong in self.wrong:
            own = np.bincount(self.level[wrong], weights=times[wrong], minlength=len(counts))
            behind = own.cumsum() - own - own * share_before
            areas.append(float(own.sum() + behind @ sums) / len(times))
        return areas

    def drawn_areas(self, settings: OptionsSettings) -> Floats:
        """Give the areas of answers that are drawn with replacement, shape (replicates, kinds)."""
        n = len(self.level)
        replicates = settings.bootstrap if n > 1 else 0  # of one answer nothing varies
        draws = draw_queries(n, replicates=replicates, seed=settings.seed)
        areas = [self.areas(row) for times in draws for row in times]
        return np.array(areas).reshape(-1, len(self.wrong))


def _least(n: int, errors: int) -> float:
    """The area if the errors were the least sure of n answers."""
    counts = np.arange(1, n + 1)
    return float((np.maximum(counts - (n - errors), 0) / counts).mean())


def _wilson(count: NDArray[np.int64], of: NDArray[np.int64], level: float) -> Floats:
    """Intervals of shares, shape (n, 2) (Wilson 1927)."""
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + level) / 2)
    share = count / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * np.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return np.stack([np.maximum(middle - half, 0), np.minimum(middle + half, 1)], axis=1)
