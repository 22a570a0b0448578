"""Statistics of list measures over queries: means, medians, and tests of differences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


# Columns of differences that are held at once.
_COLUMNS = 256
# Scores that differ by less are equal: they differ by rounding.
_SAME = 1e-12


@dataclass(frozen=True)
class PairDifference:
    """How far two systems are apart by one measure."""

    # Which systems, and by which measure
    first: int
    second: int
    measure: int
    n: int  # on how many queries both have a score; only these count
    difference: float  # the mean of the first's score less the second's; NaN without such a query
    interval: tuple[float, float]  # of the difference, by bootstrap over queries
    # On how many queries the first has the higher score, and so on
    higher: int
    equal: int
    lower: int
    # Of a two-sided paired randomization test, and adjusted for the number of pairs by this
    # measure; NaN where there is none
    p: float
    p_holm: float
    patterns: int  # patterns of signs that were tried
    exact: bool  # whether these were all
    tested: bool = True  # whether there are enough queries to test; if not, there are no p values


def compare_systems(
    scores: Floats,
    *,
    level: float,
    replicates: int,
    permutations: int,
    seed: int,
    fewest: int = 1,
) -> list[PairDifference]:
    """Compare each two systems by each measure, on the queries where both have a score.

    Shapes: `scores` (systems, queries, measures).
    """
    systems, _, measures = scores.shape
    wanted = [
        (first, second, measure)
        for first, second in combinations(range(systems), 2)
        for measure in range(measures)
    ]
    differences = [
        pair
        for start in range(0, len(wanted), _COLUMNS)
        for pair in _differences(
            scores, wanted[start : start + _COLUMNS], level, replicates, permutations, seed
        )
    ]
    differences = [pair if pair.n >= max(fewest, 1) else _untested(pair) for pair in differences]
    for measure in range(measures):
        places = [
            at for at, pair in enumerate(differences) if pair.measure == measure and pair.tested
        ]
        adjusted = holm([differences[at].p for at in places])
        for at, p in zip(places, adjusted, strict=True):
            differences[at] = replace(differences[at], p_holm=p)
    return differences


def _untested(pair: PairDifference) -> PairDifference:
    return replace(pair, p=float("nan"), patterns=0, exact=False, tested=False)


def _differences(
    scores: Floats,
    wanted: list[tuple[int, int, int]],
    level: float,
    replicates: int,
    permutations: int,
    seed: int,
) -> Iterator[PairDifference]:
    apart = np.stack([scores[i, :, m] - scores[j, :, m] for i, j, m in wanted], axis=1)
    apart[np.abs(apart) <= _SAME] = 0
    means = query_means(apart, level=level, replicates=replicates, seed=seed)
    tests = sign_flips(apart, permutations=permutations, seed=seed)
    higher, equal, lower = (sign.sum(axis=0) for sign in (apart > 0, apart == 0, apart < 0))
    for at, (first, second, measure) in enumerate(wanted):
        yield PairDifference(
            first=first,
            second=second,
            measure=measure,
            n=int(means.defined[at]),
            difference=float(means.mean[at]),
            interval=(float(means.low[at]), float(means.high[at])),
            higher=int(higher[at]),
            equal=int(equal[at]),
            lower=int(lower[at]),
            p=tests[at].p,
            p_holm=float("nan"),
            patterns=tests[at].patterns,
            exact=tests[at].exact,
        )


def holm(p_values: list[float]) -> list[float]:
    r"""Adjust p values for their number; an unknown one counts as 1 and stays unknown.

    The k-th smallest of m becomes the largest of :math:`(m - i + 1) p_{(i)}` for i up to k, and
    1 at most. (multipletests of statsmodels gives the same, and collects garbage each time, which
    takes longer than a whole comparison.)

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
    Journal of Statistics, 6(2), 65-70.
    """
    p = np.array(p_values, dtype=float)
    order = np.argsort(p, kind="stable")  # unknown ones last
    scaled = np.nan_to_num(p[order], nan=1.0) * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return [float(value) for value in np.where(np.isnan(p), np.nan, adjusted)]


# A mean over fewer of the queries says little of all of them: it is not ranked and not tested.
LEAST_SHARE = 0.5
# Draws of queries that are held at once.
_CHUNK = 4_000_000
_FEWEST = 2


@dataclass(frozen=True)
class Means:
    """Means of columns of scores, each over the queries where it is defined."""

    mean: Floats  # of shape (c,): NaN where no query has a score
    # Of shape (c,): the ends of the bootstrap interval; NaN where fewer than two queries have a
    # score, and where none was asked for
    low: Floats
    high: Floats
    defined: NDArray[np.int64]  # of shape (c,): how many queries have a score


def fewest_of(n: int) -> int:
    """Say over how many of n queries a mean has to be, so that it is ranked and tested."""
    return math.ceil(LEAST_SHARE * n)


def query_means(scores: Floats, *, level: float, replicates: int, seed: int) -> Means:
    """Average scores over queries, with bootstrap percentile intervals.

    Queries are drawn with replacement, the same ones for all columns; in a replicate too the
    mean is over the queries with a score, and a replicate that drew none of them is left out.

    References
    ----------
    Efron, B., & Tibshirani, R. J. (1993). An introduction to the bootstrap, chapter 13.

    Shapes: `scores` (q, c).
    """
    known = ~np.isnan(scores)
    defined = known.sum(axis=0)
    mean = _ratio(scores.sum(axis=0, where=known), defined)
    drawn = resample_means(scores, replicates=replicates, seed=seed)
    low, high = percentile_ends(drawn, defined, level)
    return Means(mean, low, high, defined)


def percentile_ends(
    drawn: Floats, defined: NDArray[np.int64], level: float
) -> tuple[Floats, Floats]:
    """Give the ends of bootstrap percentile intervals.

    Shapes: `drawn` (replicates, c); `defined` (c,); `low`, `high` (c,).
    """
    low, high = np.full((2, drawn.shape[1]), np.nan)
    tails = [(1 - level) / 2, (1 + level) / 2]
    for column in np.flatnonzero(defined >= _FEWEST).tolist() if len(drawn) else ():
        means = drawn[:, column]
        low[column], high[column] = np.quantile(means[~np.isnan(means)], tails)
    return low, high


def resample_means(scores: Floats, *, replicates: int, seed: int) -> Floats:
    """Give the means of columns over queries that are drawn with replacement.

    Shapes: `scores` (q, c).
    """
    known = ~np.isnan(scores)
    complete = bool(known.all())
    # Of many queries these are large, and where nothing is missing they are not needed.
    filled = scores if complete else np.where(known, scores, 0)
    counted = np.empty(0) if complete else known.astype(float)
    parts = []
    for times in draw_queries(len(scores), replicates=replicates, seed=seed):
        held = len(scores) if complete else times @ counted
        parts.append(_ratio(times @ filled, held))
    return np.concatenate(parts) if parts else np.empty((0, scores.shape[1]))


def draw_queries(n: int, *, replicates: int, seed: int) -> Iterator[Floats]:
    """Draw n of n queries with replacement, again and again."""
    rng = np.random.default_rng(seed)
    step = max(1, _CHUNK // max(n, 1))
    for start in range(0, replicates if n else 0, step):
        rows = min(step, replicates - start)
        drawn = rng.integers(0, n, size=(rows, n))
        drawn += np.arange(rows)[:, np.newaxis] * n
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(float)


def _ratio(total: Floats, count: Floats | NDArray[np.int64] | int) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    count = np.asarray(count)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def median_interval(values: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Give an interval of the median, between two order statistics.

    The l-th lowest and the l-th highest of n values hold the median between them with the
    probability 1 - 2 P(B < l), B binomial of n and 1/2, whatever the distribution (David &
    Nagaraja 2003, section 7.1). The narrowest of them that reaches the level is given.

    Shapes: `values` (n,).
    """
    n = len(values)
    place, below = 0, 0.0
    while place < n // 2:
        below += math.comb(n, place) / 2**n
        if 1 - 2 * below < level:
            break
        place += 1
    if not place:
        return math.nan, math.nan
    ordered = np.sort(values)
    return float(ordered[place - 1]), float(ordered[n - place])


def fewest_for(level: float) -> int:
    """Say how many values an interval of the median needs: 6 at 95%."""
    return max(2, math.ceil(math.log2(2 / (1 - level)) - 1e-9))


_MOST_EXACT = 14
_CHUNK_RANDOMISATION = 4_000_000
_ROUNDING = 1e-9


@dataclass(frozen=True)
class SignFlips:
    """A two-sided test that paired differences are 0 in the mean."""

    p: float  # NaN where there is no test: without differences, or without random patterns
    patterns: int = 0  # how many patterns of signs were tried
    extreme: int = 0  # how many of them gave a sum at least as far from 0
    exact: bool = False  # whether these were all patterns, or random ones


def sign_flips(
    differences: Floats, *, permutations: int, seed: int, most_exact: int = _MOST_EXACT
) -> list[SignFlips]:
    r"""Flip the signs of paired differences; two-sided on :math:`|\sum d_i|`.

    Of up to `most_exact` differences all :math:`2^n` patterns; of more, random ones, the same
    for all columns, and p = (1 + extreme)/(1 + permutations).

    References
    ----------
    Fisher, R. A. (1935). The design of experiments, section 21. Smucker, M. D., Allan, J., &
    Carterette, B. (2007). A comparison of statistical significance tests for information
    retrieval evaluation. CIKM, 623-632.

    Shapes: `differences` (n, c).
    """
    known = ~np.isnan(differences)
    counts = known.sum(axis=0)
    tests = [SignFlips(float("nan"))] * differences.shape[1]
    for column in np.flatnonzero((counts > 0) & (counts <= most_exact)).tolist():
        tests[column] = _exact(differences[known[:, column], column])
    many = np.flatnonzero(counts > most_exact)
    if permutations and len(many):
        filled = np.where(known[:, many], differences[:, many], 0)
        for column, extreme in zip(
            many.tolist(), _count_extreme(filled, permutations, seed).tolist(), strict=True
        ):
            p = (1 + extreme) / (1 + permutations)
            tests[column] = SignFlips(p, permutations, extreme)
    return tests


def _least(differences: Floats) -> Floats:
    """The sum that a pattern has to reach, less what rounding may take from it."""
    return np.asarray(np.abs(differences.sum(axis=0)) - _ROUNDING * np.abs(differences).sum(axis=0))


def _exact(difference: Floats) -> SignFlips:
    # Each pattern with the first sign as it is stands for itself and its mirror image.
    sums = difference[:1]
    for value in difference[1:]:
        sums = np.concatenate([sums + value, sums - value])
    extreme = 2 * int((np.abs(sums) >= _least(difference)).sum())
    patterns = 2 ** len(difference)
    return SignFlips(extreme / patterns, patterns, extreme, exact=True)


def _count_extreme(differences: Floats, permutations: int, seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    n, columns = differences.shape
    least = _least(differences)
    extreme = np.zeros(columns, dtype=np.int64)
    for start in range(0, permutations, step := max(1, _CHUNK_RANDOMISATION // n)):
        signs = rng.integers(0, 2, size=(min(step, permutations - start), n)) * 2.0 - 1
        extreme += (np.abs(signs @ differences) >= least).sum(axis=0)
    return extreme
