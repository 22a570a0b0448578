"""The study to try webjudge on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from quem.cli import main
from quem.solutions import find_solutions
from quem.studyfile.reading import draft_study, read_study

FOLDER = Path(__file__).resolve().parents[2] / "studies" / "cooling-plans"
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))["study.yaml"]


def test_check_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that nobody has run a session on has no mistakes, no name, no metadata."""
    monkeypatch.delenv("QUEM_DATABASE_URL", raising=False)
    ignored = shutil.ignore_patterns("*.sqlite3*", "*-report", "*-export")
    shutil.copytree(FOLDER, tmp_path / "study", ignore=ignored)
    done = CliRunner().invoke(main, ["check", str(tmp_path / "study" / "study.yaml")])
    assert done.exit_code == 0, done.output
    assert "no errors, no warnings" in done.output
    assert f"{sum(EXPECTED['problems'].values())} solutions" in done.output


def test_holds_what_its_readme_says() -> None:
    """Three problems with six to eight solutions, by people and by two versions of one system."""
    draft = draft_study(FOLDER / "study.yaml")
    solutions, mistakes, warnings = find_solutions(draft, complete=True)
    assert not [*mistakes, *warnings]
    count = {problem: len(solvers) for problem, solvers in solutions.by_problem.items()}
    assert count == EXPECTED["problems"]
    assert {solutions.practice_problem: len(solutions.practice)} == EXPECTED["practice"]
    assert all(6 <= number <= 8 for number in count.values())
    study = read_study(FOLDER / "study.yaml")
    for key in ("subjects", "judges", "systems"):
        assert len(getattr(study, key)) == EXPECTED[key]
    assert len({system.of for system in study.systems}) == 1
    assert len({system.version for system in study.systems}) == EXPECTED["systems"]


def test_formats_are_equal_within_a_problem_and_texts_are_short() -> None:
    """No format tells a solver from another, and a judge reads a plan in a minute or two."""
    for folder in (FOLDER / "solutions").iterdir():
        files = [*folder.iterdir()]
        assert len({file.suffix for file in files}) == 1, folder.name
        assert max(len(file.read_text("utf-8").split()) for file in files) <= 300


@pytest.mark.parametrize("name", ["study.yaml", "README.md", "briefing.md"])
def test_says_that_it_is_made_up(name: str) -> None:
    """Nobody takes the study for a real one, nor its advice for advice."""
    assert "made up" in " ".join((FOLDER / name).read_text("utf-8").split()).lower()
