"""How narrow an interval a design gives, and its power to distinguish two systems.

The model is that of `quem.experience.simulation`. All functions take arrays of any shapes that
broadcast, so that thousands of designs cost no more than one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtri, ndtr, ndtri, stdtrit

from quem.comparison.automatic import automatic_variance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from quem.experience.simulation import Noise

    Floats = NDArray[np.float64]

_TEST_LEVEL = 0.05
# Points at which a power is a mean, and of how many designs at once.
_POINTS = 512
_AT_ONCE = 1024
# Degrees of freedom from which the approximation of a chi-square is as good.
_MANY = 60.0
_MOST_SUBJECTS = 100_000


def average_variance(
    noise: Noise, judges: ArrayLike, problems: ArrayLike, *, person: bool = True
) -> NDArray[np.float64]:
    r"""How much the average quality of a solver differs from the solver's experience.

    .. math:: V = \sigma_{person}^2 + \frac{\sigma_{solution}^2}{P}
        + \frac{\sigma_{judge}^2}{J P} + \frac{\sigma_{taste}^2}{J}
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
    """
    s, v = np.asarray(subjects, dtype=float), np.asarray(variance, dtype=float)
    residual = experience_variance * v / (experience_variance + v)
    return np.asarray(stdtrit(s - 2, (1 + level) / 2) * np.sqrt((1 + 2 / s) * residual))


def least_half_width(
    noise: Noise, experience_variance: float, level: float = 0.95, subjects: float = np.inf
) -> float:
    """Half the interval that no number of judges and problems, and of subjects, makes narrower."""
    if np.isfinite(subjects):
        return float(half_width(subjects, noise.person**2, experience_variance, level))
    own = noise.person**2
    residual = experience_variance * own / (experience_variance + own)
    return float(stdtrit(1e9, (1 + level) / 2) * np.sqrt(residual))


def largest_variance(
    width: float, subjects: ArrayLike, experience_variance: float, level: float = 0.95
) -> NDArray[np.float64]:
    """How large V may be for the interval to be ± width; infinite where any is small enough."""
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
    """How many subjects make the interval ± width; None where no number up to 100,000 does."""
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
    r"""How often the automatic test finds the better of two systems better.

    The difference of two systems in a cell is D, and the judge's taste, the problem's solution,
    and the rest of the two, of variances :math:`2\sigma^2`. The mean over the cells is normal,
    and independent of the mean squares of problems, of judges, and of the rest, which are
    chi-squares and decide on the test and its variance
    (`quem.comparison.automatic.automatic_variance`). The power is the mean over them, at evenly
    spread points of their quantiles.
    """
    j, p = np.broadcast_arrays(
        np.asarray(judges, dtype=np.float64), np.asarray(problems, dtype=np.float64)
    )
    found = [
        _power(noise, j.ravel()[at : at + _AT_ONCE], p.ravel()[at : at + _AT_ONCE], difference)
        for at in range(0, j.size, _AT_ONCE)
    ]
    return np.concatenate(found).reshape(j.shape)


def _power(noise: Noise, judges: Floats, problems: Floats, difference: float) -> Floats:
    j, p = judges[:, np.newaxis], np.where(problems > 1, problems, 2)[:, np.newaxis]
    rest, solution, taste = (2 * of**2 for of in (noise.judge, noise.solution, noise.taste))
    total = rest + j * solution + p * taste
    freedom = p - 1, j - 1, (j - 1) * (p - 1)
    expected = rest + j * solution, rest + p * taste, np.full(j.shape, rest)
    squares = tuple(
        of * _mean_square(df, at) for of, df, at in zip(expected, freedom, _points(), strict=True)
    )
    variance, df, _ = automatic_variance((squares[0], squares[1], squares[2]), j, p)
    # The critical value as a function of 1/df, which is all but straight.
    critical = np.interp(1 / df, *_critical_values())
    with np.errstate(divide="ignore", invalid="ignore"):
        ahead = (difference - critical * np.sqrt(variance)) / np.sqrt(total / (j * p))
    # Without any noise there is nothing to be wrong about.
    found = ndtr(np.where(np.isnan(ahead), -np.inf, ahead)).mean(axis=1)
    return np.where(problems > 1, found, np.nan)


def _mean_square(df: Floats, points: Floats) -> Floats:
    """Quantiles of a chi-square over its degrees of freedom (Wilson & Hilferty 1931 for many)."""
    # The same degrees of freedom have the same quantiles.
    known, at = np.unique(np.maximum(df, 1.0), return_inverse=True)
    known = known[:, np.newaxis]
    share = 2 / (9 * known)
    found = np.maximum(1 - share + ndtri(points) * np.sqrt(share), 0.0) ** 3
    few = known[:, 0] <= _MANY
    found[few] = chdtri(known[few], 1 - points) / known[few]
    return np.asarray(found[at.ravel()])


@cache
def _points() -> Floats:
    """Evenly spread points of a cube, shape (3, 1, points): the R3 sequence (Roberts 2018)."""
    # The root of x^4 = x + 1.
    root = 1.2207440846057596
    steps = root ** -np.arange(1.0, 4.0)[:, np.newaxis, np.newaxis]
    return np.asarray((0.5 + steps * np.arange(1, _POINTS + 1)) % 1)


@cache
def _critical_values() -> tuple[Floats, Floats]:
    """Of t, two-sided, on a grid of 1/df from 0 to 1."""
    inverse = np.linspace(0.0, 1.0, 4097)
    return inverse, np.asarray(stdtrit(1 / np.maximum(inverse, 1e-9), 1 - _TEST_LEVEL / 2), float)
