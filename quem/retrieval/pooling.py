"""Which cases are to be judged: the best of every retriever's list, a pool for each query.

Spärck Jones, K. and van Rijsbergen, C. J. (1975). *Report on the need for and provision of an
"ideal" information retrieval test collection*. British Library.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import QuemError
from quem.io.text import nearest, shown
from quem.parallel import silent
from quem.retrieval.retrievers import make_retrievers
from quem.retrieval.running import Times, run_retrievers
from quem.scores.matching import Judgments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    from quem.errors import StudyWarning
    from quem.parallel import Progress
    from quem.retrieval.lists import CaseLists
    from quem.retrieval.loading import RetrievalStudy


@dataclass(frozen=True)
class Pooled:
    """The candidates that lists give."""

    # The cases of each query that are to be judged, in the order in which they were taken; queries
    # without any are left out.
    candidates: dict[str, list[str]]
    # Pairs of query and case in the lists down to the depth; how many of them were judged before;
    # and how many of the others are taken
    n_found: int
    n_judged: int
    n_taken: int
    # Down to which all lists were taken whole; 0 where the budget ends on the first rank.
    depth: int


@dataclass(frozen=True)
class Pool:
    """A pool of a study, and what is doubtful about its retrievers."""

    pooled: Pooled
    retrievers: tuple[str, ...]  # ids of those whose lists were pooled
    warnings: tuple[StudyWarning, ...] = ()


def make_pool(
    study: RetrievalStudy,
    depth: int,
    judged: Collection[tuple[str, str]] = (),
    *,
    budget: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Pool:
    """Run the retrievers of a study that run, and pool the lists of all.

    A retriever that is the ground truth is not pooled.
    """
    retrievers, warnings = make_retrievers(study)
    retrievers.pop(study.spec.ground_truth.retriever, None)
    if not retrievers:
        raise QuemError("there is no retriever to pool beside the ground truth")
    depth = min(depth, max(study.data.task.n_candidates, 1))
    runs = run_retrievers(study, retrievers, depth, Times(0, 1), progress)
    taken = pooled([run.lists for run in runs.values()], depth, judged, budget=budget, seed=seed)
    return Pool(taken, tuple(runs), (*study.data.warnings, *warnings))


def picked(
    study: RetrievalStudy,
    pairs: Iterable[tuple[str, str]],
    judged: Collection[tuple[str, str]] = (),
    *,
    budget: int | None = None,
) -> Pooled:
    """Take the pairs that somebody names, in their order, instead of a pool."""
    wanted = dict.fromkeys(pairs)
    known = study.data.task.queries.index
    if unknown := [query for query, _ in wanted if query not in known]:
        hint = nearest(unknown[0], known) or "; check the file of the queries"
        raise QuemError(f"{study.name} has no query {shown(unknown[0])}{hint}")
    new = [pair for pair in wanted if pair not in judged]
    candidates: dict[str, list[str]] = {}
    for query, case in new[:budget]:
        candidates.setdefault(query, []).append(case)
    n_taken = sum(map(len, candidates.values()))
    return Pooled(candidates, len(wanted), len(wanted) - len(new), n_taken, depth=0)


def judged_pairs(study: RetrievalStudy) -> dict[tuple[str, str], float]:
    """Give query and case of all that the study's ground truth of judges says, with the grade."""
    truth = study.data.truth
    if truth is None or truth.kind == "similarities":
        return {}
    judgments = Judgments.of(truth.columns)
    graded = judgments.truth
    names = truth.columns.names(judgments.row[graded.item])
    queries = (judgments.queries[at] for at in graded.rows.row.tolist())
    return dict(zip(zip(queries, names, strict=True), graded.value.tolist(), strict=True))


def pooled(
    lists: list[CaseLists],
    depth: int,
    judged: Collection[tuple[str, str]] = (),
    *,
    budget: int | None = None,
    seed: int = 0,
) -> Pooled:
    """Take the best cases of several lists for each query.

    The first ranks of all lists of all queries come first, then the second ranks, and so on, so
    that a budget ends at one depth everywhere. Which of a rank come first is drawn, and so is the
    order of cases of equal similarity.
    """
    rng = np.random.default_rng(seed)
    queries = lists[0].queries
    heads = [[_head(one, query, depth, rng) for one in lists] for query in range(len(queries))]
    found: dict[tuple[str, str], None] = {}
    new: dict[tuple[str, str], None] = {}
    full = 0
    for rank in range(depth):
        cells = [
            (query, one.cases[head[rank]])
            for query, of_query in enumerate(heads)
            for one, head in zip(lists, of_query, strict=True)
            if rank < len(head)
        ]
        for at in rng.permutation(len(cells)).tolist():
            query, case = cells[at]
            pair = queries[query], case
            found[pair] = None
            if pair not in judged and (budget is None or pair in new or len(new) < budget):
                new[pair] = None
        if all(pair in new or pair in judged for pair in found):
            full = rank + 1
    candidates: dict[str, list[str]] = {query: [] for query in queries}
    for name, case in new:
        candidates[name].append(case)
    return Pooled(
        {query: cases for query, cases in candidates.items() if cases},
        n_found=len(found),
        n_judged=sum(pair in judged for pair in found),
        n_taken=len(new),
        depth=full,
    )


def _head(lists: CaseLists, query: int, depth: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """The best places of one list, those of equal similarity in an order that is drawn."""
    case, similarity = lists.of(query)
    if lists.scored:
        drawn = rng.permutation(len(case))
        order = drawn[np.argsort(-similarity[drawn], kind="stable")]
        case = case[order]
    return case[:depth]
