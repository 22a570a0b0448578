"""``quem plan``: options, output, and where the report goes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import quem
from quem.report.files import json_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.commands.conftest import Outcome

    Command = Callable[..., Outcome]

SMALL = ("--judges", "2-3", "--subjects", "6,9-10", "--problems", "3", "--simulate", 0)
NAMES = {"report.html", "analysis.json", "designs.csv", "growth.svg"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_is_printed_and_written(here: Path, quem_command: Command) -> None:
    """The summary goes to stdout, warnings to stderr, and the report beside."""
    code, out, err = quem_command("plan", *SMALL[:-1], 30, "--width", 3.8, "--seed", 3)
    assert code == 0
    assert "in simulation" in out
    assert "years stated" in out
    assert "hours per subject" in out
    assert "30 simulated studies of each design" in out
    assert "warning: noise-assumed" in err
    assert "warning" not in out
    assert err.endswith("Report: quem-plan/report.html\n")
    assert {path.name for path in (here / "quem-plan").iterdir()} >= NAMES


def test_numbers_are_read_in_every_way(here: Path, quem_command: Command) -> None:
    """A number, several, and a range are what they say."""
    code, out, _ = quem_command("plan", *SMALL, "--experience", "2-10.5", "--json")
    assert code == 0
    settings = json.loads(out)["settings"]
    assert settings["judges"] == [2, 3]
    assert settings["subjects"] == [6, 9, 10]
    assert settings["problems"] == [3]
    assert settings["experience"] == [2, 10.5]
    assert list(here.iterdir()) == []


def test_json_is_that_of_the_result(here: Path, quem_command: Command) -> None:
    """--json prints what `quem.plan` gives, and writes nothing."""
    words: tuple[object, ...] = (
        "--width",
        3.5,
        "--person",
        0.5,
        "--noise",
        "high",
        "--simulate",
        20,
        "--seed",
        9,
    )
    words += ("--subjects", "6-9", "--judges", "2,4", "--problems", "3-4")
    words += ("--minutes", 4, "--solving-minutes", 90, "--systems", 3)
    words += ("--reference-population", "0-5-15:60-40")
    code, out, _ = quem_command("plan", *words, "--json", "--level", 0.9)
    assert code == 0
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
    assert out == json_text(result.to_dict())
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--subjects", "many"], "'many' is not a number such as 12, and not a range such as 6-20"),
        (["--judges", "5-2"], "'5-2' is not a rising range"),
        (["--problems", "3,"], "'' is not a number"),
        (["--experience", "12"], "Invalid value for '--experience'"),
        (["--experience", "9-2"], "must increase from least to most experience"),
        (["--reference-population", "9-2"], "years need two numbers at least"),
        (["--width", "0"], "0 is not a finite number above 0"),
        (["--width", "nan"], "nan is not a finite number above 0"),
        (["--person", "-1"], "-1 is not a finite number, 0 or more"),
        (["--noise", "some"], "'some' is not one of 'low', 'high'"),
        (["--json", "--out", "x"], "--json writes nothing, so it takes no --out"),
        (["--reveal"], "--database and --reveal apply to a pilot's judging session"),
        (["s.yaml", "--noise", "low"], "a pilot gives the SDs; leave --noise out"),
        (["--subjects", "2-8"], "Invalid value for '--subjects': must be 3 or more"),
        (["--level", "95"], "95 is not between 0 and 1; 95 percent is written 0.95"),
    ],
)
def test_wrong_usage_is_refused(
    here: Path, quem_command: Command, words: list[str], message: str
) -> None:
    """Wrong usage exits with 2, says what is wrong, and writes nothing."""
    code, out, err = quem_command("plan", *words)
    assert code == 2
    assert message in " ".join(err.split())
    assert out == ""
    assert list(here.iterdir()) == []


def test_mistakes_are_refused(here: Path, quem_command: Command) -> None:
    """What a user can mend exits with 1 and one message, and writes nothing."""
    code, _, err = quem_command("plan", "no-such.yaml")
    assert code == 1
    assert "no-such.yaml: file not found" in err
    assert list(here.iterdir()) == []


def test_interrupted_plans_write_nothing(
    here: Path, quem_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the simulation ends with 130; nothing is written."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("quem.planning.planner.simulate", interrupted)
    code, out, err = quem_command("plan", "--width", 3, "--simulate", 10)
    assert code == 130
    assert out == ""
    assert "Interrupted." in err
    assert list(here.iterdir()) == []
