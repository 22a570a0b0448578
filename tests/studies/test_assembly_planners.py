"""The made-up studies to compare systems with."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import quem

FOLDER = Path(__file__).resolve().parents[2] / "studies" / "assembly-planners"
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
