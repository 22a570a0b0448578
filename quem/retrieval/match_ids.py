"""Stored rows matched with the queries and cases of a study, and made into lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, StudyWarning
from quem.io.tables import MOST_NAMED, repeats
from quem.io.text import shown
from quem.retrieval.lists import CaseLists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.io.columns import CodedColumn
    from quem.retrieval.bases import CaseBase
    from quem.retrieval.stored import Stored

_FEW = 3


def match(
    stored: Stored,
    queries: CaseBase,
    cases: CaseBase,
    *,
    what: str,
    closed: bool,
) -> tuple[CaseLists | None, list[Mistake], list[StudyWarning]]:
    """Make the lists of a file."""
    mistakes: list[Mistake] = []
    warnings: list[StudyWarning] = []
    query = _places(stored.query, queries)
    warnings += _other_queries(stored, query, queries, what)
    rows = np.flatnonzero(query >= 0)
    if closed:
        base = cases.name or "the case base"
        case = stored.table.only(rows).codes("case", cases.index, mistakes, base)
    else:
        case = _places(stored.case, cases)[rows]
    if not len(rows):
        message = (
            f"has none of the queries of {queries.name or 'the study'}, "
            f"such as {shown(queries.ids[0])}; check how queries are named"
        )
        mistakes.append(Mistake(stored.table.name, message=message))
    query = query[rows]
    mistakes += _twice(stored.only(rows), query, case, len(cases))
    if mistakes:
        return None, mistakes[:MOST_NAMED], warnings
    subset = stored.only(rows)
    order = _order(subset, query)
    warnings += _contradictions(subset, query, order, what)
    sizes = np.bincount(query, minlength=len(queries))
    lacking = [queries.ids[at] for at in np.flatnonzero(sizes == 0).tolist()]
    if lacking:
        message = (
            f"{what} has no list for {_named(lacking)}; each counts as an empty list "
            f"({stored.table.name})"
        )
        warnings.append(StudyWarning("no-list", message))
    lists = CaseLists(
        queries.ids,
        cases.ids,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        case[order].astype(np.int32),
        subset.value[order],
        stored.scored,
    )
    return lists, [], warnings


def _places(column: CodedColumn[str], base: CaseBase) -> NDArray[np.int64]:
    return column.lookup((base.index.get(value, -1) for value in column.values), np.int64)


def _named(names: list[str]) -> str:
    listing = ", ".join(map(shown, names[:_FEW]))
    more = len(names) - _FEW
    what = "query" if len(names) == 1 else f"{len(names)} queries, such as"
    return (
        f"the {what} {listing}" if len(names) == 1 else f"{what} {listing}" + (", ..." * (more > 0))
    )


def _other_queries(
    stored: Stored, query: NDArray[np.int64], queries: CaseBase, what: str
) -> list[StudyWarning]:
    codes = np.unique(stored.query.codes[query < 0])
    if not len(codes) or len(codes) == len(stored.query.used()):
        return []
    others = [stored.query.values[code] for code in codes.tolist()]
    where = queries.name or "the study"
    message = (
        f"{stored.table.name} has lists of {what} for {_named(others)}, which {where} does not "
        "have; they are left out"
    )
    return [StudyWarning("unknown-query", message)]


def _twice(
    stored: Stored, query: NDArray[np.int64], case: NDArray[np.int64], n_cases: int
) -> Iterator[Mistake]:
    table = stored.table
    for row, first in repeats(query * n_cases + case)[0]:
        # In memory there are no lines.
        line = table.place(first, "case").line
        message = (
            f"duplicate: the case {shown(stored.case.cell(row))} is already listed for the query "
            f"{shown(stored.query.cell(row))}" + (f" on line {line}" if line else "")
        )
        yield table.mistake(row, "case", message)


def _order(stored: Stored, query: NDArray[np.int64]) -> NDArray[np.intp]:
    """Query by query, best first: by score, then by rank, then as the file has them."""
    keys: list[NDArray[Any]] = [np.arange(len(stored.value))]
    if not np.isnan(stored.rank).all():
        keys.append(stored.rank)
    if stored.scored:
        keys.append(-stored.value)
    return np.lexsort((*keys, query))


def _contradictions(
    stored: Stored, query: NDArray[np.int64], order: NDArray[np.intp], what: str
) -> list[StudyWarning]:
    if not stored.scored or np.isnan(stored.rank).all():
        return []
    same = query[order][1:] == query[order][:-1]
    wrong = np.flatnonzero(same & (np.diff(stored.rank[order]) < 0))
    if not len(wrong):
        return []
    row = int(order[wrong[0] + 1])
    line = stored.table.place(row, "rank").line
    where = f"on line {line} of {stored.table.name}" if line else f"for {stored.query.cell(row)}"
    message = f"ranks and scores of {what} contradict each other, as {where}; the scores count"
    return [StudyWarning("rank-against-score", message)]
