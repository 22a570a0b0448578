"""The part of the coverage study about worths: intervals of worths, and their reliability.

Rankings are drawn from the model that is fitted, so that nothing but chance is in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from scipy.special import ndtri

from quem.method.plackett_luce import PooledRankings, Scale, fit_scale, scale_errors, weak_orders

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.method.plackett_luce import ScaleErrors

_LEVEL = 0.95
# Of log worths: those of a panel of people and systems that differ clearly.
_SPREAD = 1.5


@dataclass(frozen=True)
class WorthCase:
    """Studies of one design."""

    part: str
    cell: str  # as the table names it
    # How many solvers, and how many rankings of how many of them
    solvers: int
    rankings: int
    length: int
    close: float  # how near the mean reliability is to be to the squared correlation with the truth
    studies: int = 60  # in each part

    def rows(self, seed: int, part: int) -> list[dict[str, Any]]:
        """Simulate a part, and count; each part of a case has random numbers of its own."""
        rng = np.random.default_rng(
            np.random.SeedSequence(seed, spawn_key=(crc32(self.cell.encode()), part))
        )
        covered = 0.0
        reliability, correlation = [], []
        for _ in range(self.studies):
            truth, scale, errors = self._study(rng)
            off = np.abs(scale.model.log_worth - truth)
            covered += float((off <= ndtri((1 + _LEVEL) / 2) * errors.log_worth).mean())
            reliability.append(errors.separation)
            correlation.append(float(np.corrcoef(scale.model.log_worth, truth)[0, 1]) ** 2)
        apart = abs(float(np.mean(reliability)) - float(np.mean(correlation)))
        return [
            {"what": "covered", "is_so": covered, "defined": self.studies},
            # Studies in the mean of which both are as near as the bar says: all or none.
            {
                "what": "reliability",
                "is_so": self.studies * (apart <= self.close),
                "defined": self.studies,
                "width": 100 * float(np.mean(reliability)),
                "line": 100 * float(np.mean(correlation)),
            },
        ]

    def _study(self, rng: np.random.Generator) -> tuple[NDArray[np.float64], Scale, ScaleErrors]:
        truth = rng.normal(scale=_SPREAD, size=self.solvers)
        truth -= truth.mean()
        chosen = rng.permuted(np.tile(np.arange(self.solvers), (self.rankings, 1)), axis=1)[
            :, : self.length
        ]
        # The order of worths with errors of Gumbel's distribution is that of Plackett and Luce.
        seen = truth[chosen] + rng.gumbel(size=chosen.shape)
        ranking = np.repeat(np.arange(self.rankings), self.length)
        none = np.zeros(self.rankings, dtype=np.int64)
        orders = weak_orders(ranking, chosen.ravel(), seen.ravel())
        scale = fit_scale(PooledRankings(orders, self.solvers, 1, none, np.arange(self.rankings)))
        errors = scale_errors(scale)
        assert errors is not None  # noqa: S101  there are few solvers
        return truth, scale, errors


WORTHS_CASES = (
    WorthCase("worths", "12 solvers, 60 blocks of 4", 12, 60, 4, 0.02),
    WorthCase("worths", "20 solvers, 600 pairs", 20, 600, 2, 0.02),
    WorthCase("worths", "12 solvers, 150 pairs", 12, 150, 2, 0.05),
)
