"""``quem plan``: options, output, and where the report goes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import quem
from quem.report.files import json_text

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commands.conftest import Command

SMALL = ("--judges", "2-3", "--subjects", "6,9-10", "--problems", "3")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_is_printed_and_written(here: Path, run: Command) -> None:
    """The summary goes to stdout, warnings to stderr, and the report beside."""
    code, out, err = run("plan", *SMALL, "--simulate", 30, "--width", 3.8, "--seed", 3)
    assert code == 0
    assert "30 simulated studies of each design" in out
    assert "warning: noise-assumed" in err
    assert "warning" not in out
    assert err.endswith("Report: quem-plan/report.html\n")
    names = {"report.html", "analysis.json", "designs.csv", "growth.svg"}
    assert {path.name for path in (here / "quem-plan").iterdir()} >= names


def test_json_is_that_of_the_result(here: Path, run: Command) -> None:
    """--json prints what `quem.plan` gives, and writes nothing; numbers are read in every way."""
    settings = run("plan", *SMALL, "--simulate", 0, "--experience", "2-10.5", "--json").out
    expected = {"judges": [2, 3], "subjects": [6, 9, 10], "problems": [3], "experience": [2, 10.5]}
    assert json.loads(settings)["settings"].items() >= expected.items()
    words = (
        *("--width", 3.5, "--person", 0.5, "--noise", "high", "--simulate", 20, "--seed", 9),
        *("--subjects", "6-9", "--judges", "2,4", "--problems", "3-4", "--minutes", 4),
        *("--solving-minutes", 90, "--systems", 3, "--level", 0.9),
        *("--reference-population", "0-5-15:60-40"),
    )
    result = quem.plan(
        width=3.5,
        person=0.5,
        noise="high",
        simulate=20,
        seed=9,
        subjects=range(6, 10),
        judges=(2, 4),
        problems=(3, 4),
        minutes=4,
        solving_minutes=90,
        reference_population={"years": (0, 5, 15), "share": (60, 40)},
        systems=3,
        level=0.9,
    )
    assert run("plan", *words, "--json").out == json_text(result.to_dict())
    assert list(here.iterdir()) == []


def test_plans_that_end_early_write_nothing(
    here: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is missing ends with 1; Ctrl-C in the simulation with 130."""
    assert run("plan", "no-such.yaml").refuses("no-such.yaml: file not found")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("quem.planning.planner.simulate", interrupted)
    assert run("plan", "--width", 3, "--simulate", 10).refuses("Interrupted.", code=130)
    assert list(here.iterdir()) == []
