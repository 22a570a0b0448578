"""Runs matched with judgments: where each list has which judged case."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from quem.errors import Mistake, QuemError
from quem.lists.lists import Lists, Names, best_first, in_32_bits
from quem.lists.ragged import Ragged
from quem.scores.columns import Columns, paired

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.lists.lists import Ties
    from quem.scores.columns import Floats, Integers, Keys

# Rows that are matched or scored at once: what is computed from them stays in the processor's
# cache, and memory does not grow with the run.
_AT_ONCE = 1 << 17
_BITS = 20
_REST = np.uint64(64 - _BITS)


@dataclass(frozen=True)
class Truth:
    """Grades of the judged cases, best first in each query."""

    rows: Ragged
    value: Floats  # of shape (m,)
    relevance: Floats  # of shape (m,): what decides whether a case is relevant
    item: NDArray[np.intp]  # of shape (m,): which judged case each is
    place: NDArray[np.intp]  # of shape (judged cases + 1,): where each is here, or -1; last, -1

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Which queries have no graded case."""
        return self.rows.sizes == 0


@dataclass(frozen=True)
class Judgments:
    """The judged cases of each query, and how each judge graded them."""

    columns: Columns
    ties: Ties
    queries: list[str]
    rows: Ragged  # the judged cases, query after query
    row: NDArray[np.intp]  # of shape (m,): where `columns` has each first
    grades: Floats  # of shape (judges, m): NaN where a judge did not grade a case

    @classmethod
    def of(cls, columns: Columns, ties: Ties = "expected") -> Judgments:
        """Read judgments out of columns.

        Raises
        ------
        QuemError
            A judge graded a case twice.
        """
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
        """Their names; none where it is not told who judged."""
        return self.columns.judges

    @cached_property
    def truth(self) -> Truth:
        """The mean grades; relevant is what a majority of judges grades so."""
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
    def pairs(self) -> Keys:
        """The keys of queries and cases, shape (m,)."""
        return paired(self.columns.key[self.row], self.rows.row)

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
        names = Names(self.row[item], self._names)
        order = best_first(rows, value, self.ties, names)
        if order is not None:
            item, value, relevance = item[order], value[order], relevance[order]
        place = np.full(self.rows.total + 1, -1, dtype=np.intp)
        place[item] = np.arange(len(item))
        return Truth(rows, value, value if len(grades) == 1 else relevance, item, place)

    def _names(self, rows: NDArray[np.intp]) -> list[object]:
        return list(self.columns.names(rows))

    def lists(
        self, truth: Truth, run: Ragged, score: Floats, found: Integers, names: Names | None = None
    ) -> Lists:
        """Lists beside a truth; `found` says which judged case each listed item is, or -1."""
        return Lists(
            run,
            truth.rows,
            score,
            truth.place[found],
            truth.value,
            true_relevance=truth.relevance,
            queries=list(self.queries),
            all_orders=self.ties == "expected",
            names=names,
            true_names=Names(self.row[truth.item], self._names),
        )


def _cases(columns: Columns) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first row of each judged case of a query, and which of them each row is about."""
    if columns.judge is None:
        every = np.arange(len(columns), dtype=np.intp)
        return every, every
    pairs = paired(columns.key, columns.query)
    _, first, case = np.unique(pairs, return_index=True, return_inverse=True)
    own = first[case]
    same = columns.cases.same(columns.cases.only(own)) & (columns.query == columns.query[own])
    if not same.all():
        # Two cases have one hash.
        known: dict[tuple[int, bytes], int] = {}
        every = [(q, columns.cases.bytes(row)) for row, q in enumerate(columns.query.tolist())]
        case = np.array([known.setdefault(one, len(known)) for one in every], np.intp)
        first = np.unique(case, return_index=True)[1]
    return first, case


def _majority(grades: Floats) -> Floats:
    """The highest grade that more than half of the judges of a case give, or exceed."""
    count = (~np.isnan(grades)).sum(axis=0)
    highest_first: Floats = -np.sort(-grades, axis=0)
    majority: Floats = np.take_along_axis(highest_first, (count // 2)[np.newaxis], axis=0)[0]
    return majority


@dataclass(frozen=True)
class Matched:
    """The lists of a run for the queries of judgments, best first."""

    columns: Columns
    judgments: Judgments
    rows: Ragged
    score: Floats  # of shape (n,)
    found: NDArray[np.int32]  # of shape (n,): which judged case each item is, or -1
    row: NDArray[np.int32]  # of shape (n,): where `columns` has each
    missing: int  # how many queries of the judgments the run lacks

    def lists(self, truth: Truth | None = None) -> Lists:
        """The lists of all queries beside the mean grades, or another truth."""
        names = Names(self.row, self._names)
        truth = self.judgments.truth if truth is None else truth
        return self.judgments.lists(truth, self.rows, self.score, self.found, names)

    def parts(self, truth: Truth) -> Iterator[tuple[slice, Lists]]:
        """The same lists, some queries at a time."""
        for start, end in _parts(self.rows.sizes):
            part = slice(start, end)
            own, true = _cells(self.rows, part), _cells(truth.rows, part)
            found = truth.place[self.found[own]]
            found[found >= 0] -= true.start
            yield (
                part,
                Lists(
                    Ragged(self.rows.sizes[part]),
                    Ragged(truth.rows.sizes[part]),
                    self.score[own],
                    found,
                    truth.value[true],
                    true_relevance=(
                        None if truth.relevance is truth.value else truth.relevance[true]
                    ),
                    queries=list(self.judgments.queries[part]),
                    scored=np.full(end - start, self.columns.scored),
                    all_orders=self.judgments.ties == "expected",
                    names=Names(self.row[own], self._names),
                    true_names=Names(
                        self.judgments.row[truth.item[true]],
                        lambda rows: list(self.judgments.columns.names(rows)),
                    ),
                ),
            )

    @property
    def key(self) -> Keys:
        """The hash of each listed case, shape (n,)."""
        return self.columns.key[self.row]

    def _names(self, rows: NDArray[np.intp]) -> list[object]:
        return list(self.columns.names(rows))


def _parts(sizes: Integers) -> Iterator[tuple[int, int]]:
    """Queries, as many at a time as have not too many items."""
    items = np.cumsum(sizes)
    ends = np.searchsorted(items, np.arange(_AT_ONCE, items[-1], _AT_ONCE)) + 1
    return pairwise(np.unique([0, *ends.tolist(), len(sizes)]).tolist())


def _cells(rows: Ragged, part: slice) -> slice:
    """Where the cells of some rows are."""
    last = part.stop - 1
    return slice(int(rows.starts[part.start]), int(rows.starts[last] + rows.sizes[last]))


def match(run: Columns, judgments: Judgments) -> Matched:
    """Order a run, and find its cases in the judgments.

    Raises
    ------
    QuemError
        A case is twice in a list, or the run has none of the queries.
    """
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
    query = to[run.query]
    rows = Ragged(np.bincount(query, minlength=n + 1)[:n].astype(np.intp))
    row = np.arange(rows.total, dtype=np.int32)
    if (query[1:] < query[:-1]).any():
        row = np.argsort(query, kind="stable")[: rows.total].astype(np.int32)
    score, found = run.value[row], np.empty(rows.total, np.int32)
    if judgments.ties == "trec":
        score = in_32_bits(score)
    for start, end in _parts(rows.sizes):
        part = slice(start, end)
        own = _cells(rows, part)
        names = Names(row[own], lambda at: list(run.names(at)))
        best = best_first(Ragged(rows.sizes[part]), score[own], judgments.ties, names)
        if best is not None:
            row[own], score[own] = row[own][best], score[own][best]
        found[own] = _found(run, row[own], query[row[own]], judgments, part)
    return Matched(run, judgments, rows, score, found, row, missing)


def _found(
    run: Columns, row: NDArray[np.intp], query: Integers, judgments: Judgments, part: slice
) -> NDArray[np.intp]:
    """Which judged case each row is about, or -1: by hashes, and then by their bytes."""
    cells = _cells(judgments.rows, part)
    found = np.full(len(row), -1, dtype=np.intp)
    wanted = paired(run.key[row], query)
    ordered = np.sort(wanted)
    if (ordered[1:] == ordered[:-1]).any():
        run.check_once()
    pairs = judgments.pairs[cells]
    order = np.argsort(pairs, kind="stable")
    ordered = np.append(pairs[order], np.uint64(0))
    # Most listed cases are not judged: they end here, at a table of the first bits.
    there = np.zeros(1 << _BITS, bool)
    there[(pairs >> _REST).astype(np.intp)] = True
    open_ = np.flatnonzero(there[(wanted >> _REST).astype(np.intp)])
    at = np.zeros(len(row), np.intp)
    at[open_] = np.searchsorted(ordered[:-1], wanted[open_])
    # Several judged cases can have one hash.
    open_ = open_[(ordered[at[open_]] == wanted[open_]) & (at[open_] < len(order))]
    while len(open_):
        case = order[at[open_]] + cells.start
        theirs = judgments.columns.cases.only(judgments.row[case])
        same = run.cases.only(row[open_]).same(theirs)
        same &= judgments.rows.row[case] == query[open_]
        found[open_[same]] = case[same]
        open_ = open_[~same]
        at[open_] += 1
        open_ = open_[(ordered[at[open_]] == wanted[open_]) & (at[open_] < len(order))]
    return found
