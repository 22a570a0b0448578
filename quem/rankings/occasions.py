"""Ranks of a later occasion that have no first one to be compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from quem.errors import Doubt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quem.rankings.table import Rankings

__all__ = ["occasion_doubts", "repeated"]

_GROUP = ["judge", "problem", "block"]
_MOST_NAMED = 3


def repeated(rankings: Rankings) -> pd.DataFrame:
    """Give the rows of the groups that hold ranks of a later occasion than 1.

    Of a large study that repeats a few groups these are few rows.

    Parameters
    ----------
    rankings : Rankings

    Returns
    -------
    DataFrame
        Columns judge, problem, block, occasion, solver (codes) and rank; indexed by row.
    """
    rows = np.flatnonzero(rankings.occasion > 1)
    if len(rows):
        key = rankings.judge * len(rankings.problems) + rankings.problem
        rows = np.flatnonzero(np.isin(key, np.unique(key[rows])))
    names = (*_GROUP, "occasion", "solver", "rank")
    frame = pd.DataFrame({name: getattr(rankings, name)[rows] for name in names}, index=rows)
    return frame[frame.groupby(_GROUP)["occasion"].transform("max") > 1]


def occasion_doubts(rankings: Rankings) -> Iterator[Doubt]:
    """Tell which groups and which single ranks are of a later occasion only.

    A group without a first occasion is analysed by the earliest that it has. A solution that
    the judge was not given on the first occasion of its group has no rank there.

    Parameters
    ----------
    rankings : Rankings
    """
    frame = repeated(rankings)
    if frame.empty:
        return
    frame["ranked"] = np.isfinite(frame["rank"]) | rankings.failed[frame.index]
    frame["first"] = frame.groupby(_GROUP)["occasion"].transform("min")
    frame["own"] = frame.groupby([*_GROUP, "solver"])["occasion"].transform("min")
    late = frame[frame["first"] > 1].drop_duplicates(_GROUP)
    if len(late):
        firsts = zip(late.index.tolist(), late["first"].tolist(), strict=True)
        named = [f"{_group(rankings, row)} (occasion {first})" for row, first in firsts]
        verb = "has" if len(late) == 1 else "have"
        message = f"{_few(named)} {verb} no first occasion; the earliest counts as the first"
        yield Doubt("first-occasion-missing", message)
    alone = frame[frame["ranked"] & (frame["own"] > frame["first"])]
    rows = alone.drop_duplicates([*_GROUP, "solver"]).index.tolist()
    if rows:
        named = [f"{rankings.solvers[rankings.solver[r]]} by {_group(rankings, r)}" for r in rows]
        verb, ranks = ("is", "this rank does") if len(rows) == 1 else ("are", "these ranks do")
        message = (
            f"{_few(named)} {verb} ranked on a later occasion only, though the group has an "
            f"earlier one; {ranks} not count"
        )
        yield Doubt("first-occasion-missing", message)


def _group(rankings: Rankings, row: int) -> str:
    """Name the group of a row: judge, problem and, where there are several, block."""
    judge, problem = rankings.judges[rankings.judge[row]], rankings.problems[rankings.problem[row]]
    several = rankings.block.max(initial=1) > 1
    return f"{judge} on {problem}{f', block {rankings.block[row]}' if several else ''}"


def _few(words: list[str]) -> str:
    """List the first few of some names."""
    shown = ", ".join(words[:_MOST_NAMED])
    return f"{shown} and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else shown
