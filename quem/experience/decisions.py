"""Decisions on pairs as rankings of two, counted first: who decided matters to few results.

Decisions collapse to how often each outcome of each pair occurs, of which n solvers have 3 n(n -
1)/2; the likelihood of the worths is the same. So ten million take little longer than a thousand.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from quem.experience.cells import RankCells
from quem.experience.choices import WeakOrders
from quem.experience.pooled_rankings import PooledRankings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quem.experience.pooled_rankings import What
    from quem.rankings import Decisions
    from quem.studyfile import Declared

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]

# Decisions that are looked at together: what is computed of them stays in a processor's cache.
_PORTION = 1 << 17
# Outcomes that may be counted in a table, whether they occur or not.
_FEW_OUTCOMES = 1 << 22


class DecidedRankings(PooledRankings):
    """The outcomes of pairs, how often each occurs, and which one each decision is."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions
        self.n_solvers = n = len(decisions.solvers)
        self._once = bool((decisions.times == 1).all())
        outcomes, self.outcome, self.weights = self._counted(n)
        tied, pair = np.divmod(outcomes, n * n)
        best, worst = np.divmod(pair, n)
        is_tied = tied.astype(bool)
        last = np.ones((2, len(outcomes)), dtype=bool)
        last[0] = ~is_tied
        tied_sizes = np.broadcast_to(np.where(is_tied, 2, 1), last.shape)
        every = np.arange(len(outcomes))
        self.orders = (WeakOrders(every, np.array([worst, best]), tied_sizes, last),)

    def _counted(self, n: int) -> tuple[Codes, NDArray[np.integer[Any]], Floats]:
        """The outcomes that occur, which of them each decision is, and how often they occur."""
        rows, size = len(self.decisions.winner), 2 * n * n
        if size > max(_FEW_OUTCOMES, rows):
            keys = np.concatenate([self._keys(part) for part in self._portions()])
            outcomes, inverse = np.unique(keys, return_inverse=True)
            which: NDArray[np.integer[Any]] = inverse
        else:
            occurs = np.zeros(size, dtype=bool)
            for part in self._portions():
                occurs[self._keys(part)] = True
            outcomes = np.flatnonzero(occurs)
            place = np.zeros(size, dtype=np.int64).astype(np.min_scalar_type(len(outcomes)))
            place[outcomes] = np.arange(len(outcomes))
            which = np.empty(rows, dtype=place.dtype)
            for part in self._portions():
                which[part] = place[self._keys(part)]
        each = None if self._once else self.decisions.times
        return outcomes, which, np.bincount(which, each, len(outcomes)).astype(np.float64)

    def _portions(self) -> Iterator[slice]:
        rows = len(self.decisions.winner)
        return (slice(start, start + _PORTION) for start in range(0, rows, _PORTION))

    def _keys(self, part: slice) -> Codes:
        """Number the outcomes: winner and loser; ties after all others, lower code first."""
        data, n = self.decisions, self.n_solvers
        winner, loser = data.winner[part].astype(np.int64), data.loser[part].astype(np.int64)
        tied = data.tied[part]
        if tied.any():
            low = np.where(tied, np.minimum(winner, loser), winner)
            loser = np.where(tied, np.maximum(winner, loser), loser)
            winner = low + n * tied
        return winner * n + loser

    @property
    def n_rankings(self) -> int:
        """How many decisions there are."""
        return len(self.decisions)

    def n_different(self, what: What) -> int:
        """Count the judges, or the problems, with decisions."""
        return int((np.bincount(getattr(self.decisions, what)) > 0).sum())

    def split(self, what: What) -> Iterator[tuple[int, Floats]]:
        """Give each judge, or each problem, and how often each outcome is theirs."""
        codes, times = getattr(self.decisions, what), self.decisions.times
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes))
        for code, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            if start < end:
                rows = order[start:end]
                each = None if self._once else times[rows]
                counts = np.bincount(self.outcome[rows], each, len(self.weights))
                yield code, counts.astype(np.float64)

    def summed(self, what: What, values: Floats) -> Floats:
        """Add up values of the outcomes by judge, or by problem."""
        codes = getattr(self.decisions, what)
        total = np.zeros(len(getattr(self.decisions, f"{what}s")))
        for part in self._portions():
            each = self._each(values, part)
            total += np.bincount(codes[part], each, len(total))
        return total

    def summed_by_solver(self, what: What, values: Sequence[Floats]) -> Floats:
        """Add up values of the places of outcomes by judge, or by problem, and by solver."""
        (of_places,), (order,) = values, self.orders
        codes, n = getattr(self.decisions, what), self.n_solvers
        size = len(getattr(self.decisions, f"{what}s")) * n
        total = np.zeros(size)
        # A portion is not to be smaller than the table that is added up.
        step = max(_PORTION, size)
        for start in range(0, len(codes), step):
            part = slice(start, start + step)
            at = codes[part].astype(np.int64) * n
            for place, solver in zip(of_places, order.solver, strict=True):
                key = at + solver[self.outcome[part]]
                total += np.bincount(key, self._each(place, part), size)
        return total.reshape(-1, n)

    def _each(self, values: Floats, part: slice) -> Floats:
        """The values of some decisions."""
        each = values[self.outcome[part]]
        return each if self._once else np.asarray(each * self.decisions.times[part])


class DecisionCells(RankCells):
    """The cells of decisions, two of each, laid out when something asks for them."""

    decisions: Decisions

    def __init__(
        self, decisions: Decisions, kinds: tuple[str, ...], reference: Literal["all", "humans"]
    ) -> None:
        for name, value in {
            "judges": decisions.judges,
            "problems": decisions.problems,
            "solvers": decisions.solvers,
            "kinds": kinds,
            "reference": reference,
            "decisions": decisions,
        }.items():
            object.__setattr__(self, name, value)

    has_ranks = False

    def __repr__(self) -> str:
        """One line; the cells themselves may be millions."""
        return f"<DecisionCells: {len(self.decisions):,} decisions>"

    @property
    def n_groups(self) -> int:
        """The number of decisions."""
        return len(self.decisions)

    @property
    def is_blocked(self) -> bool:
        """Whether ranks of different groups do not compare: always."""
        return True

    def rankings(self, keep: NDArray[np.bool_] | None = None) -> PooledRankings:
        """Count the outcomes of pairs; decisions have no cells that could be left out."""
        return self._rankings if keep is None else super().rankings(keep)

    @cached_property
    def _rankings(self) -> DecidedRankings:
        return DecidedRankings(self.decisions)

    @cached_property
    def _both(self) -> Codes:
        """The rows of the decisions, each as often as it counts, worse and better in turn."""
        return np.repeat(np.arange(len(self.decisions.times)), self.decisions.times)

    @cached_property
    def judge(self) -> Codes:
        return np.repeat(self.decisions.judge[self._both], 2).astype(np.int64)

    @cached_property
    def problem(self) -> Codes:
        return np.repeat(self.decisions.problem[self._both], 2).astype(np.int64)

    @cached_property
    def solver(self) -> Codes:
        """The solver of each cell, the loser first."""
        pairs = [self.decisions.loser[self._both], self.decisions.winner[self._both]]
        return np.column_stack(pairs).ravel().astype(np.int64)

    @cached_property
    def group(self) -> Codes:
        return np.repeat(np.arange(self.n_groups), 2)

    @cached_property
    def block(self) -> Codes:
        """The number of the decision, from 1."""
        return self.group + 1

    @cached_property
    def given(self) -> Floats:
        """2 for the winner; 1 for the loser, and both where they tie."""
        better = np.where(self.decisions.tied[self._both], 1.0, 2.0)
        return np.column_stack([np.ones(len(better)), better]).ravel()

    @cached_property
    def adjusted(self) -> Floats:
        """The same, 1.5 where they tie."""
        return np.where(np.repeat(self.decisions.tied[self._both], 2), 1.5, self.given)

    @property
    def occasion(self) -> Codes:
        """1: decisions that are made again count again."""
        return np.broadcast_to(np.int64(1), 2 * self.n_groups)

    @property
    def size(self) -> Codes:
        """2."""
        return np.broadcast_to(np.int64(2), 2 * self.n_groups)

    @property
    def score(self) -> Floats:
        """NaN: a rank in a pair has no meaning without the other pairs."""
        return np.broadcast_to(np.nan, 2 * self.n_groups)

    @property
    def placed(self) -> NDArray[np.bool_]:
        """Nowhere: a judge decided."""
        return np.broadcast_to(np.False_, 2 * self.n_groups)

    @property
    def recognized(self) -> NDArray[np.bool_]:
        """Nowhere: decisions do not say it."""
        return np.broadcast_to(np.False_, 2 * self.n_groups)


def decision_cells(
    decisions: Decisions, declared: Declared, reference: Literal["all", "humans"] = "all"
) -> DecisionCells:
    """Take decisions for rankings of two."""
    kinds = tuple(declared.solvers[solver] for solver in decisions.solvers)
    return DecisionCells(decisions, kinds, reference)
