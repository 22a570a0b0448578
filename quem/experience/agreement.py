"""Agreement between judges, in one pass over the problems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quem.experience.concordance import NO_TEST, WTest, kendall_w, mean_interval, w_tests
from quem.experience.ranks import adjusted_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.cells import RankCells

    Floats = NDArray[np.float64]

# Pairs of judges who ranked different solutions, over all problems; and the numbers that
# comparing those of one problem takes at once.
_MOST_PAIRS, _MOST_NUMBERS = 500_000, 10_000_000

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
    """How well judges agree; NaN where a statistic is undefined."""

    n_judges: int
    n_solutions: int
    # Kendall's coefficient of concordance, corrected for ties; overall, the mean over problems.
    kendall_w: float = np.nan
    # Means over pairs of judges
    mean_tau_b: float = np.nan
    mean_spearman: float = np.nan
    krippendorff_alpha: float = np.nan  # with the ordinal metric
    # Two-way random effects, absolute agreement, of one judge and of the mean of all
    icc_2_1: float = np.nan
    icc_2_k: float = np.nan
    w_test: WTest = NO_TEST  # of W against judges who rank at random
    # Of the mean W over problems, about 95%; NaN for a single problem.
    w_interval: tuple[float, float] = (np.nan, np.nan)

    def statistics(self) -> dict[str, float]:
        """Give the six statistics by name."""
        return {name: getattr(self, name) for name in _STATISTICS}


@dataclass(frozen=True)
class JudgeAgreement:
    """The agreement of the judges of a study."""

    problems: dict[str, Concordance]
    overall: Concordance
    sampled: bool  # whether correlations on some problem are between some of the judges only


class Orders(NamedTuple):
    """What judges who ranked two solutions of a problem at least made of it.

    Both of shape (problems, judges, solvers), NaN where there is no rank.
    """

    given: Floats  # the judge's ranks as given
    common: Floats  # renumbered among the solvers whom all these judges ranked


def orders_in_common(cells: RankCells) -> Orders:
    """Lay out what judges compared; withheld solvers and failed solutions are left out."""
    shape = (len(cells.problems), len(cells.judges), len(cells.solvers))
    row = np.flatnonzero(cells.judged())
    place = np.ravel_multi_index((cells.problem[row], cells.judge[row], cells.solver[row]), shape)
    given = np.full(shape, np.nan)
    given.ravel()[place] = cells.given[row]
    known = np.isfinite(given)
    taking_part = known.sum(axis=2, keepdims=True) > 1
    given[~taking_part[..., 0]] = np.nan
    in_common = (known | ~taking_part).all(axis=1, keepdims=True)
    keep = (taking_part & in_common).ravel()[place]
    common = np.full(shape, np.nan)
    if keep.all() and len(row) == len(cells.given) and cells.reference == "all":
        common.ravel()[place] = cells.adjusted  # numbered so already
    else:
        row = row[keep]
        common.ravel()[place[keep]] = adjusted_ranks(cells.group[row], cells.given[row])[0]
    return Orders(given, common)


def judge_agreement(
    cells: RankCells, orders: Orders, *, permutations: int, seed: int
) -> JudgeAgreement:
    """Measure how well the judges agree.

    Where all judges of a problem ranked the same solutions, means over pairs of judges follow
    from sums over judges. Where they did not, the two of each pair are compared among the
    solutions that both ranked.
    """
    n_solvers = orders.given.shape[2]
    rng = np.random.default_rng(seed)
    active = [np.flatnonzero(known.any(axis=1)) for known in np.isfinite(orders.given)]
    alike = [_is_alike(given[at]) for given, at in zip(orders.given, active, strict=True)]
    most = _most_judges(n_solvers, alike.count(False))
    problems: dict[str, Concordance] = {}
    tables = []
    sampled = False
    for index, (problem, judges) in enumerate(zip(cells.problems, active, strict=True)):
        ranks = orders.common[index, judges]
        ranks = ranks[:, np.isfinite(ranks).any(axis=0)]
        if alike[index]:
            spearman, tau = _alike(ranks)
        else:
            if len(judges) > most:
                judges = np.sort(rng.choice(judges, most, replace=False))  # noqa: PLW2901
                sampled = True
            spearman, tau = _pairwise(orders.given[index, judges])
        problems[problem] = _concordance(ranks, spearman, tau)
        tables.append(ranks)
    tests, of_mean = w_tests(tables, permutations=permutations, seed=seed)
    for test, problem in zip(tests, problems, strict=True):
        problems[problem] = replace(problems[problem], w_test=test)
    overall = _overall(problems, orders.common, tables)
    return JudgeAgreement(problems, replace(overall, w_test=of_mean), sampled)


def _is_alike(given: Floats) -> bool:
    """Whether all judges ranked the same solutions."""
    known = np.isfinite(given)
    return bool((known == known[:1]).all())


def _most_judges(n_solvers: int, n_problems: int) -> int:
    """How many judges can be compared pair by pair on each of some problems."""
    of_pairs = np.sqrt(2 * _MOST_PAIRS / max(n_problems, 1))
    of_numbers = np.sqrt(_MOST_NUMBERS / max(n_solvers, 1))
    return max(2, int(min(of_pairs, of_numbers)))


def _alike(ranks: Floats) -> tuple[float, float]:
    """Mean Spearman and tau-b from the sums over judges, shape (judges, solutions)."""
    n = ranks.shape[1]
    first, second = np.triu_indices(n, 1)
    signs = np.sign(ranks[:, first] - ranks[:, second])
    centered = ranks - (n + 1) / 2
    return _of_units(centered), _of_units(signs)


def _of_units(vectors: Floats) -> float:
    """The mean of products of vectors of length 1; none of a judge who ties all."""
    length = np.sqrt((vectors**2).sum(axis=1))
    defined = length > 0
    units = vectors[defined] / length[defined, np.newaxis]
    total, count = units.sum(axis=0), len(units)
    return float((total @ total - count) / (count * (count - 1))) if count > 1 else np.nan


def _pairwise(given: Floats) -> tuple[float, float]:
    """Mean Spearman and tau-b of any two judges, among what both ranked: (judges, solvers)."""
    given = given[:, np.isfinite(given).any(axis=0)]
    known = np.isfinite(given).astype(np.float64)
    sign = np.nan_to_num(np.sign(given[:, :, np.newaxis] - given[:, np.newaxis, :]))
    # The sum of a row of signs is twice the centered rank, among those whom the other ranked.
    centered = (sign @ known.T) * known.T
    products = np.einsum("aib,bia->ab", centered, centered)
    squares = (centered**2).sum(axis=1)
    # Solver by solver, since BLAS burns the time of several threads on a medium-sized product.
    of_solver = sign.swapaxes(0, 1)
    alike = (of_solver @ of_solver.swapaxes(1, 2)).sum(axis=0)
    untied = ((sign**2 @ known.T) * known.T).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        spearman = products / np.sqrt(squares * squares.T)
        tau = alike / np.sqrt(untied * untied.T)
    return _of_pairs(spearman), _of_pairs(tau)


def _of_pairs(between: Floats) -> float:
    np.fill_diagonal(between, np.nan)
    defined = np.isfinite(between)
    total, count = np.where(defined, between, 0.0).sum(axis=1), defined.sum(axis=1)
    return float(total.sum() / count.sum()) if count.any() else np.nan


def _concordance(ranks: Floats, spearman: float, tau: float) -> Concordance:
    m, n = ranks.shape
    if m < 2 or n < 2:  # noqa: PLR2004  nothing to compare
        return Concordance(m, n, mean_tau_b=tau, mean_spearman=spearman)
    single, average = _icc(ranks)
    return Concordance(
        m,
        n,
        kendall_w=kendall_w(ranks),
        mean_tau_b=tau,
        mean_spearman=spearman,
        krippendorff_alpha=_alpha([ranks]),
        icc_2_1=single,
        icc_2_k=average,
    )


def _overall(problems: dict[str, Concordance], common: Floats, tables: list[Floats]) -> Concordance:
    """Pool the problem x solver units; judges who missed a problem lack its units."""
    known = np.isfinite(common)
    active = known.any(axis=(0, 2))
    complete = known[:, active].all(axis=1)
    units = common.swapaxes(1, 2)[complete][:, active].T
    concordances = list(problems.values())
    comparable = units.shape[0] > 1 and units.shape[1] > 1
    single, average = _icc(units) if comparable else (np.nan, np.nan)
    w = [c.kendall_w for c in concordances]
    return Concordance(
        int(active.sum()),
        int((known.sum(axis=1) > 1).sum()),
        kendall_w=_mean(w),
        mean_tau_b=_mean([c.mean_tau_b for c in concordances]),
        mean_spearman=_mean([c.mean_spearman for c in concordances]),
        krippendorff_alpha=_alpha(tables),
        icc_2_1=single,
        icc_2_k=average,
        w_interval=mean_interval(w),
    )


def _mean(values: list[float]) -> float:
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan


def _icc(values: Floats) -> tuple[float, float]:
    """ICC(2,1) and ICC(2,k) of judges x units (Shrout & Fleiss 1979)."""
    k, n = values.shape
    values = values - values.mean()
    of_units, of_judges = values.mean(axis=0), values.mean(axis=1)
    between_units = k * (of_units**2).sum()
    between_judges = n * (of_judges**2).sum()
    rest = ((values - of_units - of_judges[:, np.newaxis]) ** 2).sum()
    between_units, between_judges = between_units / (n - 1), between_judges / (k - 1)
    error = rest / ((n - 1) * (k - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        bias = (between_judges - error) / n
        single = (between_units - error) / (between_units + (k - 1) * error + k * bias)
        average = (between_units - error) / (between_units + bias)
    return float(single), float(average)


def _alpha(tables: list[Floats]) -> float:
    """Krippendorff's alpha with the ordinal metric, of all solutions of some problems.

    Its distance of two ranks is the squared difference of their places among all ranks given,
    so that sums over judges take the place of the matrix of coincidences.

    Shapes: `tables` (judges, solutions).
    """
    # Renumbered ranks are whole or half numbers: twice a rank is its level.
    levels = [(2 * ranks).astype(np.int64) for ranks in tables if len(ranks) > 1 and ranks.size]
    if not levels:
        return np.nan
    totals = np.bincount(np.concatenate([level.ravel() for level in levels])).astype(np.float64)
    n = totals.sum()
    place = np.cumsum(totals) - totals / 2 - n / 2
    expected = n * (totals * place**2).sum() - (totals * place).sum() ** 2
    if expected <= 0:
        return np.nan
    observed = 0.0
    for level in levels:
        m, places = len(level), place[level]
        apart = m * (places**2).sum(axis=0) - places.sum(axis=0) ** 2
        observed += float(apart.sum()) / (m - 1)
    return float(1 - observed * (n - 1) / expected)
