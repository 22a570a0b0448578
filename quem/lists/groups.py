"""Which of many systems differ: one test of all pairs, groups, and how far orders agree."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from quem.lists.inference import sign_flips

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

_PAIR = 2
# Scores that are exchanged at once: what is computed of them stays in the processor's cache.
_CHUNK = 200_000
# Below this share of the two systems' squares, the squares of their differences are rounding.
_ZERO = 1e-12
_ROUNDING = 1e-9
# Means that differ by less are equal.
_SAME = 1e-9


def common_queries(scores: Floats) -> NDArray[np.int64]:
    """Count the queries on which each two systems have a score.

    Shapes: `scores` (systems, queries, measures).
    """
    known = (~np.isnan(scores)).astype(float).transpose(2, 0, 1)
    return np.asarray(known @ known.transpose(0, 2, 1), dtype=np.int64)


def joint_test(scores: Floats, testable: Flags, *, permutations: int, seed: int) -> Floats:
    r"""Test all pairs of systems at once, by each measure.

    On each query the systems' scores are exchanged at random. With :math:`d` the differences of
    two systems, the statistic of a pair is :math:`|\sum d| / \sqrt{\sum d^2}`, which grows with
    its t statistic; p is the share of exchanges in which the largest statistic of any pair
    reaches that of the pair: (1 + reached)/(1 + permutations). So the chance that any of
    several equal systems are called different is at most 1 - level, however many there are. On a
    query where some systems have no score, the others exchange theirs. A pair alone has the paired
    randomization test of `quem.lists.inference.sign_flips`, exact with few queries.

    This is the randomized Tukey HSD test with a studentized range. Without studentizing, a single
    bad system would widen the range for all pairs, and hide differences between good ones.

    References
    ----------
    Carterette, B. (2012). Multiple testing in statistical significance evaluation of
    information retrieval experiments. ACM Transactions on Information Systems, 30(1), 4:1-34.

    Shapes: `scores` (systems, queries, measures); `testable` (measures, systems, systems).
    """
    n_systems, _, n_measures = scores.shape
    p = np.full((n_measures, n_systems, n_systems), np.nan)
    alike: dict[bytes, list[int]] = {}
    for measure in range(n_measures):
        pairs = np.argwhere(np.triu(testable[measure], 1))
        if len(pairs) == 1:
            first, second = pairs[0].tolist()
            apart = scores[first, :, measure] - scores[second, :, measure]
            (alone,) = sign_flips(apart[:, np.newaxis], permutations=permutations, seed=seed)
            p[measure, first, second] = p[measure, second, first] = alone.p
        elif len(pairs) and permutations:
            # Measures with scores in the same places can share the exchanges.
            key = np.isnan(scores[:, :, measure]).tobytes() + testable[measure].tobytes()
            alike.setdefault(key, []).append(measure)
    for places in alike.values():
        measures = np.array(places)
        taking = np.flatnonzero(testable[measures[0]].any(axis=0))
        inside = np.ix_(measures, taking, taking)
        own = scores[np.ix_(taking, np.arange(scores.shape[1]), measures)].transpose(2, 1, 0)
        p[inside] = _joint(own, testable[inside][0], permutations, seed)
    return p


def _joint(scores: Floats, testable: Flags, permutations: int, seed: int) -> Floats:
    """Test measures whose scores are in the same places, shape (measures, queries, systems)."""
    known = ~np.isnan(scores[0])
    held = known.any(axis=1)
    scores, known = scores[:, held], known[held]
    # Means of queries make no difference, and without them sums of squares lose fewer digits.
    count = known.sum(axis=1, keepdims=True)
    centered = np.where(known, scores - np.nansum(scores, axis=2, keepdims=True) / count, 0.0)
    observed = [_statistics(one[np.newaxis], known)[0] for one in centered]
    reached = np.zeros((len(scores), *testable.shape), dtype=np.int64)
    for places in _exchanges(known, permutations, seed):
        for at, one in enumerate(centered):
            largest = _statistics(one.ravel()[places], known)[:, testable].max(axis=1)
            ordered = np.sort(largest)
            least = observed[at] * (1 - _ROUNDING)
            reached[at] += len(ordered) - np.searchsorted(ordered, least, side="left")
    p = (1 + reached) / (1 + permutations)
    return np.where(testable, p, np.nan)


def _statistics(scores: Floats, known: Flags) -> Floats:
    """The squared statistic of each pair, shape (exchanges, systems, systems).

    Shapes: `scores` (exchanges, queries, systems); `known` (queries, systems).
    """
    turned = scores.transpose(0, 2, 1)
    product = turned @ scores
    if known.all():
        total = scores.sum(axis=1)
        sums = total[:, :, np.newaxis] - total[:, np.newaxis, :]
        own = np.einsum("cii->ci", product)
        squares = own[:, :, np.newaxis] + own[:, np.newaxis, :]
    else:
        mask = known.astype(float)
        total = turned @ mask
        sums = total - total.transpose(0, 2, 1)
        own = turned**2 @ mask
        squares = own + own.transpose(0, 2, 1)
    apart = squares - 2 * product
    equal = apart <= _ZERO * squares
    return np.asarray(np.where(equal, 0.0, sums**2 / np.where(equal, 1.0, apart)))


def _exchanges(known: Flags, permutations: int, seed: int) -> Iterator[NDArray[np.intp]]:
    """Draw where each score comes from, as places in the flat array of queries and systems."""
    rng = np.random.default_rng(seed)
    queries, systems = known.shape
    start = np.arange(queries)[:, np.newaxis] * systems
    # Those without a score come last, and stay where they are.
    goes_to = start + np.argsort(~known, axis=1, kind="stable")
    back = np.empty(known.size, dtype=np.intp)
    back[goes_to.ravel()] = np.arange(known.size)
    step = max(1, _CHUNK // known.size)
    for begin in range(0, permutations, step):
        keys = rng.random((min(step, permutations - begin), queries, systems), dtype=np.float32)
        keys[:, ~known] = 2.0
        comes_from = start + np.argsort(keys, axis=2, kind="stable")
        if known.all():
            yield comes_from
        else:
            yield comes_from.reshape(len(keys), -1)[:, back].reshape(keys.shape)


def indistinct_groups(differ: Flags) -> list[tuple[int, ...]]:
    """Find groups of systems so that two are in one group only where no test distinguishes them.

    By inserting each difference and absorbing groups that are part of others; groups whose pairs
    are all in others are then left out.

    References
    ----------
    Piepho, H.-P. (2004). An algorithm for a letter-based representation of all-pairwise
    comparisons. Journal of Computational and Graphical Statistics, 13(2), 456-466.

    Shapes: `differ` (systems, systems).
    """
    n = len(differ)
    # A group is a number whose bits are its members.
    groups = [(1 << n) - 1] if n else []
    for first, second in np.argwhere(np.triu(differ, 1)).tolist():
        both = 1 << first | 1 << second
        split: dict[int, None] = {}
        for group in groups:
            if group & both == both:
                split |= {group & ~(1 << first): None, group & ~(1 << second): None}
            else:
                split[group] = None
        groups = [
            one for one in split if not any(one != other and one & ~other == 0 for other in split)
        ]
    members = sorted(tuple(at for at in range(n) if group >> at & 1) for group in groups)
    return _without_needless(members)


def _without_needless(groups: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    kept = list(groups)
    for group in groups:
        others = {pair for other in kept if other != group for pair in _pairs(other)}
        if others.issuperset(_pairs(group)):
            kept.remove(group)
    return kept


def _pairs(group: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    yield from ((member, member) for member in group)
    yield from combinations(group, 2)


def group_letters(groups: list[tuple[int, ...]], n: int) -> list[str]:
    """Give each of n systems the letters of its groups: "ab"; after z come a2, b2, and so on."""
    letters = [""] * n
    for at, group in enumerate(groups):
        turn, letter = divmod(at, 26)
        for member in group:
            letters[member] += chr(ord("a") + letter) + (str(turn + 1) if turn else "")
    return letters
