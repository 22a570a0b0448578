"""The estimates of many simulated studies at once, with all their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import stdtrit

from quem.experience.averages import widening
from quem.experience.batch import fit_batch
from quem.experience.estimate import invert, outside
from quem.experience.simulated_blocks import blocked_ranks
from quem.experience.skill import FORMS
from quem.experience.worths import fit_worths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.simulation import Simulated

__all__ = ["BatchEstimates", "batch_estimates"]


@dataclass(frozen=True)
class BatchEstimates:
    """What `quem.analyze` estimates, of b studies with m systems each.

    Parameters
    ----------
    average : array of float, shape (b, solvers)
        NaN for a solver without any solution.
    experience : array of float, shape (b, m)
        The estimates.
    prediction, mean : array of float, shape (b, m, 2)
    calibrated : array of float, shape (b, m)
        The estimates by calibration.
    calibration : array of float, shape (b, m, 2)
        NaN where unbounded.
    lower, upper : array of float, shape (b, m)
        One-sided bounds, above and below the subjects' range only; else NaN.
    inside : array of bool, shape (b, m)
        Whether a system lies in the subjects' range.
    """

    average: NDArray[np.float64]
    experience: NDArray[np.float64]
    prediction: NDArray[np.float64]
    mean: NDArray[np.float64]
    calibrated: NDArray[np.float64]
    calibration: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    inside: NDArray[np.bool_]


def batch_estimates(
    simulated: Simulated, *, level: float = 0.95, score: Literal["rank", "worth"] = "rank"
) -> BatchEstimates:
    """Estimate the systems of every simulated study by the linear skill function.

    Gives the numbers of `quem.analyze` with its default settings, hundreds of times faster. A
    study in which a subject has no solution at all is fitted to the others, without its
    calibration interval.

    Parameters
    ----------
    simulated : Simulated
    level : float
    score : {"rank", "worth"}
        What is averaged; worths (see `quem.experience.worths`) do not flatten at the ends. Of
        studies in blocks ranks are expected ranks, as in `quem.analyze`.

    Raises
    ------
    ValueError
        Worths of studies in blocks are asked for.
    """
    y = simulated.experience
    if simulated.scenario.block_size is not None:
        if score == "worth":
            message = "worths need whole groups; leave out block_size, or the score"
            raise ValueError(message)
        average = blocked_ranks(simulated)
        problem_means = average[:, np.newaxis]
    else:
        scores = fit_worths(simulated.ranks).cells if score == "worth" else simulated.ranks
        average, problem_means = _means(scores)
    n, solvers = y.shape[1], average.shape[1]
    widened = widening(problem_means, np.arange(n), np.arange(n, solvers))
    x, x_systems = average[:, :n], average[:, n:]
    fit = fit_batch(FORMS["linear"], x, y, np.ones(x.shape))
    years = fit.predict(x_systems)
    mean_error, error = fit.errors(x_systems, np.nan_to_num(widened))
    two_sided = stdtrit(fit.df, (1 + level) / 2)[:, np.newaxis]
    one_sided = stdtrit(fit.df, level)[:, np.newaxis]
    above, below = outside(x, y, x_systems, years)
    calibrated, calibration = invert(x, y, x_systems - x.mean(axis=1, keepdims=True), level)
    return BatchEstimates(
        average=average,
        experience=years,
        prediction=_around(years, two_sided * error),
        mean=_around(years, two_sided * mean_error),
        calibrated=calibrated,
        calibration=calibration,
        lower=np.where(above & ~below, years - one_sided * error, np.nan),
        upper=np.where(below & ~above, years + one_sided * error, np.nan),
        inside=~(above | below),
    )


def _means(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Average score over cells, and mean score on each problem."""
    held = np.isfinite(scores)
    if held.all():
        of_problems = scores.mean(axis=1)
        return of_problems.mean(axis=1), of_problems
    total, count = np.where(held, scores, 0.0).sum(axis=1), held.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return total.sum(axis=1) / count.sum(axis=1), total / count


def _around(centre: NDArray[np.float64], half: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([centre - half, centre + half], axis=-1)
