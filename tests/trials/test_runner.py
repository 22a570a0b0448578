"""Trials are repeatable, go on where they were stopped, and say what failed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.trials import broken_studies
from tests.trials.runner import TRIALS, Trial, run_trials

if TYPE_CHECKING:
    import random
    from pathlib import Path


def test_trials_go_on(tmp_path: Path) -> None:
    """Finished trials are not run again, also after a line that was cut off; others are alike."""
    ran: list[float] = []

    def run(rng: random.Random, folder: Path) -> dict[str, Any]:
        assert folder.is_dir()
        ran.append(rng.random())
        assert len(ran) != 2, "the second"
        return {"value": ran[-1]}

    trial = Trial("made-up", run, 3, "")
    out = tmp_path / "deep" / "results.jsonl"
    whole = run_trials(trial, 3, 1, out)
    assert [bool(result["failed"]) for result in whole] == [False, True, False]
    assert "AssertionError: the second" in whole[1]["failed"]
    lines = out.read_text("utf-8").strip().splitlines()
    out.write_text("\n".join([*lines[:2], lines[2][:9]]), "utf-8")
    assert run_trials(trial, 3, 1, out) == whole
    assert len(ran) == 4
    assert ran[3] == ran[2]
    # Those that failed are run again where that is wanted; another seed makes other trials.
    assert [r["failed"] for r in run_trials(trial, 3, 1, out, again=True)] == ["", "", ""]
    assert ran[4] == ran[1]
    other = run_trials(trial, 1, 2, out)
    assert other[0]["value"] not in ran[:-1]
    assert all(json.loads(line) for line in out.read_text("utf-8").splitlines()[3:] if line)


def test_broken_studies(tmp_path: Path) -> None:
    """A few of the trials of each name."""
    assert TRIALS["broken-studies"].run is broken_studies.broken_study
    results = run_trials(TRIALS["broken-studies"], 25, 0, tmp_path / "results.jsonl")
    assert [result["failed"] for result in results if result["failed"]] == []
    assert {result["code"] for result in results} == {0, 1}
