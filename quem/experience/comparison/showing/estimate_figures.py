"""The estimates side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.experience.comparison.showing.phrases import estimate_text
from quem.experience.wording import interval_text, percent
from quem.report.canvas import MOST_ROWS, colours, label_inches, one_axes, short
from quem.report.drawing import BAND, tidy, with_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from quem.experience.comparison.findings import Comparison
    from quem.experience.comparison.standing import Standing
    from quem.experience.estimate import Interval

__all__ = ["ends_of", "estimates"]

_ROW = 0.3  # inches


def estimates(found: Comparison) -> Figure | None:
    """Draw every system's estimate and interval, over the range of its study's subjects."""
    shown = found.standings[:MOST_ROWS]
    if not shown:
        return None
    labels = [short(found.name_of(standing), 34) for standing in shown]
    told = [_told(standing) for standing in shown]
    with with_style():
        left, right = label_inches(labels), label_inches(told)
        height = 0.85 + _ROW * len(shown)
        figure, axes = one_axes(left + 4.4 + right, height, left=left, right=right)
        low, high = _limits(found, shown)
        axes.set_xlim(low, high)
        for row, (standing, colour, text) in enumerate(zip(shown, colours(), told, strict=False)):
            axes.plot(_range(found, standing), [row, row], color=BAND, linewidth=13, zorder=1)
            _bar(axes, standing, row, colour)
            axes.text(1.015, row, text, transform=axes.get_yaxis_transform(), va="center")
        axes.set_yticks(range(len(shown)), labels)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        title = f"Estimates, {percent(found.level)} prediction intervals; shaded: the subjects"
        axes.set_title(title, fontweight="normal")
        tidy(axes, x=f"experience ({short(found.unit, 40)})", grid="x")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
    return figure


def _told(standing: Standing) -> str:
    text = estimate_text(standing)
    if standing.estimate.side in ("above", "below"):
        return text
    return f"{text} ({interval_text(standing.estimate.prediction)})"


def _range(found: Comparison, standing: Standing) -> Interval:
    years = found.studies[standing.study].function.y
    return float(years.min()), float(years.max())


def ends_of(standing: Standing) -> Interval:
    """Give the interval, or all that a one-sided bound leaves."""
    estimate = standing.estimate
    one_sided = {"above": (estimate.bound, np.inf), "below": (-np.inf, estimate.bound)}
    return one_sided.get(estimate.side, estimate.prediction)


def _limits(found: Comparison, shown: tuple[Standing, ...]) -> Interval:
    """Wide enough for every range and estimate; the widest intervals go on beyond."""
    ranges = np.array([_range(found, standing) for standing in shown])
    points = np.array([standing.estimate.experience for standing in shown])
    low = min(0.0, float(ranges.min()), float(points.min()))
    high = max(float(ranges.max()), float(points.max()))
    span = high - low
    ends = np.array([ends_of(standing) for standing in shown])
    ends = np.clip(ends[np.isfinite(ends)], low - span, high + span)
    low, high = min([low, *ends]), max([high, *ends])
    return low - 0.02 * (high - low), high + 0.04 * (high - low)


def _bar(axes: Axes, standing: Standing, row: float, colour: str) -> None:
    """A point on its interval, with an arrow where that goes on beyond the axis."""
    left, right = axes.get_xlim()
    low, high = ends_of(standing)
    axes.plot(np.clip([low, high], left, right), [row, row], color=colour, linewidth=2.4)
    for beyond, end, arrow in ((low < left, left, "<"), (high > right, right, ">")):
        if beyond:
            axes.plot([end], [row], arrow, color=colour, markersize=6, clip_on=False)
    inside = standing.estimate.side not in ("above", "below")
    middle = standing.estimate.experience if inside else standing.estimate.bound
    axes.plot([middle], [row], "D" if inside else "|", color=colour, markersize=6 if inside else 11)
