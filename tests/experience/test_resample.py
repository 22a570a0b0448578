"""Batched fits, bootstrap and leaving out, against loops of statsmodels fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t
from statsmodels.formula.api import ols, wls
from statsmodels.regression.linear_model import OLS

import quem
from quem.experience.batch import fit_batch
from quem.experience.bootstrap import bootstrap
from quem.experience.influence import residuals
from quem.experience.skill import FORMS, fit
from tests.experience.made import averages_of, cells_of, random_ranks, study_of, years_of
from tests.experience.test_estimate import FORMULAS, subjects

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.bootstrap import Bootstrap
    from quem.experience.cells import RankCells
    from quem.experience.loading import Study
    from tests.experience.made import Cell


@pytest.mark.parametrize("form", FORMULAS)
def test_batched_fits_are_those_of_statsmodels(form: str) -> None:
    """Every sample's estimate and prediction interval, fit by fit."""
    rng = np.random.default_rng(11)
    x, y = subjects(11, 14)
    samples = np.abs(x + rng.normal(0, 0.3, (25, 14))) + 0.1
    samples[3, 5] = samples[4, :2] = np.nan
    weights = rng.multinomial(14, np.full(14, 1 / 14), size=25).astype(float)
    at = rng.uniform(1, 8, (25, 2))
    batch = fit_batch(FORMS[form], samples, y, weights)
    assert batch.valid.all()
    years, half = batch.predict(at), batch.predictive(at).half_width(0.9)
    for b in range(25):
        weight = np.where(np.isnan(samples[b]), 0, weights[b]).astype(int)
        drawn = np.repeat(np.arange(14), weight)
        model = ols(FORMULAS[form], pd.DataFrame({"x": samples[b, drawn], "y": y[drawn]})).fit()
        weighted = wls(
            FORMULAS[form],
            pd.DataFrame({"x": np.nan_to_num(samples[b], nan=1.0), "y": y}),
            weights=weight,
        ).fit()
        frame = model.get_prediction(pd.DataFrame({"x": at[b]})).summary_frame(alpha=0.1)
        assert years[b] == pytest.approx(frame["mean"].to_numpy(), rel=1e-6, abs=1e-6)
        assert years[b] == pytest.approx(
            weighted.predict(pd.DataFrame({"x": at[b]})).to_numpy(), rel=1e-6, abs=1e-6
        )
        wanted = (frame["obs_ci_upper"] - frame["obs_ci_lower"]).to_numpy() / 2
        assert half[b] == pytest.approx(wanted, rel=1e-6)


def test_samples_of_fewer_than_three_averages_are_not_valid() -> None:
    """Where three are asked for, two different averages, however often drawn, carry no fit."""
    x = np.array([[1.0, 1.0, 2.0, 5.0]] * 4)
    weights = np.array([[2, 1, 1, 0], [0, 2, 1, 1], [4, 0, 0, 0], [0, 0, 0, 0]], dtype=float)
    years = np.array([1.0, 2, 3, 4])
    batch = fit_batch(FORMS["linear"], x, years, weights, fewest=3)
    assert batch.valid.tolist() == [False, True, False, False]
    assert np.isnan(batch.predict(np.ones((4, 1)))[[0, 2, 3]]).all()
    assert fit_batch(FORMS["linear"], x, years, weights).valid.tolist() == [
        True,
        True,
        False,
        False,
    ]


def by_loop(
    cells: RankCells,
    years: dict[str, float],
    form: str,
    draws: list[tuple[NDArray[np.float64], ...]],
) -> tuple[list[float], int]:
    """Estimate K0 in each draw of judges, problems, and subjects, with statsmodels."""
    estimates, discarded = [], 0
    held = set(cells.solver.tolist())
    names = [s for s in years if cells.solvers.index(s) in held]
    for judges, problems, people in draws:
        total: dict[str, float] = {}
        count: dict[str, float] = {}
        for j, p, s, score in zip(
            cells.judge, cells.problem, cells.solver, cells.score, strict=True
        ):
            times = judges[j] * problems[p]
            total[cells.solvers[s]] = total.get(cells.solvers[s], 0.0) + times * score
            count[cells.solvers[s]] = count.get(cells.solvers[s], 0.0) + times
        average = {s: total[s] / count[s] for s in total if count[s] > 0}
        drawn = [n for n, times in zip(names, people, strict=True) for _ in range(int(times))]
        x = np.array([average[n] for n in drawn if n in average])
        y = np.array([years[n] for n in drawn if n in average])
        if len(np.unique(x.round(6))) < 3:
            discarded += 1
        elif "K0" in average:
            model = OLS(y, FORMS[form].design(x)).fit()
            estimates.append(float(model.predict(FORMS[form].design(np.array([average["K0"]])))[0]))
    return estimates, discarded


@pytest.mark.parametrize("form", ["linear", "sqrt", "log", "quadratic"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_bootstrap_is_a_loop_of_statsmodels_fits(
    form: str, missing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the same draws, the interval and spread of each system are those of a loop."""
    ranks, years = random_ranks(
        np.random.default_rng(21), judges=2, problems=3, subjects=5, missing=missing
    )
    study = study_of(ranks, years)
    cells = cells_of(study)
    seen = []
    draw = quem.experience.bootstrap._drawn  # noqa: SLF001

    def recorded(rng: np.random.Generator, n: int, size: int) -> object:
        seen.append(draw(rng, n, size))
        return seen[-1]

    monkeypatch.setattr("quem.experience.bootstrap._drawn", recorded)
    result = bootstrap(cells, years_of(study), FORMS[form], replicates=150, level=0.9, seed=4)
    assert result is not None
    draws = list(zip(*seen, strict=True))
    wanted, discarded = by_loop(cells, years, form, draws)
    assert result.replicates == 150
    assert result.discarded == discarded
    assert result.intervals["K0"] == pytest.approx(np.quantile(wanted, [0.05, 0.95]), rel=1e-6)
    assert result.spread["K0"] == pytest.approx(np.std(wanted, ddof=1), rel=1e-6)


def test_draws_are_with_replacement() -> None:
    """Each draw takes n of n, and each is left out about (1 - 1/n)^n of the time."""
    drawn = quem.experience.bootstrap._drawn(np.random.default_rng(0), 5, 4000)  # noqa: SLF001
    assert (drawn.sum(axis=1) == 5).all()
    assert drawn.mean(axis=0) == pytest.approx(np.ones(5), abs=0.06)
    assert (drawn == 0).mean() == pytest.approx(0.8**5, abs=0.01)


def test_bootstrap_in_pieces_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seed gives the same figures each time, and nearly the same in other pieces."""
    ranks, years = random_ranks(np.random.default_rng(22), judges=4, problems=5)
    study = study_of(ranks, years)

    def run() -> tuple[float, float]:
        result = bootstrap(
            cells_of(study), years_of(study), FORMS["linear"], replicates=3000, level=0.8, seed=1
        )
        assert result is not None
        return result.intervals["K0"]

    whole = run()
    assert run() == whole
    monkeypatch.setattr("quem.experience.bootstrap._BATCH", 7000)
    assert run() == pytest.approx(whole, rel=0.1)


def test_judges_and_problems_without_ranks_are_not_drawn() -> None:
    """Declaring a judge and a problem that the rankings lack changes no replicate."""
    ranks, years = random_ranks(np.random.default_rng(23), judges=2, problems=3)
    study = study_of(ranks, years)
    cells = cells_of(study)
    padded: dict[Cell, float | None] = {**ranks, ("Jx", "Px", "S0"): 1.0}
    larger = study_of(padded, years)
    more = cells_of(larger)
    keep = more.judge < 2
    fields: tuple[str, ...] = (
        "judge",
        "problem",
        "solver",
        "group",
        "block",
        "occasion",
        "given",
        "adjusted",
    )
    fields = (*fields, "size", "score", "placed", "recognized")
    idle = type(more)(
        more.judges, more.problems, more.solvers, more.kinds,
        **{name: getattr(more, name)[keep] for name in fields},
    )  # fmt: skip
    assert len(idle.judges) == 3
    results = [
        bootstrap(c, years_of(study), FORMS["linear"], replicates=200, level=0.9, seed=5)
        for c in (cells, idle)
    ]
    assert results[0] == results[1]


def test_a_study_too_large_is_resampled_by_main_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its range is nearly that of its single ranks; with gaps there is none."""
    study = study_of(*random_ranks(np.random.default_rng(24), judges=20, problems=60))
    gaps = study_of(*random_ranks(np.random.default_rng(24), missing=0.1))

    def resampled(of: Study) -> Bootstrap | None:
        return bootstrap(
            cells_of(of), years_of(of), FORMS["linear"], replicates=2000, level=0.9, seed=0
        )

    exact = resampled(study)
    monkeypatch.setattr("quem.experience.bootstrap._MOST_CELLS", 10)
    added = resampled(study)
    assert exact is not None
    assert added is not None
    assert (exact.approximate, added.approximate) == (False, True)
    assert added.spread["K0"] == pytest.approx(exact.spread["K0"], rel=0.03)
    assert added.intervals["K0"] == pytest.approx(exact.intervals["K0"], abs=0.03)
    assert resampled(gaps) is None


@pytest.mark.parametrize("form", ["linear", "log", "quadratic"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_leaving_out_is_analysing_without(form: str, missing: float) -> None:
    """Without each judge, problem and subject: the same as averaging and fitting anew."""
    ranks, years = random_ranks(
        np.random.default_rng(31), judges=3, problems=4, subjects=7, missing=missing
    )
    ranks |= {(j, p, "K0"): 4.5 for j in ("J0", "J1", "J2") for p in ("P0", "P1", "P2", "P3")}
    result = quem.analyze(study_of(ranks, years, form=form, level=0.9))
    findings, frame = result.findings, result.ranks
    assert frame is not None
    (estimate,) = findings.estimates
    parts = {"judge": findings.judges, "problem": findings.problems, "subject": findings.subjects}
    assert [len(part) for part in parts.values()] == [3, 4, 7]
    for what, part in parts.items():
        for left in part:
            column = "solver" if what == "subject" else what
            average = (
                frame[frame[column] != left.id].groupby("solver", observed=True)["score"].mean()
            )
            x = np.array([average[s] for s in years if s in average.index])
            y = np.array([years[s] for s in years if s in average.index])
            model = ols(FORMULAS[form], pd.DataFrame({"x": x, "y": y})).fit()
            wanted = model.get_prediction(pd.DataFrame({"x": [average["K0"]]}))
            ends = wanted.summary_frame(alpha=0.1)
            assert left.estimate == pytest.approx(ends["mean"][0], rel=1e-6)
            assert (left.low, left.high) == pytest.approx(
                (ends["obs_ci_lower"][0], ends["obs_ci_upper"][0]), rel=1e-6
            )
            assert left.change == pytest.approx(left.estimate - estimate.experience)


@pytest.mark.parametrize("form", FORMULAS)
def test_residuals_are_those_of_statsmodels(form: str) -> None:
    """Residual, leverage, external studentisation and Cook's distance."""
    x, y = subjects(41, 13)
    diagnostics = residuals(averages_of(x, y, 3.0), fit(FORMS[form], x, y))
    model = ols(FORMULAS[form], pd.DataFrame({"x": x, "y": y})).fit()
    influence = model.get_influence()
    for name, wanted in {
        "residual": model.resid,
        "fitted": model.fittedvalues,
        "leverage": influence.hat_matrix_diag,
        "studentized": influence.resid_studentized_external,
        "cooks_distance": influence.cooks_distance[0],
    }.items():
        values = [getattr(diagnostic, name) for diagnostic in diagnostics]
        assert values == pytest.approx(np.asarray(wanted).tolist(), rel=1e-6, abs=1e-9)


def test_three_subjects_have_no_studentised_residual() -> None:
    """Leaving one of three out leaves a line without error, and nothing to measure by."""
    for seed in range(9):
        x, y = subjects(seed, 3)
        diagnostics = residuals(averages_of(x, y), fit(FORMS["linear"], x, y))
        assert all(np.isnan(diagnostic.studentized) for diagnostic in diagnostics)
        assert all(np.isfinite(diagnostic.cooks_distance) for diagnostic in diagnostics)


def test_a_perfect_fit_has_residuals_of_zero() -> None:
    """Rounding is no residual, and nobody bends the line."""
    x = np.array([1.1, 2.3, 3.7, 5.9])
    diagnostics = residuals(averages_of(x, 0.3 + 1.7 * x), fit(FORMS["linear"], x, 0.3 + 1.7 * x))
    assert {diagnostic.residual for diagnostic in diagnostics} == {0.0}
    assert all(np.isnan(diagnostic.cooks_distance) for diagnostic in diagnostics)


def test_variants_are_analyses_with_that_setting() -> None:
    """Each other form, normalisation and score, and calibration, one at a time."""
    study = study_of(*random_ranks(np.random.default_rng(51), subjects=8, missing=0.1))
    findings = quem.analyze(study).findings
    (estimate,) = findings.estimates
    seen = []
    for variant in findings.variants:
        seen.append((variant.setting, variant.value))
        if variant.setting == "interval":
            assert estimate.calibration is not None
            assert variant.estimate == estimate.calibration.experience
            continue
        (other,) = quem.analyze(study, **{variant.setting: variant.value}).findings.estimates
        assert variant.estimate == pytest.approx(other.experience)
        assert (variant.low, variant.high) == pytest.approx(other.prediction)
    assert seen == [
        ("interval", "calibration"),
        ("form", "sqrt"),
        ("form", "log"),
        ("form", "quadratic"),
        ("form", "exponential"),
        ("normalize", "expected"),
        ("normalize", "percentile"),
        ("score", "blom"),
    ]


def test_the_quantile_is_that_of_t() -> None:
    """A batch of one sample has the interval of n - 2 degrees of freedom."""
    x, y = subjects(61, 6)
    batch = fit_batch(FORMS["linear"], x[np.newaxis], y, np.ones((1, 6)))
    model = OLS(y, FORMS["linear"].design(x)).fit()
    at = np.array([1.0, 3.0])
    error = np.sqrt(model.scale + at @ model.cov_params() @ at)
    half = batch.predictive(np.array([[3.0]])).half_width(0.95)[0, 0]
    assert half == pytest.approx(t.ppf(0.975, 4) * error)
