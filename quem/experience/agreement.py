"""Agreement between judges, and of each judge with their own repeat rankings."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.ranks import adjusted_ranks
from quem.rankings.entries import repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from quem.experience.cells import RankCells
    from quem.rankings import Rankings
    from quem.study import Declared

__all__ = [
    "Concordance",
    "Consistency",
    "JudgeAgreement",
    "Retest",
    "judge_agreement",
    "retest_agreement",
]

# Of more pairs of judges than the first, a sample as large as the second is compared.
_MOST_PAIRS, _SAMPLE = 1000, 200

_STATISTICS = (
    "kendall_w",
    "mean_tau_b",
    "mean_spearman",
    "krippendorff_alpha",
    "icc_2_1",
    "icc_2_k",
)


@dataclass(frozen=True)
class Concordance:
    """How well judges agree; NaN where a statistic is undefined.

    Parameters
    ----------
    kendall_w : float
        Kendall's coefficient of concordance, corrected for ties; overall, the mean over
        problems.
    mean_tau_b, mean_spearman : float
        Means over pairs of judges.
    krippendorff_alpha : float
        With the ordinal metric.
    icc_2_1, icc_2_k : float
        Two-way random effects, absolute agreement, of one judge and of the mean of all.
    """

    n_judges: int
    n_solutions: int
    kendall_w: float = np.nan
    mean_tau_b: float = np.nan
    mean_spearman: float = np.nan
    krippendorff_alpha: float = np.nan
    icc_2_1: float = np.nan
    icc_2_k: float = np.nan

    def statistics(self) -> dict[str, float]:
        """Give the six statistics by name."""
        return {name: getattr(self, name) for name in _STATISTICS}


@dataclass(frozen=True)
class JudgeAgreement:
    """The agreement of the judges of a study.

    Parameters
    ----------
    pairs : list of (str, str, str, float, float, int)
        Problem, two judges, Spearman, tau-b, solutions that both ranked.
    sampled : bool
        Whether only a sample of the pairs of judges was looked at.
    """

    problems: dict[str, Concordance]
    overall: Concordance
    pairs: list[tuple[str, str, str, float, float, int]]
    sampled: bool


def judge_agreement(cells: RankCells, *, seed: int) -> JudgeAgreement:
    """Measure how well the judges agree.

    Parameters
    ----------
    seed : int
        For the sample of pairs, where there are too many of them.
    """
    orders, ranks_in_common = _tables(cells)
    rng = np.random.default_rng(seed)
    problems: dict[str, Concordance] = {}
    pairs: list[tuple[str, str, str, float, float, int]] = []
    sampled = False
    units = []
    for index, problem in enumerate(cells.problems):
        judges = np.flatnonzero(np.isfinite(orders[index]).sum(axis=1) > 1)
        order = orders[index, judges]
        unit = ranks_in_common[index]
        unit = unit[:, np.isfinite(unit).any(axis=0)]
        chosen, some = _pairs(len(judges), rng)
        sampled |= some
        spearman, tau, both = _correlations(order, chosen)
        problems[problem] = _concordance(unit[judges], spearman, tau)
        units.append(unit)
        compared = zip(judges[chosen].tolist(), spearman, tau, both, strict=True)
        pairs += [
            (problem, cells.judges[a], cells.judges[b], float(r), float(t), int(n))
            for (a, b), r, t, n in compared
        ]
    overall = _overall(problems, np.concatenate(units, axis=1))
    return JudgeAgreement(problems, overall, pairs, sampled)


def _tables(cells: RankCells) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Orders as given, and ranks renumbered, both of shape (problems, judges, solvers).

    Ranks are renumbered among the solvers whom all judges of the problem ranked; judges with
    fewer than two solutions take no part. NaN elsewhere.
    """
    shape = (len(cells.problems), len(cells.judges), len(cells.solvers))
    row = np.flatnonzero(cells.judged())
    place = np.ravel_multi_index((cells.problem[row], cells.judge[row], cells.solver[row]), shape)
    orders = np.full(shape, np.nan)
    orders.ravel()[place] = cells.given[row]
    mask = np.isfinite(orders)
    taking_part = mask.sum(axis=2, keepdims=True) > 1
    in_common = (mask | ~taking_part).all(axis=1, keepdims=True)
    keep = (taking_part & in_common).ravel()[place]
    ranks = np.full(shape, np.nan)
    if keep.all() and len(row) == len(cells.given) and cells.reference == "all":
        ranks.ravel()[place] = cells.adjusted  # numbered so already
    else:
        row = row[keep]
        ranks.ravel()[place[keep]] = adjusted_ranks(cells.group[row], cells.given[row])[0]
    return orders, ranks


def _pairs(n_judges: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], bool]:
    """All pairs of judges, or a sample of them, shape (n_pairs, 2)."""
    if n_judges * (n_judges - 1) // 2 <= _MOST_PAIRS:
        return np.column_stack(np.triu_indices(n_judges, 1)), False
    first = rng.integers(n_judges, size=_SAMPLE)
    second = (first + rng.integers(1, n_judges, size=_SAMPLE)) % n_judges
    return np.column_stack([first, second]), True


def _correlations(
    order: NDArray[np.float64], pairs: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Spearman and tau-b of each pair of judges, among the solvers that both ranked."""
    a, b = order[pairs[:, 0]], order[pairs[:, 1]]
    both = np.isfinite(a) & np.isfinite(b)
    compared = both[:, :, np.newaxis] & both[:, np.newaxis, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        sign_a, sign_b = (
            np.where(compared, np.sign(o[:, :, np.newaxis] - o[:, np.newaxis, :]), 0)
            for o in (a, b)
        )
        agree = (sign_a * sign_b).sum(axis=(1, 2))
        untied = (sign_a**2).sum(axis=(1, 2)) * (sign_b**2).sum(axis=(1, 2))
        tau = agree / np.sqrt(untied)
        # The sum of a row of signs is twice the centered rank.
        centred_a, centred_b = sign_a.sum(axis=2), sign_b.sum(axis=2)
        spread = (centred_a**2).sum(axis=1) * (centred_b**2).sum(axis=1)
        spearman = (centred_a * centred_b).sum(axis=1) / np.sqrt(spread)
    return spearman, tau, both.sum(axis=1)


def _concordance(
    ranks: NDArray[np.float64], spearman: NDArray[np.float64], tau: NDArray[np.float64]
) -> Concordance:
    m, n = ranks.shape
    if m < 2 or n < 2:  # noqa: PLR2004  nothing to compare
        return Concordance(m, n, mean_tau_b=_mean(tau), mean_spearman=_mean(spearman))
    single, average = _icc(ranks)
    return Concordance(
        m,
        n,
        kendall_w=_kendall_w(ranks),
        mean_tau_b=_mean(tau),
        mean_spearman=_mean(spearman),
        krippendorff_alpha=_krippendorff(ranks),
        icc_2_1=single,
        icc_2_k=average,
    )


def _overall(problems: dict[str, Concordance], units: NDArray[np.float64]) -> Concordance:
    """Pool the problem x solver units; judges who missed a problem lack its units."""
    active = np.isfinite(units).any(axis=1)
    units = units[active]
    complete = units[:, np.isfinite(units).all(axis=0)]
    concordances = list(problems.values())
    comparable = complete.shape[0] > 1 and complete.shape[1] > 1
    single, average = _icc(complete) if comparable else (np.nan, np.nan)
    return Concordance(
        len(units),
        int((np.isfinite(units).sum(axis=0) > 1).sum()),
        kendall_w=_mean([c.kendall_w for c in concordances]),
        mean_tau_b=_mean([c.mean_tau_b for c in concordances]),
        mean_spearman=_mean([c.mean_spearman for c in concordances]),
        krippendorff_alpha=_krippendorff(units),
        icc_2_1=single,
        icc_2_k=average,
    )


def _mean(values: NDArray[np.float64] | list[float]) -> float:
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    return float(known.mean()) if len(known) else np.nan


def _kendall_w(ranks: NDArray[np.float64]) -> float:
    r"""Compute :math:`W = 12 S / (m^2 (n^3 - n) - m \sum (t^3 - t))`."""
    m, n = ranks.shape
    spread = ((ranks.sum(axis=0) - m * (n + 1) / 2) ** 2).sum()
    # t^3 - t of a judge's ties, from the variance that they cost his ranks.
    ties = (n**3 - n) - 12 * ((ranks - (n + 1) / 2) ** 2).sum(axis=1)
    most = m**2 * (n**3 - n) - m * ties.sum()
    return float(12 * spread / most) if most > _ROUNDING else np.nan


_ROUNDING = 1e-9


def _icc(values: NDArray[np.float64]) -> tuple[float, float]:
    """ICC(2,1) and ICC(2,k) of judges x units (Shrout & Fleiss 1979)."""
    k, n = values.shape
    mean = values.mean()
    between_units = k * ((values.mean(axis=0) - mean) ** 2).sum() / (n - 1)
    between_judges = n * ((values.mean(axis=1) - mean) ** 2).sum() / (k - 1)
    residual = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + mean
    error = (residual**2).sum() / ((n - 1) * (k - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        bias = (between_judges - error) / n
        single = (between_units - error) / (between_units + (k - 1) * error + k * bias)
        average = (between_units - error) / (between_units + bias)
    return float(single), float(average)


def _krippendorff(values: NDArray[np.float64]) -> float:
    """Krippendorff's alpha of judges x units, ordinal; NaN for missing values."""
    known = np.isfinite(values)
    paired = known & (known.sum(axis=0) > 1)
    if not paired.any():
        return np.nan
    # Renumbered ranks are whole or half numbers: twice a rank is its level.
    n_units, n_levels = values.shape[1], int(2 * values[paired].max()) + 1
    level = (2 * np.where(paired, values, 0)).astype(np.int64) + np.arange(n_units) * n_levels
    counts = np.bincount(level[paired], minlength=n_units * n_levels).astype(float)
    counts = counts.reshape(n_units, n_levels)[paired.any(axis=0)]
    weights = counts / (counts.sum(axis=1, keepdims=True) - 1)
    coincidences = weights.T @ counts - np.diag(weights.sum(axis=0))
    totals = coincidences.sum(axis=1)
    middle = np.cumsum(totals) - totals / 2
    distance = (middle[:, np.newaxis] - middle) ** 2
    expected = (np.outer(totals, totals) * distance).sum() / (totals.sum() - 1)
    if expected <= 0:
        return np.nan
    return float(1 - (coincidences * distance).sum() / expected)


_GROUP = ["judge", "problem", "block"]


@dataclass(frozen=True)
class Consistency:
    """How alike first and second rankings are; NaN where a statistic is undefined.

    Parameters
    ----------
    n_groups : int
        Groups of which two solutions at least were ranked both times.
    n_ranks : int
        Ranks that were repeated, over all these groups: a solution counts once for each judge.
    mean_tau_b : float
        Kendall's tau-b of both rankings, mean over the groups where it is defined.
    mean_rank_difference : float
        Mean absolute difference of the adjusted ranks, over these ranks.
    same_order : float
        The share of the pairs of solutions that both rankings order, or tie, alike.
    """

    n_groups: int
    n_ranks: int
    mean_tau_b: float
    mean_rank_difference: float
    same_order: float


@dataclass(frozen=True)
class Retest:
    """The agreement of the judges with themselves.

    Parameters
    ----------
    judges : dict of str to Consistency
        The judges who ranked a group twice.
    overall : Consistency
        Over the groups of all of them.
    """

    judges: dict[str, Consistency]
    overall: Consistency


@dataclass(frozen=True)
class _Group:
    """One comparison: sums over its solutions and over its pairs of solutions."""

    judge: int
    n_ranks: int
    tau_b: float
    rank_differences: float
    alike: int

    @property
    def n_pairs(self) -> int:
        return self.n_ranks * (self.n_ranks - 1) // 2


def retest_agreement(rankings: Rankings, declared: Declared) -> Retest | None:
    """Compare the first ranking of each repeated group with the second of the same judge.

    Later rankings than the second are not looked at.

    Parameters
    ----------
    declared : Declared
        The kinds of the solvers.

    Returns
    -------
    Retest or None
        None where no group was repeated.
    """
    groups = list(_compared(rankings, declared))
    if not groups:
        return None
    judges = {
        name: _consistency(own)
        for code, name in enumerate(rankings.judges)
        if (own := [group for group in groups if group.judge == code])
    }
    return Retest(judges, _consistency(groups))


def _compared(rankings: Rankings, declared: Declared) -> Iterator[_Group]:
    """Compare both rankings of every repeated group."""
    frame = repeated(rankings)
    if frame.empty:
        return
    # The occasions of a group, from 1: the second may be numbered otherwise.
    frame["time"] = frame.groupby(_GROUP)["occasion"].rank(method="dense")
    withheld = np.array([declared.solvers[solver] == "withheld" for solver in rankings.solvers])
    judged = np.isfinite(frame["rank"]) & ~withheld[frame["solver"]]
    first, second = (frame[judged & (frame["time"] == time)] for time in (1, 2))
    both = first.merge(second, on=[*_GROUP, "solver"], suffixes=("_first", "_second"))
    both["group"] = both.groupby(_GROUP).ngroup()
    both = both.sort_values("group", kind="stable")
    group, orders = both["group"].to_numpy(), both[["rank_first", "rank_second"]].to_numpy()
    adjusted = [adjusted_ranks(group, order)[0] for order in orders.T]
    judge = both["judge"].to_numpy()
    for start, end in pairwise(np.searchsorted(group, np.arange(group.max(initial=-1) + 2))):
        if end - start > 1:
            yield _compare(int(judge[start]), *(ranks[start:end] for ranks in adjusted))


def _compare(judge: int, first: NDArray[np.float64], second: NDArray[np.float64]) -> _Group:
    """Compare two rankings of the same solutions, given as adjusted ranks."""
    a, b = (np.sign(ranks[:, np.newaxis] - ranks) for ranks in (first, second))
    untied = float((a * a).sum() * (b * b).sum())
    return _Group(
        judge,
        len(first),
        float((a * b).sum() / np.sqrt(untied)) if untied else np.nan,
        float(np.abs(first - second).sum()),
        # Each pair stands twice in the square, and every solution once beside itself.
        int((a == b).sum() - len(first)) // 2,
    )


def _consistency(groups: list[_Group]) -> Consistency:
    tau = [group.tau_b for group in groups if np.isfinite(group.tau_b)]
    n_ranks = sum(group.n_ranks for group in groups)
    return Consistency(
        len(groups),
        n_ranks,
        float(np.mean(tau)) if tau else np.nan,
        sum(group.rank_differences for group in groups) / n_ranks,
        sum(group.alike for group in groups) / sum(group.n_pairs for group in groups),
    )
