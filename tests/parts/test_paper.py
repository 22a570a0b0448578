"""Further results of the paper, against statsmodels' formulas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.outliers_influence import OLSInfluence

import quem
from tests.parts.made import random_ranks, study_of

if TYPE_CHECKING:
    import pandas as pd

    from quem.parts.result import ExperienceResult

AVERAGES = Path(__file__).parents[2] / "studies" / "p3-1997" / "averages.yaml"
FORMULA = "adjusted_rank ~ experience + C(judge) + C(problem)"
TERMS = {
    "experience": "experience",
    "judge": "C(judge)",
    "problem": "C(problem)",
    "experience × judge": "experience:C(judge)",
    "experience × problem": "experience:C(problem)",
    "judge × problem": "C(judge):C(problem)",
}
CURVES = {
    "linear": "y ~ x",
    "log": "y ~ np.log(x)",
    "quadratic": "y ~ x + I(x ** 2)",
    "cubic": "y ~ x + I(x ** 2) + I(x ** 3)",
    "root": "y ~ np.sqrt(x)",
}


def error_of(curve: str, frame: pd.DataFrame) -> float:
    """Predict each person by a curve through the others, one by one."""
    off = [
        y - ols(CURVES[curve], frame.drop(at)).fit().predict(frame.loc[[at]]).iloc[0]
        for at, y in frame["y"].items()
    ]
    return float(np.sqrt(np.mean(np.square(off))))


def people_of(result: ExperienceResult) -> pd.DataFrame:
    table = result.averages.query("kind == 'subject'")
    return table.rename(columns={"average_rank": "x", "experience": "y"}).reset_index(drop=True)


def cells_of(result: ExperienceResult, years: dict[str, float]) -> pd.DataFrame:
    assert result.ranks is not None
    frame = result.ranks.query("kind == 'subject'")
    frame = frame.astype({"judge": str, "problem": str, "solver": str})
    return frame.assign(experience=frame["solver"].map(years))


def details_of(result: ExperienceResult) -> dict[str, float]:
    table = result.tables()["details"].query("what == 'anova'").set_index("id")["value"]
    return {str(term): float(p) for term, p in table.items()}


def test_curves_of_the_printed_averages() -> None:
    """A line is best of the curves that the paper names; a square root would be better."""
    result = quem.analyze(quem.load_study(AVERAGES, kind="experience"))
    found = result.to_dict()["checks"]
    frame = people_of(result)
    assert found["loo"] == pytest.approx({c: error_of(c, frame) for c in found["loo"]})
    assert found["anova"] is None
    assert min(found["loo"], key=found["loo"].get) == "linear"
    assert f"has {error_of('root', frame):.2f}" in result.to_html()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_factorial_analysis_against_statsmodels(seed: int, missing: float) -> None:
    """Type II tests agree with anova_lm, with missing cells and ties too, and interactions."""
    rng = np.random.default_rng(seed)
    ranks, years = random_ranks(rng, problems=4, subjects=8, missing=missing, ties=True)
    result = quem.analyze(study_of(ranks, years))
    frame = cells_of(result, years)
    wanted = anova_lm(ols(FORMULA, frame).fit(), typ=2)["PR(>F)"]
    checks = result.to_dict()["checks"]["anova"]
    assert checks == pytest.approx({term: wanted[TERMS[term]] for term in checks}, rel=1e-7)
    squared = FORMULA.replace("~ ", "~ (") + ") ** 2"
    wanted = anova_lm(ols(squared, frame).fit(), typ=2)["PR(>F)"]
    assert details_of(result) == pytest.approx({t: wanted[name] for t, name in TERMS.items()})


def test_a_judge_who_missed_a_problem() -> None:
    """An empty judge x problem costs a degree of freedom of that interaction only."""
    ranks, years = random_ranks(np.random.default_rng(1), ties=True)
    ranks = {cell: rank for cell, rank in ranks.items() if cell[:2] != ("J2", "P2")}
    result = quem.analyze(study_of(ranks, years))
    frame = cells_of(result, years)
    frame["group"] = frame.judge + frame.problem
    without, full = (
        ols(f"adjusted_rank ~ experience + experience:(C(judge) + C(problem)) + {of}", frame)
        for of in ("C(judge) + C(problem)", "C(group)")
    )
    p = anova_lm(without.fit(), full.fit())["Pr(>F)"].iloc[1]
    assert details_of(result)["judge × problem"] == pytest.approx(p, rel=1e-6)


def test_details_are_those_of_statsmodels_and_of_a_study_without() -> None:
    """Residuals and leverages of the line; estimates of studies without a judge or a problem."""
    ranks, years = random_ranks(np.random.default_rng(2), systems=2, subjects=7)
    result = quem.analyze(study_of(ranks, years))
    details = result.tables()["details"].set_index(["what", "id", "system"])["value"]
    frame = people_of(result)
    fit = ols("y ~ x", frame).fit()
    assert details["residual"].tolist() == pytest.approx(fit.resid.tolist())
    leverage = OLSInfluence(fit).hat_matrix_diag
    assert details["leverage"].tolist() == pytest.approx(leverage.tolist())
    for what, at in (("judge", 0), ("problem", 1)):
        for one in dict.fromkeys(cell[at] for cell in ranks):
            left = {cell: rank for cell, rank in ranks.items() if cell[at] != one}
            for estimate in quem.analyze(study_of(left, years)).to_dict()["estimates"]:
                value = details[f"without {what}", one, estimate["system"]]
                assert value == pytest.approx(estimate["paper"]["experience"])


def test_nothing_that_cannot_be_computed() -> None:
    """Three subjects have neither a cubic nor a quadratic; blocks have no factorial analysis."""
    ranks, years = random_ranks(np.random.default_rng(3), subjects=3)
    loo = quem.analyze(study_of(ranks, years)).to_dict()["checks"]["loo"]
    assert (loo["quadratic"], loo["cubic"], loo["linear"] > 0) == (None, None, True)
    rng = np.random.default_rng(2)
    ranks, years = random_ranks(rng, subjects=9)
    blocks = {cell: 1 + int(rng.integers(2)) for cell in ranks}
    assert quem.analyze(study_of(ranks, years, blocks=blocks)).to_dict()["checks"]["anova"] is None
