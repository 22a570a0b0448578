"""Stored rows held against the queries and cases of a study, and made into lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, StudyWarning
from quem.io.text import nearest, shown
from quem.retrieval.lists import CaseLists

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.retrieval.cases import CaseBase
    from quem.retrieval.stored import Stored

__all__ = ["match"]

_MOST_NAMED = 20
_FEW = 3


def match(
    stored: Stored,
    queries: CaseBase,
    cases: CaseBase,
    *,
    what: str,
    closed: bool,
) -> tuple[CaseLists | None, list[Mistake], list[StudyWarning]]:
    """Make the lists of a file.

    Parameters
    ----------
    stored : Stored
    queries, cases : CaseBase
    what : str
        Whose lists they are, for warnings: "the retriever 'x'".
    closed : bool
        Whether a case that the case base lacks is a mistake; else `cases` has them all.

    Returns
    -------
    lists : CaseLists or None
        None where there are mistakes. Of queries that the file has not, the list is empty.
    mistakes : list of Mistake
        A case that is unknown, or twice in a list.
    warnings : list of StudyWarning
        Queries that the study or the file lacks, and ranks that contradict scores.
    """
    mistakes: list[Mistake] = []
    warnings: list[StudyWarning] = []
    query = _places(stored.query.values, queries.index)[stored.query.codes]
    case = _places(stored.case.values, cases.index)[stored.case.codes]
    warnings += _other_queries(stored, query, queries, what)
    if closed:
        mistakes += _unknown_cases(stored, query, case, cases)
    rows = np.flatnonzero((query >= 0) & (case >= 0))
    if not len(rows) and not mistakes:
        message = (
            f"has none of the queries of {queries.name or 'the study'}, "
            f"such as {shown(queries.ids[0])}; check how queries are named"
        )
        mistakes.append(Mistake(stored.name, message=message))
    mistakes += _twice(stored, rows, query, case, len(cases))
    if mistakes:
        return None, mistakes[:_MOST_NAMED], warnings
    kept = stored.only(rows)
    order = _order(kept, query[rows])
    warnings += _contradictions(kept, query[rows], order, what)
    sizes = np.bincount(query[rows], minlength=len(queries))
    lacking = [queries.ids[at] for at in np.flatnonzero(sizes == 0).tolist()]
    if lacking:
        message = (
            f"{what} has no list for {_named(lacking)}; each counts as an empty list "
            f"({stored.name})"
        )
        warnings.append(StudyWarning("no-list", message))
    lists = CaseLists(
        queries.ids,
        cases.ids,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        case[rows][order].astype(np.int32),
        kept.value[order],
        stored.scored,
    )
    return lists, [], warnings


def _places(values: list[str], index: dict[str, int]) -> NDArray[np.int64]:
    return np.array([index.get(value, -1) for value in values] or [-1], dtype=np.int64)


def _named(names: list[str]) -> str:
    told = ", ".join(map(shown, names[:_FEW]))
    more = len(names) - _FEW
    what = "query" if len(names) == 1 else f"{len(names)} queries, such as"
    return f"the {what} {told}" if len(names) == 1 else f"{what} {told}" + (", ..." * (more > 0))


def _other_queries(
    stored: Stored, query: NDArray[np.int64], queries: CaseBase, what: str
) -> list[StudyWarning]:
    codes = np.unique(stored.query.codes[query < 0])
    if not len(codes) or len(codes) == len(stored.query.used()):
        return []
    others = [stored.query.values[code] for code in codes.tolist()]
    where = queries.name or "the study"
    message = (
        f"{stored.name} has lists of {what} for {_named(others)}, which {where} has not; they are "
        "left out"
    )
    return [StudyWarning("unknown-query", message)]


def _unknown_cases(
    stored: Stored, query: NDArray[np.int64], case: NDArray[np.int64], cases: CaseBase
) -> list[Mistake]:
    found = []
    rows = np.flatnonzero((case < 0) & (query >= 0))
    _, first = np.unique(stored.case.codes[rows], return_index=True)
    for row in np.sort(rows[first])[:_MOST_NAMED].tolist():
        word = stored.case.text(row)
        hint = nearest(word, cases.ids) if len(cases) < 10_000 else ""  # noqa: PLR2004  else slow
        message = f"there is no case {shown(word)} in {cases.name or 'the case base'}{hint}"
        found.append(stored.mistake(row, message))
    return found


def _twice(
    stored: Stored,
    rows: NDArray[np.int64],
    query: NDArray[np.int64],
    case: NDArray[np.int64],
    n_cases: int,
) -> list[Mistake]:
    key = query[rows] * n_cases + case[rows]
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(np.diff(key[order]) == 0)
    found = []
    for at in again[:_MOST_NAMED].tolist():
        first, row = int(rows[order[at]]), int(rows[order[at + 1]])
        message = (
            f"the case {shown(stored.case.text(row))} is already listed for the query "
            f"{shown(stored.query.text(row))} on line {stored.place(first)}"
        )
        found.append(stored.mistake(row, message))
    return sorted(found, key=lambda mistake: mistake.line)


def _order(stored: Stored, query: NDArray[np.int64]) -> NDArray[np.intp]:
    """Query by query, best first: by score, then by rank, then as the file has them."""
    keys: list[NDArray[Any]] = [np.arange(len(stored))]
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
    message = (
        f"ranks and scores of {what} contradict each other, as on line {stored.place(row)} of "
        f"{stored.name}; the scores count"
    )
    return [StudyWarning("rank-against-score", message)]
