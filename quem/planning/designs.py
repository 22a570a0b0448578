"""Designs: what they give, what they cost, and which are worth showing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quem.planning import closed_form

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.simulation import Noise


class StudyDesign(NamedTuple):
    """How large a study is."""

    subjects: int
    judges: int
    problems: int

    @property
    def words(self) -> str:
        """Its size, such as "12 subjects, 3 judges, 6 problems"."""
        return ", ".join(
            f"{count:,} {name if count != 1 else name[:-1]}"
            for name, count in self._asdict().items()
        )


@dataclass(frozen=True)
class Costs:
    """What a study costs, in minutes of work."""

    solution: float  # one problem solved by one subject
    minutes: float  # one solution placed by one judge; those of systems too


@dataclass(frozen=True)
class Designs:
    """All combinations of some numbers of judges, subjects, and problems."""

    # Rising; the axes of the arrays below, in this order
    judges: NDArray[np.int64]
    subjects: NDArray[np.int64]
    problems: NDArray[np.int64]
    half_width: NDArray[np.float64]  # of shape (judges, subjects, problems): by the closed form
    # NaN where no difference was asked for, and on one problem
    power: NDArray[np.float64]
    false_alarms: NDArray[np.float64]
    # The cost of the study, and the hours of one judge
    cost: NDArray[np.float64]
    hours: NDArray[np.float64]

    def at(self, index: int) -> StudyDesign:
        """Give the design at a place of the flattened arrays."""
        j, s, p = np.unravel_index(index, self.half_width.shape)
        return StudyDesign(int(self.subjects[s]), int(self.judges[j]), int(self.problems[p]))

    @property
    def largest(self) -> int:
        """The place of the design with most of everything, whose interval is the narrowest."""
        return int(self.half_width.size - 1)


def make_designs(
    axes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]],
    noise: Noise,
    experience_variance: float,
    *,
    level: float,
    systems: int,
    difference: float | None,
    costs: Costs,
) -> Designs:
    """Say of each design what it gives and costs."""
    judges, subjects, problems = (np.array(axis, dtype=np.int64) for axis in axes)
    j, s, p = np.meshgrid(judges, subjects, problems, indexing="ij")
    variance = closed_form.average_variance(noise, j, p)
    power = np.full(j.shape, np.nan)
    false_alarms = power.copy()
    if difference is not None:
        # The test does not depend on the number of subjects.
        one, of = j[:, :1], p[:, :1]
        power[:] = closed_form.power(noise, one, of, difference)
        false_alarms[:] = 2 * closed_form.power(noise, one, of, 0.0)
    placed = (s + systems) * p
    return Designs(
        judges,
        subjects,
        problems,
        closed_form.half_width(s, variance, experience_variance, level),
        power,
        false_alarms,
        np.asarray(costs.solution * s * p + costs.minutes * j * placed, dtype=np.float64),
        np.asarray(costs.minutes * placed / 60, dtype=np.float64),
    )


def smallest(designs: Designs, width: float) -> list[int]:
    """Find the designs that reach a width and could not do with less of anything."""
    reach = designs.half_width <= width
    # More subjects are narrower, so that the first of each column is the fewest.
    fewest = np.where(reach.any(axis=1), reach.argmax(axis=1), len(designs.subjects))
    best = np.full((fewest.shape[0] + 1, fewest.shape[1] + 1), len(designs.subjects))
    places = []
    for j, p in np.ndindex(fewest.shape):
        others = min(best[j, p + 1], best[j + 1, p])
        if fewest[j, p] < others:
            index = np.ravel_multi_index((j, int(fewest[j, p]), p), designs.half_width.shape)
            places.append(int(index))
        best[j + 1, p + 1] = min(others, fewest[j, p])
    return _cheapest_first(designs, places)


def efficient(designs: Designs) -> list[int]:
    """Find the designs than which no other is both cheaper and narrower."""
    order = _cheapest_first(designs, list(range(designs.half_width.size)))
    narrowest = np.inf
    places = []
    for index in order:
        if designs.half_width.flat[index] < narrowest:
            narrowest = designs.half_width.flat[index]
            places.append(index)
    return places


def _cheapest_first(designs: Designs, places: list[int]) -> list[int]:
    at = np.array(places, dtype=np.int64)
    order = np.lexsort((designs.half_width.ravel()[at], designs.cost.ravel()[at]))
    return [int(index) for index in at[order]]
