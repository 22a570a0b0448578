"""The difference of two systems of one study in years.

Estimate and interval come from one method, so that the estimate is always inside its interval: the
difference in worth over the slope of worth on experience. The difference of the two experience
estimates, which shrinks toward 0, and that by calibration are given beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import fdtrc, stdtrit

from quem.comparison.automatic import crossed_variance
from quem.experience.cells import tabulate
from quem.experience.components import Incidence, components
from quem.experience.estimate import calibrate
from quem.experience.expected_ranks import fit_worths
from quem.experience.hierarchical import cell_errors, worth_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.averages import Averages
    from quem.experience.cells import RankCells
    from quem.experience.expected_ranks import Worths
    from quem.experience.skill import SkillFunction

    Floats = NDArray[np.float64]

# Where the judges' tastes for the two systems are larger than those for all solvers at this level,
# they are estimated from these two alone. Of two judges the test sees little.
_TASTE_LEVEL, _TASTE_LEVEL_OF_TWO = 0.2, 0.3
# The same for how much the two vary over problems.
_JAGGED_LEVEL = 0.05


@dataclass(frozen=True)
class WorthDifferences:
    """Of b studies, the difference of one pair of systems by worths."""

    # Of shape (b,): NaN where the interval is unbounded, which is where worth hardly rises with
    # experience
    years: Floats
    low: Floats
    high: Floats
    df: Floats  # of shape (b,): degrees of freedom of the interval
    variance: Floats  # of shape (b,): of the difference in worth
    # Of shape (b,): of the tests that judges' tastes for the two, and how the two vary over
    # problems, are as for all solvers
    p_taste: Floats
    p_jagged: Floats


def worth_differences(
    ranks: Floats, experience: Floats, a: int, b: int, *, level: float
) -> WorthDifferences:
    r"""Compare two systems of each of many studies by worths.

    Worth is regressed on experience over the subjects, :math:`\theta = c_0 + c y`. The
    difference is :math:`D/c` with :math:`D = \theta_a - \theta_b`, and its interval is that of
    Fieller: all :math:`\delta` with :math:`(D - c\delta)^2 \le t^2 (v_D + \delta^2 v_c)`, t with
    Satterthwaite's degrees of freedom at :math:`D/c`.

    References
    ----------
    Fieller, E. C. (1954). Some problems in interval estimation. Journal of the Royal Statistical
    Society B, 16(2), 175-185.

    Shapes: `ranks` (b, judges, problems, solvers); `experience` (b, solvers).
    """
    worths = fit_worths(ranks)
    people = np.isfinite(experience[0])
    c, residual, s_yy = worth_line(experience[:, people], worths.worth[:, people])
    v_c, n = residual / s_yy, int(people.sum())
    d = worths.worth[:, a] - worths.worth[:, b]
    v_d, df_d, p_taste, p_jagged = _variance(ranks, worths, a, b)
    with np.errstate(invalid="ignore", divide="ignore"):
        v_slope = (d / c) ** 2 * v_c
        df = (v_d + v_slope) ** 2 / (v_d**2 / df_d + v_slope**2 / (n - 2))
        df = np.where(v_d + v_slope > 0, df, n - 2.0)
        t = stdtrit(df, (1 + level) / 2)
        divisor = c**2 - t**2 * v_c
        significant = c**2 > stdtrit(n - 2, (1 + level) / 2) ** 2 * v_c
        bounded = (divisor > 0) & significant & (c > 0)
        root = t * np.sqrt(v_d * divisor + v_c * d**2)
        ends = [(d * c - root) / divisor, (d * c + root) / divisor]
        years, low, high = (np.where(bounded, value, np.nan) for value in (d / c, *ends))
    return WorthDifferences(years, low, high, df, v_d, p_taste, p_jagged)


def _variance(
    ranks: Floats, worths: Worths, a: int, b: int
) -> tuple[Floats, Floats, Floats, Floats]:
    r"""Give the variance of the difference of two worths, its df, and the two tests' p values.

    With the components of the cells' errors u (`quem.experience.hierarchical.cell_errors`),
    which are those of all solvers, or of the two alone where these are clearly larger, and
    the spread A, B, E of each system's cells,

    .. math:: v_D = \sum_{k = a, b}
              (\sigma^2_{SP} A_k + \sigma^2_{SJ} B_k + \sigma^2_E E_k)/\sqrt{I_k}

    with both components that a system has over problems and over judges, or at least with one
    of them: where no rank is missing, the mean squares
    :math:`\max(MS_{SP} + MS_{SJ} - MS_E, MS_{SP}, MS_{SJ})/(JP) (1/\sqrt{I_a} + 1/\sqrt{I_b})`.
    """
    n_judges, _, n_solvers = ranks.shape[1:]
    u, pair, incidence = cell_errors(ranks, worths), [a, b], Incidence.of(ranks)
    of = components(u)
    solution, taste = of.of_both - of.of_judges, of.of_both - of.of_problems
    rest = np.maximum(of.of_judges - taste, 0.0)
    pooled = _freedom(incidence, n_solvers)
    own = _of_pair(u[..., a] - u[..., b])
    level = _TASTE_LEVEL_OF_TWO if n_judges == 2 else _TASTE_LEVEL  # noqa: PLR2004
    with np.errstate(invalid="ignore", divide="ignore"):
        p_jagged = fdtrc(own.problems - 1, pooled[0], own.solution / (rest + n_judges * solution))
        p_taste = fdtrc(n_judges - 1, pooled[1], own.taste / (rest + own.problems * taste))
        is_jagged, is_own = p_jagged < _JAGGED_LEVEL, p_taste < level
        solution = np.where(is_jagged, (own.solution - rest) / n_judges, solution)
        taste = np.where(is_own, (own.taste - rest) / own.problems, taste)
        weight = 1 / np.sqrt(worths.information[:, pair])
        over_problems, over_judges, cells = (
            (share[:, pair] * weight).sum(axis=1) for share in incidence.spread
        )
    left = rest * cells
    freedom = (
        np.where(is_jagged, own.problems - 1, pooled[0]),
        np.where(is_own, n_judges - 1, pooled[1]),
        pooled[2],
    )
    parts = (solution * over_problems + left, taste * over_judges + left, left)
    variance, df = crossed_variance(parts, freedom)
    return variance, df, np.asarray(p_taste, float), np.asarray(p_jagged, float)


class _OfPair(NamedTuple):
    """Mean squares of two systems alone, each shape (b,), and on how many problems."""

    solution: Floats
    taste: Floats
    problems: NDArray[np.int64]


def _of_pair(difference: Floats) -> _OfPair:
    """Of the problems on which all judges ranked both; shape (b, judges, problems)."""
    n_judges = difference.shape[1]
    common = np.asarray(np.isfinite(difference).all(axis=1))
    count = common.sum(axis=1)
    held = np.where(common[:, np.newaxis], difference, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        by_judge = held.sum(axis=2) / count[:, np.newaxis]
        center = by_judge.mean(axis=1)
        of_judge = by_judge - center[:, np.newaxis]
        of_problem = np.where(common, held.mean(axis=1) - center[:, np.newaxis], 0.0)
        solution = n_judges * (of_problem**2).sum(axis=1) / (count - 1) / 2
        taste = count * (of_judge**2).sum(axis=1) / (n_judges - 1) / 2
    return _OfPair(solution, taste, count)


def _freedom(incidence: Incidence, n_solvers: int) -> tuple[Floats, Floats, Floats]:
    """Degrees of freedom of solver by problem, solver by judge, and the rest, over all solvers."""
    problems, judges = ((of > 0).sum(axis=-2) for of in (incidence.problems, incidence.judges))
    cells = incidence.problems.sum(axis=-2)
    # In each cell the errors of all solvers add up to what is no difference of theirs.
    share = (n_solvers - 1) / n_solvers
    each = (problems - 1, judges - 1, cells - problems - judges + 1)
    of_problems, of_judges, rest = (share * np.maximum(of, 0).sum(axis=-1) for of in each)
    return of_problems, of_judges, rest


# What estimate and interval hold for in simulations (docs/explanation/differences.md); otherwise
# there are none.
_FEWEST_JUDGES, _FEWEST_PROBLEMS, _FEWEST_SUBJECTS = 2, 3, 7
_MOST_PROBLEMS_OF_TWO = 6
_NOT_RISING = "quality does not rise clearly enough with experience"
_NONE = float("nan")


@dataclass(frozen=True)
class Difference:
    """How many years two systems differ."""

    # The difference in worth over the slope of worth on experience, which is nearly unbiased; NaN
    # where the interval is None.
    years: float
    interval: tuple[float, float] | None  # around `years`
    reason: str  # why there is neither
    # The difference of the two experience estimates, which shrinks toward 0 and is not the center
    # of the interval.
    regressed: float
    # The difference in average rank over the slope of rank on experience; biased away from 0, and
    # NaN where that slope is not significant.
    calibrated: float


def difference_interval(
    cells: RankCells | None,
    averages: Averages,
    function: SkillFunction,
    a: str,
    b: str,
    *,
    level: float,
) -> Difference:
    """Say how many years system `a` is ahead of system `b` of the same study."""
    x_a, x_b = averages.average[[averages.solvers.index(a), averages.solvers.index(b)]]
    ahead = float(x_a - x_b) if cells is None else _ahead(cells, a, b)
    others = years_between(function, float(x_a + x_b) / 2, ahead, level)
    reason = "the study has averages only" if cells is None else _unfit(cells, averages)
    if cells is None or reason:
        return Difference(_NONE, None, reason, *others)
    table = tabulate(cells)
    ranks, ids = table.ranks, [cells.solvers[solver] for solver in table.solvers]
    pair = [ids.index(a), ids.index(b)]
    if reason := _too_few(ranks[..., pair]):
        return Difference(_NONE, None, reason, *others)
    known = dict(zip(averages.solvers, averages.experience, strict=True))
    experience = np.array([known[solver] for solver in ids])
    by_worths = worth_differences(ranks[np.newaxis], experience[np.newaxis], *pair, level=level)
    low, high = float(by_worths.low[0]), float(by_worths.high[0])
    if np.isnan(low):
        return Difference(_NONE, None, _NOT_RISING, *others)
    return Difference(float(by_worths.years[0]), (low, high), "", *others)


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


def _too_few(pair: Floats) -> str:
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
    """
    ends = np.array([middle - ahead / 2, middle + ahead / 2])
    if not np.isfinite(ends).all() or (function.form.positive and ends.min() <= 0):
        return float("nan"), float("nan")
    low, high = function.predict(ends)
    by_calibration = [calibrate(function, float(x), level) for x in ends]
    bounded = [c.experience for c in by_calibration if c is not None and c.bounded]
    both = len(bounded) == len(ends)
    return float(high - low), bounded[1] - bounded[0] if both else float("nan")
