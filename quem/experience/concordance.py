"""Kendall's W: the judges' concordance on each problem, its p value, and its mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.special import chdtrc, stdtrit

from quem.experience.significance import all_orders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

WTestName = Literal["", "exact", "permutation", "chi-squared"]
# How a p value was computed, in words.
W_TESTS: dict[WTestName, str] = {
    "exact": "exact, over all orders of one judge's ranks",
    "permutation": "from random permutations of each judge's ranks within each problem",
    "chi-squared": "by the chi-squared approximation, because there are more than 50,000 ranks",
}
# Two judges' orders of this many solutions can be enumerated.
_MOST_EXACT = 7
# Of sums over problems that differ.
_MOST_SUMS = 1_000_000
# Above so many ranks permutations take long; the approximation needs so many solutions.
_MOST_PERMUTED, _FEWEST_APPROXIMATED = 50_000, 8
_NUMBERS = 2_000_000
_FEWEST_PROBLEMS = 3
_ROUNDING = 1e-9


class WTest(NamedTuple):
    """The chance of a W this large if judges rank at random."""

    p: float = np.nan  # NaN where it is unknown
    by: WTestName = ""


NO_TEST = WTest()


def kendall_w(ranks: Floats) -> float:
    r"""Compute :math:`W = 12 S / (m^2 (n^3 - n) - m \sum (t^3 - t))`.

    Shapes: `ranks` (m, n).
    """
    centered = ranks - (ranks.shape[1] + 1) / 2
    most = _most(centered)
    return float((centered.sum(axis=0) ** 2).sum() / most) if most > _ROUNDING else np.nan


def _most(centered: Floats) -> float:
    """The spread of the sums of judges who agree and have these ties."""
    # t^3 - t of a judge's ties is what they cost the variance of the judge's ranks.
    return float(len(centered) * (centered**2).sum())


def w_tests(tables: Sequence[Floats], *, permutations: int, seed: int) -> tuple[list[WTest], WTest]:
    """Test each problem's W, and their mean, against judges who rank at random.

    Each judge's ranks are permuted within each problem, which keeps their ties:
    p = (1 + count)/(1 + permutations). Two judges of at most 7 solutions have an exact p. Above
    50,000 ranks in all, m (n - 1) W is compared with chi-squared of n - 1 degrees of freedom
    (Kendall & Babington Smith 1939), and their sum over problems likewise; below 8 solutions
    that is too rough.

    Shapes: `tables` (m, n).
    """
    w = np.array([kendall_w(ranks) if min(ranks.shape) > 1 else np.nan for ranks in tables])
    each = [NO_TEST] * len(tables)
    defined = np.flatnonzero(np.isfinite(w)).tolist()
    if not defined:
        return each, NO_TEST
    if sum(tables[at].size for at in defined) > _MOST_PERMUTED:
        tests, mean = _approximate([tables[at] for at in defined], w[defined])
    else:
        tests, mean = _permuted([tables[at] for at in defined], w[defined], permutations, seed)
    for at, test in zip(defined, tests, strict=True):
        each[at] = test
    return each, mean


def _approximate(tables: list[Floats], w: Floats) -> tuple[list[WTest], WTest]:
    m, n = np.array([ranks.shape for ranks in tables]).T
    value = m * (n - 1) * w
    p = np.where(n < _FEWEST_APPROXIMATED, np.nan, chdtrc(n - 1, value))
    tests = [WTest(float(one), "chi-squared") if one == one else NO_TEST for one in p]  # noqa: PLR0124
    if n.min() < _FEWEST_APPROXIMATED:
        return tests, NO_TEST
    return tests, WTest(float(chdtrc((n - 1).sum(), value.sum())), "chi-squared")


def _permuted(
    tables: list[Floats], w: Floats, permutations: int, seed: int
) -> tuple[list[WTest], WTest]:
    exact = [_distribution(ranks) for ranks in tables]
    tests = [
        WTest(_upper(*of, least), "exact") if of else NO_TEST
        for of, least in zip(exact, w.tolist(), strict=True)
    ]
    mean = NO_TEST
    known = [of for of in exact if of]
    if len(known) == len(exact) and (total := _sum(known)):
        mean = WTest(_upper(*total, float(w.sum())), "exact")
    if mean.by or not permutations:
        return tests, mean
    rng = np.random.default_rng(seed)
    totals = np.zeros(permutations)
    for at, ranks in enumerate(tables):
        drawn = _drawn(ranks, permutations, rng)
        totals += drawn
        if not tests[at].by:
            tests[at] = WTest(_share(drawn, float(w[at])), "permutation")
    return tests, WTest(_share(totals, float(w.sum())), "permutation")


def _share(drawn: Floats, least: float) -> float:
    return float((1 + (drawn >= least - _ROUNDING).sum()) / (1 + len(drawn)))


def _drawn(ranks: Floats, permutations: int, rng: np.random.Generator) -> Floats:
    """W of as many random orders of each judge's ranks, shape (permutations,)."""
    centered = ranks - (ranks.shape[1] + 1) / 2
    # Only how the judges' orders lie to each other counts, so that the first keeps theirs.
    first, others = centered[0], centered[1:]
    step = max(1, _NUMBERS // others.size)
    spreads = []
    for start in range(0, permutations, step):
        size = min(step, permutations - start)
        orders = rng.permuted(np.broadcast_to(others, (size, *others.shape)), axis=2)
        spreads.append(((orders.sum(axis=1) + first) ** 2).sum(axis=1))
    return np.asarray(np.concatenate(spreads) / _most(centered))


def _distribution(ranks: Floats) -> tuple[Floats, Floats] | None:
    """The values of W and their probabilities; None where there are too many orders."""
    m, n = ranks.shape
    if m != 2 or n > _MOST_EXACT:  # noqa: PLR2004  two judges
        return None
    first, second = ranks - (n + 1) / 2
    spread = ((first + all_orders(second)) ** 2).sum(axis=1)
    return _merged(spread / _most(ranks - (n + 1) / 2), np.full(len(spread), 1 / len(spread)))


def _merged(values: Floats, chances: Floats) -> tuple[Floats, Floats]:
    """Add up the chances of values that are equal but for rounding."""
    distinct, at = np.unique(values.round(10), return_inverse=True)
    return distinct, np.asarray(np.bincount(at.ravel(), chances), dtype=np.float64)


def _sum(distributions: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats] | None:
    """The distribution of the sum; None where it has too many values."""
    values, chances = np.zeros(1), np.ones(1)
    for more, their in distributions:
        if len(values) * len(more) > _MOST_SUMS:
            return None
        values, chances = _merged(
            np.add.outer(values, more).ravel(), np.multiply.outer(chances, their).ravel()
        )
    return values, chances


def _upper(values: Floats, chances: Floats, least: float) -> float:
    return min(float(chances[values >= least - _ROUNDING].sum()), 1.0)


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Give the interval of the mean W, about 95%, from its spread over problems.

    It holds for these solvers and judges: in simulations it covered 90% to 96%.
    """
    known = np.asarray(values)[np.isfinite(values)]
    n = len(known)
    if n < _FEWEST_PROBLEMS:
        return np.nan, np.nan
    half = float(stdtrit(n - 1, 0.975) * known.std(ddof=1) / np.sqrt(n))
    mean = float(known.mean())
    return max(0.0, mean - half), min(1.0, mean + half)
