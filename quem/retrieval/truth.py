"""The ground truth: from a file, from experts, or from a retriever.

The experts' consensus on a problem is the order by average rank, each judge's ranks adjusted for
ties, 1 the worst (Hayes & Parzen 1997, steps 4 and 5). Judges are a sample: the consensus is
recomputed for judges drawn with replacement, each list is scored against each such consensus, and
the intervals of the measures draw judges and queries together.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from math import comb, factorial, prod
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import QuemError
from quem.io.text import shown
from quem.lists.inference import resample_means
from quem.lists.score_table import content_digest
from quem.retrieval.choosing import truth_depth_of, truth_kind
from quem.retrieval.lists import CaseLists, lists_of
from quem.retrieval.result import Truth
from quem.retrieval.retrievers import LinearRetriever, StoredRetriever
from quem.retrieval.running import Times, ask_all, run_rounds
from quem.wording import format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.lists import Measure
    from quem.parallel import Progress
    from quem.retrieval.bases import CaseBase
    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.retrievers import Answer, Runs
    from quem.retrieval.running import Guard, Task


# Panels that are scored at most; more than that are a sample of them.
_MOST_PANELS = 200
_FEWEST = 2


@dataclass(frozen=True)
class ExpertRanks:
    """What the judges of another study said."""

    name: str  # the study file, as the user named it
    title: str
    judges: tuple[str, ...]
    problems: tuple[str, ...]
    solvers: tuple[str, ...]
    # Of shape (judges, problems, solvers): adjusted ranks, 1 the worst; NaN where a judge did not
    # rank a solution.
    ranks: NDArray[np.float64]


@dataclass(frozen=True)
class Panels:
    """Panels of judges drawn with replacement."""

    weights: NDArray[np.int64]  # of shape (panels, judges): how often each judge is on the panel
    chance: NDArray[np.float64]  # of shape (panels,): how likely each panel is


def consensus(
    experts: ExpertRanks,
    queries: CaseBase,
    cases: CaseBase,
    weights: NDArray[np.int64] | None = None,
) -> CaseLists:
    """Order the solutions of each problem by average rank, the best first.

    Shapes: `weights` (judges,), optional.
    """
    w = np.ones(len(experts.judges)) if weights is None else weights.astype(float)
    mask = ~np.isnan(experts.ranks)
    total = np.einsum("j,jps->ps", w, np.where(mask, experts.ranks, 0.0))
    count = np.einsum("j,jps->ps", w, mask.astype(float))
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

    Shapes: `scores` (queries, columns).
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


# Similarities that a retriever gave are kept whole up to so many.
_WHOLE = 1_000_000


@dataclass(frozen=True)
class Need:
    """What measures need of the ground truth."""

    depth: int  # the number of most similar cases of each query, and those that tie with the last
    lists: Sequence[CaseLists] = ()  # and all cases that these hold
    whole: int = _WHOLE  # where there are no more pairs of query and case than that, all are kept

    def cuts(self, task: Task) -> bool:
        """Whether there is anything to be left out."""
        n = task.n_candidates
        return self.depth < n and n * len(task.queries) > self.whole

    def cut(self, query: int, answer: Answer) -> Answer:
        """The part of one list that is needed."""
        if isinstance(answer, str):
            return answer
        case, similarity = answer
        others = [lists.of(query)[0] for lists in self.lists]
        mask = np.isin(case, np.concatenate(others)) if others else np.zeros(len(case), dtype=bool)
        if len(case):
            # What is as similar as the last of them could stand in its place.
            mask |= similarity >= similarity[: self.depth][-1]
        return case[mask], similarity[mask]


def find_truth(
    study: RetrievalStudy,
    retrievers: dict[str, Runs],
    need: Need,
    progress: Progress,
) -> Truth:
    """Give the ground truth of a study; of a retriever's, what is needed."""
    spec, data = study.spec.ground_truth, study.data
    kind = truth_kind(study)
    if data.truth is not None:
        title = f"the judges of {data.experts.title}" if data.experts else ""
        if data.grades is not None:
            title = f"{format_count(len(data.grades.judges), 'judge')} ({data.grades.title})"
        return Truth(data.truth, kind, title or spec.qrels or spec.similarities)
    name = spec.retriever
    source = f"the retriever {name}"
    retriever = retrievers[name]
    if isinstance(retriever, StoredRetriever):
        return Truth(retriever.lists, kind, source)
    cuts = need.cuts(data.task)
    lists = _computed(name, retriever, data.task, need if cuts else None, progress)
    if len(lists.failed) == len(data.task.queries):
        why = next(iter(lists.failed.values()))
        raise QuemError(
            study.mistake(
                ("ground_truth",),
                f"the retriever {shown(name)} gives no ground truth for any query: it {why}",
            )
        )
    return Truth(lists, kind, source, computed=True)


def require_truth(study: RetrievalStudy, retrievers: dict[str, Runs]) -> None:
    """Refuse a study whose ground truth cannot be made, before anything is asked."""
    name = study.spec.ground_truth.retriever
    if name and name not in retrievers:
        entry = study.entries.get(name)
        why = entry if isinstance(entry, str) else "it cannot be made"
        raise QuemError(
            study.mistake(
                ("ground_truth",),
                f"there is no ground truth without the retriever {shown(name)}: {why}",
            )
        )


def _computed(
    name: str, retriever: Runs, task: Task, need: Need | None, progress: Progress
) -> CaseLists:
    done = progress(f"Ground truth: {name}", len(task.queries))
    if isinstance(retriever, LinearRetriever):
        answers = _all_lists(retriever, task, need, done)
        return lists_of(task.queries.ids, task.cases.ids, answers)
    one = ask_all(retriever, task, task.n_candidates, timed=0)

    def cut(query: int, guard: Guard) -> tuple[Answer, tuple[float, ...]]:
        answer, seconds = one.ask(query, guard)
        return answer if need is None else need.cut(query, answer), seconds

    (run,) = run_rounds([replace(one, ask=cut)], task, Times(0, 1), done)
    return run.lists


def _all_lists(
    retriever: LinearRetriever, task: Task, need: Need | None, done: Callable[[int], object]
) -> Iterator[Answer]:
    for query, (case, similarity) in enumerate(retriever.all_lists()):
        done(1)
        # A copy, since a row would hold on to its whole block.
        others = case != task.own(query)
        answer = case[others], similarity[others]
        yield answer if need is None else need.cut(query, answer)


def truth_digest(truth: Truth, measures: Sequence[Measure], n_candidates: int) -> str:
    """Make a short text that changes with the ground truth, and not with the order of queries.

    Of similarities that a retriever computed, only what the measures look at counts, because no
    more may be there.
    """
    lists = truth.lists
    if truth.computed:
        depth = truth_depth_of(measures, n_candidates)
        lists = lists if depth >= n_candidates else lists.top(depth)
    names = np.array(
        [
            int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
            for name in lists.cases
        ],
        dtype=np.uint64,
    )

    def parts() -> Iterator[bytes | str]:
        for query in sorted(range(len(lists.queries)), key=lists.queries.__getitem__):
            case, similarity = lists.of(query)
            if not len(case):
                continue
            # Without similarities the order says all; with them, it says nothing more.
            order = np.argsort(names[case]) if lists.scored else np.arange(len(case))
            yield lists.queries[query]
            yield names[case][order].astype("<u8").tobytes()
            yield similarity[order].astype("<f8").tobytes() if lists.scored else b""

    return content_digest(parts())
