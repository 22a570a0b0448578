"""Skill functions for learning curves: exponential, and its average with the line."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import t
from statsmodels.formula.api import ols, wls

import quem
from quem.errors import QuemError
from quem.experience.predictive import IDENTITY, LOGARITHM, Predictive
from quem.experience.skill import FORMS, choose_form, compare_forms, fit
from quem.wording import format_number
from tests.experience.made import random_ranks, study_of
from tests.experience.test_estimate import estimated, subjects
from tests.experience.test_golden import analysed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

GOLDEN = json.loads((Path(__file__).parent / "experience2.json").read_text("utf-8"))[
    "forms_p3_printed_averages"
]
CURVED = ("exponential", "averaged")


def weighed(
    x: NDArray[np.float64], y: NDArray[np.float64], counts: NDArray[np.float64]
) -> tuple[float, Callable[[float, float], float], Callable[[float], float]]:
    """Weight of the exponential, chance of at least some years, and estimate, by statsmodels."""
    frame = pd.DataFrame({"x": x, "y": y, "z": np.log(y + 1)})
    line, curve = (wls(f"{name} ~ x", frame, weights=counts).fit() for name in "yz")
    n = counts.sum()
    aicc = [n * np.log((counts * of.resid**2).sum() / n) for of in (line, curve)]
    aicc[1] += 2 * (counts * frame.z).sum()
    weight = 1 / (1 + np.exp((aicc[1] - aicc[0]) / 2))
    drawn = frame.loc[np.repeat(np.arange(len(x)), counts.astype(int))]
    line, curve = (ols(f"{name} ~ x", drawn).fit() for name in "yz")

    def chance(at: float, years: float) -> float:
        total = 0.0
        for of, share, wanted in (
            (line, 1 - weight, years),
            (curve, weight, np.log(years + 1) if years > -1 else -np.inf),
        ):
            row = of.get_prediction(pd.DataFrame({"x": [at]})).summary_frame()
            error = np.sqrt(of.scale + row["mean_se"][0] ** 2)
            total += share * t.sf((wanted - row["mean"][0]) / error, n - 2)
        return float(total)

    def years(at: float) -> float:
        row = pd.DataFrame({"x": [at]})
        of_curve = np.exp(curve.predict(row)[0]) - 1
        return float((1 - weight) * line.predict(row)[0] + weight * of_curve)

    return float(weight), chance, years


def root(chance: Callable[[float, float], float], at: float, p: float) -> float:
    """Years that a peer has at least with that chance."""
    return float(brentq(lambda years: chance(at, years) - p, -200, 500, xtol=1e-12))


def test_the_golden_numbers() -> None:
    """Coefficients, estimates, intervals, AICc, and weight of the paper's averages."""
    for form in CURVED:
        document = analysed("averages", form=form).to_dict()
        (estimate,) = document["estimates"]
        wanted = GOLDEN[form]
        assert estimate["experience"] == pytest.approx(wanted["years"], rel=1e-6)
        assert estimate["prediction_interval"] == pytest.approx(wanted["interval"], rel=1e-6)
        assert document["skill_function"]["form"] == form
        coefficients = document["skill_function"]["coefficients"]
        curve = GOLDEN["exponential"]
        if form == "averaged":
            assert coefficients["exponential_weight"] == pytest.approx(
                wanted["weight_exponential"], rel=1e-6
            )
        prefix = "exponential_" if form == "averaged" else ""
        for name in ("intercept", "slope"):
            assert coefficients[f"{prefix}{name}"] == pytest.approx(curve[name], rel=1e-6)
        aicc = {row["form"]: row["aicc"] for row in document["forms"]}
        assert "averaged" not in aicc
        for name in ("linear", "exponential"):
            assert aicc[name] == pytest.approx(GOLDEN[name]["aicc"], rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_exponential_is_the_regression_of_the_logarithm(seed: int, level: float) -> None:
    """Everything is that of ln(y + 1) by statsmodels, put back into years."""
    x, y = subjects(seed, 9)
    at = 4.0
    model = ols("np.log(y + 1) ~ x", pd.DataFrame({"x": x, "y": y})).fit()
    row = model.get_prediction(pd.DataFrame({"x": [at]})).summary_frame(alpha=1 - level)
    estimate = estimated(x, y, at, level, "exponential")
    assert estimate.experience == pytest.approx(np.expm1(row["mean"][0]))
    for ends, name in ((estimate.prediction, "obs_ci"), (estimate.mean, "mean_ci")):
        wanted = [np.expm1(row[f"{name}_{side}"][0]) for side in ("lower", "upper")]
        assert ends == pytest.approx(wanted)
    function = fit(FORMS["exponential"], x, y)
    assert (function.f_value, function.p_value) == pytest.approx((model.fvalue, model.f_pvalue))
    left = y - np.expm1(model.fittedvalues)
    assert function.residual_sd == pytest.approx(np.sqrt((left**2).sum() / 7))
    assert function.r_squared == pytest.approx(1 - (left**2).sum() / ((y - y.mean()) ** 2).sum())
    assert estimate.calibration is not None
    reverse = ols("x ~ np.log(y + 1)", pd.DataFrame({"x": x, "y": y})).fit()
    inverse = (at - reverse.params.iloc[0]) / reverse.params.iloc[1]
    assert estimate.calibration.experience == pytest.approx(np.expm1(inverse))
    far = estimated(x, y, float(x.max()) + 1, level, "exponential")
    row = model.get_prediction(pd.DataFrame({"x": [x.max() + 1]})).summary_frame(
        alpha=2 * (1 - level)
    )
    assert far.side == "above"
    assert far.bound == pytest.approx(np.expm1(row["obs_ci_lower"][0]))
    errors = []
    for i in range(9):
        rest = pd.DataFrame({"x": x, "y": y}).drop(i)
        fitted = ols("np.log(y + 1) ~ x", rest).fit().predict(pd.DataFrame({"x": x[[i]]}))
        errors.append(y[i] - np.expm1(fitted[0]))
    loo = compare_forms(x, y, x)["exponential"].loo_rmse
    assert loo == pytest.approx(np.sqrt(np.mean(np.square(errors))))


@pytest.mark.parametrize("seed", range(4))
def test_averaged_is_the_mixture(seed: int) -> None:
    """Estimate, ends, bounds, and chances are those of the mixture, by root finding."""
    x, y = subjects(seed, 8)
    weight, chance, years = weighed(x, y, np.ones(8))
    for at in (float(np.median(x)), float(x.max()) + 0.5, float(x.min()) - 0.5):
        estimate = estimated(x, y, at, 0.9, "averaged")
        assert estimate.experience == pytest.approx(years(at))
        ends = [root(chance, at, p) for p in (0.95, 0.05)]
        assert estimate.prediction == pytest.approx(ends, rel=1e-8)
        bound = {"above": 0.9, "below": 0.1}
        if estimate.side in bound:
            wanted = root(chance, at, bound[estimate.side])
            assert estimate.bound == pytest.approx(wanted, rel=1e-8)
        assert [p for _, p in estimate.at_least] == pytest.approx([chance(at, 2), chance(at, 8)])
        assert estimate.calibration is None
    coefficients = fit(FORMS["averaged"], x, y).coefficients
    assert coefficients["exponential_weight"] == pytest.approx(weight)


@pytest.mark.parametrize("form", CURVED)
def test_fewer_ranks_widen(form: str) -> None:
    """A system with fewer cells has a wider distribution: b² in units of the response."""
    ranks, years = random_ranks(np.random.default_rng(3), judges=2, problems=5, subjects=8)
    ranks = {c: r for c, r in ranks.items() if c[2] != "K0" or c[1] in ("P0", "P3")}
    findings = quem.analyze(study_of(ranks, years, form=form)).findings
    (estimate,) = findings.estimates
    (more,) = findings.averages.widening()
    assert more > 0
    at = np.array([estimate.average_rank])
    df, quantile = findings.function.df, t.ppf(0.975, findings.function.df)
    assert df == 6
    parts = findings.function.regressions
    chances = np.zeros(2)
    for part, weight in zip(parts, findings.function.weights, strict=True):
        design = part.form.design(at)[0]
        results = part.results
        variance = results.scale + design @ results.cov_params() @ design
        variance += results.params[1] ** 2 * more
        ends = part.form.response.transform(np.array(estimate.prediction))
        chances += weight * t.cdf((ends - design @ results.params) / np.sqrt(variance), df)
    assert chances == pytest.approx([0.025, 0.975])
    plain = findings.function.predictive(at).half_width(0.95)[0] / quantile
    wide = np.diff(estimate.prediction)[0] / 2 / quantile
    assert estimate.widened == pytest.approx(wide**2 - plain**2)
    assert estimate.error == pytest.approx(wide)
    text = " ".join(w.message for w in quem.analyze(study_of(ranks, years, form=form)).warnings)
    before, after = format_number(plain * quantile), format_number(wide * quantile)
    assert f"widened from ±{before} to ±{after} years" in text


@pytest.mark.parametrize("form", CURVED)
def test_the_whole_result(form: str) -> None:
    """Report, summary, figures, tables and JSON know the form; the result can be pickled."""
    ranks, years = random_ranks(np.random.default_rng(4), judges=3, problems=4, subjects=8)
    result = quem.analyze(study_of(ranks, years, form=form, bootstrap=60))
    document = json.loads(json.dumps(result.to_dict()))
    assert document["settings"]["form"] == form
    assert document["headline"] == "years"
    shown = {"exponential": "ln(years + 1) = ", "averaged": "exp("}[form]
    assert shown in result.summary()
    html = result.to_html()
    assert {"exponential": "logarithm of experience on", "averaged": "an exponential"}[form] in html
    assert np.isfinite(
        [e for row in document["influence"]["judges"] for e in row["interval"]]
    ).all()
    assert document["bootstrap"]["systems"]
    assert form not in {row["value"] for row in document["variants"]}
    drawn = result.plot("estimate")
    assert drawn is not None
    band = np.asarray(drawn.axes[0].collections[0].get_paths()[0].vertices, dtype=float)
    function = result.findings.function
    middle = float(np.median(function.x))
    low, high = function.predictive(np.array([middle])).interval(0.95)[0]
    near = band[np.abs(band[:, 0] - middle) < 0.2, 1]
    assert near.min() < (low + high) / 2 < near.max()
    assert near.max() == pytest.approx(high, rel=0.2)
    again = pickle.loads(pickle.dumps(result.findings.function))  # noqa: S301  just made
    assert again.coefficients == function.coefficients


def test_no_hierarchical_interval_and_no_inverse() -> None:
    """The model is of the line; an average has no calibration interval, and says so."""
    ranks, years = random_ranks(np.random.default_rng(4), judges=3, problems=4, subjects=8)
    for form in CURVED:
        with pytest.raises(QuemError, match=f"needs the form linear, and it is {form}"):
            quem.analyze(study_of(ranks, years, form=form, interval="hierarchical"))
    result = quem.analyze(study_of(ranks, years, form="averaged", interval="calibration"))
    assert "form averaged has no calibration interval" in result.summary() + " ".join(
        warning.message for warning in result.warnings
    )


def test_auto_takes_a_clear_exponential() -> None:
    """Years that double with each rank are fitted by the exponential."""
    x = np.linspace(1, 8, 10)
    y = np.expm1(0.3 + 0.4 * x) * np.exp(np.tile([0.02, -0.02], 5))
    assert choose_form(compare_forms(x, y, x)) == "exponential"


@settings(deadline=None, max_examples=60)
@given(
    st.floats(-5, 30),
    st.floats(-1, 4),
    st.floats(0, 8),
    st.floats(0, 2),
    st.floats(0, 1),
    st.integers(1, 20),
    st.sampled_from([0.01, 0.1, 0.5, 0.9, 0.99]),
)
def test_quantiles_invert_chances(
    line: float, curve: float, wide: float, narrow: float, weight: float, df: int, p: float
) -> None:
    """A quantile lies between those of the components, and so much lies below it."""

    def column(*values: float) -> NDArray[np.float64]:
        return np.array(values)[:, np.newaxis]

    responses = (IDENTITY, LOGARITHM)
    of = Predictive(
        responses,
        column(1 - weight, weight),
        column(line, curve),
        column(wide, narrow),
        column(df, df),
    )
    (value,) = of.quantile(p)
    ends = [
        float(r.inverse(np.array(c + t.ppf(p, df) * e)))
        for r, c, e in zip(responses, (line, curve), (wide, narrow), strict=True)
    ]
    slack = 1e-9 * (1 + abs(value))
    assert min(ends) - slack <= value <= max(ends) + slack
    step = 1e-6 * (1 + abs(value))
    below, above = (1 - of.at_least(value + side * step)[0] for side in (-1, 1))
    assert below <= p + 1e-4
    assert above >= p - 1e-4
