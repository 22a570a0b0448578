"""How long the lists are, and how good those of each length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.queries import query_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.study.options import OptionsAnalysis

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["LengthGroup", "by_length"]

# Columns that are resampled at once.
_COLUMNS = 256


@dataclass(frozen=True)
class LengthGroup:
    """The lists of one length of one system.

    Parameters
    ----------
    system, length : int
    count, correct : int
        How many lists there are, and how many of them have the correct option.
    share : float
        Of lists with the correct option.
    share_interval : (float, float)
    scores : tuple of float
        The mean of each measure.
    headline_interval : (float, float)
    """

    system: int
    length: int
    count: int
    correct: int
    share: float
    share_interval: tuple[float, float]
    scores: tuple[float, ...]
    headline_interval: tuple[float, float]


def by_length(
    lengths: Integers,
    places: Integers,
    scores: Floats,
    headline: int,
    settings: OptionsAnalysis,
) -> tuple[LengthGroup, ...]:
    """Group the lists of each system by their length.

    Parameters
    ----------
    lengths : array of int, shape (systems, questions)
        -1 where there is no list.
    places : array of int, the same shape
        Where the correct option stands, from 1; 0 where it does not.
    scores : array of float, shape (systems, questions, measures)
    headline : int
    settings : OptionsAnalysis

    Returns
    -------
    tuple of LengthGroup
        System by system, the shorter first. Bootstrap intervals draw all questions, so that
        how many lists have a length varies too.
    """
    groups = [
        (system, length)
        for system in range(len(lengths))
        for length in np.unique(lengths[system][lengths[system] >= 0]).tolist()
    ]
    found = []
    for start in range(0, len(groups), _COLUMNS // 2):
        part = groups[start : start + _COLUMNS // 2]
        inside = np.stack([lengths[system] == length for system, length in part], axis=1)
        has = np.stack([places[system] > 0 for system, _ in part], axis=1)
        best = np.stack([scores[system, :, headline] for system, _ in part], axis=1)
        columns = np.hstack([np.where(inside, has, np.nan), np.where(inside, best, np.nan)])
        means = query_means(
            columns, level=settings.level, replicates=settings.bootstrap, seed=settings.seed
        )
        ends = list(zip(means.low.tolist(), means.high.tolist(), strict=True))
        for at, (system, length) in enumerate(part):
            members = inside[:, at]
            found.append(
                LengthGroup(
                    system,
                    length,
                    int(members.sum()),
                    int((places[system][members] > 0).sum()),
                    float(means.mean[at]),
                    ends[at],
                    tuple(_column_means(scores[system][members]).tolist()),
                    ends[len(part) + at],
                )
            )
    return tuple(found)


def _column_means(scores: Floats) -> Floats:
    return query_means(scores, level=0.5, replicates=0, seed=0).mean
