r"""What grades of machine judges add to the means of retrievers: instruments, never votes.

Experts judged n queries that were drawn from all N, and machines judged all. A machine's grade is
never part of the ground truth. What a measure says by the machines' grades on the other queries,
less what it says by them on the experts' queries, says how much easier or harder these are, and a
share :math:`\lambda` of it is added to the experts' mean. A liking that is the same on all queries
cancels. With h the score of a query by the experts and m that by the machines, L the experts'
queries, and U the others,

.. math:: \hat\theta = \bar h_L + \lambda (\bar m_U - \bar m_L), \quad
          \lambda = \min\Bigl(\max\Bigl(\frac{C}{V} \frac{N - n}{N}, 0\Bigr), 1\Bigr)

with C the covariance of h and m over L and V the variance of m over all queries. Its variance is
:math:`s^2(h - \lambda m) / n + \lambda^2 s_U^2(m) / (N - n)`; the interval is by t, its degrees of
freedom after Satterthwaite. One degree more is taken off for a :math:`\lambda` between 0 and 1,
which is estimated on the same queries.

Where experts find nothing relevant, a measure may have no score. The mean is then over the queries
of L where it has one, and its influence on that mean takes the place of h. A score that the
machines do not give has their mean.

References
----------
Angelopoulos, A. N., Duchi, J. C., & Zrnic, T. (2023). PPI++: Efficient prediction-powered
inference. arXiv:2311.01453. Cochran, W. G. (1977). Sampling techniques (3rd ed.), chapter 12.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from quem.retrieval.lists import score_lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quem.lists import Measure
    from quem.lists.lists import Likeness
    from quem.retrieval.judges import JudgeGrades
    from quem.retrieval.lists import CaseLists, Ties
    from quem.retrieval.running import Task

    Floats = NDArray[np.float64]

FEWEST_LABELED = 3
_FEWEST = 2


@dataclass(frozen=True)
class PoweredMean:
    """A mean by experts alone, and with what machines add."""

    # The experts' queries with a score, and all queries
    n: int
    n_all: int
    alone: float  # the experts' mean; `alone_interval` is by t
    alone_interval: tuple[float, float]
    mean: float  # with the machines
    interval: tuple[float, float]
    share: float  # lambda; 0 where the machines add nothing
    # Between the scores by experts and by machines, on the experts' queries; NaN where either does
    # not vary.
    correlation: float
    worth: float  # as many queries experts alone would have to judge for the same precision


@dataclass(frozen=True)
class Powered:
    """The mean of a retriever, or of the difference of two, by one measure."""

    first: int  # the place of a retriever among those that are scored
    second: int | None  # the other one; None for the mean of one retriever
    measure: int
    result: PoweredMean


@dataclass(frozen=True)
class MachineFound:
    """What machine judges add."""

    judges: tuple[str, ...]  # the machines. Their scores are averaged query by query.
    # Queries that experts judged, and all
    n_experts: int
    n_queries: int
    n_graded: int  # queries that a machine judged
    drawn: bool  # whether the study says that the experts' queries were drawn at random
    means: tuple[Powered, ...]  # of each retriever and of each pair, by each measure


def powered_mean(h: Floats, m: Floats, labeled: NDArray[np.bool_], *, level: float) -> PoweredMean:
    """Estimate the mean of scores over all queries.

    Shapes: `h` (queries,); `m` (queries,); `labeled` (queries,).
    """
    known = labeled & ~np.isnan(h)
    n, n_all, n_known = int(labeled.sum()), len(h), int(known.sum())
    nan = float("nan")
    if not n_known:
        return PoweredMean(0, n_all, nan, (nan, nan), nan, (nan, nan), 0.0, nan, nan)
    alone = float(h[known].mean())
    alone_interval = _interval(alone, [(_variance(h[known], 1) / n_known, n_known - 1)], level)
    # Each query's influence on the mean of those with a score.
    influence = alone + np.where(known, h - alone, 0.0)[labeled] * n / n_known
    share, correlation = 0.0, nan
    if not np.isnan(m).all():
        filled = np.where(np.isnan(m), np.nanmean(m), m)
        of_l, of_u = filled[labeled], filled[~labeled]
        spread = _variance(filled, 1)
        if n >= _FEWEST and np.ptp(of_l) > 0 and np.ptp(influence) > 0:
            correlation = float(np.corrcoef(influence, of_l)[0, 1])
        if n >= FEWEST_LABELED and n < n_all and spread > 0:
            joint = float(np.cov(influence, of_l)[0, 1])
            share = min(max(joint / spread * (n_all - n) / n_all, 0.0), 1.0)
    if not share:
        return PoweredMean(
            *(n_known, n_all, alone, alone_interval, alone, alone_interval),
            *(0.0, correlation, float(n_known)),
        )
    mean = alone + share * float(of_u.mean() - of_l.mean())
    lost = 2 if share < 1 else 1
    parts = [
        (_variance(influence - share * of_l, lost) / n, n - lost),
        (share**2 * _variance(of_u, 1) / len(of_u), len(of_u) - 1),
    ]
    rest = 1 - correlation**2 * (1 - n / n_all)
    worth = n_known / rest if rest > 0 else float("inf")
    interval = _interval(mean, parts, level)
    return PoweredMean(
        n_known, n_all, alone, alone_interval, mean, interval, share, correlation, worth
    )


def _variance(values: Floats, lost: int) -> float:
    """Give the variance with some degrees of freedom lost; NaN where none are left."""
    if len(values) <= lost:
        return float("nan") if len(values) > 1 or lost else 0.0
    return float(((values - values.mean()) ** 2).sum() / (len(values) - lost))


def _interval(mean: float, parts: Sequence[tuple[float, int]], level: float) -> tuple[float, float]:
    """Give the interval of a sum with independent parts, each a variance with its freedom."""
    parts = [(0.0 if np.isnan(v) and df < 1 and at else v, df) for at, (v, df) in enumerate(parts)]
    total = sum(variance for variance, _ in parts)
    if np.isnan(total):
        return float("nan"), float("nan")
    if total == 0:
        return mean, mean
    freedom = total**2 / sum(variance**2 / df for variance, df in parts if variance > 0)
    half = float(stdtrit(freedom, (1 + level) / 2)) * float(np.sqrt(total))
    return mean - half, mean + half


def find_powered(
    runs: Sequence[CaseLists],
    experts: Sequence[Floats],
    labeled: NDArray[np.bool_],
    machines: JudgeGrades,
    measures: Sequence[Measure],
    task: Task,
    *,
    ties: Ties,
    level: float,
    drawn: bool,
    likeness: Likeness | None = None,
) -> MachineFound:
    """Say what machine judges add to the mean of each retriever, and of each difference.

    Shapes: `experts` (queries, measures); `labeled` (queries,).
    """
    truths = [machines.of_judge(at, task.queries, task.cases) for at in range(len(machines.judges))]
    if task.leave_one_out:
        truths = [truth.without_own() for truth in truths]
    scores = [
        _mean([score_lists(run, one, measures, ties, likeness).values for one in truths])
        for run in runs
    ]
    means = []
    both = [(at, None) for at in range(len(runs))] + list(combinations(range(len(runs)), 2))
    for first, second in both:
        h = experts[first] - (0 if second is None else experts[second])
        m = scores[first] - (0 if second is None else scores[second])
        means += [
            Powered(first, second, at, powered_mean(h[:, at], m[:, at], labeled, level=level))
            for at in range(len(measures))
        ]
    graded = np.any([truth.sizes > 0 for truth in truths], axis=0)
    return MachineFound(
        machines.judges,
        int(labeled.sum()),
        len(labeled),
        int(graded.sum()),
        drawn,
        tuple(means),
    )


def _mean(scores: list[Floats]) -> Floats:
    """Average over machines, where they give a score."""
    with warnings.catch_warnings():
        # Where none does, there is none.
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(np.nanmean(np.stack(scores), axis=0))
