"""Kendall's W and its p value, against golden numbers, enumeration, and SciPy."""

from __future__ import annotations

import json
from itertools import permutations, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import chi2, friedmanchisquare, rankdata
from scipy.stats import t as student

import quem
from quem.experience.concordance import kendall_w, mean_interval, w_tests

if TYPE_CHECKING:
    from numpy.typing import NDArray

GOLDEN = json.loads((Path(__file__).parent / "experience2.json").read_text("utf-8"))
P3 = Path(__file__).parents[2] / "studies" / "p3-1997" / "study.yaml"


def drawn(rng: np.random.Generator, m: int, n: int, *, ties: bool = False) -> NDArray[np.float64]:
    """Ranks of judges who agree somewhat."""
    seen = np.arange(n) + rng.normal(0, n / 2, (m, n))
    return np.asarray(rankdata(np.round(seen / 2) if ties else seen, axis=1))


def test_the_study_of_the_paper() -> None:
    """Its two judges and seven solvers have exact p values."""
    agreement = quem.analyze(quem.load_study(P3), bootstrap=0).findings.agreement
    assert agreement is not None
    golden = GOLDEN["p3_kendall"]
    each = list(agreement.problems.values())
    assert [c.n_solutions for c in each] == golden["solvers"]
    assert [c.kendall_w for c in each] == pytest.approx(golden["w"], rel=1e-6)
    assert [c.w_test.p for c in each] == pytest.approx(golden["p_exact"], rel=1e-6)
    assert agreement.overall.kendall_w == pytest.approx(golden["mean_w"], rel=1e-6)
    assert agreement.overall.w_test.p == pytest.approx(golden["mean_p_exact"], rel=1e-6)
    assert {c.w_test.by for c in (*each, agreement.overall)} == {"exact"}


@pytest.mark.parametrize("ties", [False, True])
def test_exact_p_counts_all_orders(ties: bool) -> None:  # noqa: FBT001
    """Of two judges and two problems, also of different sizes, each order of each problem."""
    rng = np.random.default_rng(4)
    tables = [drawn(rng, 2, 4, ties=ties), drawn(rng, 2, 5, ties=ties)]
    every = [
        [kendall_w(np.stack([first, np.array(order)])) for order in permutations(second.tolist())]
        for first, second in tables
    ]
    tests, mean = w_tests(tables, permutations=0, seed=0)
    assert {test.by for test in (*tests, mean)} == {"exact"}
    for test, table, values in zip(tests, tables, every, strict=True):
        assert test.p == pytest.approx(np.mean(np.array(values) >= kendall_w(table) - 1e-9))
    least = sum(map(kendall_w, tables)) - 1e-9
    assert mean.p == pytest.approx(np.mean([a + b >= least for a, b in product(*every)]))


def test_large_studies_take_the_approximation() -> None:
    """Friedman's chi-squared above 50,000 ranks; no p below 8 solutions."""
    rng = np.random.default_rng(3)
    table = drawn(rng, 1000, 9, ties=True)
    table[:] = rankdata(rng.random(table.shape).round(1), axis=1)
    tests, mean = w_tests([table] * 6, permutations=9, seed=0)
    friedman = friedmanchisquare(*table.T)
    assert tests[0].p == pytest.approx(friedman.pvalue)
    assert {test.by for test in (*tests, mean)} == {"chi-squared"}
    assert mean.p == pytest.approx(chi2.sf(6 * friedman.statistic, 6 * 8))
    tests, mean = w_tests([table, table[:, :7]] * 4, permutations=9, seed=0)
    assert [test.by for test in tests[:2]] == ["chi-squared", ""]
    assert (np.isnan(mean.p), mean.by) == (True, "")


def test_what_has_no_w_has_no_p() -> None:
    """One judge, one solution, and judges who tie all are left out of the mean."""
    rng = np.random.default_rng(5)
    tied, table = np.full((2, 4), 2.5), drawn(rng, 2, 5)
    tests, mean = w_tests([tied, table, table[:1], table[:, :1]], permutations=99, seed=0)
    assert [test.by for test in tests] == ["", "exact", "", ""]
    assert mean.p == pytest.approx(tests[1].p)
    assert w_tests([tied], permutations=99, seed=0)[1].by == ""


def test_the_interval_of_the_mean() -> None:
    """Student's over problems, from three on, within 0 and 1."""
    values = [0.2, 0.5, 0.6, np.nan]
    low, high = mean_interval(values)
    spread = student.ppf(0.975, 2) * np.std(values[:3], ddof=1) / np.sqrt(3)
    assert (low, high) == pytest.approx((0.0, np.mean(values[:3]) + spread))
    assert mean_interval([0.9, 1.0, 0.95, 1.0])[1] == 1
    assert np.isnan(mean_interval([0.2, 0.5])).all()
