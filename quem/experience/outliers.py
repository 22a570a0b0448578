"""Subjects who decide the skill function: veterans, and those who lie far from it.

Leverage and DFFITS are not used: with few subjects they fire in most blameless studies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Of the half-width of the interval, by how much one subject may change the estimate.
DECISIVE = 1 / 3
_FEWEST_SUBJECTS = 6
_LEVEL = 0.05


def veteran(experience: Floats) -> NDArray[np.int64]:
    """Find the subject who is far from all others in experience, in one study or many.

    The gap between the most, or least, experienced subject and the next exceeds half of the
    whole range.

    Shapes: `experience` (..., n).
    """
    n = experience.shape[-1]
    if n < _FEWEST_SUBJECTS:
        return np.full(experience.shape[:-1], -1)
    order = np.argsort(experience, axis=-1)
    ordered = np.take_along_axis(experience, order, axis=-1)
    half = (ordered[..., -1] - ordered[..., 0]) / 2
    most = ordered[..., -1] - ordered[..., -2] > half
    least = ordered[..., 1] - ordered[..., 0] > half
    return np.where(most, order[..., -1], np.where(least, order[..., 0], -1))


def outlying(studentized: Floats, df: int) -> NDArray[np.bool_]:
    r"""Tell which subjects lie too far from the skill function, by Bonferroni's test.

    Shapes: `studentized` (..., n).
    """
    n = studentized.shape[-1]
    if df < 2:  # noqa: PLR2004  nothing is left to measure by
        return np.zeros(studentized.shape, dtype=bool)
    return np.asarray(np.abs(studentized) > stdtrit(df - 1, 1 - _LEVEL / (2 * n)))
