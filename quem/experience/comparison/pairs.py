"""Every two systems of one study, compared where the same judges ranked both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.comparison.difference import difference_interval
from quem.experience.comparison.paired import pair_up
from quem.experience.comparison.tests import TESTS, run_test
from quem.queries.holm import holm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quem.experience.comparison.difference import Difference
    from quem.experience.comparison.paired import Paired
    from quem.experience.comparison.tests import PairTest
    from quem.experience.estimate import Interval
    from quem.experience.findings import Findings

__all__ = ["Pair", "compare_pairs"]


@dataclass(frozen=True)
class Pair:
    """Two systems of one study; every difference is b less a.

    Parameters
    ----------
    a, b : str
    paired : Paired
    tests : dict of str to PairTest
        All of them.
    chosen : str
        The test that p values and intervals are taken from.
    p_holm : float
        The p value of the chosen test, adjusted for all that are reported with it.
    years : Difference
    """

    a: str
    b: str
    paired: Paired
    tests: dict[str, PairTest]
    chosen: str
    p_holm: float
    years: Difference

    @property
    def test(self) -> PairTest:
        """The chosen test."""
        return self.tests[self.chosen]

    @property
    def interval(self) -> Interval:
        """The interval of the difference in average rank.

        That of the t test over problems where the chosen test has none.
        """
        own = self.test.interval
        return own if np.isfinite(own).all() else self.tests["problem"].interval


def compare_pairs(found: Findings, systems: Sequence[str], test: str) -> list[Pair]:
    """Compare every two of some systems.

    Parameters
    ----------
    found : Findings
        Of a study of ranks.
    systems : sequence of str
        In the order in which later ones are held against earlier ones.
    test : {"problem", "twoway", "signflip"}
    """
    pairs = [_compare(found, a, b, test) for a, b in combinations(systems, 2)]
    adjusted = holm([pair.test.p for pair in pairs])
    return [replace(pair, p_holm=p) for pair, p in zip(pairs, adjusted, strict=True)]


def _compare(found: Findings, a: str, b: str, test: str) -> Pair:
    cells, settings = found.cells, found.settings
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
    years = difference_interval(cells, found.averages, found.function, b, a, level=settings.level)
    return Pair(a, b, paired, tests, test, float("nan"), years)
