"""What a pilot shows of the noise: variance components of its ranks, brought to years."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import chdtri, stdtr

from quem.experience.components import Incidence, components
from quem.experience.simulation import LOW, Noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.components import Components

# Of the chi-square interval for persons. It leaves the error of the slope out, so that in
# simulated pilots it covers about 90%.
_TAIL = 0.025


class ComponentsError(ValueError):
    """The ranks do not show the noise; the message says why, and what to do."""


@dataclass(frozen=True)
class PilotNoise:
    """The noise of a pilot."""

    noise: Noise  # in units of experience
    ranks_per_year: float  # how much the average rank rises with a unit of experience
    p_value: float  # of its test against 0
    person_interval: tuple[float, float]  # about 90% for the standard deviation of persons
    df: int  # on which that rests
    # Components of which less than none was seen, and that were set to 0.
    negative_variance: tuple[str, ...]
    # Of what the pilot has only one, so only a sum was estimated and its shares are assumed.
    missing_dimension: Literal["", "judge", "problem"]
    # The range of the uniform distribution with mean and variance of the subjects.
    experience: tuple[float, float]
    judges: int
    problems: int
    subjects: int


def estimate_components(ranks: NDArray[np.float64], experience: NDArray[np.float64]) -> PilotNoise:
    r"""Estimate the noise of a pilot, in units of experience.

    `quem.experience.components` gives solution, judge and taste. The average ranks are regressed on
    experience; what their residuals vary more than those three explain is the person. The
    slope c of that regression, in ranks per year, brings all to years: σ_years = σ_ranks/c.

    Shapes: `ranks` (judges, problems, subjects); `experience` (subjects,).
    """
    n_judges, n_problems, n = ranks.shape
    shared, negative_variance, missing_dimension = _noise_variances(components(ranks))
    off = experience - experience.mean()
    leverage = 1 / n + off**2 / (off**2).sum()
    average = np.nanmean(ranks, axis=(0, 1))
    slope = float(off @ average / (off**2).sum())
    residual = average - average.mean() - slope * off
    df = n - 2
    scale = float(residual @ residual) / df
    if slope <= 0:
        raise ComponentsError(
            "its ranks do not rise with experience, so that they cannot be brought to years"
        )
    # What the other three leave in the residuals, were there no person.
    explained = float((1 - leverage) @ _of_average(ranks, shared)) / df
    person = scale - explained
    if person < 0:
        negative_variance = ("person", *negative_variance)
    quantiles = chdtri(df, np.array([_TAIL, 1 - _TAIL]))
    ends = np.sqrt(np.maximum(df * scale / quantiles - explained, 0)) / slope
    error = np.sqrt(scale / (off**2).sum())
    low = max(0.0, float(experience.mean() - np.sqrt(3) * experience.std(ddof=1)))
    return PilotNoise(
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
    seen: Components,
) -> tuple[dict[str, float], tuple[str, ...], Literal["", "judge", "problem"]]:
    """Variances of solution, judge and taste in squared ranks; which were set to 0 or assumed.

    One judge or one problem shows a sum only. It is shared out, and the missing one added, in
    the proportions of low noise.
    """
    missing_dimension: Literal["judge", "problem"] = "judge"
    if np.isfinite([seen.of_judges, seen.of_problems, seen.of_both]).all():
        variances = {
            "solution": float(seen.of_both - seen.of_judges),
            "judge": float(seen.of_judges + seen.of_problems - seen.of_both),
            "taste": float(seen.of_both - seen.of_problems),
        }
        negative_variance = tuple(name for name, variance in variances.items() if variance < 0)
        return (
            {name: max(0.0, variance) for name, variance in variances.items()},
            negative_variance,
            "",
        )
    if np.isfinite(seen.of_problems):
        unit = float(seen.of_problems) / (LOW.solution**2 + LOW.judge**2)
    elif np.isfinite(seen.of_judges):
        unit, missing_dimension = float(seen.of_judges) / (LOW.judge**2 + LOW.taste**2), "problem"
    else:
        raise ComponentsError(
            "with one judge and one problem the variances between judges and between people cannot "
            "be separated"
        )
    shared = {name: unit * getattr(LOW, name) ** 2 for name in ("solution", "judge", "taste")}
    return shared, (), missing_dimension


def _of_average(ranks: NDArray[np.float64], shared: dict[str, float]) -> NDArray[np.float64]:
    """The variance of each solver's average from solution, judge and taste, shape (solvers,)."""
    over_problems, over_judges, each = Incidence.of(ranks).spread
    return np.asarray(
        shared["solution"] * over_problems + shared["taste"] * over_judges + shared["judge"] * each
    )
