"""The numbers in the README of the shipped study are those that quem computes."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest

import quem
from tests.docs.pages import ROOT, table_rows

if TYPE_CHECKING:
    from quem.method.result import ExperienceResult

FOLDER = ROOT / "studies/p3-1997"
ROWS = table_rows((FOLDER / "README.md").read_text(encoding="utf-8"))
COMPARED = {row[0]: row[1:4] for row in ROWS if len(row) == 5 and row[0] != "quantity"}
FORMS = [row for row in ROWS if len(row) == 6 and row[0] != "form"]
SETTINGS = [row for row in ROWS if len(row) == 3 and row[0] != "setting"]


@cache
def _analysis(name: str, **settings: str) -> ExperienceResult:
    study: quem.Study = quem.load_study(FOLDER / name, kind="experience")
    return quem.analyze(study, **settings)


def _values(analysis: ExperienceResult) -> dict[str, float | tuple[float, float]]:
    """Every quantity of the first table that a study has."""
    findings = analysis.findings
    (estimate,) = findings.estimates
    assert estimate.calibration is not None
    assert findings.permutation is not None
    averages = dict(zip(findings.averages.solvers, findings.averages.average.tolist(), strict=True))
    values: dict[str, float | tuple[float, float]] = {
        "average rank of P3": estimate.average_rank,
        "average rank of subject 5": averages["S5"],
        "intercept": findings.function.coefficients["intercept"],
        "slope": findings.function.coefficients["slope"],
        "estimate, years": estimate.experience,
        "R²": findings.function.r_squared,
        "confidence band of the mean": estimate.mean,
        "prediction interval": estimate.prediction,
        "calibration estimate": estimate.calibration.experience,
        "calibration interval": estimate.calibration.interval,
        "experience and quality, p of F(1, 5)": findings.p_value,
        "the same, exact permutation test": (
            findings.permutation.extreme,
            findings.permutation.orders,
        ),
    }
    if findings.agreement is not None:
        for problem, concordance in findings.agreement.problems.items():
            values[f"Spearman between the judges, {problem}"] = concordance.mean_spearman
            values[f"Kendall's W, {problem}"] = concordance.kendall_w
        values["Krippendorff's α over all problems"] = findings.agreement.overall.krippendorff_alpha
        values["ICC(2,1) over all problems"] = findings.agreement.overall.icc_2_1
    for left in findings.judges:
        values[f"estimate without judge {left.id[1:]}"] = left.estimate
    return values


def _assert_written(cell: str, value: float | tuple[float, float]) -> None:
    """A cell holds the value, rounded to as many decimals as it shows."""
    values = value if isinstance(value, tuple) else (value,)
    numbers = re.findall(r"−?\d*\.?\d+", cell)
    assert len(numbers) == len(values)
    for text, number in zip(numbers, values, strict=True):
        decimals = len(text.partition(".")[2])
        assert float(text.replace("−", "-")) == pytest.approx(round(number, decimals), abs=1e-9)


@pytest.mark.parametrize(("column", "name"), [(1, "averages.yaml"), (2, "study.yaml")])
def test_compared_numbers_are_computed(column: int, name: str) -> None:
    """The first table has every quantity of a study, as computed."""
    values = _values(_analysis(name))
    cells = {label: row[column] for label, row in COMPARED.items() if row[column] != "–"}
    assert set(cells) == set(values)
    for label, cell in cells.items():
        _assert_written(cell, values[label])


@pytest.mark.parametrize("row", FORMS, ids=lambda row: row[0])
def test_forms_are_computed(row: list[str]) -> None:
    """The second table has the fit and the estimate of each form, on the printed averages."""
    analysis = _analysis("averages.yaml", form=row[0])
    form = analysis.findings.forms[row[0]]
    (estimate,) = analysis.findings.estimates
    computed = (form.function.r_squared, form.aicc, form.loo_rmse, estimate.experience)
    for cell, value in zip(row[1:-1], computed, strict=True):
        _assert_written(cell, value)
    _assert_written(row[-1], estimate.prediction)


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row[0])
def test_settings_are_computed(row: list[str]) -> None:
    """The third table has the estimate under each treatment of the groups."""
    changed = re.findall(r"`(\w+): (\w+)`", row[0])
    (estimate,) = _analysis("study.yaml", **dict(changed)).findings.estimates
    _assert_written(row[1], estimate.experience)
    _assert_written(row[2], estimate.prediction)


def test_tables_are_found() -> None:
    """All three tables of the page were read."""
    assert (len(COMPARED), len(FORMS), len(SETTINGS)) == (22, 5, 4)
