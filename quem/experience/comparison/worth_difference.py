"""The difference of two systems by worths, of many studies at once, with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc, stdtrit

from quem.experience.worths import fit_worths

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Differences", "worth_differences"]

# Where the judges' tastes for the two systems stand out at this level, they are estimated
# from these two alone and not from all solvers. Of two judges the test sees little.
_TASTE_LEVEL, _TASTE_LEVEL_OF_TWO = 0.2, 0.3


@dataclass(frozen=True)
class Differences:
    """Of b studies, the difference of one pair of systems by worths.

    Parameters
    ----------
    years, low, high : array of float, shape (b,)
        NaN where the interval is unbounded, which is where worth hardly rises with experience.
    """

    years: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def worth_differences(
    ranks: NDArray[np.float64], experience: NDArray[np.float64], a: int, b: int, *, level: float
) -> Differences:
    r"""Compare two systems of each of many studies by worths.

    Worth is regressed on experience over the subjects, :math:`\theta = c_0 + c y`. The
    difference is :math:`D/c` with :math:`D = \theta_a - \theta_b`, and its interval is that of
    Fieller: all :math:`\delta` with :math:`(D - c\delta)^2 \le t^2 (v_D + \delta^2 v_c)`, t with
    Satterthwaite's degrees of freedom at :math:`D/c`.

    Parameters
    ----------
    ranks : array of float, shape (b, judges, problems, solvers)
        Adjusted ranks; NaN where a solver was not ranked.
    experience : array of float, shape (b, solvers)
        NaN for all but subjects, the same solvers in each study.
    a, b : int
        The systems.
    level : float
    """
    worths = fit_worths(ranks)
    people = np.isfinite(experience[0])
    theta, y = worths.worth[:, people], experience[:, people]
    n = y.shape[1]
    y = y - y.mean(axis=1, keepdims=True)
    s_yy = (y**2).sum(axis=1)
    c = (y * theta).sum(axis=1) / s_yy
    off = theta - theta.mean(axis=1, keepdims=True) - c[:, np.newaxis] * y
    v_c = (off**2).sum(axis=1) / (n - 2) / s_yy

    d = worths.worth[:, a] - worths.worth[:, b]
    v_d, df_d = _variance(worths.cells, a, b)
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
    return Differences(years, low, high)


def _variance(
    cells: NDArray[np.float64], a: int, b: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The variance of the difference of two worths, and its degrees of freedom.

    Judges and problems are both random. The mean squares of solver by problem, solver by judge
    and the rest are pooled over all solvers, each in the problems that all judges ranked it on.
    """
    n_judges, _, n_solvers = cells.shape[1:]
    complete = np.asarray(np.isfinite(cells).all(axis=1))
    z = np.where(complete[:, np.newaxis], cells, 0.0)
    n_problems = complete.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_judge = np.nan_to_num(z.sum(axis=2) / n_problems[:, np.newaxis])
    of_problem, of_all = z.mean(axis=1), of_judge.mean(axis=1)
    inside = complete[:, np.newaxis]
    rest = z - of_judge[:, :, np.newaxis] - (of_problem - of_all[:, np.newaxis])[:, np.newaxis]
    squares = {
        "judge": n_problems * ((of_judge - of_all[:, np.newaxis]) ** 2).sum(axis=1),
        "problem": n_judges
        * (np.where(complete, of_problem - of_all[:, np.newaxis], 0.0) ** 2).sum(axis=1),
        "rest": (np.where(inside, rest, 0.0) ** 2).sum(axis=(1, 2)),
    }
    # The worths of a study add up to 0, which takes one solver's share of all freedom.
    share = (n_solvers - 1) / n_solvers
    some, more = n_problems > 0, np.maximum(n_problems - 1, 0)
    freedom = {
        "judge": (n_judges - 1) * some,
        "problem": more,
        "rest": (n_judges - 1) * more,
    }
    df = {name: share * values.sum(axis=1) for name, values in freedom.items()}
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = {name: values.sum(axis=1) / df[name] for name, values in squares.items()}
        usual = n_problems.sum(axis=1) / some.sum(axis=1)
        common = (complete[..., a] & complete[..., b]).sum(axis=1)
        own = _own_taste(cells[..., a] - cells[..., b], common)
        level = _TASTE_LEVEL_OF_TWO if n_judges == 2 else _TASTE_LEVEL  # noqa: PLR2004
        stands_out = fdtrc(n_judges - 1, df["judge"], own / mean["judge"]) < level
        judge = np.where(stands_out, own, mean["judge"])
        df_judge = np.where(stands_out, n_judges - 1, df["judge"])
        per_judge = 2 / n_judges / np.where(stands_out, common, usual)
        per_problem = (1 / n_problems[:, a] + 1 / n_problems[:, b]) / n_judges
        parts = (per_problem * mean["problem"], per_judge * judge, -per_judge * mean["rest"])
        variance = np.maximum(sum(parts), per_problem * mean["rest"])
        freedoms = (df["problem"], df_judge, df["rest"])
        spread = sum(part**2 / of for part, of in zip(parts, freedoms, strict=True))
        return variance, np.maximum(np.where(spread > 0, sum(parts) ** 2 / spread, 1.0), 1.0)


def _own_taste(difference: NDArray[np.float64], common: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean square of judge by system, of two systems alone."""
    complete = np.asarray(np.isfinite(difference).all(axis=1))[:, np.newaxis]
    of_judge = np.where(complete, difference, 0.0).sum(axis=2) / common[:, np.newaxis]
    return np.asarray(common * of_judge.var(axis=1, ddof=1) / 2)
