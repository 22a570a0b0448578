"""Every two systems of one study, compared where the same judges ranked both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from quem.comparison.automatic import automatic_test
from quem.comparison.pair_tests import TESTS, pair_up, run_test
from quem.comparison.years import difference_interval
from quem.lists.inference import holm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.comparison.automatic import AutomaticTest
    from quem.comparison.pair_tests import PairTest, RankDifferences
    from quem.comparison.years import Difference
    from quem.experience.estimate import Interval
    from quem.experience.result import ExperienceFindings


@dataclass(frozen=True)
class Pair:
    """Two systems of one study; every difference is b less a."""

    a: str
    b: str
    paired: RankDifferences
    tests: dict[str, PairTest]  # all that can be asked for by name
    automatic: AutomaticTest  # the one that fits what the judges say of the two
    chosen: str  # the test that p values and intervals are taken from, or ``auto``
    p_holm: float  # the p value of the chosen test, adjusted for all that are reported with it
    years: Difference

    @property
    def test(self) -> PairTest:
        """The test that was used."""
        return self.automatic.test if self.chosen == "auto" else self.tests[self.chosen]

    @property
    def used(self) -> str:
        """Which test was used: problem, twoway, or signflip."""
        return self.automatic.name if self.chosen == "auto" else self.chosen

    @property
    def why(self) -> str:
        """Why this one, as a clause; empty where it was asked for."""
        return self.automatic.why if self.chosen == "auto" else ""

    @property
    def interval(self) -> Interval:
        """The interval of the difference in average rank.

        That of the t test over problems where the chosen test has none.
        """
        own = self.test.interval
        return own if np.isfinite(own).all() else self.tests["problem"].interval


def compare_pairs(findings: ExperienceFindings, systems: Sequence[str], test: str) -> list[Pair]:
    """Compare every two of some systems."""
    pairs = [_compare(findings, a, b, test) for a, b in combinations(systems, 2)]
    adjusted = holm([pair.test.p for pair in pairs])
    return [replace(pair, p_holm=p) for pair, p in zip(pairs, adjusted, strict=True)]


def _compare(findings: ExperienceFindings, a: str, b: str, test: str) -> Pair:
    cells, settings = findings.cells, findings.settings
    assert cells is not None  # noqa: S101  studies of averages are refused before
    paired = pair_up(cells, a, b)
    tests = {
        name: run_test(
            name,
            paired,
            level=settings.level,
            permutations=settings.permutations,
            seed=settings.seed,
        )
        for name in TESTS
    }
    years = difference_interval(
        cells, findings.averages, findings.function, b, a, level=settings.level
    )
    automatic = automatic_test(paired, settings.level)
    return Pair(a, b, paired, tests, automatic, test, float("nan"), years)
