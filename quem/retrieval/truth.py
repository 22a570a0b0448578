"""Finds the ground truth: from a file, from experts, or from a retriever."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import QuemError
from quem.io.custom_functions import Entry
from quem.io.text import shown
from quem.retrieval.choosing import truth_kind
from quem.retrieval.findings import Truth
from quem.retrieval.ground_truth_cache import fingerprint, read_kept
from quem.retrieval.linear import LinearRetriever
from quem.retrieval.lists import lists_of
from quem.retrieval.retrievers import StoredRetriever
from quem.retrieval.running import Times, asked, run_rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from quem.retrieval.lists import CaseLists
    from quem.retrieval.loading import RetrievalStudy
    from quem.retrieval.retrievers import Answer, Runs
    from quem.retrieval.running import Guard, Task

    Progress = Callable[[str, int], Callable[[int], object]]

__all__ = ["Need", "find_truth", "require_truth"]

# Similarities that a retriever gave are kept whole up to so many.
_WHOLE = 1_000_000


@dataclass(frozen=True)
class Need:
    """What measures need of the ground truth.

    Parameters
    ----------
    depth : int
        The number of most similar cases of each query, and those that tie with the last.
    lists : sequence of CaseLists
        And all cases that these hold.
    whole : int
        Where there are no more pairs of query and case than that, all are kept.
    """

    depth: int
    lists: Sequence[CaseLists] = ()
    whole: int = _WHOLE

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
        kept = np.isin(case, np.concatenate(others)) if others else np.zeros(len(case), dtype=bool)
        if len(case):
            # What is as similar as the last of them could stand in its place.
            kept |= similarity >= similarity[: self.depth][-1]
        return case[kept], similarity[kept]

    def is_met_by(self, lists: CaseLists, depth: int) -> bool:
        """Whether lists that were cut to a depth hold all that is needed."""
        return depth >= self.depth and all(
            np.isin(other.of(query)[0], lists.of(query)[0]).all()
            for query in range(len(lists.queries))
            for other in self.lists
        )


def find_truth(
    study: RetrievalStudy,
    made: dict[str, Runs],
    keep: Path | None,
    need: Need,
    progress: Progress,
) -> Truth:
    """Give the ground truth of a study; of a retriever's, what is needed.

    Parameters
    ----------
    made : dict of str to Runs
        The retrievers.
    keep : Path, optional
        Where similarities of a retriever may be kept.

    Raises
    ------
    QuemError
        The retriever that should make it gives no list at all.
    """
    spec, data = study.spec.ground_truth, study.data
    kind = truth_kind(study)
    if data.truth is not None:
        title = f"the judges of {data.experts.title}" if data.experts else ""
        return Truth(data.truth, kind, title or spec.qrels or spec.similarities)
    name = spec.retriever
    source = f"the retriever {name}"
    retriever = made[name]
    if isinstance(retriever, StoredRetriever):
        return Truth(retriever.lists, kind, source)
    mark = _mark(study, name)
    kept = read_kept(keep, mark, data.task) if keep is not None else None
    if kept is not None and (kept.depth is None or need.is_met_by(kept.lists, kept.depth)):
        return Truth(kept.lists, kind, source, mark, reused=True, depth=kept.depth)
    cuts = need.cuts(data.task)
    lists = _computed(name, retriever, data.task, need if cuts else None, progress)
    if len(lists.failed) == len(data.task.queries):
        why = next(iter(lists.failed.values()))
        message = f"the retriever {shown(name)} gives no ground truth for any query: it {why}"
        raise QuemError([study.mistake(("ground_truth",), message)])
    return Truth(lists, kind, source, mark, depth=need.depth if cuts else None)


def require_truth(study: RetrievalStudy, made: dict[str, Runs]) -> None:
    """Refuse a study whose ground truth cannot be made, before anything is asked.

    Raises
    ------
    QuemError
        Its retriever was left out.
    """
    name = study.spec.ground_truth.retriever
    if name and name not in made:
        entry = study.entries.get(name)
        why = entry if isinstance(entry, str) else "it cannot be made"
        message = f"there is no ground truth without the retriever {shown(name)}: {why}"
        raise QuemError([study.mistake(("ground_truth",), message)])


def _mark(study: RetrievalStudy, name: str) -> str:
    spec = next(one for one in study.spec.retrievers if one.id == name)
    entry = study.entries.get(name)
    sources = entry.sources if isinstance(entry, Entry) else ()
    said = spec.model_dump(mode="json", exclude={"id", "name"})
    return fingerprint(study.data.task, said, sources)


def _computed(
    name: str, retriever: Runs, task: Task, need: Need | None, progress: Progress
) -> CaseLists:
    done = progress(f"Ground truth: {name}", len(task.queries))
    if isinstance(retriever, LinearRetriever):
        answers = _all_lists(retriever, task, need, done)
        return lists_of(task.queries.ids, task.cases.ids, answers)
    one = asked(retriever, task, task.n_candidates, timed=0)

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
