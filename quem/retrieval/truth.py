"""Finds the ground truth: from a file, from experts, or from a retriever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.entry import Entry
from quem.errors import QuemError
from quem.retrieval.findings import Truth
from quem.retrieval.kept import fingerprint, read_kept
from quem.retrieval.linear import LinearRetriever
from quem.retrieval.lists import CaseLists, lists_of
from quem.retrieval.retrievers import StoredRetriever
from quem.retrieval.running import Times, run_queries
from quem.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from quem.retrieval.findings import TruthKind
    from quem.retrieval.loading import LoadedRetrieval
    from quem.retrieval.retrievers import Answer, Runs
    from quem.retrieval.running import Task

    Progress = Callable[[str, int], Callable[[int], object]]

__all__ = ["find_truth", "spread", "stored_kind"]

# Queries that tell the time of a retriever whose lists are there already.
_TIMED = 20


def find_truth(
    study: LoadedRetrieval, made: dict[str, Runs], keep: Path | None, progress: Progress
) -> Truth:
    """Give the ground truth of a study.

    Parameters
    ----------
    study : LoadedRetrieval
    made : dict of str to Runs
        The retrievers.
    keep : Path, optional
        Where similarities of a retriever may be kept.
    progress : callable

    Raises
    ------
    QuemError
        The retriever that should make it gives no list at all.
    """
    spec, data = study.spec.ground_truth, study.data
    if data.truth is not None:
        judges = "" if data.experts is None else f"the judges of {data.experts.title}"
        return Truth(data.truth, stored_kind(study), judges or spec.qrels or spec.similarities)
    name = spec.retriever
    source = f"the retriever {name}"
    if name not in made:
        entry = study.entries.get(name)
        why = entry if isinstance(entry, str) else "it cannot be made"
        message = f"there is no ground truth without the retriever {shown(name)}: {why}"
        raise QuemError([study.mistake(("ground_truth",), message)])
    retriever = made[name]
    if isinstance(retriever, StoredRetriever):
        return Truth(retriever.lists, "similarities", source)
    mark = _mark(study, name)
    kept = read_kept(keep, mark, data.task) if keep is not None else None
    if kept is not None:
        return Truth(kept, "similarities", source, mark, reused=True)
    lists = _computed(name, retriever, data.task, progress)
    if len(lists.failed) == len(data.task.queries):
        why = next(iter(lists.failed.values()))
        message = f"the retriever {shown(name)} gives no ground truth for any query: it {why}"
        raise QuemError([study.mistake(("ground_truth",), message)])
    return Truth(lists, "similarities", source, mark)


def stored_kind(study: LoadedRetrieval) -> TruthKind:
    """Say what a ground truth is that no retriever makes."""
    if study.data.experts is not None:
        return "experts"
    return "grades" if study.spec.ground_truth.qrels else "similarities"


def _mark(study: LoadedRetrieval, name: str) -> str:
    spec = next(one for one in study.spec.retrievers if one.id == name)
    entry = study.entries.get(name)
    sources = entry.sources if isinstance(entry, Entry) else ()
    said = spec.model_dump(mode="json", exclude={"id", "name"})
    return fingerprint(study.data.task, said, sources)


def _computed(name: str, retriever: Runs, task: Task, progress: Progress) -> CaseLists:
    done = progress(f"Ground truth: {name}", len(task.queries))
    if isinstance(retriever, LinearRetriever):
        lists = lists_of(task.queries.ids, task.cases.ids, _all_lists(retriever, done))
        return lists.without_own() if task.leave_one_out else lists
    times = Times(warm_up=0, repeats=1)
    return run_queries(retriever, task, task.n_candidates, times, done).lists


def _all_lists(retriever: LinearRetriever, done: Callable[[int], object]) -> Iterator[Answer]:
    for answer in retriever.all_lists():
        done(1)
        yield answer


def spread(n_queries: int) -> list[int]:
    """Choose some queries, spread over all."""
    places = np.linspace(0, n_queries - 1, min(n_queries, _TIMED))
    return sorted(set(places.round().astype(int).tolist()))
