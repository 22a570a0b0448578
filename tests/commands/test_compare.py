"""``quem compare``: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.commands.sessions import hold_session
from tests.scores.made import write_retrievers

if TYPE_CHECKING:
    from tests.commands.conftest import Command

STUDIES = Path(__file__).resolve().parents[2] / "studies"
PLANNERS = STUDIES / "assembly-planners" / "study.yaml"
QUICK = ("--figures", "none")


@pytest.fixture
def studies(tmp_path: Path) -> Path:
    """A copy of the shipped studies, as the current folder would have them."""
    ignored = shutil.ignore_patterns("*-*e")
    return shutil.copytree(PLANNERS.parent, tmp_path / "studies", ignore=ignored)


def test_a_report_is_written_beside_the_study(run: Command, studies: Path) -> None:
    """Summary on stdout, and every file that there is something for; JSON writes nothing."""
    before = sorted(studies.iterdir())
    words = ("compare", studies / "study.yaml", "--level", 0.9)
    code, out, _ = run(*words, "--json")
    assert (code, sorted(studies.iterdir())) == (0, before)
    printed = json.loads(out)
    assert printed["settings"] == {"level": 0.9, "systems": []}
    code, summary, err = run(*words)
    folder = studies / "study-compare"
    assert (code, summary.splitlines()[0]) == (0, printed["studies"][0]["title"])
    assert err.endswith(f"\nReport: {folder / 'report.html'}\n")
    assert (folder / "analysis.json").read_text("utf-8") == out
    assert {file.name for file in folder.iterdir()} >= {"versions.svg", "differences.csv"}


def test_several_studies_report_into_the_current_folder(
    run: Command, studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report of several studies belongs to none of them."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    both = (studies / "study.yaml", studies / "next-year.yaml")
    code, out, _ = run("compare", *both, *QUICK)
    assert (code, "Versions of Fitter" in out) == (0, True)
    assert [path.name for path in here.iterdir()] == ["study-compare"]


def test_retrievers_are_compared(run: Command, tmp_path: Path) -> None:
    """The same files for the scores of a study, and no comparison with years of experience."""
    path = write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9, "c": 1.0})
    assert run("compare", path).out.startswith("Study one\n")
    folder = tmp_path / "one-compare"
    assert {file.name for file in folder.iterdir()} == {
        *("report.html", "analysis.json", "means.csv", "differences.csv", "scores.csv"),
        *("scores.svg", "table.md", "table.tex", "table.html"),
    }
    assert run("compare", path, "--json").out == (folder / "analysis.json").read_text("utf-8")
    assert run("compare", path, PLANNERS).refuses(f"error: {PLANNERS}: kind: ")
    assert run("compare", PLANNERS, path).refuses("this is a retrieval study")
    assert run("compare", STUDIES / "bicycles" / "study.yaml", "--no-code").refuses(".python: ")


def test_mistakes_of_all_studies_are_told_at_once(run: Command, studies: Path) -> None:
    """Each study's mistakes are named; nothing is written."""
    both = (studies / "study.yaml", studies / "next-year.yaml")
    before = sorted(studies.iterdir())
    for path in both:
        text = path.read_text("utf-8")
        path.write_text(text.replace("experience_unit", "experience_units"), "utf-8")
    places = [f"{both[0]}:9:1: experience_units", f"{both[1]}:10:1: experience_units"]
    assert run("compare", *both).refuses(*places)
    assert sorted(studies.iterdir()) == before


def test_an_open_session_is_read_only_with_reveal(run: Command, judging_study: Path) -> None:
    """A comparison refuses an open session without `--reveal`."""
    hold_session(judging_study).close()
    words = ("compare", judging_study, PLANNERS, "--json")
    assert run(*words).refuses("--reveal")
    code, out, err = run(*words, "--reveal")
    assert (code, json.loads(out)["studies"][0]["id"]) == (0, "made-up")
    assert "warning: session-open: made-up: " in err
