"""All rankings of a study as worths are fitted to them: the different ones, each with its count.

The likelihood does not depend on who gave a ranking. What does, such as how well a judge's
decisions fit, is added up by judge or problem afterwards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quem.experience.choices import WeakOrders

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]

What = Literal["judge", "problem"]


class PooledRankings(ABC):
    """Rankings of a study's solvers."""

    orders: tuple[WeakOrders, ...]  # the different rankings
    weights: Floats  # of shape (number of different rankings,): how often each was given
    n_solvers: int

    @property
    def n_rankings(self) -> int:
        """How many rankings were given."""
        return int(self.weights.sum())

    @abstractmethod
    def n_different(self, what: What) -> int:
        """Count the judges, or the problems, that have rankings."""

    @abstractmethod
    def split(self, what: What) -> Iterator[tuple[int, Floats]]:
        """Give each judge, or each problem, and how often each ranking is theirs."""

    @abstractmethod
    def summed(self, what: What, values: Floats) -> Floats:
        """Add up values of the different rankings by judge, or by problem.

        Shapes: `values` (number of different rankings,).
        """

    @abstractmethod
    def summed_by_solver(self, what: What, values: Sequence[Floats]) -> Floats:
        """Add up values of the places of rankings by judge, or by problem, and by solver.

        Shapes: `values` (size, m).
        """

    def incidence(self, what: What) -> Codes:
        """Count the places of each solver by judge, or by problem."""
        once = [np.ones(order.solver.shape) for order in self.orders]
        return np.rint(self.summed_by_solver(what, once)).astype(np.int64)


@dataclass(frozen=True)
class ListedRankings(PooledRankings):
    """Rankings of which each counts once."""

    orders: tuple[WeakOrders, ...]
    weights: Floats
    n_solvers: int
    of: dict[What, Codes]  # of shape (number of rankings,): the judge and the problem of each
    n_codes: dict[What, int]  # how many judges and problems the study has

    def n_different(self, what: What) -> int:
        """Count the judges, or the problems, that have rankings."""
        return len(np.unique(self.of[what]))

    def split(self, what: What) -> Iterator[tuple[int, Floats]]:
        """Give each judge, or each problem, and how often each ranking is theirs."""
        for code in np.unique(self.of[what]).tolist():
            yield code, self.weights * (self.of[what] == code)

    def summed(self, what: What, values: Floats) -> Floats:
        """Add up values of the rankings by judge, or by problem."""
        return np.bincount(self.of[what], values, self.n_codes[what]).astype(np.float64)

    def summed_by_solver(self, what: What, values: Sequence[Floats]) -> Floats:
        """Add up values of the places of rankings by judge, or by problem, and by solver."""
        size = self.n_codes[what] * self.n_solvers
        total = np.zeros(size)
        for order, of_places in zip(self.orders, values, strict=True):
            key = self.of[what][order.ranking] * self.n_solvers + order.solver
            total += np.bincount(key.ravel(), of_places.ravel(), minlength=size)
        return total.reshape(-1, self.n_solvers)
