"""The trial of machine judges, with few studies of each cell."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from tests.trials import machines as trial
from tests.trials.runner import TRIALS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_few_studies_of_each_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals cover most truths, and a bar of other values is missed."""
    monkeypatch.setattr(trial, "_STUDIES", 4)
    result = TRIALS["machines"].run(random.Random(1), tmp_path)
    assert len(result["cells"]) == len(trial.ROWS) * len(trial.MACHINES)
    there, covered, _ = np.sum([cell["widened"] for cell in result["cells"].values()], axis=0)
    assert covered / there > 0.85
    first = next(iter(result["cells"].values()))["widened"]
    first[1] = 0.9 * first[0]
    assert "covers 90.0" in TRIALS["machines"].bar([result])
    assert "with the machine" in TRIALS["machines"].table([result])


def test_biases_are_what_they_are_called() -> None:
    """A liking is of the system, and a place the same in each order where it is the last."""
    row = trial.ROWS["low, 3"]
    ranks = {
        machine: np.mean(
            [
                trial.simulate(row, machine, np.random.default_rng(seed))[1][0, :, -1].mean()
                for seed in range(60)
            ]
        )
        for machine in trial.MACHINES
    }
    assert ranks["likes systems"] > ranks["fair"] + 2
    assert ranks["length"] > ranks["fair"] + 1
    assert ranks["last"] < ranks["reversed"] - 1
