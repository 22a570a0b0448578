r"""Plackett-Luce with ties: one worth per solver, from rankings of a few solvers each.

A judge who orders solutions is taken to choose the best, then the best of the rest, and so on;
the worths :math:`\alpha = e^\theta` are odds of being chosen (Luce 1959, Plackett 1975). Ties are
those of Turner, van Etten, Firth & Kosmidis (2020, Modelling rankings in R: the PlackettLuce
package), which generalize Davidson (1970): a set S of k solutions is chosen together with odds

.. math:: f(S) = \delta_k \Big( \prod_{s \in S} \alpha_s \Big)^{1/k}, \qquad \delta_1 = 1

and a ranking :math:`C_1 \succ C_2 \succ \dots`, with :math:`A_j` what is left before the j-th
choice, has the probability

.. math:: \prod_j \frac{f(C_j)}{\sum_{k} \sum_{S \subseteq A_j, |S| = k} f(S)}

where k runs over 1 and the sizes of ties that occur. Without ties that is Plackett-Luce. The
log-likelihood is concave in :math:`\theta` and :math:`\log \delta`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, logit

from quem.errors import QuemError
from quem.experience.choices import Choices, Expected, WeakOrders

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# The default penalty: as if each log worth had been drawn from a normal distribution of
# variance 1/RIDGE (see docs/explanation/blocks.md).
RIDGE = 0.01
# Up to so many solvers the information matrix is solved as a whole; above, conjugate gradients
# need it only as a product.
_MOST_DENSE = 200
_MOST_STEPS, _LONGEST_STEP, _CLOSE, _ROUNDING = 100, 2.0, 1e-6, 1e-12
_SHIFT = 1e-5
# Ties so much more frequent, or so much rarer, than all else have no other reason.
_LARGEST_LOG_DELTA = 20.0
_NO_MAXIMUM = (
    "the rankings have no maximum of likelihood: some solvers were never compared with others or "
    "always ranked above them, or ties of some size are the only outcome; give a ridge above 0"
)


@dataclass(frozen=True)
class PlackettLuce:
    r"""A fitted model."""

    log_worth: Floats  # of shape (n_solvers,): :math:`\theta`, with the mean 0
    ties: dict[int, float]  # :math:`\delta_k` by the size k of ties, of those that occur
    log_likelihood: float  # without the penalty

    def beats(self) -> Floats:
        r"""Give the probability that one solver beats another, a tie counted as one half.

        :math:`\big(\alpha_s + \tfrac12 \delta_2 \sqrt{\alpha_s \alpha_j}\big) \big/
        \big(\alpha_s + \alpha_j + \delta_2 \sqrt{\alpha_s \alpha_j}\big)`
        """
        differences = self.log_worth[:, np.newaxis] - self.log_worth
        delta = self.ties.get(2, 0.0)
        # Divided by the larger worth, so that nothing overflows.
        lesser = np.exp(-np.abs(differences) / 2)
        tie = delta * lesser / (1 + lesser**2 + delta * lesser)
        return np.asarray(expit(differences) * (1 - tie) + tie / 2)


def fit_plackett_luce(
    orders: tuple[WeakOrders, ...],
    n_solvers: int,
    *,
    ridge: float = RIDGE,
    weights: Floats | None = None,
    start: PlackettLuce | None = None,
) -> PlackettLuce:
    r"""Maximize the log-likelihood less :math:`\tfrac12 \lambda (\sum\theta^2 + \sum\log^2\delta)`.

    By Newton's method.

    Shapes: `weights` (number of rankings,), optional.
    """
    counted = orders if weights is None else with_weight(orders, weights)
    if not ridge and _is_open(counted, n_solvers):
        raise QuemError(_NO_MAXIMUM)
    model = Likelihood([Choices(order, weights) for order in orders], n_solvers, ridge)
    at = model.parameters(start) if start else model.first_guess()
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
    return model.fitted(at, best)


def with_weight(orders: tuple[WeakOrders, ...], weights: Floats) -> tuple[WeakOrders, ...]:
    """Leave out rankings without weight.

    Shapes: `weights` (number of rankings,).
    """
    pairs = [(of, weights[of.ranking] > 0) for of in orders]
    return tuple(
        of
        if keep.all()
        else WeakOrders(of.ranking[keep], of.solver[:, keep], of.tied[:, keep], of.last[:, keep])
        for of, keep in pairs
        if keep.any()
    )


def _is_open(orders: tuple[WeakOrders, ...], n_solvers: int) -> bool:
    """Whether worths could grow without end."""
    ranked = len(np.unique(np.concatenate([np.unique(of.solver) for of in orders])))
    # Where the first portion closes the graph, no other can open it.
    for looked_at in (orders[:1], orders):
        graph = connection(looked_at, n_solvers)
        if not graph.above and len(graph.parts) == 1 and len(graph.parts[0]) == ranked:
            return False
    return True


class Likelihood:
    """The penalized log-likelihood, of log worths and then log deltas."""

    def __init__(self, choices: list[Choices], n_solvers: int, ridge: float) -> None:
        self.choices, self.n, self.ridge = choices, n_solvers, ridge
        self.sizes = sorted({1}.union(*(of.counts for of in choices)))
        counts = [sum(of.counts.get(k, 0.0) for of in choices) for k in self.sizes]
        self.observed = np.concatenate([self._summed([of.share for of in choices]), counts[1:]])

    def parameters(self, model: PlackettLuce) -> Floats:
        """Give the parameters of a fitted model in this order, 0 where it has none."""
        log_delta = [np.log(model.ties.get(k, 1.0)) for k in self.sizes[1:]]
        # Who has no rankings stays at 0.
        log_worth = np.where(self.observed[: self.n] > 0, model.log_worth, 0.0)
        return np.concatenate([log_worth, log_delta])

    def evaluate(self, at: Floats) -> tuple[float, Floats, list[Expected]]:
        """The value, its gradient, and what is expected of the choices."""
        theta, delta = at[: self.n], np.exp(np.concatenate([[0.0], at[self.n :]]))
        expected = [Expected(of, theta, self.sizes, delta) for of in self.choices]
        value = float(self.observed @ at) + sum(of.log_likelihood() for of in expected)
        shares = self._summed([of.shares(of.choices.weight) for of in expected])
        counts = np.asarray(sum(of.counts() for of in expected))
        gradient = self.observed - np.concatenate([shares, counts[1:]])
        return value - self.ridge / 2 * float(at @ at), gradient - self.ridge * at, expected

    def first_guess(self) -> Floats:
        """Log worths that go with the mean places, somewhat spread, as means are flatter."""
        places = [(np.arange(len(of.share)) + 0.5) / len(of.share) for of in self.choices]
        each = [np.ones(of.share.shape) for of in self.choices]
        count = np.maximum(self._summed(each), 1.0)
        total = self._summed(
            [of * place[:, np.newaxis] for of, place in zip(each, places, strict=True)]
        )
        mean = np.where(total > 0, total / count, 0.5)
        return np.concatenate([1.5 * logit(mean), np.zeros(len(self.sizes) - 1)])

    def step(self, at: Floats, gradient: Floats, expected: list[Expected]) -> Floats:
        """Where Newton's method goes."""
        if self.n <= _MOST_DENSE:
            try:
                return np.asarray(cho_solve(cho_factor(self._information(expected)), gradient))
            except np.linalg.LinAlgError:
                raise QuemError(_NO_MAXIMUM) from None
        return self._conjugate(at, gradient, expected)

    def fitted(self, at: Floats, value: float) -> PlackettLuce:
        """Give the model at the maximum, where the penalized value is known."""
        theta, log_delta = at[: self.n], at[self.n :]
        ties = dict(zip(self.sizes[1:], np.exp(log_delta).tolist(), strict=True))
        plain = value + self.ridge / 2 * float(at @ at)
        return PlackettLuce(theta - theta.mean(), ties, plain)

    def curvature(self, expected: list[Expected]) -> Floats:
        """Give the observed information without the penalty, shape (p, p) for p parameters."""
        n = self.n
        of_shares, of_sizes = np.zeros(n * n), np.zeros((len(self.sizes), len(self.sizes)))
        mixed = np.zeros((len(self.sizes), n))
        for of in expected:
            solver = of.choices.solver.T
            shares, with_sizes, sizes = of.covariances()
            key = solver[:, :, np.newaxis] * n + solver[:, np.newaxis, :]
            of_shares += np.bincount(key.ravel(), shares.ravel(), minlength=n * n)
            of_sizes += sizes
            mixed += [np.bincount(solver.ravel(), v.ravel(), minlength=n) for v in with_sizes]
        return np.block([[of_shares.reshape(n, n), mixed[1:].T], [mixed[1:], of_sizes[1:, 1:]]])

    def _information(self, expected: list[Expected]) -> Floats:
        """The curvature, made such that a step can be solved for."""
        n = self.n
        information = self.curvature(expected)
        information += self.ridge * np.eye(len(information))
        ranked = np.flatnonzero(self.observed[:n])
        if not self.ridge:
            # Worths are free up to a constant: the step takes the one of mean 0.
            information[np.ix_(ranked, ranked)] += 1 / n
        # Who has no rankings stays where he is.
        information[np.diag_indices(n)] += self.observed[:n] == 0
        return information

    def _conjugate(self, at: Floats, gradient: Floats, expected: list[Expected]) -> Floats:
        """Solve to a tenth, which the next step makes up for."""
        from scipy.sparse.linalg import LinearOperator, cg

        shares = self._summed([of.shares(of.choices.weight) for of in expected])
        own = shares - self._summed([of.squares() for of in expected])
        counts = np.asarray(sum(of.counts() for of in expected))[1:]
        diagonal = np.concatenate([np.maximum(own, shares / 10), counts]) + self.ridge
        diagonal = np.where(diagonal > 0, diagonal, 1.0)

        def exactly(values: Floats) -> Floats:
            values = values.ravel()
            means = [of.choices.weight * of.means(values[of.choices.solver]) for of in expected]
            places = [of.shares(mean) for of, mean in zip(expected, means, strict=True)]
            return np.asarray((shares + self.ridge) * values - self._summed(places))

        def by_difference(values: Floats) -> Floats:
            values = values.ravel()
            shift = _SHIFT / max(float(np.abs(values).max()), _SHIFT)
            return np.asarray((gradient - self.evaluate(at + shift * values)[1]) / shift)

        def operator(product: Callable[[Floats], Floats]) -> LinearOperator:
            return LinearOperator((len(at), len(at)), matvec=product, dtype=np.float64)

        product = exactly if len(self.sizes) == 1 else by_difference
        inverse = operator(lambda values: values.ravel() / diagonal)
        step, _ = cg(operator(product), gradient, rtol=0.05, maxiter=len(at), M=inverse)
        return np.asarray(step)

    def _summed(self, places: list[Floats]) -> Floats:
        """Sum the values at places by solver."""
        total = np.zeros(self.n)
        for of, values in zip(self.choices, places, strict=True):
            total += np.bincount(of.solver.ravel(), values.ravel(), minlength=self.n)
        return total


Solvers = tuple[int, ...]


@dataclass(frozen=True)
class Connection:
    """How the solvers of some rankings hang together."""

    # Solvers who were compared, directly or through others; no solver of one part was ever compared
    # with one of another. The largest part comes first.
    parts: tuple[Solvers, ...]
    # Within the parts, the sets of solvers who were always ranked above all others, and always
    # below all others, that they were compared with. Without ridge there is no maximum of
    # likelihood where there are any.
    above: tuple[Solvers, ...]
    below: tuple[Solvers, ...]


def connection(orders: tuple[WeakOrders, ...], n_solvers: int) -> Connection:
    """Look at the graph of comparisons.

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
        _sets(part, present, np.ones(n_solvers, dtype=bool)),
        _sets(strong, present, (left & ~reached)[strong]),
        _sets(strong, present, (reached & ~left)[strong]),
    )


def _sets(
    code: NDArray[np.int32], present: NDArray[np.bool_], chosen: NDArray[np.bool_]
) -> tuple[Solvers, ...]:
    """Solvers of the same code, the largest set first."""
    sets: dict[int, list[int]] = {}
    for solver in np.flatnonzero(present & chosen).tolist():
        sets.setdefault(int(code[solver]), []).append(solver)
    return tuple(sorted(map(tuple, sets.values()), key=lambda of: (-len(of), of)))
