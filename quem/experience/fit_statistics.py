r"""How well the decisions of each judge, and those about each solver, fit the worths.

Of a choice among sets S with the fitted probabilities :math:`p_S`, of which C was chosen,

.. math:: \mathrm{infit} = \frac{\sum (1 - 2 p_C + \sum_S p_S^2)}{\sum (1 - \sum_S p_S^2)},
          \qquad \mathrm{outfit} = \mathrm{mean}\, \frac{1/p_C - 1}{m - 1}

over the choices, with the number m of sets. Both are 1 on average where the model is true. Of a
pair without ties these are :math:`\sum (1 - p)^2 / \sum p (1 - p)` and the mean of
:math:`(1 - p)/p`, with the probability p of what was decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import comb

from quem.experience.choices import Choices, polynomials, sums_from_there, sums_up_to
from quem.experience.plackett_luce import Likelihood

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from quem.experience.choices import Expected, WeakOrders
    from quem.experience.expected_ranks import ExpectedRanks

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FitStatistics:
    """How well the choices of judges, or those about solvers, fit."""

    # Of shape (k,): the number of choices among two or more; of pairs, of decisions.
    n: NDArray[np.int64]
    # Of shape (k,): mean squares, weighted by information and plain; NaN without choices
    infit: Floats
    outfit: Floats


class WorthFit(NamedTuple):
    """How well the worths of a study fit."""

    judges: FitStatistics  # one value a judge of the study
    solvers: FitStatistics  # one value a solver, over the choices in which they took part


def fit_statistics(pooled: ExpectedRanks) -> WorthFit:
    """Say how well choices fit the worths, by judge and by solver."""
    rankings, n = pooled.rankings, len(pooled.ranked)
    once = Likelihood([Choices(order) for order in rankings.orders], n, 0.0)
    at = once.parameters(pooled.model)
    by_ranking = np.zeros((4, len(rankings.weights)))
    by_solver = np.zeros((4, n))
    for order, of in zip(rankings.orders, once.evaluate(at)[2], strict=True):
        choices = _terms(order, of, at, n)
        by_ranking[:, order.ranking] = choices.sum(axis=1)
        weight = rankings.weights[order.ranking]
        for row, values in enumerate(choices):
            places = sums_from_there(values * weight)
            by_solver[row] += np.bincount(order.solver.ravel(), places.ravel(), minlength=n)
    judges = [rankings.summed("judge", values) for values in by_ranking]
    return WorthFit(_ratios(judges), _ratios(by_solver))


def _ratios(terms: Iterable[Floats]) -> FitStatistics:
    observed, expected, plain, n = terms
    with np.errstate(invalid="ignore", divide="ignore"):
        infit, outfit = observed / expected, plain / n
    return FitStatistics(np.rint(n).astype(np.int64), infit, outfit)


def _terms(order: WeakOrders, of: Expected, at: Floats, n: int) -> Floats:
    """What each choice adds to the four sums, shape (4, size, m); 0 within a tie."""
    theta, log_delta = at[:n], np.concatenate([[0.0], at[n:]])
    x, size = theta[order.solver], len(order.solver)
    # The log odds of the chosen set: the mean log worth of the last `tied` places up to here.
    whole = np.concatenate([np.zeros_like(x[:1]), sums_up_to(x)])
    place = np.arange(1, size + 1)[:, np.newaxis]
    first = np.maximum(place - order.tied, 0)
    chosen = (whole[1:] - np.take_along_axis(whole, first, axis=0)) / order.tied
    squares, sets = np.zeros(x.shape), np.zeros((size, 1))
    for k, log_d in zip(of.sizes, log_delta, strict=True):
        chosen += np.where(order.tied == k, log_d, 0.0)
        squares += np.exp(2 * log_d) * polynomials(np.exp(2 * x / k), k)[k]
        sets += comb(place, k)
    p = np.exp(chosen) / of.total
    squares = squares / of.total**2
    counted = of.choices.weight * (sets > 1)
    plain = (1 / p - 1) / np.maximum(sets - 1, 1)
    return np.asarray(
        [counted * (1 - 2 * p + squares), counted * (1 - squares), counted * plain, counted]
    )
