"""Relevance judgments as a table with one column per candidate of a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError
from quem.io.tables import MOST_NAMED
from quem.io.text import nearest, shown
from quem.studyfile.relevance import GRADE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from quem.scores.columns import Columns
    from quem.store.exporting import SubmittedRanking

    Floats = NDArray[np.float64]
    Pair = tuple[str, str]


@dataclass(frozen=True)
class Judgments:
    """The grades of each judge."""

    judges: tuple[str, ...]
    pairs: tuple[Pair, ...]  # query and case of each candidate, query by query
    first: Floats  # of shape (judges, pairs): NaN where missing
    again: Floats  # of shape (judges, pairs): grades on repeat tasks
    n_cannot: NDArray[np.int64]  # of shape (judges,): candidates that a judge could not judge

    @property
    def queries(self) -> tuple[str, ...]:
        """The distinct queries in order."""
        return tuple(dict.fromkeys(query for query, _ in self.pairs))

    @property
    def query(self) -> NDArray[np.int64]:
        """The index of each candidate's query, shape (pairs,)."""
        place = {name: at for at, name in enumerate(self.queries)}
        return np.array([place[query] for query, _ in self.pairs], dtype=np.int64)

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of judges of each candidate, shape (pairs,)."""
        return np.asarray((~np.isnan(self.first)).sum(axis=0), dtype=np.int64)

    def rows(self) -> Iterator[tuple[str, str, str, float]]:
        """Query, case, judge, and grade of each judgment, without repeats."""
        for at, judge in np.argwhere(~np.isnan(self.first.T)).tolist():
            yield (*self.pairs[at], self.judges[judge], float(self.first[judge, at]))


def _by_query(pairs: Collection[Pair]) -> tuple[Pair, ...]:
    """The distinct candidates, grouped by query."""
    place = {query: at for at, query in enumerate(dict.fromkeys(query for query, _ in pairs))}
    return tuple(sorted(dict.fromkeys(pairs), key=lambda pair: place[pair[0]]))


def judgments_of_session(
    rankings: Sequence[SubmittedRanking], judges: Sequence[str], names: Mapping[Pair, Pair]
) -> Judgments:
    """The submitted judgments; `names` has query and case of each problem and solution."""
    there = {one.judge for one in rankings}
    own = tuple(judge for judge in judges if judge in there)
    pairs = _by_query(names.values())
    place = {pair: at for at, pair in enumerate(pairs)}
    row = {judge: at for at, judge in enumerate(own)}
    first, again = np.full((2, len(own), len(pairs)), np.nan)
    n_cannot = np.zeros(len(own), dtype=np.int64)
    for one in rankings:
        if one.judge not in row:
            continue
        judge, is_first = row[one.judge], one.occasion == 1
        given = one.state.answers.get(GRADE, {})
        placed = {solver for group in one.state.ranked for solver in group}
        for solver in one.state.ranks():
            at = place.get(names.get((one.problem, solver), ("", "")))
            if at is None:
                continue
            if solver in given and solver in placed:
                (first if is_first else again)[judge, at] = float(given[solver])
            n_cannot[judge] += is_first and solver in one.state.cannot
    return Judgments(own, pairs, first, again, n_cannot)


def graded_pairs(columns: Columns, n_grades: int | None = None) -> list[Pair]:
    """The distinct query and case of each judgment, which must have whole grades."""
    grade = columns.value
    wrong, wanted = grade % 1 != 0, "a whole number"
    if n_grades is not None:
        wrong |= (grade < 0) | (grade >= n_grades)
        wanted += f" from 0 to {n_grades - 1}"
    _refuse(
        columns, {at: f"{grade[at]:g} is not {wanted}" for at in np.flatnonzero(wrong).tolist()}
    )
    columns.check_once()
    queries = [columns.queries[at] for at in columns.query.tolist()]
    return list(zip(queries, columns.names(np.arange(len(columns))), strict=True))


def judgments_of_table(columns: Columns, n_grades: int, known: Collection[Pair] = ()) -> Judgments:
    """A table of judgments; `known` are the candidates, if the study has any."""
    if columns.judge is None:
        message = "has no column of judges; name it judge"
        raise QuemError(Mistake(columns.source, message=message))
    pairs = graded_pairs(columns, n_grades)
    candidates = dict.fromkeys(known)
    strange = {}
    for at, (query, case) in enumerate(pairs):
        if candidates and (query, case) not in candidates:
            near = nearest(case, [own for of, own in candidates if of == query])
            strange[at] = f"{shown(case)} is not a candidate of {shown(query)}{near}"
    _refuse(columns, strange, key="case")
    ordered = _by_query(candidates or pairs)
    place = {pair: at for at, pair in enumerate(ordered)}
    first = np.full((len(columns.judges), len(ordered)), np.nan)
    first[columns.judge, [place[pair] for pair in pairs]] = columns.value
    nothing = np.full_like(first, np.nan)
    return Judgments(columns.judges, ordered, first, nothing, np.zeros(len(first), dtype=np.int64))


def _refuse(columns: Columns, wrong: Mapping[int, str], key: str = "grade") -> None:
    """Refuse rows, each with a message."""
    if wrong:
        raise QuemError(
            Mistake(columns.source, columns.line(at), key=key, message=message)
            for at, message in list(wrong.items())[:MOST_NAMED]
        )
