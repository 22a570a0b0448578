"""Blocks of simulated studies: how they are dealt, and the expected ranks that come of them."""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.connection import connection
from quem.experience.plackett_luce import fit_plackett_luce, weak_orders
from quem.experience.pooled import expected_ranks
from quem.experience.ranks import adjusted_ranks
from quem.study.blocks import Met, deal_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.simulation import Simulated

__all__ = ["blocked_ranks", "ranked_blocks"]

# Studies of one scenario take turns with so many ways of dealing, since dealing takes longer than
# all the rest. Solvers of a scenario are exchangeable, so that it makes no difference.
_WAYS = 16


def ranked_blocks(
    simulated: Simulated, index: int
) -> tuple[
    NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]
]:
    """Give judge, problem, block (from 1), solver and adjusted rank of a study in blocks.

    Parameters
    ----------
    simulated : Simulated
        Of a scenario with a block size.
    index : int
        Of the study.
    """
    ranks = simulated.ranks[index]
    judges, problems, solvers = ranks.shape
    size = simulated.scenario.block_size or solvers
    places = _dealt(judges, problems, solvers, size, index % _WAYS)
    held = np.isfinite(ranks[places[0], places[1], places[3]])
    judge, problem, block, solver = places[:, held]
    group = np.unique(places[:3, held], axis=1, return_inverse=True)[1].ravel()
    rank, _ = adjusted_ranks(group, ranks[judge, problem, solver])
    return judge, problem, block, solver, rank


@lru_cache(maxsize=4 * _WAYS)
def _dealt(
    judges: int, problems: int, solvers: int, block_size: int, way: int
) -> NDArray[np.int64]:
    """Judge, problem, block and solver of every place, shape (4, n); also of absent solutions."""
    rng, met = Random(way), Met()  # noqa: S311  chance here guards no secret
    names = [str(solver) for solver in range(solvers)]
    rows = [
        (judge, problem, block, int(solver))
        for judge in range(judges)
        for problem in range(problems)
        for block, held in enumerate(deal_blocks(names, block_size, met, rng), 1)
        for solver in held
    ]
    return np.array(rows, dtype=np.int64).T


def blocked_ranks(simulated: Simulated) -> NDArray[np.float64]:
    """Give the expected ranks of all solvers by the worths of each study, judged in blocks.

    Parameters
    ----------
    simulated : Simulated
        Of a scenario with a block size.

    Returns
    -------
    array of float, shape (b, solvers)
        NaN for a solver without any solution, and for all of a study whose rankings fall into
        parts.
    """
    found = np.full((len(simulated), simulated.ranks.shape[-1]), np.nan)
    for index, ranks in enumerate(simulated.ranks):
        judge, problem, block, solver, rank = ranked_blocks(simulated, index)
        ranking = (judge * ranks.shape[1] + problem) * int(block.max()) + block - 1
        orders = weak_orders(ranking, solver, rank)
        if len(connection(orders, len(found[index])).parts) == 1:
            model = fit_plackett_luce(orders, len(found[index]))
            found[index] = expected_ranks(model, np.isfinite(ranks).any(axis=(0, 1)))
    return found
