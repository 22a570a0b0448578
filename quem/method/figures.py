"""The figures of an experience study."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from quem.report.drawing import (
    BAND,
    INNER_BAND,
    LINE,
    MOST_LABELS,
    MUTED,
    colors,
    label_inches,
    with_style,
)
from quem.report.labels import Label, place_labels
from quem.wording import format_percent, short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from quem.method.core import Core, SystemEstimate
    from quem.method.result import ExperienceFindings
    from quem.method.statement import Statement

    Floats = NDArray[np.float64]

_MOST_GUIDES = 5  # systems with dashed lines to the axes, for legibility
# Pixels of the two drawings, at 96 per inch, and of their text.
_WIDE, _NARROW = (760, 440, 14.0), (300, 380, 12.5)
_PIXELS = 96


def line(findings: ExperienceFindings, *, narrow: bool = False) -> Figure:
    """The paper's line with both bands, subjects, and systems: Figures 2 and 3 of the paper.

    If no years are stated, subjects and systems alone.
    """
    core, size = findings.core, _NARROW if narrow else _WIDE
    width, height, letters = size
    shows_line = core.states_years or not core.estimates
    with with_style(), mpl.rc_context({"font.size": letters * 72 / _PIXELS}):
        figure = Figure(figsize=(width / _PIXELS, height / _PIXELS))
        right = (58 if narrow else 136) if shows_line else 20
        axes = figure.add_axes((44 / width, 50 / height, 1 - (44 + right) / width, 1 - 84 / height))
        grid = _grid(core)
        curve = np.column_stack([grid, core.line.predict(grid)])
        _frame(axes, findings, grid, is_wide=not narrow)
        if shows_line:
            axes.plot(*curve.T, color=LINE, linewidth=1.9)
            _bands(axes, core, curve, narrow=narrow)
        _people_and_systems(axes, findings, curve if shows_line else None)
    return figure


def _grid(core: Core) -> Floats:
    """Average ranks from a little below the lowest to a little above the highest."""
    x = np.concatenate([core.line.x, [of.rank for of in core.estimates]])
    margin = 0.06 * float(np.ptp(x))
    low = float(x.min()) - margin
    if core.line.form == "log":
        low = max(low, 0.5 * float(x.min()))
    return np.linspace(low, float(x.max()) + margin, 401)


def _bands(axes: Axes, core: Core, curve: Floats, *, narrow: bool) -> None:
    """The prediction band and the confidence band of the mean, with labels."""
    x, center = curve.T
    one, mean = core.line.bands(x, core.settings.level)
    level = format_percent(core.settings.level)
    for half, color in ((one, BAND), (mean, INNER_BAND)):
        axes.fill_between(x, center - half, center + half, color=color, linewidth=0, zorder=0.5)
    low, high = axes.get_ylim()
    pixels = (high - low) / axes.get_window_extent().height
    space = (30 if narrow else 19) * pixels
    sign = "\n" if narrow else ", "
    texts = (f"{'person' if narrow else 'one person'}{sign}{level}", f"mean{sign}{level}", "line")
    ends = np.array([center[-1] + one[-1], center[-1] + mean[-1], center[-1]])
    # From the lowest up, so that labels do not overlap and stay inside.
    at = np.clip(ends, low, high - 2 * pixels)
    at[2] = min(at[2], high - 2 * space)
    at[1] = np.clip(at[1], at[2] + space, high - space)
    at[0] = max(at[0], at[1] + space)
    for y, text, color in zip(at, texts, (MUTED, MUTED, LINE), strict=True):
        axes.annotate(
            text,
            (1, y),
            (7, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            color=color,
            va="center",
            annotation_clip=False,
        )


def _frame(axes: Axes, findings: ExperienceFindings, grid: Floats, *, is_wide: bool) -> None:
    """Label the axes, and keep wide bands from squeezing the data."""
    core = findings.core
    most = float(core.line.y.max())
    known = [one for one in findings.statements if one.value]
    upper = float((core.line.predict(grid) + core.line.bands(grid, core.settings.level)[0]).max())
    highest = max([upper, *(one.interval[1] or np.inf for one in known)]) if known else most
    seen = (1.3 * one.interval[0] if one.interval[1] is None else 1.1 * one.center for one in known)
    top = max([float(np.clip(1.04 * highest, 1.1 * most, 1.45 * most)), *seen])
    axes.set_xlim(float(grid[0]), float(grid[-1]))
    axes.set_ylim(0, top)
    axes.locator_params("y", nbins=5, steps=[1, 2, 5, 10])
    axes.locator_params("x", nbins=9 if is_wide else 6, steps=[1, 2, 5, 10])
    ticks = [tick for tick in axes.get_yticks() if 0 <= tick <= top]
    axes.grid(visible=True, axis="y")
    axes.spines["left"].set_visible(False)
    axes.tick_params(length=0)
    # Wide numbers must not leave the figure.
    place, letters = axes.get_position(), float(axes.yaxis.label.get_fontsize()) / 8.5
    written = axes.yaxis.get_major_formatter().format_ticks(ticks)
    left = letters * label_inches(written) * axes.figure.dpi / axes.figure.bbox.width
    axes.set_position((left, place.y0, place.x1 - left, place.height))
    axes.annotate(
        f"{short(core.unit, 24)} of experience",
        (0, 1),
        (0, 8),
        xycoords="axes fraction",
        textcoords="offset points",
        color=MUTED,
    )
    axes.annotate(
        f"{core.averages.called} (higher is better)",
        (1, 0),
        (0, -34),
        xycoords="axes fraction",
        textcoords="offset points",
        color=MUTED,
        ha="right",
    )


def _people_and_systems(axes: Axes, findings: ExperienceFindings, curve: Floats | None) -> None:
    """Mark all solvers, and label them where no label overlaps another or a mark."""
    core = findings.core
    people = core.line
    points = [np.column_stack([people.x, people.y])]
    labels = []
    by_system = dict(zip((of.system for of in core.best_first), findings.statements, strict=True))
    for of, color in zip(core.estimates, colors(), strict=False):
        said = by_system[of.system]
        mark = _mark(axes, of, said, color, guides=len(core.estimates) <= _MOST_GUIDES)
        points.append(mark)
        name = short(of.name)
        value = said.value.removesuffix(f" {core.unit}")
        texts = (f"{name}: {value}",) if value else ()
        x, y = (float(one) for one in mark[0])
        labels.append(Label(x, y, (*texts, name, short(name, 8)), color, "bold"))
    axes.plot(people.x, people.y, "o", color=MUTED, markersize=7.5, zorder=3)
    names = [core.averages.solvers[i] for i in core.averages.of_kind("subject")]
    if len(names) <= MOST_LABELS:
        for name, x, y in zip(names, people.x, people.y, strict=True):
            labels.append(Label(float(x), float(y), (short(name), short(name, 6))))
    place_labels(axes, labels, points=np.concatenate(points), line=curve)


def _mark(axes: Axes, of: SystemEstimate, said: Statement, color: str, *, guides: bool) -> Floats:
    """A diamond with its interval, an arrow from a bound, or a dashed line without years.

    Returns points that labels must not cover, starting with the labeled one.
    """
    x, (bottom, top) = of.rank, axes.get_ylim()
    dashed = {"color": color, "linewidth": 0.9, "linestyle": (0, (4, 4))}
    if not said.value:
        axes.plot([x, x], [bottom, top], **dashed)  # type: ignore[arg-type]
        return np.array([[x, 0.96 * top]])
    low, high = said.interval
    if high is None:
        to = 0.99 * top
        axes.annotate(
            "",
            (x, to),
            (x, low),
            arrowprops={"arrowstyle": "->", "color": color, "linewidth": 2, "shrinkA": 0,
                        "shrinkB": 0, "mutation_scale": 16},
        )  # fmt: skip
        axes.plot([x], [low], "_", color=color, markersize=14, markeredgewidth=2.4, zorder=4)
        return np.column_stack([np.full(20, x), np.linspace(low, to, 20)])
    if guides:
        left, y = axes.get_xlim()[0], said.center
        axes.plot([x, x, left], [bottom, y, y], **dashed)  # type: ignore[arg-type]
    axes.plot([x, x], [max(low, bottom), high], color=color, linewidth=3.5, alpha=0.45, zorder=2,
              solid_capstyle="butt")  # fmt: skip
    axes.plot([x], [said.center], "D", color=color, markersize=9, zorder=4, clip_on=False)
    beside = np.linspace(max(low, bottom), min(high, top), 40)
    return np.vstack([[x, said.center], np.column_stack([np.full(40, x), beside])])


# For narrow pages.
NARROW: Mapping[str, Callable[[ExperienceFindings], Figure | None]] = {
    "line": partial(line, narrow=True)
}
# By file stem.
FIGURES: Mapping[str, Callable[[ExperienceFindings], Figure | None]] = {
    "line": line,
}
