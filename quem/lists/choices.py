"""Which items are among the best k of list and ground truth, where a tie goes across k."""

from __future__ import annotations

from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.ragged import sum_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.lists.lists import Lists
    from quem.lists.measure import Outcome
    from quem.lists.places import Places

__all__ = ["best_choices", "mean_outcome"]

# Choices that are tried; of more, as many random ones.
_MOST = 100


def best_choices(lists: Lists, k: int) -> tuple[NDArray[np.intp], list[NDArray[np.intp]]] | None:
    """Choose the items that are among the best k of both list and ground truth.

    Each choice out of a tie across k has the same chance: all choices where they are at most
    100, and 100 random ones else, the same ones for the same list.

    Returns
    -------
    None where no tie goes across k, so that there is one choice for each list; else:
    query : array of int, shape (choices,)
        Whose choice each is.
    cells : list of array of int
        The items of each choice, by their places in the flat arrays of `lists`.
    """
    places, true = lists.places, lists.true_places
    across = _across(places, k) | (lists.known & _across(true, k))
    if not across.any():
        return None
    open_queries = set(np.unique(lists.run.row[across]).tolist())
    query: list[int] = []
    cells: list[NDArray[np.intp]] = []
    for number, (start, size) in enumerate(zip(lists.run.starts, lists.run.sizes, strict=True)):
        at = np.arange(start, start + size)
        own, own_true, known = places.only(at), true.only(at), lists.known[at]
        chosen = (
            _choices(own, own_true, known, k)
            if number in open_queries
            else [(own.last <= k) & known & (own_true.last <= k)]
        )
        for kept in chosen:
            query.append(number)
            cells.append(at[kept])
    return np.array(query), cells


def _across(places: Places, k: int) -> NDArray[np.bool_]:
    return (places.first <= k) & (k < places.last)


def _choices(
    own: Places, true: Places, known: NDArray[np.bool_], k: int
) -> Iterator[NDArray[np.bool_]]:
    """Say of each item of one list whether it is among the best k of both, choice by choice."""
    sides = [(own, own.last > 0), (true, known)]
    ties = [_tie(places, there, k) for places, there in sides]
    sure = [there & (places.last <= k) for places, there in sides]
    for picked in _picked([(n, m) for _, n, m in ties]):
        kept = [side.copy() for side in sure]
        for side, (members, _, _), best in zip(kept, ties, picked, strict=True):
            side[[int(members[one]) for one in best if one < len(members)]] = True
        yield kept[0] & kept[1]


def _tie(places: Places, there: NDArray[np.bool_], k: int) -> tuple[NDArray[np.intp], int, int]:
    """The items of a list in the tie across k, how many are tied, and how many of them are kept.

    A tie of the ground truth may hold others, which come after those of the list.
    """
    members = np.flatnonzero(there & _across(places, k))
    if not len(members):
        return members, 0, 0
    return members, int(places.size[members[0]]), k - int(places.first[members[0]]) + 1


def _picked(ties: Sequence[tuple[int, int]]) -> Iterable[Sequence[Iterable[int]]]:
    """Which of each tie are kept: m of n each, in all ways or in random ones."""
    if np.prod([float(comb(n, m)) for n, m in ties]) <= _MOST:
        return product(*(list(combinations(range(n), m)) for n, m in ties))
    rng = np.random.default_rng(0)
    return [[rng.permutation(n)[:m].tolist() for n, m in ties] for _ in range(_MOST)]


def mean_outcome(outcome: Outcome, query: NDArray[np.intp], queries: int) -> Outcome:
    """Average the scores of choices over those of each query where they are defined.

    Parameters
    ----------
    outcome : (array of float, tuple of (array of bool, str))
        Of each choice.
    query : array of int, shape (choices,)
    """
    score, undefined = outcome
    defined = ~np.any([where for where, _ in undefined], axis=0)
    count = sum_by(query, defined, queries)
    mean = sum_by(query, np.where(defined, score, 0), queries) / np.maximum(count, 1)
    return mean, tuple(
        ((count == 0) & (sum_by(query, where, queries) > 0), why) for where, why in undefined
    )
