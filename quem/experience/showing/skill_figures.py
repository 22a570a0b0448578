"""The skill function and the estimates on it: Figures 2 and 3 of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from quem.experience.showing.summary import averaged, equation, system_name
from quem.experience.wording import number, percent
from quem.report.canvas import (
    HALO,
    MOST_LABELS,
    colours,
    label_inches,
    one_axes,
    short,
)
from quem.report.drawing import BAND, INK, INNER_BAND, LINE, MUTED, tidy, with_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from quem.experience.estimate import Estimate
    from quem.experience.findings import Findings

__all__ = ["estimate", "skill_function"]

_MOST_NAMED = 5  # systems with their name beside their point; more stand in a list
_BARS = 0.07  # of the width, for the systems' intervals


def skill_function(found: Findings) -> Figure:
    """Draw the subjects and the skill function: Figure 2 of the paper."""
    with with_style():
        figure, axes = one_axes(6.2, 4.2)
        grid = _grid(found)
        axes.plot(grid, found.function.predict(grid), color=LINE, linewidth=2)
        _frame(axes, found, grid)
        _subjects(axes, found)
        axes.set_title(equation(found), fontweight="normal")
    return figure


def estimate(found: Findings) -> Figure:
    """Draw the bands and each system's estimate to the axis: Figure 3 of the paper."""
    listed = len(found.estimates) > _MOST_NAMED
    with with_style():
        height = max(4.2, 1 + 0.17 * len(found.estimates)) if listed else 4.2
        figure, axes = one_axes(*((9.0, height) if listed else (6.2, height)))
        grid = _grid(found)
        _bands(axes, found, grid)
        _frame(axes, found, grid, bars=_BARS, right=2.95 if listed else 0.15)
        _subjects(axes, found)
        for at, (system, colour) in enumerate(zip(found.estimates, colours(), strict=False)):
            _lead_to_axis(axes, found, system, at, colour)
            name = short(system_name(found, system.system))
            if listed:
                _number(axes, system, at + 1, colour)
                text, y = f"{at + 1}  {name}: {_told(system)}", 1 - at * 0.17 / (height - 0.85)
                axes.text(1.03, y, text, color=colour, va="top", transform=axes.transAxes)
            else:
                _name(axes, found, system, f"{name}  {_told(system)}", colour)
        rising = _rising(found)
        anchor = (_BARS + 0.02, 1.0) if rising else (1.0, 1.0)
        axes.legend(loc="upper left" if rising else "upper right", bbox_to_anchor=anchor)
        axes.set_title(f"{percent(found.settings.level)} bands", fontweight="normal")
    return figure


def _grid(found: Findings) -> NDArray[np.float64]:
    """Average ranks from a little below the lowest to a little above the highest."""
    x = np.concatenate([found.function.x, [e.average_rank for e in found.estimates]])
    margin = 0.06 * float(np.ptp(x))
    low = float(x.min()) - margin
    if found.function.form.positive:
        low = max(low, 0.5 * float(x.min()))
    return np.linspace(low, float(x.max()) + margin, 101)


def _bands(axes: Axes, found: Findings, grid: NDArray[np.float64]) -> None:
    """The skill function, where a human peer would be, and where the mean of such people is."""
    function = found.function
    middle = function.predict(grid)
    t = stdtrit(function.df, (1 + found.settings.level) / 2)
    of_mean = function.mean_variance(grid)
    for variance, colour, label in (
        (function.residual_sd**2 + of_mean, BAND, "prediction"),
        (of_mean, INNER_BAND, "mean (the paper's band)"),
    ):
        half = t * np.sqrt(variance)
        axes.fill_between(
            grid, middle - half, middle + half, color=colour, linewidth=0, label=label
        )
    axes.plot(grid, middle, color=LINE, linewidth=2, label="skill function")


def _rising(found: Findings) -> bool:
    first, last = found.function.predict(np.array([found.function.x.min(), found.function.x.max()]))
    return bool(last >= first)


def _subjects(axes: Axes, found: Findings) -> None:
    """The subjects, each with its name on the side away from the line."""
    function = found.function
    names = [found.averages.solvers[i] for i in found.averages.of_kind("subject")]
    axes.plot(function.x, function.y, "o", color=INK, markersize=5, label="subjects")
    if len(names) > MOST_LABELS:
        return
    over = function.y >= function.predict(function.x)
    rising = _rising(found)
    for name, x, y, above in zip(names, function.x, function.y, over, strict=True):
        left = above == rising
        axes.annotate(
            short(name),
            (x, y),
            (-5 if left else 5, 4 if above else -10),
            textcoords="offset points",
            color=MUTED,
            ha="right" if left else "left",
            bbox=HALO,
            zorder=3,
        )


def _told(system: Estimate) -> str:
    """The estimate as the headline says it."""
    lead = {"above": "at least ", "below": "at most "}.get(system.side, "")
    return f"{lead}{number(system.bound if lead else system.experience)}"


def _lead_to_axis(axes: Axes, found: Findings, system: Estimate, at: int, colour: str) -> None:
    """Dashed from the average rank over the line to the experience, and a bar for the interval."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    x, y = system.average_rank, system.experience
    axes.plot([x, x, left], [bottom, y, y], color=colour, linewidth=1.2, linestyle="--")
    axes.plot([x], [y], "D", color=colour, markersize=6)
    ends = {"above": (system.bound, top), "below": (bottom, system.bound)}.get(
        system.side, system.prediction
    )
    step = min(0.019, _BARS / (len(found.estimates) + 0.5))
    bar = left + (right - left) * step * (at + 0.75)
    axes.plot([bar, bar], ends, color=colour, linewidth=min(3.5, 200 * step), alpha=0.85)


def _name(axes: Axes, found: Findings, system: Estimate, text: str, colour: str) -> None:
    """A system's name where neither the line nor the dashes strike it through."""
    on_left = system.average_rank > sum(axes.get_xlim()) / 2
    over = on_left == _rising(found)
    axes.annotate(
        text,
        (system.average_rank, system.experience),
        (-9 if on_left else 8, 6 if over else -13),
        textcoords="offset points",
        color=colour,
        fontweight="bold",
        ha="right" if on_left else "left",
        bbox=HALO,
    )


def _number(axes: Axes, system: Estimate, at: int, colour: str) -> None:
    axes.annotate(
        f"{at}",
        (system.average_rank, system.experience),
        (0, 6 if at % 2 else -13),
        textcoords="offset points",
        color=colour,
        fontweight="bold",
        ha="center",
        bbox=HALO,
    )


def _frame(
    axes: Axes,
    found: Findings,
    grid: NDArray[np.float64],
    *,
    bars: float = 0.0,
    right: float = 0.15,
) -> None:
    """Label the axes, leave room for the bars, and keep wide bands from squeezing the data."""
    ends = [
        e.prediction if e.side == "inside" else (e.bound, e.experience) for e in found.estimates
    ]
    years = np.concatenate([found.function.y, [0], *ends])
    years = years[np.isfinite(years)]
    span = float(np.ptp(years)) or 1.0
    low, high = float(grid[0]), float(grid[-1])
    axes.set_xlim(low - bars * (high - low), high)
    axes.set_ylim(float(years.min()) - 0.04 * span, float(years.max()) + 0.08 * span)
    label = averaged(found)
    unit = short(found.study.spec.experience_unit, 40)
    tidy(axes, x=f"{label} (higher is better)", y=f"experience ({unit})", grid="both")
    # Wide numbers must not push the label off the figure.
    ticks = axes.yaxis.get_major_formatter().format_ticks(list(axes.get_yticks()))
    place, width = axes.get_position(), axes.get_figure().get_figwidth()  # type: ignore[union-attr]
    left = (0.27 + label_inches(ticks)) / width
    axes.set_position((left, place.y0, 1 - left - right / width, place.height))
