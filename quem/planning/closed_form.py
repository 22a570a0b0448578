"""How narrow an interval a design gives, and its power to distinguish two systems.

The model is that of `quem.experience.simulation`. All functions take arrays of any shapes that
broadcast, so that thousands of designs cost no more than one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import nctdtr, stdtr, stdtrit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from quem.experience.simulation import Noise

__all__ = [
    "average_variance",
    "half_width",
    "largest_variance",
    "least_half_width",
    "power",
    "subjects_needed",
]

_NODES = 31
_TEST_LEVEL = 0.05
# Above it the noncentral t is 1 to all digits, and its series would not converge.
_CERTAIN = 35.0
_MOST_SUBJECTS = 100_000


def average_variance(
    noise: Noise, judges: ArrayLike, problems: ArrayLike, *, person: bool = True
) -> NDArray[np.float64]:
    r"""How much the average quality of a solver differs from the solver's experience.

    .. math:: V = \sigma_{person}^2 + \frac{\sigma_{solution}^2}{P}
        + \frac{\sigma_{judge}^2}{J P} + \frac{\sigma_{taste}^2}{J}

    Parameters
    ----------
    judges, problems : array of int
        J and P.
    person : bool
        Whether persons are counted, which no number of judges and problems averages out.

    Returns
    -------
    array of float
        In squared units of experience.
    """
    j, p = np.asarray(judges, dtype=float), np.asarray(problems, dtype=float)
    own = noise.person**2 if person else 0.0
    shared = noise.solution**2 / p + noise.judge**2 / (j * p) + noise.taste**2 / j
    return np.asarray(own + shared)


def half_width(
    subjects: ArrayLike,
    variance: ArrayLike,
    experience_variance: float,
    level: float = 0.95,
) -> NDArray[np.float64]:
    r"""Half of the expected prediction interval of a system.

    .. math:: h = t_{S-2} \sqrt{\left(1 + \frac{2}{S}\right) \frac{V_y V}{V_y + V}}

    A regression of experience y, of variance V_y, on y plus noise of variance V leaves the
    variance V_y V/(V_y + V). Of the 2/S one part is for the mean of the line, the other for its
    slope, in the mean over solvers like the subjects.

    Parameters
    ----------
    subjects : array of int
        S, 3 at least.
    variance : array of float
        V; see `average_variance`.
    experience_variance : float
        V_y, of the subjects' experience; (hi − lo)²/12 where it is uniform on [lo, hi].

    Returns
    -------
    array of float
        In units of experience: the interval is the estimate ± h.
    """
    s, v = np.asarray(subjects, dtype=float), np.asarray(variance, dtype=float)
    residual = experience_variance * v / (experience_variance + v)
    return np.asarray(stdtrit(s - 2, (1 + level) / 2) * np.sqrt((1 + 2 / s) * residual))


def least_half_width(
    noise: Noise, experience_variance: float, level: float = 0.95, subjects: float = np.inf
) -> float:
    """Half the interval that no number of judges and problems, and of subjects, makes narrower.

    Parameters
    ----------
    noise : Noise
        Of which only the person counts: everything else averages out.
    subjects : float
        How many there are; by default any number.
    """
    if np.isfinite(subjects):
        return float(half_width(subjects, noise.person**2, experience_variance, level))
    own = noise.person**2
    residual = experience_variance * own / (experience_variance + own)
    return float(stdtrit(1e9, (1 + level) / 2) * np.sqrt(residual))


def largest_variance(
    width: float, subjects: ArrayLike, experience_variance: float, level: float = 0.95
) -> NDArray[np.float64]:
    """How large V may be for the interval to be ± width; infinite where any is small enough.

    Parameters
    ----------
    width : float
        Half of the interval.
    subjects : array of int
    """
    s = np.asarray(subjects, dtype=float)
    allowed = width**2 / (stdtrit(s - 2, (1 + level) / 2) ** 2 * (1 + 2 / s))
    left = experience_variance - allowed
    with np.errstate(divide="ignore"):
        return np.asarray(
            np.where(left > 0, allowed * experience_variance / np.maximum(left, 1e-300), np.inf)
        )


def subjects_needed(
    width: float, variance: float, experience_variance: float, level: float = 0.95
) -> int | None:
    """How many subjects make the interval ± width; None where no number up to 100,000 does.

    Parameters
    ----------
    width : float
        Half of the interval.
    variance : float
        V; see `average_variance`.
    """
    if half_width(_MOST_SUBJECTS, variance, experience_variance, level) > width:
        return None
    few, enough = 2, _MOST_SUBJECTS
    while enough - few > 1:
        middle = (few + enough) // 2
        if half_width(middle, variance, experience_variance, level) <= width:
            enough = middle
        else:
            few = middle
    return enough


def power(
    noise: Noise, judges: ArrayLike, problems: ArrayLike, difference: float
) -> NDArray[np.float64]:
    r"""How often the t test over problems finds the better of two systems better.

    The mean difference D_p on a problem has variance 2(σ²_solution + σ²_judge/J) over problems.
    All D_p share the judges' tastes, of variance 2σ²_taste/J, which the test takes for part of
    the difference. So the statistic is noncentral t with P − 1 degrees of freedom, in the mean
    over tastes.

    Parameters
    ----------
    judges, problems : array of int
    difference : float
        How many years one system is better. For 0, the share of tests in which one given
        system seems better; the false alarms are twice as many.

    Returns
    -------
    array of float
        NaN for one problem, on which there is no test.
    """
    j, p = np.broadcast_arrays(
        np.asarray(judges, dtype=float)[..., np.newaxis],
        np.asarray(problems, dtype=float)[..., np.newaxis],
    )
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    shift = difference + np.sqrt(2 * noise.taste**2 / j) * nodes
    spread = np.sqrt(2 * (noise.solution**2 + noise.judge**2 / j) / p)
    df = np.where(p > 1, p - 1, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        noncentrality = np.clip(np.nan_to_num(shift / spread), -_CERTAIN, _CERTAIN)
    critical = stdtrit(df, 1 - _TEST_LEVEL / 2)
    probability = np.where(
        noncentrality == 0, stdtr(df, -critical), 1 - nctdtr(df, noncentrality, critical)
    )
    return np.asarray((probability * weights).sum(axis=-1) / weights.sum())
