"""Lists of cases, one per query, in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.scores.columns import Columns, columns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from quem.retrieval.bases import Task


@dataclass(frozen=True)
class CaseLists:
    """A list of cases for each query, best first."""

    # The ids of the indices
    queries: tuple[str, ...]
    cases: tuple[str, ...]
    # Of shape (queries + 1,): the start of each query's list, and the end of all.
    starts: NDArray[np.int64]
    case: NDArray[np.int32]  # of shape (n,): indices into `cases`
    similarity: NDArray[np.float64]  # of shape (n,)
    scored: bool = True  # whether similarities are given, and not only the order
    # Queries without a list, with the reason.
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
    """The lists of all queries, from indices and similarities, or the reason for none."""
    answers = list(each)
    failed = {query: answer for query, answer in enumerate(answers) if isinstance(answer, str)}
    nothing = np.empty(0, np.int32), np.empty(0)
    lists = [nothing if isinstance(answer, str) else answer for answer in answers]
    return CaseLists(
        tuple(queries),
        tuple(cases),
        _starts([len(case) for case, _ in lists]),
        np.concatenate([nothing[0], *(case for case, _ in lists)]),
        np.concatenate([nothing[1], *(similarity for _, similarity in lists)]),
        failed=failed,
    )


def lists_of_columns(columns: Columns, task: Task) -> CaseLists:
    """The lists in rows of known queries and cases, best first."""
    query, case = query_places(columns, task), case_places(columns, task)
    order = np.lexsort((-columns.value, query))
    return CaseLists(
        task.queries.ids,
        task.cases.ids,
        _starts(np.bincount(query, minlength=len(task.queries))),
        case[order].astype(np.int32),
        columns.value[order],
        columns.scored,
    )


def rows_of(columns: Columns) -> list[tuple[str, str, float]]:
    """Query, case, and number of each row; a case occurs once per query."""
    columns.check_once()
    queries = [columns.queries[at] for at in columns.query.tolist()]
    names = columns.names(np.arange(len(columns)))
    return list(zip(queries, names, columns.value.tolist(), strict=True))


def query_places(columns: Columns, task: Task) -> NDArray[np.int64]:
    """The query index of each row, or -1."""
    places = [task.queries.index.get(name, -1) for name in columns.queries]
    return np.array(places, dtype=np.int64)[columns.query]


def case_places(columns: Columns, task: Task) -> NDArray[np.int64]:
    """The case index of each row, or -1."""
    names, at = distinct_cases(columns)
    places = [task.cases.index.get(name, -1) for name in names]
    return np.array(places, dtype=np.int64)[at]


def distinct_cases(columns: Columns) -> tuple[list[str], NDArray[np.intp]]:
    """The distinct cases of rows in order, and the index of each row."""
    _, first, at = np.unique(columns.key, return_index=True, return_inverse=True)
    if columns.tokens.same(columns.tokens.only(first[at])).all():
        order = np.argsort(first)
        return columns.names(first[order]), np.argsort(order)[at]
    # A hash collision.
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


def _starts(sizes: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
