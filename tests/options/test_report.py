"""The report of option lists: complete, the same each time, and readable with any names."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest

import quem
from quem.report.files import write_report
from tests.options.made import analysed, drawn, study_in

if TYPE_CHECKING:
    from pathlib import Path

    from quem.options.result import OptionsResult


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> OptionsResult:
    """Three systems with confidences, on 40 questions."""
    key, lists = drawn(40, systems=3, seed=7)
    return analysed(study_in(tmp_path_factory.mktemp("options"), lists, key))


def test_report_is_complete(result: OptionsResult, tmp_path: Path) -> None:
    """Every file that the kind names is there, and holds the scores."""
    write_report(result, tmp_path)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    others = {name for name in result.file_names if name.endswith((".md", ".tex", ".pdf", ".png"))}
    others |= {"judge-next.csv"}  # all options of a list are judged
    assert set(written) == result.file_names - others | {"table.md", "table.tex"}
    assert json.loads(written["analysis.json"])["kind"] == "options"
    rows = list(csv.DictReader(written["scores.csv"].decode().splitlines()))
    assert len(rows) == 120
    assert float(rows[0]["OLAR"]) == pytest.approx(result.table_of_scores.values[0, 0, 0])
    assert repr(result).startswith("<OptionsResult of Example: OLAR s0 0.")


def test_files_of_the_study_are_never_overwritten(tmp_path: Path) -> None:
    """A table of lists with the name of one of ours stays."""
    path = study_in(tmp_path, name="scores.csv")
    with pytest.raises(quem.QuemError, match=r"scores\.csv: belongs to the study"):
        write_report(analysed(path), tmp_path)
    kept = {"questions.csv", "scores.csv", "study.yaml"}
    assert {file.name for file in tmp_path.iterdir()} == kept


def test_names_are_escaped(tmp_path: Path) -> None:
    """No name becomes part of the page."""
    name = "<script>alert(1)</script>"
    text = "question,option,confidence\nQ1,a,0.5\nQ2,b,0.4\nQ2,c,0.3\nQ3,,\n"
    path = study_in(tmp_path, text, systems=[{"id": "x", "name": name}], title=name)
    page = analysed(path).to_html()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
