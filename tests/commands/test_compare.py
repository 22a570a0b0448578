"""``quem compare``: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.sessions import hold_session
from tests.examples import RANKS, long_csv, study_with, write_study

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.commands.conftest import Outcome

    Command = Callable[..., Outcome]

SHIPPED = Path(__file__).resolve().parents[2] / "studies" / "assembly-planners"


@pytest.fixture
def studies(tmp_path: Path) -> Path:
    """A copy of the shipped studies, as the current folder would have them."""
    shutil.copytree(SHIPPED, tmp_path / "studies", ignore=shutil.ignore_patterns("*-*e"))
    return tmp_path / "studies"


def _two_systems(folder: Path, **changes: Any) -> Path:  # noqa: ANN401  YAML
    """The example with a second system, which J1 did not rank on P2."""
    ranks = {**RANKS, **{(j, p, "two"): 3 for j, p, s in RANKS if s == "S1"}}
    del ranks["J1", "P2", "two"]
    study = study_with(systems=[{"id": "sys"}, {"id": "two"}], **changes)
    return write_study(folder, study, rankings__csv=long_csv(ranks))


def test_report_is_written_beside_the_study(quem_command: Command, studies: Path) -> None:
    """One study: summary on stdout, and every file that there is something for."""
    code, out, err = quem_command("compare", studies / "study.yaml")
    assert (code, out.splitlines()[0]) == (0, "Assembly planners (made up)")
    folder = studies / "study-compare"
    assert "no-reference" in err
    assert err.endswith(f"\nReport: {folder / 'report.html'}\n")
    assert {file.name for file in folder.iterdir()} == {
        "report.html", "analysis.json", "versions.svg", "differences.csv", "estimates.csv",
    }  # fmt: skip
    assert len(json.loads((folder / "analysis.json").read_text("utf-8"))["pairs"]) == 3


def test_several_studies_report_into_the_current_folder(
    quem_command: Command, studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report of several studies belongs to none of them."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    both = (studies / "study.yaml", studies / "next-year.yaml")
    code, out, _ = quem_command("compare", *both)
    assert code == 0
    assert "Versions of Fitter" in out
    assert (here / "study-compare" / "versions.svg").exists()
    assert [path.name for path in here.iterdir()] == ["study-compare"]


def test_json_prints_and_writes_nothing(quem_command: Command, studies: Path) -> None:
    """The JSON is the same as in analysis.json, with the settings of the command."""
    before = sorted(studies.iterdir())
    words = ("compare", studies / "assistance.yaml", "--level", 0.9)
    code, out, _ = quem_command(*words, "--json")
    assert (code, sorted(studies.iterdir())) == (0, before)
    quem_command(*words)
    assert (studies / "assistance-compare" / "analysis.json").read_text("utf-8") == out
    printed = json.loads(out)
    assert printed["settings"] == {"level": 0.9, "systems": []}
    assert [person["a"] for person in printed["assistance"][0]["people"]] == [
        "S2", "S4", "S5", "S7"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Missing argument 'STUDY...'"),
        (("x.yaml", "--json", "--out", "y"), "--json writes nothing, so it takes no --out"),
        (("x.yaml", "--test", "problem"), "No such option"),
        (("x.yaml", "--level", "95"), "95 percent is written 0.95"),
        (("x.yaml", "--seed", "1"), "--seed is not for a study of kind experience"),
        (("x.yaml", "B", "--systems", "A"), "there is no study B; each system takes its own"),
        (("x.yaml", "--interval", "mean"), "No such option"),
    ],
)
def test_wrong_usage_ends_with_2(
    quem_command: Command, words: tuple[str, ...], message: str
) -> None:
    """A command that cannot be meant is told with its usage."""
    code, out, err = quem_command("compare", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("Usage: quem compare")


def test_mistakes_of_all_studies_are_told_at_once(quem_command: Command, studies: Path) -> None:
    """Each study's mistakes are named; nothing is written."""
    for name in ("study.yaml", "next-year.yaml"):
        text = (studies / name).read_text("utf-8")
        (studies / name).write_text(text.replace("experience_unit", "experience_units"), "utf-8")
    before = sorted(studies.iterdir())
    code, out, err = quem_command("compare", studies / "study.yaml", studies / "next-year.yaml")
    assert (code, out, len(err.splitlines())) == (1, "", 2)
    assert "/study.yaml:9:1: experience_units: unknown key" in err
    assert "next-year.yaml:10:1: experience_units: unknown key" in err
    assert sorted(studies.iterdir()) == before


def _refusal(quem_command: Command, *words: object) -> str:
    code, out, err = quem_command("compare", *words)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    return err.removeprefix("error: ").rstrip("\n")


def test_units_that_differ_are_refused(quem_command: Command, studies: Path) -> None:
    """Years against months name both files, the place and the remedy."""
    path = studies / "next-year.yaml"
    text = path.read_text("utf-8").replace("experience_unit: years", "experience_unit: months")
    path.write_text(text, "utf-8")
    assert _refusal(quem_command, studies / "study.yaml", path) == (
        f"{path}:10:18: experience_unit: experience is counted in 'months' here and in 'years' in "
        f"{studies / 'study.yaml'}; state it in the same unit in both, numbers included"
    )


def test_an_open_session_is_read_only_with_reveal(
    quem_command: Command, judging_study: Path, studies: Path
) -> None:
    """A comparison shows no ranking of a session that is not closed, unless told to."""
    hold_session(judging_study).close()
    words = ("compare", judging_study, studies / "study.yaml", "--json")
    code, out, err = quem_command(*words)
    assert (code, out) == (1, "")
    assert "--reveal, which is logged" in err
    code, out, err = quem_command(*words, "--reveal")
    assert code == 0
    assert "warning: session-open: made-up: the judging session is not closed" in err
    assert json.loads(out)["studies"][0]["id"] == "made-up"


def test_incomplete_rankings_are_counted(quem_command: Command, tmp_path: Path) -> None:
    """Who won is counted over the rankings of both, and exit is 0."""
    code, out, _ = quem_command("compare", _two_systems(tmp_path))
    assert code == 0
    assert "of 3 rankings of both" in " ".join(out.split())
