"""The ground truth: from a file, from judges, or from a retriever."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.errors import QuemError
from quem.io.text import shown
from quem.retrieval.lists import lists_of
from quem.retrieval.retrievers import LinearRetriever, StoredRetriever
from quem.retrieval.running import Times, ask_all, run_rounds
from quem.scores.columns import columns_of
from quem.wording import format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.parallel import Progress
    from quem.retrieval.lists import CaseLists
    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.retrievers import Answer, Runs
    from quem.retrieval.running import Guard, Task
    from quem.scores.columns import Columns
    from quem.scores.matching import Judgments

TruthKind = Literal["similarities", "grades", "ranks"]


@dataclass(frozen=True)
class Truth:
    """What lists are compared with: similarities, or what judges said, where more is better."""

    columns: Columns
    kind: TruthKind
    source: str  # where it comes from, in words: "the retriever full"
    computed: bool = False  # by a retriever that ran
    failed: int = 0  # queries for which it could not be computed


def graded(name: str, title: str, rows: Iterable[tuple[str, str, str, float]]) -> Truth:
    """Grades (query, case, judge, grade), such as those of a judging session."""
    queries, cases, judges, grades = zip(*rows, strict=True)
    columns = columns_of(name, queries, cases, grades, noun="grade", judges=judges)
    return Truth(columns, "grades", f"{format_count(len(columns.judges), 'judge')} ({title})")


def ranked(
    name: str,
    title: str,
    judges: Sequence[str],
    problems: Sequence[str],
    solvers: Sequence[str],
    ranks: NDArray[np.float64],
) -> Truth:
    """Ranks of experts, adjusted for ties, 1 the worst (Hayes & Parzen 1997, steps 4 and 5).

    Shapes: `ranks` (judges, problems, solvers), NaN where a judge did not rank a solution.
    """
    judge, problem, solver = np.nonzero(~np.isnan(ranks))
    columns = columns_of(
        name,
        [problems[at] for at in problem.tolist()],
        [solvers[at] for at in solver.tolist()],
        ranks[judge, problem, solver].tolist(),
        noun="rank",
        judges=[judges[at] for at in judge.tolist()],
    )
    return Truth(columns, "ranks", f"the judges of {title}")


# Similarities that a retriever gave are kept whole up to so many.
WHOLE = 1_000_000


@dataclass(frozen=True)
class Need:
    """What measures need of the ground truth."""

    depth: int  # the number of most similar cases of each query, and those that tie with the last
    lists: Sequence[CaseLists] = ()  # and all cases that these hold
    whole: int = WHOLE  # where there are no more pairs of query and case than that, all are kept

    def cuts(self, task: Task) -> bool:
        """Whether there is anything to be left out."""
        n = task.n_candidates
        return self.depth < n and n * len(task.queries) > self.whole

    def cut(self, query: int, answer: Answer) -> Answer:
        """The part of one list that is needed."""
        if isinstance(answer, str):
            return answer
        case, similarity = answer
        mask = np.isin(case, np.concatenate([case[:0], *(one.of(query)[0] for one in self.lists)]))
        if len(case):
            # What is as similar as the last of them could stand in its place.
            mask |= similarity >= similarity[: self.depth][-1]
        return case[mask], similarity[mask]


def find_truth(
    study: RetrievalStudy, retrievers: dict[str, Runs], need: Need, progress: Progress
) -> Truth:
    """The ground truth of a study; of a retriever's, what is needed."""
    data, name = study.data, study.spec.ground_truth.retriever
    if data.truth is not None:
        return data.truth
    retriever, source = retrievers[name], f"the retriever {name}"
    if isinstance(retriever, StoredRetriever):
        return Truth(retriever.lists.columns(source), "similarities", source)
    lists = _computed(name, retriever, data.task, need if need.cuts(data.task) else None, progress)
    if len(lists.failed) == len(data.task.queries):
        why = next(iter(lists.failed.values()))
        message = f"the retriever {shown(name)} gives no ground truth for any query: it {why}"
        raise QuemError(study.mistake(("ground_truth",), message))
    failed = len(lists.failed)
    return Truth(lists.columns(source), "similarities", source, computed=True, failed=failed)


def require_truth(study: RetrievalStudy, retrievers: dict[str, Runs]) -> None:
    """Refuse a study whose ground truth cannot be made, before anything is asked."""
    name = study.spec.ground_truth.retriever
    if name and name not in retrievers:
        entry = study.entries.get(name)
        why = entry if isinstance(entry, str) else "it cannot be made"
        message = f"there is no ground truth without the retriever {shown(name)}: {why}"
        raise QuemError(study.mistake(("ground_truth",), message))


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


def truth_digest(judgments: Judgments, depth: int | None) -> str:
    """A short text that changes with the ground truth, and not with the order of queries.

    With a depth only what is as similar as the case of that rank counts.
    """
    truth, names = judgments.truth, judgments.queries
    rows, key = truth.rows, judgments.columns.key[judgments.row[truth.item]]
    kept = np.ones(rows.total, dtype=bool)
    if depth is not None:
        last = rows.starts + np.clip(rows.sizes, 1, depth) - 1
        kept = truth.value >= np.append(truth.value, np.nan)[last][rows.row]
    place = np.argsort(np.argsort(np.array(names, dtype=object)))
    order = np.flatnonzero(kept)
    order = order[np.lexsort((key[order], place[rows.row[order]]))]
    digest = hashlib.sha256("\n".join(sorted(names)).encode())
    for part in (place[rows.row[order]], key[order], truth.value[order]):
        digest.update(part.tobytes())
    return digest.hexdigest()[:32]
