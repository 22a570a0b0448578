"""Simulated users: when they select a case from a list, and which.

Those of Bogaerts & Leake (2006), section 5.1: ``T5`` and ``T1`` select the first of the top 5 (or
1) cases that is nearer than a threshold, ``A5`` selects one of the top 5 that is nearer than their
average once that is below the threshold, ``DL`` the top case once it has the solution. Other
numbers than 5 and 1 are possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.dialogue.space import NANO, Space, steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# The better direction of each score.
FURTHER: dict[str, Literal["higher", "lower"]] = {
    # Hit at k, and the precision of the k listed (McSherry 2001); averaged over the dialogue.
    "recall": "higher",
    "list precision": "higher",
    # The rank of the first applicable case, averaged over the dialogue, and the number of answers
    # until one is rated like the target (Gupta, Aha, and Sandhu 2002); all where none is.
    "retrieval accuracy": "lower",
    "conversational efficiency": "lower",
    # Whether the three best cases are among the first five (Kohlmaier, Schmitt, and Bergmann
    # 2001); averaged over the dialogue.
    "successful retrieval": "higher",
}
_RATED = list(FURTHER).index("conversational efficiency")
_IDEAL, LISTED = 3, 5


@dataclass(frozen=True)
class User:
    """A simulated user."""

    name: str  # in the report, such as "T5 0.05"
    rule: str  # "T", "A", or "DL"
    top: int  # number of cases read
    # Threshold as a share of the case base; None without one.
    b: float | None = None


@dataclass(frozen=True)
class CandidateList:
    """The lists of a user at several points of several dialogues."""

    # Of shape (lists, top), the top candidate first: the true distance.
    distance: NDArray[np.float64]
    right: NDArray[np.bool_]  # of shape (lists, top): whether a case has the solution of the target
    threshold: float  # NaN for a user without one
    # Of shape (lists,): from 0 to 1, the same for all lists of a dialogue, for random choices.
    chance: NDArray[np.float64]


def named_user(name: str, b: float | None) -> User:
    """The user of a study's name: T5, T1, A5, DL, and so on."""
    rule, top = name[:1].upper(), name[1:]
    if rule == "D":
        return User("DL", "DL", 1)
    return User(f"{rule}{top} {b:g}" if b else f"{rule}{top}", rule, int(top), b)


def selections(user: User, shown: CandidateList) -> NDArray[np.int64]:
    """The selected position of each list; -1 where none."""
    if user.rule == "DL":
        return np.where(shown.right[:, 0], 0, -1)
    if user.rule == "A":
        return _average(shown, user.top)
    near = shown.distance[:, : user.top] < shown.threshold
    return np.where(near.any(axis=1), near.argmax(axis=1), -1)


def _average(shown: CandidateList, top: int) -> NDArray[np.int64]:
    distance = shown.distance[:, :top]
    average = distance.mean(axis=1)
    # In billionths like distances, so equal ones have their average.
    mean, level = steps(average), steps(np.array(shown.threshold))
    better = steps(distance) < mean[:, np.newaxis]
    better[~better.any(axis=1)] = True
    wanted = np.floor(shown.chance * better.sum(axis=1)).astype(int)
    position = (np.cumsum(better, axis=1) > wanted[:, np.newaxis]).argmax(axis=1)
    return np.where(mean < level, position, -1)


def thresholds(space: Space, shares: tuple[float, ...]) -> dict[float, float]:
    """The mean distance within which a share of the case base lies.

    The distance of the i-th nearest other case, i = round(b n), averaged over the cases.
    """
    if not shares:
        return {}
    places = [min(max(int(b * space.n + 0.5), 1), space.n - 1) - 1 for b in shares]
    sums = np.zeros(len(places))
    for case in range(space.n):
        others = np.delete(space.distances(space.case(case)), case)
        sums += np.partition(others, places)[places]
    level = steps(sums / space.n) / NANO
    return dict(zip(shares, level.tolist(), strict=True))


# Room for a position among a million cases; distances up to 8,000 fit into the rest.
_BITS = 20


# Beyond all distances: the target itself, which is not a candidate.
FAR = np.int64(1) << 42


@dataclass(frozen=True)
class Candidates:
    """The nearest cases of each row, nearest first."""

    cases: NDArray[np.int64]  # of shape (rows, r)
    apart: NDArray[np.int64]  # of shape (rows, r): their distances in `quem.dialogue.space.steps`


def nearest(apart: NDArray[np.int64], order: NDArray[np.int64], count: int) -> Candidates:
    """List the nearest cases.

    Shapes: `apart` (rows, n); `order` (n,).
    """
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    key = (apart << _BITS) | place
    if count < key.shape[1]:
        key.partition(count - 1, axis=1)
        key = key[:, :count]
    key = np.sort(key, axis=1)
    near = key >> _BITS
    return Candidates(order[key - (near << _BITS)], near)


def of_lists(
    apart: NDArray[np.int64],
    listed: Candidates,
    k: int,
    applicable: NDArray[np.bool_],
    true: NDArray[np.int64],
    ties: NDArray[np.int64],
) -> Floats:
    """The measures of lists, in the order of `FURTHER`; for efficiency, whether a case is rated 1.

    NaN without an applicable case. The rank is the mean over all orders of tied cases.

    Shapes: `apart` (rows, n), in steps; `applicable`, `true`, `ties` (n,); result (rows, 5).
    """
    best = nearest(true[np.newaxis], ties, min(_IDEAL, int((true < FAR).sum()))).cases[0]
    success = np.isin(listed.cases[:, :LISTED], best).sum(axis=1) == len(best)
    if not applicable.any():
        return np.column_stack([np.full((len(apart), len(FURTHER) - 1), np.nan), success])
    held = applicable[listed.cases[:, :k]]
    own = apart[:, applicable]
    first = own.min(axis=1, keepdims=True)
    nearer, tied = (apart < first).sum(axis=1), (apart == first).sum(axis=1)
    rank = nearer + (tied + 1) / ((own == first).sum(axis=1) + 1)
    rated = first[:, 0] == 0
    return np.column_stack([held.any(axis=1), held.mean(axis=1), rank, rated, success])


def of_dialogues(lists: Floats) -> Floats:
    """The measures of one target from those of its lists.

    Shapes: `lists` (dialogues, m + 1, 5); result (5,).
    """
    found: Floats = lists.mean(axis=(0, 1))
    if not len(found):
        return found
    rated = lists[:, 1:, _RATED]
    if not np.isnan(rated).any():
        asked = np.where(rated.any(axis=1), rated.argmax(axis=1) + 1, rated.shape[1])
        found[_RATED] = asked.mean()
    return found
