"""Every two systems of one study, compared where the same judges ranked both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from quem.comparison.pair_tests import TESTS, pair_up, run_test, worth_differences
from quem.experience.cells import tabulate
from quem.experience.estimate import calibrate
from quem.lists.inference import holm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quem.comparison.pair_tests import PairTest, RankDifferences
    from quem.experience.averages import Averages
    from quem.experience.cells import RankCells
    from quem.experience.estimate import Interval
    from quem.experience.result import ExperienceFindings
    from quem.experience.skill import SkillFunction

__all__ = ["Difference", "Pair", "compare_pairs", "difference_interval", "years_between"]


@dataclass(frozen=True)
class Pair:
    """Two systems of one study; every difference is b less a.

    Parameters
    ----------
    tests : dict of str to PairTest
        All of them.
    chosen : str
        The test that p values and intervals are taken from.
    p_holm : float
        The p value of the chosen test, adjusted for all that are reported with it.
    """

    a: str
    b: str
    paired: RankDifferences
    tests: dict[str, PairTest]
    chosen: str
    p_holm: float
    years: Difference

    @property
    def test(self) -> PairTest:
        """The chosen test."""
        return self.tests[self.chosen]

    @property
    def interval(self) -> Interval:
        """The interval of the difference in average rank.

        That of the t test over problems where the chosen test has none.
        """
        own = self.test.interval
        return own if np.isfinite(own).all() else self.tests["problem"].interval


def compare_pairs(findings: ExperienceFindings, systems: Sequence[str], test: str) -> list[Pair]:
    """Compare every two of some systems.

    Parameters
    ----------
    findings : ExperienceFindings
        Of a study of ranks.
    systems : sequence of str
        In the order in which later ones are compared with earlier ones.
    """
    pairs = [_compare(findings, a, b, test) for a, b in combinations(systems, 2)]
    adjusted = holm([pair.test.p for pair in pairs])
    return [replace(pair, p_holm=p) for pair, p in zip(pairs, adjusted, strict=True)]


def _compare(findings: ExperienceFindings, a: str, b: str, test: str) -> Pair:
    cells, settings = findings.cells, findings.settings
    assert cells is not None  # noqa: S101  studies of averages are refused before
    paired = pair_up(cells, a, b)
    tests = {
        name: run_test(
            name,
            paired,
            level=settings.level,
            permutations=settings.permutations,
            seed=settings.seed,
        )
        for name in TESTS
    }
    years = difference_interval(
        cells, findings.averages, findings.function, b, a, level=settings.level
    )
    return Pair(a, b, paired, tests, test, float("nan"), years)


# What the interval holds for in simulations (docs/explanation/differences.md); otherwise there
# is none.
_FEWEST_JUDGES, _FEWEST_PROBLEMS, _FEWEST_SUBJECTS = 2, 3, 7
_MOST_PROBLEMS_OF_TWO = 6


@dataclass(frozen=True)
class Difference:
    """How many years two systems differ.

    Parameters
    ----------
    years : float
        The difference of the two experience estimates, which shrinks toward 0.
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
    cells: RankCells | None,
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
    cells : RankCells or None
        None for a study of averages computed elsewhere.
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
    table = tabulate(cells)
    ranks, ids = table.ranks, [cells.solvers[solver] for solver in table.solvers]
    pair = [ids.index(a), ids.index(b)]
    if reason := _too_few(ranks[..., pair]):
        return replace(refused, reason=reason)
    known = dict(zip(averages.solvers, averages.experience, strict=True))
    experience = np.array([known[solver] for solver in ids])
    by_worths = worth_differences(ranks[np.newaxis], experience[np.newaxis], *pair, level=level)
    low, high = float(by_worths.low[0]), float(by_worths.high[0])
    if np.isnan(low):
        return replace(refused, reason="quality does not rise clearly enough with experience")
    return Difference(years, calibrated, float(by_worths.years[0]), (low, high))


def _unfit(cells: RankCells, averages: Averages) -> str:
    """Why a study has no intervals for differences, or nothing."""
    if cells.block.max(initial=1) > 1:
        return "groups were judged in blocks"
    if cells.is_large:
        return "the study is too large for it"
    subjects = len(averages.of_kind("subject"))
    if subjects < _FEWEST_SUBJECTS:
        return f"it is known to hold from {_FEWEST_SUBJECTS} subjects on, and there are {subjects}"
    return ""


def _too_few(pair: NDArray[np.float64]) -> str:
    """Why the ranks of two systems, shape (judges, problems, 2), do not suffice, or nothing."""
    if len(pair) < _FEWEST_JUDGES:
        return "with one judge, judge × solver variance cannot be separated from quality"
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


def _ahead(cells: RankCells, a: str, b: str) -> float:
    """The mean difference in score where both were ranked; NaN where they never met."""
    shape = (len(cells.judges), len(cells.problems), int(cells.block.max(initial=1)))
    scores = []
    for solver in (a, b):
        own = cells.solver == cells.solvers.index(solver)
        score = np.full(shape, np.nan)
        score[cells.judge[own], cells.problem[own], cells.block[own] - 1] = cells.score[own]
        scores.append(score)
    difference = scores[0] - scores[1]
    met = np.isfinite(difference)
    # The mean over problems, as the tests have it.
    total, count = np.where(met, difference, 0.0).sum(axis=(0, 2)), met.sum(axis=(0, 2))
    return float((total[count > 0] / count[count > 0]).mean()) if met.any() else float("nan")


def years_between(
    function: SkillFunction, middle: float, ahead: float, level: float
) -> tuple[float, float]:
    r"""Give a difference in average rank as years, by regression and by calibration.

    :math:`b_1 \bar D` and, where the slope :math:`c_1` of rank on experience is significant,
    :math:`\bar D/c_1`. For a curve, the difference of the skill function over
    :math:`\bar D` around the middle of both average ranks.

    Parameters
    ----------
    middle : float
        The average rank halfway between the two.
    ahead : float
        D-bar, the difference in average rank.
    level : float
        At which the slope has to be significant.

    Returns
    -------
    years, calibrated : float
        NaN where undefined.
    """
    ends = np.array([middle - ahead / 2, middle + ahead / 2])
    if not np.isfinite(ends).all() or (function.form.positive and ends.min() <= 0):
        return float("nan"), float("nan")
    low, high = function.predict(ends)
    by_calibration = [calibrate(function, float(x), level) for x in ends]
    bounded = [c.experience for c in by_calibration if c is not None and c.bounded]
    both = len(bounded) == len(ends)
    return float(high - low), bounded[1] - bounded[0] if both else float("nan")
