"""The ground truth: from a file, from judges, or from a retriever."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.errors import Mistake, QuemError
from quem.io.text import shown
from quem.retrieval.retrievers import Answer, Runs, StoredRetriever
from quem.retrieval.running import Guard, Times, ask_all, run_rounds
from quem.scores.columns import Columns, columns_of
from quem.wording import format_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from quem.parallel import Progress
    from quem.retrieval.lists import CaseLists
    from quem.retrieval.loading import RetrievalStudy

TruthKind = Literal["similarities", "grades", "ranks"]


@dataclass(frozen=True)
class Truth:
    """Similarities or judgments as the ground truth; more is better."""

    columns: Columns
    kind: TruthKind
    source: str  # origin in words: "the retriever full"
    computed: bool = False  # by a retriever that ran
    cases: tuple[str, ...] = ()  # all cases that judges saw, if known


def graded(name: str, title: str, rows: Iterable[tuple[str, str, str, float]]) -> Truth:
    """The ground truth of grades (query, case, judge, grade), as of a judging session."""
    columns = _columns(name, list(rows), "grade", "judged")
    return Truth(columns, "grades", f"{format_count(len(columns.judges), 'judge')} ({title})")


def ranked(
    name: str,
    title: str,
    judges: Sequence[str],
    problems: Sequence[str],
    solvers: Sequence[str],
    ranks: NDArray[np.float64],
) -> Truth:
    """The ground truth of expert ranks, adjusted for ties (Hayes & Parzen 1997, steps 4 and 5).

    Shapes: `ranks` (judges, problems, solvers), NaN where a judge did not rank a solution.
    """
    rows = [
        (problems[problem], solvers[solver], judges[judge], float(ranks[judge, problem, solver]))
        for judge, problem, solver in np.argwhere(~np.isnan(ranks)).tolist()
    ]
    columns = _columns(name, rows, "rank", "ranked")
    return Truth(columns, "ranks", f"the judges of {title}", cases=tuple(solvers))


def _columns(name: str, rows: list[tuple[str, str, str, float]], noun: str, done: str) -> Columns:
    if not rows:
        raise QuemError(Mistake(name, message=f"nothing is {done} yet"))
    queries, cases, judges, values = zip(*rows, strict=True)
    return columns_of(name, queries, cases, values, noun=noun, judges=judges)


# Limit up to which a retriever's similarities are kept whole.
_WHOLE = 1_000_000


@dataclass(frozen=True)
class Need:
    """The part of the ground truth that measures need."""

    depth: int  # most similar cases per query, including ties with the last
    lists: Sequence[CaseLists] = ()  # and all cases in these
    whole: int = _WHOLE  # up to this many pairs of query and case, all are kept

    def cut(self, query: int, answer: Answer) -> Answer:
        """The required part of one list."""
        if isinstance(answer, str) or not len(answer[0]):
            return answer
        case, similarity = answer
        mask = np.isin(case, np.concatenate([case[:0], *(one.of(query)[0] for one in self.lists)]))
        # Ties with the last could take its place.
        mask |= similarity >= similarity[: self.depth][-1]
        return case[mask], similarity[mask]


def find_truth(
    study: RetrievalStudy, retrievers: dict[str, Runs], need: Need, progress: Progress
) -> Truth:
    """The ground truth of a study; from a retriever, the required part."""
    data, name = study.data, study.spec.ground_truth.retriever
    if data.truth is not None:
        return data.truth
    retriever, source, task = retrievers[name], f"the retriever {name}", data.task
    if isinstance(retriever, StoredRetriever):
        return Truth(retriever.lists.columns(source), "similarities", source)
    whole, n = ask_all(retriever, task, task.n_candidates, timed=0), len(task.queries)

    def cut(query: int, guard: Guard) -> tuple[Answer, float]:
        answer, seconds = whole.ask(query, guard)
        return need.cut(query, answer), seconds

    cuts = need.depth < task.n_candidates and task.n_candidates * n > need.whole
    one = replace(whole, ask=cut) if cuts else whole
    (run,) = run_rounds(f"Ground truth: {name}", [one], task, Times(0, 1), progress)
    lists = run.lists
    if len(lists.failed) == n:
        message = (
            f"the retriever {shown(name)} gives no ground truth for any query: it "
            f"{next(iter(lists.failed.values()))}"
        )
        raise QuemError(study.mistake(("ground_truth",), message))
    return Truth(lists.columns(source), "similarities", source, computed=True)
