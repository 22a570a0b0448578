"""Distances between problems, and aggregates of cases, as arrays that multiply.

RA takes its assumptions from the regions of a case base.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.dialogue.reading import EncodedCases

# Distances are compared in billionths. Values that are equal in theory differ by 1e-16, so the
# edges are placed where no simple fraction is.
NANO = 1_000_000_000
_EDGE = 0.6234


def steps(distance: NDArray[np.float64]) -> NDArray[np.int64]:
    """Distances in billionths, so that equal ones are equal."""
    scaled = distance * NANO
    scaled += _EDGE
    return scaled.astype(np.int64)


@dataclass(frozen=True)
class Fills:
    """The values that a strategy assumes, one set per row."""

    # Of shape (rows, numeric attributes): on the scale of `Space.numbers`.
    numbers: NDArray[np.float64]
    codes: NDArray[np.intp]  # of shape (rows, categorical attributes): columns of `Space.marks`


@dataclass(frozen=True)
class Problem:
    """A target on the scale of a case base: a case or a query."""

    # Of shape (numeric attributes,): on the scale of `Space.numbers`; beyond it where no case
    # reaches.
    numbers: NDArray[np.float64]
    known: NDArray[np.float64]  # of shape (m,): 1 for a known value, else 0
    # Of shape (categories of all attributes,): 1 for each of its categories; none for a category
    # that no case has.
    marks: NDArray[np.float64]
    # The case that is not a candidate: the target itself, if it is left out.
    left_out: int | None


@dataclass(frozen=True)
class Space:
    """A case base on a scale on which differences add up to distances.

    The distance of two problems is the weighted mean of the differences of their attributes: 0 or
    1 for a categorical one, the share of its range for a numeric one.
    """

    share: NDArray[np.float64]  # of shape (m,): weights of the attributes; they sum to 1
    # Indices of the attributes of each type
    numeric: NDArray[np.intp]
    categorical: NDArray[np.intp]
    # Of shape (n, numeric attributes): share of the range times weight; 0 where missing.
    numbers: NDArray[np.float64]
    known: NDArray[np.float64]  # of shape (n, m): 1 for a known value, else 0
    # Of shape (n, categories of all attributes): 1 for the category of a case.
    marks: NDArray[np.float64]
    # Of shape (categories,): the categorical attribute of each category.
    owner: NDArray[np.intp]
    missing: Literal["zero", "worst", "skip"]

    @property
    def n(self) -> int:
        """Number of cases."""
        return len(self.known)

    @property
    def m(self) -> int:
        """Number of attributes."""
        return len(self.share)

    @property
    def complete(self) -> bool:
        """Whether no value is missing."""
        return bool(self.known.all())

    @cached_property
    def features(self) -> NDArray[np.float64]:
        """The terms of an aggregate: numbers, known values, and marks."""
        return np.hstack([self.numbers, self.known[:, self.numeric], self.marks])

    def case(self, case: int, *, left_out: bool = True) -> Problem:
        """A case as a problem."""
        return Problem(
            self.numbers[case], self.known[case], self.marks[case], case if left_out else None
        )

    def candidates(self, problem: Problem) -> int:
        """Greatest length of a list."""
        return self.n - (problem.left_out is not None)

    def without(self, problem: Problem) -> NDArray[np.float64]:
        """The summed features of the candidates."""
        total: NDArray[np.float64] = self.features.sum(axis=0)
        if problem.left_out is not None:
            total -= self.features[problem.left_out]
        return total

    def differences(self, problem: Problem) -> NDArray[np.float64]:
        """Weighted differences between a problem and all cases, shape (m, n).

        None exceeds the weight: a number outside the range of the case base differs from a case by
        its range at most.
        """
        counted = self.share[:, np.newaxis] if self.missing == "worst" else 0.0
        weighted = np.empty((self.m, self.n))
        apart = np.abs(self.numbers - problem.numbers)
        weighted[self.numeric] = np.minimum(apart, self.share[self.numeric]).T
        same = self.marks * problem.marks
        for place, attribute in enumerate(self.categorical):
            equal = same[:, self.owner == place].any(axis=1)
            weighted[attribute] = np.where(equal, 0.0, self.share[attribute])
        there = (self.known * problem.known).T > 0
        return np.asarray(np.where(there, weighted, counted))

    def distances(
        self, problem: Problem, differences: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """The distances of a problem to all cases.

        Shapes: `differences` (m, n), optional.
        """
        apart = self.differences(problem) if differences is None else differences
        together: NDArray[np.float64] = apart.sum(axis=0)
        if self.missing != "skip":
            return together
        return _mean(together, (self.known * problem.known) @ self.share)

    def aggregate(self, sums: NDArray[np.float64], otherwise: NDArray[np.float64]) -> Fills:
        """Mean and majority of sets of cases.

        Shapes: `sums` (rows, features); `otherwise` (features,).
        """
        width = len(self.numeric)
        total, count = sums[:, :width], np.rint(sums[:, width : 2 * width])
        usual = otherwise[:width] / np.maximum(otherwise[width : 2 * width], 1)
        numbers = np.where(count > 0, total / np.maximum(count, 1), usual)
        codes = np.empty((len(sums), len(self.categorical)), dtype=np.intp)
        for place in range(len(self.categorical)):
            columns = np.flatnonzero(self.owner == place) + 2 * width
            counts = np.rint(sums[:, columns])
            counts[counts.max(axis=1) == 0] = otherwise[columns]
            codes[:, place] = columns[counts.argmax(axis=1)] - 2 * width
        return Fills(numbers, codes)

    def features_of(self, fills: Fills) -> NDArray[np.float64]:
        """The features of assumed cases, which are complete."""
        marks = np.zeros((len(fills.codes), self.marks.shape[1]))
        np.put_along_axis(marks, fills.codes, 1.0, axis=1)
        return np.hstack([fills.numbers, np.ones_like(fills.numbers), marks])

    def assumed(self, hidden: NDArray[np.bool_], fills: Fills) -> NDArray[np.float64]:
        """Assumed weighted differences of the unknown attributes.

        Shapes: `hidden` (rows, m).
        """
        differences = self._category_differences(hidden[:, self.categorical], fills.codes)
        one_for_all = len(fills.numbers) == 1
        for place, attribute in enumerate(self.numeric):
            rows = np.flatnonzero(hidden[:, attribute])
            own = 0 if one_for_all else rows
            apart = np.abs(self.numbers[:, place] - fills.numbers[own, place, np.newaxis])
            there = self.known[:, attribute]
            if not there.all():
                apart *= there
                if self.missing == "worst":
                    apart += self.share[attribute] * (1 - there)
            differences[rows] += apart
        return differences

    def _category_differences(
        self, hidden: NDArray[np.bool_], codes: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        if not len(self.categorical):
            return np.zeros((len(hidden), self.n))
        weight = hidden * self.share[self.categorical]
        same = np.zeros((len(hidden), self.marks.shape[1]))
        np.put_along_axis(same, np.broadcast_to(codes, weight.shape), weight, axis=1)
        differences: NDArray[np.float64] = same @ self.marks.T
        if self.missing == "worst" or self.complete:
            differences -= weight.sum(axis=1, keepdims=True)
        else:
            differences -= weight @ self.known[:, self.categorical].T
        return np.negative(differences, out=differences)

    def compared(
        self, revealed: NDArray[np.bool_], problem: Problem, numerators: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Convert sums of differences to distances.

        Shapes: `revealed` (rows, m); `numerators` (rows, n).
        """
        if self.missing != "skip" or (self.complete and problem.known.all()):
            return numerators
        counted = np.where(revealed, problem.known, 1.0) * self.share
        return _mean(numerators, counted @ self.known.T)


def _mean(together: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide; 0/0 is 1, the greatest distance."""
    nothing = weight < 1 / NANO
    return np.where(nothing, 1.0, together / np.where(nothing, 1.0, weight))


def make_space(cases: EncodedCases, missing: Literal["zero", "worst", "skip"] = "zero") -> Space:
    """Put a case base on the scale of its distances."""
    share = cases.weights / cases.weights.sum()
    numeric, categorical = cases.numeric, cases.categorical
    sizes = [len(cases.categories[attribute] or ()) for attribute in categorical]
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return Space(
        share,
        numeric,
        categorical,
        _scaled(cases, cases) * share[numeric],
        cases.known.astype(float),
        _marked(cases, cases),
        owner,
        missing,
    )


def problems(space: Space, cases: EncodedCases, queries: EncodedCases) -> list[Problem]:
    """Put queries on the scale of a case base."""
    numbers = _scaled(cases, queries) * space.share[space.numeric]
    known, marks = queries.known.astype(float), _marked(cases, queries)
    return [Problem(*row, None) for row in zip(numbers, known, marks, strict=True)]


def _scaled(cases: EncodedCases, rows: EncodedCases) -> NDArray[np.float64]:
    """Numbers as shares of the ranges of a case base; 0 where missing.

    Values a range or more outside are clipped to one range. In a constant column, any other number
    is one range away.
    """
    varied = cases.spans > 0
    with np.errstate(over="ignore"):
        above = rows.values - cases.lowest
        scaled = np.where(varied, above / np.where(varied, cases.spans, 1.0), np.sign(above))
    return np.where(rows.known, np.clip(scaled, -1.0, 2.0), 0.0)[:, cases.numeric]


def _marked(cases: EncodedCases, rows: EncodedCases) -> NDArray[np.float64]:
    """1 for the category that a row has, among those of a case base."""
    parts = [np.zeros((len(rows), 0))]
    for attribute in cases.categorical:
        codes = np.arange(len(cases.categories[attribute] or ()))
        parts.append((rows.values[:, [attribute]] == codes).astype(float))
    return np.hstack(parts)


@dataclass(frozen=True)
class Regions:
    """The region of each case: its nearest cases, including itself.

    A target that is left out is replaced by the next nearest.
    """

    # Of shape (n,): radius of a region, and its radius with one of its cases left out
    edge: NDArray[np.int64]
    next_edge: NDArray[np.int64]
    # Of shape (n, features): sums of the features within each
    inner: NDArray[np.float64]
    outer: NDArray[np.float64]

    def sums(
        self, left_out: int | None, apart: NDArray[np.int64], features: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The summed features of each case's region, without a target that is left out.

        Shapes: `apart` (n,); `features` (n, features).
        """
        if left_out is None:
            return self.inner
        held = apart <= self.edge
        totals = self.inner.copy()
        totals[held] = self.outer[held] - features[left_out]
        return totals


def find_regions(space: Space, size: int) -> Regions:
    """Find the regions of a case base."""
    features = space.features
    n, width = features.shape
    edge, next_edge = np.empty(n, np.int64), np.empty(n, np.int64)
    inner, outer = np.empty((n, width)), np.empty((n, width))
    at = [size - 1, min(size, n - 1)]
    for case in range(n):
        key = steps(space.distances(space.case(case)))
        edge[case], next_edge[case] = np.partition(key, at)[at]
        inner[case] = features[key <= edge[case]].sum(axis=0)
        outer[case] = features[key <= next_edge[case]].sum(axis=0)
    return Regions(edge, next_edge, inner, outer)
