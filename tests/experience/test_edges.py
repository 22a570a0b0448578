"""Studies at the edge of what can be analysed: no crash, no warning, no nonsense."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from quem.errors import QuemError
from quem.rankings import Rankings
from tests.experience.made import printed_study, random_ranks, study_of

if TYPE_CHECKING:
    from quem.experience.loading import Study
    from quem.experience.result import ExperienceResult
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


@pytest.mark.parametrize("score", [{"score": "blom"}, {"normalize": "percentile"}])
@pytest.mark.parametrize("form", ["linear", "quadratic", "auto"])
def test_scores_and_forms(form: str, score: dict[str, str]) -> None:
    """Scores other than ranks go through every form that takes them."""
    complete(study_of(*drawn(missing=0.1)), form=form, **score)


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


def test_quadratic_with_four_subjects() -> None:
    """One degree of freedom is enough; three subjects are refused."""
    result = complete(study_of(*drawn(subjects=4)), form="quadratic")
    assert result.findings.function.df == 1
    with pytest.raises(QuemError, match="quadratic skill function needs 4"):
        quem.analyze(study_of(*drawn(subjects=3)), form="quadratic")


def test_a_judge_who_ranked_one_solution() -> None:
    """He agrees or disagrees with nobody."""
    ranks, years = drawn(judges=2)
    ranks["J9", "P0", "S2"] = 3.0
    result = complete(study_of(ranks, years))
    assert result.findings.agreement is not None
    assert result.findings.agreement.problems["P0"].n_judges == 2


def test_groups_where_everything_is_tied() -> None:
    """A judge who tells nothing apart on a problem has no correlations there."""
    ranks, years = drawn()
    ranks = {cell: 1.0 if cell[1] == "P1" else rank for cell, rank in ranks.items()}
    result = complete(study_of(ranks, years))
    assert result.findings.agreement is not None
    tied = result.findings.agreement.problems["P1"]
    assert np.isnan([tied.kendall_w, tied.mean_tau_b, tied.mean_spearman, tied.icc_2_1]).all()
    assert np.isfinite(result.findings.agreement.overall.kendall_w)


def test_everything_tied_has_no_line() -> None:
    """Equal averages are refused, for all problems and for printed averages."""
    ranks, years = drawn()
    with pytest.raises(QuemError, match="same average rank"):
        quem.analyze(study_of(dict.fromkeys(ranks, 2.0), years, reference="humans"))
    with pytest.raises(QuemError, match="same average rank"):
        quem.analyze(
            printed_study({"A": 3.1, "B": 3.1, "C": 3.1, "K": 4}, {"A": 1, "B": 2, "C": 3})
        )


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


def test_blocks() -> None:
    """Worths are pooled over blocks, and agreement is left out with a warning."""
    ranks, years = drawn(subjects=8)
    blocks = {cell: 1 + (ord(cell[2][1]) // 2 ** int(cell[1][1])) % 2 for cell in ranks}
    result = complete(study_of(ranks, years, blocks=blocks))
    assert result.findings.agreement is None
    assert "blocks" in codes(result)


def test_two_occasions() -> None:
    """A repeated problem changes no number; only the retest and what is said of it are added."""
    ranks, years = drawn()
    again = {cell: 8.0 - (rank or 0) for cell, rank in ranks.items() if cell[1] == "P0"}
    once, twice = (complete(study_of(ranks, years, again=each)).to_dict() for each in (None, again))
    assert once["agreement"].pop("retest") is None
    assert twice["agreement"].pop("retest")["overall"]["n_groups"] > 0
    twice["warnings"] = [w for w in twice["warnings"] if w["code"] != "inconsistent-judge"]
    assert json.dumps(once) == json.dumps(twice)


def test_subjects_seen_on_the_second_occasion_only() -> None:
    """If the first occasion leaves too few subjects, that is a mistake and no crash."""
    ranks, years = drawn(subjects=3, judges=1, problems=1)
    first = {cell: rank for cell, rank in ranks.items() if cell[2] != "S1"}
    again = {cell: rank for cell, rank in ranks.items() if rank is not None}
    for form in ("linear", "auto"):
        with pytest.raises(QuemError, match="needs 3 subjects"):
            quem.analyze(study_of(first, years, again=again, form=form))


@pytest.mark.parametrize("normalize", ["none", "expected", "percentile"])
def test_ranks_on_the_second_occasion_only(normalize: str) -> None:
    """If no judge could judge anything at first, that is a mistake and no crash."""
    ranks, years = drawn()
    study = study_of(dict.fromkeys(ranks), years, again=ranks, normalize=normalize)
    assert isinstance(study.data, Rankings)
    study.data.failed[:] = False
    with pytest.raises(QuemError, match="all subjects have the same average rank"):
        quem.analyze(study)


@pytest.mark.parametrize("factor", [1e-9, 1.0, 1e6])
def test_three_subjects_of_printed_averages(factor: float) -> None:
    """The least that can be analysed, in any unit of experience."""
    years = {"A": 1 * factor, "B": 5 * factor, "C": 6 * factor}
    result = complete(printed_study({"A": 1.5, "B": 3.0, "C": 4.5, "K": 3.3}, years))
    (estimate,) = result.findings.estimates
    assert estimate.experience == pytest.approx(4.5 * factor)
    # Two subjects leave a line through both, and nothing to judge its error by.
    assert all(np.isfinite(left.estimate) for left in result.findings.subjects)
    assert all(np.isnan(left.low) for left in result.findings.subjects)
    assert codes(result) == {"averages-only", "few-subjects", "not-significant"}


@pytest.mark.parametrize("seed", range(3))
def test_many_subjects_are_permuted_at_random(seed: int) -> None:
    """Twelve subjects: Monte Carlo orders, a cubic on request and never by itself."""
    study = study_of(*drawn(seed, subjects=12))
    result = complete(study, form="cubic")
    assert result.findings.function.df == 8
    assert result.findings.permutation is not None
    assert result.findings.permutation.orders == 99
    assert complete(study, form="auto").findings.function.form.name != "cubic"


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


def test_a_fit_without_any_rounding() -> None:
    """A residual of exactly 0 makes F infinite, p 0 and R² 1, without a warning of NumPy."""
    years = {"S0": 0.0, "S1": 0.0, "S2": 0.0, "S3": 1.0}
    orders = {"S0": 1.0, "S1": 1.0, "S2": 1.0, "S3": 2.0, "K0": 1.0, "K1": 2.0}
    result = complete(study_of({("J", "P", s): r for s, r in orders.items()}, years))
    assert result.findings.function.f_value == np.inf
    assert result.findings.p_value == pytest.approx(0, abs=1e-12)
    assert [e.experience for e in result.findings.estimates] == pytest.approx([0, 1])
    assert result.summary()
    exact = SimpleNamespace(ssr=0.0, centered_tss=1.0, df_resid=5.0)
    function = result.findings.function
    function = replace(function, regressions=(replace(function.regressions[0], results=exact),))
    assert (function.f_value, function.p_value) == (np.inf, 0)


def test_equal_experience_has_no_line() -> None:
    """Subjects with ranks who are all equally experienced are refused."""
    ranks, years = drawn(judges=1, problems=1)
    first = {cell: rank for cell, rank in ranks.items() if cell[2] != "S5"}
    equal = {**dict.fromkeys(years, 3.0), "S5": 9.0}
    again = {cell: rank for cell, rank in ranks.items() if rank is not None}
    with pytest.raises(QuemError, match="same experience"):
        quem.analyze(study_of(first, equal, again=again))
