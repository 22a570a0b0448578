"""A difference in average rank as years."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.experience.estimate import calibrate

if TYPE_CHECKING:
    from quem.experience.skill import SkillFunction

__all__ = ["years_between"]


def years_between(
    function: SkillFunction, middle: float, ahead: float, level: float
) -> tuple[float, float]:
    r"""Give a difference in average rank as years, by regression and by calibration.

    :math:`b_1 \bar D` and, where the slope :math:`c_1` of rank on experience is significant,
    :math:`\bar D/c_1`. For a curve, the difference of the skill function over
    :math:`\bar D` around the middle of both average ranks.

    Parameters
    ----------
    function : SkillFunction
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
