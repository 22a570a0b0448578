"""Agreement between judges: Kendall's W, its p value, and correlations with the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaincc, ndtri

from quem.method.ranks import adjusted_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quem.method.cells import RankCells

    Floats = NDArray[np.float64]

_LARGEST = 20_000_000  # cells of a table of problems, judges, and solvers
_PERMUTATIONS, _SEED = 9_999, 0
_MOST_PERMUTED = 5_000  # ranks
_MOST_EXACT = 7  # solutions of two judges whose orders can be enumerated
_MOST_SUMS = 1_000_000
_NUMBERS = 2_000_000
_ROUNDING = 1e-9
_LEVEL = 0.95
_FEWEST_SOLVERS, _FEWEST_SUBJECTS, _FEWEST_JUDGES = 5, 3, 2


@dataclass(frozen=True)
class JudgeAgreement:
    """The agreement of one judge with the others; NaN where undefined."""

    judge: str
    # Correlation of the judge's mean ranks with the mean of the others' mean ranks, over the
    # solvers whom all judges ranked; with its interval by Fisher's z, from 5 solvers on
    others: float
    interval: tuple[float, float]
    experience: float  # correlation of the judge's mean ranks with the subjects' experience

    @property
    def is_reversed(self) -> bool:
        """Whether an order contradicts the other judges and experience.

        With two judges, experience decides which one is reversed.
        """
        return self.interval[1] < 0 and self.experience < 0


@dataclass(frozen=True)
class Agreement:
    """The agreement of the judges of a study."""

    kendall_w: float  # the mean over problems; NaN where no two judges ranked the same solutions
    p_value: float  # under random ranking; NaN where unknown
    judges: tuple[JudgeAgreement, ...]  # empty for one judge


def agreement(cells: RankCells, years: Floats) -> Agreement | None:
    """The agreement between judges; None in blocks, and in a study that is too large.

    Withheld solvers and failed solutions are excluded. Per problem, only solutions that all of its
    judges ranked count.

    Shapes: `years` (n_solvers,).
    """
    shape = (len(cells.problems), len(cells.judges), len(cells.solvers))
    if cells.is_blocked or np.prod(shape, dtype=np.float64) > _LARGEST:
        return None
    common = _in_common(cells, shape)
    held = np.isfinite(common)
    tables = [
        of[known.any(axis=1)][:, known.any(axis=0)]
        for of, known in zip(common, held, strict=True)
        if known.any(axis=1).sum() >= _FEWEST_JUDGES
    ]
    w = np.array([kendall_w(ranks) for ranks in tables])
    defined = np.isfinite(w)
    tables = [ranks for ranks, is_defined in zip(tables, defined, strict=True) if is_defined]
    mean = float(w[defined].mean()) if defined.any() else np.nan
    p = _p_value(tables, w[defined]) if tables else np.nan
    return Agreement(mean, p, tuple(_judges(cells, common, years)))


def _in_common(cells: RankCells, shape: tuple[int, int, int]) -> Floats:
    """Adjusted ranks among the solutions that all judges of a problem ranked, else NaN."""
    row = np.flatnonzero(cells.judged())
    place = np.ravel_multi_index((cells.problem[row], cells.judge[row], cells.solver[row]), shape)
    known = np.zeros(shape, dtype=bool)
    known.ravel()[place] = True
    taking_part = known.sum(axis=2, keepdims=True) > 1
    in_common = (known | ~taking_part).all(axis=1, keepdims=True)
    keep = (taking_part & in_common).ravel()[place]
    common = np.full(shape, np.nan)
    if keep.all() and len(row) == len(cells.given):
        common.ravel()[place] = cells.adjusted  # in this order already
    else:
        row = row[keep]
        common.ravel()[place[keep]] = adjusted_ranks(cells.group[row], cells.given[row])[0]
    return common


def kendall_w(ranks: Floats) -> float:
    r"""Compute :math:`W = 12 S / (m^2 (n^3 - n) - m \sum (t^3 - t))`.

    The greatest spread of rank sums with the judges' ties.
    """
    centered = ranks - (ranks.shape[1] + 1) / 2
    most = _most(centered)
    return float((centered.sum(axis=0) ** 2).sum() / most) if most > _ROUNDING else np.nan


def _most(centered: Floats) -> float:
    # t^3 - t is the loss of variance of a judge's ranks by a tie.
    return float(len(centered) * (centered**2).sum())


def _p_value(tables: Sequence[Floats], w: Floats) -> float:
    """The probability of a mean W this large if each judge's ranks are permuted per problem.

    Exact for two judges of at most 7 solutions; else p = (1 + count)/(1 + permutations). Above
    5,000 ranks the sum over problems is compared with a gamma distribution of its mean and
    variance, 1/m and 2 (m - 1)/(m^3 (n - 1)) per problem (Kendall & Babington Smith 1939).
    """
    least = float(w.sum())
    if sum(ranks.size for ranks in tables) > _MOST_PERMUTED:
        m, n = np.array([ranks.shape for ranks in tables], dtype=np.float64).T
        mean, variance = (1 / m).sum(), (2 * (m - 1) / (m**3 * (n - 1))).sum()
        return float(gammaincc(mean**2 / variance, least * mean / variance))
    exact = [_distribution(ranks) for ranks in tables]
    known = [of for of in exact if of]
    if len(known) == len(exact) and (of_sum := _sum(known)):
        values, chances = of_sum
        return min(float(chances[values >= least - _ROUNDING].sum()), 1.0)
    rng = np.random.default_rng(_SEED)
    drawn = np.sum([_drawn(ranks, rng) for ranks in tables], axis=0)
    return float((1 + (drawn >= least - _ROUNDING).sum()) / (1 + _PERMUTATIONS))


def _drawn(ranks: Floats, rng: np.random.Generator) -> Floats:
    """W of random orders of each judge's ranks, shape (permutations,)."""
    centered = ranks - (ranks.shape[1] + 1) / 2
    # Only the relative orders count, so the first judge's stays fixed.
    first, others = centered[0], centered[1:]
    step = max(1, _NUMBERS // others.size)
    spreads = []
    for start in range(0, _PERMUTATIONS, step):
        size = min(step, _PERMUTATIONS - start)
        orders = rng.permuted(np.broadcast_to(others, (size, *others.shape)), axis=2)
        spreads.append(((orders.sum(axis=1) + first) ** 2).sum(axis=1))
    return np.asarray(np.concatenate(spreads) / _most(centered))


def _distribution(ranks: Floats) -> tuple[Floats, Floats] | None:
    """The values of W and their probabilities; None if there are too many orders."""
    m, n = ranks.shape
    if m != _FEWEST_JUDGES or n > _MOST_EXACT:
        return None
    first, second = ranks - (n + 1) / 2
    spread = ((first + second[_orders(n)]) ** 2).sum(axis=1)
    return _merged(spread / _most(ranks - (n + 1) / 2), np.full(len(spread), 1 / len(spread)))


@cache
def _orders(n: int) -> NDArray[np.int64]:
    """All orders of 0 to n - 1, shape (n!, n)."""
    return np.array(list(permutations(range(n))))


def _merged(values: Floats, chances: Floats) -> tuple[Floats, Floats]:
    """Merge values that are equal but for rounding."""
    distinct, at = np.unique(values.round(10), return_inverse=True)
    return distinct, np.asarray(np.bincount(at.ravel(), chances), dtype=np.float64)


def _sum(distributions: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats] | None:
    """The distribution of the sum; None if it has too many values."""
    values, chances = np.zeros(1), np.ones(1)
    for more, their in distributions:
        if len(values) * len(more) > _MOST_SUMS:
            return None
        values, chances = _merged(
            np.add.outer(values, more).ravel(), np.multiply.outer(chances, their).ravel()
        )
    return values, chances


def _judges(cells: RankCells, common: Floats, years: Floats) -> list[JudgeAgreement]:
    """Compare each judge's mean ranks with those of the others; empty for one judge."""
    known = np.isfinite(common)
    count = known.sum(axis=0)
    judging = np.flatnonzero(count.any(axis=1))
    if len(judging) < _FEWEST_JUDGES:
        return []
    means = np.where(known, common, 0.0).sum(axis=0)[judging] / np.maximum(count[judging], 1)
    shared = (count[judging] > 0).all(axis=0)
    others = (means.sum(axis=0) - means) / (len(judging) - 1)
    subjects = shared & np.isfinite(years)
    found = []
    for at, own, rest in zip(judging.tolist(), means, others, strict=True):
        r = _correlation(own[shared], rest[shared])
        enough = subjects.sum() >= _FEWEST_SUBJECTS
        of_years = _correlation(own[subjects], years[subjects]) if enough else np.nan
        interval = _interval(r, int(shared.sum()))
        found.append(JudgeAgreement(cells.judges[at], r, interval, of_years))
    return found


def _correlation(a: Floats, b: Floats) -> float:
    """Pearson's correlation; NaN without variance."""
    if len(a) < 2:  # noqa: PLR2004  no variance
        return np.nan
    a, b = a - a.mean(), b - b.mean()
    length = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float(np.clip((a * b).sum() / length, -1, 1)) if length > _ROUNDING else np.nan


def _interval(r: float, n: int) -> tuple[float, float]:
    """Fisher's interval of a correlation over n solvers."""
    if n < _FEWEST_SOLVERS or not np.isfinite(r):
        return np.nan, np.nan
    half = float(ndtri((1 + _LEVEL) / 2)) / np.sqrt(n - 3)
    with np.errstate(divide="ignore"):
        z = np.arctanh(r)
    return float(np.tanh(z - half)), float(np.tanh(z + half))


def turned_around(cells: RankCells, judge: str) -> RankCells:
    """Reverse all orders of a judge; failed solutions stay last."""
    turned = (cells.judge == cells.judges.index(judge)) & np.isfinite(cells.given)
    given = np.where(turned, -cells.given, cells.given)
    adjusted, size = adjusted_ranks(cells.group, given)
    return replace(cells, given=given, adjusted=adjusted, size=size, score=adjusted)
