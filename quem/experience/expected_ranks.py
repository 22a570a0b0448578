"""Step 5 where ranks cannot be averaged: one worth per solver, pooled over all rankings.

A rank in a block says how good a solution is among those of its block. Plackett-Luce puts all
solvers on one scale; the probabilities of beating each other bring worths back to ranks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.averages import Averages
from quem.experience.connectivity import connection
from quem.experience.plackett_luce import RIDGE, fit_plackett_luce, weak_orders

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.cells import RankCells
    from quem.experience.connectivity import Connection
    from quem.experience.plackett_luce import PlackettLuce

__all__ = ["ExpectedRanks", "averages_without", "expected_ranks", "pool", "pooled_averages"]


@dataclass(frozen=True)
class ExpectedRanks:
    """The worths of a study's solvers.

    Parameters
    ----------
    model : PlackettLuce
        Of the study's solvers; those without rankings have no meaning.
    ranked : array of bool, shape (n_solvers,)
        Who has rankings.
    """

    model: PlackettLuce
    ranked: NDArray[np.bool_]
    connection: Connection
    n_rankings: int
    ridge: float = RIDGE

    @property
    def is_connected(self) -> bool:
        """Whether all solvers are on one scale."""
        return len(self.connection.parts) == 1


def pool(cells: RankCells, keep: NDArray[np.bool_] | None = None) -> ExpectedRanks:
    """Fit Plackett-Luce to all rankings.

    Parameters
    ----------
    keep : array of bool, shape (n_cells,), optional
        Which cells count; all by default.
    """
    kept = slice(None) if keep is None else keep
    group, solver = cells.group[kept], cells.solver[kept]
    n = len(cells.solvers)
    orders = weak_orders(group, solver, cells.given[kept])
    found = connection(orders, n)
    ranked = np.bincount(solver, minlength=n) > 0
    rankings = sum(len(order.ranking) for order in orders)
    return ExpectedRanks(fit_plackett_luce(orders, n), ranked, found, rankings)


def expected_ranks(
    model: PlackettLuce,
    ranked: NDArray[np.bool_],
    reference: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    r"""Give the rank that each solver can expect among all, shape (n_solvers,).

    :math:`1 + \sum_{j \neq s} P(s \text{ beats } j)` over the other solvers, ties one half. With
    a reference of S solvers the sum is over these, and like the rank of anybody else that of
    others is located by it times :math:`(S - 1)/S` (`quem.experience.ranks.adjusted_ranks`).

    Parameters
    ----------
    ranked : array of bool, shape (n_solvers,)
        Who has rankings; the others get NaN.
    reference : array of bool, shape (n_solvers,), optional
        All by default.
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
    keep: NDArray[np.bool_] | None = None,
) -> Averages:
    """Put expected ranks where average ranks are.

    Worths are pooled over problems, so that nothing is known of single problems but which ones a
    solver was judged on: the mean of each is the expected rank itself.

    Parameters
    ----------
    experience : array of float, shape (n_solvers,)
    keep : array of bool, shape (n_cells,), optional
        Which cells were pooled; all by default.
    """
    kept = slice(None) if keep is None else keep
    humans = cells.of_kind("subject") if cells.reference == "humans" else None
    average = expected_ranks(pooled.model, pooled.ranked, humans)
    count = np.bincount(cells.solver[kept], minlength=len(cells.solvers))
    means = np.full((len(cells.problems), len(cells.solvers)), np.nan)
    place = cells.problem[kept], cells.solver[kept]
    means[place] = average[place[1]]
    return Averages(cells.solvers, cells.kinds, experience, average, count, means)


def averages_without(
    cells: RankCells, experience: NDArray[np.float64], keep: NDArray[np.bool_]
) -> Averages:
    """Pool the cells that are kept; no solver has an average where they fall into parts.

    Parameters
    ----------
    experience : array of float, shape (n_solvers,)
    keep : array of bool, shape (n_cells,)
    """
    pooled = pool(cells, keep)
    if not pooled.is_connected:
        pooled = replace(pooled, ranked=np.zeros_like(pooled.ranked))
    return pooled_averages(pooled, cells, experience, keep)
