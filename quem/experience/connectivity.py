"""Whether rankings tie all solvers together, so that they can be put on one scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.choices import WeakOrders

__all__ = ["Connection", "connection"]

Solvers = tuple[int, ...]


@dataclass(frozen=True)
class Connection:
    """How the solvers of some rankings hang together.

    Parameters
    ----------
    parts : tuple of tuple of int
        Solvers who were compared, directly or through others; no solver of one part was ever
        compared with one of another. The largest part comes first.
    above, below : tuple of tuple of int
        Within the parts, the sets of solvers who were always ranked above all others, and
        always below all others, that they were compared with. Without ridge there is no maximum
        of likelihood where there are any.
    """

    parts: tuple[Solvers, ...]
    above: tuple[Solvers, ...]
    below: tuple[Solvers, ...]


def connection(orders: tuple[WeakOrders, ...], n_solvers: int) -> Connection:
    """Look at the graph of comparisons.

    There is an edge from each solver to whom it was ranked above, and both ways in a tie. A part
    is connected where edges are followed either way; the likelihood has a maximum where every
    solver can be reached from every other along them (Ford 1957; Hunter 2004, MM algorithms for
    generalized Bradley-Terry models).

    Parameters
    ----------
    n_solvers : int
        Those without any ranking are in no part.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    better, worse, present = [], [], np.zeros(n_solvers, dtype=bool)
    for order in orders:
        present[order.solver] = True
        # Neighbors are enough: whoever is further below is below a neighbor.
        tied = ~order.last[:-1]
        better += [order.solver[1:].ravel(), order.solver[:-1][tied]]
        worse += [order.solver[:-1].ravel(), order.solver[1:][tied]]
    ends = (np.concatenate([*of, np.empty(0, np.int64)]) for of in (better, worse))
    edges = pd.unique(np.ravel_multi_index(tuple(ends), (n_solvers, n_solvers)))
    start, end = np.unravel_index(edges, (n_solvers, n_solvers))
    graph = coo_array((np.ones(len(start)), (start, end)), shape=(n_solvers, n_solvers)).tocsr()
    _, part = connected_components(graph, directed=True, connection="weak")
    count, strong = connected_components(graph, directed=True, connection="strong")
    crossing = strong[start] != strong[end]
    reached, left = np.zeros((2, count), dtype=bool)
    left[strong[start[crossing]]] = True
    reached[strong[end[crossing]]] = True
    return Connection(
        _sets(part, present, np.ones(n_solvers, dtype=bool)),
        _sets(strong, present, (left & ~reached)[strong]),
        _sets(strong, present, (reached & ~left)[strong]),
    )


def _sets(
    code: NDArray[np.int32], present: NDArray[np.bool_], chosen: NDArray[np.bool_]
) -> tuple[Solvers, ...]:
    """Solvers of the same code, the largest set first."""
    sets: dict[int, list[int]] = {}
    for solver in np.flatnonzero(present & chosen).tolist():
        sets.setdefault(int(code[solver]), []).append(solver)
    return tuple(sorted(map(tuple, sets.values()), key=lambda of: (-len(of), of)))
