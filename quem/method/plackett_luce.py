r"""Plackett-Luce with ties: one worth per solver, from rankings of a few solvers each.

A judge's order is modeled as choosing the best, then the best of the rest, and so on; the worths
:math:`\alpha = e^\theta` are odds of being chosen (Luce 1959, Plackett 1975). Ties are those of
Turner, van Etten, Firth & Kosmidis (2020, Modelling rankings in R: the PlackettLuce package),
which generalize Davidson (1970): a set S of k solutions is chosen together with odds

.. math:: f(S) = \delta_k \Big( \prod_{s \in S} \alpha_s \Big)^{1/k}, \qquad \delta_1 = 1

and a ranking :math:`C_1 \succ C_2 \succ \dots`, with :math:`A_j` the solutions before the j-th
choice, has the probability

.. math:: \prod_j \frac{f(C_j)}{\sum_{k} \sum_{S \subseteq A_j, |S| = k} f(S)}

where k runs over 1 and the sizes of ties that occur. The log-likelihood is concave in
:math:`\theta` and :math:`\log \delta`.

Here a ranking has the worst first, so the choice at position p was made among the solvers up to p.
With :math:`x_i = \alpha_i^{1/k}`, the odds of all sets of k among them add up to :math:`\delta_k
e_k(x_1, \dots, x_p)`, an elementary symmetric polynomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit

from quem.errors import QuemError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quem.method.cells import RankCells

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]
    Flags = NDArray[np.bool_]
    Numbers = NDArray[Any]  # real, or complex for derivatives

# The default penalty: a normal prior of variance 1/RIDGE for each log worth.
RIDGE, _LEAST_RIDGE = 0.01, 0.001
_FEWEST_PROBLEMS = 3  # for the jackknife
# Beyond, a covariance of all solvers takes more memory than the rankings.
_MOST_WITH_ERRORS = 5_000
_FEW = 1 << 9  # rankings
_PORTION = 1 << 16  # numbers per chunk, to fit into the processor's cache
_MOST_STEPS, _LONGEST_STEP, _CLOSE, _ROUNDING, _SHIFT = 100, 2.0, 1e-6, 1e-12, 1e-5
# Complex step, for derivatives without rounding errors (Squire & Trapp 1998).
_ASIDE = 1e-30


# Rankings.


@dataclass(frozen=True)
class WeakOrders:
    """Distinct rankings, the worst first; shorter ones are padded."""

    times: Floats  # of shape (m,): multiplicity
    # Of shape (longest, m)
    solver: Codes
    tied: Codes  # number of solvers tied at each position
    last: Flags  # whether a position is the last of its tie
    there: Flags


def weak_orders(ranking: Codes, solver: Codes, rank: Floats) -> WeakOrders:
    """Rankings, numbered from 0, from a table with one line per position.

    Shapes: `ranking` (n,); `solver` (n,); `rank` (n,).
    """
    at = np.lexsort((rank, ranking))
    ranking, solver, rank = ranking[at], solver[at], rank[at]
    counts = np.bincount(ranking)
    place = np.arange(len(at)) - (np.cumsum(counts) - counts)[ranking]
    first = np.ones(len(at), dtype=bool)
    first[1:] = (np.diff(ranking) > 0) | (rank[1:] != rank[:-1])
    tie = np.cumsum(first) - 1
    columns = solver, np.bincount(tie)[tie], np.append(first[1:], True), np.True_
    placed = []
    for values, kind in zip(columns, (np.int64, np.int64, np.bool_, np.bool_), strict=True):
        table = np.zeros((counts.max(), len(counts)), dtype=kind)
        table[place, ranking] = values
        placed.append(table)
    return WeakOrders(np.ones(len(counts)), *placed)


@dataclass(frozen=True)
class PooledRankings:
    """All rankings of a study: the distinct ones, and how often each judge gave each.

    The likelihood does not depend on the judges.
    """

    orders: WeakOrders
    n_solvers: int
    n_judges: int
    # Of shape (n,)
    judge: NDArray[np.integer[Any]]
    which: NDArray[np.integer[Any]]  # index of each in the distinct rankings
    times: Codes | None = None  # multiplicity; None for 1

    @property
    def n_rankings(self) -> int:
        """Number of rankings, with multiplicity."""
        return round(float(self.orders.times.sum()))

    def n_ranks(self) -> Codes:
        """The number of rankings with each solver, shape (n_solvers,)."""
        times = self.orders.times * self.orders.there
        total = np.bincount(self.orders.solver.ravel(), times.ravel(), self.n_solvers)
        return np.rint(total).astype(np.int64)

    def by_judge(self, values: Floats) -> Floats:
        """Sum values of the distinct rankings over those of each judge, shape (n_judges,)."""
        total = np.zeros(self.n_judges)
        for start in range(0, len(self.which), _PORTION):
            part = slice(start, start + _PORTION)
            times = 1 if self.times is None else self.times[part]
            total += np.bincount(self.judge[part], values[self.which[part]] * times, self.n_judges)
        return total


def list_rankings(cells: RankCells) -> PooledRankings:
    """The rankings of cells, with multiplicity 1."""
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
    """Connectivity of the comparison graph."""

    # Connected components: solvers who were compared directly or through others. The largest comes
    # first.
    parts: tuple[Solvers, ...]
    # Within the components, the sets of solvers who were always ranked above, and always below, all
    # others that they were compared with. Without ridge, such sets have no maximum of likelihood.
    above: tuple[Solvers, ...]
    below: tuple[Solvers, ...]


def connection(orders: WeakOrders, n_solvers: int) -> Connection:
    """The connectivity of the comparison graph.

    There is an edge from each solver to those ranked below, and both ways in a tie. Components are
    weakly connected; the likelihood has a maximum where every solver can be reached from every
    other (Ford 1957; Hunter 2004, MM algorithms for generalized Bradley-Terry models).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    given = orders.there & (orders.times > 0)
    present = np.zeros(n_solvers, dtype=bool)
    present[orders.solver[given]] = True
    # Edges between neighbors suffice: reachability is transitive.
    below, above, tied = orders.solver[:-1], orders.solver[1:], given[1:] & ~orders.last[:-1]
    better = np.concatenate([above[given[1:]], below[tied]])
    worse = np.concatenate([below[given[1:]], above[tied]])
    graph = coo_array((np.ones(len(better)), (better, worse)), shape=(n_solvers, n_solvers)).tocsr()
    start, end = graph.nonzero()
    _, part = connected_components(graph)
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
    """Solvers by code, the largest set first."""
    sets: dict[int, list[int]] = {}
    for solver in np.flatnonzero(chosen).tolist():
        sets.setdefault(int(code[solver]), []).append(solver)
    return tuple(sorted(map(tuple, sets.values()), key=lambda of: (-len(of), of)))


# The model.


@dataclass(frozen=True)
class PlackettLuce:
    r"""A fitted model."""

    log_worth: Floats  # of shape (n_solvers,): :math:`\theta`, with the mean 0
    ties: dict[int, float]  # :math:`\delta_k` by the size k of ties that occur
    log_likelihood: float  # without the penalty

    def beats(self) -> Floats:
        r"""The probability that one solver beats another, with a tie as one half.

        :math:`\big(\alpha_s + \tfrac12 \delta_2 \sqrt{\alpha_s \alpha_j}\big) \big/
        \big(\alpha_s + \alpha_j + \delta_2 \sqrt{\alpha_s \alpha_j}\big)`
        """
        lead, tie = self._pairs()
        return np.asarray(expit(lead) * (1 - tie) + tie / 2)

    def slopes(self) -> tuple[Floats, Floats]:
        r"""The derivatives of `beats` by the lead in log worth, and by :math:`\log \delta_2`."""
        lead, tie = self._pairs()
        alone, ahead = expit(lead) * expit(-lead), expit(lead) - 0.5
        return (1 - tie) * (alone + tie * ahead**2), -tie * (1 - tie) * ahead

    def _pairs(self) -> tuple[Floats, Floats]:
        """The leads in log worth, and the odds of ties."""
        lead = self.log_worth[:, np.newaxis] - self.log_worth
        # Divided by the greater worth to avoid overflow.
        lesser = np.exp(-np.abs(lead) / 2)
        tie = self.ties.get(2, 0.0) * lesser
        return lead, tie / (1 + lesser**2 + tie)


def expected_ranks(model: PlackettLuce, ranked: Flags) -> Floats:
    r"""The expected rank of each solver among all, shape (n_solvers,).

    :math:`1 + \sum_{j \neq s} P(s \text{ beats } j)` over the other solvers, ties one half; NaN
    for those without rankings.

    Shapes: `ranked` (n_solvers,).
    """
    beats = model.beats()
    np.fill_diagonal(beats, 0.0)
    return np.where(ranked, 1 + beats[:, ranked].sum(axis=1), np.nan)


def fit_plackett_luce(
    orders: WeakOrders, n_solvers: int, *, ridge: float = RIDGE, start: PlackettLuce | None = None
) -> PlackettLuce:
    r"""Fit a model by penalized maximum likelihood.

    Newton's method maximizes the log-likelihood minus
    :math:`\tfrac12 \lambda (\sum\theta^2 + \sum\log^2\delta)`.
    """
    model = _Likelihood(orders, n_solvers)
    at = model.parameters(start) if start else np.zeros(len(model.observed))
    step, best = np.zeros(0), -np.inf
    for _ in range(_MOST_STEPS):
        value, expected = model.evaluate(at)
        value -= ridge / 2 * float(at @ at)
        if value < best - _ROUNDING * abs(best):
            step = step / 2
        else:
            best, before = value, at
            step = np.clip(model.step(at, expected, ridge), -_LONGEST_STEP, _LONGEST_STEP)
        at = before + step
        if np.abs(step).max(initial=0.0) < _CLOSE:
            break
    else:
        raise QuemError(f"worths were not found in {_MOST_STEPS} steps; report these rankings")
    theta = at[:n_solvers] - at[:n_solvers].mean()
    ties = dict(zip(model.sizes[1:], np.exp(at[n_solvers:]).tolist(), strict=True))
    return PlackettLuce(theta, ties, best + ridge / 2 * float(at @ at))


class _Choices(NamedTuple):
    """The choices of rankings at some worths."""

    total: Numbers  # odds of all sets at each position, shape (longest, m)
    shares: Numbers  # of each position in its choices: 1/k of those of k; as `total`
    counts: Numbers  # expected number of sets of each size


class _Likelihood:
    """The log-likelihood of log worths and log deltas, in this order."""

    def __init__(self, orders: WeakOrders, n_solvers: int) -> None:
        self.orders, self.n = orders, n_solvers
        self.weight = orders.times * orders.last
        at_once = max(1, _PORTION // len(orders.solver))
        starts = range(0, len(orders.times), at_once)
        self.portions = [slice(start, start + at_once) for start in starts]
        counts = np.bincount(orders.tied.ravel(), self.weight.ravel())
        counts[:2] = 0, 1  # single solvers are always possible choices
        self.sizes = np.flatnonzero(counts).tolist()
        shares = orders.times * orders.there / np.maximum(orders.tied, 1)
        self.observed = np.append(self.by_solver(shares), counts[self.sizes[1:]])

    def parameters(self, model: PlackettLuce) -> Floats:
        """The parameters of a fitted model in this order, 0 where it has none."""
        log_delta = [np.log(model.ties.get(k, 1.0)) for k in self.sizes[1:]]
        # Solvers without rankings stay at 0.
        log_worth = np.where(self.observed[: self.n] > 0, model.log_worth, 0.0)
        return np.concatenate([log_worth, log_delta])

    def by_solver(self, values: Floats) -> Floats:
        """Sum values of positions over those of each solver."""
        return np.bincount(self.orders.solver.ravel(), values.ravel(), self.n).astype(float)

    def evaluate(self, at: Floats) -> tuple[float, Floats]:
        """The log-likelihood, and the expected values of the sufficient statistics.

        The gradient is their observed minus their expected values.
        """
        n, value, expected = self.n, float(self.observed @ at), np.zeros(len(at))
        for part in self.portions:
            solver = self.orders.solver[:, part]
            of = self.choices(at[:n][solver], at[n:], part)
            value -= float((self.weight[:, part] * np.log(of.total)).sum())
            expected[:n] += np.bincount(solver.ravel(), of.shares.ravel(), n)
            expected[n:] += of.counts[1:]
        return value, expected

    def step(self, at: Floats, expected: Floats, ridge: float) -> Floats:
        """A step of Newton's method, to within a twentieth, which the next step corrects.

        By conjugate gradients, which need only products with the information matrix.
        """
        from scipy.sparse.linalg import LinearOperator, cg

        damped = ridge or _LEAST_RIDGE  # without ridge, worths are free up to a constant

        def product(values: Floats) -> Floats:
            values = values.ravel()
            shift = _SHIFT / max(float(np.abs(values).max()), _SHIFT)
            return (self.evaluate(at + shift * values)[1] - expected) / shift + damped * values

        # Preconditioner: the diagonal for sets of one.
        squares = np.zeros(len(at))
        for part in self.portions:
            solver = self.orders.solver[:, part]
            x = np.exp(at[solver])
            total = self.choices(at[: self.n][solver], at[self.n :], part).total
            alone = x**2 * _sums_from_there(self.weight[:, part] / total**2)
            squares[: self.n] += np.bincount(solver.ravel(), alone.ravel(), self.n)
        diagonal = np.maximum(expected - squares, expected / 10) + damped
        shape = len(at), len(at)
        curvature = LinearOperator(shape, matvec=product)
        scaled = LinearOperator(shape, matvec=lambda values: values.ravel() / diagonal)
        gradient: Any = self.observed - expected - ridge * at
        step, _ = cg(curvature, gradient, rtol=0.05, maxiter=len(at), M=scaled)
        return np.asarray(step)

    def information(self, at: Floats) -> Any:  # noqa: ANN401  a sparse array of SciPy
        """The observed information, shape (p, p) for p parameters."""
        from scipy.sparse import block_array, coo_array

        solver, theta, n = self.orders.solver, at[: self.n][self.orders.solver], self.n
        rows, values = [], []
        for place in range(len(theta)):
            moved = theta.astype(complex)
            moved[place] += 1j * _ASIDE
            rows.append(np.broadcast_to(solver[place], solver.shape).ravel())
            values.append(self.choices(moved, at[n:]).shares.imag.ravel() / _ASIDE)
        columns = np.tile(solver.ravel(), len(theta))
        ends = np.concatenate(rows), columns
        of_worths = coo_array((np.concatenate(values), ends), shape=(n, n)).tocsr()
        if len(at) == n:
            return of_worths
        each = [self.choices(theta, at[n:] + 1j * _ASIDE * one) for one in np.eye(len(at) - n)]
        mixed = np.array([self.by_solver(of.shares.imag) for of in each]) / _ASIDE
        of_ties = np.array([of.counts[1:].imag for of in each]) / _ASIDE
        blocks: Any = [[of_worths, mixed.T], [mixed, of_ties]]
        return block_array(blocks).tocsr()

    def choices(self, theta: Numbers, log_delta: Numbers, part: slice = slice(None)) -> _Choices:
        """The expected choices of a part; log worths are by position, shape (longest, m)."""
        delta = np.exp(np.append(0.0, log_delta))
        worths = [np.exp(theta / k) * self.orders.there[:, part] for k in self.sizes]
        sums = [_polynomials(x, k) for x, k in zip(worths, self.sizes, strict=True)]
        odds = [d * of[-1] for d, of in zip(delta, sums, strict=True)]
        total = sum(odds)
        weight = self.weight[:, part] / total
        each = zip(self.sizes, delta, worths, sums, strict=True)
        shares = sum(d / k * _slopes(x, of, weight) for k, d, x, of in each)
        return _Choices(total, shares, np.array([(weight * of).sum() for of in odds]))

    def misfits(self, at: Floats) -> Floats:
        """The terms of a choice in the sums of `infit`, and their number: shape (3, size, m)."""
        order, theta, delta = self.orders, at[: self.n], np.exp(at[self.n :])
        x = theta[order.solver] * order.there
        total = self.choices(theta[order.solver], at[self.n :]).total
        # The log odds of the chosen set: the mean log worth of the last `tied` positions up to
        # here.
        whole = np.concatenate([np.zeros_like(x[:1]), np.cumsum(x, axis=0)])
        place = np.arange(1, len(x) + 1)[:, np.newaxis]
        first = np.maximum(place - order.tied, 0)
        tied = np.maximum(order.tied, 1)
        chosen = np.exp((whole[1:] - np.take_along_axis(whole, first, axis=0)) / tied)
        squares = np.zeros(x.shape)
        for k, d in zip(self.sizes, [1.0, *delta], strict=True):
            chosen = np.where(order.tied == k, d * chosen, chosen)
            worths = np.exp(2 * theta[order.solver] / k) * order.there
            squares += d**2 * _polynomials(worths, k)[k]
        p, squares = chosen / total, squares / total**2
        counted = order.last & (place > 1)
        return np.asarray([counted * (1 - 2 * p + squares), counted * (1 - squares), counted])


def _polynomials(x: Numbers, k: int) -> list[Numbers]:
    """The elementary symmetric polynomials of degree 0 to k of the positions up to each."""
    of_degree = [np.ones_like(x)]
    for degree in range(k):
        of_degree.append(_sums_up_to(x * _before(of_degree[-1], degree)))
    return of_degree


def _slopes(x: Numbers, polynomials: list[Numbers], weight: Numbers) -> Numbers:
    """The gradient of the weighted sum of the last polynomial, by log x; backpropagated."""
    slopes: Any = 0.0
    for degree in range(len(polynomials) - 2, -1, -1):
        reach = _sums_from_there(weight) * x
        slopes = slopes + reach * _before(polynomials[degree], degree)
        weight = np.concatenate([reach[1:], np.zeros_like(reach[:1])])
    return np.asarray(slopes)


def _before(polynomial: Numbers, degree: int) -> Numbers:
    """A polynomial of the positions before each; that of degree 0 is 1 everywhere."""
    if not degree:
        return polynomial
    return np.concatenate([np.zeros_like(polynomial[:1]), polynomial[:-1]])


def _sums_up_to(values: Numbers) -> Numbers:
    """Cumulative sums over positions.

    NumPy's cumsum adds along this axis column by column, which is many times slower for many.
    """
    if values.shape[1] < _FEW:
        return np.asarray(values.cumsum(axis=0))
    total = values.copy()
    for place in range(1, len(total)):
        total[place] += total[place - 1]
    return total


def _sums_from_there(values: Numbers) -> Numbers:
    """Cumulative sums over positions from the end."""
    return _sums_up_to(values[::-1])[::-1]


# The scale of a study.


@dataclass(frozen=True)
class Scale:
    """The worths of a study's solvers, and their rankings."""

    rankings: PooledRankings
    model: PlackettLuce  # the worths of solvers without rankings have no meaning
    connection: Connection
    ranked: Flags  # of shape (n_solvers,): whether a solver has rankings
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
    """The errors of the worths of a study, for the k solvers that have rankings."""

    # Covariance of log worths by the observed information, which treats rankings as independent
    information: Floats  # of shape (k, k)
    # Jackknife covariance over problems, whose rankings are dependent; 0 with fewer than three, and
    # where the rest is disconnected
    df: int
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
    likelihood = _Likelihood(scale.rankings.orders, n)
    at = likelihood.parameters(model)
    counted = np.concatenate([ranked, np.arange(n, len(at))])
    penalized = likelihood.information(at)[counted][:, counted].toarray()
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

    df, spread = 0, float(np.var(model.log_worth[ranked], ddof=1)) if k > 1 else 0.0
    separation = 1 - float(variances.mean()) / spread if spread > 0 else np.nan
    if len(without) >= _FEWEST_PROBLEMS and all(left.is_connected for left in without):
        worths = np.array([left.model.log_worth[ranked] for left in without])
        always = np.all([left.ranked[ranked] for left in without], axis=0)
        worths -= worths[:, always].mean(axis=1, keepdims=True)
        centered = (worths - worths.mean(axis=0)) * np.sqrt(1 - 1 / len(without))
        # Solvers who are missing somewhere get no jackknife variance.
        ranks = (slopes[:, :k] @ np.where(always, centered, 0.0).T).T
        variances = np.where(always, np.fmax(variances, (centered**2).sum(axis=0)), variances)
        of_ranks = np.where(always, np.fmax(of_ranks, (ranks**2).sum(axis=0)), of_ranks)
        df = len(without) - 1
    return ScaleErrors(information, df, np.sqrt(variances), np.sqrt(of_ranks), separation)


class Fit(NamedTuple):
    """Fit of choices to the worths; of shape (k,)."""

    n: Codes  # choices among two or more; for pairs, decisions
    infit: Floats  # expected to be 1; NaN without choices


def infit(scale: Scale) -> Fit:
    r"""The fit of each judge's choices to the worths.

    For a choice among sets S with the fitted probabilities :math:`p_S`, and the chosen set C,
    :math:`\sum (1 - 2 p_C + \sum_S p_S^2) / \sum (1 - \sum_S p_S^2)` over the choices. For a pair
    without ties that is :math:`\sum (1 - p)^2 / \sum p (1 - p)`, with the probability p of the
    decision.
    """
    rankings, likelihood = scale.rankings, _Likelihood(scale.rankings.orders, len(scale.ranked))
    choices = likelihood.misfits(likelihood.parameters(scale.model))
    observed, expected, count = (rankings.by_judge(values.sum(axis=0)) for values in choices)
    with np.errstate(invalid="ignore", divide="ignore"):
        return Fit(np.rint(count).astype(np.int64), observed / expected)
