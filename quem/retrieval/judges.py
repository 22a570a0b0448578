"""Grades that several judges gave to the same candidates, and their consensus.

The consensus on a candidate is the median of its judges' grades, or their mean. Judges are a
sample: the consensus is recomputed for panels of them (see `quem.retrieval.truth`). A candidate
counts with those of its judges who are on a panel. One of whose judges none is on the panel keeps
the consensus of all its judges: it has been judged, and without it the panel would be compared on
other candidates.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.errors import Mistake, QuemError
from quem.io.columns import CodedColumn, column_of
from quem.io.tables import SourceTable, repeats
from quem.io.text import shown
from quem.retrieval.lists import CaseLists
from quem.retrieval.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from quem.retrieval.bases import CaseBase

By = Literal["median", "mean", "mode"]


@dataclass(frozen=True)
class JudgeGrades:
    """What each judge said about each candidate, in flat arrays."""

    name: str  # the file or the study, as the user named it
    title: str  # whose grades they are, for reports
    # The ids that places stand for
    judges: tuple[str, ...]
    queries: tuple[str, ...]
    cases: tuple[str, ...]
    # Of shape (n,): places of each grade. No judge grades a candidate twice. The judge -1 is none
    # of them: a grade that holds whoever is on a panel.
    query: NDArray[np.int64]
    case: NDArray[np.int64]
    judge: NDArray[np.int64]
    grade: NDArray[np.float64]  # of shape (n,): finite
    # How the consensus is made. With two middle grades the median is the lower one, and with two
    # that are equally frequent, the mode.
    by: By = "median"
    # From a grade and the name of a column to where that is, for messages.
    place: Callable[[int, str], Mistake] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """Grades candidate by candidate, the lowest first."""
        return np.lexsort((self.grade, self.case, self.query))

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        """Where in `_order` each candidate starts."""
        query, case = self.query[self._order], self.case[self._order]
        new = np.ones(len(query), dtype=bool)
        new[1:] = (np.diff(query) != 0) | (np.diff(case) != 0)
        return np.flatnonzero(new)

    @property
    def graded_by(self) -> NDArray[np.int64]:
        """How many judges graded each candidate, shape (candidates,)."""
        return np.diff(np.append(self._starts, len(self._order)))

    def consensus(self, weights: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Give the consensus on each candidate, shape (candidates,).

        Shapes: `weights` (judges,), optional.
        """
        if not len(self._order):
            return np.empty(0)
        starts, sizes = self._starts, self.graded_by
        grade, judge = self.grade[self._order], self.judge[self._order]
        # The last weight is of no judge.
        weight = np.ones(len(judge)) if weights is None else np.append(weights, 0.0)[judge]
        # Who has judged a candidate, where none of them is on the panel.
        alone = np.repeat(np.add.reduceat(weight, starts) == 0, sizes)
        weight[alone] = 1
        total = np.add.reduceat(weight, starts)
        if self.by == "mean":
            return np.asarray(np.add.reduceat(weight * grade, starts) / total)
        if self.by == "mode":
            return self._most_frequent(grade, weight)
        reached = np.cumsum(weight)
        reached -= np.repeat(reached[starts] - weight[starts], sizes)
        middle = 2 * reached >= np.repeat(total, sizes)
        at = np.where(middle, np.arange(len(grade)), len(grade))
        return np.asarray(grade[np.minimum.reduceat(at, starts)])

    def _most_frequent(
        self, grade: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Give the grade of the most weight of each candidate, the lowest of equal ones."""
        new = np.ones(len(grade), dtype=bool)
        new[1:] = np.diff(grade) != 0
        new[self._starts] = True
        first = np.flatnonzero(new)
        votes = np.add.reduceat(weight, first)
        starts = np.searchsorted(first, self._starts)
        most = np.maximum.reduceat(votes, starts)
        sizes = np.diff(np.append(starts, len(first)))
        at = np.where(votes == np.repeat(most, sizes), np.arange(len(first)), len(first))
        return np.asarray(grade[first[np.minimum.reduceat(at, starts)]])

    def lists(
        self, queries: CaseBase, cases: CaseBase, weights: NDArray[np.int64] | None = None
    ) -> CaseLists:
        """Give the consensus as a ground truth; what `queries` and `cases` lack takes no part.

        Shapes: `weights` (judges,), optional.
        """
        first = self._order[self._starts]
        return self._listed(first, self.consensus(weights), queries, cases)

    def agreement(
        self, judge: int, queries: CaseBase, cases: CaseBase
    ) -> tuple[CaseLists, CaseLists]:
        """Give the grades of one judge, and the consensus of the others on the same candidates."""
        weights = np.ones(len(self.judges), dtype=np.int64)
        weights[judge] = 0
        own = self.judge[self._order] == judge
        graded = np.add.reduceat(own, self._starts) if len(own) else np.empty(0)
        shared = (graded > 0) & (self.graded_by > 1)
        first = self._order[self._starts][shared]
        others = self._listed(first, self.consensus(weights)[shared], queries, cases)
        rows = self._order[own & np.repeat(shared, self.graded_by)]
        return self._listed(rows, self.grade[rows], queries, cases), others

    def _listed(
        self,
        rows: NDArray[np.intp],
        grade: NDArray[np.float64],
        queries: CaseBase,
        cases: CaseBase,
    ) -> CaseLists:
        places_q = np.array([queries.index.get(name, -1) for name in self.queries], dtype=np.int64)
        places_c = np.array([cases.index.get(name, -1) for name in self.cases], dtype=np.int64)
        query, case = places_q[self.query[rows]], places_c[self.case[rows]]
        known = (query >= 0) & (case >= 0)
        query, case, grade = query[known], case[known], grade[known]
        order = np.lexsort((-grade, query))
        sizes = np.bincount(query, minlength=len(queries))
        return CaseLists(
            queries.ids,
            cases.ids,
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            case[order].astype(np.int32),
            grade[order],
        )

    def stored(self) -> Stored:
        """Give the consensus as the rows of a file, each at the place of its first grade."""
        first = self._order[self._starts]
        place = self.place

        def place_of(row: int, column: str) -> Mistake:
            return Mistake(self.name) if place is None else place(int(first[row]), column)

        columns = {
            "query": CodedColumn(self.query[first], self.queries),
            "case": CodedColumn(self.case[first], self.cases),
        }
        table: SourceTable[str] = SourceTable(self.name, columns, place_of)
        return Stored(table, self.consensus(), np.full(len(first), np.nan), scored=True)


def grades_of_rows(
    name: str, title: str, rows: Iterable[tuple[str, str, str, float]], *, by: By = "median"
) -> JudgeGrades:
    """Take grades that no file holds, such as those of a judging session."""
    *columns, said_by, grades = zip(*rows, strict=True)
    (query, queries), (case, cases) = (_compact(column_of(map(str, column))) for column in columns)
    judges = tuple(dict.fromkeys(filter(None, said_by)))
    place = {name: at for at, name in enumerate(judges)}
    judge = np.array([place.get(name, -1) for name in said_by], dtype=np.int64)
    grade = np.array(grades, dtype=float)
    return JudgeGrades(name, title, judges, queries, cases, query, case, judge, grade, by)


def grades_of(stored: Stored, title: str = "", *, by: By = "median") -> JudgeGrades:
    """Make the grades of judges of the rows of a file."""
    table = stored.table
    columns = [table.columns[name] for name in ("query", "case", "judge")]
    codes, names = zip(*map(_compact, columns), strict=True)
    query, case, judge = codes
    mistakes = []
    for row, first in repeats((query * len(names[1]) + case) * len(names[2]) + judge)[0]:
        message = (
            f"duplicate: the judge {shown(names[2][judge[row]])} has already graded the case "
            f"{shown(names[1][case[row]])} for the query {shown(names[0][query[row]])} on line "
            f"{table.place(first, 'case').line}; keep one of the lines"
        )
        mistakes.append(table.mistake(row, "case", message))
    if mistakes:
        raise QuemError(mistakes)
    return JudgeGrades(
        table.name,
        title or table.name,
        names[2],
        names[0],
        names[1],
        query,
        case,
        judge,
        stored.value,
        by,
        table.place,
    )


def _compact(column: CodedColumn[str]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Number the ids that a column has, in the order in which they appear."""
    used = list(dict.fromkeys(column.codes.tolist()))
    place = np.zeros(len(column.values), dtype=np.int64)
    place[used] = np.arange(len(used))
    return place[column.codes], tuple(column.values[code] for code in used)
