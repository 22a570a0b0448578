"""How different the items of a list are from each other; the ground truth does not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.errors import QuemError
from quem.lists.measure import TIES_BY_ORDER, TOP, Definition

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from quem.lists.lists import Lists
    from quem.lists.measure import Outcome

    Floats = NDArray[np.float64]

_FEW = "the list has fewer than two items"
_PAIR = 2
_NO_LIKENESS = (
    "ILD compares the items of a list with each other; give likeness, a function from a list of n "
    "items to how similar each two of them are, an array of shape (n, n)"
)


def similarities_of(lists: Lists, items: list[Hashable]) -> Floats:
    """Ask how similar each two items are."""
    if lists.likeness is None:
        raise QuemError([_NO_LIKENESS])
    found = np.asarray(lists.likeness(items), dtype=np.float64)
    n = len(items)
    if found.shape != (n, n):
        raise QuemError(
            [f"likeness gave an array of shape {found.shape} for {n} items; use ({n}, {n})"]
        )
    if not ((found >= 0) & (found <= 1)).all():
        row, column = np.argwhere(~((found >= 0) & (found <= 1)))[0].tolist()
        raise QuemError(
            [
                (
                    f"likeness of {items[row]!r} and {items[column]!r} is {found[row, column]:g}; "
                    "use a "
                    "number from 0 to 1"
                )
            ]
        )
    return found


def _ild(lists: Lists, k: int | None) -> Outcome:
    if lists.likeness is None:
        raise QuemError([_NO_LIKENESS])
    places, sizes = lists.places, lists.run.sizes
    chance = np.ones(lists.run.total) if k is None else places.within(k)
    score = np.zeros(len(lists))
    looked = sizes if k is None else np.minimum(sizes, k)
    for query in np.flatnonzero(looked >= _PAIR).tolist():
        start = int(lists.run.starts[query])
        held = np.flatnonzero(chance[start : start + int(sizes[query])] > 0) + start
        items, _, _ = lists.of_query(query)
        apart = 1 - similarities_of(lists, [items[at - start] for at in held.tolist()])
        both = chance[held, np.newaxis] * chance[held]
        # Two items of the tie that goes over k are not chosen independently.
        (cut,) = np.nonzero(chance[held] < 1)
        if len(cut) > 1:
            size = int(places.size[held[cut[0]]])
            free = int(looked[query]) - int(places.first[held[cut[0]]]) + 1
            both[np.ix_(cut, cut)] = free * (free - 1) / (size * (size - 1))
        upper = np.triu_indices(len(held), 1)
        pairs = looked[query] * (looked[query] - 1) / 2
        # Both ways of asking count alike, should they differ.
        score[query] = (both * (apart + apart.T) / 2)[upper].sum() / pairs
    return score, ((looked < _PAIR, _FEW),)


DIVERSITY = (
    Definition(
        name="ILD",
        family="diversity",
        summary="Intra-list diversity: how different the k best items are from each other.",
        formula="Σ (1 - s(i, j)) over the pairs of the k best items / number of pairs, with their "
        "similarity s",
        compute=_ild,
        low=0,
        high=1,
        better="higher",
        truth="grades",
        ties=TIES_BY_ORDER,
        short="It is the mean over the pairs that there are.",
        unknown="They count as all others; what is relevant does not matter.",
        undefined="Where fewer than two items are looked at.",
        citation="Smyth & McClave (2001), Similarity vs. Diversity, ICCBR; Ziegler, McNee, Konstan "
        "& Lausen (2005), Improving Recommendation Lists through Topic Diversification, WWW",
        parameters=(TOP,),
        shown_with=("", "@2"),
    ),
)
