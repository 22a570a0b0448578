"""How solutions got their places, against loops and statsmodels."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import rankdata
from statsmodels.regression.linear_model import OLS

import quem
from quem.experience.placing import queue_slope, same_order
from quem.rankings import Rankings
from quem.rankings.table import Placement
from quem.report.files import json_text
from tests.commands.sessions import close, hold_session
from tests.docs.schema import mistakes
from tests.experience.made import cells_of, random_ranks, study_of
from tests.served import write_judging_study

if TYPE_CHECKING:
    from pathlib import Path

    from quem.experience.cells import RankCells
    from quem.rankings.loading import Study
    from tests.experience.made import Cell

Ranks = dict["Cell", float | None]


def share_by_hand(ranks: Ranks, blocks: dict[Cell, int], cell: Cell) -> float:
    """Compare each pair of a solution in loops."""
    judge, problem, solver = cell
    alike = []
    for other_judge, third in product({c[0] for c in ranks} - {judge}, {c[2] for c in ranks}):
        pairs = [[(one, problem, name) for name in (solver, third)] for one in (judge, other_judge)]
        if third == solver or not all(c in ranks for pair in pairs for c in pair):
            continue
        if any(blocks.get(a, 1) != blocks.get(b, 1) for a, b in pairs):
            continue
        signs = [np.sign((ranks[a] or 0) - (ranks[b] or 0)) for a, b in pairs]
        alike.append(signs[0] == signs[1])
    return float(np.mean(alike)) if alike else np.nan


@pytest.mark.parametrize("seed", range(6))
def test_agreement_of_each_place_is_that_of_loops(seed: int) -> None:
    """Also with ties, ranks that are missing, and blocks that differ between judges."""
    rng = np.random.default_rng(seed)
    ranks, years = random_ranks(rng, judges=4, subjects=6, systems=2, ties=seed % 2 == 1)
    ranks = {cell: rank for cell, rank in ranks.items() if rng.random() > 0.2}
    blocks = {cell: int(rng.integers(1, 3)) for cell in ranks} if seed > 3 else {}
    cells = cells_of(study_of(ranks, years, blocks=blocks))
    rows = np.flatnonzero(cells.judged())
    shares = same_order(cells, rows)
    expected = [share_by_hand(ranks, blocks, cell) for cell in _named(cells, rows)]
    assert len(expected) == len(ranks)
    np.testing.assert_allclose(shares, expected)


def _named(cells: RankCells, rows: np.ndarray) -> list[Cell]:
    return [
        (
            cells.judges[cells.judge[row]],
            cells.problems[cells.problem[row]],
            cells.solvers[cells.solver[row]],
        )
        for row in rows
    ]


def queues(rng: np.random.Generator, judges: int, problems: int, size: int) -> list[np.ndarray]:
    """Draw queues and ranks: solution, ballot, position, and rank within the ballot."""
    rows = []
    for ballot, (_, problem) in enumerate(product(range(judges), range(problems))):
        quality = np.arange(size) + rng.normal(0, size / 3, size)
        position = rng.permutation(size) + 1.0
        rank = rankdata(quality + 0.2 * position)
        rows += [
            (problem * size + solver, ballot, position[solver], rank[solver])
            for solver in range(size)
        ]
    return [*np.array(rows).T]


def ols(solution: np.ndarray, ballot: np.ndarray, x: np.ndarray, y: np.ndarray) -> Any:  # noqa: ANN401
    """Fit the same model with what a column for each solution and each ballot spans."""
    dummies = [codes[:, np.newaxis] == np.unique(codes) for codes in (solution, ballot)]
    basis, size, _ = np.linalg.svd(np.column_stack(dummies).astype(float), full_matrices=False)
    return OLS(y, np.column_stack([x, basis[:, size > 1e-9]])).fit()


@pytest.mark.parametrize("seed", range(4))
def test_the_slope_is_that_of_statsmodels(seed: int) -> None:
    """With dummies for solutions and ballots, also where many ranks are missing."""
    rng = np.random.default_rng(seed)
    columns = queues(rng, 4, 3, 6)
    if seed:
        keep = rng.random(len(columns[0])) > (0, 0.1, 0.3, 0.6)[seed]
        columns = [column[keep] for column in columns]
    mine = queue_slope(*columns)
    theirs = ols(*columns)
    assert mine is not None
    assert (mine.n, mine.df) == (len(columns[0]), theirs.df_resid)
    assert mine.slope == pytest.approx(theirs.params[0], abs=1e-9)
    assert mine.standard_error == pytest.approx(theirs.bse[0], rel=1e-7)
    assert mine.p == pytest.approx(theirs.pvalues[0], rel=1e-6)


def _with(study: Study, *placements: Placement) -> Study:
    assert isinstance(study.data, Rankings)
    return replace(study, data=replace(study.data, placements=placements))


def test_places_are_counted_by_way_and_by_how_sure() -> None:
    """Shares, counts, and means over the places; what a page did not say is a row of its own."""
    ranks: Ranks = {(j, "P", f"S{i}"): i + 1.0 for j in ("J", "K") for i in range(4)}
    ranks |= {("K", "P", "S0"): 2.0, ("K", "P", "S1"): 1.0}
    years = {f"S{i}": float(i) for i in range(4)}
    ways = {"S0": "drag", "S1": "compare", "S2": "compare", "S9": "key"}
    answers = (("equal", "left"), ("better", "left"), ("worse", "right"), ("worse", "left"))
    mine = Placement("J", "P", 1, 1, ("S3", "S0", "S1", "S2"), ways, {"S0": "unsure"}, answers)
    # Another occasion, and a task that nobody ranked, are not what is analyzed.
    others = [replace(mine, occasion=2), replace(mine, problem="Q")]
    result = quem.analyze(_with(study_of(ranks, years), mine, *others)).findings.placing
    assert result is not None
    assert [(w.level, w.n, w.share, w.n_compared) for w in result.ways] == [
        ("compare", 2, 0.25, 2),
        ("drag", 1, 0.125, 1),
        (None, 5, 0.625, 5),
    ]
    assert [w.same_order for w in result.ways] == pytest.approx(
        [(2 / 3 + 1) / 2, 2 / 3, (1 + 2 / 3 + 2 / 3 + 1 + 1) / 5]
    )
    assert [(s.level, s.n) for s in result.sure] == [("unsure", 1), (None, 7)]
    assert result.answers is not None
    assert (result.answers.n, result.answers.share_equal) == (4, 0.25)
    assert result.answers.share_left == 0.75
    assert result.queue is None  # only one judge has a queue


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A closed session in which the first judge compared, and the others did not."""
    study = write_judging_study(tmp_path, judges=3, judging="{repeat: 1}")
    hold_session(study).close()
    close(study)
    return study


def test_a_session_says_how_its_solutions_were_placed(session: Path) -> None:
    """The store's answers reach analysis.json and the report, and change nothing else."""
    study = quem.load_study(session, kind="experience")
    analysis = quem.analyze(study)
    document = json.loads(json_text(analysis.to_dict()))
    assert mistakes(document) == []
    found = document["placing"]
    assert {way["way"]: way["n"] for way in found["ways"]} == {"compare": 6, "drag": 2, None: 16}
    assert sum(way["share"] for way in found["ways"]) == pytest.approx(1)
    assert {level["sure"]: level["n"] for level in found["sure"]} == {"unsure": 2, None: 22}
    # The repeated task of the first judge does not count.
    assert found["answers"] == {"n": 8, "share_equal": 0.25, "share_left": 0.5}
    assert found["queue"]["n"] == 24
    page = analysis.to_html()
    for words in ("How solutions were placed", "Comparing", "Dragging", "Not recorded", "Unsure"):
        assert words in page
    assert "Judges compared two solutions 8 times: 25% of the answers" in page
    plain = quem.analyze(_with(study))
    rest = json.loads(json_text(plain.to_dict()))
    del document["placing"]
    assert document == rest
    assert plain.summary() == analysis.summary()
