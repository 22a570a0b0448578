"""What the choice of the measure decides: orders, winners, and which differences are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quem.leaderboard.contrasts import Contrast

# Means that differ by less are equal.
_SAME = 1e-9


@dataclass(frozen=True)
class MeasureEffect:
    """What one measure says of all systems."""

    measure: int
    best: tuple[int, ...]  # the systems of the best mean; several where they tie
    # Pairs that were tested, and those that differ
    pairs: int
    significant: int
    groups: int  # groups of systems that cannot be distinguished
    tau: float  # kendall's tau-b with the order by the headline

    @property
    def power(self) -> float:
        """The share of pairs that it distinguishes; NaN without pairs."""
        return self.significant / self.pairs if self.pairs else float("nan")


@dataclass(frozen=True)
class PairEffect:
    """By how many measures the second of two systems is better, and so on."""

    first: int
    second: int
    better: int
    equal: int
    worse: int
    significantly_better: int
    significantly_worse: int


@dataclass(frozen=True)
class Conflict:
    """Two systems of which each is significantly better by some measures."""

    first: int
    second: int
    # By which
    for_first: tuple[int, ...]
    for_second: tuple[int, ...]


def measure_effects(
    oriented: NDArray[np.float64],
    contrasts: Sequence[Contrast],
    groups: Sequence[int],
    tau: NDArray[np.float64],
) -> Iterator[MeasureEffect]:
    """Say for each measure what is best by it, and what it distinguishes.

    Shapes: `oriented` (systems, measures); `tau` (measures,).
    """
    for at in range(oriented.shape[1]):
        tested = [pair for pair in contrasts if pair.measure == at and pair.is_tested]
        column = oriented[:, at]
        best: tuple[int, ...] = ()
        if not np.isnan(column).all():
            best = tuple(np.flatnonzero(column >= np.nanmax(column) - _SAME).tolist())
        significant = sum(pair.verdict != 0 for pair in tested)
        yield MeasureEffect(at, best, len(tested), significant, groups[at], float(tau[at]))


def _by_pair(contrasts: Sequence[Contrast]) -> dict[tuple[int, int], list[Contrast]]:
    found: dict[tuple[int, int], list[Contrast]] = {}
    for one in contrasts:
        found.setdefault((one.first, one.second), []).append(one)
    return found


def pair_effects(contrasts: Sequence[Contrast]) -> Iterator[PairEffect]:
    """Count for each two systems how the measures see them."""
    for (first, second), own in _by_pair(contrasts).items():
        gains = [one.gain for one in own if not np.isnan(one.gain)]
        yield PairEffect(
            first,
            second,
            better=sum(gain > _SAME for gain in gains),
            equal=sum(abs(gain) <= _SAME for gain in gains),
            worse=sum(gain < -_SAME for gain in gains),
            significantly_better=sum(one.verdict > 0 for one in own),
            significantly_worse=sum(one.verdict < 0 for one in own),
        )


def conflicts(contrasts: Sequence[Contrast]) -> Iterator[Conflict]:
    """Find the pairs of which significant differences point both ways."""
    for (first, second), own in _by_pair(contrasts).items():
        for_first = tuple(one.measure for one in own if one.verdict < 0)
        for_second = tuple(one.measure for one in own if one.verdict > 0)
        if for_first and for_second:
            yield Conflict(first, second, for_first, for_second)
