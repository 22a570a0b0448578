r"""The choices that rankings consist of, and what Plackett-Luce with ties expects of them.

In a ranking with the worst first, the solvers up to place p are those among whom the choice at
place p was made. With :math:`x_i = \alpha_i^{1/k}`, the odds of all sets of k among them add up
to :math:`\delta_k e_k(x_1, \dots, x_p)`, an elementary symmetric polynomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_PORTION = 1 << 16


@dataclass(frozen=True)
class WeakOrders:
    """Rankings of the same number of solvers, the worst first."""

    ranking: NDArray[np.int64]  # of shape (m,): which rankings these are
    solver: NDArray[np.int64]  # of shape (size, m)
    tied: NDArray[np.int64]  # of shape (size, m): the number of solvers that are tied at each place
    # Of shape (size, m): whether a place is the last of those that are tied.
    last: NDArray[np.bool_]


def weak_orders(
    ranking: NDArray[np.int64], solver: NDArray[np.int64], rank: Floats
) -> tuple[WeakOrders, ...]:
    """Arrange rankings for `quem.experience.plackett_luce.fit_plackett_luce`.

    Shapes: `ranking` (n,); `solver` (n,); `rank` (n,).
    """
    at = np.argsort(ranking, kind="stable")
    counts = np.bincount(ranking)
    starts = np.cumsum(counts) - counts
    orders = []
    for which in _portions(counts):
        size = int(counts[which[0]])
        rows = at[starts[which][:, np.newaxis] + np.arange(size)]
        rows = np.take_along_axis(rows, np.argsort(rank[rows], axis=1), axis=1).T
        rows = np.ascontiguousarray(rows)
        ordered = rank[rows]
        last = np.ones(rows.shape, dtype=bool)
        last[:-1] = ordered[1:] != ordered[:-1]
        orders.append(WeakOrders(which, solver[rows], _tied(last), last))
    return tuple(orders)


def _portions(counts: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Rankings of the same length, not too many at once."""
    for size in np.unique(counts[counts > 0]).tolist():
        which = np.flatnonzero(counts == size)
        step = max(1, _PORTION // size)
        yield from (which[start : start + step] for start in range(0, len(which), step))


def _tied(last: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many are tied at each place, given which places are the last of a tie."""
    place = np.arange(len(last))[:, np.newaxis]
    ends = np.minimum.accumulate(np.where(last, place, len(last))[::-1], axis=0)[::-1]
    first = np.ones_like(last)
    first[1:] = last[:-1]
    starts = np.maximum.accumulate(np.where(first, place, 0), axis=0)
    return np.asarray(ends - starts + 1)


class Choices:
    """The choices of rankings of one length."""

    def __init__(self, order: WeakOrders, weights: Floats | None = None) -> None:
        self.solver = order.solver
        each = np.ones(len(order.ranking)) if weights is None else weights[order.ranking]
        self.weight = each * order.last
        self.share = each / order.tied
        chosen = np.bincount(order.tied.ravel(), self.weight.ravel())
        self.counts = {k: float(n) for k, n in enumerate(chosen) if n > 0}


@dataclass(frozen=True)
class _Term:
    r"""A part of the shares :math:`A_p F_i` of the places i up to p in the choice at p."""

    size: int
    a: Floats
    f: Floats


class Expected:
    """What the model expects of choices, at given worths."""

    def __init__(self, choices: Choices, theta: Floats, sizes: list[int], delta: Floats) -> None:
        self.choices, self.sizes, self.delta = choices, sizes, delta
        self._x, self._polynomials = {}, {}
        for k in sizes:
            self._x[k] = np.exp(theta / k)[choices.solver]
            self._polynomials[k] = polynomials(self._x[k], k)
        odds = [d * self._polynomials[k][k] for k, d in zip(sizes, delta, strict=True)]
        self.total = np.asarray(sum(odds))
        self.by_size = np.array([of / self.total for of in odds]) if len(odds) > 1 else None
        self._terms = list(self._shares())

    def _shares(self) -> Iterator[_Term]:
        """Without place i, e_(k-1) is e_(k-1) - x_i e_(k-2) + x_i^2 e_(k-3) - ..."""
        for k, d in zip(self.sizes, self.delta, strict=True):
            power = self._x[k]
            for polynomial in self._polynomials[k][-2::-1]:
                yield _Term(k, d / k * polynomial / self.total, power)
                power = -power * self._x[k]

    def log_likelihood(self) -> float:
        """Give the part of the log-likelihood that is not a sum of shares."""
        return -float((self.choices.weight * np.log(self.total)).sum())

    def counts(self) -> Floats:
        """Give the expected number of sets of each size, shape (len(sizes),)."""
        if self.by_size is None:
            return np.array([self.choices.weight.sum()])
        return np.asarray((self.by_size * self.choices.weight).sum(axis=(1, 2)))

    def shares(self, weight: Floats) -> Floats:
        """Sum over the choices weight x share, by place, shape (size, m)."""
        first, *more = (term.f * sums_from_there(term.a * weight) for term in self._terms)
        return np.asarray(sum(more, first))

    def means(self, values: Floats) -> Floats:
        """Average over the places by share, by choice, shape (size, m)."""
        first, *more = (term.a * sums_up_to(term.f * values) for term in self._terms)
        return np.asarray(sum(more, first))

    def squares(self) -> Floats:
        """Sum over the choices weight x squared share of those alone, by place."""
        alone = self._terms[0]
        return alone.f**2 * sums_from_there(self.choices.weight * alone.a**2)

    def covariances(self) -> tuple[Floats, Floats, Floats]:
        """Give the covariances of shares and sizes, summed over the choices of a ranking.

        Shapes: `shares` (m, size, size); `mixed` (len(sizes), m, size); `of_sizes` (len(sizes),
        len(sizes)).
        """
        weight = self.choices.weight.T
        size = weight.shape[1]
        of = {k: np.zeros((len(weight), size, size)) for k in self.sizes}
        for term in self._terms:
            of[term.size] += term.a.T[:, :, np.newaxis] * term.f.T[:, np.newaxis, :]
        every = sum(of.values()) * np.tri(size)
        shares = -np.swapaxes(every * weight[..., np.newaxis], 1, 2) @ every
        if self.by_size is None:
            own = np.einsum("mp,mpi->mi", weight, every)
            shares[:, range(size), range(size)] += own
            return shares, np.zeros((1, *own.shape)), np.zeros((1, 1))
        mixed = []
        for k, probability in zip(self.sizes, self.by_size, strict=True):
            own = np.einsum("mp,mpi->mi", weight, of[k] * np.tri(size))
            mixed.append(own - np.einsum("mp,mpi->mi", weight * probability.T, every))
            both = self._together(k)
            both[:, range(size), range(size)] = own / k
            shares += both
        mean = np.einsum("kpm,lpm->kl", self.by_size * self.choices.weight, self.by_size)
        return shares, np.array(mixed), np.diag(self.counts()) - mean

    def _together(self, k: int) -> Floats:
        r"""Sum the expected products of two shares over sets of k, shape (m, size, size).

        Without places i and j, :math:`e_{k-2}` is the sum over r of :math:`e_{k-2-r}` times
        :math:`(-1)^r (x_i^r + x_i^{r-1} x_j + \dots + x_j^r)`.
        """
        x = self._x[k].T
        size = x.shape[1]
        later = np.maximum(*np.indices((size, size)))
        one, other = x[:, :, np.newaxis], x[:, np.newaxis, :]
        both = np.zeros((len(x), size, size))
        power, mixture = one * other, one * other
        weight = self.choices.weight * self.delta[self.sizes.index(k)] / k**2 / self.total
        for polynomial in self._polynomials[k][-3::-1]:
            both += sums_from_there(weight * polynomial).T[:, later] * mixture
            power = -power * other
            mixture = power - mixture * one
        return both


def polynomials(x: Floats, k: int) -> list[Floats]:
    """Give the elementary symmetric polynomials of degree 0 to k of the places up to each."""
    of_degree = [np.ones_like(x)]
    for degree in range(k):
        before = of_degree[-1]
        if degree:
            before = np.concatenate([np.zeros_like(x[:1]), before[:-1]])
        of_degree.append(sums_up_to(x * before))
    return of_degree


def sums_up_to(values: Floats) -> Floats:
    """Sum the values at a place and before it.

    NumPy's cumsum adds along this axis column by column, many times slower.
    """
    total = values.copy()
    for place in range(1, len(total)):
        total[place] += total[place - 1]
    return total


def sums_from_there(values: Floats) -> Floats:
    """Sum the values at a place and after it."""
    return sums_up_to(values[::-1])[::-1]
