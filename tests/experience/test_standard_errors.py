"""Errors of worths, their reliability and fit: against golden numbers, and computed otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, stdtrit

import quem
from quem.experience.choices import weak_orders
from quem.experience.expected_ranks import ExpectedRanks, pool_rankings
from quem.experience.fit_statistics import fit_statistics
from quem.experience.plackett_luce import connection, fit_plackett_luce
from quem.experience.pooled_rankings import ListedRankings
from quem.experience.standard_errors import standard_errors
from tests.experience.made import Cell, random_ranks, study_of
from tests.experience.test_plackett_luce import Ranking, log_probability

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "experience2.json").read_text("utf-8"))


def pooled_of(
    rankings: list[Ranking], n: int, judges: list[int] | None = None, ridge: float = 0.0
) -> ExpectedRanks:
    """Fit rankings that are written out, best first."""
    rows = [
        (number, solver, -place)
        for number, ranking in enumerate(rankings)
        for place, tie in enumerate(ranking)
        for solver in tie
    ]
    ranking, solver, rank = (np.array(column) for column in zip(*rows, strict=True))
    orders = weak_orders(ranking, solver, rank.astype(float))
    count = len(rankings)
    of_judge = np.array(judges or [0] * count)
    listed = ListedRankings(
        orders,
        np.ones(count),
        n,
        {"judge": of_judge, "problem": np.zeros(count, dtype=np.int64)},
        {"judge": int(of_judge.max()) + 1, "problem": 1},
    )
    model = fit_plackett_luce(orders, n, ridge=ridge)
    ranked = np.ones(n, dtype=bool)
    return ExpectedRanks(model, ranked, connection(orders, n), count, listed, ridge)


def test_golden_rankings() -> None:
    """8 orders of 5: errors by information and by ranking, of a difference, and reliability."""
    golden = GOLDEN["plackett_luce"]
    pooled = pooled_of([[[s] for s in order] for order in golden["orders_best_first"]], 5)
    errors = standard_errors(pooled)
    assert errors is not None
    assert errors.log_worth == pytest.approx(golden["log_worth"], rel=1e-6)
    assert pooled.model.log_likelihood == pytest.approx(golden["log_likelihood"], rel=1e-6)
    assert errors.by_information() == pytest.approx(golden["se_information"], rel=1e-6)
    assert errors.sandwich == pytest.approx(golden["se_sandwich"], rel=1e-6)
    assert errors.difference(3, 4) == pytest.approx(golden["se_difference_3_4"], rel=1e-6)
    assert errors.separation() == pytest.approx(golden["separation_reliability"], rel=1e-6)
    # Errors that take the other worths for known make the scale look otherwise.
    assert 0 < abs(errors.separation(conditional=True) - errors.separation()) < 0.1
    low, high = errors.interval(0.95)
    assert (high - low) / 2 == pytest.approx(1.959964 * errors.error(), rel=1e-6)


def test_golden_decisions() -> None:
    """12 decisions on pairs: errors, reliability, and the fit of two judges."""
    golden = GOLDEN["bradley_terry"]
    judges = ["AB".index(judge) for judge in golden["judge"]]
    pooled = pooled_of([[[w], [x]] for w, x in golden["winner_loser"]], 4, judges)
    errors, fit = standard_errors(pooled), fit_statistics(pooled)
    assert errors is not None
    assert errors.log_worth == pytest.approx(golden["log_worth"], rel=1e-6)
    assert errors.by_information() == pytest.approx(golden["se_information"], rel=1e-6)
    assert errors.separation() == pytest.approx(golden["separation_reliability"], rel=1e-6)
    assert fit.judges.infit == pytest.approx(list(golden["judge_infit"].values()), rel=1e-6)
    assert fit.judges.outfit == pytest.approx(list(golden["judge_outfit"].values()), rel=1e-6)
    assert fit.judges.n.tolist() == [6, 6]
    theta = errors.log_worth
    for solver in range(4):
        p = [expit(theta[w] - theta[x]) for w, x in golden["winner_loser"] if solver in (w, x)]
        infit = sum((1 - q) ** 2 for q in p) / sum(q * (1 - q) for q in p)
        assert fit.solvers.infit[solver] == pytest.approx(infit)
        assert fit.solvers.outfit[solver] == pytest.approx(np.mean([(1 - q) / q for q in p]))


TIED: list[Ranking] = [
    [[0, 1], [2], [3]],
    [[3], [1, 2], [0]],
    [[2], [0]],
    [[1, 3], [0]],
    [[0], [1, 2, 3]],
    [[2, 3], [1]],
    [[3], [2], [1], [0]],
]


def test_ties_and_penalty_by_brute_force() -> None:
    """With ties and a penalty, errors are those of numerical derivatives of the definition."""
    ridge, n, judges = 0.3, 4, [0, 0, 1, 1, 2, 2, 2]
    pooled = pooled_of(TIED, n, judges, ridge)
    errors = standard_errors(pooled)
    assert errors is not None
    sizes = sorted(pooled.model.ties)
    at = np.concatenate([pooled.model.log_worth, np.log([pooled.model.ties[k] for k in sizes])])

    def value(x: np.ndarray, ranking: Ranking) -> float:
        log_delta = {1: 0.0, **dict(zip(sizes, x[n:], strict=True))}
        return log_probability(ranking, x[:n], log_delta)

    eye, h = np.eye(len(at)), 1e-4
    scores = np.array(
        [[(value(at + h * e, r) - value(at - h * e, r)) / (2 * h) for e in eye] for r in TIED]
    )

    def gradient(x: np.ndarray) -> np.ndarray:
        return np.array(
            [sum(value(x + h * e, r) - value(x - h * e, r) for r in TIED) / (2 * h) for e in eye]
        )

    hessian = -np.array([(gradient(at + h * e) - gradient(at - h * e)) / (2 * h) for e in eye])
    penalized = hessian + ridge * eye
    penalized[:n, :n] += 1 / n
    inverse = np.linalg.inv(penalized)
    centering = np.eye(len(at))
    centering[:n, :n] -= 1 / n
    covariance = (centering @ inverse @ centering)[:n, :n]
    assert errors.information == pytest.approx(covariance, rel=1e-4, abs=1e-7)
    plain = np.diagonal(hessian + ridge * eye)[:n]
    assert errors.conditional == pytest.approx(1 / np.sqrt(plain), rel=1e-5)
    by_judge = np.array([scores[np.array(judges) == judge].sum(axis=0) for judge in range(3)])
    for own, meat in (
        (errors.sandwich, 7 / 6 * scores.T @ scores),
        (errors.clustered, 3 / 2 * by_judge.T @ by_judge),
    ):
        robust = np.diagonal(centering @ inverse @ meat @ inverse @ centering)[:n]
        assert own == pytest.approx(np.sqrt(robust), rel=1e-4)


def test_jackknife_over_problems() -> None:
    """From three problems on their jackknife stands beside it, and the larger error counts."""
    ranks, years = random_ranks(np.random.default_rng(4), judges=2, problems=4)
    findings = quem.analyze(study_of(ranks, years, score="pl")).findings
    pooled, errors = findings.pooled, findings.worth_errors
    assert pooled is not None
    assert errors is not None
    listed = pooled.rankings
    left = [
        pool_rankings(listed, listed.weights - theirs).model.log_worth
        for _, theirs in listed.split("problem")
    ]
    spread = 3 / 4 * ((np.array(left) - np.mean(left, axis=0)) ** 2).sum(axis=0)
    assert errors.by_problems() == pytest.approx(np.sqrt(spread))
    assert errors.error() == pytest.approx(
        np.maximum(errors.by_problems(), errors.by_information())
    )
    low, high = errors.interval(0.95)
    assert high - low == pytest.approx(2 * stdtrit(3, 0.975) * errors.error())


def test_worths_in_the_report() -> None:
    """Errors are in all outputs; a scale of chance and an odd judge are told."""
    rng = np.random.default_rng(1)
    ranks: dict[Cell, float | None] = {}
    years = {f"S{i}": 1.0 + 2 * i for i in range(5)}
    solvers = [*years, "K"]
    for judge in range(8):
        for problem in range(8):
            skill = np.arange(6) * (-1 if judge == 7 else 1) + rng.normal(0, 0.5, 6)
            for rank, at in enumerate(np.argsort(skill), 1):
                ranks[f"J{judge}", f"P{problem}", solvers[at]] = float(rank)
    result = quem.analyze(study_of(ranks, years, score="pl"))
    (message,) = [w.message for w in result.warnings if "choices fit the worths" in w.message]
    assert "judge J7's choices fit the worths less" in message
    assert "(above the mean by more than 2 standard deviations, 40 choices)" in message
    worths, document = result.table("worths"), result.to_dict()["plackett_luce"]
    assert document["worth_df"] == 7
    assert worths["log_worth"].tolist() == [row["log_worth"] for row in document["worths"]]
    assert (worths["error"] == worths[["error_information", "error_problems"]].max(axis=1)).all()
    assert (worths["low"] < worths["log_worth"]).all()
    assert worths["lead"].isna().sum() == 1
    assert len(result.table("judge-fit")) == 8
    assert "Worths with 95% intervals, best first" in result.to_html()
    assert "Intervals are by t(7)." in result.to_html()
    chance = {cell: float(rng.permutation(6)[solvers.index(cell[2])] + 1) for cell in ranks}
    few = {cell: rank for cell, rank in chance.items() if cell[0] < "J3" and cell[1] < "P2"}
    result = quem.analyze(study_of(_ranked(few), years, score="pl"))
    assert "low-separation" in {w.code for w in result.warnings}
    assert "the study has 2 problems, so what" in result.to_html()
    assert "Worths" not in quem.analyze(study_of(_ranked(few), years)).to_html()


def _ranked(ranks: dict[Cell, float]) -> dict[Cell, float | None]:
    """Ranks as tests of studies take them."""
    return dict(ranks)
