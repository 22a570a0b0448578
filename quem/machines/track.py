r"""Years of versions that only a machine judge has ranked, between sessions of experts.

Experts and the machine ranked V versions among the same people on the same problems, and the
machine alone the next one. With the subjects' lines :math:`Y_h` and :math:`Y_m` on the experts' and
the machine's averages,

.. math:: \delta_v = Y_h(h_v) - Y_m(m_v), \quad e = Y_m(m_{new}) + \bar\delta,

    v_1 = s_h^2 \Bigl(1 + \frac1S + \frac{(x_e - \bar x)^2}{S_{xx}}\Bigr), \quad
    v_2 = s_\delta^2 \Bigl(1 + \frac1V\Bigr),

where :math:`x_e` is where the experts' line has e, and the interval
:math:`e \pm t \sqrt{v_1 + v_2}` has Satterthwaite's degrees of freedom, of S - 2 and V - 1. It is
wide where the machine's liking is unsteady, and never refused, hidden or tried again for that:
keeping the narrow ones alone keeps those whose spread came out too small by luck, and they cover
74 to 90%.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import stdtr, stdtrit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# With 2 versions it covers 89 to 91% where liking differs between versions.
FEWEST = 3
_SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Line:
    """Experience of the subjects on their averages."""

    # Of shape (n_subjects,)
    x: Floats
    y: Floats
    slope: float
    start: float
    residual_sd: float
    p: float  # two-sided, that the slope is 0

    @property
    def rises(self) -> bool:
        """Whether better ranks go with more experience, significantly."""
        return self.slope > 0 and self.p < _SIGNIFICANT

    def years(self, x: Floats | float) -> Floats:
        """Read averages off the line."""
        return np.asarray(self.start + self.slope * np.asarray(x))

    def variance(self, years: float) -> float:
        """Give the variance of a peer with the average that has these years."""
        at = self.x.mean() + (years - self.y.mean()) / self.slope
        spread = ((self.x - self.x.mean()) ** 2).sum()
        n = len(self.x)
        return float(self.residual_sd**2 * (1 + 1 / n + (at - self.x.mean()) ** 2 / spread))


def line_of(x: Floats, y: Floats) -> Line:
    """Fit the line."""
    n = len(x)
    off = x - x.mean()
    spread = (off**2).sum()
    slope = float((off * (y - y.mean())).sum() / spread)
    start = float(y.mean() - slope * x.mean())
    sd = float(np.sqrt(((y - start - slope * x) ** 2).sum() / (n - 2)))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = slope / (sd / np.sqrt(spread))
    return Line(x, y, slope, start, sd, float(2 * stdtr(n - 2, -abs(t))))


@dataclass(frozen=True)
class Tracked:
    """What a machine judge says of a version that experts have not ranked."""

    machine_years: float
    # Of shape (V,): years by experts less years by the machine, of each version that both ranked.
    differences: Floats
    years: float  # the estimate; meaningful where `side` is ``inside``
    interval: tuple[float, float]
    df: float
    error: float
    half_of_experts: float  # half of the interval that a session of experts would give there
    # Against what is calibrated: ``above`` gives a lower bound alone, ``below`` nothing.
    side: Literal["inside", "above", "below"]
    bound: float  # one-sided; NaN unless above

    @property
    def generous(self) -> float:
        """How many years too many the machine gives versions."""
        return -float(self.differences.mean())

    def at_least(self, years: float) -> float:
        """Give the chance that a person of that quality has at least this many years."""
        return float(stdtr(self.df, (self.years - years) / self.error))


def track(
    experts: Line,
    machine: Line,
    versions: tuple[Floats, Floats],
    new: float,
    *,
    level: float = 0.95,
) -> Tracked:
    """Give the years of a version by a machine judge, corrected by what it likes.

    Shapes: `versions` (V,).
    """
    h, m = versions
    differences = experts.years(h) - machine.years(m)
    n_versions, n = len(differences), len(experts.x)
    own = float(machine.years(new))
    years = own + float(differences.mean())
    v1, v2 = experts.variance(years), float(differences.var(ddof=1)) * (1 + 1 / n_versions)
    total = v1 + v2
    df = total**2 / (v1**2 / (n - 2) + v2**2 / (n_versions - 1))
    error = float(np.sqrt(total))
    half = float(stdtrit(df, (1 + level) / 2)) * error
    side = _side(experts, machine, m, new, years)
    return Tracked(
        own,
        differences,
        years,
        (years - half, years + half),
        df,
        error,
        float(stdtrit(n - 2, (1 + level) / 2)) * float(np.sqrt(v1)),
        side,
        years - float(stdtrit(df, level)) * error if side == "above" else float("nan"),
    )


def _side(
    experts: Line, machine: Line, calibrated: Floats, new: float, years: float
) -> Literal["inside", "above", "below"]:
    """Say whether a version is where the versions before and the people are."""
    room = float(np.ptp(calibrated)) / 2
    above = new > calibrated.max() + room or new >= machine.x.max() or years > experts.y.max()
    below = new < calibrated.min() - room or years < experts.y.min()
    return "above" if above else "below" if below else "inside"
