"""What becomes a cell: occasions, blocks, failed and withheld solutions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import quem
from tests.experience.made import cells_of, random_ranks, study_of

if TYPE_CHECKING:
    from quem.rankings.loading import Study
    from tests.experience.made import Cell

YEARS = {"A": 1.0, "B": 4.0, "C": 9.0}


def one_group(**solvers: float | None) -> dict[Cell, float | None]:
    """Ranks of one judge on one problem."""
    return {("J", "P", solver): rank for solver, rank in solvers.items()}


def placed(study: Study, **settings: Any) -> dict[str, float]:  # noqa: ANN401
    """Adjusted rank of each solver in the first group."""
    cells = cells_of(study, **settings)
    return {
        cells.solvers[s]: float(r)
        for s, r, g in zip(cells.solver, cells.adjusted, cells.group, strict=True)
        if g == 0
    }


def test_failed_solutions_are_tied_last() -> None:
    """Two failed solutions share the ranks 1 and 2, whoever says that they failed."""
    wanted = {"A": 1.5, "B": 4.0, "C": 3.0, "K": 1.5}
    assert placed(study_of(one_group(A=None, B=2, C=1, K=None), YEARS)) == wanted
    ranks = one_group(A=None, B=2, C=1)
    years = {**YEARS}
    study = study_of({**ranks, ("J", "Q", "K"): 1.0}, years, failed=[("P", "K")])
    assert placed(study) == wanted


def test_a_declared_failure_is_placed_once_a_judge() -> None:
    """Every judge of the problem has it last, in his first block, and only there."""
    ranks: dict[Cell, float | None] = {}
    blocks: dict[Cell, int] = {}
    for judge, first in (("J1", 1), ("J2", 3)):
        for solver, block in (("C", first + 1), ("K", first + 1), ("A", first), ("B", first)):
            ranks[judge, "P", solver] = 1.0 + (solver in "BK")
            blocks[judge, "P", solver] = block
    study = study_of(ranks, {**YEARS, "F": 2.0}, blocks=blocks, failed=[("P", "F")])
    cells = cells_of(study)
    f = cells.solvers.index("F")
    assert sorted(cells.block[cells.solver == f].tolist()) == [1, 3]
    assert cells.adjusted[cells.solver == f].tolist() == [1.0, 1.0]
    assert cells.n_groups == 4
    assert sorted(np.bincount(cells.group).tolist()) == [2, 2, 3, 3]
    assert not cells.judged()[cells.solver == f].any()


def test_each_block_is_a_group() -> None:
    """Ranks of two blocks of one judge and problem are not compared."""
    ranks = one_group(A=1, B=2, C=1, K=2)
    blocks = {("J", "P", "C"): 2, ("J", "P", "K"): 2}
    cells = cells_of(study_of(ranks, YEARS, blocks=blocks))
    assert cells.adjusted.tolist() == [1, 2, 1, 2]
    assert cells.size.tolist() == [2] * 4


def test_the_withheld_solver_takes_the_unused_rank() -> None:
    """Without a rank of its own it takes the only gap; with one it keeps it."""
    study = study_of(one_group(A=1, B=2, C=4, K=5), YEARS, withheld=["W"])
    assert placed(study) == {"A": 1, "B": 2, "C": 4, "K": 5, "W": 3}
    assert cells_of(study).gaps == ()
    assert not cells_of(study).judged()[-1]
    study = study_of(one_group(A=1, B=2, C=4, K=5, W=9), YEARS, withheld=["W"])
    assert placed(study) == {"A": 1, "B": 2, "C": 3, "K": 4, "W": 5}


def test_ambiguous_gaps_are_told_and_not_filled() -> None:
    """Two gaps for one withheld solver, or one for two, are left to the reader."""
    ranks = one_group(A=1, B=2, C=4, K=6)
    (gap,) = cells_of(study_of(ranks, YEARS, withheld=["W"])).gaps
    assert gap.ranks == (3, 5)
    ranks = one_group(A=1, B=2, C=4, K=5)
    study = study_of(ranks, YEARS, withheld=["W", "V"])
    assert cells_of(study).gaps[0].ranks == (3,)
    assert placed(study) == {"A": 1, "B": 2, "C": 3, "K": 4}


def test_references_are_the_humans() -> None:
    """With `reference: humans` systems and withheld solvers move nobody."""
    ranks = one_group(A=1, B=3, C=6, K=5, L=2, W=4)
    places = placed(study_of(ranks, YEARS, withheld=["W"]), reference="humans")
    want = {"A": 1, "B": 2, "C": 3, "K": 1 + 2 * 2 / 3, "L": 1 + 1 * 2 / 3, "W": 1 + 2 * 2 / 3}
    assert places == pytest.approx(want)


def test_a_group_without_humans_says_nothing_under_reference_humans() -> None:
    """Its systems have no place there, and their averages come from the other groups."""
    ranks, years = random_ranks(np.random.default_rng(3), systems=2)
    ranks |= {("J0", "P9", "K0"): 1.0, ("J0", "P9", "K1"): 2.0}
    without = {cell: rank for cell, rank in ranks.items() if cell[1] != "P9"}
    for normalize in ("none", "expected", "percentile"):
        findings, wanted = (
            quem.analyze(
                study_of(r, years, reference="humans", normalize=normalize, bootstrap=100)
            ).findings
            for r in (ranks, without)
        )
        # The model ranks everybody among all, whoever is the reference.
        alike = [[replace(e, model=None) for e in f.estimates] for f in (findings, wanted)]
        assert repr(alike[0]) == repr(alike[1])
