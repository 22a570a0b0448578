"""Step 9: the experience estimate of each system, and its intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quem.experience.averages import Averages
    from quem.experience.hierarchical import ModelEstimate
    from quem.experience.skill import Added, SkillFunction

Interval = tuple[float, float]
_UNBOUNDED = (float("nan"), float("nan"))
_ROUNDING = 1e-9
_WHOLE_YEARS = 5.0
_SIDES: dict[tuple[bool, bool], Literal["inside", "above", "below", "outside"]] = {
    (False, False): "inside",
    (True, False): "above",
    (False, True): "below",
    (True, True): "outside",
}


@dataclass(frozen=True)
class Calibration:
    """The inverse regression: average rank on experience, turned around (Fieller)."""

    experience: float
    # NaN where the interval is unbounded, which is where the slope is not significant.
    interval: Interval

    @property
    def bounded(self) -> bool:
        """Whether the interval has ends."""
        return bool(np.isfinite(self.interval).all())


@dataclass(frozen=True)
class Estimate:
    """How experienced a system is."""

    system: str
    average_rank: float
    # Judges who ranked it, and problems on which they did; 0 where that is unknown
    n_judges: int
    n_problems: int
    # What is added to the prediction variance because it has fewer cells than the subjects.
    widened: float
    jagged: float  # what is added because it varies more from problem to problem than people do
    # The standard error of the prediction, with what is added: half its interval over the quantile
    # of t, which for curves of a logarithm is an approximation.
    error: float
    df: float  # its degrees of freedom
    experience: float
    prediction: Interval  # where a human peer of that quality would be
    likely: Interval  # where they are as likely as not: their interval at 50%
    mean: Interval  # where the mean experience at that quality is: the paper's band
    # The typical human of that quality; None for forms without an inverse.
    calibration: Calibration | None
    # Against the subjects' range; "outside" where rank and estimate leave it on different sides.
    side: Literal["inside", "above", "below", "outside"]
    bound: float  # the one-sided prediction bound, above or below the range; else NaN
    # Years, and the probability that a human peer has at least that many.
    at_least: tuple[tuple[float, float], ...]
    # What is added instead because machine judges are erratic on it, or because other judges placed
    # it on a panel.
    added: float = 0.0
    # By the model of persons, problems, and judges; None where that is not defined.
    model: ModelEstimate | None = None
    alone: Estimate | None = None  # by the experts alone, where machine judges are used

    def interval(self, kind: str) -> Interval:
        """Give the interval of a kind: prediction, mean, calibration or hierarchical."""
        if kind == "hierarchical":
            return self.model.typical if self.model else _UNBOUNDED
        if kind == "calibration":
            return self.calibration.interval if self.calibration else _UNBOUNDED
        return self.mean if kind == "mean" else self.prediction

    def headline(self, kind: str) -> float:
        """Give the experience that goes with an interval of that kind."""
        if kind == "calibration" and self.calibration:
            return self.calibration.experience
        if kind == "hierarchical" and self.model:
            return self.model.experience
        return self.experience


def estimate_system(
    system: str,
    function: SkillFunction,
    averages: Averages,
    *,
    level: float,
    at_least: tuple[float, ...],
    jagged: float = 0.0,
    added: Added | None = None,
) -> Estimate:
    """Put a system's average rank into the skill function (Hayes & Parzen 1997, step 9).

    What the average varies more than those of the subjects widens the distribution of a peer
    (`Averages.widening`; `quem.experience.profile`).
    """
    index = averages.solvers.index(system)
    x = averages.average[index : index + 1]
    years = float(function.predict(x)[0])
    widened = float(averages.widening()[averages.of_kind("system").tolist().index(index)])
    peer = function.predictive(x, widened + jagged, added=added)
    low, high = prediction = _pair(peer.interval(level))
    freedom = float(peer.df.min()) if added else function.df
    widest = (high - low) / 2 / float(stdtrit(freedom, (1 + level) / 2))

    def error(more: float) -> float:
        t = float(stdtrit(function.df, (1 + level) / 2))
        return float(function.predictive(x, more).half_width(level)[0] / t)

    wide = error(widened) if jagged or added else widest
    plain = error(0.0) if widened else wide
    of_problems = widest**2 - wide**2
    above, below = outside(function.x, function.y, x, np.array([years]))
    side = _SIDES[bool(above[0]), bool(below[0])]
    one_sided = {"above": 1 - level, "below": level}
    return Estimate(
        system=system,
        average_rank=float(x[0]),
        n_judges=int(averages.n_judges[index]),
        n_problems=int(averages.n_problems[index]),
        widened=wide**2 - plain**2,
        jagged=0.0 if added else of_problems,
        added=of_problems if added else 0.0,
        error=widest,
        df=freedom,
        experience=years,
        prediction=prediction,
        likely=_pair(peer.interval(0.5)),
        mean=_pair(function.predictive(x, mean=True).interval(level)),
        calibration=calibrate(function, float(x[0]), level),
        side=side,
        bound=float(peer.quantile(one_sided[side])[0]) if side in one_sided else float("nan"),
        at_least=tuple((least, float(peer.at_least(least)[0])) for least in at_least),
    )


def _pair(ends: NDArray[np.float64]) -> Interval:
    ((low, high),) = ends.tolist()
    return low, high


def calibrate(function: SkillFunction, x: float, level: float) -> Calibration | None:
    """Regress g(average rank) on the response and invert, with Fieller's interval."""
    form = function.form
    if form.degree > 1 or form.averaged:
        return None
    g, response = form.transform(function.x), form.response
    at = form.transform(np.array([x])) - g.mean()
    center, ends = invert(g, response.transform(function.y), at, level)
    return Calibration(float(response.inverse(center)[0]), _pair(response.inverse(ends)))


def invert(
    x: NDArray[np.float64], y: NDArray[np.float64], d: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Regress x on y and invert, for one study or many (Fieller 1954).

    Shapes: `x`, `y` (..., n); `d` (..., m); `center` (..., m); `ends` (..., m, 2).
    """
    n = x.shape[-1]
    mean = y.mean(axis=-1, keepdims=True)
    in_y, in_x = y - mean, x - x.mean(axis=-1, keepdims=True)
    s_yy = (in_y**2).sum(axis=-1, keepdims=True)
    slope = (in_y * in_x).sum(axis=-1, keepdims=True) / s_yy
    rss = ((in_x - slope * in_y) ** 2).sum(axis=-1, keepdims=True)
    noise = stdtrit(n - 2, (1 + level) / 2) ** 2 * rss / (n - 2)
    a = slope**2 - noise / s_yy
    with np.errstate(invalid="ignore", divide="ignore"):
        center = np.where(slope == 0, np.nan, mean + d / slope)
        # Equal to (slope d)^2 - a (d^2 - noise (1 + 1/n)), and never negative by rounding.
        root = np.sqrt(noise * (d**2 / s_yy + a * (1 + 1 / n)))
        ends = np.stack([mean + (slope * d - root) / a, mean + (slope * d + root) / a], axis=-1)
    bounded = np.broadcast_to(a > 0, d.shape)[..., np.newaxis]
    return center, np.where(bounded, ends, np.nan)


def round_years(years: NDArray[np.float64]) -> tuple[float, ...]:
    """Choose years for which to report the probability of at least that many.

    Half and four fifths of the highest subject's, in whole years from 5 on and in tenths below;
    without those that are not inside the subjects' range.

    Shapes: `years` (n,).
    """
    low, high = years.min(initial=np.inf), years.max(initial=0.0)
    digits = 0 if high >= _WHOLE_YEARS else 1
    chosen = (round(float(share * high), digits) for share in (0.5, 0.8))
    return tuple(dict.fromkeys(value for value in chosen if low < value < high))


def outside(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    x_systems: NDArray[np.float64],
    years: NDArray[np.float64],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which systems lie above the subjects' range, and which below it.

    A system lies outside in quality, in experience, or in both.

    Shapes: `x`, `y` (..., n); `x_systems`, `years` (..., m).
    """
    # The same average can differ in its last digit by the order in which ranks are added.
    ends = [(of.min(-1, keepdims=True), of.max(-1, keepdims=True)) for of in (x, y)]
    near_x, near_y = (_ROUNDING * (high - low) for low, high in ends)
    (low_x, high_x), (low_y, high_y) = ends
    above = (x_systems >= high_x - near_x) | (years > high_y + near_y)
    below = (x_systems <= low_x + near_x) | (years < low_y - near_y)
    return above, below
