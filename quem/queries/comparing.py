"""Systems that answered the same queries, pair by pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from quem.queries.holm import holm
from quem.queries.means import query_means
from quem.queries.randomisation import sign_flips

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["PairDifference", "compare_systems"]

# Columns of differences that are held at once.
_COLUMNS = 256
# Scores that differ by less are equal: they differ by rounding.
_SAME = 1e-12


@dataclass(frozen=True)
class PairDifference:
    """How far two systems are apart by one measure.

    Parameters
    ----------
    first, second, measure : int
        Which systems, and by which measure.
    n : int
        On how many queries both have a score; only these count.
    difference : float
        The mean of the first's score less the second's; NaN without such a query.
    interval : (float, float)
        Of the difference, by bootstrap over queries.
    higher, equal, lower : int
        On how many queries the first has the higher score, and so on.
    p, p_holm : float
        Of a two-sided paired randomisation test, and adjusted for the number of pairs by
        this measure; NaN where there is none.
    patterns : int
        Patterns of signs that were tried.
    exact : bool
        Whether these were all.
    tested : bool
        Whether there are enough queries to test; if not, there are no p values.
    """

    first: int
    second: int
    measure: int
    n: int
    difference: float
    interval: tuple[float, float]
    higher: int
    equal: int
    lower: int
    p: float
    p_holm: float
    patterns: int
    exact: bool
    tested: bool = True


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

    Parameters
    ----------
    scores : array of float, shape (systems, queries, measures)
        NaN where a score is undefined.
    level : float
        Of the intervals.
    replicates, permutations : int
        Of the bootstrap, and of the test where not all patterns of signs are tried.
    seed : int
    fewest : int
        Pairs with fewer queries are not tested, and do not count among the pairs that p values
        are adjusted for.

    Returns
    -------
    list of PairDifference
        Pair by pair, all measures of each.
    """
    systems, _, measures = scores.shape
    wanted = [
        (first, second, measure)
        for first, second in combinations(range(systems), 2)
        for measure in range(measures)
    ]
    found = [
        pair
        for start in range(0, len(wanted), _COLUMNS)
        for pair in _differences(
            scores, wanted[start : start + _COLUMNS], level, replicates, permutations, seed
        )
    ]
    found = [pair if pair.n >= max(fewest, 1) else _untested(pair) for pair in found]
    for measure in range(measures):
        places = [at for at, pair in enumerate(found) if pair.measure == measure and pair.tested]
        adjusted = holm([found[at].p for at in places])
        for at, p in zip(places, adjusted, strict=True):
            found[at] = replace(found[at], p_holm=p)
    return found


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
