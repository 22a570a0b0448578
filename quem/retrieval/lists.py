"""Lists of cases, a list a query, in flat arrays, and their scores.

Lists are scored in parts, so that memory does not grow with them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.lists import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.lists import Measure
    from quem.lists.lists import Ties


@dataclass(frozen=True)
class CaseLists:
    """A list of cases for each query, best first."""

    # The ids that places stand for
    queries: tuple[str, ...]
    cases: tuple[str, ...]
    # Of shape (queries + 1,): where the list of each query begins, and, last, where all end.
    starts: NDArray[np.int64]
    case: NDArray[np.int32]  # of shape (n,): places in `cases`
    similarity: NDArray[np.float64]  # of shape (n,)
    scored: bool = True  # whether the similarities mean anything; else only the order does
    # Queries without a list, and why there is none.
    failed: dict[int, str] = field(default_factory=dict)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The length of each list, shape (queries,)."""
        return np.diff(self.starts)

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Which cases have the similarity of another one in their list, shape (n,)."""
        tied = np.zeros(len(self.case), dtype=bool)
        if self.scored and len(tied):
            query = np.repeat(np.arange(len(self.queries)), self.sizes)
            same = (np.diff(self.similarity) == 0) & (np.diff(query) == 0)
            tied[1:] |= same
            tied[:-1] |= same
        return tied

    def of(self, query: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The cases and similarities of one list."""
        part = slice(int(self.starts[query]), int(self.starts[query + 1]))
        return self.case[part], self.similarity[part]

    def items(self, query: int, names: NDArray[Any]) -> dict[str, float] | list[str]:
        """One list as `quem.lists` takes it; `names` is `cases` as an array."""
        case, similarity = self.of(query)
        ids: list[str] = names[case].tolist()
        return dict(zip(ids, similarity.tolist(), strict=True)) if self.scored else ids

    def top(self, k: int) -> CaseLists:
        """The lists cut to k cases, and those that tie with the last."""
        sizes = np.minimum(self.sizes, k)
        if self.scored and k > 0:
            ends = self.starts[:-1] + sizes - 1
            for query in np.flatnonzero(sizes < self.sizes).tolist():
                similarity = self.of(query)[1]
                sizes[query] = np.count_nonzero(similarity >= self.similarity[ends[query]])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.repeat(self.starts[:-1] - starts[:-1], sizes) + np.arange(starts[-1])
        return CaseLists(
            self.queries,
            self.cases,
            starts,
            self.case[rows],
            self.similarity[rows],
            self.scored,
            self.failed,
        )

    def without_own(self) -> CaseLists:
        """The lists without the case that has the id of the query, for leave-one-out."""
        place = {name: at for at, name in enumerate(self.cases)}
        own = np.array([place.get(query, -1) for query in self.queries], dtype=np.int64)
        keep = self.case != np.repeat(own, self.sizes)
        if keep.all():
            return self
        sizes = np.bincount(np.repeat(np.arange(len(own)), self.sizes)[keep], minlength=len(own))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return CaseLists(
            self.queries,
            self.cases,
            starts,
            self.case[keep],
            self.similarity[keep],
            self.scored,
            self.failed,
        )


def lists_of(
    queries: Sequence[str],
    cases: Sequence[str],
    each: Iterable[tuple[NDArray[np.int32], NDArray[np.float64]] | str],
    *,
    scored: bool = True,
) -> CaseLists:
    """Make the lists of all queries."""
    places: list[NDArray[np.int32]] = []
    similar: list[NDArray[np.float64]] = []
    failed: dict[int, str] = {}
    for query, answer in enumerate(each):
        if isinstance(answer, str):
            failed[query] = answer
            answer = (np.empty(0, np.int32), np.empty(0))  # noqa: PLW2901  an empty list
        places.append(answer[0])
        similar.append(answer[1])
    sizes = [len(case) for case in places]
    return CaseLists(
        tuple(queries),
        tuple(cases),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([np.empty(0, np.int32), *places]),
        np.concatenate([np.empty(0), *similar]),
        scored,
        failed,
    )


# Items of lists and ground truth that are dicts at one time.
_AT_ONCE = 100_000
_NO_TRUTH = "there is no ground truth for this query"


@dataclass(frozen=True)
class QueryScores:
    """The scores of one retriever."""

    values: NDArray[np.float64]  # of shape (queries, measures): NaN where a measure is undefined
    # Of shape (queries, measures): where in `reasons` it is said why, or why the list that was
    # scored is empty.
    reason: NDArray[np.intp]
    reasons: tuple[str, ...]  # the first is empty

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of each measure over the queries where it is defined, shape (measures,)."""
        count = self.defined
        total = np.nansum(self.values, axis=0)
        return np.where(count, total / np.maximum(count, 1), np.nan)

    @property
    def defined(self) -> NDArray[np.intp]:
        """For how many queries each measure is defined, shape (measures,)."""
        return np.asarray((~np.isnan(self.values)).sum(axis=0), dtype=np.intp)


def score_lists(
    lists: CaseLists,
    truth: CaseLists,
    measures: Sequence[Measure],
    ties: Ties = "expected",
) -> QueryScores:
    """Hold the lists of a retriever against the ground truth.

    Where a retriever failed, an empty list is scored.
    """
    n = len(truth.queries)
    values = np.full((n, len(measures)), np.nan)
    reason = np.zeros(values.shape, dtype=np.intp)
    known: dict[str, int] = {"": 0}
    for query in np.flatnonzero(truth.sizes == 0).tolist():
        why = truth.failed.get(query, _NO_TRUTH)
        reason[query] = known.setdefault(why, len(known))
    good = np.flatnonzero(truth.sizes > 0)
    names, true_names = np.array(lists.cases, dtype=object), np.array(truth.cases, dtype=object)
    for part in _parts(good, lists, truth):
        # By their ids, which the error of a measure of the user names.
        ids = [(query, truth.queries[query]) for query in part.tolist()]
        run = {name: lists.items(query, names) for query, name in ids}
        true = {name: truth.items(query, true_names) for query, name in ids}
        scores = evaluate(run, true, measures, ties=ties)
        values[part] = scores.values
        place = np.array([known.setdefault(why, len(known)) for why in scores.reasons])
        reason[part] = place[scores.reason_codes]
    for query in set(lists.failed) & set(good.tolist()):
        reason[query] = known.setdefault(lists.failed[query], len(known))
    return QueryScores(values, reason, tuple(known))


def _parts(
    good: NDArray[np.intp], lists: CaseLists, truth: CaseLists
) -> Iterator[NDArray[np.intp]]:
    """Queries, as many at a time as have not too many items."""
    items = np.cumsum((lists.sizes + truth.sizes)[good])
    start = 0
    while start < len(good):
        done = items[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(items, done + _AT_ONCE, side="right")))
        yield good[start:end]
        start = end
