"""Lists of cases, a list a query, in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["CaseLists", "lists_of"]


@dataclass(frozen=True)
class CaseLists:
    """A list of cases for each query, best first.

    Parameters
    ----------
    queries, cases : tuple of str
        The ids that places stand for.
    starts : array of int, shape (queries + 1,)
        Where the list of each query begins, and, last, where all end.
    case : array of int, shape (n,)
        Places in `cases`.
    similarity : array of float, shape (n,)
    scored : bool
        Whether the similarities mean anything; else only the order does.
    failed : dict of int to str
        Queries without a list, and why there is none.
    """

    queries: tuple[str, ...]
    cases: tuple[str, ...]
    starts: NDArray[np.int64]
    case: NDArray[np.int32]
    similarity: NDArray[np.float64]
    scored: bool = True
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
        kept = np.repeat(self.starts[:-1] - starts[:-1], sizes) + np.arange(starts[-1])
        return CaseLists(
            self.queries,
            self.cases,
            starts,
            self.case[kept],
            self.similarity[kept],
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
    """Make the lists of all queries.

    Parameters
    ----------
    each : iterable
        In the order of the queries: places of cases, best first, and their similarities; or
        why there is no list.
    """
    listed: list[NDArray[np.int32]] = []
    similar: list[NDArray[np.float64]] = []
    failed: dict[int, str] = {}
    for query, given in enumerate(each):
        if isinstance(given, str):
            failed[query] = given
            given = (np.empty(0, np.int32), np.empty(0))  # noqa: PLW2901  an empty list
        listed.append(given[0])
        similar.append(given[1])
    sizes = [len(case) for case in listed]
    return CaseLists(
        tuple(queries),
        tuple(cases),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([np.empty(0, np.int32), *listed]),
        np.concatenate([np.empty(0), *similar]),
        scored,
        failed,
    )
