r"""How sure worths are: their standard errors, intervals, and separation reliability.

With the observed information H of log worths and ties' :math:`\log \delta` at the maximum, the
penalty :math:`\lambda`, K solvers, and :math:`C = I - 11'/K`, since worths have the mean 0, the
covariance of log worths is

.. math:: V = C (H + \lambda I + 11'/K)^{-1} C

It takes rankings as independent. Those of one problem share its accidents, so that from three
problems on the jackknife over problems is computed too, and the larger of the two errors counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri, stdtrit

from quem.experience.choices import Choices
from quem.experience.plackett_luce import Likelihood

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from quem.experience.expected_ranks import ExpectedRanks

    Floats = NDArray[np.float64]

FEWEST_PROBLEMS = 3
# Beyond, a covariance of all solvers takes more memory than the rankings.
_MOST_SOLVERS = 5_000
# Judges x solvers.
_MOST_CLUSTERED = 20_000_000


@dataclass(frozen=True)
class WorthErrors:
    """The errors of log worths; NaN for solvers without rankings."""

    log_worth: Floats
    # Of shape (n_solvers, n_solvers): the covariance by the observed information.
    information: Floats
    # Of shape (n_solvers, n_solvers), or None: the covariance by leaving out each problem; None
    # where that is not known. NaN for a solver who was ranked on one problem only.
    jackknife: Floats | None
    # Of shape (n_solvers,): 1 over the root of the information's diagonal, as if the other worths
    # were known.
    conditional: Floats
    # Of shape (n_solvers,): robust errors over rankings, and over judges; NaN with one judge
    sandwich: Floats
    clustered: Floats
    df: int  # degrees of freedom of the jackknife; 0 without one

    def error(self) -> Floats:
        """Give the error that counts, the larger of the two, shape (n_solvers,)."""
        return np.fmax(self.by_information(), self.by_problems())

    def by_problems(self) -> Floats:
        """Give the error by the jackknife over problems, shape (n_solvers,)."""
        if self.jackknife is None:
            return np.full(len(self.log_worth), np.nan)
        return _roots(self.jackknife)

    def by_information(self) -> Floats:
        """Give the error by the observed information, shape (n_solvers,)."""
        return _roots(self.information)

    def difference(self, a: int, b: int) -> float:
        """Give the error of the difference of two log worths."""
        errors = [
            np.sqrt(of[a, a] + of[b, b] - 2 * of[a, b])
            for of in (self.information, self.jackknife)
            if of is not None
        ]
        return float(np.fmax.reduce(errors))

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Give the ends of the intervals, each of shape (n_solvers,).

        By the normal distribution, or by Student's t where problems were left out.
        """
        p = (1 + level) / 2
        half = float(stdtrit(self.df, p) if self.df else ndtri(p)) * self.error()
        return self.log_worth - half, self.log_worth + half

    def separation(self, *, conditional: bool = False) -> float:
        r"""Give the separation reliability of the scale, 1 - mean SE² / variance of the worths.

        The variance has the divisor K - 1, and errors are those by information.
        """
        squares = self.conditional**2 if conditional else np.diagonal(self.information)
        known = np.isfinite(squares)
        return separation_reliability(self.log_worth[known], squares[known])


def separation_reliability(log_worth: Floats, squares: Floats) -> float:
    """Compare the mean squared error of worths with their variance.

    Shapes: `squares` (n_solvers,).
    """
    spread = float(np.var(log_worth, ddof=1)) if len(log_worth) > 1 else 0.0
    return 1 - float(squares.mean()) / spread if spread > 0 else float("nan")


def standard_errors(
    pooled: ExpectedRanks, without: Collection[ExpectedRanks] = ()
) -> WorthErrors | None:
    """Say how sure the worths of a study are."""
    ranked = np.flatnonzero(pooled.ranked)
    n = len(pooled.ranked)
    if len(ranked) > _MOST_SOLVERS:
        return None
    rankings, model = pooled.rankings, pooled.model
    choices = [Choices(order, rankings.weights) for order in rankings.orders]
    likelihood = Likelihood(choices, n, pooled.ridge)
    at = likelihood.parameters(model)
    curvature = likelihood.curvature(likelihood.evaluate(at)[2])
    counted = np.concatenate([ranked, np.arange(n, len(at))])
    k = len(ranked)
    penalized = curvature[np.ix_(counted, counted)] + pooled.ridge * np.eye(len(counted))
    conditional = _spread(n, ranked, 1 / np.sqrt(np.diagonal(penalized)[:k]))
    penalized[:k, :k] += 1 / k
    inverse = np.linalg.inv(penalized)
    # What a change of the gradient does to the log worths.
    bread = (inverse[:k] - inverse[:k].mean(axis=0))[:, : len(counted)]
    covariance = bread[:, :k] - bread[:, :k].mean(axis=1, keepdims=True)
    by_ranking, by_judge = _squared_scores(pooled, at)
    jackknife = _jackknife(without)

    def robust(scores: Floats) -> Floats:
        meat = scores[np.ix_(counted, counted)]
        variances = np.einsum("ij,jk,ik->i", bread, meat, bread)
        return _spread(n, ranked, np.sqrt(variances))

    return WorthErrors(
        model.log_worth,
        _square(n, ranked, covariance),
        jackknife,
        conditional,
        robust(by_ranking),
        robust(by_judge),
        len(without) - 1 if jackknife is not None else 0,
    )


def _squared_scores(pooled: ExpectedRanks, at: Floats) -> tuple[Floats, Floats]:
    """The products of the gradients of single rankings, and of single judges, added up.

    Each with its factor b/(b - 1); NaN with one judge, or too many.
    """
    rankings, n = pooled.rankings, len(pooled.ranked)
    once = Likelihood([Choices(order) for order in rankings.orders], n, 0.0)
    # Sizes of ties that nobody gave weight have no parameter.
    expected = once.evaluate(at)[2]
    of_places, of_sizes = [], np.zeros((len(once.sizes) - 1, len(rankings.weights)))
    total = np.zeros((len(at), len(at)))
    for order, of in zip(rankings.orders, expected, strict=True):
        places = of.choices.share - of.shares(of.choices.weight)
        sizes = [((order.tied == size) * of.choices.weight).sum(axis=0) for size in once.sizes[1:]]
        if of.by_size is not None:
            sizes_expected = (of.by_size * of.choices.weight).sum(axis=1)[1:]
            of_sizes[:, order.ranking] = np.array(sizes) - sizes_expected
        _add_products(
            total,
            order.solver,
            places,
            of_sizes[:, order.ranking],
            rankings.weights[order.ranking],
            n,
        )
        of_places.append(places)
    count = rankings.n_rankings
    total *= count / (count - 1) if count > 1 else np.nan
    return total, _of_judges(pooled, of_places, of_sizes)


def _add_products(
    total: Floats,
    solver: NDArray[np.int64],
    places: Floats,
    sizes: Floats,
    weight: Floats,
    n: int,
) -> None:
    """Add the products of what places and sizes of ties say, each ranking with its weight."""
    for at, first in enumerate(places):
        for other, second in enumerate(places):
            key = solver[at] * n + solver[other]
            products = np.bincount(key, weight * first * second, minlength=n * n)
            total[:n, :n] += products.reshape(n, n)
        for size, values in enumerate(sizes, n):
            mixed = np.bincount(solver[at], weight * first * values, minlength=n)
            total[:n, size] += mixed
            total[size, :n] += mixed
    total[n:, n:] += (sizes * weight) @ sizes.T


def _of_judges(pooled: ExpectedRanks, places: list[Floats], sizes: Floats) -> Floats:
    """The products of the judges' gradients."""
    rankings = pooled.rankings
    n, count = len(pooled.ranked), rankings.n_different("judge")
    width = n + len(sizes)
    if count == 1 or count * n > _MOST_CLUSTERED:
        return np.full((width, width), np.nan)
    by_solver = rankings.summed_by_solver("judge", places)
    by_size = [rankings.summed("judge", values) for values in sizes]
    scores = np.column_stack([by_solver, *by_size])
    return np.asarray(count / (count - 1) * (scores.T @ scores))


def _jackknife(without: Collection[ExpectedRanks]) -> Floats | None:
    """The covariance over the worths without each problem, centered on solvers of all of these."""
    if len(without) < FEWEST_PROBLEMS or not all(left.is_connected for left in without):
        return None
    worths = np.array([left.model.log_worth for left in without])
    always = np.all([left.ranked for left in without], axis=0)
    worths -= worths[:, always].mean(axis=1, keepdims=True)
    worths[:, ~always] = np.nan
    centered = worths - worths.mean(axis=0)
    count = len(without)
    return np.asarray((count - 1) / count * (centered.T @ centered))


def _roots(covariance: Floats) -> Floats:
    return np.sqrt(np.diagonal(covariance))


def _spread(n: int, ranked: NDArray[np.int64], values: Floats) -> Floats:
    """The values of ranked solvers, NaN for all others."""
    every = np.full(n, np.nan)
    every[ranked] = values
    return every


def _square(n: int, ranked: NDArray[np.int64], values: Floats) -> Floats:
    every = np.full((n, n), np.nan)
    every[np.ix_(ranked, ranked)] = values
    return every
