"""How well judges agree with their own repeat rankings."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.ranks import adjusted_ranks
from quem.rankings.entries import repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.rankings import Rankings
    from quem.studyfile import Declared

_GROUP = ["judge", "problem", "block"]


@dataclass(frozen=True)
class Consistency:
    """How alike first and second rankings are; NaN where a statistic is undefined."""

    n_groups: int  # groups of which two solutions at least were ranked both times
    # Ranks that were repeated, over all these groups: a solution counts once for each judge.
    n_ranks: int
    mean_tau_b: float  # kendall's tau-b of both rankings, mean over the groups where it is defined
    mean_rank_difference: float  # mean absolute difference of the adjusted ranks, over these ranks
    same_order: float  # the share of the pairs of solutions that both rankings order, or tie, alike


@dataclass(frozen=True)
class Retest:
    """The agreement of the judges with themselves."""

    judges: dict[str, Consistency]  # the judges who ranked a group twice
    overall: Consistency  # over the groups of all of them


@dataclass(frozen=True)
class _Group:
    """One comparison: sums over its solutions and over its pairs of solutions."""

    judge: int
    n_ranks: int
    tau_b: float
    rank_differences: float
    alike: int

    @property
    def n_pairs(self) -> int:
        return self.n_ranks * (self.n_ranks - 1) // 2


def retest_agreement(rankings: Rankings, declared: Declared) -> Retest | None:
    """Compare the first ranking of each repeated group with the second of the same judge.

    Later rankings than the second are not looked at.
    """
    groups = list(_compared(rankings, declared))
    if not groups:
        return None
    judges = {
        name: _consistency(own)
        for code, name in enumerate(rankings.judges)
        if (own := [group for group in groups if group.judge == code])
    }
    return Retest(judges, _consistency(groups))


def _compared(rankings: Rankings, declared: Declared) -> Iterator[_Group]:
    """Compare both rankings of every repeated group."""
    frame = repeated(rankings)
    if frame.empty:
        return
    # The occasions of a group, from 1: the second may be numbered otherwise.
    frame["time"] = frame.groupby(_GROUP)["occasion"].rank(method="dense")
    withheld = np.array([declared.solvers[solver] == "withheld" for solver in rankings.solvers])
    judged = np.isfinite(frame["rank"]) & ~withheld[frame["solver"]]
    first, second = (frame[judged & (frame["time"] == time)] for time in (1, 2))
    both = first.merge(second, on=[*_GROUP, "solver"], suffixes=("_first", "_second"))
    both["group"] = both.groupby(_GROUP).ngroup()
    both = both.sort_values("group", kind="stable")
    group, orders = both["group"].to_numpy(), both[["rank_first", "rank_second"]].to_numpy()
    adjusted = [adjusted_ranks(group, order)[0] for order in orders.T]
    judge = both["judge"].to_numpy()
    for start, end in pairwise(np.searchsorted(group, np.arange(group.max(initial=-1) + 2))):
        if end - start > 1:
            yield _compare(int(judge[start]), *(ranks[start:end] for ranks in adjusted))


def _compare(judge: int, first: NDArray[np.float64], second: NDArray[np.float64]) -> _Group:
    """Compare two rankings of the same solutions, given as adjusted ranks."""
    a, b = (np.sign(ranks[:, np.newaxis] - ranks) for ranks in (first, second))
    untied = float((a * a).sum() * (b * b).sum())
    return _Group(
        judge,
        len(first),
        float((a * b).sum() / np.sqrt(untied)) if untied else np.nan,
        float(np.abs(first - second).sum()),
        # Each pair stands twice in the square, and every solution once beside itself.
        int((a == b).sum() - len(first)) // 2,
    )


def _consistency(groups: list[_Group]) -> Consistency:
    tau = [group.tau_b for group in groups if np.isfinite(group.tau_b)]
    n_ranks = sum(group.n_ranks for group in groups)
    return Consistency(
        len(groups),
        n_ranks,
        float(np.mean(tau)) if tau else np.nan,
        sum(group.rank_differences for group in groups) / n_ranks,
        sum(group.alike for group in groups) / sum(group.n_pairs for group in groups),
    )
