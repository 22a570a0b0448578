"""Matching runs with judgments: the judged case of each listed item."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.errors import Mistake, QuemError
from quem.lists.lists import Lists, Names, Ties, best_first, in_32_bits
from quem.lists.ragged import Ragged
from quem.scores.columns import Columns, Tokens, paired

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.scores.columns import Floats, Integers, Keys
    from quem.scores.read import Find

_BITS = 22
_REST = np.uint64(64 - _BITS)
_OF_QUERY, _REST_OF_QUERY = np.uint64(24), np.uint64(40)


@dataclass(frozen=True)
class Truth:
    """Grades of the judged cases, best first in each query."""

    rows: Ragged
    value: Floats  # of shape (m,)
    relevance: Floats  # of shape (m,): grades that decide relevance
    item: NDArray[np.intp]  # of shape (m,): index of each judged case
    place: NDArray[np.int32]  # of shape (judged cases + 1,): inverse of `item`, or -1; last, -1

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Which queries have no graded case."""
        empty: NDArray[np.bool_] = self.rows.sizes == 0
        return empty


@dataclass(frozen=True)
class Judgments:
    """The judged cases of each query, with the grades of each judge."""

    columns: Columns
    ties: Ties
    queries: list[str]
    rows: Ragged  # the judged cases, query after query
    row: NDArray[np.intp]  # of shape (m,): first row of each in `columns`
    grades: Floats  # of shape (judges, m): NaN where missing

    @classmethod
    def of(cls, columns: Columns, ties: Ties = "expected") -> Judgments:
        """Read judgments from columns."""
        columns.check_once()
        first, case = _cases(columns)
        by_query = np.argsort(columns.query[first], kind="stable")
        number = np.empty(len(first), np.intp)
        number[by_query] = np.arange(len(first))
        grades = np.full((max(len(columns.judges), 1), len(first)), np.nan)
        judge = 0 if columns.judge is None else columns.judge
        grades[judge, number[case]] = columns.value
        row = first[by_query]
        sizes = np.bincount(columns.query[row], minlength=len(columns.queries)).astype(np.intp)
        return cls(columns, ties, columns.queries, Ragged(sizes), row, grades)

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of the judges; empty where unknown."""
        return self.columns.judges

    @cached_property
    def truth(self) -> Truth:
        """The mean grades; a case is relevant by majority of its judges."""
        return self._truth(self.grades)

    def of_judge(self, judge: int) -> Truth:
        """The grades of one judge."""
        return self._truth(self.grades[[judge]])

    def without_judge(self, judge: int) -> Truth:
        """The mean grades of the other judges."""
        return self._truth(np.delete(self.grades, judge, axis=0))

    @cached_property
    def majority(self) -> Floats:
        """The grade that most judges of each case reach, shape (m,)."""
        return _majority(self.grades)

    @cached_property
    def _index(self) -> tuple[Keys, NDArray[np.intp], NDArray[np.bool_]]:
        """Sorted queries and keys of judged cases, the case of each, and the keys' first bits.

        Sorted by query for locality of lookups.
        """
        key = self.columns.key[self.row]
        pairs = _pairs(key, self.rows.row)
        order = np.argsort(pairs, kind="stable")
        bits = np.zeros(1 << _BITS, bool)
        bits[(key >> _REST).view(np.int64)] = True
        return np.append(pairs[order], np.uint64(0)), order, bits

    def finder(self) -> Find:
        """A lookup of the judged case of each row of a run, block by block, or -1."""
        ordered, order, bits = self._index
        place = {name: at for at, name in enumerate(self.queries)}
        to: list[int] = []

        def find(
            queries: list[str], query: Integers, key: Keys, cases: Tokens
        ) -> NDArray[np.int32]:
            found = np.full(len(key), -1, dtype=np.int32)
            if not len(key):
                return found
            to.extend(place.get(name, len(place)) for name in queries[len(to) :])
            first, last = int(query.min()), int(query.max())
            true_query = np.array(to[first : last + 1])[query - first]
            # Most listed cases are not judged, which is decided here.
            row = np.flatnonzero(bits[(key >> _REST).view(np.int64)])
            wanted = _pairs(key[row], true_query[row])
            at = np.searchsorted(ordered[:-1], wanted)
            while len(row):
                equal = (ordered[at] == wanted) & (at < len(order))
                row, at, wanted = row[equal], at[equal], wanted[equal]
                case = order[at]
                theirs = self.columns.tokens.only(self.row[case])
                same = cases.only(row).same(theirs) & (self.rows.row[case] == true_query[row])
                found[row[same]] = case[same]
                # Several judged cases can have one hash.
                row, at, wanted = row[~same], at[~same] + 1, wanted[~same]
            return found

        return find

    def only(self, queries: NDArray[np.bool_]) -> Judgments:
        """The judgments of some queries."""
        cells = queries[self.rows.row]
        return replace(
            self,
            queries=[name for name, kept in zip(self.queries, queries, strict=True) if kept],
            rows=Ragged(self.rows.sizes[queries]),
            row=self.row[cells],
            grades=self.grades[:, cells],
        )

    def _truth(self, grades: Floats) -> Truth:
        item = np.flatnonzero(~np.isnan(grades).all(axis=0))
        if len(grades) == 1:
            value = relevance = grades[0, item]
        else:
            value = np.nanmean(grades[:, item], axis=0)
            relevance = _majority(grades[:, item])
        rows = self.rows if len(item) == self.rows.total else self.rows.only(item)
        names = Names(self.row[item], self.columns.names)
        order = best_first(rows, value, self.ties, names)
        if order is not None:
            item, value, relevance = item[order], value[order], relevance[order]
        place = np.full(self.rows.total + 1, -1, dtype=np.int32)
        place[item] = np.arange(len(item))
        return Truth(rows, value, value if len(grades) == 1 else relevance, item, place)

    def lists(
        self,
        truth: Truth,
        run: Ragged,
        score: Floats,
        found: Integers,
        *,
        names: Names | None = None,
        scored: bool = True,
    ) -> Lists:
        """Lists with a truth; `found` is the judged case of each listed item, or -1."""
        return Lists(
            run,
            truth.rows,
            score,
            truth.place[found],
            truth.value,
            truth.relevance,
            self.queries,
            scored=np.full(len(run), scored),
            all_orders=self.ties == "expected",
            names=names,
            true_names=Names(self.row[truth.item], self.columns.names),
        )


def _pairs(key: Keys, query: Integers) -> Keys:
    """Keys of the query number followed by bits of the case's key."""
    return (query.astype(np.uint64) << _REST_OF_QUERY) | (key >> _OF_QUERY)


def _cases(columns: Columns) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first row of each judged case of a query, and the case of each row."""
    if columns.judge is None:
        every = np.arange(len(columns), dtype=np.intp)
        return every, every
    pairs = paired(columns.key, columns.query)
    _, first, case = np.unique(pairs, return_index=True, return_inverse=True)
    own = first[case]
    same = columns.tokens.same(columns.tokens.only(own)) & (columns.query == columns.query[own])
    if not same.all():
        # A hash collision.
        known: dict[tuple[int, bytes], int] = {}
        pair = ((q, columns.tokens.bytes(row)) for row, q in enumerate(columns.query.tolist()))
        case = np.array([known.setdefault(one, len(known)) for one in pair], np.intp)
        first = np.unique(case, return_index=True)[1]
    return first, case


def _majority(grades: Floats) -> Floats:
    """The highest grade that more than half of the judges of a case reach."""
    if len(grades) == 1:
        alone: Floats = grades[0]
        return alone
    count = (~np.isnan(grades)).sum(axis=0)
    highest_first: Floats = -np.sort(-grades, axis=0)
    majority: Floats = np.take_along_axis(highest_first, (count // 2)[np.newaxis], axis=0)[0]
    return majority


@dataclass(frozen=True)
class Matched:
    """The lists of a run for the queries of judgments, best first."""

    judgments: Judgments
    rows: Ragged
    score: Floats  # of shape (n,)
    found: NDArray[np.int32]  # of shape (n,): judged case of each item, or -1
    key: Keys  # of shape (n,): hash of each case
    row: NDArray[np.int32] | None  # of shape (n,): row of each in the run, if reordered
    names: Callable[[NDArray[np.integer[Any]]], list[str]]  # cases of rows of the run
    scored: bool  # whether scores are given, and not only the order
    missing: int  # number of judged queries that the run lacks

    def lists(self, truth: Truth | None = None) -> Lists:
        """The lists with the mean grades, or another truth."""
        names = Names(_rows(self.row, slice(self.rows.total)), self.names)
        truth = self.judgments.truth if truth is None else truth
        return self.judgments.lists(
            truth, self.rows, self.score, self.found, names=names, scored=self.scored
        )


def _rows(row: NDArray[np.int32] | None, cells: slice) -> NDArray[np.integer[Any]]:
    if row is not None:
        return row[cells]
    return np.arange(cells.start or 0, cells.stop, dtype=np.int32)


def _queries(run: Columns, judgments: Judgments) -> tuple[NDArray[np.int32], int]:
    """The index of each query of a run in the judgments, or their number; and how many it lacks."""
    n = len(judgments.queries)
    place = {name: at for at, name in enumerate(judgments.queries)}
    to = np.array([place.get(name, n) for name in run.queries], np.int32)
    missing = n - len(set(to.tolist()) - {n})
    if missing == n:
        message = (
            "has none of the queries of the judgments, such as "
            f"{judgments.queries[0]!r}; it has {run.queries[0]!r}"
        )
        raise QuemError(Mistake(run.source, message=message))
    return to, missing


def match(run: Columns, judgments: Judgments) -> Matched:
    """Sort a run, and find its cases in the judgments."""
    n = len(judgments.queries)
    to, missing = _queries(run, judgments)
    query = to[run.query]
    rows = Ragged(np.bincount(query, minlength=n + 1)[:n].astype(np.intp))
    found = run.found
    if found is None:
        found = judgments.finder()(run.queries, run.query, run.key, run.tokens)
    row = None
    chosen: slice | NDArray[np.int32] = slice(rows.total)
    if (query[1:] < query[:-1]).any():
        chosen = row = np.argsort(query, kind="stable")[: rows.total].astype(np.int32)
    score, key, found = run.value[chosen], run.key[chosen], found[chosen]
    if judgments.ties == "trec":
        score = in_32_bits(score)
    shared = True
    for part in rows.parts():
        own = rows.cells(part)
        own_row = _rows(row, own)
        pairs = np.sort(_pairs(key[own], query[own_row]))
        if (pairs[1:] == pairs[:-1]).any():
            run.check_once()
        names = Names(own_row, run.names)
        best = best_first(Ragged(rows.sizes[part]), score[own], judgments.ties, names)
        if best is not None:
            if shared:
                score, key, found, shared = score.copy(), key.copy(), found.copy(), False
            if row is None:
                row = np.arange(rows.total, dtype=np.int32)
            for array in (row, score, key, found):
                array[own] = array[own][best]
    return Matched(judgments, rows, score, found, key, row, run.name_reader(), run.scored, missing)
