"""The made-up studies to compare systems with."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import quem

FOLDER = Path(__file__).resolve().parents[2] / "studies" / "assembly-planners"
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))
STEMS = ("study", "next-year", "assistance")


def test_rankings_are_those_of_the_documented_seeds() -> None:
    """Drawing the ranks again gives the files, byte for byte; the README names the seeds."""
    names = runpy.run_path(str(FOLDER / "generate.py"))
    assert names["tables"]() == {s: (FOLDER / f"{s}.csv").read_text("utf-8") for s in STEMS}
    assert list(names["SEEDS"].values()) == [4, 1, 7]
    assert "with the seeds 4, 1 and 7" in (FOLDER / "README.md").read_text("utf-8")


@pytest.mark.parametrize("stem", STEMS)
def test_says_that_it_is_made_up(stem: str) -> None:
    """Nobody takes a study for a real one."""
    assert "MADE UP" in (FOLDER / f"{stem}.yaml").read_text("utf-8")
    assert "(made up)" in quem.load_study(FOLDER / f"{stem}.yaml", kind="experience").spec.title


def test_estimates_are_as_expected() -> None:
    """Each system comes out where it did."""
    for stem in ("study", "next-year"):
        findings = quem.analyze(
            quem.load_study(FOLDER / f"{stem}.yaml", kind="experience"), bootstrap=0
        ).findings
        years = {estimate.system: round(estimate.experience, 3) for estimate in findings.estimates}
        assert years == EXPECTED[f"{stem}.yaml"]["experience"]


def test_differences_are_as_expected() -> None:
    """So do the differences in rank with their p values, and in years."""
    table = quem.compare(quem.load_study(FOLDER / "study.yaml", kind="experience")).differences
    for row, expected in zip(
        table.to_dict("records"), EXPECTED["study.yaml"]["differences"], strict=True
    ):
        words = ("a", "b", "test")
        assert {key: row[key] for key in words} == {key: expected[key] for key in words}
        for key in set(expected) - set(words):
            assert row[key] == pytest.approx(expected[key], abs=5e-5), key


def test_gain_is_as_expected() -> None:
    """So does the gain of those who had help, and no warning comes with it."""
    comparison = quem.compare(quem.load_study(FOLDER / "assistance.yaml", kind="experience"))
    (uplift,) = comparison.findings.uplifts
    expected = EXPECTED["assistance.yaml"]
    assert comparison.warnings == ()
    assert [person.person for person in uplift.people] == expected["people"]
    np.testing.assert_allclose(
        [uplift.gain, *uplift.test.interval, uplift.test.p, uplift.years],
        [expected["gain"], *expected["interval"], expected["p"], expected["years"]],
        atol=5e-5,
    )
