"""Worths by Plackett-Luce, their errors and fit: brute force, and laws."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from statsmodels.duration.hazard_regression import PHReg

from quem.method.plackett_luce import (
    PlackettLuce,
    PooledRankings,
    Scale,
    WeakOrders,
    connection,
    expected_ranks,
    fit_plackett_luce,
    fit_scale,
    infit,
    scale_errors,
    weak_orders,
)

if TYPE_CHECKING:
    from collections.abc import Callable

# Best first; a place that solvers share is a tie.
Ranking = list[list[int]]

few = settings(deadline=None, max_examples=30)

CYCLE: list[Ranking] = [[[0], [1], [2]], [[1], [2], [0]], [[2], [0], [1]]]


def fit(rankings: list[Ranking], n: int, *, ridge: float = 0.01) -> PlackettLuce:
    return fit_plackett_luce(orders_of(rankings), n, ridge=ridge)


def orders_of(rankings: list[Ranking]) -> WeakOrders:
    rows = [
        (number, solver, -place)
        for number, ranking in enumerate(rankings)
        for place, tie in enumerate(ranking)
        for solver in tie
    ]
    ranking, solver, rank = (np.array(column) for column in zip(*rows, strict=True))
    return weak_orders(ranking, solver, rank.astype(float))


def log_probability(ranking: Ranking, theta: np.ndarray, log_delta: dict[int, float]) -> float:
    """The model as it is defined: each choice against all sets that could have been chosen."""

    def odds(chosen: tuple[int, ...]) -> float:
        return log_delta[len(chosen)] + float(np.mean(theta[list(chosen)]))

    left = [solver for tie in ranking for solver in tie]
    total = 0.0
    for tie in ranking:
        sets = [odds(chosen) for k in log_delta for chosen in combinations(left, k)]
        total += odds(tuple(tie)) - float(np.logaddexp.reduce(sets))
        left = [solver for solver in left if solver not in tie]
    return total


def brute_force(rankings: list[Ranking], n: int, ridge: float) -> tuple[np.ndarray, float]:
    """Maximize the definition by a general optimizer; gives the parameters and the maximum."""
    sizes = sorted({len(tie) for ranking in rankings for tie in ranking} - {1})

    def loss(at: np.ndarray) -> float:
        log_delta = {1: 0.0, **dict(zip(sizes, at[n:], strict=True))}
        total = sum(log_probability(ranking, at[:n], log_delta) for ranking in rankings)
        return ridge / 2 * float(at @ at) - total

    optimum = minimize(loss, np.zeros(n + len(sizes)), method="BFGS", options={"gtol": 1e-7})
    return optimum.x, -float(optimum.fun)


def drawn(seed: int, n: int, count: int, longest: int, step: float) -> list[Ranking]:
    rng = np.random.default_rng(seed)
    rankings = []
    for _ in range(count):
        solvers = rng.choice(n, rng.integers(2, longest + 1), replace=False)
        quality = np.round((solvers / 3 + rng.gumbel(size=len(solvers))) / step)
        rankings.append([solvers[quality == q].tolist() for q in sorted(set(quality))[::-1]])
    return rankings


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_is_a_stratified_cox_model(seed: int) -> None:
    """Without ties, worths are the hazards of a Cox model with a stratum a ranking."""
    n = 5
    rankings = [*drawn(seed, n, 25, 5, 1e-9), *CYCLE, [[3], [4], [0]], [[4], [3]], [[0], [3]]]
    rows = [
        (number, place, solver)
        for number, ranking in enumerate(rankings)
        for place, (solver,) in enumerate(ranking, 1)
    ]
    stratum, time, solver = np.array(rows).T
    dummies = (solver[:, np.newaxis] == np.arange(1, n)).astype(float)
    cox = PHReg(time.astype(float), dummies, strata=stratum).fit()

    worths = fit(rankings, n, ridge=0.0)

    assert worths.log_likelihood == pytest.approx(cox.llf, rel=1e-9)
    np.testing.assert_allclose(worths.log_worth[1:] - worths.log_worth[0], cox.params, atol=1e-6)
    assert worths.ties == {}


@pytest.mark.parametrize("ridge", [0.01, 1.0])
@pytest.mark.parametrize(("seed", "longest", "step"), [(1, 5, 1.0), (2, 4, 2.0), (3, 5, 0.5)])
def test_ties_are_as_they_are_defined(
    seed: int, longest: int, step: float, *, ridge: float
) -> None:
    """With ties of several sizes, the maximum is that of the likelihood written out."""
    n = 5
    rankings = drawn(seed, n, 10, longest, step)
    at, most = brute_force(rankings, n, ridge)

    worths = fit(rankings, n, ridge=ridge)

    np.testing.assert_allclose(worths.log_worth, at[:n] - at[:n].mean(), atol=1e-4)
    np.testing.assert_allclose(np.log(list(worths.ties.values())), at[n:], atol=1e-4)
    penalty = ridge / 2 * float(at @ at)
    assert worths.log_likelihood == pytest.approx(most + penalty, rel=1e-6)


def test_the_likelihood_of_many_rankings_is_written_out() -> None:
    """They are computed in portions."""
    n, count = 12, 6_000
    orders = np.random.default_rng(1).permuted(np.tile(np.arange(n), (count, 1)), axis=1)
    places = np.tile(-np.arange(float(n)), count)
    of = weak_orders(np.repeat(np.arange(count), n), orders.ravel(), places)
    worths = fit_plackett_luce(of, n, ridge=0.0)
    chosen = worths.log_worth[orders]
    left = np.logaddexp.accumulate(chosen[:, ::-1], axis=1)
    assert worths.log_likelihood == pytest.approx(chosen.sum() - left.sum())


@st.composite
def weak_orderings(draw: st.DrawFn) -> Ranking:
    """All of five solvers, with ties."""
    places = draw(st.lists(st.integers(0, 4), min_size=5, max_size=5))
    return [[s for s in range(5) if places[s] == place] for place in sorted(set(places))]


weak_rankings = st.lists(weak_orderings(), min_size=3, max_size=8)


@few
@given(weak_rankings, st.permutations(range(5)))
def test_other_names_change_nothing(rankings: list[Ranking], names: list[int]) -> None:
    renamed = [[[names[solver] for solver in tie] for tie in ranking] for ranking in rankings]
    before, after = fit(rankings, 5), fit(renamed, 5)
    np.testing.assert_allclose(after.log_worth[names], before.log_worth, atol=1e-7)
    assert after.ties == pytest.approx(before.ties, rel=1e-6)


@few
@given(weak_rankings)
def test_a_ranking_that_stands_twice_weighs_two(rankings: list[Ranking]) -> None:
    """Repeating rankings is the same as weighting them, and a weight of 0 takes one out."""
    twice = fit(rankings + rankings[:1], 5)
    times = np.array([2.0, *[1.0] * len(rankings[1:]), 0.0])
    orders = replace(orders_of(rankings + drawn(9, 5, 1, 5, 1.0)), times=times)
    weighted = fit_plackett_luce(orders, 5)
    np.testing.assert_allclose(weighted.log_worth, twice.log_worth, atol=1e-7)
    assert weighted.ties == pytest.approx(twice.ties, rel=1e-6)
    assert weighted.log_likelihood == pytest.approx(twice.log_likelihood)


@few
@given(weak_rankings.map(lambda rankings: [ranking[:3] for ranking in rankings]))
def test_the_graph_is_that_of_reachability(rankings: list[Ranking]) -> None:
    """Parts, and what is always above or below, by the closure of who was not below whom."""
    there = np.zeros((5, 5), dtype=bool)
    for ranking in rankings:
        for place, tie in enumerate(ranking):
            lower = [s for others in ranking[place:] for s in others]
            there[np.ix_(tie, lower)] = True
    solvers = np.flatnonzero(there.diagonal()).tolist()

    def closed(edges: np.ndarray) -> np.ndarray:
        return np.asarray(np.linalg.matrix_power(edges.astype(int), 5) > 0)

    def sets(related: np.ndarray) -> set[frozenset[int]]:
        return {frozenset(np.flatnonzero(related[s]).tolist()) for s in solvers}

    graph, strong = connection(orders_of(rankings), 5), closed(there) & closed(there).T
    assert {frozenset(part) for part in graph.parts} == sets(closed(there | there.T))
    above, below = set(), set()
    for own in sets(strong):
        outside = [s for s in solvers if s not in own]
        won, lost = (edges[np.ix_([*own], outside)].any() for edges in (there, there.T))
        above |= {own} if won and not lost else set()
        below |= {own} if lost and not won else set()
    assert {frozenset(s) for s in graph.above} == above
    assert {frozenset(s) for s in graph.below} == below


def scale_of(rankings: list[Ranking], n: int, judges: list[int], ridge: float = 0.0) -> Scale:
    judge, every = np.array(judges), np.arange(len(rankings))
    pooled = PooledRankings(orders_of(rankings), n, max(judges) + 1, judge, every)
    return fit_scale(pooled, ridge=ridge)


TIED: list[Ranking] = [
    [[0, 1], [2], [3]],
    [[3], [1, 2], [0]],
    [[2], [0]],
    [[1, 3], [0]],
    [[0], [1, 2, 3]],
    [[2, 3], [1]],
    [[3], [2], [1], [0]],
]


def parameters(model: PlackettLuce) -> tuple[np.ndarray, list[int]]:
    """Log worths and then log deltas, and the sizes of ties."""
    sizes = sorted(model.ties)
    return np.concatenate([model.log_worth, np.log([model.ties[k] for k in sizes])]), sizes


def slopes(of: Callable[[np.ndarray], Any], at: np.ndarray) -> np.ndarray:
    steps = 1e-4 * np.eye(len(at))
    return np.array([(of(at + step) - of(at - step)) / 2e-4 for step in steps])


def test_errors_by_brute_force() -> None:
    """With ties and a penalty, errors are those of numerical derivatives of the definitions."""
    ridge, n = 0.3, 4
    scale = scale_of(TIED, n, [0] * len(TIED), ridge)
    errors, (at, sizes) = scale_errors(scale), parameters(scale.model)
    assert errors

    def likelihood(x: np.ndarray) -> float:
        log_delta = {1: 0.0, **dict(zip(sizes, x[n:], strict=True))}
        return sum(log_probability(ranking, x[:n], log_delta) for ranking in TIED)

    def ranks(x: np.ndarray) -> np.ndarray:
        worth, delta = np.exp(x[:n]), np.exp(x[n + sizes.index(2)])
        tie = delta * np.sqrt(np.outer(worth, worth))
        beats = (worth[:, np.newaxis] + tie / 2) / (np.add.outer(worth, worth) + tie)
        return np.asarray(0.5 + beats.sum(axis=1))

    centering = np.eye(len(at))
    penalized = ridge * centering - slopes(lambda x: slopes(likelihood, x), at)
    penalized[:n, :n] += 1 / n
    centering[:n, :n] -= 1 / n
    inverse = np.linalg.inv(penalized)
    covariance = (centering @ inverse @ centering)[:n, :n]
    assert errors.information == pytest.approx(covariance, rel=1e-4, abs=1e-7)
    assert expected_ranks(scale.model, scale.ranked) == pytest.approx(ranks(at))
    of_ranks = np.einsum("ik,ij,jk->k", slopes(ranks, at), inverse, slopes(ranks, at))
    assert errors.rank == pytest.approx(np.sqrt(of_ranks), rel=1e-4)
    unsure = np.diagonal(covariance).mean() / at[:n].var(ddof=1)
    assert errors.separation == pytest.approx(1 - unsure, rel=1e-4)
    assert errors.df == 0


def test_infit_by_brute_force() -> None:
    """With ties, infit sums over all sets that could have been chosen, choice by choice."""
    judges = [0, 0, 1, 1, 2, 2, 2]
    scale = scale_of(TIED, 4, judges, 0.3)
    at, sizes = parameters(scale.model)
    log_delta = {1: 0.0, **dict(zip(sizes, at[4:], strict=True))}
    sums = np.zeros((3, 3))
    for judge, ranking in zip(judges, TIED, strict=True):
        for place in range(len(ranking)):
            left = [solver for tie in ranking[place:] for solver in tie]
            if len(left) > 1:
                sets = [c for k in log_delta for c in combinations(sorted(left), k)]
                p = np.exp([log_delta[len(c)] + np.mean(at[list(c)]) for c in sets])
                p /= p.sum()
                chosen, squares = p[sets.index(tuple(sorted(ranking[place])))], np.sum(p**2)
                sums[judge] += 1 - 2 * chosen + squares, 1 - squares, 1
    found = infit(scale)
    assert found.infit == pytest.approx(sums[:, 0] / sums[:, 1])
    assert found.n.tolist() == sums[:, 2].tolist()


def test_jackknife_over_problems() -> None:
    """Given scales without each problem, their jackknife counts where it is the larger."""
    rankings, problem = drawn(4, 6, 40, 4, 1e-9), np.arange(40) % 4
    scale, *without = (
        scale_of([rankings[at] for at in np.flatnonzero(problem != p)], 6, [0] * 40, 0.01)
        for p in (None, 0, 1, 2, 3)
    )
    errors, plain = scale_errors(scale, without), scale_errors(scale)
    assert errors
    assert plain
    worths = np.array([left.model.log_worth for left in without])
    spread = 3 / 4 * ((worths - worths.mean(axis=0)) ** 2).sum(axis=0)
    assert errors.log_worth == pytest.approx(np.maximum(np.sqrt(spread), plain.log_worth))
    assert (errors.log_worth > plain.log_worth).any()
    assert (errors.rank > plain.rank).any()
    assert (errors.rank >= plain.rank).all()
    assert (errors.df, errors.separation) == (3, plain.separation)
    assert scale_errors(scale, without[:2]).df == 0  # type: ignore[union-attr]  # few solvers


def test_jackknife_of_those_ranked_without_any_problem() -> None:
    """Worths are centered over them, and who is missing somewhere has no jackknife."""
    rankings, problem = drawn(4, 6, 60, 4, 1e-9), np.arange(60) % 4
    kept = [at for at, one in enumerate(rankings) if problem[at] == 0 or [5] not in one]
    scale, *without = (
        scale_of([rankings[at] for at in kept if problem[at] != p], 6, [0] * 60, 0.01)
        for p in (None, 0, 1, 2, 3)
    )
    errors, plain = scale_errors(scale, without), scale_errors(scale)
    assert errors
    assert plain
    worths = np.array([left.model.log_worth[:5] for left in without])
    worths -= worths.mean(axis=1, keepdims=True)
    spread = 3 / 4 * ((worths - worths.mean(axis=0)) ** 2).sum(axis=0)
    assert errors.log_worth[:5] == pytest.approx(np.maximum(np.sqrt(spread), plain.log_worth[:5]))
    assert (errors.log_worth[:5] > plain.log_worth[:5]).any()
    assert errors.log_worth[5] == plain.log_worth[5]
