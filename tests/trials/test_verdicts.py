"""The trials of verdicts, a few times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trials import verdicts  # noqa: F401  registers them
from tests.trials.runner import TRIALS, run_trials

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["jagged-systems", "no-relation"])
def test_a_few_trials(name: str, tmp_path: Path) -> None:
    """None fails, and a bar that is missed is named."""
    results = run_trials(TRIALS[name], 2, 0, tmp_path / "results.jsonl")
    assert not [result["failed"] for result in results if result["failed"]]
    assert not TRIALS[name].bar(results)
    wrong = [{**result, "passed": True, "flagged": False} for result in results * 5]
    assert "of 10" in TRIALS[name].bar(wrong)
