"""The numbers in the files and the README of the shipped study are those that quem computes."""

from __future__ import annotations

import csv
import re
from functools import cache
from typing import TYPE_CHECKING

import pytest
from scipy.stats import spearmanr

import quem
from tests.docs.pages import ROOT, table_rows

if TYPE_CHECKING:
    from quem.parts.result import ExperienceResult

FOLDER = ROOT / "studies/p3-1997"


def _rows(name: str) -> list[list[str]]:
    return list(csv.reader((FOLDER / name).read_text("utf-8").splitlines()))[1:]


COMPARED = {label: cells for label, *cells in _rows("reproduced.csv")}
FORMS = _rows("forms.csv")
README = table_rows((FOLDER / "README.md").read_text(encoding="utf-8"))


@cache
def _analysis(name: str, **settings: str) -> ExperienceResult:
    return quem.analyze(quem.load_study(FOLDER / name, kind="experience"), **settings)


def _values(analysis: ExperienceResult) -> dict[str, float | tuple[float, float]]:
    """Every quantity of the first table that a study has."""
    found = analysis.to_dict()
    (estimate,), skill = found["estimates"], found["skill"]
    paper, reference = estimate["paper"], estimate["reference"]
    averages = analysis.averages.set_index("solver")["average_rank"]
    values: dict[str, float | tuple[float, float]] = {
        "average rank of P3": averages["p3"],
        "average rank of subject 5": averages["S5"],
        "intercept": skill["intercept"],
        "slope": skill["slope"],
        "estimate, years": paper["experience"],
        "R²": skill["r_squared"],
        "interval of the mean": tuple(paper["mean_interval"]),
        "prediction interval": tuple(paper["interval"]),
        "estimate for 0 to 15 years": reference["experience"],
        "its credible interval": tuple(reference["interval"]),
        "experience and quality, p of F(1, 5)": skill["p_value"],
    }
    if anova := found["checks"]["anova"]:
        values |= {f"factorial analysis, p of {term}": p for term, p in anova.items()}
        values["Kendall's W, mean over the problems"] = found["agreement"]["kendall_w"]
        values |= _between_judges(analysis)
        details = analysis.table("details").query("what == 'without judge'").set_index("id")
        values |= {f"estimate without judge {id_[1:]}": details.value[id_] for id_ in details.index}
    return values


def _between_judges(analysis: ExperienceResult) -> dict[str, float]:
    """Spearman's correlation of both judges on each problem, without the withheld solver."""
    assert analysis.ranks is not None
    judged = analysis.ranks.query("kind != 'withheld'")
    found = {}
    for problem, ranks in judged.groupby("problem", observed=True):
        by_judge = ranks.pivot_table("rank", "solver", "judge", observed=True).dropna()
        found[f"Spearman between the judges, {problem}"] = float(spearmanr(by_judge).statistic)
    return found


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
    found = _analysis("averages.yaml", form=row[0]).to_dict()
    paper = found["estimates"][0]["paper"]
    computed = (found["skill"]["r_squared"], found["checks"]["loo"][row[0]], paper["experience"])
    for cell, value in zip(row[1:-1], computed, strict=True):
        _assert_written(cell, value)
    _assert_written(row[-1], tuple(paper["interval"]))


def test_readme_has_rows_of_the_table() -> None:
    """All rows of the README are in the file."""
    shown = {label: cells for label, *cells, _ in README[1:]}
    assert len(shown) == 9
    assert shown.items() <= COMPARED.items()
    assert (len(COMPARED), len(FORMS)) == (20, 3)
