"""Tests of experience, against brute force and statsmodels' formulas."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from quem.experience.significance import factorial_anova, permutation_test
from tests.experience.made import cells_of, random_ranks, study_of, table_of, years_of

FORMULAS = {
    "main effects": "score ~ experience + C(judge) + C(problem)",
    "two-way interactions": "score ~ (experience + C(judge) + C(problem)) ** 2",
}
TERMS = {
    "experience": "experience",
    "judge": "C(judge)",
    "problem": "C(problem)",
    "experience × judge": "experience:C(judge)",
    "experience × problem": "experience:C(problem)",
    "judge × problem": "C(judge):C(problem)",
}


def brute_force(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> tuple[int, int]:
    """Orders of y that correlate with x at least as strongly, and all distinct orders."""
    seen = abs(np.corrcoef(x, y)[0, 1])
    orders = set(permutations(y.tolist()))
    return sum(abs(np.corrcoef(x, o)[0, 1]) >= seen - 1e-9 for o in orders), len(orders)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7])
@pytest.mark.parametrize("ties", [False, True])
def test_exact_permutation(n: int, ties: bool) -> None:  # noqa: FBT001
    """All distinct orders are counted, as itertools counts them."""
    rng = np.random.default_rng(n)
    x = rng.integers(2, 12, n) / 2 if ties else rng.normal(size=n)
    y = rng.integers(1, 4, n).astype(float) if ties else rng.random(n)
    x[0], y[0] = 0.5, 9.0
    test = permutation_test(x, y, permutations=0, seed=0)
    assert test is not None
    extreme, orders = brute_force(x, y)
    assert (test.extreme, test.orders, test.exact) == (extreme, orders, True)
    assert test.p == pytest.approx(extreme / orders)


def test_monte_carlo_permutation() -> None:
    """Random orders give p near that of the t test, (1 + extreme)/(1 + orders) exactly."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=14)
    y = 0.5 * x + rng.normal(size=14)
    test = permutation_test(x, y, permutations=20_000, seed=1)
    assert test is not None
    assert test.p == (1 + test.extreme) / 20_001
    assert 0.01 < test.p < 0.5
    classic = ols("y ~ x", pd.DataFrame({"x": x, "y": y})).fit().f_pvalue
    assert test.p == pytest.approx(classic, abs=0.02)
    assert permutation_test(x, y, permutations=20_000, seed=1) == test


def table(**drawn: Any) -> tuple[pd.DataFrame, list[Any]]:  # noqa: ANN401
    """Cells of the subjects of a random study, and the analysis of variance of them."""
    seed = drawn.pop("seed")
    ranks, years = random_ranks(np.random.default_rng(seed), **drawn)
    study = study_of(ranks, years)
    cells = cells_of(study)
    rows = factorial_anova(cells, years_of(study))
    assert rows is not None
    frame = table_of(cells)
    frame["experience"] = frame.solver.astype(str).map(years)
    frame = frame[frame.kind == "subject"]
    return frame.astype({"judge": str, "problem": str}), rows


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_anova_against_statsmodels(seed: int, missing: float) -> None:
    """Type II tests agree with anova_lm, with missing cells and ties too."""
    frame, rows = table(seed=seed, judges=3, problems=4, subjects=8, missing=missing, ties=True)
    for model, formula in FORMULAS.items():
        wanted = anova_lm(ols(formula, frame).fit(), typ=2)
        by_term = {row.term: row for row in rows if row.model == model}
        assert len(by_term) == len(wanted)
        assert by_term["residual"].df == wanted.loc["Residual", "df"]
        for term, name in TERMS.items():
            if name in wanted.index:
                assert by_term[term].df == wanted.loc[name, "df"]
                assert by_term[term].f == pytest.approx(wanted.loc[name, "F"], rel=1e-7, abs=1e-10)
                assert by_term[term].p == pytest.approx(wanted.loc[name, "PR(>F)"], rel=1e-7)


def test_anova_of_a_judge_who_missed_a_problem() -> None:
    """An empty judge x problem costs a degree of freedom of that interaction only."""
    ranks, years = random_ranks(np.random.default_rng(1), judges=3, problems=3, ties=True)
    ranks = {cell: rank for cell, rank in ranks.items() if cell[:2] != ("J2", "P2")}
    study = study_of(ranks, years)
    cells = cells_of(study)
    rows = factorial_anova(cells, years_of(study))
    assert rows is not None
    by_term = {row.term: row for row in rows if row.model == "two-way interactions"}
    assert by_term["judge × problem"].df == 3
    assert by_term["residual"].df == 48 - (1 + 1 + 2 + 2 + 2 + 2 + 3)
    frame = table_of(cells).astype({"judge": str, "problem": str, "solver": str})
    frame["experience"] = frame.solver.map(years)
    frame = frame[frame.kind == "subject"]
    parts = ["experience", "C(judge)", "C(problem)", "experience:C(judge)", "experience:C(problem)"]
    without = ols("score ~ " + " + ".join(parts), frame).fit()
    frame["group"] = frame.judge + frame.problem
    full = ols("score ~ experience + C(group) + experience:(C(judge) + C(problem))", frame).fit()
    f = (without.ssr - full.ssr) / 3 / (full.ssr / by_term["residual"].df)
    assert by_term["judge × problem"].f == pytest.approx(f, rel=1e-6)
