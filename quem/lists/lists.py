"""Lists and their ground truth as arrays: what every measure is computed from."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np

from quem.errors import QuemError
from quem.lists.ragged import Places, Ragged, sum_by, tied_places

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from numpy.typing import NDArray

Ties = Literal["given", "id", "expected"]
# From n items to how similar each two of them are, shape (n, n).
_Value = TypeVar("_Value")
# No similarity and no grade: stands for an item that the ground truth does not have.
_ABSENT = float(np.finfo(np.float64).min)


@dataclass(frozen=True)
class Hits:
    """The relevant items that the lists hold, list by list, in the order of the lists.

    Parameters
    ----------
    query, position : arrays of int, shape (h,)
        The list of each, and its place there, from 1.
    places : Places
        The positions between which each is; see `Lists.places`.
    nth : array of int, shape (h,)
        How many relevant items the list holds up to here, this one included.
    found, relevant : arrays of int, shape (q,)
        How many relevant items each list holds, and how many there are.
    """

    query: NDArray[np.intp]
    position: NDArray[np.intp]
    places: Places
    nth: NDArray[np.intp]
    found: NDArray[np.intp]
    relevant: NDArray[np.intp]

    def sum(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum a weight of each hit over the hits of each query.

        Parameters
        ----------
        weight : array of float, shape (h,)

        Returns
        -------
        array of float, shape (q,)
        """
        return sum_by(self.query, weight, len(self.found))

    @cached_property
    def tied(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """How many relevant items are before the tie of each, and in it, shape (h,)."""
        new = np.ones(len(self.query), dtype=bool)
        new[1:] = (self.query[1:] != self.query[:-1]) | np.diff(self.places.first).astype(bool)
        tie = np.cumsum(new) - 1
        return self.nth[new][tie] - 1, np.bincount(tie)[tie] if len(tie) else tie


class Lists:
    """The lists of all queries beside their ground truth.

    Items are in flat arrays, list after list, best first. Each array is made when a measure
    first asks for it.

    Parameters
    ----------
    run, truth : sequences of dict
        For each query, item to score, and item to grade or similarity; higher is better.
    queries : sequence, optional
        The names of the queries, for messages.
    ties : {"given", "id", "expected"}
        The order of items of equal score: as they are given; the last id first, as
        trec_eval has them; or in all orders, over which measures give their mean.
    scored : array of bool, shape (q,), optional
        Whether the scores of a list mean anything; else only the order does. True by default.

    Raises
    ------
    QuemError
        A score is not a finite number.
    """

    def __init__(
        self,
        run: list[dict[Hashable, float]],
        truth: list[dict[Hashable, float]],
        *,
        queries: list[Hashable] | None = None,
        ties: Ties = "given",
        scored: NDArray[np.bool_] | None = None,
    ) -> None:
        self._run, self._truth, self._by_id = run, truth, ties == "id"
        self.all_orders = ties == "expected"
        self.queries: list[Hashable] = [*range(len(truth))] if queries is None else queries
        self.scored = np.ones(len(truth), dtype=bool) if scored is None else scored
        self.run = Ragged(np.fromiter(map(len, run), dtype=np.intp, count=len(run)))
        self.truth = Ragged(np.fromiter(map(len, truth), dtype=np.intp, count=len(truth)))
        self._given_score, self._given_truth, self._given_value = self._read()
        self._cache: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        """Count the queries."""
        return len(self.truth)

    # What was retrieved

    @cached_property
    def score(self) -> NDArray[np.float64]:
        """The score of each item of the lists, shape (n,)."""
        return self._given_score[self._order]

    @cached_property
    def value(self) -> NDArray[np.float64]:
        """The true grade or similarity of each item of the lists, shape (n,); NaN if unknown."""
        value = self._given_value[self._order]
        value[value == _ABSENT] = np.nan
        return value

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Whether the ground truth has each item of the lists, shape (n,)."""
        return ~np.isnan(self.value)

    @cached_property
    def true_position(self) -> NDArray[np.intp]:
        """The place of each item of the lists in the ground truth, from 1, shape (n,).

        0 for an item that the ground truth does not have.
        """
        places = (
            map(dict(zip(truth, range(first, first + len(truth)), strict=True)).get, run, repeat(0))
            for first, truth, run in zip(
                (self.truth.starts + 1).tolist(), self._truth, self._run, strict=True
            )
        )
        indices = np.fromiter(chain.from_iterable(places), dtype=np.intp, count=self.run.total)
        # One more cell, the first, for what is unknown.
        position = np.zeros(self.truth.total + 1, dtype=np.intp)
        position[self._true_order + 1] = self.truth.position
        return position[indices][self._order]

    @cached_property
    def places(self) -> Places:
        """Between which positions each item of the lists is.

        Its position, unless the measures are to give their mean over all orders of equal items.
        """
        if not self.all_orders:
            return Places(self.run.position, self.run.position)
        return tied_places(self.run, self.score)

    @cached_property
    def true_places(self) -> Places:
        """The same in the ground truth, for each item of the lists; 0 for an unknown one."""
        true = self.true_position
        if not self.all_orders:
            return Places(true, true)
        if not self.truth.total:
            return Places(true, true)
        places = tied_places(self.truth, self.true_value)
        at = np.maximum(self.truth.starts[self.run.row] + true - 1, 0)
        return Places(
            np.where(true > 0, places.first[at], 0), np.where(true > 0, places.last[at], 0)
        )

    # What should have been retrieved

    @cached_property
    def true_value(self) -> NDArray[np.float64]:
        """The grades or similarities of the ground truth, best first, shape (m,)."""
        return self._given_truth[self._true_order]

    def hits(self, least: float = 1) -> Hits:
        """The relevant items.

        Parameters
        ----------
        least : float
            From which grade on an item is relevant.
        """
        return self.once(("hits", least), lambda: self._find_hits(least))

    def _find_hits(self, least: float) -> Hits:
        at = np.flatnonzero(self.value >= least)
        query = self.run.row[at]
        counts = np.bincount(query, minlength=len(self))
        before = np.cumsum(counts) - counts
        nth = np.arange(1, len(at) + 1) - before[query]
        relevant = self.truth.only(self._given_truth >= least).sizes
        return Hits(query, self.run.position[at], self.places.only(at), nth, counts, relevant)

    def once(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """Make something that several measures need, when the first of them asks for it."""
        if key not in self._cache:
            self._cache[key] = make()
        return cast("_Value", self._cache[key])

    def judged(self) -> Lists:
        """Give the lists without the items that nobody judged: unknown, or of a grade below 0."""
        return self.once("judged", self._without_unjudged)

    def _without_unjudged(self) -> Lists:
        run = [
            {item: score for item, score in items.items() if truth.get(item, -1) >= 0}
            for items, truth in zip(self._run, self._truth, strict=True)
        ]
        ties: Ties = "id" if self._by_id else "expected" if self.all_orders else "given"
        return Lists(
            run,
            self._truth,
            queries=self.queries,
            ties=ties,
            scored=self.scored,
        )

    def of_query(
        self, query: int
    ) -> tuple[list[Hashable], list[float] | None, dict[Hashable, float]]:
        """Give one list, and its ground truth.

        Parameters
        ----------
        query : int
            Its place.

        Returns
        -------
        items : list
            Best first.
        scores : list of float or None
            Theirs; None where there is only an order.
        truth : dict
            Item to grade or similarity; a copy.
        """
        start, given = int(self.run.starts[query]), self._run[query]
        end, names = start + len(given), list(given)
        items = [names[at - start] for at in self._order[start:end].tolist()]
        scores = self.score[start:end].tolist() if self.scored[query] else None
        return items, scores, dict(self._truth[query])

    # How they are read

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return self._descending(self.run, self._given_score, self._run)

    @cached_property
    def _true_order(self) -> NDArray[np.intp]:
        return self._descending(self.truth, self._given_truth, self._truth)

    def _descending(
        self, rows: Ragged, score: NDArray[np.float64], items: list[dict[Hashable, float]]
    ) -> NDArray[np.intp]:
        if not (self._by_id or rows.ascends(score)):
            # As retrievers give their lists.
            return np.arange(rows.total, dtype=np.intp)
        order, tied = rows.argsort(-score)
        if tied and self._by_id:
            tie = rows.ties(score[order])
            for query in np.unique(rows.row[np.bincount(tie)[tie] > 1]).tolist():
                start = int(rows.starts[query])
                names = list(items[query])
                pairs = [(items[query][name], name) for name in names]
                best_first = sorted(range(len(names)), key=pairs.__getitem__, reverse=True)
                order[start : start + len(names)] = np.array(best_first) + start
        return order

    def _read(self) -> tuple[NDArray[np.float64], ...]:
        """Read scores, true values, and the true values of what the lists hold.

        To fetch dicts into the processor's cache is what takes the time. So each query is read
        in one go, and its ground truth once from end to end before items are looked up in it.
        """
        score, true, value = [], [], []
        try:
            for run, truth in zip(self._run, self._truth, strict=True):
                true.append(_struct(len(truth)).pack(*truth.values()))
                pack = _struct(len(run)).pack
                value.append(pack(*_true_values(truth, run)))
                score.append(pack(*run.values()))
        except (struct.error, TypeError, ValueError, OverflowError):
            self._refuse()
            raise
        read = tuple(np.frombuffer(b"".join(parts)) for parts in (score, true, value))
        if not all(np.isfinite(numbers).all() for numbers in read[:2]):
            self._refuse()
        return read

    def _refuse(self) -> None:
        mistakes = [
            *self._no_numbers(self._run, "score"),
            *self._no_numbers(self._truth, "true value"),
        ]
        if mistakes:
            raise QuemError(mistakes)

    def _no_numbers(self, lists: list[dict[Hashable, float]], what: str) -> Iterable[str]:
        """Name every query with a score that is none; its first such item."""
        for query, items in zip(self.queries, lists, strict=True):
            for item, value in items.items():
                if not _is_number(value):
                    yield (
                        f"query {query!r}, item {item!r}: the {what} should be a finite number, "
                        f"and not {value!r}"
                    )
                    break


def _true_values(truth: dict[Hashable, float], run: dict[Hashable, float]) -> Iterable[float]:
    """The true value of each item of a list."""
    if len(truth) >= len(run) > 1:
        try:
            # The quickest way there is, where all items are known.
            return itemgetter(*run)(truth)  # type: ignore[no-any-return]
        except KeyError:
            pass
    return map(truth.get, run, repeat(_ABSENT))


@cache
def _struct(length: int) -> struct.Struct:
    """What packs numbers as an array holds them, quicker than NumPy reads them one by one."""
    return struct.Struct(f"{length}d")


def _is_number(value: object) -> bool:
    if isinstance(value, str | bytes):
        return False
    try:
        return abs(float(value)) < -_ABSENT  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
