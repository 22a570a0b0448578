"""Trials are repeatable, go on where they were stopped, and say what failed; some of each."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import quem
from quem.simulation import simulate
from tests.trials import coverage, estimates, machines
from tests.trials.__main__ import written
from tests.trials.runner import TRIALS, Trial, run_trials

DOCS = Path(__file__).parents[2] / "docs"


def test_trials_go_on(tmp_path: Path) -> None:
    """Finished trials are not run again, also after a line that was cut off; others are alike."""
    ran: list[float] = []

    def run(rng: random.Random, folder: Path) -> dict[str, Any]:
        assert folder.is_dir()
        ran.append(rng.random())
        assert len(ran) != 2, "the second"
        return {"value": ran[-1], "saves": 1_000, "ends": ["SIGKILL"], "refused": {"busy": 2}}

    trial = Trial("made-up", run, 3, "What is tried")
    out = tmp_path / "deep" / "results.jsonl"
    whole = run_trials(trial, 3, 1, out)
    assert [bool(result["failed"]) for result in whole] == [False, True, False]
    assert "AssertionError: the second" in whole[1]["failed"]
    lines = out.read_text("utf-8").strip().splitlines()
    out.write_text("\n".join([*lines[:2], lines[2][:9]]), "utf-8")
    again = run_trials(trial, 3, 1, out)
    assert [(one["failed"], one.get("value")) for one in again] == [
        (one["failed"], one.get("value")) for one in whole
    ]
    assert len(ran) == 4
    # Another seed makes other trials.
    assert run_trials(trial, 1, 2, out)[0]["value"] not in ran[:-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TRIALS, "made-up", trial)
        page = written(again, "Before\n<!-- trials begin -->\nx\n<!-- trials end -->\nA")
    assert page.startswith("Before\n<!-- trials begin -->\n20")
    row = "| `made-up` | What is tried | 1 | 3 | 2,000 saves, 2 ends, 4 refused | 1 of them |"
    assert row in page
    assert page.endswith("|\n<!-- trials end -->\nA")


@pytest.mark.parametrize(("name", "count"), [("broken-studies", 25), ("emptied-studies", 5)])
def test_broken_studies(name: str, count: int, tmp_path: Path) -> None:
    results = run_trials(TRIALS[name], count, 0, tmp_path / "results.jsonl")
    assert [result["failed"] for result in results if result["failed"]] == []
    assert all(sum(result[how] for result in results) > 0 for how in ("refused", "accepted"))


def test_a_few_studies_with_each_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "STUDIES", 4)
    result = TRIALS["machines"].run(random.Random(1), tmp_path)
    assert len(result["cells"]) == len(machines.ROWS) * len(machines.MACHINES)
    there, covered, _ = np.sum([cell["widened"] for cell in result["cells"].values()], axis=0)
    assert covered / there > 0.85
    first = next(iter(result["cells"].values()))["widened"]
    first[1] = 0.9 * first[0]
    assert "covers 90.0" in TRIALS["machines"].bar([result])
    assert "with the machine" in TRIALS["machines"].table([result])


def test_a_cell_of_coverage_is_counted_as_single_studies_are() -> None:
    """The intervals of a cell of one chunk are those of `quem.analyze`, study by study."""
    kind = coverage.KINDS[0]
    found = coverage.cover(kind, "low", 7, 50, seed=8)
    (seed,) = np.random.SeedSequence(8).spawn(1)
    simulated = simulate(kind.scenarios("low", 7)[0], 50, seed)
    says = covers = 0
    for index, truth in enumerate(simulated.truth[:, 0]):
        (of,) = quem.analyze(simulated.study(index)).core.estimates
        low, high = of.reference.interval
        says += of.reference.says
        covers += of.reference.says and low <= truth <= (np.inf if high is None else high)
    assert found["reference"][:3] == [50, says, covers]


def test_the_documentation_holds_a_whole_run() -> None:
    """Every cell of docs/coverage.csv keeps its bar, lower ones would not; the page has tables."""
    cells = pd.read_csv(DOCS / "coverage.csv")
    assert coverage.missed(cells) == ""
    assert len(coverage.missed(cells.assign(covers=cells["covers"] - 15)).split("; ")) > 100
    assert (cells["studies"] >= 2000).all()
    kinds = {kind.name for kind in (*coverage.KINDS, *coverage.SINGLE_KINDS)}
    assert kinds <= set(cells["kind"])
    page = (DOCS / "explanation" / "coverage.md").read_text("utf-8")
    assert coverage.summary(cells) in page
    assert coverage.degradation(cells) in page
