"""Groups that a judge saw again: what counts, and what is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import quem
from tests.examples import RANKS, study_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.examples import Cell

Row = tuple["Cell", int, object]  # judge, problem and solver; occasion; rank
FIRST: list[Row] = [(cell, 1, rank) for cell, rank in RANKS.items()]


def table_of(rows: list[Row]) -> str:
    """Write rows as a long table."""
    lines = [",".join(map(str, (*cell, occasion, rank))) for cell, occasion, rank in rows]
    return "\n".join(["judge,problem,solver,occasion,rank", *lines]) + "\n"


def messages(path: Path) -> list[str]:
    """Analyse a study and give what is said of its occasions."""
    analysis = quem.analyze(quem.load_study(path, kind="experience"))
    return [d.message for d in analysis.warnings if d.code == "first-occasion-missing"]


def estimate(path: Path) -> float:
    """Give the estimate of the example's system."""
    result = quem.analyze(quem.load_study(path, kind="experience"))
    return float(result.estimates["paper_experience"].item())


def test_a_part_of_a_group_may_be_repeated(make_study: Callable[..., Path]) -> None:
    """Second ranks of some solutions need no warning, and change no estimate."""
    plain = estimate(make_study(study_with()))
    again: list[Row] = [(("J1", "P1", s), 2, r) for s, r in (("S1", 2), ("S4", 1), ("sys", 3))]
    path = make_study(study_with(), rankings__csv=table_of(FIRST + again))
    assert messages(path) == []
    assert estimate(path) == plain


def test_a_group_without_a_first_occasion_is_told(make_study: Callable[..., Path]) -> None:
    """It is analysed by the earliest that it has, and named."""
    plain = estimate(make_study(study_with()))
    late = [(c, 3 if c[:2] == ("J2", "P1") else 1, r) for c, _, r in FIRST]
    later = [(c, 4, 8 - int(str(r))) for c, _, r in FIRST if c[:2] == ("J2", "P1")]
    path = make_study(study_with(), rankings__csv=table_of([*late, *later]))
    assert messages(path) == [
        "J2 on P1 (occasion 3) has no first occasion; the earliest counts as the first"
    ]
    assert estimate(path) == plain


def test_a_solution_ranked_only_later_is_told(make_study: Callable[..., Path]) -> None:
    """Its rank does not count, which a wrong number in the column would hide."""
    rows = [(c, 2 if c == ("J1", "P1", "S3") else 1, r) for c, _, r in FIRST]
    path = make_study(study_with(), rankings__csv=table_of(rows))
    assert messages(path) == [
        "S3 by J1 on P1 is ranked on a later occasion only, though the group has an earlier one; "
        "this rank does not count"
    ]
    averages = quem.analyze(quem.load_study(path, kind="experience")).averages.set_index("solver")
    assert averages.loc["S3", "n_ranks"] == 3
