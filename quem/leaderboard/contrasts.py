"""The difference of each two systems by each measure, the later one minus the earlier one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.inference import compare_systems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quem.leaderboard.settings import LeaderboardSettings
    from quem.lists.score_table import ScoredBy


@dataclass(frozen=True)
class Contrast:
    """How far two systems are apart by one measure."""

    first: int
    second: int
    measure: int
    n: int  # on how many queries both have a score; only these count
    difference: float  # the second's mean minus the first's, there; NaN without such a query
    interval: tuple[float, float]  # of the difference, by bootstrap over queries
    # On how many queries the second is better, and so on
    better: int
    equal: int
    worse: int
    p: float  # of the paired randomization test of this pair alone
    p_joint: float  # of the joint test of all pairs; NaN where the pair is not tested
    gain: float  # the difference, with the sign that makes more better
    # 1 where the second is significantly better, -1 where it is significantly worse, else 0.
    verdict: int

    @property
    def is_tested(self) -> bool:
        """Whether there are enough queries for a test."""
        return not np.isnan(self.p_joint)


def contrasts_of(
    values: NDArray[np.float64],
    measures: Sequence[ScoredBy],
    p_joint: NDArray[np.float64],
    settings: LeaderboardSettings,
) -> tuple[Contrast, ...]:
    """Compare each two systems by each measure.

    Shapes: `values` (systems, queries, measures); `p_joint` (measures, systems, systems).
    """
    found = []
    for pair in compare_systems(
        values,
        level=settings.level,
        replicates=settings.bootstrap,
        permutations=settings.permutations,
        seed=settings.seed,
    ):
        is_higher_better = measures[pair.measure].better == "higher"
        p = float(p_joint[pair.measure, pair.first, pair.second])
        gain = -pair.difference if is_higher_better else pair.difference
        significant = p <= 1 - settings.level + 1e-12
        better, worse = (pair.lower, pair.higher)
        found.append(
            Contrast(
                pair.first,
                pair.second,
                pair.measure,
                pair.n,
                # 0 has no sign.
                difference=0.0 - pair.difference,
                interval=(0.0 - pair.interval[1], 0.0 - pair.interval[0]),
                better=better if is_higher_better else worse,
                equal=pair.equal,
                worse=worse if is_higher_better else better,
                p=float("nan") if np.isnan(p) else pair.p,
                p_joint=p,
                gain=gain,
                verdict=int(np.sign(gain)) if significant and not np.isnan(gain) else 0,
            )
        )
    return tuple(found)
