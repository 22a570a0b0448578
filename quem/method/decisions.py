"""Paired decisions as rankings of two, aggregated to counts.

Only the counts of each outcome of each pair matter to the likelihood of the worths, and n solvers
have 3 n(n - 1)/2 outcomes, so ten million decisions take little longer than a thousand.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.method.cells import RankCells
from quem.method.plackett_luce import PooledRankings, WeakOrders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.rankings import Decisions
    from quem.studyfile import Declared

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]

# Decisions per chunk: intermediate results fit into the processor's cache.
_PORTION = 1 << 17
# Limit of outcomes that are counted in a dense table.
_FEW_OUTCOMES = 1 << 22


def count_decisions(decisions: Decisions) -> PooledRankings:
    """The outcomes of pairs, their counts, and the outcome of each decision."""
    n, rows = len(decisions.solvers), len(decisions.winner)
    times = None if (decisions.times == 1).all() else decisions.times
    size = 2 * n * n
    if size > max(_FEW_OUTCOMES, rows):
        every = np.concatenate([keys for _, keys in _keys(decisions)])
        outcomes, which = np.unique(every, return_inverse=True)
    else:
        occurs = np.zeros(size, dtype=bool)
        for _, keys in _keys(decisions):
            occurs[keys] = True
        outcomes = np.flatnonzero(occurs)
        number = np.zeros(size, dtype=np.min_scalar_type(len(outcomes)))
        number[outcomes] = np.arange(len(outcomes))
        which = np.empty(rows, dtype=number.dtype)  # type: ignore[assignment]  # smaller codes
        for part, keys in _keys(decisions):
            which[part] = number[keys]
    tied, pair = np.divmod(outcomes, n * n)
    best, worst = np.divmod(pair, n)
    order = WeakOrders(
        _counts(which, times, len(outcomes)),
        np.array([worst, best]),
        np.broadcast_to(1 + tied, (2, len(outcomes))),
        np.array([tied == 0, np.ones_like(tied, dtype=bool)]),
        np.ones((2, len(outcomes)), dtype=bool),
    )
    return PooledRankings(order, n, len(decisions.judges), decisions.judge, which, times)


def _counts(which: NDArray[np.integer[Any]], times: Codes | None, n: int) -> Floats:
    """The count of each outcome."""
    total = np.zeros(n)
    for start in range(0, len(which), _PORTION):
        part = slice(start, start + _PORTION)
        total += np.bincount(which[part], None if times is None else times[part], n)
    return total


def _keys(decisions: Decisions) -> Iterator[tuple[slice, Codes]]:
    """Number the outcomes: winner and loser; ties after all others, lower code first."""
    n = len(decisions.solvers)
    for start in range(0, len(decisions.winner), _PORTION):
        part = slice(start, start + _PORTION)
        winner, loser = (of[part].astype(np.int64) for of in (decisions.winner, decisions.loser))
        tied = decisions.tied[part]
        if tied.any():
            low = np.where(tied, np.minimum(winner, loser), winner)
            loser = np.where(tied, np.maximum(winner, loser), loser)
            winner = low + n * tied
        yield part, winner * n + loser


class DecisionCells(RankCells):
    """The cells of decisions, two per decision, built lazily."""

    pooled: PooledRankings
    _problem: NDArray[np.integer[Any]]  # of each decision
    has_ranks = False
    is_blocked = True  # ranks in different pairs are not comparable

    def __init__(
        self,
        ids: Decisions | DecisionCells,
        kinds: tuple[str, ...],
        pooled: PooledRankings,
        problem: NDArray[np.integer[Any]],
    ) -> None:
        cells = 2 * pooled.n_rankings
        for name, value in {
            "judges": ids.judges,
            "problems": ids.problems,
            "solvers": ids.solvers,
            "kinds": kinds,
            "pooled": pooled,
            "_problem": problem,
            # Repeated decisions count again.
            "occasion": np.broadcast_to(np.int64(1), cells),
            "size": np.broadcast_to(np.int64(2), cells),
            # A rank in a pair has no meaning without the other pairs.
            "score": np.broadcast_to(np.nan, cells),
            "placed": np.broadcast_to(np.False_, cells),
            "recognized": np.broadcast_to(np.False_, cells),
        }.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """One line; there may be millions of cells."""
        return f"<DecisionCells: {self.n_groups:,} decisions>"

    @property
    def n_groups(self) -> int:
        """The number of decisions."""
        return len(self.score) // 2

    def keep(self, rows: NDArray[np.bool_]) -> DecisionCells:
        """The decisions with both cells kept.

        Shapes: `rows` (n,).
        """
        kept, pooled, times = rows[::2] & rows[1::2], self.pooled, None
        if pooled.times is not None:
            decision = np.repeat(np.arange(len(pooled.which)), pooled.times)
            counts = np.bincount(decision[kept], minlength=len(pooled.which))
            kept = counts > 0
            times = counts[kept]
        which, orders = pooled.which[kept], pooled.orders
        orders = replace(orders, times=_counts(which, times, len(orders.times)))
        judge = pooled.judge[kept]
        left = replace(pooled, orders=orders, judge=judge, which=which, times=times)
        return DecisionCells(self, self.kinds, left, self._problem[kept])

    @cached_property
    def judge(self) -> Codes:
        return self._twice(self.pooled.judge)

    @cached_property
    def problem(self) -> Codes:
        return self._twice(self._problem)

    @cached_property
    def solver(self) -> Codes:
        """The solver of each cell, the loser's first."""
        return self._of_outcomes(self.pooled.orders.solver.astype(np.int32))

    @cached_property
    def group(self) -> Codes:
        return np.repeat(np.arange(self.n_groups), 2)

    @cached_property
    def block(self) -> Codes:
        """The number of the decision, from 1."""
        return self.group + 1

    @cached_property
    def given(self) -> Floats:
        """2 for the winner; 1 for the loser and for ties."""
        return self._of_outcomes(np.where(self.pooled.orders.tied > 1, 1.0, [[1.0], [2.0]]))

    @cached_property
    def adjusted(self) -> Floats:
        """The same, but 1.5 for ties."""
        return self._of_outcomes(np.where(self.pooled.orders.tied > 1, 1.5, [[1.0], [2.0]]))

    def _twice(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values per decision, repeated per cell."""
        times = self.pooled.times
        # 32 bits hold the codes of any study, in half the memory.
        return np.repeat(values.astype(np.int32), 2 if times is None else 2 * times)

    def _of_outcomes(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the loser and the winner of each outcome, per cell."""
        rows = self.pooled.which
        if self.pooled.times is not None:
            rows = np.repeat(rows, self.pooled.times)
        return np.asarray(values.T[rows]).ravel()


def decision_cells(decisions: Decisions, declared: Declared) -> DecisionCells:
    """Decisions as rankings of two."""
    kinds = tuple(declared.solvers[solver] for solver in decisions.solvers)
    return DecisionCells(decisions, kinds, count_decisions(decisions), decisions.problem)
