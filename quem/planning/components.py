"""What a pilot shows of the noise: variance components of its ranks, brought to years."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import chdtri, stdtr

from quem.experience.simulation import LOW, Noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Components", "ComponentsError", "Shared", "estimate_components", "shared_noise"]

# Of the chi-square interval for persons. It leaves the error of the slope out, so that in
# simulated pilots it covers about 90%.
_TAIL = 0.025


class ComponentsError(ValueError):
    """The ranks do not show the noise; the message says why, and what to do."""


@dataclass(frozen=True)
class Shared:
    """Variances that judges and problems bring into ranks; NaN where unknown.

    Parameters
    ----------
    solution, judge, taste : float
        In squared ranks, as estimated: below 0 where the data show less than none.
    solution_and_judge : float
        Their sum, which one judge shows too.
    judge_and_taste : float
        Their sum, which one problem shows too.
    """

    solution: float
    judge: float
    taste: float
    solution_and_judge: float
    judge_and_taste: float


@dataclass(frozen=True)
class Components:
    """The noise of a pilot.

    Parameters
    ----------
    noise : Noise
        In units of experience.
    ranks_per_year : float
        How much the average rank rises with a unit of experience.
    p_value : float
        Of its test against 0.
    person_interval : (float, float)
        About 90% for the standard deviation of persons.
    df : int
        On which that rests.
    negative_variance : tuple of str
        Components of which less than none was seen, and that were set to 0.
    missing_dimension : {"", "judge", "problem"}
        Of what the pilot has only one, so only a sum was estimated and its shares are assumed.
    experience : (float, float)
        The range of the uniform distribution with mean and variance of the subjects.
    """

    noise: Noise
    ranks_per_year: float
    p_value: float
    person_interval: tuple[float, float]
    df: int
    negative_variance: tuple[str, ...]
    missing_dimension: Literal["", "judge", "problem"]
    experience: tuple[float, float]
    judges: int
    problems: int
    subjects: int


def shared_noise(ranks: NDArray[np.float64]) -> Shared:
    r"""Estimate by moments what differs between judges and problems.

    In the difference of two solvers everything drops out that a judge's ranking of a problem
    has for both. Half the mean squared change of that difference is

    - between judges, same problem: 2 (judge + taste);
    - between problems, same judge: 2 (judge + solution);
    - between both: 2 (judge + taste + solution).

    Means are over all pairs of solvers and of cells that have both. Where none is missing this
    gives the estimates of the three-way analysis of variance (Searle, Casella & McCulloch 1992);
    where some are, each mean stays unbiased.

    Parameters
    ----------
    ranks : array of float, shape (judges, problems, solvers)
        NaN where missing.
    """
    totals = np.zeros((3, 2))
    for solver in range(ranks.shape[2] - 1):
        differences = ranks[..., solver, np.newaxis] - ranks[..., solver + 1 :]
        same_problem = _changes(differences, (0,))
        same_judge = _changes(differences, (1,))
        totals += [
            same_problem,
            same_judge,
            _changes(differences, (0, 1)) - same_problem - same_judge,
        ]
    with np.errstate(invalid="ignore", divide="ignore"):
        judge_taste, judge_solution, every = totals[:, 0] / totals[:, 1] / 4
    return Shared(
        solution=float(every - judge_taste),
        judge=float(judge_taste + judge_solution - every),
        taste=float(every - judge_solution),
        solution_and_judge=float(judge_solution),
        judge_and_taste=float(judge_taste),
    )


def _changes(differences: NDArray[np.float64], over: tuple[int, ...]) -> NDArray[np.float64]:
    """Sum of the squared changes over all pairs along some axes, and how many they are."""
    held = np.isfinite(differences)
    values = np.where(held, differences, 0.0)
    n = held.sum(axis=over)
    squares = n * (values**2).sum(axis=over) - values.sum(axis=over) ** 2
    return np.array([squares.sum(), (n * (n - 1) / 2).sum()])


def estimate_components(ranks: NDArray[np.float64], experience: NDArray[np.float64]) -> Components:
    r"""Estimate the noise of a pilot, in units of experience.

    `shared_noise` gives solution, judge and taste. The average ranks are regressed on
    experience; what their residuals vary more than those three explain is the person. The
    slope c of that regression, in ranks per year, brings all to years: σ_years = σ_ranks/c.

    Parameters
    ----------
    ranks : array of float, shape (judges, problems, subjects)
        NaN where missing; every judge, problem and subject has some.
    experience : array of float, shape (subjects,)

    Raises
    ------
    ComponentsError
        There is one judge and one problem only, or quality does not rise with experience.
    """
    n_judges, n_problems, n = ranks.shape
    shared, negative_variance, missing_dimension = _noise_variances(shared_noise(ranks))
    off = experience - experience.mean()
    leverage = 1 / n + off**2 / (off**2).sum()
    average = np.nanmean(ranks, axis=(0, 1))
    slope = float(off @ average / (off**2).sum())
    residual = average - average.mean() - slope * off
    df = n - 2
    scale = float(residual @ residual) / df
    if slope <= 0:
        message = "its ranks do not rise with experience, so that they cannot be brought to years"
        raise ComponentsError(message)
    # What the other three leave in the residuals, were there no person.
    explained = float((1 - leverage) @ _of_average(ranks, shared)) / df
    person = scale - explained
    if person < 0:
        negative_variance = ("person", *negative_variance)
    quantiles = chdtri(df, np.array([_TAIL, 1 - _TAIL]))
    ends = np.sqrt(np.maximum(df * scale / quantiles - explained, 0)) / slope
    error = np.sqrt(scale / (off**2).sum())
    low = max(0.0, float(experience.mean() - np.sqrt(3) * experience.std(ddof=1)))
    return Components(
        noise=Noise(
            person=float(np.sqrt(max(person, 0)) / slope),
            **{name: float(np.sqrt(variance)) / slope for name, variance in shared.items()},
        ),
        ranks_per_year=slope,
        p_value=float(2 * stdtr(df, -slope / error)) if error else 0.0,
        person_interval=(float(ends[0]), float(ends[1])),
        df=df,
        negative_variance=negative_variance,
        missing_dimension=missing_dimension,
        experience=(low, low + float(np.sqrt(12) * experience.std(ddof=1))),
        judges=n_judges,
        problems=n_problems,
        subjects=n,
    )


def _noise_variances(
    seen: Shared,
) -> tuple[dict[str, float], tuple[str, ...], Literal["", "judge", "problem"]]:
    """Variances of solution, judge and taste in squared ranks; which were set to 0 or assumed.

    One judge or one problem shows a sum only. It is shared out, and the missing one added, in
    the proportions of low noise.
    """
    missing_dimension: Literal["judge", "problem"] = "judge"
    if np.isfinite(seen.judge):
        variances = {"solution": seen.solution, "judge": seen.judge, "taste": seen.taste}
        negative_variance = tuple(name for name, variance in variances.items() if variance < 0)
        return (
            {name: max(0.0, variance) for name, variance in variances.items()},
            negative_variance,
            "",
        )
    if np.isfinite(seen.solution_and_judge):
        unit = seen.solution_and_judge / (LOW.solution**2 + LOW.judge**2)
    elif np.isfinite(seen.judge_and_taste):
        unit, missing_dimension = seen.judge_and_taste / (LOW.judge**2 + LOW.taste**2), "problem"
    else:
        message = (
            "with one judge and one problem the variances between judges and between people cannot "
            "be separated"
        )
        raise ComponentsError(message)
    shared = {name: unit * getattr(LOW, name) ** 2 for name in ("solution", "judge", "taste")}
    return shared, (), missing_dimension


def _of_average(ranks: NDArray[np.float64], shared: dict[str, float]) -> NDArray[np.float64]:
    """The variance of each solver's average from solution, judge and taste, shape (solvers,)."""
    held = np.isfinite(ranks)
    n = held.sum(axis=(0, 1))
    return np.asarray(
        shared["solution"] * (held.sum(axis=0) ** 2).sum(axis=0) / n**2
        + shared["taste"] * (held.sum(axis=1) ** 2).sum(axis=0) / n**2
        + shared["judge"] / n
    )
