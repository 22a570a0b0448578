"""The trial of equal systems runs, and its bar and table say what they should."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.trials.leaderboards import equal_systems
from tests.trials.runner import TRIALS, run_trials

if TYPE_CHECKING:
    from pathlib import Path


def test_equal_systems_are_rarely_called_different(tmp_path: Path) -> None:
    """A few trials stay within the bar; a test that always finds a difference would not."""
    trial = TRIALS["equal-systems"]
    assert trial.run is equal_systems
    results = run_trials(trial, 40, 1, tmp_path / "results.jsonl")
    assert not any(result["failed"] for result in results)
    assert trial.bar(results) == ""
    assert "| all equal |" in trial.table(results)
    assert "at most" in trial.bar([{**result, "wrong": True} for result in results])
