"""Distances of cases from a problem with unknown attributes.

The five strategies of Bogaerts & Leake (2006), section 5, differ in their assumption on an unknown
attribute:

===  ==================================  ===================================================
DD   DefaultDifference(0)                no difference
FA   FullAggregate                       the mean or majority of the case base
ND   NNAggregate(DefaultDifference(0))   that of the nearest cases by DD
NF   NNAggregate(FullAggregate)          that of the nearest cases by FA
RA   RegionAggregate(DefaultDifference)  that of the region of the nearest case by DD
===  ==================================  ===================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from quem.dialogue.space import Fills, Problem, Regions, Space, steps
from quem.dialogue.users import FAR, nearest
from quem.errors import QuemError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quem.dialogue.reading import EncodedCases
    from quem.studyfile.dialogue import DialogueSettings

FULL_NAMES = {
    "DD": "DefaultDifference(0)",
    "FA": "FullAggregate",
    "ND": "NNAggregate(DefaultDifference(0))",
    "NF": "NNAggregate(FullAggregate)",
    "RA": "RegionAggregate(DefaultDifference(0))",
}


@dataclass(frozen=True, eq=False)
class Revealed:
    """The known values of one target at some points of its dialogues."""

    cases: EncodedCases
    space: Space
    regions: Regions | None  # only for RA
    settings: DialogueSettings
    problem: Problem  # the target
    values: NDArray[np.float64]  # of shape (m,): of the target, as in ``cases.values``
    revealed: NDArray[np.bool_]  # of shape (rows, m): which attributes were asked for at each point
    apart: NDArray[np.float64]  # of shape (m, n): `Space.differences` of the target

    @cached_property
    def hidden(self) -> NDArray[np.bool_]:
        """Which attributes are not known."""
        return ~self.revealed

    @cached_property
    def differences(self) -> NDArray[np.float64]:
        """The part of the revealed attributes in each distance, shape (rows, n)."""
        return self.revealed.astype(float) @ self.apart

    @property
    def features(self) -> NDArray[np.float64]:
        """Of all cases; see `Space`."""
        return self.space.features

    @cached_property
    def overall(self) -> NDArray[np.float64]:
        """Sums of the features over the candidates."""
        return self.space.without(self.problem)

    @cached_property
    def by_default(self) -> NDArray[np.int64]:
        """Distances in steps by DD, shape (rows, n)."""
        return self._distances(self.differences)

    @cached_property
    def by_overall(self) -> NDArray[np.int64]:
        """Distances in steps by FA, shape (rows, n)."""
        fills = self.space.aggregate(self.overall[np.newaxis], self.overall)
        return self.assuming(fills)

    def assuming(self, fills: Fills) -> NDArray[np.int64]:
        """The distances, in steps, under assumed values of the unknown attributes."""
        return self._distances(self.differences + self.space.assumed(self.hidden, fills))

    def _distances(self, together: NDArray[np.float64]) -> NDArray[np.int64]:
        distances = steps(self.space.compared(self.revealed, self.problem, together))
        if self.problem.left_out is not None:
            distances[:, self.problem.left_out] = FAR
        return distances

    def sums_of_nearest(
        self, apart: NDArray[np.int64], count: int, features: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The summed features of the nearest cases, including ties with the last.

        Shapes: `apart` (rows, n); `features` (n, features).
        """
        if count >= self.space.n and self.problem.left_out is None:
            return np.tile(features.sum(axis=0), (len(apart), 1))
        count = min(count, self.space.n - 1)
        order = np.arange(self.space.n)
        candidates = nearest(apart, order, count + 1)
        sums: NDArray[np.float64] = features[candidates.cases[:, :count]].sum(axis=1)
        split = np.flatnonzero(candidates.apart[:, count] == candidates.apart[:, count - 1])
        edge = candidates.apart[split, count - 1, np.newaxis]
        sums[split] = (apart[split] <= edge).astype(float) @ features
        return sums


def _nearest_aggregate(known: Revealed, apart: NDArray[np.int64]) -> NDArray[np.int64]:
    sums = known.sums_of_nearest(apart, known.settings.neighbors, known.features)
    return known.assuming(known.space.aggregate(sums, known.overall))


def _region_aggregate(known: Revealed) -> NDArray[np.int64]:
    """If several cases are nearest, the aggregates of their regions are aggregated."""
    if known.regions is None:
        raise ValueError("an experiment with RA has regions")
    apart = steps(known.space.distances(known.problem, known.apart))
    sums = known.regions.sums(known.problem.left_out, apart, known.features)
    regions = known.space.features_of(known.space.aggregate(sums, known.overall))
    chosen = known.sums_of_nearest(known.by_default, 1, regions)
    return known.assuming(known.space.aggregate(chosen, known.overall))


STRATEGIES: dict[str, Callable[[Revealed], NDArray[np.int64]]] = {
    "DD": lambda known: known.by_default,
    "FA": lambda known: known.by_overall,
    "ND": lambda known: _nearest_aggregate(known, known.by_default),
    "NF": lambda known: _nearest_aggregate(known, known.by_overall),
    "RA": _region_aggregate,
}


def own_distances(
    strategy: Callable[..., NDArray[np.float64]], name: str, known: Revealed
) -> NDArray[np.int64]:
    """The checked distances of a custom strategy.

    The strategy takes cases and answers, shape (problems, attributes).
    """
    answers = np.where(known.revealed, known.values, np.nan)
    left_out = known.problem.left_out
    others = known.cases if left_out is None else known.cases.without(left_out)
    output = strategy(others, answers)
    shape = (len(answers), len(others))
    try:
        distances = np.asarray(output, dtype=float)
    except (TypeError, ValueError):
        raise QuemError(
            f"the strategy {name} gave {type(output).__name__}, not an array of numbers"
        ) from None
    if distances.shape != shape:
        raise QuemError(
            f"the strategy {name} gave distances of shape {distances.shape}; it should be "
            f"{shape}: "
            "one row per problem, one column per case"
        )
    if not ((distances >= 0) & (distances <= 1)).all():
        odd = distances[~((distances >= 0) & (distances <= 1))][0]
        raise QuemError(f"the strategy {name} gave the distance {odd:g}; distances go from 0 to 1")
    apart = steps(distances)
    if left_out is not None:
        apart = np.insert(apart, left_out, FAR, axis=1)
    return np.asarray(apart, dtype=np.int64)
