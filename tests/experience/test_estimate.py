"""Skill functions, estimates and intervals, against statsmodels and brute force."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.stats import linregress, t
from statsmodels.formula.api import ols

import quem
from quem.errors import QuemError
from quem.experience.components import average_variances
from quem.experience.estimate import calibrate, estimate_system
from quem.experience.skill import FORMS, compare_forms, fit, refusal
from tests.experience.made import averages_of, printed_study, random_ranks, study_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.estimate import Estimate

FORMULAS = {
    "linear": "y ~ x",
    "sqrt": "y ~ np.sqrt(x)",
    "log": "y ~ np.log(x)",
    "quadratic": "y ~ x + I(x**2)",
    "cubic": "y ~ x + I(x**2) + I(x**3)",
}


def subjects(seed: int, n: int, noise: float = 1.0) -> tuple[NDArray[np.float64], ...]:
    """Averages and experience of some subjects."""
    rng = np.random.default_rng(seed)
    y = rng.uniform(1, 12, n)
    return 1 + 0.5 * y + rng.normal(0, noise, n).clip(-0.9 - 0.4 * y), y


def estimated(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    at: float,
    level: float = 0.95,
    form: str = "linear",
) -> Estimate:
    """Estimate one system at an average rank."""
    return estimate_system(
        "K0", fit(FORMS[form], x, y), averages_of(x, y, at), level=level, at_least=(2.0, 8.0)
    )


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("form", FORMULAS)
def test_intervals_are_those_of_statsmodels(form: str, level: float) -> None:
    """Estimate, mean band and prediction interval are get_prediction's, for each form."""
    for seed in range(4):
        x, y = subjects(seed, 14)
        model = ols(FORMULAS[form], pd.DataFrame({"x": x, "y": y})).fit()
        for at in (2.0, 4.5, 9.0):
            wanted = model.get_prediction(pd.DataFrame({"x": [at]})).summary_frame(alpha=1 - level)
            estimate = estimated(x, y, at, level, form)
            assert estimate.experience == pytest.approx(wanted["mean"][0], rel=1e-8)
            assert estimate.mean == pytest.approx(
                (wanted["mean_ci_lower"][0], wanted["mean_ci_upper"][0]), rel=1e-8, abs=1e-8
            )
            assert estimate.prediction == pytest.approx(
                (wanted["obs_ci_lower"][0], wanted["obs_ci_upper"][0]), rel=1e-8, abs=1e-8
            )


def test_the_formula_of_the_method() -> None:
    """The estimate +- t s sqrt(1 + 1/n + d²/Sxx), by hand."""
    x, y = subjects(5, 7)
    n, at = len(x), 4.2
    line = linregress(x, y)
    s = np.sqrt(((y - line.intercept - line.slope * x) ** 2).sum() / (n - 2))
    share = 1 / n + (at - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
    half = t.ppf(0.975, n - 2) * s * np.sqrt(1 + share)
    estimate = estimated(x, y, at)
    years = line.intercept + line.slope * at
    assert estimate.prediction == pytest.approx((years - half, years + half))
    half = t.ppf(0.975, n - 2) * s * np.sqrt(share)
    assert estimate.mean == pytest.approx((years - half, years + half))


@pytest.mark.parametrize("form", ["linear", "sqrt", "log"])
@pytest.mark.parametrize("seed", range(6))
def test_fieller_is_the_inversion_of_the_prediction_interval(seed: int, form: str) -> None:
    """Its ends are where the rank leaves the prediction interval of rank on experience."""
    x, y = subjects(seed, 9, noise=0.5)
    if seed % 2:
        y = 13 - y
    g = FORMS[form].transform(x)
    at, level = float(np.median(x)) + 0.3, 0.9
    line = linregress(y, g)
    df, n = len(y) - 2, len(y)
    s = np.sqrt(((g - line.intercept - line.slope * y) ** 2).sum() / df)
    s_yy = ((y - y.mean()) ** 2).sum()
    target = FORMS[form].transform(np.array([at]))[0]

    def outside(years: float) -> float:
        error = s * np.sqrt(1 + 1 / n + (years - y.mean()) ** 2 / s_yy)
        expected = line.intercept + line.slope * years
        return float(abs(target - expected) / error - t.ppf((1 + level) / 2, df))

    calibration = calibrate(fit(FORMS[form], x, y), at, level)
    assert calibration is not None
    assert calibration.bounded
    center = (target - line.intercept) / line.slope
    assert calibration.experience == pytest.approx(center)
    low = brentq(outside, center - 1e4, center)
    high = brentq(outside, center, center + 1e4)
    assert calibration.interval == pytest.approx((low, high), rel=1e-6)


def test_polynomials_have_no_calibration() -> None:
    """The quadratic has no single inverse."""
    assert calibrate(fit(FORMS["quadratic"], *subjects(0, 9)), 4.0, 0.95) is None


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_one_sided_bounds(level: float) -> None:
    """Outside the subjects' range the bound is the one-sided prediction bound."""
    x = np.array([2.0, 3.0, 5.0, 6.0, 7.5])
    y = np.array([1.0, 4.0, 5.0, 9.0, 10.0])
    model = ols("y ~ x", pd.DataFrame({"x": x, "y": y})).fit()
    for at, side, end in (
        (9.0, "above", "obs_ci_lower"),
        (7.5, "above", "obs_ci_lower"),
        (1.5, "below", "obs_ci_upper"),
        (2.0, "below", "obs_ci_upper"),
    ):
        estimate = estimated(x, y, at, level)
        wanted = model.get_prediction(pd.DataFrame({"x": [at]})).summary_frame(
            alpha=2 * (1 - level)
        )
        assert estimate.side == side
        assert estimate.bound == pytest.approx(wanted[end][0])
    inside = estimated(x, y, 5.0, level)
    assert inside.side == "inside"
    assert np.isnan(inside.bound)


def test_probability_of_at_least() -> None:
    """P(at least y) is one less the t distribution of where y lies."""
    x, y = subjects(7, 8)
    estimate = estimated(x, y, 4.0)
    error = (estimate.prediction[1] - estimate.experience) / t.ppf(0.975, 6)
    for years, p in estimate.at_least:
        assert p == pytest.approx(t.sf((years - estimate.experience) / error, 6))
    low = estimate.prediction[0]
    at_low = estimate_system(
        "K0", fit(FORMS["linear"], x, y), averages_of(x, y, 4.0), level=0.95, at_least=(low,)
    )
    assert at_low.at_least[0][1] == pytest.approx(0.975)


@pytest.mark.parametrize("form", ["linear", "log", "quadratic"])
def test_a_system_with_fewer_problems(form: str) -> None:
    """Its variance grows by b² times what its average varies more than those of subjects."""
    ranks, years = random_ranks(np.random.default_rng(3), judges=2, problems=5, subjects=8)
    ranks = {c: r for c, r in ranks.items() if c[2] != "K0" or c[1] in ("P0", "P3")}
    ranks = {c: r for c, r in ranks.items() if c[2] != "S2" or c[1] == "P1"}
    findings = quem.analyze(study_of(ranks, years, form=form)).findings
    averages = findings.averages
    assert averages.components is not None
    variances = average_variances(averages.components, averages.incidence.spread)
    more = variances[averages.solvers.index("K0")]
    more -= variances[averages.of_kind("subject")].mean()
    assert more > 0
    (estimate,) = findings.estimates
    x, y = findings.averages.fitted()
    model = ols(FORMULAS[form], pd.DataFrame({"x": x, "y": y})).fit()
    frame = model.get_prediction(pd.DataFrame({"x": [estimate.average_rank]}))
    step = 1e-5
    ends = pd.DataFrame({"x": [estimate.average_rank - step, estimate.average_rank + step]})
    slope = np.diff(model.predict(ends))[0] / (2 * step)
    extra = slope**2 * more
    error = np.sqrt(model.scale + frame.se_mean[0] ** 2 + extra)
    half = t.ppf(0.975, model.df_resid) * error
    assert estimate.n_problems == 2
    assert estimate.prediction == pytest.approx(
        (estimate.experience - half, estimate.experience + half), rel=1e-6
    )
    wanted = frame.summary_frame()
    assert estimate.mean == pytest.approx(
        (wanted["mean_ci_lower"][0], wanted["mean_ci_upper"][0]), rel=1e-6
    )


def test_comparison_of_forms() -> None:
    """R², AICc and leave-one-out error, the last by refitting without each subject."""
    x, y = subjects(9, 12)
    forms = compare_forms(x, y, x)
    assert set(forms) == {*FORMULAS, "exponential"}
    for name, formula in FORMULAS.items():
        comparison = forms[name]
        frame = pd.DataFrame({"x": x, "y": y})
        model = ols(formula, frame).fit()
        k, n = len(model.params) + 1, len(x)
        aicc = n * np.log(model.ssr / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1)
        assert comparison.aicc == pytest.approx(aicc)
        assert comparison.function.r_squared == pytest.approx(model.rsquared)
        errors = [
            y[i] - ols(formula, frame.drop(i)).fit().predict(frame.loc[[i]]).iloc[0]
            for i in range(n)
        ]
        assert comparison.loo_rmse == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-6)


def test_auto_takes_a_clearly_better_form() -> None:
    """Experience that grows as the logarithm is fitted by log, through the public door."""
    x = np.array([1.0, 1.5, 2.5, 4.0, 5.5, 7.0, 8.5])
    y = 1 + 4 * np.log(x) + np.array([0.05, -0.05, 0.02, -0.03, 0.04, -0.02, 0.01])
    averages = {f"S{i}": float(value) for i, value in enumerate(x)} | {"K": 3.0}
    years = {f"S{i}": float(value) for i, value in enumerate(y)}
    result = quem.analyze(printed_study(averages, years, form="auto"))
    assert result.findings.function.form.name == "log"
    assert "form-chosen" in {doubt.code for doubt in result.warnings}


def test_refusals() -> None:
    """Forms that cannot be fitted are refused with a reason."""
    x, y = subjects(3, 11)
    assert "12 subjects" in refusal(FORMS["cubic"], x, x)
    assert not refusal(FORMS["cubic"], *subjects(3, 12))
    assert "needs 4 subjects" in refusal(FORMS["quadratic"], x[:3], x)
    assert "3 different" in refusal(FORMS["quadratic"], np.array([1.0, 1, 2, 2, 2]), x)
    assert "not defined" in refusal(FORMS["log"], x - x.min(), x)
    assert "not defined" in refusal(FORMS["sqrt"], x, np.array([0.0]))
    averages = {f"S{i}": float(v) for i, v in enumerate(x)}
    study = printed_study(averages, {f"S{i}": float(v) for i, v in enumerate(y)})
    with pytest.raises(QuemError, match="cubic skill function needs 12"):
        quem.analyze(study, form="cubic")
    with pytest.raises(QuemError, match="needs the ranks"):
        quem.analyze(study, normalize="expected")
    for form in ("log", "sqrt"):
        with pytest.raises(QuemError, match="blom"):
            quem.analyze(study, score="blom", form=form)
    with pytest.raises(QuemError, match="blom"):
        quem.analyze(study, score="blom", normalize="percentile")


def test_chances_by_default_only_in_years() -> None:
    """The levels follow the subjects, unless they are given or the unit is another one."""
    ranks, years = random_ranks(np.random.default_rng(2))
    study = study_of(ranks, years)

    def levels(unit: str = "years", **settings: object) -> tuple[list[float], str]:
        spec = study.spec.model_copy(update={"experience_unit": unit})
        result = quem.analyze(replace(study, spec=spec), **settings)
        document = result.to_dict()
        (estimate,) = document["estimates"]
        assert document["settings"]["at_least"] == [
            row["years"] for row in estimate["probability_at_least"]
        ]
        return document["settings"]["at_least"], result.summary()

    wanted = [round(max(years.values()) / 2), round(0.8 * max(years.values()))]
    chosen, summary = levels()
    assert chosen == wanted
    assert f"probability of at least {wanted[0]} years" in summary
    for other in (levels("projects"), levels(at_least=[])):
        assert other[0] == []
        assert "probability" not in other[1]
    assert levels("projects", at_least=[3])[0] == [3]
