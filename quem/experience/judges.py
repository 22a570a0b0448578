"""Each judge by name: agreement with the others and with experience, and misfit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from quem.experience.ranks import adjusted_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.cells import RankCells
    from quem.experience.influence import LeaveOneOut

    Floats = NDArray[np.float64]

# Of the intervals of correlations, by which judges are called reversed.
LEVEL = 0.95
# A judge whose ratio is larger is warned of.
MISFIT = 2.0
_FEWEST_SOLVERS, _FEWEST_SUBJECTS, _FEWEST_JUDGES = 5, 3, 3
_ROUNDING = 1e-12


@dataclass(frozen=True)
class JudgeStatistics:
    """How each judge goes with the others, in one study or many; NaN where undefined."""

    # Of shape (...): solvers whom all judges ranked, over whom judges are correlated.
    n_solvers: NDArray[np.int64]
    # Of shape (..., judges): correlation of the judge's mean ranks with the mean of the other
    # judges' mean ranks.
    others: Floats
    interval: Floats  # of shape (..., judges, 2): of it, at 95%, by Fisher's z; from 5 solvers on
    # Of shape (..., judges): correlation of the judge's mean ranks with the subjects' experience.
    experience: Floats
    # Of shape (..., judges): the mean squared difference of the judge's ranks from the mean rank of
    # the others, as a ratio to the mean of that of the others; from 3 judges on.
    misfit: Floats

    @property
    def is_reversed(self) -> NDArray[np.bool_]:
        """Whether an order runs against the other judges' and against experience.

        The second names the right one of two judges.
        """
        with np.errstate(invalid="ignore"):
            return np.asarray((self.interval[..., 1] < 0) & (self.experience < 0))


def judge_statistics(common: Floats, experience: Floats) -> JudgeStatistics:
    """Compare each judge's ranks with those of the others.

    Shapes: `common` (..., problems, judges, solvers); `experience` (..., solvers).
    """
    known = np.isfinite(common)
    ranks = np.where(known, common, 0.0)
    count = known.sum(axis=-3)
    means = ranks.sum(axis=-3) / np.maximum(count, 1)
    judged = count.any(axis=-1)
    n_judges = judged.sum(axis=-1)[..., np.newaxis]
    shared = ((count > 0) | ~judged[..., np.newaxis]).all(axis=-2) & (n_judges > 0)
    means = np.where(judged[..., np.newaxis], means, 0.0)
    total = means.sum(axis=-2, keepdims=True)
    others = (total - means) / np.maximum(n_judges - 1, 1)[..., np.newaxis]
    n_solvers = shared.sum(axis=-1)
    enough = judged & (n_judges > 1)
    of_others = np.where(enough, _correlations(means, others, shared), np.nan)
    subjects = shared & np.isfinite(experience)
    years = np.nan_to_num(experience)[..., np.newaxis, :]
    of_years = np.where(judged, _correlations(means, years, subjects), np.nan)
    few = subjects.sum(axis=-1) < _FEWEST_SUBJECTS
    return JudgeStatistics(
        n_solvers,
        of_others,
        _interval(of_others, n_solvers[..., np.newaxis]),
        np.where(few[..., np.newaxis], np.nan, of_years),
        np.where(judged & (n_judges >= _FEWEST_JUDGES), _misfit(ranks, known), np.nan),
    )


def _correlations(a: Floats, b: Floats, of: NDArray[np.bool_]) -> Floats:
    """Pearson correlations over some solvers, the last axis; NaN without variance."""
    weight = of[..., np.newaxis, :].astype(np.float64)
    n = np.maximum(weight.sum(axis=-1, keepdims=True), 1)
    a, b = (weight * (x - (weight * x).sum(axis=-1, keepdims=True) / n) for x in (a, b))
    length = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
    products = (a * b).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(length > _ROUNDING, np.clip(products / length, -1, 1), np.nan)


def _interval(r: Floats, n: NDArray[np.int64]) -> Floats:
    """Fisher's interval of correlations over n solvers."""
    half = ndtri((1 + LEVEL) / 2) / np.sqrt(np.maximum(n - 3, 1))
    with np.errstate(divide="ignore"):
        z = np.arctanh(r)
    ends = np.tanh(np.stack([z - half, z + half], axis=-1))
    return np.where((n >= _FEWEST_SOLVERS)[..., np.newaxis], ends, np.nan)


def _misfit(ranks: Floats, known: NDArray[np.bool_]) -> Floats:
    """Mean squared differences from the others' mean, over the mean of those of the others."""
    m = known.sum(axis=-2, keepdims=True)
    others = (ranks.sum(axis=-2, keepdims=True) - ranks) / np.maximum(m - 1, 1)
    compared = known & (m > 1)
    off = np.where(compared, (ranks - others) ** 2, 0.0).sum(axis=(-3, -1))
    n = compared.sum(axis=(-3, -1))
    of_judge = off / np.maximum(n, 1)
    n_others = np.maximum((n > 0).sum(axis=-1, keepdims=True) - 1, 1)
    usual = (of_judge.sum(axis=-1, keepdims=True) - of_judge) / n_others
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((usual > _ROUNDING) & (n > 0), of_judge / usual, np.nan)


@dataclass(frozen=True)
class JudgeFit:
    """How one judge goes with the others; NaN where undefined (see `JudgeStatistics`)."""

    judge: str
    n_solvers: int
    others: float
    interval: tuple[float, float]
    experience: float
    misfit: float
    is_reversed: bool
    # The estimates with this judge's order turned around; empty unless it is reversed.
    turned: tuple[LeaveOneOut, ...] = ()


def judge_fits(cells: RankCells, common: Floats, experience: Floats) -> list[JudgeFit]:
    """Describe each judge who ranked with others; nobody where there is one judge only.

    Shapes: `common` (problems, judges, solvers); `experience` (solvers,).
    """
    of = judge_statistics(common, experience)
    judging = np.flatnonzero(np.isfinite(common).any(axis=(0, 2)))
    if len(judging) < 2:  # noqa: PLR2004  nobody to agree with
        return []
    return [
        JudgeFit(
            cells.judges[at],
            int(of.n_solvers),
            float(of.others[at]),
            (float(of.interval[at, 0]), float(of.interval[at, 1])),
            float(of.experience[at]),
            float(of.misfit[at]),
            bool(of.is_reversed[at]),
        )
        for at in judging.tolist()
    ]


def turn_around(cells: RankCells, judge: str) -> RankCells:
    """Turn all orders of a judge around; failed solutions stay last."""
    turned = (cells.judge == cells.judges.index(judge)) & np.isfinite(cells.given)
    given = np.where(turned, -cells.given, cells.given)
    humans = cells.reference == "humans"
    counted = cells.of_kind("subject")[cells.solver] if humans else None
    adjusted, size = adjusted_ranks(cells.group, given, counted)
    return replace(cells, given=given, adjusted=adjusted, size=size, score=adjusted)
