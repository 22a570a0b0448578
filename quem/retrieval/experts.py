r"""Experts as ground truth: their consensus order, and how far it depends on who judged.

The consensus on a problem is the order by average rank, each judge's ranks adjusted for ties, 1
the worst (Hayes & Parzen 1997, steps 4 and 5). Judges are a sample: the consensus is recomputed
for judges drawn with replacement, each list is scored against each such consensus, and the
intervals of the measures draw judges and queries together.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, factorial, prod
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.inference import resample_means
from quem.retrieval.lists import CaseLists, lists_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.retrieval.bases import CaseBase
    from quem.retrieval.retrievers import Answer

__all__ = ["ExpertRanks", "Panels", "consensus", "judge_lists", "panel_means", "panels_of"]

# Panels that are scored at most; more than that are a sample of them.
_MOST_PANELS = 200
_FEWEST = 2


@dataclass(frozen=True)
class ExpertRanks:
    """What the judges of another study said.

    Parameters
    ----------
    name : str
        The study file, as the user named it.
    ranks : array of float, shape (judges, problems, solvers)
        Adjusted ranks, 1 the worst; NaN where a judge did not rank a solution.
    """

    name: str
    title: str
    judges: tuple[str, ...]
    problems: tuple[str, ...]
    solvers: tuple[str, ...]
    ranks: NDArray[np.float64]


@dataclass(frozen=True)
class Panels:
    """Panels of judges drawn with replacement.

    Parameters
    ----------
    weights : array of int, shape (panels, judges)
        How often each judge is on the panel.
    chance : array of float, shape (panels,)
        How likely each panel is.
    """

    weights: NDArray[np.int64]
    chance: NDArray[np.float64]


def consensus(
    experts: ExpertRanks,
    queries: CaseBase,
    cases: CaseBase,
    weights: NDArray[np.int64] | None = None,
) -> CaseLists:
    """Order the solutions of each problem by average rank, the best first.

    Parameters
    ----------
    queries, cases : CaseBase
        The problems and the solvers.
    weights : array of int, shape (judges,), optional
        How often each judge counts; once by default.

    Returns
    -------
    CaseLists
        With average ranks as similarities. A problem that no judge ranked has no list.
    """
    w = np.ones(len(experts.judges)) if weights is None else weights.astype(float)
    held = ~np.isnan(experts.ranks)
    total = np.einsum("j,jps->ps", w, np.where(held, experts.ranks, 0.0))
    count = np.einsum("j,jps->ps", w, held.astype(float))
    with np.errstate(invalid="ignore", divide="ignore"):
        average = total / count
    return lists_of(queries.ids, cases.ids, _orders(average, experts, queries, cases))


def judge_lists(experts: ExpertRanks, judge: int, queries: CaseBase, cases: CaseBase) -> CaseLists:
    """Give the order of one judge, as if they were a retriever."""
    only = np.zeros(len(experts.judges), dtype=np.int64)
    only[judge] = 1
    return consensus(experts, queries, cases, only)


def _orders(
    average: NDArray[np.float64], experts: ExpertRanks, queries: CaseBase, cases: CaseBase
) -> Iterator[Answer]:
    # A solver that the case base lacks takes no part.
    place = np.array([cases.index.get(solver, -1) for solver in experts.solvers], dtype=np.int32)
    rows = {problem: row for row, problem in enumerate(experts.problems)}
    for query in queries.ids:
        row = rows.get(query)
        ranked = np.zeros(len(place), bool) if row is None else ~np.isnan(average[row])
        known = np.flatnonzero(ranked & (place >= 0))
        if not len(known):
            yield "no judge ranked solutions of this problem"
            continue
        order = known[np.argsort(-average[row, known], kind="stable")]
        yield place[order], average[row, order]


def panels_of(n_judges: int, rng: np.random.Generator) -> Panels:
    r"""Draw panels of as many judges, with replacement.

    All :math:`{2J-1 \choose J}` different panels where these are few, each with its multinomial
    probability; else a sample of equal weight.
    """
    if comb(2 * n_judges - 1, n_judges) <= _MOST_PANELS:
        panels = np.array(list(_compositions(n_judges, n_judges)), dtype=np.int64)
        whole = factorial(n_judges)
        ways = [whole / prod(map(factorial, panel)) for panel in panels.tolist()]
        return Panels(panels, np.array(ways) / n_judges**n_judges)
    drawn = rng.multinomial(n_judges, np.full(n_judges, 1 / n_judges), size=_MOST_PANELS)
    return Panels(drawn.astype(np.int64), np.full(_MOST_PANELS, 1 / _MOST_PANELS))


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a total as that many counts."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def panel_means(
    scores: list[NDArray[np.float64]], panels: Panels, *, level: float, replicates: int, seed: int
) -> NDArray[np.float64]:
    """Give bootstrap percentile intervals of means over queries, judges drawn too.

    Parameters
    ----------
    scores : list of array of float, shape (queries, columns)
        Against the consensus of each panel; NaN where a score is undefined.

    Returns
    -------
    array of float, shape (columns, 2)
        NaN where no two queries have a score, and without replicates.
    """
    _n_queries, n_columns = scores[0].shape
    intervals = np.full((n_columns, 2), np.nan)
    if not replicates:
        return intervals
    rng = np.random.default_rng(seed)
    share = rng.multinomial(replicates, panels.chance)
    drawn = np.concatenate(
        [
            resample_means(one, replicates=count, seed=int(rng.integers(2**32)))
            for one, count in zip(scores, share.tolist(), strict=True)
            if count
        ]
    )
    known = (~np.isnan(np.array(scores))).any(axis=0).sum(axis=0)
    tails = [(1 - level) / 2, (1 + level) / 2]
    for column in np.flatnonzero(known >= _FEWEST).tolist():
        means = drawn[:, column]
        intervals[column] = np.quantile(means[~np.isnan(means)], tails)
    return intervals
