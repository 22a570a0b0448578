"""The numbers that must come out of Figure 1 of the paper."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import quem
from tests.experience.made import study_of

if TYPE_CHECKING:
    from quem.experience.result import ExperienceResult

FOLDER = Path(__file__).parents[2] / "studies" / "p3-1997"
GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden.json").read_text("utf-8"))
# Numbers as printed, with their number of digits.
PRINTED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "golden.json").read_text("utf-8"), parse_float=Decimal
)


@cache
def analysed(what: str, **settings: str) -> ExperienceResult:
    """Analyse one of the three readings of the figure."""
    if what == "averages":
        averages: quem.Study = quem.load_study(FOLDER / "averages.yaml", kind="experience")
        return quem.analyze(averages, **settings)
    study: quem.Study = quem.load_study(FOLDER / "study.yaml", kind="experience")
    if what == "renumbered":
        # Without the withheld solver, whose places the others close.
        frame = study.rankings
        assert frame is not None
        frame = frame[(frame.solver != "W") & frame["rank"].notna()]
        cells = zip(frame.judge, frame.problem, frame.solver, frame["rank"], strict=True)
        ranks = {(j, p, s): float(r) for j, p, s, r in cells}
        years = {subject.id: subject.experience for subject in study.spec.subjects}
        study = study_of(ranks, years)
    return quem.analyze(study, bootstrap=0, **settings)


def agrees(value: float, printed: Decimal | int) -> bool:
    """Whether a value rounds to every digit of a printed number."""
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)
    return bool(abs(value - float(printed)) <= 0.5000001 * 10.0**exponent)


def agree(values: tuple[float, ...] | list[float], printed: list[Decimal]) -> bool:
    """Whether several values do."""
    return all(agrees(v, p) for v, p in zip(values, printed, strict=True))


@pytest.mark.parametrize("row", PRINTED["table"], ids=lambda r: f"{r['input']}-{r['settings']}")
def test_every_row_of_the_table(row: dict[str, Any]) -> None:
    """Slope, R², estimate and the three intervals come out to every printed digit."""
    findings = analysed(row["input"], **row["settings"]).findings
    (estimate,) = findings.estimates
    for name in ("intercept", "slope"):
        if name in row:
            assert agrees(findings.function.coefficients[name], row[name])
    assert agrees(findings.function.r_squared, row["r_squared"])
    assert agrees(estimate.experience, row["experience"])
    assert agree(estimate.mean, row["mean"])
    assert agree(estimate.prediction, row["prediction"])
    assert estimate.calibration is not None
    if "calibration" in row:
        assert agrees(estimate.calibration.experience, row["calibration"])
    if "fieller" in row:
        assert agree(estimate.calibration.interval, row["fieller"])


@pytest.mark.parametrize("what", GOLDEN["all_digits"])
def test_all_digits(what: str) -> None:
    """The three plain fits agree with an independent computation to 9 digits."""
    wanted, document = GOLDEN["all_digits"][what], analysed(what).to_dict()
    function, (estimate,) = document["skill_function"], document["estimates"]
    assert function["coefficients"]["intercept"] == pytest.approx(wanted["intercept"], rel=1e-9)
    assert function["coefficients"]["slope"] == pytest.approx(wanted["slope"], rel=1e-9)
    for name in ("r_squared", "residual_sd", "p_value"):
        assert function[name] == pytest.approx(wanted[name], rel=1e-9)
    assert estimate["experience"] == pytest.approx(wanted["experience"], rel=1e-9)
    assert estimate["mean_interval"] == pytest.approx(wanted["mean"], rel=1e-9)
    assert estimate["prediction_interval"] == pytest.approx(wanted["prediction"], rel=1e-9)
    assert function["n"] == 7
    assert function["df"] == [1, 5]


def test_the_withheld_solver_holds_its_place() -> None:
    """The ranks of the figure stay as printed, in groups of 8, 8, 9, 8, 8 and 8."""
    cells = analysed("cells").findings.cells
    assert cells is not None
    assert cells.adjusted.tolist() == cells.given.tolist()
    sizes = {
        (cells.judges[j], cells.problems[p]): int(n)
        for j, p, n in zip(cells.judge, cells.problem, cells.size, strict=True)
    }
    assert list(sizes.values()).count(8) == 5
    assert sizes["J1", "P3"] == 9


@pytest.mark.parametrize("what", ["averages", "cells"])
def test_forms(what: str) -> None:
    """R², AICc and leave-one-out error of each form."""
    forms = analysed(what).findings.forms
    assert set(forms) == {*GOLDEN["forms"][what], "exponential"}
    for name, wanted in GOLDEN["forms"][what].items():
        assert forms[name].function.r_squared == pytest.approx(wanted["r_squared"], rel=1e-9)
        assert forms[name].aicc == pytest.approx(wanted["aicc"], rel=1e-9)
        assert forms[name].loo_rmse == pytest.approx(wanted["loo_rmse"], rel=1e-9)


@pytest.mark.parametrize("form", PRINTED["form_estimates"])
def test_estimates_of_other_forms(form: str) -> None:
    """Estimate and prediction interval under each form, as setting and as variant."""
    wanted = PRINTED["form_estimates"][form]
    (estimate,) = analysed("averages", form=form).findings.estimates
    assert agree([estimate.experience, *estimate.prediction], wanted)
    assert (estimate.calibration is None) == (form == "quadratic")
    for variant in analysed("averages").findings.variants:
        if variant.value == form:
            assert agree([variant.estimate, variant.low, variant.high], wanted)


def test_auto_keeps_linear() -> None:
    """Sqrt wins by .87 in AICc, which is not enough."""
    assert analysed("averages", form="auto").findings.function.form.name == "linear"


def test_agreement() -> None:
    """Spearman, tau-b and W by problem; alpha and ICC over the 21 units."""
    wanted = PRINTED["agreement"]
    agreement = analysed("cells").to_dict()["agreement"]
    for row in agreement["problems"]:
        problem = row["problem"]
        assert row["n_judges"] == 2
        assert row["n_solutions"] == wanted["n_solutions"]
        assert agrees(row["mean_spearman"], wanted["spearman"][problem])
        assert agrees(row["kendall_w"], wanted["kendall_w"][problem])
        assert row["mean_tau_b"] == pytest.approx(GOLDEN["agreement"]["tau_b"][problem])
    overall = agreement["overall"]
    assert overall["n_units"] == wanted["n_units"]
    assert agrees(overall["krippendorff_alpha"], wanted["krippendorff_alpha"])
    assert agrees(overall["icc_2_1"], wanted["icc_2_1"])


@pytest.mark.parametrize("what", ["averages", "cells"])
def test_permutation(what: str) -> None:
    """3 and 8 of 1,260 distinct orders are as extreme."""
    extreme, orders = GOLDEN["permutation"][what]
    test = analysed(what).findings.permutation
    assert test is not None
    assert (test.extreme, test.orders, test.exact) == (extreme, orders, True)
    assert test.p == pytest.approx(extreme / orders)


def test_leave_one_judge_out() -> None:
    """Judge 1 alone says 4.90 years, judge 2 alone 8.24."""
    left = {row["id"]: row for row in analysed("cells").to_dict()["influence"]["judges"]}
    assert set(left) == {"J1", "J2"}
    for judge, wanted in PRINTED["leave_one_judge_out"].items():
        assert agree([left[judge]["estimate"], *left[judge]["interval"]], wanted)
        assert left[judge]["change"] == pytest.approx(left[judge]["estimate"] - 7.2284157585917885)


def test_leave_one_subject_out() -> None:
    """Leaving out a subject moves the printed averages' estimate to 6.93 to 7.51."""
    rows = analysed("averages").to_dict()["influence"]["subjects"]
    values = [row["estimate"] for row in rows]
    assert len(values) == 7
    assert agree([min(values), max(values)], PRINTED["leave_one_subject_out"])


def test_factorial_analysis() -> None:
    """The paper's analysis of variance, type II, with and without interactions."""
    rows = analysed("cells").to_dict()["anova"]
    for model, terms in GOLDEN["anova"].items():
        of_model = [row for row in rows if row["model"] == model]
        by_term = {row["term"]: row for row in of_model}
        assert set(by_term) == {*terms, "residual"}
        assert sum(row["df"] for row in of_model) == GOLDEN["subject_cells"] - 1
        for term, (df, f, p) in terms.items():
            assert by_term[term]["df"] == df
            assert by_term[term]["F"] == pytest.approx(f, rel=1e-8)
            assert by_term[term]["p"] == pytest.approx(p, rel=1e-8)
