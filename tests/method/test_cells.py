"""What becomes a cell: ties, occasions, failed and withheld solutions, and gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import quem

if TYPE_CHECKING:
    import pandas as pd

PEOPLE = {"A": 1.0, "B": 4.0, "C": 9.0}


def cells(
    rows: list[tuple[Any, ...]],
    people: dict[str, float] = PEOPLE,
    **keys: Any,  # noqa: ANN401  keys of a study file
) -> pd.DataFrame:
    """The table of ranks of a report; rows are judge, problem, solver, rank, and more."""
    names = ("judge", "problem", "solver", "rank", "occasion")
    table = [dict(zip(names, row, strict=False)) for row in rows]
    frame = quem.analyze(quem.study(table, people=people, systems=["K"], **keys)).ranks
    assert frame is not None
    return frame


def adjusted(frame: pd.DataFrame, judge: str = "J", problem: str = "P") -> dict[str, float]:
    """The adjusted rank of each solver in one judge's ranking of one problem."""
    of = frame[(frame["judge"] == judge) & (frame["problem"] == problem)]
    return dict(zip(of["solver"], of["adjusted_rank"], strict=True))


def test_the_example_of_the_paper() -> None:
    """1, 1, 2, 2, 2, 3 becomes 1.5, 1.5, 4, 4, 4, 6."""
    people = dict(zip("ABCDE", (1.0, 2.0, 3.0, 5.0, 8.0), strict=True))
    ranks = zip("ABCDEK", (1, 1, 2, 2, 2, 3), strict=True)
    found = cells([("J", "P", solver, rank) for solver, rank in ranks], people)
    assert [adjusted(found)[solver] for solver in "ABCDEK"] == [1.5, 1.5, 4, 4, 4, 6]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=5, max_size=9))
def test_adjusted_ranks_are_those_of_scipy(ranks: list[int]) -> None:
    """Ties are averaged, however they were written."""
    names = [f"S{at}" for at in range(len(ranks) - 1)]
    people = {name: float(at) for at, name in enumerate(names)}
    rows = [("J", "P", name, rank) for name, rank in zip([*names, "K"], ranks, strict=True)]
    # A second problem, on which the people differ.
    rows += [("J", "Q", name, at + 1) for at, name in enumerate([*names, "K"])]
    found = adjusted(cells(rows, people))
    assert [found[name] for name in [*names, "K"]] == stats.rankdata(ranks).tolist()


def test_failed_solutions_are_tied_last() -> None:
    """Two failed solutions share the ranks 1 and 2."""
    rows = [("J", "P", "B", 2), ("J", "P", "C", 1), ("J", "Q", "A", 1), ("J", "Q", "K", 2)]
    missing = [{"problem": "P", "solver": one, "reason": "failed"} for one in ("A", "K")]
    found = cells(rows, missing=missing)
    assert adjusted(found) == {"A": 1.5, "B": 4.0, "C": 3.0, "K": 1.5}
    assert set(found.loc[found["reason"] == "failed", "solver"]) == {"A", "K"}


def test_the_withheld_solver_takes_the_unused_rank() -> None:
    """It holds its place, and is in no average."""
    rows = [("J", "P", "A", 1), ("J", "P", "B", 3), ("J", "P", "C", 4), ("J", "P", "K", 5)]
    found = cells(rows, withheld=["W"])
    assert adjusted(found) == {"A": 1, "W": 2, "B": 3, "C": 4, "K": 5}
    assert found.loc[found["solver"] == "W", "reason"].tolist() == ["withheld"]


@pytest.mark.parametrize("withheld", [[], ["V", "W"]])
def test_ambiguous_gaps_are_told_and_not_filled(withheld: list[str]) -> None:
    """Nobody, or one of two, may have had the rank."""
    rows = [("J", "P", "A", 1), ("J", "P", "B", 3), ("J", "P", "C", 4), ("J", "P", "K", 5)]
    table = [dict(zip(("judge", "problem", "solver", "rank"), row, strict=True)) for row in rows]
    study = quem.study(table, people=PEOPLE, systems=["K"], withheld=withheld)
    result = quem.analyze(study)
    assert "J's ranking of P skips rank 2" in next(
        one.message for one in result.warnings if one.code == "rank-gap"
    )
    assert result.ranks is not None
    assert adjusted(result.ranks) == {"A": 1, "B": 2, "C": 3, "K": 4}


def test_the_first_occasion_counts() -> None:
    """A later ranking of the same task is no other cell."""
    first = zip("ABCK", (1, 2, 4, 3), strict=True)
    later = zip("ABCK", (4, 3, 2, 1), strict=True)
    rows = [("J", "P", solver, rank, 1) for solver, rank in first]
    rows += [("J", "P", solver, rank, 2) for solver, rank in later]
    found = cells(rows)
    assert len(found) == 4
    assert adjusted(found) == {"A": 1, "B": 2, "C": 4, "K": 3}
    assert np.unique(found["occasion"]).tolist() == [1]
