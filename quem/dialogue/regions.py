"""The regions of a case base, which RA takes its assumptions from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from quem.dialogue.space import steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.dialogue.reading import EncodedCases
    from quem.dialogue.settings import SimulationSettings
    from quem.dialogue.space import Space

__all__ = ["Groups", "Neighborhoods", "Regions", "find_regions", "keyed"]


class Regions(Protocol):
    """Sets of cases that are fixed before any dialogue, one for each case."""

    def sums(
        self, target: int, apart: NDArray[np.int64], features: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Sum the features of each case's region without the target.

        Parameters
        ----------
        apart : array of int, shape (n,)
            Its distance to each case, in `steps`.
        features : array of float, shape (n, features)
            Of all cases.

        Returns
        -------
        array of float, shape (n, features)
        """


@dataclass(frozen=True)
class Neighborhoods:
    """The cases nearest to each case, itself among them.

    Where the target is taken out, the next nearest takes its place.

    Parameters
    ----------
    edge, next_edge : arrays of int, shape (n,)
        How far a region reaches, and how far it does if one of its cases is taken out.
    inner, outer : arrays of float, shape (n, features)
        Sums of the features up to each.
    ordered : bool
        Whether ties are broken by the order of the case base.
    """

    edge: NDArray[np.int64]
    next_edge: NDArray[np.int64]
    inner: NDArray[np.float64]
    outer: NDArray[np.float64]
    ordered: bool

    def sums(
        self, target: int, apart: NDArray[np.int64], features: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """See `Regions`."""
        key = keyed(apart, np.full(len(apart), target)) if self.ordered else apart
        held = key <= self.edge
        found = self.inner.copy()
        found[held] = self.outer[held] - features[target]
        return found


@dataclass(frozen=True)
class Groups:
    """Regions that do not overlap: each case is in one.

    Parameters
    ----------
    group : array of int, shape (n,)
    total : array of float, shape (groups, features)
    """

    group: NDArray[np.int64]
    total: NDArray[np.float64]

    def sums(
        self, target: int, apart: NDArray[np.int64], features: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """See `Regions`."""
        del apart
        total = self.total.copy()
        total[self.group[target]] -= features[target]
        return total[self.group]


def keyed(apart: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Join a distance with what decides between equal ones.

    Parameters
    ----------
    apart : array of int
        In `steps`.
    order : array of int
        From 0 to less than 2^20; broadcast.
    """
    found: NDArray[np.int64] = (apart << _BITS) | order
    return found


# A million cases; distances up to 8,000 fit into the rest.
_BITS = 20


def find_regions(space: Space, cases: EncodedCases, settings: SimulationSettings) -> Regions:
    """Find the regions of a case base."""
    if settings.regions == "classes":
        return _groups(space, cases.classes)
    size = min(settings.region_size, len(cases) - 1)
    if settings.regions == "clusters":
        return _groups(space, clusters(space, size))
    return _neighborhoods(space, size, ordered=settings.neighbor_ties == "order")


def _groups(space: Space, group: NDArray[np.int64]) -> Groups:
    features = space.features
    total = np.zeros((group.max() + 1, features.shape[1]))
    np.add.at(total, group, features)
    return Groups(group, total)


def clusters(space: Space, size: int) -> NDArray[np.int64]:
    """Cluster cases by average linkage.

    Parameters
    ----------
    size : int
        How many cases a cluster has in the mean.

    Returns
    -------
    array of int, shape (n,)
        The cluster of each case, from 0.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    n = space.n
    condensed = [np.maximum(space.distances(case)[case + 1 :], 0) for case in range(n)]
    tree = linkage(np.round(np.concatenate(condensed), 9), "average")
    found = fcluster(tree, max(1, round(n / size)), "maxclust")
    return np.asarray(found, dtype=np.int64) - 1


def _neighborhoods(space: Space, size: int, *, ordered: bool) -> Neighborhoods:
    features = space.features
    n, width = features.shape
    edge, next_edge = np.empty(n, np.int64), np.empty(n, np.int64)
    inner, outer = np.empty((n, width)), np.empty((n, width))
    for case in range(n):
        key = steps(space.distances(case))
        if ordered:
            key = keyed(key, np.arange(n))
        edge[case], next_edge[case] = np.partition(key, (size - 1, size))[size - 1 : size + 1]
        inner[case] = features[key <= edge[case]].sum(axis=0)
        outer[case] = features[key <= next_edge[case]].sum(axis=0)
    return Neighborhoods(edge, next_edge, inner, outer, ordered)
