"""Pairs of systems: their difference in years, and the judges behind a lead."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.comparison.result import PairRow
from quem.method.difference import Difference, between, difference, lead_lost
from quem.method.reference import POINTS, Posterior
from quem.method.statement import why_silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from quem.comparison.systems import Measured, Trial
    from quem.method.cells import RankCells
    from quem.method.core import Core

    Floats = NDArray[np.float64]

_NOTHING = {"years": None, "interval": (None, None), "ahead": None}
_NEVER = {**dict.fromkeys(("won", "rankings", "judges", "ranks")), "n_rankings": 0, "n_judges": 0}


def compare_pairs(systems: Sequence[Measured], *, several: bool) -> Iterator[PairRow]:
    """Every pair of systems: of one study, or of different ones if there are several."""
    for a, b in combinations(systems, 2):
        if several and a.study == b.study:
            continue
        ids: Any = {"first": a.row.name, "second": b.row.name, "a_study": a.row.study}
        ids |= {"a": a.row.system, "b": b.row.system, "b_study": b.row.study}
        if several:
            yield PairRow(**ids, **_across(a, b), **_NEVER)
        else:
            yield PairRow(**ids, **_within(a, b), **_lead(a.trial.core.cells, a.of.at, b.of.at))


def _within(a: Measured, b: Measured) -> dict[str, Any]:
    core = a.trial.core
    if core.cells is None:
        return {**_NOTHING, "reason": "only average ranks are known."}
    if core.study.panel:
        return {**_NOTHING, "reason": "systems on a panel were not ranked with all people."}
    # Cells or their replacement have to show how much an average varies.
    by_parts = core.averages.problems is None and a.of.variation.more and b.of.variation.more
    if not by_parts and (core.averages.problems is None or core.cells.n_groups == 1):
        return {**_NOTHING, "reason": "one ranking does not show how much ranks vary."}
    return years_between(a.trial, b.trial)


def years_between(a: Trial, b: Trial) -> dict[str, Any]:
    """The difference of two trials of one study in years of the typical subject."""
    if reason := _silence(a, b):
        return {**_NOTHING, "reason": reason}
    core, z, errors = a.core, (a.z, b.z), (a.error, b.error)
    level, opens = core.settings.level, (a.reference.open, b.reference.open)
    found = difference(core.people, z, errors, core.population, level=level, opens=opens)
    return _columns(core, found)


def _across(a: Measured, b: Measured) -> dict[str, Any]:
    """The difference of systems of independent studies, on a grid over the range of years."""
    if reason := _silence(a.trial, b.trial):
        return {**_NOTHING, "reason": reason}
    core, ends = a.trial.core, [one.trial.core.population for one in (a, b)]
    grid = np.linspace(min(of.low for of in ends), max(of.high for of in ends), POINTS)
    of_a, of_b = (_on(grid, one.of.posterior) for one in (a, b))
    level, opens = core.settings.level, (a.of.reference.open, b.of.reference.open)
    return _columns(core, between(of_a, of_b, level=level, opens=opens))


def _on(grid: Floats, of: Posterior) -> Posterior:
    weights = np.interp(grid, of.grid, of.weights, left=0, right=0)
    return replace(of, grid=grid, weights=weights / weights.sum())


def _silence(*ends: Trial) -> str:
    """Why the years of one of them are not stated; empty if they are."""
    silent = (one for one in ends if not one.reference.says)
    return next((why_silent(one.core, one.name) for one in silent), "")


def _columns(core: Core, of: Difference) -> dict[str, Any]:
    if of.says:
        return {"years": of.years, "interval": of.interval, "ahead": of.ahead, "reason": ""}
    reason = (
        "Both rank at or above the most experienced subjects, so their difference cannot be "
        f"expressed in {core.unit}."
    )
    return {**_NOTHING, "reason": reason}


def _lead(cells: RankCells | None, a: int, b: int) -> dict[str, Any]:
    """Compare two solvers, by index, ranking by ranking."""
    if cells is None:
        return _NEVER
    rows_a, rows_b = (np.flatnonzero(cells.solver == solver) for solver in (a, b))
    _, in_a, in_b = np.intersect1d(cells.group[rows_a], cells.group[rows_b], return_indices=True)
    if not len(in_a):
        return _NEVER
    rows = rows_a[in_a]
    off = cells.adjusted[rows_b[in_b]] - cells.adjusted[rows]
    by_judge = np.bincount(np.unique(cells.judge[rows], return_inverse=True)[1], off)
    sign = np.sign(off.sum())
    return {
        "ranks": off.mean(),
        "n_rankings": len(off),
        "n_judges": len(by_judge),
        "won": ((off > 0) + 0.5 * (off == 0)).mean(),
        "rankings": lead_lost(sign * off) or None,
        "judges": lead_lost(sign * by_judge) or None,
    }
