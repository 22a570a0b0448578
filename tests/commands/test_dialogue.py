"""Dialogue studies from the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from distributed import LocalCluster

from quem.cli import main
from quem.errors import QuemError

FOLDER = Path(__file__).resolve().parents[2] / "studies" / "ccbr"
P3 = FOLDER.parent / "p3-1997" / "study.yaml"


def run(*words: object) -> Result:
    """Run a command, which raises nothing that a user cannot mend."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert isinstance(result.exception, QuemError | SystemExit | None), result.exception
    return result


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study that takes a second."""
    shutil.copy(FOLDER / "bikes.csv", tmp_path)
    path = tmp_path / "study.yaml"
    path.write_text(
        "kind: dialogue\ntitle: Bikes\ncases: {file: bikes.csv, class: fault, id: bike}\n"
        "analysis: {orders: 1, samples: 99}\n",
        encoding="utf-8",
    )
    return path


def test_report(study: Path) -> None:
    """A report is written, and the next run says the same."""
    first = run("analyze", study)
    assert first.exit_code == 0, first.output
    folder = study.with_name("study-report")
    written = {path.name for path in folder.iterdir()}
    assert {"report.html", "analysis.json", "rank-quality.svg", "scores.csv"} <= written
    before = (folder / "analysis.json").read_bytes()
    second = run("analyze", study)
    assert second.stdout == first.stdout
    assert (folder / "analysis.json").read_bytes() == before
    assert "Report:" in first.stderr


def test_json_writes_nothing(study: Path) -> None:
    """With --json the result is printed, by one process or two."""
    one, two = run("analyze", study, "--json"), run("analyze", study, "--json", "--jobs", 2)
    assert one.exit_code == two.exit_code == 0
    assert one.stdout == two.stdout
    assert json.loads(one.stdout)["kind"] == "dialogue"
    assert not study.with_name("study-report").exists()


def test_a_cluster_says_the_same(study: Path) -> None:
    """The workers of a real Dask cluster find what one process finds."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        result = run("analyze", study, "--json", "--cluster", cluster.scheduler_address)
    assert result.exit_code == 0, result.output
    assert result.stdout == run("analyze", study, "--json").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("analyze", P3, "--jobs", 2), "--jobs is not for a study of kind experience"),
        (("analyze", P3, "--data", "x"), "--data is not for a study of kind experience"),
        (("check", P3, "--data", "x"), "--data is not for a study of kind experience"),
        (
            ("analyze", FOLDER / "bikes.yaml", "--form", "log"),
            "--form is not for a study of kind dia",
        ),
        (
            ("analyze", FOLDER / "bikes.yaml", "--reveal"),
            "--reveal is not for a study of kind dial",
        ),
    ],
)
def test_options_of_other_kinds(words: tuple[object, ...], message: str) -> None:
    """An option that means nothing for a kind is wrong usage."""
    result = run(*words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_check(study: Path) -> None:
    """What was read is counted, what is doubtful told, and nothing simulated or written."""
    result = run("check", study)
    assert result.exit_code == 0
    assert "found: 64 cases, 10 attributes" in result.stdout
    assert sorted(path.name for path in study.parent.iterdir()) == ["bikes.csv", "study.yaml"]


def test_the_template_is_the_study() -> None:
    """The cases of the template are those of the study that comes with quem."""
    template = FOLDER.parents[1] / "templates" / "init" / "dialogue" / "cases.csv"
    assert template.read_bytes() == (FOLDER / "bikes.csv").read_bytes()


def test_check_tells_what_is_doubtful_before_dialogues(tmp_path: Path) -> None:
    """A constant attribute is known without any dialogue."""
    (tmp_path / "c.csv").write_text("a,b,class\n1,x,A\n2,x,B\n3,x,A\n", encoding="utf-8")
    path = tmp_path / "study.yaml"
    path.write_text("kind: dialogue\ncases: c.csv\n", encoding="utf-8")
    result = run("check", path)
    assert "warning: constant-attribute: " in result.stderr
