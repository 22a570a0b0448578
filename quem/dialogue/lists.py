"""The candidates nearest to what is known, as a user is shown them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.dialogue.regions import keyed

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FAR", "Candidates", "nearest"]

# Farther than anything: where the target itself is, which is no candidate.
FAR = np.int64(1) << 42


@dataclass(frozen=True)
class Candidates:
    """The nearest cases of each row, nearest first.

    Parameters
    ----------
    cases : array of int, shape (rows, r)
    apart : array of int, shape (rows, r)
        Their distances in `quem.dialogue.space.steps`.
    """

    cases: NDArray[np.int64]
    apart: NDArray[np.int64]


def nearest(apart: NDArray[np.int64], order: NDArray[np.int64], count: int) -> Candidates:
    """List the nearest cases.

    Parameters
    ----------
    apart : array of int, shape (rows, n)
        Distances in steps.
    order : array of int, shape (n,)
        All cases: of equal distances, the case that is first here is listed first.
    count : int
        How many; at most n.
    """
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    key = keyed(apart, place)
    if count < key.shape[1]:
        key.partition(count - 1, axis=1)
        key = key[:, :count]
    key = np.sort(key, axis=1)
    near = key >> 20
    return Candidates(order[key - (near << 20)], near)
