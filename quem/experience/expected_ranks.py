"""Step 5 where ranks cannot be averaged: one worth per solver, pooled over all rankings.

A rank in a block says how good a solution is among those of its block. Plackett-Luce puts all
solvers on one scale; the probabilities of beating each other bring worths back to ranks. Nobody
can be ranked above first, so that ranks flatten at both ends and differences between good solvers
look small. Worths do not flatten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from quem.experience.averages import Averages
from quem.experience.components import Incidence
from quem.experience.plackett_luce import RIDGE, connection, fit_plackett_luce, with_weight

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.experience.cells import RankCells
    from quem.experience.plackett_luce import Connection, PlackettLuce
    from quem.experience.pooled_rankings import PooledRankings, What

# In each of its cells a solver also draws so often with one of average worth, which keeps the
# worth of who is always first finite.
DRAWS = 0.4
# Newton's error squares with each step, so that after a step of a millionth there is none.
_STEPS, _LONGEST_STEP, _CLOSE = 100, 1.5, 1e-6


@dataclass(frozen=True)
class Worths:
    """How good the solvers of b studies are, on a scale without ends."""

    # Of shape (b, solvers): on the logit scale, 0 for an average solver; NaN for one who was never
    # ranked.
    worth: NDArray[np.float64]
    # Of shape (b, solvers): of the worth, the mean over the solver's cells.
    information: NDArray[np.float64]
    # Of shape (b, judges, problems, solvers): what each cell says of the worth, to first order;
    # where nothing is missing, the mean over a solver's cells is its worth. NaN where the solver
    # was not ranked.
    cells: NDArray[np.float64]


def fit_worths(ranks: NDArray[np.float64]) -> Worths:
    r"""Fit worths to all pairs of ranked solutions (Bradley & Terry 1952), ties one half.

    The worths :math:`\theta` solve, for each solver s with :math:`c_s` cells,

    .. math:: \sum_{g \ni s} \Big( r_{gs} - 1 - \sum_{k \in g, k \neq s}
              \Lambda(\theta_s - \theta_k) \Big)
              + 0.4\, c_s \big( \tfrac12 - \Lambda(\theta_s) \big) = 0

    with the adjusted ranks r in the groups g and the logistic function :math:`\Lambda`: the
    ranks that the worths predict add up to those that were given.

    Shapes: `ranks` (b, judges, problems, solvers).
    """
    mask = np.isfinite(ranks)
    beaten = np.where(mask, ranks - 1, 0.0)
    count = mask.sum(axis=(1, 2)).astype(np.float64)
    flat = mask.reshape(len(ranks), -1, ranks.shape[-1]).astype(np.float64)
    met = flat.transpose(0, 2, 1) @ flat
    each = np.arange(ranks.shape[-1])
    met[:, each, each] = 0.0
    wins = beaten.sum(axis=(1, 2))

    drawn = DRAWS * count
    # Close to the end already: each solver against all others as if they were average, and a
    # little more, since they are not.
    with np.errstate(invalid="ignore"):
        worth = 1.3 * np.nan_to_num(logit((wins + drawn / 2) / (met.sum(axis=2) + drawn)))
    going = np.arange(len(worth))
    for _ in range(_STEPS):
        expected, information = _expected(worth[going], met[going], count[going])
        step = np.linalg.solve(information, (wins[going] - expected)[..., np.newaxis])[..., 0]
        worth[going] += np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        going = going[np.abs(step).max(axis=1) >= _CLOSE]
        if not len(going):
            break
    information = _expected(worth, met, count)[1]
    cells = _cells(worth, information, beaten, mask, count)
    own = np.diagonal(information, axis1=1, axis2=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return Worths(np.where(count > 0, worth, np.nan), own / count, cells)


def _expected(
    worth: NDArray[np.float64], met: NDArray[np.float64], count: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The wins that these worths predict, and how they rise with the worths."""
    better, drawn = win_chances(worth), expit(worth)
    won = met * better
    expected = won.sum(axis=2) + DRAWS * count * (drawn - 0.5)
    information = won * (better - 1)
    each = np.arange(worth.shape[1])
    own = DRAWS * count * drawn * (1 - drawn) - information.sum(axis=2)
    information[:, each, each] = own
    # Who was never ranked stays at 0.
    information[:, each, each] += count == 0
    return expected, information


def win_chances(worth: NDArray[np.float64]) -> NDArray[np.float64]:
    """How likely each solver is to beat each other one, shape (b, solvers, solvers)."""
    # The logistic function of all differences, by one exponential a solver.
    weight = np.exp(worth)[:, :, np.newaxis]
    return np.asarray(weight / (weight + weight.transpose(0, 2, 1)))


def _cells(
    worth: NDArray[np.float64],
    information: NDArray[np.float64],
    beaten: NDArray[np.float64],
    mask: NDArray[np.bool_],
    count: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The worth, and how each cell moves it."""
    better, each = win_chances(worth), np.arange(worth.shape[1])
    better[:, each, each] = 0.0
    # One row a group, whatever its judge and problem.
    rows = (len(worth), -1, worth.shape[1])
    there, won = mask.reshape(rows), beaten.reshape(rows)
    expected = there.astype(np.float64) @ better.transpose(0, 2, 1)
    expected += (DRAWS * (expit(worth) - 0.5))[:, np.newaxis]
    surplus = np.where(there, won - expected, 0.0)
    # The information is symmetric, and so is its inverse.
    moved = surplus @ np.linalg.inv(information)
    cells = np.where(there, worth[:, np.newaxis] + count[:, np.newaxis] * moved, np.nan)
    return np.asarray(cells.reshape(mask.shape))


@dataclass(frozen=True)
class ExpectedRanks:
    """The worths of a study's solvers."""

    model: PlackettLuce  # of the study's solvers; those without rankings have no meaning
    ranked: NDArray[np.bool_]  # of shape (n_solvers,): who has rankings
    connection: Connection
    n_rankings: int
    rankings: PooledRankings
    ridge: float = RIDGE

    @property
    def is_connected(self) -> bool:
        """Whether all solvers are on one scale."""
        return len(self.connection.parts) == 1


def pool(cells: RankCells, keep: NDArray[np.bool_] | None = None) -> ExpectedRanks:
    """Fit Plackett-Luce to all rankings.

    Shapes: `keep` (n_cells,), optional.
    """
    return pool_rankings(cells.rankings(keep))


def pool_rankings(
    rankings: PooledRankings,
    weights: NDArray[np.float64] | None = None,
    start: PlackettLuce | None = None,
) -> ExpectedRanks:
    """Fit Plackett-Luce to rankings.

    Shapes: `weights` (number of different rankings,), optional.
    """
    n = rankings.n_solvers
    orders, each = rankings.orders, rankings.weights
    if weights is not None:
        orders, each = with_weight(orders, weights), weights
    graph = connection(orders, n)
    ranked = np.zeros(n, dtype=bool)
    ranked[[solver for part in graph.parts for solver in part]] = True
    model = fit_plackett_luce(orders, n, weights=each, start=start)
    return ExpectedRanks(model, ranked, graph, int(each.sum()), rankings)


# Rankings to be fitted, over all judges or problems that are left out in turn.
MOST_REFITTED = 10_000_000


def pools_without(pooled: ExpectedRanks, what: What) -> Iterator[tuple[int, ExpectedRanks]]:
    """Fit worths without each judge, or without each problem.

    Nothing is left out in turn where there is nobody else, or where it would take minutes.
    """
    rankings = pooled.rankings
    n = rankings.n_different(what)
    if n == 1 or n * len(rankings.weights) > MOST_REFITTED:
        return
    for code, theirs in rankings.split(what):
        yield code, pool_rankings(rankings, rankings.weights - theirs, pooled.model)


def expected_ranks(
    model: PlackettLuce,
    ranked: NDArray[np.bool_],
    reference: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    r"""Give the rank that each solver can expect among all, shape (n_solvers,).

    :math:`1 + \sum_{j \neq s} P(s \text{ beats } j)` over the other solvers, ties one half. With
    a reference of S solvers the sum is over these, and like the rank of anybody else that of
    others is located by it times :math:`(S - 1)/S` (`quem.experience.ranks.adjusted_ranks`).

    Shapes: `ranked` (n_solvers,); `reference` (n_solvers,), optional.
    """
    beats = model.beats()
    np.fill_diagonal(beats, 0.0)
    others = ranked if reference is None else ranked & reference
    total = beats[:, others].sum(axis=1)
    if reference is not None:
        n = max(int(others.sum()), 1)
        total = np.where(others, total, total * (n - 1) / n)
    return np.where(ranked, 1 + total, np.nan)


def pooled_averages(
    pooled: ExpectedRanks,
    cells: RankCells,
    experience: NDArray[np.float64],
) -> Averages:
    """Put expected ranks where average ranks are.

    Worths are pooled over problems, so that nothing is known of single problems.

    Shapes: `experience` (n_solvers,).
    """
    humans = cells.of_kind("subject") if cells.reference == "humans" else None
    average = expected_ranks(pooled.model, pooled.ranked, humans)
    rankings = pooled.rankings
    incidence = Incidence(rankings.incidence("problem"), rankings.incidence("judge"))
    unknown = np.full(incidence.problems.shape, np.nan)
    return Averages(cells.solvers, cells.kinds, experience, average, incidence, unknown)


def averages_without(
    cells: RankCells, experience: NDArray[np.float64], keep: NDArray[np.bool_]
) -> Averages:
    """Pool the cells that are kept; no solver has an average where they fall into parts.

    Shapes: `experience` (n_solvers,); `keep` (n_cells,).
    """
    pooled = pool(cells, keep)
    if not pooled.is_connected:
        pooled = replace(pooled, ranked=np.zeros_like(pooled.ranked))
    return pooled_averages(pooled, cells, experience)
