"""Means of scores with intervals, and one joint test of all pairs of systems."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

REPLICATES = 2000  # bootstrap samples of queries
# A mean over a smaller share of the queries is neither ranked nor tested.
LEAST_SHARE = 0.5
MOST_EXACT = 14  # limit of queries for exact tests
_FEWEST = 2
_CELLS = 2_000_000  # cells per block
_IN_CACHE = 1 << 17  # cells per draw, for speed
_ZERO = 1e-12  # smaller differences of scores are rounding errors
_ROUNDING = 1e-9
_BY_ROUNDING = 1 + 1e-6


class Inference(NamedTuple):
    """Settings of inference; without samples there are neither intervals nor tests."""

    level: float = 0.95
    samples: int = 9999  # patterns of signs, if sampled
    seed: int = 0

    @property
    def alpha(self) -> float:
        """The significance level."""
        return 1 - self.level + _ZERO

    @property
    def replicates(self) -> int:
        """The number of bootstrap samples of queries."""
        return REPLICATES if self.samples else 0


@dataclass(frozen=True)
class Means:
    """Means of columns of scores, each over the queries where it is defined."""

    mean: Floats  # NaN without scores
    # The percentile interval; NaN with scores on fewer than two queries.
    low: Floats
    high: Floats
    n: NDArray[np.int64]  # queries with a score

    def reshape(self, *shape: int) -> Means:
        """The means in another shape."""
        ends = self.low.reshape(shape), self.high.reshape(shape)
        return Means(self.mean.reshape(shape), *ends, self.n.reshape(shape))


def query_means(scores: Floats, inference: Inference) -> Means:
    """Means of columns over queries, shape (queries, columns), with percentile intervals."""
    known = ~np.isnan(scores)
    n = known.sum(axis=0)
    mean = _ratio(np.where(known, scores, 0).sum(axis=0), n)
    drawn = resampled_means(scores, inference)
    low, high = percentile_interval(drawn, inference.level)
    return Means(mean, np.where(n < _FEWEST, np.nan, low), np.where(n < _FEWEST, np.nan, high), n)


def percentile_interval(drawn: Floats, level: float) -> tuple[Floats, Floats]:
    """The ends of percentile intervals; NaN in a sample is ignored."""
    low, high = np.full((2, drawn.shape[1]), np.nan)
    last = (~np.isnan(drawn)).sum(axis=0) - 1
    some = np.flatnonzero(last >= 0)
    ordered = np.sort(drawn, axis=0)  # NaN is last
    for end, share in ((low, (1 - level) / 2), (high, (1 + level) / 2)):
        place = share * last[some]
        below = place.astype(np.intp)
        least, next_ = ordered[below, some], ordered[np.minimum(below + 1, last[some]), some]
        end[some] = least + (next_ - least) * (place - below)
    return low, high


def resampled_means(scores: Floats, inference: Inference) -> Floats:
    """Means of columns over resampled queries, the same ones for all columns."""
    return np.concatenate([np.empty((0, scores.shape[1])), *_resampled(scores, inference)])


def _resampled(scores: Floats, inference: Inference) -> Iterator[Floats]:
    """The resampled means in blocks."""
    known = ~np.isnan(scores)
    complete = bool(known.all())
    filled = scores if complete else np.where(known, scores, 0)
    for times in drawn_queries(len(scores), inference, scores.shape[1]):
        count = np.asarray(len(scores)) if complete else times @ known.astype(float)
        yield _ratio(times @ filled, count)


def drawn_queries(n: int, inference: Inference, columns: int = 1) -> Iterator[Floats]:
    """The count of each query in each bootstrap sample, in blocks."""
    rng = np.random.default_rng(inference.seed)
    step = max(1, _IN_CACHE // max(n, columns))
    for start in range(0, inference.replicates if n else 0, step):
        rows = min(step, inference.replicates - start)
        drawn = rng.integers(0, n, size=(rows, n))
        drawn += np.arange(rows)[:, np.newaxis] * n
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(float)


def _ratio(total: Floats, count: NDArray[Any]) -> Floats:
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


@dataclass(frozen=True)
class Difference:
    """The difference of two systems by one measure: the first's score minus the second's."""

    # Indices in the table
    a: int
    b: int
    measure: int
    n: int  # queries on which both have a score; only these count
    difference: float
    # Excludes 0 exactly if p is at most 1 - level; infinite where a test could not reject.
    low: float
    high: float
    p: float  # joint for all pairs by the measure; NaN for an untested pair
    p_alone: float  # of this pair
    # Queries on which the first has the higher score, and so on
    higher: int
    equal: int
    lower: int
    ahead: float  # share of the bootstrap samples with the same sign of the difference

    @property
    def tested(self) -> bool:
        """Whether there are enough queries to test."""
        return not np.isnan(self.p)


def compare(values: Floats, inference: Inference) -> list[Difference]:
    """Compare all pairs of systems by each measure, on the queries that both have a score on.

    Shapes: `values` (systems, queries, measures).
    """
    systems, queries, measures = values.shape
    pairs = np.array([*combinations(range(systems), 2)]).reshape(-1, 2)
    found: list[Difference] = []
    if not len(pairs):
        return found
    block = max(1, 2 * _CELLS // (len(pairs) * max(queries, inference.samples)))
    for start in range(0, measures, block):
        layers = np.arange(start, min(start + block, measures))
        apart = values[pairs[:, 0]][:, :, layers] - values[pairs[:, 1]][:, :, layers]
        apart = apart.transpose(2, 1, 0)  # (measures, queries, pairs)
        apart[np.abs(apart) < _ZERO] = 0
        found += _differences(apart, pairs, layers, inference)
    return found


def _differences(
    apart: Floats, pairs: NDArray[np.int64], layers: NDArray[np.int64], inference: Inference
) -> Iterator[Difference]:
    """Shapes: `apart` (measures, queries, pairs)."""
    n = (~np.isnan(apart)).sum(axis=1)
    mean = _ratio(np.nansum(apart, axis=1), n)
    testable = n >= max(_FEWEST, LEAST_SHARE * apart.shape[1])
    tests = joint_tests(apart, testable, inference)
    ahead = _ahead(apart, mean, inference)
    for at, layer in enumerate(layers.tolist()):
        own, test = apart[at], tests[at]
        half = _half_widths(own, mean[at], n[at], test.critical)
        higher, equal, lower = (sign(own, 0).sum(axis=0) for sign in _SIGNS)
        for pair, (a, b) in enumerate(pairs.tolist()):
            yield Difference(
                a=a,
                b=b,
                measure=layer,
                n=int(n[at, pair]),
                difference=float(mean[at, pair]),
                low=float(mean[at, pair] - half[pair]),
                high=float(mean[at, pair] + half[pair]),
                p=float(test.p[pair]),
                p_alone=float(test.p_alone[pair]),
                higher=int(higher[pair]),
                equal=int(equal[pair]),
                lower=int(lower[pair]),
                ahead=float(ahead[at, pair]),
            )


_SIGNS = (np.greater, np.equal, np.less)


def _half_widths(apart: Floats, mean: Floats, n: NDArray[np.int64], critical: Floats) -> Floats:
    r"""Half of each interval, from the critical value c of :math:`|\sum d| / \sqrt{\sum d^2}`.

    As a critical value of t that is :math:`\sqrt{c^2 (n - 1) / (n - c^2)}`.

    Shapes: `apart` (queries, pairs); `mean`, `n`, `critical` (pairs,).
    """
    squared, size = critical**2, np.abs(mean)
    spread = np.sqrt(_ratio(np.nansum((apart - mean) ** 2, axis=0), n - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.sqrt(squared * (n - 1) / (n - squared))
        width = t * spread / np.sqrt(n)
    # A bound beyond 0 by rounding is 0.
    width = np.where((width > size) & (width < size * _BY_ROUNDING), size, width)
    open_ended = squared >= n * (1 - _ZERO)
    return np.where(np.isnan(critical), np.nan, np.where(open_ended, np.inf, width))


def _ahead(apart: Floats, mean: Floats, inference: Inference) -> Floats:
    """The share of bootstrap samples with the same sign of the mean difference.

    Shapes: `apart` (measures, queries, pairs); `mean` (measures, pairs).
    """
    if not inference.replicates:
        return np.full(mean.shape, np.nan)
    columns = apart.transpose(1, 0, 2).reshape(apart.shape[1], -1)
    way = np.sign(mean.ravel())
    kept = np.zeros(len(way))
    for drawn in _resampled(columns, inference):
        kept += (drawn * way > _ZERO).sum(axis=0)
    share = np.where(np.abs(mean.ravel()) < _ZERO, np.nan, kept / inference.replicates)
    return share.reshape(mean.shape)


@dataclass(frozen=True)
class JointTest:
    """A joint test of all pairs by one measure, each of shape (pairs,); NaN if untested."""

    p: Floats
    p_alone: Floats
    critical: Floats  # critical value at the pair's step


def joint_tests(
    apart: Floats, testable: NDArray[np.bool_], inference: Inference
) -> list[JointTest]:
    r"""Test all pairs by each measure jointly: one sign per query, the same for all pairs.

    The statistic is :math:`|\sum e d| / \sqrt{\sum d^2}`, whose denominator is invariant. The p
    values step down: the pairs from the largest statistic, each against the largest of the
    remaining ones. Up to 14 queries the test is exact, beyond with random patterns.

    References
    ----------
    Westfall, P. H., & Young, S. S. (1993). Resampling-based multiple testing.
    Romano, J. P., & Wolf, M. (2005). Exact and approximate stepdown methods for multiple
    hypothesis testing. Journal of the American Statistical Association, 100(469), 94-108.

    Shapes: `apart` (measures, queries, pairs); `testable` (measures, pairs).
    """
    filled = np.where(np.isnan(apart) | ~testable[:, np.newaxis, :], 0, apart)
    norm = np.sqrt((filled**2).sum(axis=1, keepdims=True))
    unit = filled / np.where(norm > 0, norm, 1)
    queries = apart.shape[1]
    exact = queries <= MOST_EXACT
    patterns = 2 ** max(queries - 1, 0) if exact else inference.samples
    none = np.full(apart.shape[2], np.nan)
    if not (inference.samples and patterns):
        return [JointTest(none, none, none)] * len(apart)
    small = patterns * len(apart) * apart.shape[2] <= 2 * _CELLS
    statistics = np.empty((len(apart), apart.shape[2], patterns), np.float64 if small else "f4")
    columns = unit.transpose(1, 0, 2).reshape(queries, -1)
    start = 0
    for minus in _minus_signs(queries, patterns, columns.shape[1], inference.seed):
        drawn = minus @ columns
        drawn *= -2
        drawn += columns.sum(axis=0)
        np.abs(drawn, out=drawn)
        end = start + len(drawn)
        statistics[:, :, start:end] = drawn.T.reshape(*statistics.shape[:2], -1)
        start = end
    return [
        _step_down(drawn, np.abs(columns.sum(axis=0)), tested, inference, exact=exact)
        for drawn, columns, tested in zip(statistics, unit, testable, strict=True)
    ]


def _minus_signs(n: int, patterns: int, columns: int, seed: int) -> Iterator[Floats]:
    """Which queries have a minus: all patterns, up to mirror images, or random ones."""
    step = max(1, _CELLS // max(n, columns))
    packed = np.empty(0, np.uint8)
    if n > MOST_EXACT:
        size = (patterns, (n + 7) // 8)
        packed = np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)
    for start in range(0, patterns, step):
        if n <= MOST_EXACT:
            codes = np.arange(start, min(start + step, patterns))
            yield (codes[:, np.newaxis] >> np.arange(n) & 1).astype(np.float64)
        else:
            part = packed[start : start + step]
            yield np.unpackbits(part, axis=1, count=n).astype(np.float64)


def _step_down(
    drawn: NDArray[np.floating],
    seen: Floats,
    tested: NDArray[np.bool_],
    inference: Inference,
    *,
    exact: bool,
) -> JointTest:
    """The step-down procedure for one measure.

    Shapes: `drawn` (pairs, patterns), which is overwritten; `seen`, `tested` (pairs,).
    """
    p, alone, critical = np.full((3, len(seen)), np.nan)
    order = np.flatnonzero(tested)
    order = order[np.argsort(-seen[order], kind="stable")]
    patterns, own = drawn.shape[1], 0 if exact else 1
    rounding = _ROUNDING if drawn.dtype == np.float64 else 1e-6
    least = seen * (1 - rounding)
    largest = np.zeros(patterns, drawn.dtype)
    # From the last step to the first: the largest statistic of the remaining ones.
    for at in order[::-1].tolist():
        alone[at] = ((drawn[at] >= least[at]).sum() + own) / (patterns + own)
        largest = np.maximum(largest, drawn[at], out=drawn[at])
        p[at] = ((largest >= least[at]).sum() + own) / (patterns + own)
    p[order] = np.maximum.accumulate(p[order])
    if not len(order):
        return JointTest(p, alone, critical)
    place = int((1 - inference.level) * (patterns + own) + _ROUNDING) - own
    failed = np.flatnonzero(p[order] > inference.alpha)
    last = int(failed[0]) if len(failed) else len(order) - 1
    critical[order] = np.inf
    if place >= 0:
        for step, at in enumerate(order[: last + 1].tolist()):
            kth = patterns - place - 1
            value = float(np.partition(drawn[at], kth)[kth]) * (1 + 2 * _ROUNDING)
            # Rounding must not make interval and p inconsistent.
            passed = p[at] <= inference.alpha
            bound = seen[at] * (1 - _ZERO) if passed else seen[at] * (1 + _ZERO)
            critical[at] = min(value, bound) if passed else max(value, bound)
            if step == last:
                critical[order[last + 1 :]] = critical[at]
    return JointTest(p, alone, critical)


class JudgeSample(NamedTuple):
    """A mean difference in the populations of judges and queries, with its t interval."""

    mean: float
    low: float
    high: float
    df: float


def judge_sample(apart: Floats, level: float) -> JudgeSample:
    r"""Estimate a mean difference from the differences by each judge on each query.

    A difference is modeled as that of the population, plus a judge effect, a query effect, and a
    residual. Their variances equate expected and observed mean squares of differences between two
    cells of one query, of one judge, and of neither; without missing cells these are the
    components of analysis of variance. Degrees of freedom are Satterthwaite's.

    References
    ----------
    Koch, G. G. (1968). Some further remarks concerning "A general approach to the estimation of
    variance components". Technometrics, 10(3), 551-558.
    Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components.
    Biometrics Bulletin, 2(6), 110-114.

    Shapes: `apart` (judges, queries), NaN where a judge gives no difference. The interval is NaN
    where no two judges have a query in common.
    """
    from scipy.stats import t

    known = ~np.isnan(apart)
    per_query = known.sum(axis=0)
    apart, known = apart[:, per_query > 0], known[:, per_query > 0]
    per_query, per_judge = known.sum(axis=0), known.sum(axis=1)
    if not len(per_query):
        return JudgeSample(*[np.nan] * 4)
    weight = known / (per_query * len(per_query))
    mean = float((np.where(known, apart, 0) * weight).sum())
    x = np.where(known, apart - mean, 0)

    def squares(axis: int | None) -> float:
        """The sum of squared differences of all pairs of cells along an axis."""
        n = known.sum(axis=axis)
        return float((n * (x**2).sum(axis=axis) - x.sum(axis=axis) ** 2).sum())

    def pairs(n: NDArray[np.int64]) -> int:
        return int((n * (n - 1)).sum())

    n = known.sum()
    same_query, same_judge = pairs(per_query), pairs(per_judge)
    neither = pairs(n) - same_query - same_judge
    if not (same_query and same_judge and neither):
        return JudgeSample(mean, np.nan, np.nan, np.nan)
    of_query, of_judge = squares(0) / same_query, squares(1) / same_judge
    of_neither = (squares(None) - squares(0) - squares(1)) / neither
    rest = max(of_query + of_judge - of_neither, 0.0)
    # Sums of squared weights: 1 / judges, 1 / queries, and 1 / cells without missing cells.
    share = float((weight.sum(axis=1) ** 2).sum()), float((weight.sum(axis=0) ** 2).sum())
    own = rest * float((weight**2).sum())
    judges = max(of_neither - of_judge, 0.0) * share[0] + own
    queries = max(of_neither - of_query, 0.0) * share[1] + own
    variance = judges + queries - own
    if variance <= _ZERO**2:
        return JudgeSample(mean, mean, mean, np.inf)
    free = np.array([1 / share[0], 1 / share[1], n - known.any(axis=1).sum() - len(per_query) + 2])
    df = variance**2 / (np.array([judges, queries, own]) ** 2 / np.maximum(free - 1, 1)).sum()
    half = float(t.ppf((1 + level) / 2, df) * np.sqrt(variance))
    return JudgeSample(mean, mean - half, mean + half, float(df))
