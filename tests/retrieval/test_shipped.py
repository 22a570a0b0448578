"""The shipped studies give the numbers that their READMEs print."""

from __future__ import annotations

import json
import math
import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import table_rows
from tests.retrieval.made import evaluated

if TYPE_CHECKING:
    from quem.retrieval.result import RetrievalResult

STUDIES = Path(__file__).resolve().parents[2] / "studies"
PROCAKE = STUDIES / "procake-example"
NAMES = {
    "hits normalized": "hits_norm",
    "MAE by case": "MAE(by=case)",
    "MSE by case": "MSE(by=case)",
    "quality (Stromer)": "quality_stromer",
    "quality (Mueller)": "quality_mueller",
    "Kendall": "kendall",
    "Spearman": "spearman",
}


def _means(result: RetrievalResult, retriever: str) -> dict[str, float]:
    table = result.measures
    rows = table[table["retriever"] == retriever]
    return dict(zip(rows["measure"], rows["mean"], strict=True))


def test_procake_computes_what_is_expected() -> None:
    """All measures, without k and with k = 2; what the page prints is met to its digits."""
    expected = json.loads((PROCAKE / "expected.json").read_text("utf-8"))["study.yaml"]
    means = _means(evaluated(PROCAKE / "study.yaml"), "results")
    assert means.keys() == expected["computed"].keys()
    for name, value in expected["computed"].items():
        assert means[name] == pytest.approx(math.nan if value is None else value, nan_ok=True)
    for name, value in expected["printed"].items():
        assert means[name] == pytest.approx(value, abs=1e-4), name


def test_procake_readme_prints_it() -> None:
    """Each row of the README has the computed numbers, rounded as it prints them."""
    means = _means(evaluated(PROCAKE / "study.yaml"), "results")
    text = (PROCAKE / "README.md").read_text("utf-8")
    rows = [row for row in table_rows(text) if len(row) == 5]
    checked = 0
    for row in rows[1:]:
        cells = [cell.strip() for cell in row]
        name = NAMES.get(cells[0], cells[0])
        for cell, key in ((cells[2], name), (cells[4], f"{name}@2")):
            if re.fullmatch(r"[\d.]+", cell):
                digits = len(cell.partition(".")[2])
                assert f"{means[key]:.{digits}f}" == cell, key
                checked += 1
            else:
                assert math.isnan(means.get(key, math.nan)), key
    assert checked == 17


def test_bicycles_are_those_of_the_script(tmp_path: Path) -> None:
    """Drawing them again gives the files."""
    script = tmp_path / "generate.py"
    script.write_text((STUDIES / "bicycles/generate.py").read_text("utf-8"), encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")
    for name in ("bicycles.csv", "wishes.csv"):
        assert (tmp_path / name).read_text("utf-8") == (STUDIES / "bicycles" / name).read_text()


def test_bicycles_are_as_expected() -> None:
    """Means of all retrievers, and MAC/FAC; the README's words are true."""
    expected = json.loads((STUDIES / "bicycles/expected.json").read_text("utf-8"))["study.yaml"]
    result = evaluated(STUDIES / "bicycles/study.yaml", repeats=1, bootstrap=0)
    for retriever, means in expected["retrievers"].items():
        own_means = _means(result, retriever)
        assert {name: round(value, 4) for name, value in own_means.items()} == means
    mac_fac = result.findings.mac_fac
    assert mac_fac is not None
    pairs = {f"{p.filter}/{p.k}": round(float(p.means.mean[0]), 4) for p in mac_fac.pairs}
    assert pairs == expected["mac_fac_hits_norm"]
    assert pairs["40/10"] == 1.0
    assert all(pair.share.median > 0 for pair in mac_fac.pairs)
    assert result.warnings == ()


def test_programs_against_judges_are_as_expected() -> None:
    """The checker comes out before the counter, and below the judges among themselves."""
    result = evaluated(STUDIES / "assembly-planners/checkers.yaml")
    names = ("checker", "counter", "each judge against the others")
    tau = [_means(result, name)["kendall"] for name in names]
    assert [round(value, 3) for value in tau] == [0.688, 0.252, 0.825]
    assert {doubt.code for doubt in result.warnings} == {"few-queries", "few-judges"}
