"""Lists and their ground truth as arrays, the input of every measure."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args

import numpy as np

from quem.errors import QuemError, refuse
from quem.lists.ragged import Places, Ragged, sum_by, tied_places

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

Ties = Literal["expected", "given", "trec"]
TIES: tuple[str, ...] = get_args(Ties)
_FORMER = {"id": "trec", "input": "given"}
_Value = TypeVar("_Value")
_LARGEST = float(np.finfo(np.float64).max)
_LARGEST_OF_32_BITS = float(np.finfo(np.float32).max)


def check_ties(ties: str) -> None:
    """Refuse an unknown order of ties."""
    if ties in TIES:
        return
    now = f"; {ties!r} is now {_FORMER[ties]!r}" if ties in _FORMER else ""
    raise QuemError(f"ties: should be {', '.join(TIES[:-1])} or {TIES[-1]}, and not {ties!r}{now}")


@dataclass(frozen=True)
class Names:
    """The names of items, read lazily."""

    at: NDArray[np.integer[Any]]  # of shape (n,): index of each item in the input
    read: Callable[[NDArray[np.integer[Any]]], Sequence[Hashable]]  # names at indices

    def only(self, which: NDArray[Any] | slice) -> Names:
        """The names of some items."""
        return Names(self.at[which], self.read)

    def all(self) -> list[Hashable]:
        """The names."""
        return [*self.read(self.at)]


@dataclass(frozen=True)
class Hits:
    """The relevant items in the lists, in list order."""

    # Of shape (h,): the list of each, and its position there, from 1
    query: NDArray[np.intp]
    position: NDArray[np.intp]
    places: Places  # possible positions of each; see `Lists.places`
    nth: NDArray[np.intp]  # of shape (h,): number of hits in the list up to this one
    # Of shape (q,): the number of relevant items in each list, and in its ground truth
    found: NDArray[np.intp]
    relevant: NDArray[np.intp]

    def sum(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum a weight of each hit over the hits of each query."""
        return sum_by(self.query, weight, len(self.found))

    @cached_property
    def tied(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The number of relevant items before the tie of each hit, and in it, shape (h,)."""
        new = np.ones(len(self.query), dtype=bool)
        new[1:] = (self.query[1:] != self.query[:-1]) | np.diff(self.places.first).astype(bool)
        tie = np.cumsum(new) - 1
        return self.nth[new][tie] - 1, np.bincount(tie)[tie] if len(tie) else tie


@dataclass(eq=False, repr=False)
class Lists:
    """The lists of all queries with their ground truth.

    Items are in flat arrays, list after list, best first.
    """

    run: Ragged  # length of each query's list
    truth: Ragged  # length of its ground truth
    score: NDArray[np.float64]  # of shape (n,)
    # Of shape (n,): index of each listed item in the ground truth; -1 if unknown
    found: NDArray[np.integer[Any]]
    true_value: NDArray[np.float64]  # of shape (m,): grades or similarities
    true_relevance: NDArray[np.float64]  # of shape (m,): grades that decide relevance
    queries: Sequence[Hashable]  # names, for messages
    # Of shape (q,): whether the scores of a list are given, and not only its order
    scored: NDArray[np.bool_]
    all_orders: bool  # whether measures are averaged over all orders of tied items
    names: Names | None = None  # of listed items
    true_names: Names | None = None  # of items in the ground truth
    _cache: dict[Hashable, Any] = field(default_factory=dict, init=False)

    @classmethod
    def of(
        cls,
        run: list[dict[Hashable, float]],
        truth: list[dict[Hashable, float]],
        queries: Sequence[Hashable],
        ties: Ties,
        scored: NDArray[np.bool_],
    ) -> Lists:
        """Read lists and their ground truth, each a dict of item to score, grade or similarity."""
        score, true = _read(run, truth, queries)
        rows, true_rows = _sizes(run), _sizes(truth)
        listed = Names(np.arange(rows.total), _names_in(run))
        true_names = Names(np.arange(true_rows.total), _names_in(truth))
        found = _places(run, truth, true_rows)
        if ties == "trec":
            score = in_32_bits(score)
        order = best_first(rows, score, ties, listed)
        if order is not None:
            score, found, listed = score[order], found[order], listed.only(order)
        order = best_first(true_rows, true, ties, true_names)
        if order is not None:
            true, true_names = true[order], true_names.only(order)
            place = np.empty(len(order) + 1, dtype=np.intp)
            place[order], place[-1] = np.arange(len(order)), -1
            found = place[found]
        return cls(
            rows,
            true_rows,
            score,
            found,
            true,
            true,
            queries,
            scored,
            ties == "expected",
            listed,
            true_names,
        )

    def __len__(self) -> int:
        """Number of queries."""
        return len(self.truth)

    # The lists

    @cached_property
    def value(self) -> NDArray[np.float64]:
        """The true grade or similarity of each item of the lists, shape (n,); NaN if unknown."""
        return self._of_found(self.true_value, np.nan)

    @cached_property
    def relevance(self) -> NDArray[np.float64]:
        """The grade that decides the relevance of each listed item; NaN if unknown."""
        if self.true_relevance is self.true_value:
            return self.value
        return self._of_found(self.true_relevance, np.nan)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Whether the ground truth has each listed item, shape (n,)."""
        return self.found >= 0

    @cached_property
    def true_position(self) -> NDArray[np.intp]:
        """The position of each listed item in the ground truth, from 1; 0 if unknown, (n,)."""
        return self._of_found(self.truth.position, 0)

    @cached_property
    def places(self) -> Places:
        """The possible positions of each listed item.

        A single position, unless measures are averaged over all orders of tied items.
        """
        if not self.all_orders:
            return Places(self.run.position, self.run.position)
        return tied_places(self.run, self.score)

    @cached_property
    def true_places(self) -> Places:
        """The same in the ground truth, for each listed item; 0 if unknown."""
        if not self.all_orders:
            return Places(self.true_position, self.true_position)
        places = tied_places(self.truth, self.true_value)
        return Places(self._of_found(places.first, 0), self._of_found(places.last, 0))

    def _of_found(self, values: NDArray[Any], unknown: float) -> NDArray[Any]:
        # The last cell is for index -1.
        found: NDArray[Any] = np.append(values, values.dtype.type(unknown))[self.found]
        return found

    # The ground truth

    def hits(self, least: float = 1) -> Hits:
        """The relevant items."""
        return self.once(("hits", least), lambda: self._find_hits(least))

    def _find_hits(self, least: float) -> Hits:
        at = np.flatnonzero(self.relevance >= least)
        query = self.run.row[at]
        counts = np.bincount(query, minlength=len(self))
        before = np.cumsum(counts) - counts
        nth = np.arange(1, len(at) + 1) - before[query]
        relevant = self.truth.only(self.true_relevance >= least).sizes
        return Hits(query, self.run.position[at], self.places.only(at), nth, counts, relevant)

    def once(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """Compute a value that several measures share, once."""
        if key not in self._cache:
            self._cache[key] = make()
        return cast("_Value", self._cache[key])

    # Other lists of the same items

    def part(self, queries: slice) -> Lists:
        """The lists of consecutive queries."""
        own, true = self.run.cells(queries), self.truth.cells(queries)
        found, value = self.found[own], self.true_value[true]
        of_value = self.true_relevance is self.true_value
        return replace(
            self,
            run=Ragged(self.run.sizes[queries]),
            truth=Ragged(self.truth.sizes[queries]),
            score=self.score[own],
            found=np.where(found < 0, -1, found - true.start),
            true_value=value,
            true_relevance=value if of_value else self.true_relevance[true],
            queries=self.queries[queries],
            scored=self.scored[queries],
            names=self.names and self.names.only(own),
            true_names=self.true_names and self.true_names.only(true),
        )

    def judged(self) -> Lists:
        """The lists without unjudged items: unknown, or of a grade below 0."""
        return self.once("judged", lambda: self._only(np.flatnonzero(self.value >= 0)))

    def untied(self, *, relevant_first: bool, by: NDArray[np.float64] | None = None) -> Lists:
        """The lists with tied items ordered by value or another grade, best or worst first."""
        grade = np.nan_to_num(self.value if by is None else by, nan=-_LARGEST)
        order = np.lexsort((-grade if relevant_first else grade, self.run.ties(self.score)))
        return replace(self._only(order), all_orders=False)

    def _only(self, which: NDArray[np.intp]) -> Lists:
        return replace(
            self,
            run=self.run.only(which),
            score=self.score[which],
            found=self.found[which],
            names=self.names and self.names.only(which),
        )

    def of_query(
        self, query: int
    ) -> tuple[list[Hashable], list[float] | None, dict[Hashable, float]]:
        """The items of a list, their scores if given, and its ground truth."""
        if self.names is None or self.true_names is None:
            raise ValueError("lists without names")
        own, true = self.run.cells(query), self.truth.cells(query)
        scores = self.score[own].tolist() if self.scored[query] else None
        truth = zip(self.true_names.only(true).all(), self.true_value[true].tolist(), strict=True)
        return self.names.only(own).all(), scores, dict(truth)


def in_32_bits(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores in single precision, as in trec_eval."""
    limited = np.clip(score, -_LARGEST_OF_32_BITS, _LARGEST_OF_32_BITS)
    return limited.astype(np.float32).astype(np.float64)


def best_first(
    rows: Ragged, score: NDArray[np.float64], ties: Ties, names: Names
) -> NDArray[np.intp] | None:
    """The order of items by decreasing score; None if they are in it."""
    by_id = ties == "trec"
    if not (by_id or rows.ascends(score)):
        # As most retrievers return them.
        return None
    order, tied = rows.argsort(-score)
    if tied and by_id:
        tie = rows.ties(score[order])
        at = np.flatnonzero(np.bincount(tie)[tie] > 1)
        ids = [_bytes(name) for name in names.only(order[at]).all()]
        last_first = np.array(sorted(range(len(ids)), key=ids.__getitem__, reverse=True), np.intp)
        order[at] = order[at][last_first[np.argsort(tie[at][last_first], kind="stable")]]
    return order


def _bytes(name: Hashable) -> bytes:
    return name if isinstance(name, bytes) else str(name).encode("utf-8", "surrogateescape")


def _sizes(lists: list[dict[Hashable, float]]) -> Ragged:
    return Ragged(np.fromiter(map(len, lists), dtype=np.intp, count=len(lists)))


def _names_in(
    lists: list[dict[Hashable, float]],
) -> Callable[[NDArray[np.integer[Any]]], list[Hashable]]:
    names: list[Hashable] = []

    def read(at: NDArray[np.integer[Any]]) -> list[Hashable]:
        if not names:
            names.extend(chain.from_iterable(lists))
        return [names[one] for one in at.tolist()]

    return read


def _places(
    run: list[dict[Hashable, float]], truth: list[dict[Hashable, float]], rows: Ragged
) -> NDArray[np.intp]:
    """The index of each listed item in the concatenated ground truths; -1 if unknown."""
    places = (
        map(dict(zip(true, range(start, start + len(true)), strict=True)).get, listed, repeat(-1))
        for start, true, listed in zip(rows.starts.tolist(), truth, run, strict=True)
    )
    return np.fromiter(chain.from_iterable(places), dtype=np.intp, count=sum(map(len, run)))


def _read(
    run: list[dict[Hashable, float]],
    truth: list[dict[Hashable, float]],
    queries: Sequence[Hashable],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Read scores and true values, each query in one go for speed."""
    try:
        read = [
            np.frombuffer(b"".join([_struct(len(items)).pack(*items.values()) for items in lists]))
            for lists in (run, truth)
        ]
    except (struct.error, TypeError, ValueError, OverflowError):
        _refuse(run, truth, queries)
        raise
    if not all(np.isfinite(numbers).all() for numbers in read):
        _refuse(run, truth, queries)
    return read[0], read[1]


def _refuse(
    run: list[dict[Hashable, float]],
    truth: list[dict[Hashable, float]],
    queries: Sequence[Hashable],
) -> None:
    mistakes = [*_no_numbers(run, queries, "score"), *_no_numbers(truth, queries, "true value")]
    refuse(mistakes)


def _no_numbers(
    lists: list[dict[Hashable, float]], queries: Sequence[Hashable], what: str
) -> Iterable[str]:
    """Every query with a score that is not a number, with its first such item."""
    for query, items in zip(queries, lists, strict=True):
        for item, value in items.items():
            if not _is_number(value):
                yield (
                    f"query {query!r}, item {item!r}: the {what} should be a finite number, "
                    f"and not {value!r}"
                )
                break


@cache
def _struct(length: int) -> struct.Struct:
    """A packer of numbers into arrays, faster than NumPy's conversion one by one."""
    return struct.Struct(f"{length}d")


def _is_number(value: object) -> bool:
    if isinstance(value, str | bytes):
        return False
    try:
        return abs(float(value)) <= _LARGEST  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
