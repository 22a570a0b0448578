"""The trial of machine judges, with few studies of each cell."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from quem.machines.track import line_of, track
from tests.trials import machines as trial
from tests.trials import tracks
from tests.trials.runner import TRIALS

if TYPE_CHECKING:
    from pathlib import Path


def test_a_few_studies_of_each_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals cover most truths, and a bar of other values is missed."""
    monkeypatch.setattr(trial, "_STUDIES", 4)
    result = TRIALS["machines"].run(random.Random(1), tmp_path)
    assert len(result["cells"]) == len(trial.ROWS) * len(trial.MACHINES)
    covered = [cell["widened"][0] for cell in result["cells"].values()]
    assert sum(covered) / (4 * len(covered)) > 0.85
    monkeypatch.setattr(trial, "_STUDIES", 400)
    assert "covers" in TRIALS["machines"].bar([result])
    assert "machine alone" in TRIALS["machines"].table([result])


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


@pytest.mark.parametrize("name", ["people differ, 2", "half the slope, 0.5", "people alike, 2"])
def test_many_studies_at_once_are_each_as_the_method_says(name: str) -> None:
    """Estimate, interval, and where it gives years; experts' own ranks are located alike."""
    years = np.linspace(1, 12, 12)
    for versions in (3, 6):
        drawn = tracks.draw(tracks.COURSES[name], versions, 40, np.random.default_rng(versions))
        found = tracks.intervals(drawn)
        assert np.allclose(drawn.experts[:, :12].mean(axis=1), 6.5)
        for at, (h, m) in enumerate(zip(drawn.experts, drawn.machine, strict=True)):
            experts, machine = line_of(h[:12], years), line_of(m[:12], years)
            one = track(experts, machine, (h[12:-1], m[12:-1]), float(m[-1]))
            half = (one.interval[1] - one.interval[0]) / 2
            assert (found.track[0][at], found.track[1][at]) == pytest.approx((one.years, half))
            assert found.is_near[at] == (one.side == "inside")
            peer = experts.variance(float(experts.years(h[-1])))
            expected = stats.t.ppf(0.975, 10) * np.sqrt(peer)
            assert found.experts[1][at] == pytest.approx(expected)


def test_versions_are_located_among_the_people() -> None:
    """By how many of them are below; they do not move each other."""
    from quem.experience.ranks import adjusted_ranks

    rng = np.random.default_rng(0)
    seen = rng.normal(0, 1, (5, 15))
    group = np.repeat(np.arange(5), 15)
    people = np.tile(np.arange(15) < 12, 5)
    expected, _ = adjusted_ranks(group, seen.ravel(), people)
    assert tracks.located(seen).ravel() == pytest.approx(expected)
