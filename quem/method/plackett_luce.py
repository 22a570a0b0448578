r"""Plackett-Luce with ties: one worth per solver, from rankings of a few solvers each.

A judge who orders solutions is taken to choose the best, then the best of the rest, and so on;
the worths :math:`\alpha = e^\theta` are odds of being chosen (Luce 1959, Plackett 1975). Ties are
those of Turner, van Etten, Firth & Kosmidis (2020, Modelling rankings in R: the PlackettLuce
package), which generalize Davidson (1970): a set S of k solutions is chosen together with odds

.. math:: f(S) = \delta_k \Big( \prod_{s \in S} \alpha_s \Big)^{1/k}, \qquad \delta_1 = 1

and a ranking :math:`C_1 \succ C_2 \succ \dots`, with :math:`A_j` what is left before the j-th
choice, has the probability

.. math:: \prod_j \frac{f(C_j)}{\sum_{k} \sum_{S \subseteq A_j, |S| = k} f(S)}

where k runs over 1 and the sizes of ties that occur. The log-likelihood is concave in
:math:`\theta` and :math:`\log \delta`.

Here a ranking has the worst first, so that the choice at place p was made among the solvers up to
p. With :math:`x_i = \alpha_i^{1/k}`, the odds of all sets of k among them add up to
:math:`\delta_k e_k(x_1, \dots, x_p)`, an elementary symmetric polynomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from quem.errors import QuemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.method.cells import RankCells

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]
    Flags = NDArray[np.bool_]

# The default penalty: as if each log worth had been drawn from a normal distribution of
# variance 1/RIDGE (see docs/explanation/blocks.md).
RIDGE, _LEAST_RIDGE = 0.01, 0.001
_FEWEST_PROBLEMS = 3  # for errors by leaving out each
_PORTION = 1 << 16  # numbers that are computed together, as they fit into a processor's cache
# Up to so many solvers the information matrix is solved as a whole; above, conjugate gradients
# need it only as a product.
_MOST_DENSE = 200
# Beyond, a covariance of all solvers takes more memory than the rankings.
_MOST_WITH_ERRORS = 5_000
_MOST_STEPS, _LONGEST_STEP, _CLOSE, _ROUNDING, _SHIFT = 100, 2.0, 1e-6, 1e-12, 1e-5
# Ties so much more frequent, or so much rarer, than all else have no other reason.
_LARGEST_LOG_DELTA = 20.0
_NO_MAXIMUM = (
    "the rankings have no maximum of likelihood: some solvers were never compared with others or "
    "always ranked above them, or ties of some size are the only outcome; give a ridge above 0"
)


# Rankings.


@dataclass(frozen=True)
class WeakOrders:
    """Different rankings of the same number of solvers, the worst first."""

    # Of shape (m,): which rankings these are, and how often each was given
    ranking: Codes
    times: Floats
    # Of shape (size, m)
    solver: Codes
    tied: Codes  # the number of solvers that are tied at each place
    last: Flags  # whether a place is the last of those that are tied

    @cached_property
    def weight(self) -> Floats:
        """How often the choice at each place was made, shape (size, m)."""
        return np.asarray(self.times * self.last)

    def given(self, times: Floats) -> WeakOrders:
        """The rankings of these that were given, and how often.

        Shapes: `times` (number of different rankings,).
        """
        mine = times[self.ranking]
        own = mine > 0
        places = self.solver[:, own], self.tied[:, own], self.last[:, own]
        return WeakOrders(self.ranking[own], mine[own], *places)


def weak_orders(ranking: Codes, solver: Codes, rank: Floats) -> tuple[WeakOrders, ...]:
    """Rankings of each length, from a table with a line per place.

    Shapes: `ranking` (n,); `solver` (n,); `rank` (n,).
    """
    at = np.argsort(ranking, kind="stable")
    counts = np.bincount(ranking)
    starts = np.cumsum(counts) - counts
    orders = []
    for size in np.unique(counts[counts > 0]).tolist():
        of_size = np.flatnonzero(counts == size)
        for which in np.array_split(of_size, -(-len(of_size) * size // _PORTION)):
            rows = at[starts[which][:, np.newaxis] + np.arange(size)]
            rows = np.take_along_axis(rows, np.argsort(rank[rows], axis=1), axis=1).T
            rows = np.ascontiguousarray(rows)
            ordered = rank[rows]
            last = np.ones(rows.shape, dtype=bool)
            last[:-1] = ordered[1:] != ordered[:-1]
            once = np.ones(len(which))
            orders.append(WeakOrders(which, once, solver[rows], _tied(last), last))
    return tuple(orders)


def _tied(last: Flags) -> Codes:
    """How many are tied at each place, given which places are the last of a tie."""
    place = np.arange(len(last))[:, np.newaxis]
    ends = np.minimum.accumulate(np.where(last, place, len(last))[::-1], axis=0)[::-1]
    first = np.ones_like(last)
    first[1:] = last[:-1]
    starts = np.maximum.accumulate(np.where(first, place, 0), axis=0)
    return np.asarray(ends - starts + 1)


@dataclass(frozen=True)
class PooledRankings:
    """All rankings of a study: the different ones, and which judge gave which of them how often.

    The likelihood does not depend on who gave a ranking.
    """

    orders: tuple[WeakOrders, ...]
    n_solvers: int
    n_judges: int
    # Of shape (n,)
    judge: NDArray[np.integer[Any]]
    which: NDArray[np.integer[Any]]  # which of the different rankings each is
    times: Codes | None = None  # how often; None for once

    @property
    def n_rankings(self) -> int:
        """How many rankings were given."""
        return round(sum(float(order.times.sum()) for order in self.orders))

    def n_ranks(self) -> Codes:
        """In how many rankings each solver is, shape (n_solvers,)."""
        total = np.zeros(self.n_solvers)
        for order in self.orders:
            times = np.broadcast_to(order.times, order.solver.shape)
            total += np.bincount(order.solver.ravel(), times.ravel(), self.n_solvers)
        return np.rint(total).astype(np.int64)

    def by_judge(self, values: Floats) -> Floats:
        """Sum values of the different rankings over those of each judge, shape (n_judges,)."""
        total = np.zeros(self.n_judges)
        for start in range(0, len(self.which), _PORTION):
            part = slice(start, start + _PORTION)
            each = values[self.which[part]]
            if self.times is not None:
                each = each * self.times[part]
            total += np.bincount(self.judge[part], each, self.n_judges)
        return total


def list_rankings(cells: RankCells) -> PooledRankings:
    """The rankings of cells, each of them once."""
    judge = np.zeros(cells.n_groups, dtype=np.int64)
    judge[cells.group] = cells.judge
    return PooledRankings(
        weak_orders(cells.group, cells.solver, cells.given),
        len(cells.solvers),
        len(cells.judges),
        judge,
        np.arange(len(judge)),
    )


Solvers = tuple[int, ...]


class Connection(NamedTuple):
    """How the solvers of some rankings hang together."""

    # Solvers who were compared, directly or through others; no solver of one part was ever compared
    # with one of another. The largest part comes first.
    parts: tuple[Solvers, ...]
    # Within the parts, the sets of solvers who were always ranked above all others, and always
    # below all others, that they were compared with. Without ridge there is no maximum of
    # likelihood where there are any.
    above: tuple[Solvers, ...]
    below: tuple[Solvers, ...]


def connection(orders: Sequence[WeakOrders], n_solvers: int) -> Connection:
    """The graph of comparisons.

    There is an edge from each solver to whom it was ranked above, and both ways in a tie. A part
    is connected where edges are followed either way; the likelihood has a maximum where every
    solver can be reached from every other along them (Ford 1957; Hunter 2004, MM algorithms for
    generalized Bradley-Terry models).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    better, worse, present = [], [], np.zeros(n_solvers, dtype=bool)
    for order in orders:
        present[order.solver] = True
        # Neighbors are enough: whoever is further below is below a neighbor.
        tied = ~order.last[:-1]
        better += [order.solver[1:].ravel(), order.solver[:-1][tied]]
        worse += [order.solver[:-1].ravel(), order.solver[1:][tied]]
    ends = (np.concatenate([*of, np.empty(0, np.int64)]) for of in (better, worse))
    edges = pd.unique(np.ravel_multi_index(tuple(ends), (n_solvers, n_solvers)))
    start, end = np.unravel_index(edges, (n_solvers, n_solvers))
    graph = coo_array((np.ones(len(start)), (start, end)), shape=(n_solvers, n_solvers)).tocsr()
    _, part = connected_components(graph, directed=True, connection="weak")
    count, strong = connected_components(graph, directed=True, connection="strong")
    crossing = strong[start] != strong[end]
    reached, left = np.zeros((2, count), dtype=bool)
    left[strong[start[crossing]]] = True
    reached[strong[end[crossing]]] = True
    return Connection(
        _sets(part, present),
        _sets(strong, present & (left & ~reached)[strong]),
        _sets(strong, present & (reached & ~left)[strong]),
    )


def _sets(code: NDArray[np.int32], chosen: Flags) -> tuple[Solvers, ...]:
    """Solvers of the same code, the largest set first."""
    sets: dict[int, list[int]] = {}
    for solver in np.flatnonzero(chosen).tolist():
        sets.setdefault(int(code[solver]), []).append(solver)
    return tuple(sorted(map(tuple, sets.values()), key=lambda of: (-len(of), of)))


# The model.


@dataclass(frozen=True)
class PlackettLuce:
    r"""A fitted model."""

    log_worth: Floats  # of shape (n_solvers,): :math:`\theta`, with the mean 0
    ties: dict[int, float]  # :math:`\delta_k` by the size k of ties, of those that occur
    log_likelihood: float  # without the penalty

    def beats(self) -> Floats:
        r"""The probability that one solver beats another, a tie counted as one half.

        :math:`\big(\alpha_s + \tfrac12 \delta_2 \sqrt{\alpha_s \alpha_j}\big) \big/
        \big(\alpha_s + \alpha_j + \delta_2 \sqrt{\alpha_s \alpha_j}\big)`
        """
        lead, tie = self._pairs()
        return np.asarray(expit(lead) * (1 - tie) + tie / 2)

    def slopes(self) -> tuple[Floats, Floats]:
        r"""How `beats` changes with the lead in log worth, and with :math:`\log \delta_2`."""
        lead, tie = self._pairs()
        alone, ahead = expit(lead) * expit(-lead), expit(lead) - 0.5
        return (1 - tie) * (alone + tie * ahead**2), -tie * (1 - tie) * ahead

    def _pairs(self) -> tuple[Floats, Floats]:
        """The leads in log worth, and the chances of ties."""
        lead = self.log_worth[:, np.newaxis] - self.log_worth
        # Divided by the greater worth, so that nothing overflows.
        lesser = np.exp(-np.abs(lead) / 2)
        tie = self.ties.get(2, 0.0) * lesser
        return lead, tie / (1 + lesser**2 + tie)


def expected_ranks(model: PlackettLuce, ranked: Flags) -> Floats:
    r"""The rank that each solver can expect among all, shape (n_solvers,).

    :math:`1 + \sum_{j \neq s} P(s \text{ beats } j)` over the other solvers, ties one half; NaN
    for those without rankings.

    Shapes: `ranked` (n_solvers,).
    """
    beats = model.beats()
    np.fill_diagonal(beats, 0.0)
    return np.where(ranked, 1 + beats[:, ranked].sum(axis=1), np.nan)


def fit_plackett_luce(
    orders: Sequence[WeakOrders],
    n_solvers: int,
    *,
    ridge: float = RIDGE,
    start: PlackettLuce | None = None,
) -> PlackettLuce:
    r"""Maximize the log-likelihood less :math:`\tfrac12 \lambda (\sum\theta^2 + \sum\log^2\delta)`.

    By Newton's method.
    """
    if not ridge:
        graph = connection(orders, n_solvers)
        if graph.above or len(graph.parts) > 1:
            raise QuemError(_NO_MAXIMUM)
    model = _Likelihood(orders, n_solvers, ridge)
    at = model.parameters(start) if start else np.zeros(len(model.observed))
    step, best = np.zeros(0), -np.inf
    for _ in range(_MOST_STEPS):
        value, gradient, expected = model.evaluate(at)
        if value < best - _ROUNDING * abs(best):
            step = step / 2
        else:
            best, before = value, at
            step = np.clip(model.step(at, gradient, expected), -_LONGEST_STEP, _LONGEST_STEP)
        at = before + step
        if np.abs(step).max(initial=0.0) < _CLOSE:
            break
    else:
        raise QuemError(_NO_MAXIMUM)
    if np.abs(at[n_solvers:]).max(initial=0.0) > _LARGEST_LOG_DELTA:
        raise QuemError(_NO_MAXIMUM)
    theta = at[:n_solvers] - at[:n_solvers].mean()
    ties = dict(zip(model.sizes[1:], np.exp(at[n_solvers:]).tolist(), strict=True))
    return PlackettLuce(theta, ties, best + ridge / 2 * float(at @ at))


class _Likelihood:
    """The penalized log-likelihood, of log worths and then log deltas."""

    def __init__(self, orders: Sequence[WeakOrders], n_solvers: int, ridge: float) -> None:
        self.orders, self.n, self.ridge = orders, n_solvers, ridge
        chosen = [np.bincount(of.tied.ravel(), of.weight.ravel()) for of in orders]
        counts = np.zeros(max(2, *(len(of) for of in chosen)))
        for of in chosen:
            counts[: len(of)] += of
        counts[1] = 1  # single solvers are chosen, be it among themselves alone
        self.sizes = np.flatnonzero(counts).tolist()
        shares = self._summed([of.times / of.tied for of in orders])
        self.observed = np.concatenate([shares, counts[self.sizes[1:]]])

    def parameters(self, model: PlackettLuce) -> Floats:
        """The parameters of a fitted model in this order, 0 where it has none."""
        log_delta = [np.log(model.ties.get(k, 1.0)) for k in self.sizes[1:]]
        # Who has no rankings stays at 0.
        log_worth = np.where(self.observed[: self.n] > 0, model.log_worth, 0.0)
        return np.concatenate([log_worth, log_delta])

    def evaluate(self, at: Floats) -> tuple[float, Floats, list[_Expected]]:
        """The value, its gradient, and what is expected of the choices."""
        theta, delta = at[: self.n], np.exp(np.concatenate([[0.0], at[self.n :]]))
        expected = [_Expected(of, theta, self.sizes, delta) for of in self.orders]
        value = float(self.observed @ at) + sum(of.log_likelihood() for of in expected)
        shares = self._summed([of.shares(of.order.weight) for of in expected])
        counts = np.asarray(sum(of.counts() for of in expected))
        gradient = self.observed - np.concatenate([shares, counts[1:]])
        return value - self.ridge / 2 * float(at @ at), gradient - self.ridge * at, expected

    def step(self, at: Floats, gradient: Floats, expected: list[_Expected]) -> Floats:
        """Where Newton's method goes."""
        if self.n > _MOST_DENSE:
            return self._conjugate(at, gradient, expected)
        # Without ridge worths are free up to a constant.
        penalty = (self.ridge or _LEAST_RIDGE) * np.eye(len(at))
        return np.asarray(np.linalg.solve(self.curvature(expected) + penalty, gradient))

    def curvature(self, expected: list[_Expected]) -> Floats:
        """The observed information without the penalty, shape (p, p) for p parameters."""
        n = self.n
        of_shares, of_sizes = np.zeros(n * n), np.zeros((len(self.sizes), len(self.sizes)))
        mixed = np.zeros((len(self.sizes), n))
        for of in expected:
            solver = of.order.solver.T
            shares, with_sizes, sizes = of.covariances()
            key = solver[:, :, np.newaxis] * n + solver[:, np.newaxis, :]
            of_shares += np.bincount(key.ravel(), shares.ravel(), minlength=n * n)
            of_sizes += sizes
            mixed += [np.bincount(solver.ravel(), v.ravel(), minlength=n) for v in with_sizes]
        return np.block([[of_shares.reshape(n, n), mixed[1:].T], [mixed[1:], of_sizes[1:, 1:]]])

    def _conjugate(self, at: Floats, gradient: Floats, expected: list[_Expected]) -> Floats:
        """Solve to a twentieth, which the next step makes up for."""
        from scipy.sparse.linalg import LinearOperator, cg

        shares = self._summed([of.shares(of.order.weight) for of in expected])
        own = shares - self._summed([of.squares() for of in expected])
        counts = np.asarray(sum(of.counts() for of in expected))[1:]
        diagonal = np.concatenate([np.maximum(own, shares / 10), counts]) + self.ridge
        diagonal = np.where(diagonal > 0, diagonal, 1.0)

        def product(values: Floats) -> Floats:
            values = values.ravel()
            shift = _SHIFT / max(float(np.abs(values).max()), _SHIFT)
            return np.asarray((gradient - self.evaluate(at + shift * values)[1]) / shift)

        def operator(product: Callable[[Floats], Floats]) -> LinearOperator:
            return LinearOperator((len(at), len(at)), matvec=product, dtype=np.float64)

        inverse = operator(lambda values: values.ravel() / diagonal)
        step, _ = cg(operator(product), gradient, rtol=0.05, maxiter=len(at), M=inverse)
        return np.asarray(step)

    def _summed(self, places: list[Floats]) -> Floats:
        """Sum the values at places by solver."""
        total = np.zeros(self.n)
        for of, values in zip(self.orders, places, strict=True):
            total += np.bincount(of.solver.ravel(), values.ravel(), minlength=self.n)
        return total


class _Term(NamedTuple):
    r"""A part of the shares :math:`A_p F_i` of the places i up to p in the choice at p."""

    size: int
    a: Floats
    f: Floats


class _Expected:
    """What the model expects of choices, at given worths."""

    def __init__(self, order: WeakOrders, theta: Floats, sizes: list[int], delta: Floats) -> None:
        self.order, self.sizes, self.delta = order, sizes, delta
        self._x, self._polynomials = {}, {}
        for k in sizes:
            self._x[k] = np.exp(theta / k)[order.solver]
            self._polynomials[k] = _polynomials(self._x[k], k)
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
        """The part of the log-likelihood that is not a sum of shares."""
        return -float((self.order.weight * np.log(self.total)).sum())

    def counts(self) -> Floats:
        """The expected number of sets of each size, shape (len(sizes),)."""
        if self.by_size is None:
            return np.array([self.order.weight.sum()])
        return np.asarray((self.by_size * self.order.weight).sum(axis=(1, 2)))

    def shares(self, weight: Floats) -> Floats:
        """The sum over the choices of weight x share, by place, shape (size, m)."""
        first, *more = (term.f * _sums_from_there(term.a * weight) for term in self._terms)
        return np.asarray(sum(more, first))

    def squares(self) -> Floats:
        """The sum over the choices of weight x squared share of those alone, by place."""
        alone = self._terms[0]
        return alone.f**2 * _sums_from_there(self.order.weight * alone.a**2)

    def covariances(self) -> tuple[Floats, Floats, Floats]:
        """The covariances of shares and sizes, summed over the choices of a ranking.

        Shapes: `shares` (m, size, size); `mixed` (len(sizes), m, size); `of_sizes` (len(sizes),
        len(sizes)).
        """
        weight = self.order.weight.T
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
        mean = np.einsum("kpm,lpm->kl", self.by_size * self.order.weight, self.by_size)
        return shares, np.array(mixed), np.diag(self.counts()) - mean

    def _together(self, k: int) -> Floats:
        r"""The expected products of two shares, summed over sets of k, shape (m, size, size).

        Without places i and j, :math:`e_{k-2}` is the sum over r of :math:`e_{k-2-r}` times
        :math:`(-1)^r (x_i^r + x_i^{r-1} x_j + \dots + x_j^r)`.
        """
        x = self._x[k].T
        size = x.shape[1]
        later = np.maximum(*np.indices((size, size)))
        one, other = x[:, :, np.newaxis], x[:, np.newaxis, :]
        both = np.zeros((len(x), size, size))
        power, mixture = one * other, one * other
        weight = self.order.weight * self.delta[self.sizes.index(k)] / k**2 / self.total
        for polynomial in self._polynomials[k][-3::-1]:
            both += _sums_from_there(weight * polynomial).T[:, later] * mixture
            power = -power * other
            mixture = power - mixture * one
        return both

    def misfits(self, theta: Floats) -> Floats:
        """What a choice adds to both sums of `infit`, and to their number: shape (3, size, m)."""
        order, x = self.order, theta[self.order.solver]
        # The log odds of the chosen set: the mean log worth of the last `tied` places up to here.
        whole = np.concatenate([np.zeros_like(x[:1]), _sums_up_to(x)])
        place = np.arange(1, len(x) + 1)[:, np.newaxis]
        first = np.maximum(place - order.tied, 0)
        chosen = np.exp((whole[1:] - np.take_along_axis(whole, first, axis=0)) / order.tied)
        squares = np.zeros(x.shape)
        for k, d in zip(self.sizes, self.delta, strict=True):
            chosen = np.where(order.tied == k, d * chosen, chosen)
            squares += d**2 * _polynomials(self._x[k] ** 2, k)[k]
        p, squares = chosen / self.total, squares / self.total**2
        counted = order.last & (place > 1)
        return np.asarray([counted * (1 - 2 * p + squares), counted * (1 - squares), counted])


def _polynomials(x: Floats, k: int) -> list[Floats]:
    """The elementary symmetric polynomials of degree 0 to k of the places up to each."""
    of_degree = [np.ones_like(x)]
    for degree in range(k):
        before = of_degree[-1]
        if degree:
            before = np.concatenate([np.zeros_like(x[:1]), before[:-1]])
        of_degree.append(_sums_up_to(x * before))
    return of_degree


def _sums_up_to(values: Floats) -> Floats:
    """The sums of the values at a place and before it.

    NumPy's cumsum adds along this axis column by column, many times slower.
    """
    total = values.copy()
    for place in range(1, len(total)):
        total[place] += total[place - 1]
    return total


def _sums_from_there(values: Floats) -> Floats:
    """The sums of the values at a place and after it."""
    return _sums_up_to(values[::-1])[::-1]


# The scale of a study.


@dataclass(frozen=True)
class Scale:
    """The worths of a study's solvers, and the rankings that they were fitted to."""

    rankings: PooledRankings
    model: PlackettLuce  # the worths of solvers without rankings have no meaning
    connection: Connection
    ranked: Flags  # of shape (n_solvers,): who has rankings
    ridge: float

    @property
    def is_connected(self) -> bool:
        """Whether all solvers are on one scale."""
        return len(self.connection.parts) == 1


def fit_scale(
    rankings: PooledRankings, *, ridge: float = RIDGE, start: PlackettLuce | None = None
) -> Scale:
    """Fit worths to all rankings."""
    orders, n = rankings.orders, rankings.n_solvers
    graph = connection(orders, n)
    ranked = np.zeros(n, dtype=bool)
    ranked[[solver for part in graph.parts for solver in part]] = True
    model = fit_plackett_luce(orders, n, ridge=ridge, start=start)
    return Scale(rankings, model, graph, ranked, ridge)


@dataclass(frozen=True)
class ScaleErrors:
    """How sure the worths of a study are, for the k solvers that have rankings."""

    # Covariances of log worths, of shape (k, k)
    information: Floats  # by the observed information: rankings are taken as independent
    # By leaving out each problem, whose rankings share its accidents; None with fewer than three,
    # and where what is left falls into parts. NaN for a solver who was ranked on one problem only.
    problems: Floats | None
    df: int  # degrees of freedom of the second; 0 without it
    # Standard errors, the larger of both, of shape (k,)
    log_worth: Floats
    rank: Floats  # of expected ranks
    separation: float  # 1 - mean squared error by information / variance of log worths


def scale_errors(scale: Scale, without: Sequence[Scale] = ()) -> ScaleErrors | None:
    r"""The errors of worths, given the scales without each problem; None for too many solvers.

    With the observed information H of log worths and ties' :math:`\log \delta` at the maximum, the
    penalty :math:`\lambda`, K solvers, and :math:`C = I - 11'/K`, since worths have the mean 0, the
    covariance of log worths is :math:`C (H + \lambda I + 11'/K)^{-1} C`; that over P problems is
    the jackknife's, :math:`(P - 1)/P \sum_p (\theta_{(-p)} - \bar\theta)(\dots)'`. Expected ranks
    get theirs by the delta method.
    """
    ranked, n = np.flatnonzero(scale.ranked), len(scale.ranked)
    k, model = len(ranked), scale.model
    if k > _MOST_WITH_ERRORS:
        return None
    likelihood = _Likelihood(scale.rankings.orders, n, scale.ridge)
    at = likelihood.parameters(model)
    counted = np.concatenate([ranked, np.arange(n, len(at))])
    penalized = likelihood.curvature(likelihood.evaluate(at)[2])[np.ix_(counted, counted)]
    penalized += scale.ridge * np.eye(len(counted))
    penalized[:k, :k] += 1 / k
    inverse = np.linalg.inv(penalized)
    center = np.eye(k) - 1 / k
    information = center @ inverse[:k, :k] @ center
    variances = np.diagonal(information)

    by_lead, by_tie = (of[np.ix_(ranked, ranked)] for of in model.slopes())
    slopes = np.zeros((k, len(counted)))
    slopes[:, :k] = np.diag(by_lead.sum(axis=1)) - by_lead
    if len(at) > n and min(model.ties) == 2:  # noqa: PLR2004  the ties of pairs
        slopes[:, k] = by_tie.sum(axis=1)
    of_ranks = np.einsum("ij,jk,ik->i", slopes, inverse, slopes, optimize=True)

    problems, spread = None, float(np.var(model.log_worth[ranked], ddof=1)) if k > 1 else 0.0
    separation = 1 - float(variances.mean()) / spread if spread > 0 else np.nan
    if len(without) >= _FEWEST_PROBLEMS and all(left.is_connected for left in without):
        worths = np.array([left.model.log_worth[ranked] for left in without])
        always = np.all([left.ranked[ranked] for left in without], axis=0)
        worths -= worths[:, always].mean(axis=1, keepdims=True)
        centered = (worths - worths.mean(axis=0)) * np.sqrt(1 - 1 / len(without))
        # Of those who are missing somewhere, nothing is known and nothing is added.
        ranks = (slopes[:, :k] @ np.where(always, centered, 0.0).T).T
        unknown = np.where(always, 0.0, np.nan)
        centered += unknown
        problems = centered.T @ centered
        variances = np.fmax(variances, np.diagonal(problems))
        of_ranks = np.fmax(of_ranks, (ranks**2).sum(axis=0) + unknown)
    return ScaleErrors(
        information,
        problems,
        len(without) - 1 if problems is not None else 0,
        np.sqrt(variances),
        np.sqrt(of_ranks),
        separation,
    )


class Fit(NamedTuple):
    """How far choices are from what the worths lead one to expect; of shape (k,)."""

    n: Codes  # choices among two or more; of pairs, decisions
    infit: Floats  # 1 on average where the model is true; NaN without choices


def infit(scale: Scale) -> tuple[Fit, Fit]:
    r"""How well choices fit the worths: of each judge, and of those about each solver.

    Of a choice among sets S with the fitted probabilities :math:`p_S`, of which C was chosen,
    :math:`\sum (1 - 2 p_C + \sum_S p_S^2) / \sum (1 - \sum_S p_S^2)` over the choices. Of a pair
    without ties that is :math:`\sum (1 - p)^2 / \sum p (1 - p)`, with the probability p of what
    was decided.
    """
    rankings, n = scale.rankings, len(scale.ranked)
    likelihood = _Likelihood(rankings.orders, n, scale.ridge)
    at = likelihood.parameters(scale.model)
    most = max(int(order.ranking.max()) for order in rankings.orders)
    by_ranking, by_solver = np.zeros((3, most + 1)), np.zeros((3, n))
    for of in likelihood.evaluate(at)[2]:
        order, choices = of.order, of.misfits(at[:n])
        by_ranking[:, order.ranking] = choices.sum(axis=1)
        for row, values in enumerate(choices):
            places = _sums_from_there(values * order.times)
            by_solver[row] += np.bincount(order.solver.ravel(), places.ravel(), minlength=n)
    judges = [rankings.by_judge(values) for values in by_ranking]
    with np.errstate(invalid="ignore", divide="ignore"):
        judge, solver = (
            Fit(np.rint(count).astype(np.int64), observed / expected)
            for observed, expected, count in (judges, by_solver)
        )
    return judge, solver
