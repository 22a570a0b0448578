"""Variance components of ranks, against statsmodels, loops, and independent numbers."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

import quem
from quem.experience.components import components
from quem.experience.simulation import Scenario, simulate
from tests.experience.made import golden_study

if TYPE_CHECKING:
    from numpy.typing import NDArray

STUDIES = ("complete_3x4x10", "incomplete_system_by_one_judge_on_3_problems", "jagged_3x6x9")


def ranks_of(missing: float = 0.0, seed: int = 0) -> NDArray[np.float64]:
    """The ranks of subjects of a simulated study."""
    simulated = simulate(Scenario(8, 3, 4, (6.5,), missing=missing), 1, seed)
    return simulated.ranks[0, ..., :8]


def test_complete_tables_give_the_analysis_of_variance() -> None:
    """Where nothing is missing, components are those of statsmodels' mean squares."""
    ranks = ranks_of()
    judges, problems, _ = ranks.shape
    codes = np.indices(ranks.shape).reshape(3, -1)
    frame = pd.DataFrame(dict(zip("jps", codes, strict=True))).assign(rank=ranks.ravel())
    model = ols("rank ~ C(s) + C(j) * C(p) + C(s):C(p) + C(s):C(j)", frame).fit()
    table = anova_lm(model)
    square = table["sum_sq"] / table["df"]
    parts = components(ranks)
    rest = square["Residual"]
    assert_allclose(parts.rest, rest)
    assert_allclose(parts.solution, (square["C(s):C(p)"] - rest) / judges)
    assert_allclose(parts.taste, (square["C(s):C(j)"] - rest) / problems)
    assert_allclose(parts.of_problems, parts.solution + parts.rest)
    assert_allclose(parts.of_judges, parts.taste + parts.rest)


def test_incomplete_tables_give_means_over_pairs() -> None:
    """Where ranks are missing, components are those of a loop over all pairs."""
    ranks = ranks_of(missing=0.2, seed=3)
    ranks[0, 1, 2] = np.nan
    assert np.isnan(ranks).any()
    changes: dict[tuple[bool, bool], list[float]] = {}
    cells = list(product(range(3), range(4)))
    for a, b in combinations(range(8), 2):
        apart = ranks[..., a] - ranks[..., b]
        for (j, p), (k, q) in combinations(cells, 2):
            change = apart[j, p] - apart[k, q]
            if np.isfinite(change):
                changes.setdefault((j == k, p == q), []).append(change**2 / 4)
    judge_taste, judge_solution, every = (
        np.mean(changes[same]) for same in ((False, True), (True, False), (False, False))
    )
    parts = components(ranks)
    assert_allclose(parts.of_judges, judge_taste)
    assert_allclose(parts.of_problems, judge_solution)
    assert_allclose(parts.solution + parts.rest + parts.taste, every)


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("normalize", ["none", "expected"])
def test_an_average_of_fewer_cells_has_a_wider_interval(name: str, normalize: str) -> None:
    """As computed independently: what is added for fewer judges and problems, and the interval."""
    study, wanted = golden_study(name)
    findings = quem.analyze(study, normalize=normalize, bootstrap=0, permutations=0).findings
    function = findings.function
    for estimate in findings.estimates:
        golden = wanted["systems"][estimate.system]
        predicted = golden[f"predict_widened_{normalize}"]
        assert estimate.experience == pytest.approx(predicted["years"], rel=1e-6)
        added = golden[f"widening_{normalize}"]["added"]
        slope = function.coefficients["slope"]
        assert estimate.widened == pytest.approx(slope**2 * added, rel=1e-6, abs=1e-12)
        without = np.sqrt(1 - estimate.jagged / estimate.error**2)
        half = (np.array(predicted["interval"]) - predicted["years"]) / without
        assert_allclose(np.array(estimate.prediction) - estimate.experience, half, rtol=1e-6)
        if findings.averages.components is not None:
            of, parts = findings.averages.components, golden[f"widening_{normalize}"]
            assert_allclose(
                [of.solution, of.taste, of.rest],
                [parts["var_SP"], parts["var_SJ"], parts["var_E"]],
                rtol=1e-6,
                atol=1e-12,
            )


def test_a_warning_says_what_fewer_cells_do() -> None:
    """Who ranked the system, on what, how much wider the interval is, and what else it reads."""
    study, _ = golden_study("incomplete_system_by_one_judge_on_3_problems")
    warnings = {w.code: w.message for w in quem.analyze(study, bootstrap=0).warnings}
    assert warnings["fewer-judges"] == (
        "solver 9 was ranked by 1 of 3 judges (J0), on 3 of 4 problems; its interval is widened "
        "from ±3.7 to ±4.2 years for that. By `normalize: expected` it reads 8.9 years. "
        "Everything said of solver 9 depends on J0 alone, who agrees with the other judges at "
        "r = 0.92 (0.67 to 0.98) on the other solvers"
    )
