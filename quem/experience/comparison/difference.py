"""The difference of two systems in years, and when there is an interval for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from quem.experience.comparison.worth_difference import worth_differences
from quem.experience.comparison.years import years_between
from quem.experience.ranks import adjusted_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.averages import Averages
    from quem.experience.cells import Cells
    from quem.experience.skill import SkillFunction

__all__ = ["Difference", "difference_interval"]

# What the interval was found to hold for (docs/method.md); outside of it there is none.
_FEWEST_JUDGES, _FEWEST_PROBLEMS, _FEWEST_SUBJECTS = 2, 3, 7
_MOST_PROBLEMS_OF_TWO = 6
_MOST_CELLS = 20_000_000


@dataclass(frozen=True)
class Difference:
    """How many years two systems differ.

    Parameters
    ----------
    years : float
        The difference of the two experience estimates, which shrinks towards 0.
    calibrated : float
        The difference in average rank over the slope of rank on experience; biased away from
        0, and NaN where that slope is not significant.
    by_worths : float
        The difference in worth over the slope of worth on experience, which is nearly
        unbiased; NaN where the interval is.
    interval : (float, float) or None
        Around `by_worths`.
    reason : str
        Why there is no interval.
    """

    years: float
    calibrated: float
    by_worths: float
    interval: tuple[float, float] | None
    reason: str = ""


def difference_interval(
    cells: Cells | None,
    averages: Averages,
    function: SkillFunction,
    a: str,
    b: str,
    *,
    level: float,
) -> Difference:
    """Say how many years system `a` is ahead of system `b` of the same study.

    Parameters
    ----------
    cells : Cells or None
        None for a study of averages computed elsewhere.
    averages : Averages
    function : SkillFunction
    a, b : str
        Solver ids.
    level : float
        Of the interval, in (0, 1).
    """
    x_a, x_b = averages.average[[averages.solvers.index(a), averages.solvers.index(b)]]
    ahead = float(x_a - x_b) if cells is None else _ahead(cells, a, b)
    years, calibrated = years_between(function, float(x_a + x_b) / 2, ahead, level)
    refused = Difference(years, calibrated, float("nan"), None)
    if cells is None:
        return replace(refused, reason="the study has averages only")
    if reason := _unfit(cells, averages):
        return replace(refused, reason=reason)
    ranks, ids = _tensor(cells)
    pair = [ids.index(a), ids.index(b)]
    if reason := _too_few(ranks[..., pair]):
        return replace(refused, reason=reason)
    known = dict(zip(averages.solvers, averages.experience, strict=True))
    experience = np.array([known[solver] for solver in ids])
    found = worth_differences(ranks[np.newaxis], experience[np.newaxis], *pair, level=level)
    low, high = float(found.low[0]), float(found.high[0])
    if np.isnan(low):
        return replace(refused, reason="quality does not rise clearly enough with experience")
    return Difference(years, calibrated, float(found.years[0]), (low, high))


def _unfit(cells: Cells, averages: Averages) -> str:
    """Why a study has no intervals for differences, or nothing."""
    if cells.block.max(initial=1) > 1:
        return "groups were judged in blocks"
    if len(cells.judges) * len(cells.problems) * len(cells.solvers) > _MOST_CELLS:
        return "the study is too large for it"
    subjects = len(averages.of_kind("subject"))
    if subjects < _FEWEST_SUBJECTS:
        return f"it is known to hold from {_FEWEST_SUBJECTS} subjects on, and there are {subjects}"
    return ""


def _too_few(pair: NDArray[np.float64]) -> str:
    """Why the ranks of two systems, shape (judges, problems, 2), do not suffice, or nothing."""
    if len(pair) < _FEWEST_JUDGES:
        return "with one judge, taste cannot be told from quality"
    common = int(np.isfinite(pair).all(axis=(0, 2)).sum())
    if common < _FEWEST_PROBLEMS:
        there = f"there {'is' if common == 1 else 'are'} {common}"
        return f"it takes {_FEWEST_PROBLEMS} problems on which all judges ranked both; {there}"
    if len(pair) == _FEWEST_JUDGES and common > _MOST_PROBLEMS_OF_TWO:
        return (
            f"with two judges and more than {_MOST_PROBLEMS_OF_TWO} problems, a judge's taste "
            "for one of the systems weighs too much; ask a third judge"
        )
    return ""


def _ahead(cells: Cells, a: str, b: str) -> float:
    """The mean difference in score where both were ranked; NaN where they never met."""
    shape = (len(cells.judges), len(cells.problems), int(cells.block.max(initial=1)))
    scores = []
    for solver in (a, b):
        own = cells.solver == cells.solvers.index(solver)
        score = np.full(shape, np.nan)
        score[cells.judge[own], cells.problem[own], cells.block[own] - 1] = cells.score[own]
        scores.append(score)
    apart = scores[0] - scores[1]
    met = np.isfinite(apart)
    # The mean over problems, as the tests have it.
    total, count = np.where(met, apart, 0.0).sum(axis=(0, 2)), met.sum(axis=(0, 2))
    return float((total[count > 0] / count[count > 0]).mean()) if met.any() else float("nan")


def _tensor(cells: Cells) -> tuple[NDArray[np.float64], list[str]]:
    """Ranks among all solvers, shape (judges, problems, solvers), and whose columns they are."""
    adjusted = cells.adjusted
    if cells.reference != "all":
        adjusted, _ = adjusted_ranks(cells.group, cells.given)
    ranks = np.full((len(cells.judges), len(cells.problems), len(cells.solvers)), np.nan)
    ranks[cells.judge, cells.problem, cells.solver] = adjusted
    held = np.isfinite(ranks)
    there = held.any(axis=(0, 1))
    ranks = ranks[np.ix_(held.any(axis=(1, 2)), held.any(axis=(0, 2)), there)]
    return ranks, [
        solver for solver, is_there in zip(cells.solvers, there, strict=True) if is_there
    ]
