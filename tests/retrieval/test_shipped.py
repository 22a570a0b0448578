"""The shipped studies give the numbers that their READMEs print."""

from __future__ import annotations

import math
import re
import runpy
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import table_rows
from tests.retrieval.made import STUDIES, evaluated

if TYPE_CHECKING:
    from pathlib import Path

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


def test_procake_readme_prints_it() -> None:
    """Each row of the README has the computed numbers, rounded; the page printed the same."""
    table = evaluated(PROCAKE / "study.yaml").means
    means = table[table["system"] == "results"].set_index("measure")["mean"].to_dict()
    text = (PROCAKE / "README.md").read_text("utf-8")
    rows = [row for row in table_rows(text) if len(row) == 5]
    checked = 0
    for row in rows[1:]:
        cells = [cell.strip() for cell in row]
        name = NAMES.get(cells[0], cells[0])
        for printed, cell, key in ((*cells[1:3], name), (*cells[3:5], f"{name}@2")):
            if re.fullmatch(r"[\d.]+", printed):
                assert means[key] == pytest.approx(float(printed), abs=1e-4), key
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
