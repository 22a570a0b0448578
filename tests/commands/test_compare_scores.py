"""``quem compare`` for retrievers, option lists, and dialogues: files and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.scores.made import write_retrievers

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.commands.conftest import Outcome

    Command = Callable[..., Outcome]

STUDIES = Path(__file__).resolve().parents[2] / "studies"


def test_a_report_is_written_beside_the_study(quem_command: Command, tmp_path: Path) -> None:
    """Summary on stdout, and every file that there is something for; JSON writes nothing."""
    path = write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9, "c": 1.0})
    code, out, err = quem_command("compare", path)
    assert (code, out.splitlines()[0]) == (0, "Study one")
    folder = tmp_path / "one-compare"
    assert err.endswith(f"\nReport: {folder / 'report.html'}\n")
    assert {file.name for file in folder.iterdir()} == {
        "report.html", "analysis.json", "means.csv", "differences.csv", "scores.csv",
        "scores.svg", "table.md", "table.tex", "table.html",
    }  # fmt: skip
    before = sorted(tmp_path.rglob("*"))
    code, out, _ = quem_command("compare", path, "--json")
    assert (code, sorted(tmp_path.rglob("*"))) == (0, before)
    assert out == (folder / "analysis.json").read_text("utf-8")


@pytest.mark.parametrize("word", ["--jobs", "--data", "--reveal"])
def test_wrong_usage_ends_with_2(quem_command: Command, tmp_path: Path, word: str) -> None:
    """Options that are for other kinds of study are told with the usage."""
    path = write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9}, queries=2)
    before = sorted(tmp_path.iterdir())
    words = (word,) if word == "--reveal" else (word, "2")
    code, out, err = quem_command("compare", path, *words)
    assert (code, out) == (2, "")
    assert f"{word} is not for a study of kind retrieval" in err
    assert sorted(tmp_path.iterdir()) == before


def test_kinds_do_not_mix(quem_command: Command, tmp_path: Path) -> None:
    """Years of experience do not compare with scores of queries, whichever comes first."""
    path = write_retrievers(tmp_path, "one", {"a": 0.3, "b": 0.9})
    study = STUDIES / "assembly-planners" / "study.yaml"
    code, _, err = quem_command("compare", path, study)
    assert (code, err) == (
        1,
        f"error: {study}: kind: a study of kind experience has no scores of queries, and does not "
        "compare with others that have; leave it out\n",
    )
    code, _, err = quem_command("compare", study, path)
    assert code == 1
    assert "this is a retrieval study" in err


def test_code_can_be_refused(quem_command: Command) -> None:
    """A study from a stranger that names Python functions is refused with --no-code."""
    code, _, err = quem_command("compare", STUDIES / "bicycles" / "study.yaml", "--no-code")
    assert code == 1
    assert "python" in err.lower()
