"""Worths: average ranks without the floor and the ceiling that ranks have.

Nobody can be ranked above first, so that ranks flatten at both ends and differences between
good solvers look small. Worths do not flatten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Worths", "fit_worths"]

# In each of its cells a solver also draws so often with one of average worth, which keeps the
# worth of who is always first finite.
_DRAWS = 0.2
_STEPS, _LONGEST_STEP, _CLOSE = 100, 1.5, 1e-9


@dataclass(frozen=True)
class Worths:
    """How good the solvers of b studies are, on a scale without ends.

    Parameters
    ----------
    worth : array of float, shape (b, solvers)
        On the logit scale, 0 for an average solver.
    cells : array of float, shape (b, judges, problems, solvers)
        What each cell says of the worth, to first order; where nothing is missing, the mean
        over a solver's cells is its worth. NaN where the solver was not ranked.
    """

    worth: NDArray[np.float64]
    cells: NDArray[np.float64]


def fit_worths(ranks: NDArray[np.float64]) -> Worths:
    r"""Fit worths to all pairs of ranked solutions (Bradley & Terry 1952), ties one half.

    The worths :math:`\theta` solve, for each solver s with :math:`c_s` cells,

    .. math:: \sum_{g \ni s} \Big( r_{gs} - 1 - \sum_{k \in g, k \neq s}
              \Lambda(\theta_s - \theta_k) \Big)
              + 0.2\, c_s \big( \tfrac12 - \Lambda(\theta_s) \big) = 0

    with the adjusted ranks r in the groups g and the logistic function :math:`\Lambda`: the
    ranks that the worths predict add up to those that were given.

    Parameters
    ----------
    ranks : array of float, shape (b, judges, problems, solvers)
        Adjusted ranks; NaN where a solver was not ranked. Each solver is ranked somewhere.
    """
    held = np.isfinite(ranks)
    beaten = np.where(held, ranks - 1, 0.0)
    count = held.sum(axis=(1, 2)).astype(np.float64)
    flat = held.reshape(len(ranks), -1, ranks.shape[-1]).astype(np.float64)
    met = np.einsum("bgs,bgk->bsk", flat, flat, optimize=True)
    each = np.arange(ranks.shape[-1])
    met[:, each, each] = 0.0
    wins = beaten.sum(axis=(1, 2))

    worth = np.zeros_like(count)
    for _ in range(_STEPS):
        expected, information = _expected(worth, met, count)
        step = np.linalg.solve(information, (wins - expected)[..., np.newaxis])[..., 0]
        worth += np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        if np.abs(step).max(initial=0.0) < _CLOSE:
            break
    information = _expected(worth, met, count)[1]
    return Worths(worth, _cells(worth, information, beaten, held, count))


def _expected(
    worth: NDArray[np.float64], met: NDArray[np.float64], count: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The wins that these worths predict, and how they rise with the worths."""
    better = expit(worth[:, :, np.newaxis] - worth[:, np.newaxis, :])
    drawn = expit(worth)
    expected = (met * better).sum(axis=2) + _DRAWS * count * (drawn - 0.5)
    slopes = met * better * (1 - better)
    each = np.arange(worth.shape[1])
    information = -slopes
    information[:, each, each] = slopes.sum(axis=2) + _DRAWS * count * drawn * (1 - drawn)
    return expected, information


def _cells(
    worth: NDArray[np.float64],
    information: NDArray[np.float64],
    beaten: NDArray[np.float64],
    held: NDArray[np.bool_],
    count: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The worth, and how each cell moves it."""
    better = expit(worth[:, :, np.newaxis] - worth[:, np.newaxis, :])
    each = np.arange(worth.shape[1])
    better[:, each, each] = 0.0
    expected = np.einsum("bsk,bjpk->bjps", better, held.astype(np.float64), optimize=True)
    expected += (_DRAWS * (expit(worth) - 0.5))[:, np.newaxis, np.newaxis]
    surplus = np.where(held, beaten - expected, 0.0)
    inverse = np.linalg.inv(information)
    moved = np.einsum("bsk,bjpk->bjps", inverse, surplus, optimize=True)
    spread = (count[:, np.newaxis, np.newaxis], worth[:, np.newaxis, np.newaxis])
    return np.where(held, spread[1] + spread[0] * moved, np.nan)
