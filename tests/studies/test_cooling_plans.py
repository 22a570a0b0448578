"""The study to try webjudge on."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from quem.cli import main
from quem.solutions import find_solutions
from quem.studyfile.reading import draft_study, read_study

FOLDER = Path(__file__).resolve().parents[2] / "studies" / "cooling-plans"
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))["study.yaml"]
TEXTS = ("study.yaml", "README.md", "briefing.md")


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A copy that nobody has run a session on."""
    ignored = shutil.ignore_patterns("*.sqlite3*", "*-report", "*-export")
    shutil.copytree(FOLDER, tmp_path / "study", ignore=ignored)
    return tmp_path / "study" / "study.yaml"


def test_check_finds_nothing(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``quem check`` has nothing to complain of: no mistakes, no name, no metadata."""
    monkeypatch.delenv("QUEM_DATABASE_URL", raising=False)
    done = CliRunner().invoke(main, ["check", str(fresh)])
    assert done.exit_code == 0, done.output
    assert "no errors, no warnings" in done.output
    assert f"{sum(EXPECTED['problems'].values())} solutions" in done.output


def test_holds_what_its_readme_says() -> None:
    """Three problems with six to eight solutions, by people and by two versions of one system."""
    study = read_study(FOLDER / "study.yaml")
    solutions, mistakes, warnings = find_solutions(
        draft_study(FOLDER / "study.yaml"), complete=True
    )
    assert not mistakes
    assert not warnings
    count = {problem: len(solvers) for problem, solvers in solutions.by_problem.items()}
    assert count == EXPECTED["problems"]
    assert {solutions.practice_problem: len(solutions.practice)} == EXPECTED["practice"]
    assert all(6 <= number <= 8 for number in count.values())
    assert len(study.subjects) == EXPECTED["subjects"]
    assert len(study.judges) == EXPECTED["judges"]
    assert len(study.systems) == EXPECTED["systems"]
    assert len({system.of for system in study.systems}) == 1
    assert len({system.version for system in study.systems}) == EXPECTED["systems"]


def test_formats_are_equal_within_a_problem_and_texts_are_short() -> None:
    """No format tells a solver from another, and a judge reads a plan in a minute or two."""
    for folder in (FOLDER / "solutions").iterdir():
        files = list(folder.iterdir())
        assert len(Counter(file.suffix for file in files)) == 1, folder.name
        assert {len(file.read_text("utf-8").split()) <= 300 for file in files} == {True}


@pytest.mark.parametrize("name", TEXTS)
def test_says_that_it_is_made_up(name: str) -> None:
    """Nobody takes the study for a real one, nor its advice for advice."""
    assert "made up" in " ".join((FOLDER / name).read_text("utf-8").split()).lower()
