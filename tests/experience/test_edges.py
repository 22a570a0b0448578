"""Studies at the edge of what can be analysed: no crash, no warning, no nonsense."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from quem.errors import QuemError
from quem.rankings import Rankings
from tests.experience.made import printed_study, random_ranks, study_of

if TYPE_CHECKING:
    from quem.experience.result import ExperienceResult
    from quem.rankings.loading import Study
    from tests.experience.made import Cell

Made = tuple[dict["Cell", float | None], dict[str, float]]


def drawn(seed: int = 0, **what: Any) -> Made:  # noqa: ANN401
    """Draw ranks and years."""
    return random_ranks(np.random.default_rng(seed), **what)


def complete(study: Study, **settings: Any) -> ExperienceResult:  # noqa: ANN401
    """Analyse with everything on, and read every number and warning."""
    result = quem.analyze(study, bootstrap=200, permutations=99, **settings)
    json.dumps(result.to_dict())
    assert all(doubt.message for doubt in result.warnings)
    assert len(result.averages) == len(result.findings.averages.solvers)
    assert len(result.estimates) == len(result.findings.estimates)
    return result


def codes(result: ExperienceResult) -> set[str]:
    """The codes of the warnings."""
    return {doubt.code for doubt in result.warnings}


def same(inputs: Made) -> Made:
    """Let every judge repeat the first."""
    ranks, years = inputs
    return {cell: ranks["J0", *cell[1:]] for cell in ranks}, years


def line(factor: float = 1.0) -> Made:
    """One judge who ranks exactly by experience."""
    years = {f"S{i}": factor * i for i in range(6)}
    ranks: dict[Cell, float | None] = {
        (j, p, f"S{i}"): i + 1.0 for j in ("J0", "J1") for p in ("P0", "P1") for i in range(6)
    }
    return ranks, years


@pytest.mark.parametrize("form", ["linear", "sqrt", "log", "auto"])
@pytest.mark.parametrize(
    "inputs",
    [
        drawn(subjects=3),
        drawn(subjects=4, judges=1),
        drawn(subjects=5, problems=1),
        drawn(subjects=3, judges=1, problems=1),
        same(drawn()),
        line(),
        line(1e-9),
        line(1e8),
        drawn(missing=0.4),
        drawn(subjects=14, ties=True),
        drawn(systems=0),
        drawn(systems=5, subjects=4),
        drawn(judges=9, problems=2),
    ],
    ids=[
        "three subjects", "one judge", "one problem", "one ranking", "identical judges",
        "perfect fit", "tiny years", "huge years", "missing", "many subjects", "no system",
        "many systems", "many judges",
    ],
)  # fmt: skip
@pytest.mark.parametrize("reference", ["all", "humans"])
def test_nothing_breaks(inputs: Made, form: str, reference: str) -> None:
    """Each study has an answer, under each form and either reference."""
    result = complete(study_of(*inputs), form=form, reference=reference)
    assert np.isfinite(result.findings.function.r_squared)
    for estimate in result.findings.estimates:
        assert np.isfinite(estimate.experience)
        low, high = estimate.prediction
        assert low <= estimate.mean[0] <= estimate.experience <= estimate.mean[1] <= high


def test_a_perfect_fit() -> None:
    """Intervals shrink to the estimate, R² is 1 and F is beyond all bounds."""
    ranks, years = line()
    result = complete(study_of(ranks, years))
    assert result.findings.function.r_squared == pytest.approx(1)
    assert result.findings.permutation is not None
    assert result.findings.permutation.p == 2 / 720
    averages = {f"S{i}": i + 1.0 for i in range(6)} | {"K0": 3.5}
    result = complete(printed_study(averages, years))
    (estimate,) = result.findings.estimates
    assert estimate.prediction == pytest.approx((2.5, 2.5))
    assert estimate.calibration is not None
    assert estimate.calibration.interval == pytest.approx((2.5, 2.5))
    assert result.findings.p_value == pytest.approx(0, abs=1e-12)


def test_a_system_without_ranks() -> None:
    """It has no estimate, and a warning says so."""
    ranks, years = drawn(systems=2)
    ranks = {cell: rank for cell, rank in ranks.items() if cell[2] != "K1"}
    ranks["J0", "P0", "K1"] = None
    study = study_of(ranks, years)
    result = complete(study)
    assert [estimate.system for estimate in result.findings.estimates] == ["K0", "K1"]
    data = study.data
    object.__setattr__(data, "failed", np.zeros_like(data.failed))  # type: ignore[union-attr]
    result = complete(study)
    assert [estimate.system for estimate in result.findings.estimates] == ["K0"]
    assert "no-ranks" in codes(result)


def test_falling_skill() -> None:
    """Where quality falls with experience, the reader is told and no bound is given."""
    ranks, years = drawn(subjects=8)
    falling = {s: 20 - y for s, y in years.items()}
    result = complete(study_of(ranks, falling))
    assert "decreasing-skill-function" in codes(result)
    low, high = result.findings.function.x.min() - 1, result.findings.function.x.max() + 1
    averages = {s: float(x) for s, x in zip(years, result.findings.function.x, strict=True)}
    sides = [
        quem.analyze(printed_study({**averages, "K": at}, falling)).findings.estimates[0].side
        for at in (low, high)
    ]
    assert sides == ["outside", "outside"]


@pytest.mark.parametrize("normalize", ["none", "expected", "percentile"])
def test_ranks_on_the_second_occasion_only(normalize: str) -> None:
    """If no judge could judge anything at first, that is a mistake and no crash."""
    ranks, years = drawn()
    study = study_of(dict.fromkeys(ranks), years, again=ranks, normalize=normalize)
    assert isinstance(study.data, Rankings)
    study.data.failed[:] = False
    with pytest.raises(QuemError, match="all subjects have the same average rank"):
        quem.analyze(study)


def test_negative_estimates_are_not_clipped() -> None:
    """Below zero an estimate stays as it is, with a warning and an upper bound."""
    years = {"A": 1.0, "B": 2.0, "C": 6.0, "D": 7.0, "E": 4.0}
    averages = {"A": 3.0, "B": 3.5, "C": 6.0, "D": 6.4, "E": 4.5, "K": 1.0}
    result = complete(printed_study(averages, years))
    (estimate,) = result.findings.estimates
    assert estimate.experience < 0
    assert {"negative-estimate", "outside-range"} <= codes(result)
    row = result.to_dict()["estimates"][0]
    assert row["lower_bound"] is None
    assert row["upper_bound"] == pytest.approx(estimate.bound)
