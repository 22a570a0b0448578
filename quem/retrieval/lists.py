"""Lists of cases, a list a query, in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.scores.columns import Columns, columns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from quem.retrieval.bases import CaseBase


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
    def query(self) -> NDArray[np.int64]:
        """The query of each listed case, shape (n,)."""
        return np.repeat(np.arange(len(self.queries)), self.sizes)

    def of(self, query: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The cases and similarities of one list."""
        part = slice(int(self.starts[query]), int(self.starts[query + 1]))
        return self.case[part], self.similarity[part]

    def columns(self, source: str) -> Columns:
        """The lists as rows, to be scored."""
        n = len(self.cases)
        ids = columns_of(source, [""] * n, self.cases, [0.0] * n, noun="score")
        return Columns(
            source,
            list(self.queries),
            self.query.astype(np.int32),
            ids.key[self.case],
            self.similarity,
            ids.cases.only(self.case.astype(np.intp)),
            self.scored,
        )


def lists_of(
    queries: Sequence[str],
    cases: Sequence[str],
    each: Iterable[tuple[NDArray[np.int32], NDArray[np.float64]] | str],
) -> CaseLists:
    """The lists of all queries, of the places and similarities of each, or why it has none."""
    places: list[NDArray[np.int32]] = [np.empty(0, np.int32)]
    similar: list[NDArray[np.float64]] = [np.empty(0)]
    failed: dict[int, str] = {}
    sizes = []
    for query, answer in enumerate(each):
        if isinstance(answer, str):
            failed[query] = answer
            sizes.append(0)
            continue
        places.append(answer[0])
        similar.append(answer[1])
        sizes.append(len(answer[0]))
    return CaseLists(
        tuple(queries),
        tuple(cases),
        _starts(np.array(sizes)),
        np.concatenate(places),
        np.concatenate(similar),
        failed=failed,
    )


def lists_of_columns(columns: Columns, queries: CaseBase, cases: CaseBase) -> CaseLists:
    """The lists that rows hold, best first; rows whose query or case is unknown are left out."""
    query, case = query_places(columns, queries), case_places(columns, cases)
    rows = np.flatnonzero((query >= 0) & (case >= 0))
    rows = rows[np.lexsort((-columns.value[rows], query[rows]))]
    sizes = np.bincount(query[rows], minlength=len(queries))
    return CaseLists(
        queries.ids,
        cases.ids,
        _starts(sizes),
        case[rows].astype(np.int32),
        columns.value[rows],
        columns.scored,
    )


def rows_of(columns: Columns) -> list[tuple[str, str, float]]:
    """Query, case, and number of each row; a case is there once in a query."""
    columns.check_once()
    queries = [columns.queries[at] for at in columns.query.tolist()]
    names = columns.names(np.arange(len(columns)))
    return list(zip(queries, names, columns.value.tolist(), strict=True))


def query_places(columns: Columns, queries: CaseBase) -> NDArray[np.int64]:
    """Which query each row is of, or -1."""
    places = [queries.index.get(name, -1) for name in columns.queries]
    return np.array(places, dtype=np.int64)[columns.query]


def case_places(columns: Columns, cases: CaseBase) -> NDArray[np.int64]:
    """Which case each row is about, or -1."""
    names, at = distinct_cases(columns)
    places = [cases.index.get(name, -1) for name in names]
    return np.array(places, dtype=np.int64)[at]


def distinct_cases(columns: Columns) -> tuple[list[str], NDArray[np.intp]]:
    """The distinct cases of rows, and which of them each row is about."""
    _, first, at = np.unique(columns.key, return_index=True, return_inverse=True)
    if columns.tokens.same(columns.tokens.only(first[at])).all():
        # In the order of the file.
        order = np.argsort(first)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return columns.names(first[order]), place[at]
    # Two cases have one hash.
    every = np.arange(len(columns))
    return columns.names(every), every


def only(columns: Columns, rows: NDArray[np.bool_]) -> Columns:
    """Some of the rows; all queries stay."""
    if rows.all():
        return columns
    which = np.flatnonzero(rows)
    return replace(
        columns,
        query=columns.query[which],
        key=columns.key[which],
        value=columns.value[which],
        cases=columns.tokens.only(which),
        judge=None if columns.judge is None else columns.judge[which],
        lines=None if columns.lines is None else columns.lines[which],
    )


def without_own(columns: Columns) -> Columns:
    """The rows without the case that has the id of the query, for leave-one-out."""
    names, at = distinct_cases(columns)
    code = {name: number for number, name in enumerate(columns.queries)}
    own = np.array([code.get(name, -1) for name in names], dtype=np.int64)
    return only(columns, own[at] != columns.query)


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
