"""Tests of experience, against brute force and statsmodels' formulas."""

from __future__ import annotations

from itertools import permutations
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from quem.experience.cells import score_cells
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


def test_no_correlation_at_all_has_p_of_one() -> None:
    """Where r is 0, every order is at least as extreme, whatever rounding says."""
    x = np.array([1.1, 2.2, 3.3, 4.4, 5.5]) / 3
    y = np.array([0.3, 0.1, 0.7, 0.1, 0.3]) + 1e6
    test = permutation_test(x, y, permutations=0, seed=0)
    assert test is not None
    assert test.p == 1
    assert test.extreme == test.orders == 30


def test_nine_subjects_are_exact_and_ten_are_not() -> None:
    """All 362,880 orders of nine; Monte Carlo from ten, and no test without orders."""
    x, y = np.arange(9.0), np.array([2.0, 1, 4, 3, 6, 5, 8, 7, 9])
    exact = permutation_test(x, y, permutations=0, seed=0)
    assert exact is not None
    assert (exact.orders, exact.exact) == (362_880, True)
    x, y = np.append(x, 9.0), np.append(y, 10.0)
    assert permutation_test(x, y, permutations=0, seed=0) is None
    test = permutation_test(x, y, permutations=99, seed=0)
    assert test is not None
    assert (test.orders, test.exact) == (99, False)


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


@pytest.mark.parametrize("normalize", ["none", "expected", "percentile"])
@pytest.mark.parametrize("subjects", range(5, 12))
def test_complete_groups_have_no_effect_of_judge_or_problem(
    subjects: int, normalize: Literal["none", "expected", "percentile"]
) -> None:
    """Without a system every group has the same mean: F is 0 and p is 1, not unknown."""
    ranks, years = random_ranks(np.random.default_rng(2), systems=0, subjects=subjects, judges=4)
    study = study_of(ranks, years)
    cells = score_cells(cells_of(study), score="rank", normalize=normalize)
    rows = factorial_anova(cells, years_of(study))
    assert rows is not None
    for row in rows:
        if row.term in ("judge", "problem", "judge × problem"):
            assert (row.f, row.p) == (0, 1)


@pytest.mark.parametrize(("factor", "offset"), [(1e7, 0.0), (1e-9, 0.0), (1.0, 1e8)])
def test_anova_is_free_of_the_unit_of_experience(factor: float, offset: float) -> None:
    """Years, seconds or dates: the tests are the same."""
    ranks, years = random_ranks(np.random.default_rng(4), ties=True)
    years = {subject: float(round(value)) for subject, value in years.items()}
    changed = {subject: value * factor + offset for subject, value in years.items()}
    tables = []
    for each in (years, changed):
        study = study_of(ranks, each)
        rows = factorial_anova(cells_of(study), years_of(study))
        assert rows is not None
        tables.append(np.array([[row.df, row.f, row.p] for row in rows]))
    np.testing.assert_allclose(tables[1], tables[0], rtol=1e-6, atol=1e-12)


def test_one_judge_and_one_problem_have_no_effect_to_test() -> None:
    """A factor of one level has no degree of freedom and no F."""
    _, rows = table(seed=3, judges=1, problems=1)
    for row in rows:
        if row.term not in ("experience", "residual"):
            assert row.df == 0
            assert np.isnan([row.f, row.p]).all()
    assert np.isfinite(rows[0].p)


def test_too_large_a_design_is_left_out() -> None:
    """More columns than anybody would read are not computed."""
    ranks, years = random_ranks(np.random.default_rng(5), judges=60, problems=9, subjects=3)
    study = study_of(ranks, years)
    assert factorial_anova(cells_of(study), years_of(study)) is None
