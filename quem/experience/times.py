"""How long people took to solve the problems: a second yardstick, beside years."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quem.studyfile.models import Problem, Subject

_FEWEST = 3


@dataclass(frozen=True)
class ProblemTime:
    """How long one problem took, in minutes of work."""

    problem: str
    n: int  # subjects whose time is known
    median: float
    quartiles: tuple[float, float]  # the first and the third
    least: float
    most: float


@dataclass(frozen=True)
class SolvingTimes:
    """How long subjects took, in minutes of work for a solution."""

    n: int  # solutions whose time is known
    n_subjects: int
    median: float  # over all solutions
    # The geometric mean over subjects of their geometric means: times are skewed to the right.
    typical: float
    # Of `typical`, by Student's t on the logarithms; None for one subject.
    interval: tuple[float, float] | None
    hours: float  # of all together
    # Kendall's tau-b of experience and the geometric mean of each subject; NaN for fewer than 3
    # subjects. Negative where more experience goes with less time.
    tau: float
    problems: tuple[ProblemTime, ...]  # of those that somebody's time is known for


def solving_times(
    subjects: Sequence[Subject], problems: Sequence[Problem], level: float
) -> SolvingTimes | None:
    """Summarize the times of subjects, as the study knows them from a solving session."""
    ids = [problem.id for problem in problems]
    minutes = np.array(
        [[subject.seconds.get(one, np.nan) / 60 for one in ids] for subject in subjects]
    ).reshape(len(subjects), len(ids))
    # Nobody solves anything in no time: the clock was never heard of.
    minutes[~(minutes > 0)] = np.nan
    known = np.isfinite(minutes)
    there = known.any(axis=1)
    if not there.any():
        return None
    logs = np.log(minutes, out=np.full_like(minutes, np.nan), where=known)
    means = np.nansum(logs[there], axis=1) / known[there].sum(axis=1)
    experience = np.array([subject.experience for subject in subjects])[there]
    return SolvingTimes(
        n=int(known.sum()),
        n_subjects=len(means),
        median=float(np.median(minutes[known])),
        typical=float(np.exp(means.mean())),
        interval=_interval(means, level),
        hours=float(minutes[known].sum() / 60),
        tau=float(stats.kendalltau(experience, means).statistic)
        if len(means) >= _FEWEST
        else np.nan,
        problems=tuple(
            _problem(one, minutes[known[:, at], at])
            for at, one in enumerate(ids)
            if known[:, at].any()
        ),
    )


def _interval(means: NDArray[np.float64], level: float) -> tuple[float, float] | None:
    n = len(means)
    if n == 1:
        return None
    half = stats.t.ppf((1 + level) / 2, n - 1) * means.std(ddof=1) / np.sqrt(n)
    return float(np.exp(means.mean() - half)), float(np.exp(means.mean() + half))


def _problem(problem: str, minutes: NDArray[np.float64]) -> ProblemTime:
    first, median, third = np.percentile(minutes, (25, 50, 75))
    return ProblemTime(
        problem,
        len(minutes),
        float(median),
        (float(first), float(third)),
        float(minutes.min()),
        float(minutes.max()),
    )
