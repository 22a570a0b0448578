"""What judges said of candidates, as a table with a column for each candidate of a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from quem.errors import Mistake, QuemError
from quem.io.tables import MOST_NAMED, read_table, repeats
from quem.io.text import nearest, shown
from quem.studyfile.relevance import GRADE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from quem.store.exporting import SubmittedRanking

    Floats = NDArray[np.float64]
    Pair = tuple[str, str]

_FIELDS = {
    "query": ("query", "query_id", "qid", "topic"),
    "case": ("case", "case_id", "docno", "docid", "doc_id", "document"),
    "judge": ("judge", "judge_id", "assessor"),
    "grade": ("grade", "relevance", "rel"),
}


@dataclass(frozen=True)
class Judgments:
    """Grades, or ranks within a query."""

    judges: tuple[str, ...]
    pairs: tuple[Pair, ...]  # query and case of each candidate, query by query
    # Of shape (judges, pairs): what each judge said; of ranks, tied ones have their mean, and 1 is
    # the worst. NaN where they said nothing.
    first: Floats
    again: Floats  # of shape (judges, pairs): what they said when the query came a second time
    n_cannot: NDArray[np.int64]  # of shape (judges,): how many candidates each could not judge

    @property
    def queries(self) -> tuple[str, ...]:
        """Each query once, in order."""
        return tuple(dict.fromkeys(query for query, _ in self.pairs))

    @property
    def query(self) -> NDArray[np.int64]:
        """The place of each candidate's query, shape (pairs,)."""
        place = {name: at for at, name in enumerate(self.queries)}
        return np.array([place[query] for query, _ in self.pairs], dtype=np.int64)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many judges each candidate has, shape (pairs,)."""
        return np.asarray((~np.isnan(self.first)).sum(axis=0), dtype=np.int64)

    def rows(self) -> Iterator[tuple[str, str, str, float]]:
        """Give query, case, judge, and grade of each judgment, without repeats."""
        for at, judge in np.argwhere(~np.isnan(self.first.T)).tolist():
            yield (*self.pairs[at], self.judges[judge], float(self.first[judge, at]))

    def cube(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], Floats]:
        """Give judges, queries, cases, and what was said, shape (judges, queries, cases)."""
        cases = tuple(dict.fromkeys(case for _, case in self.pairs))
        place = {case: at for at, case in enumerate(cases)}
        said = np.full((len(self.judges), len(self.queries), len(cases)), np.nan)
        said[:, self.query, [place[case] for _, case in self.pairs]] = self.first
        return self.judges, self.queries, cases, said


def _by_query(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Put the candidates of a query beside each other, each once."""
    groups: dict[str, dict[Pair, None]] = {}
    for pair in pairs:
        groups.setdefault(pair[0], {})[pair] = None
    return tuple(pair for group in groups.values() for pair in group)


def judgments_of_session(
    rankings: Sequence[SubmittedRanking],
    judges: Sequence[str],
    names: Mapping[Pair, Pair],
    *,
    graded: bool,
) -> Judgments:
    """Take judgments out of what judges submitted."""
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
        known = {
            solver: place[names[one.problem, solver]]
            for solver in one.state.ranks()
            if (one.problem, solver) in names
        }
        said = _grades(one) if graded else _ranks(one)
        table = first if one.occasion == 1 else again
        for solver, at in known.items():
            if solver in said:
                table[row[one.judge], at] = said[solver]
        if one.occasion == 1:
            n_cannot[row[one.judge]] += len(known.keys() & one.state.cannot.keys())
    return Judgments(own, pairs, first, again, n_cannot)


def _grades(one: SubmittedRanking) -> dict[str, float]:
    given = one.state.answers.get(GRADE, {})
    placed = {solver for group in one.state.ranked for solver in group}
    return {solver: float(grade) for solver, grade in given.items() if solver in placed}


def _ranks(one: SubmittedRanking) -> dict[str, float]:
    ranks = {solver: rank for solver, rank in one.state.ranks().items() if rank is not None}
    return dict(zip(ranks, rankdata(list(ranks.values())).tolist(), strict=True))


def read_judgments(path: Path, name: str, n_grades: int, known: Iterable[Pair] = ()) -> Judgments:
    """Read a table with the columns query, case, judge, and grade."""
    table = read_table(
        path, name, what="table of judgments", fields=_FIELDS, required=tuple(_FIELDS)
    )
    mistakes: list[Mistake] = []
    table.lacking(tuple(_FIELDS), mistakes)
    if not len(table):
        mistakes.append(Mistake(name, message="holds no judgment below the header"))
    if mistakes:
        raise QuemError(mistakes[:MOST_NAMED])
    text = {field: list(map(str, column.cells())) for field, column in table.columns.items()}
    pairs = list(zip(text["query"], text["case"], strict=True))
    candidates = dict.fromkeys(known)
    values = np.full(len(pairs), np.nan)
    for at, (grade, pair) in enumerate(zip(text["grade"], pairs, strict=True)):
        value = _value(grade, n_grades)
        if value is None:
            wanted = f"a whole number from 0 to {n_grades - 1}" if n_grades else "a rank from 1"
            message = f"{shown(grade)} is not {wanted}"
            mistakes.append(table.mistake(at, "grade", message))
            continue
        values[at] = value
        if candidates and pair not in candidates:
            cases = [case for query, case in candidates if query == pair[0]]
            message = f"{shown(pair[1])} is not a candidate of {shown(pair[0])}"
            mistakes.append(table.mistake(at, "case", f"{message}{nearest(pair[1], cases)}"))
    judges = tuple(dict.fromkeys(text["judge"]))
    ordered = _by_query(candidates or pairs)
    place = {pair: at for at, pair in enumerate(ordered)}
    row = {judge: at for at, judge in enumerate(judges)}
    if not mistakes:
        cells = np.array(
            [row[j] * len(ordered) + place[p] for j, p in zip(text["judge"], pairs, strict=True)],
            dtype=np.int64,
        )
        for at, before in repeats(cells)[0]:
            line = table.place(before, "case").line
            message = f"{text['judge'][at]} judged it on line {line} already; keep one"
            mistakes.append(table.mistake(at, "case", message))
    if mistakes:
        raise QuemError(mistakes[:MOST_NAMED])
    first = np.full((len(judges), len(ordered)), np.nan)
    first.flat[cells] = values
    nothing = np.full_like(first, np.nan)
    return Judgments(judges, ordered, first, nothing, np.zeros(len(judges), dtype=np.int64))


def _value(text: str, n_grades: int) -> float | None:
    """The grade or rank that a cell holds; None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    if n_grades:
        return value if value.is_integer() and 0 <= value < n_grades else None
    return value if 1 <= value < np.inf else None
