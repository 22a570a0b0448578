"""The files of a report: whole, the same each time, and never at the cost of other files."""

from __future__ import annotations

import json
import pickle
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import quem
from quem.errors import QuemError
from quem.report.files import json_text, write_report
from quem.report.tables import csv_bytes

if TYPE_CHECKING:
    from quem.parts.result import ExperienceResult

STUDIES = Path(__file__).resolve().parents[2] / "studies" / "p3-1997"


@cache
def analyzed(name: str = "study.yaml") -> ExperienceResult:
    return quem.analyze(quem.load_study(STUDIES / name, kind="experience"))


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_report_is_complete_and_the_same_each_time(tmp_path: Path) -> None:
    """Every file that the kind names is there; a later report removes what it has not."""
    result, later = analyzed(), analyzed("averages.yaml")
    for folder in ("a", "b"):
        write_report(result, tmp_path / folder)
    written = files(tmp_path / "a")
    assert {"report.html", "check.py", "check.R", "ranks.csv", "line.svg"} < set(written)
    assert set(written) < result.file_names
    assert written == files(tmp_path / "b")
    assert json.loads(written["analysis.json"])["study"]["id"] == "p3-1997"
    assert written["estimates.csv"].startswith(b"system,average_rank,")
    write_report(later, tmp_path / "a")
    names = set(files(tmp_path / "a"))
    assert names < later.file_names
    assert not {"ranks.csv", "ranks.svg", "agreement.png"} & names


def test_a_table_of_the_user_stays_where_there_was_no_report(tmp_path: Path) -> None:
    """A file with the name of a table that this report has not is not ours to remove."""
    (tmp_path / "ranks.csv").write_text("mine")
    write_report(analyzed("averages.yaml"), tmp_path)
    assert (tmp_path / "ranks.csv").read_text() == "mine"


def test_the_study_is_never_overwritten(tmp_path: Path) -> None:
    """A report into the study's own folder does not replace its rankings, also by a link."""
    own, link = tmp_path / "study", tmp_path / "link"
    shutil.copytree(STUDIES, own, ignore=shutil.ignore_patterns("*-report"))
    before = files(own)
    result = quem.analyze(quem.load_study(own / "averages.yaml", kind="experience"))
    link.symlink_to(own)
    for folder in (own, link):
        with pytest.raises(QuemError, match=r"averages\.csv: belongs to the study"):
            write_report(result, folder)
    assert files(own) == before


def test_nothing_is_written_where_one_file_cannot_be(tmp_path: Path) -> None:
    """A folder in the place of a file is named, and the other files are not written."""
    (tmp_path / "report.html").mkdir()
    with pytest.raises(QuemError, match=r"report\.html: is a folder"):
        write_report(analyzed(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_numbers_have_twelve_significant_digits() -> None:
    """In JSON and CSV alike; what is not finite is null or empty."""
    content = {"a": [1 / 3, 2e20 / 3, float("nan"), float("-inf")], "b": (True, None, 7, "x")}
    numbers = [0.333333333333, 6.66666666667e19, None, None]
    assert json.loads(json_text(content)) == {"a": numbers, "b": [True, None, 7, "x"]}
    table = pd.DataFrame({"a": [1 / 3, float("nan")], "b": ["x,y", "é"]})
    assert csv_bytes(table) == 'a,b\n0.333333333333,"x,y"\n,é\n'.encode()


def test_results_can_be_kept() -> None:
    """An analysis can be pickled, says itself in one line, and gives its tables as copies."""
    result = analyzed()
    again = pickle.loads(pickle.dumps(result))  # noqa: S301  our own bytes
    assert json_text(again.to_dict()) == json_text(result.to_dict())
    assert repr(result) == "<ExperienceResult of p3-1997: P3 7.2 years>"
    assert repr(result.study).startswith("<Study p3-1997: 9 solvers, from ")
    table = result.estimates
    table.loc[0, "paper_experience"] = 99.0
    assert result.estimates["paper_experience"][0] == pytest.approx(7.228, abs=1e-3)
