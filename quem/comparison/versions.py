"""Versions of one system, as a progression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from quem.comparison.independent import (
    IndependentDifference,
    SystemEstimate,
    by_date,
    compare_apart,
)
from quem.lists.inference import holm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from quem.comparison.pairs import Pair


@dataclass(frozen=True)
class Step:
    """From one version to the next."""

    before: SystemEstimate
    after: SystemEstimate
    how: Pair | IndependentDifference  # a pair where the same study holds both versions
    p_holm: float

    @property
    def pair(self) -> Pair | None:
        """The step as a comparison within a study; None between studies."""
        return None if isinstance(self.how, IndependentDifference) else self.how

    @property
    def years(self) -> float:
        """By how much the later version is ahead; NaN where that is not defined."""
        return (
            self.how.years if isinstance(self.how, IndependentDifference) else self.how.years.years
        )

    @property
    def p(self) -> float:
        """Of the step's test, not adjusted; NaN without a test."""
        return self.how.p if isinstance(self.how, IndependentDifference) else self.how.test.p


@dataclass(frozen=True)
class Progression:
    """Versions of one system in order."""

    of: str
    versions: tuple[SystemEstimate, ...]  # by date, if all have one, else in the order of the files
    steps: tuple[Step, ...]  # one fewer

    @property
    def dated(self) -> bool:
        """Whether every version has a date."""
        return all(version.date for version in self.versions)


def progressions_of(
    system_estimates: Sequence[SystemEstimate], pairs: Sequence[Pair]
) -> list[Progression]:
    """Find the systems of one study of which there are several versions."""
    by_ends = {(pair.a, pair.b): pair for pair in pairs}
    families: dict[str, list[SystemEstimate]] = {}
    for entry in system_estimates:
        families.setdefault(entry.of, []).append(entry)
    progressions = []
    for of, versions in families.items():
        steps = []
        for before, after in pairwise(versions):
            pair = by_ends[before.system, after.system]
            steps.append(Step(before, after, pair, pair.p_holm))
        if steps:
            progressions.append(Progression(of, tuple(versions), tuple(steps)))
    return progressions


def across_studies(
    of: str,
    system_estimates: Sequence[SystemEstimate],
    within: Callable[[SystemEstimate, SystemEstimate], Pair],
    level: float,
) -> Progression:
    """Put the versions of one system in order that several studies measured.

    Versions of the same study are compared in it, others as independent estimates. The p
    values are adjusted for the number of steps.
    """
    versions = by_date(list(system_estimates))
    steps = [
        Step(
            before,
            after,
            within(before, after)
            if before.study == after.study
            else compare_apart(before, after, level),
            float("nan"),
        )
        for before, after in pairwise(versions)
    ]
    p_values = holm([step.p for step in steps])
    steps = [replace(step, p_holm=p) for step, p in zip(steps, p_values, strict=True)]
    return Progression(of, tuple(versions), tuple(steps))
