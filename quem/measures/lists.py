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
from quem.measures.ragged import Ragged, sum_by

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable

    from numpy.typing import NDArray

__all__ = ["Hits", "Lists", "Ties"]

Ties = Literal["given", "id"]
_Made = TypeVar("_Made")
# No similarity and no grade: stands for an item that the ground truth does not have.
_ABSENT = float(np.finfo(np.float64).min)


@dataclass(frozen=True)
class Hits:
    """The relevant items that the lists hold, list by list, in the order of the lists.

    Parameters
    ----------
    query, position : arrays of int, shape (h,)
        The list of each, and its place there, from 1.
    nth : array of int, shape (h,)
        How many relevant items the list holds up to here, this one included.
    found, relevant : arrays of int, shape (q,)
        How many relevant items each list holds, and how many there are.
    """

    query: NDArray[np.intp]
    position: NDArray[np.intp]
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


class Lists:
    """The lists of all queries beside their ground truth.

    Items stand in flat arrays, list after list, best first. Each array is made when a measure
    first asks for it.

    Parameters
    ----------
    run, truth : sequences of dict
        For each query, item to score, and item to grade or similarity; higher is better.
    queries : sequence, optional
        The names of the queries, for messages.
    ties : {"given", "id"}
        In which order items of equal score stand: as they are given, or the last id first, as
        trec_eval has them.
    scored : array of bool, shape (q,), optional
        Whether the scores of a list mean anything; else only the order does. True by default.

    Raises
    ------
    QuemError
        A score is no finite number.
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
        self.queries = list(range(len(truth))) if queries is None else queries
        self.scored = np.ones(len(truth), dtype=bool) if scored is None else scored
        self.run = Ragged(np.fromiter(map(len, run), dtype=np.intp, count=len(run)))
        self.truth = Ragged(np.fromiter(map(len, truth), dtype=np.intp, count=len(truth)))
        self._given_score, self._given_value = self._read()
        self._made: dict[Hashable, Any] = {}

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
        given = np.fromiter(chain.from_iterable(places), dtype=np.intp, count=self.run.total)
        # One more cell, the first, for what is unknown.
        position = np.zeros(self.truth.total + 1, dtype=np.intp)
        position[self._true_order + 1] = self.truth.position
        return position[given][self._order]

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
        found = np.bincount(query, minlength=len(self))
        before = np.cumsum(found) - found
        nth = np.arange(1, len(at) + 1) - before[query]
        relevant = self.truth.only(self._given_truth >= least).sizes
        return Hits(query, self.run.position[at], nth, found, relevant)

    def once(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """Make something that several measures need, when the first of them asks for it.

        Parameters
        ----------
        key : hashable
        make : callable
        """
        if key not in self._made:
            self._made[key] = make()
        return cast("_Made", self._made[key])

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
        order = rows.argsort(-score)
        if self._by_id:
            tie = rows.ties(score[order])
            tied = np.empty(0, np.intp) if tie is None else rows.row[np.bincount(tie)[tie] > 1]
            for query in np.unique(tied).tolist():
                start = int(rows.starts[query])
                names = list(items[query])
                pairs = [(items[query][name], name) for name in names]
                best_first = sorted(range(len(names)), key=pairs.__getitem__, reverse=True)
                order[start : start + len(names)] = np.array(best_first) + start
        return order

    def _read(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Read the scores, and the true values of what the lists hold.

        Each query is read in one go, while its dicts are in the processor's cache: to fetch
        them is what takes the time.
        """
        score, value = [], []
        try:
            for run, truth in zip(self._run, self._truth, strict=True):
                score.append(_packed(run.values()))
                value.append(_packed(_true_values(truth, run)))
        except (struct.error, TypeError, ValueError, OverflowError):
            self._refuse()
            raise
        return self._finite(score), self._finite(value)

    @cached_property
    def _given_truth(self) -> NDArray[np.float64]:
        """The true values in the order in which they are given, shape (m,)."""
        try:
            true = [_packed(truth.values()) for truth in self._truth]
        except (struct.error, TypeError, ValueError, OverflowError):
            self._refuse()
            raise
        return self._finite(true)

    def _finite(self, parts: list[bytes]) -> NDArray[np.float64]:
        numbers = np.frombuffer(b"".join(parts))
        if not np.isfinite(numbers).all():
            self._refuse()
        return numbers

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


def _true_values(truth: dict[Hashable, float], run: dict[Hashable, float]) -> Collection[float]:
    """The true value of each item of a list."""
    if len(truth) >= len(run) > 1:
        try:
            # The quickest way there is, where all items are known.
            return cast("tuple[float, ...]", itemgetter(*run)(truth))
        except KeyError:
            pass
    return list(map(truth.get, run, repeat(_ABSENT)))


def _packed(numbers: Collection[float]) -> bytes:
    """Numbers as an array holds them; quicker than NumPy reads them one by one."""
    return _struct(len(numbers)).pack(*numbers)


@cache
def _struct(length: int) -> struct.Struct:
    return struct.Struct(f"{length}d")


def _is_number(value: object) -> bool:
    try:
        return abs(float(value)) < -_ABSENT  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
