"""The skill function and the estimates on it: Figures 2 and 3 of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from quem.experience.showing.canvas import HALO, MOST_LABELS, colours, one_axes, short
from quem.experience.showing.summary import equation, system_name
from quem.experience.wording import number, percent
from quem.report.drawing import BAND, INK, INNER_BAND, LINE, MUTED, tidy, with_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from quem.experience.findings import Findings

__all__ = ["estimate", "skill_function"]


def skill_function(found: Findings) -> Figure:
    """Draw the subjects and the skill function: Figure 2 of the paper."""
    with with_style():
        figure, axes = one_axes(6.2, 4.2)
        grid = _grid(found)
        axes.plot(grid, found.function.predict(grid), color=LINE, linewidth=2)
        _subjects(axes, found)
        _frame(axes, found, grid)
        axes.set_title(equation(found), fontweight="normal")
    return figure


def estimate(found: Findings) -> Figure:
    """Draw the bands and each system's estimate to the axis: Figure 3 of the paper."""
    function, level = found.function, found.settings.level
    with with_style():
        figure, axes = one_axes(6.2, 4.2)
        grid = _grid(found)
        middle = function.predict(grid)
        mean = stdtrit(function.df, (1 + level) / 2) * np.sqrt(function.mean_variance(grid))
        peer = stdtrit(function.df, (1 + level) / 2) * np.sqrt(
            function.residual_sd**2 + function.mean_variance(grid)
        )
        axes.fill_between(
            grid, middle - peer, middle + peer, color=BAND, linewidth=0, label="prediction"
        )
        axes.fill_between(
            grid,
            middle - mean,
            middle + mean,
            color=INNER_BAND,
            linewidth=0,
            label="mean (the paper's band)",
        )
        axes.plot(grid, middle, color=LINE, linewidth=2, label="skill function")
        _subjects(axes, found)
        _frame(axes, found, grid)
        left, bottom = axes.get_xlim()[0], axes.get_ylim()[0]
        step = (axes.get_xlim()[1] - left) * 0.012
        for index, (system, colour) in enumerate(zip(found.estimates, colours(), strict=False)):
            x, y = system.average_rank, system.experience
            axes.plot([x, x, left], [bottom, y, y], color=colour, linewidth=1.2, linestyle="--")
            axes.plot([x], [y], "D", color=colour, markersize=6)
            at = left + step * (1 + 1.6 * index)
            ends = list(system.prediction)
            if system.side == "above":
                ends = [system.bound, axes.get_ylim()[1]]
            elif system.side == "below":
                ends = [bottom, system.bound]
            axes.plot([at, at], ends, color=colour, linewidth=3.5, alpha=0.85)
            on_left = x > (axes.get_xlim()[0] + axes.get_xlim()[1]) / 2
            axes.annotate(
                f"{short(system_name(found, system.system))}  {number(y)}",
                (x, y),
                (-9, 6) if on_left else (7, -11),
                textcoords="offset points",
                color=colour,
                fontweight="bold",
                ha="right" if on_left else "left",
                bbox=HALO,
            )
        axes.legend(loc="upper left", bbox_to_anchor=(0.06, 1.0))
        axes.set_title(f"{percent(level)} bands", fontweight="normal")
    return figure


def _grid(found: Findings) -> NDArray[np.float64]:
    """Average ranks from a little below the lowest to a little above the highest."""
    x = np.concatenate([found.function.x, [e.average_rank for e in found.estimates]])
    margin = 0.06 * float(np.ptp(x))
    low = float(x.min()) - margin
    if found.function.form.positive:
        low = max(low, 0.5 * float(x.min()))
    return np.linspace(low, float(x.max()) + margin, 101)


def _subjects(axes: Axes, found: Findings) -> None:
    function = found.function
    names = [found.averages.solvers[i] for i in found.averages.of_kind("subject")]
    axes.plot(function.x, function.y, "o", color=INK, markersize=5, label="subjects")
    if len(names) <= MOST_LABELS:
        for name, x, y in zip(names, function.x, function.y, strict=True):
            axes.annotate(name, (x, y), (5, 4), textcoords="offset points", color=MUTED)


def _frame(axes: Axes, found: Findings, grid: NDArray[np.float64]) -> None:
    """Label the axes, and keep wide bands from squeezing the data."""
    years = np.concatenate([found.function.y, [0], *(e.prediction for e in found.estimates)])
    years = years[np.isfinite(years)]
    span = float(np.ptp(years)) or 1.0
    axes.set_xlim(float(grid[0]), float(grid[-1]))
    axes.set_ylim(float(years.min()) - 0.04 * span, float(years.max()) + 0.08 * span)
    tidy(
        axes,
        x=f"{_average_label(found)} (higher is better)",
        y=f"experience ({found.study.spec.experience_unit})",
        grid="both",
    )


def _average_label(found: Findings) -> str:
    settings = found.settings
    if settings.score == "blom":
        return "average normal score"
    if settings.normalize == "percentile":
        return "average percentile"
    return "average rank" if settings.normalize == "none" else "average expected rank"
