"""Batched fits, bootstrap and leaving out, against loops of statsmodels fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
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
    from quem.rankings.loading import Study


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
