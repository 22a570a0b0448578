"""The trial of coverage: what it counts, its bars, and the tables of the documentation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

import quem
from quem.simulation import simulate
from tests.trials.coverage import (
    KINDS,
    SINGLE_KINDS,
    cover,
    degradation,
    missed,
    summary,
    tally,
)
from tests.trials.runner import TRIALS

DOCS = Path(__file__).parents[2] / "docs"


def test_a_cell_is_counted_as_single_studies_are() -> None:
    """The intervals of a cell of one chunk are those of `quem.analyze`, study by study."""
    kind = KINDS[0]
    found = cover(kind, "low", 7, 50, seed=8)
    (seed,) = np.random.SeedSequence(8).spawn(1)
    simulated = simulate(kind.scenarios("low", 7)[0], 50, seed)
    says = covers = 0
    for index, truth in enumerate(simulated.truth[:, 0]):
        (of,) = quem.analyze(simulated.study(index)).core.estimates
        low, high = of.reference.interval
        says += of.reference.says
        covers += of.reference.says and low <= truth <= (np.inf if high is None else high)
    assert found["reference"][:3] == [50, says, covers]


def test_tallies_count_what_is_stated() -> None:
    """An open end covers what lies above; silence neither covers nor misses."""
    truth, years = np.array([5.0, 5.0, 9.0, 5.0]), np.array([6.0, 4.0, 7.0, np.nan])
    interval = np.array([[3.0, 8.0], [5.5, 9.0], [6.0, np.inf], [np.nan, np.nan]])
    found = tally(truth, years, interval, np.array([True, True, True, False]))
    assert_allclose(found, [4, 3, 2, 2, 8.5, 1 + 1 + 4])


def test_missed_bars_are_named() -> None:
    """A cell below its bar, or above the most, is named; few studies are given more room."""
    row = {"kind": "nothing wrong", "noise": "low", "subjects": 7, "what": "reference"}
    row |= {"says": 100.0, "width": 5.0, "rmse": 1.0}

    def of(covers: float, studies: int) -> str:
        return missed(pd.DataFrame([{**row, "covers": covers, "studies": studies}]))

    assert of(92.6, 2000) == ""
    assert of(92.4, 2000).startswith("nothing wrong, low, 7 subjects: reference covers 92.4")
    assert of(91.0, 500) == ""
    assert of(90.0, 500)
    assert of(99.2, 2000)


def test_the_documentation_holds_a_whole_run() -> None:
    """Every cell of docs/coverage.csv keeps its bar, and the page has its tables."""
    cells = pd.read_csv(DOCS / "coverage.csv")
    assert missed(cells) == ""
    assert (cells["studies"] >= 2000).all()
    kinds = {kind.name for kind in (*KINDS, *SINGLE_KINDS)}
    assert kinds <= set(cells["kind"])
    page = (DOCS / "explanation" / "coverage.md").read_text("utf-8")
    assert summary(cells) in page
    assert degradation(cells) in page


def test_tight_kinds_are_some_of_all() -> None:
    """`nox -s coverage` simulates twelve kinds that have bars."""
    tight = [kind for kind in KINDS if kind.is_tight]
    assert len(tight) == 12
    assert all(kind.bar for kind in tight)
    assert not TRIALS["coverage-tight"].resumed
