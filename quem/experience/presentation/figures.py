"""The figures of an experience study."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from quem.experience.presentation.scale import Dot, Line, Rectangle, scale_of
from quem.experience.presentation.summary import averaged, system_name
from quem.report.drawing import (
    BAND,
    GRID,
    INK,
    INNER_BAND,
    LETTERS,
    LINE,
    MOST_LABELS,
    MOST_ROWS,
    MUTED,
    PAPER,
    SUNKEN,
    colors,
    label_inches,
    one_axes,
    tidy,
    with_style,
)
from quem.report.labels import Label, place_labels
from quem.wording import format_number, short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from quem.experience.estimate import Estimate
    from quem.experience.result import ExperienceFindings

_MOST_GUIDES = 5  # systems with dashed lines to the axes; more would be a thicket


_FILES_WIDTH = 760
_INSET = 12  # pixels around a drawing in a file
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def scale(findings: ExperienceFindings) -> Figure | None:
    """Draw the scale for files, papers, and notebooks; None where no system has ranks."""
    from matplotlib.patches import Rectangle as Patch
    from matplotlib.transforms import ScaledTranslation

    drawn = scale_of(findings)
    if drawn is None:
        return None
    palette = [color for color, _ in zip(colors(), findings.estimates, strict=False)]
    fill = {"zone": SUNKEN, "person": MUTED, "hole": PAPER, "text": MUTED, "axis": MUTED}
    width, height = _FILES_WIDTH + 2 * _INSET, drawn.height + 2 * _INSET
    with with_style():
        figure = Figure(figsize=(width / 100, height / 100))
        axes = figure.add_axes(
            (_INSET / width, _INSET / height, _FILES_WIDTH / width, drawn.height / height)
        )
        axes.set(xlim=(0, 100), ylim=(drawn.height, 0))
        axes.axis("off")
        aspect = 100 / _FILES_WIDTH
        for layer, mark in enumerate(drawn.marks):
            system = getattr(mark, "system", -1)
            color = palette[system] if system >= 0 else fill.get(mark.role, INK)
            if isinstance(mark, Rectangle):
                wide = mark.end - mark.start or mark.width * aspect
                alpha = {"outer": 0.28, "inner": 0.55}.get(mark.role, 1.0)
                box = Patch((mark.start, mark.y), wide, mark.height, color=color, alpha=alpha)
                box.set(linewidth=0, zorder=layer)
                axes.add_patch(box)
            elif isinstance(mark, Dot):
                ink = PAPER if mark.role == "hole" else color
                size = (2 * mark.radius * 0.72) ** 2
                axes.scatter(mark.x, mark.y, s=size, color=ink, linewidths=0, zorder=layer,
                             clip_on=False)  # fmt: skip
            elif isinstance(mark, Line):
                ends = [mark.start, mark.end], [mark.top, mark.bottom]
                line = {"color": MUTED if mark.role == "axis" else GRID, "linewidth": 0.8}
                axes.plot(*ends, clip_on=False, zorder=layer, **line)  # type: ignore[arg-type]
            else:
                shift = ScaledTranslation(mark.shift / 100, 0, figure.dpi_scale_trans)
                axes.text(
                    mark.x,
                    mark.y,
                    mark.text,
                    color=color,
                    fontsize=0.72 * mark.size,
                    fontweight="bold" if mark.role == "label" else "normal",
                    ha=_ANCHORS[mark.anchor],
                    transform=axes.transData + shift,
                    zorder=layer,
                )
    return figure


# Pixels of the two drawings, at 96 to the inch, and of their letters.
_WIDE, _NARROW = (760, 440, 14.0), (300, 380, 12.5)
_PIXELS = 96


def skill_function(findings: ExperienceFindings, *, narrow: bool = False) -> Figure:
    """Draw the subjects and the skill function: Figure 2 of the paper."""
    return _skill_figure(findings, (), _NARROW if narrow else _WIDE)


def estimate(findings: ExperienceFindings, *, narrow: bool = False) -> Figure | None:
    """Draw the bands and each system's estimate: Figure 3 of the paper.

    Without years there is nothing to draw.
    """
    if not findings.gate.passed or not findings.estimates:
        return None
    return _skill_figure(findings, findings.estimates, _NARROW if narrow else _WIDE)


def _skill_figure(
    findings: ExperienceFindings, systems: Sequence[Estimate], size: tuple[int, int, float]
) -> Figure:
    width, height, letters = size
    with with_style(), mpl.rc_context({"font.size": letters * 72 / _PIXELS}):
        figure = Figure(figsize=(width / _PIXELS, height / _PIXELS))
        axes = figure.add_axes((44 / width, 50 / height, 1 - 58 / width, 1 - 84 / height))
        grid = _grid(findings)
        line = np.column_stack([grid, findings.function.predict(grid)])
        if systems:
            _bands(axes, findings, grid)
        axes.plot(*line.T, color=LINE, linewidth=1.9)
        _frame(axes, findings, grid, is_wide=size == _WIDE)
        _people_and_systems(axes, findings, systems, line)
    return figure


def _grid(findings: ExperienceFindings) -> NDArray[np.float64]:
    """Average ranks from a little below the lowest to a little above the highest."""
    with_years = findings.gate.passed
    systems = [e.average_rank for e in findings.estimates] if with_years else []
    x = np.concatenate([findings.function.x, systems])
    margin = 0.06 * float(np.ptp(x))
    low = float(x.min()) - margin
    if findings.function.form.positive:
        low = max(low, 0.5 * float(x.min()))
    return np.linspace(low, float(x.max()) + margin, 401)


def _bands(axes: Axes, findings: ExperienceFindings, grid: NDArray[np.float64]) -> None:
    """Where a human peer would be, and where the mean of such people is."""
    function = findings.function
    for kind, color in (("prediction", BAND), ("mean", INNER_BAND)):
        of = function.predictive(grid, mean=kind == "mean")
        low, high = of.interval(findings.settings.level).T
        axes.fill_between(grid, low, high, color=color, linewidth=0)


def _frame(
    axes: Axes, findings: ExperienceFindings, grid: NDArray[np.float64], *, is_wide: bool
) -> None:
    """Label the axes, and keep wide bands from squeezing the data."""
    most = float(findings.function.y.max())
    bounds = [e.bound for e in findings.estimates if findings.gate.passed]
    top = max([1.45 * most, *(1.15 * bound for bound in bounds if np.isfinite(bound))])
    axes.set_xlim(float(grid[0]), float(grid[-1]))
    axes.set_ylim(0, top)
    axes.locator_params("y", nbins=5, steps=[1, 2, 5, 10])
    axes.locator_params("x", nbins=9 if is_wide else 6, steps=[1, 2, 5, 10])
    ticks = [tick for tick in axes.get_yticks() if tick >= 0]
    axes.set_ylim(0, max(ticks[-1], top))
    axes.grid(visible=True, axis="y")
    axes.spines["left"].set_visible(False)
    axes.tick_params(length=0)
    # Wide numbers must not leave the figure.
    place, letters = axes.get_position(), float(axes.yaxis.label.get_fontsize()) / LETTERS
    written = axes.yaxis.get_major_formatter().format_ticks(ticks)
    left = letters * label_inches(written) * axes.figure.dpi / axes.figure.bbox.width
    axes.set_position((left, place.y0, place.x1 - left, place.height))
    unit = short(findings.study.spec.experience_unit, 24)
    axes.annotate(
        f"{unit} of experience",
        (0, 1),
        (0, 8),
        xycoords="axes fraction",
        textcoords="offset points",
        color=MUTED,
    )
    axes.annotate(
        f"{averaged(findings)} (higher is better)",
        (1, 0),
        (0, -34),
        xycoords="axes fraction",
        textcoords="offset points",
        color=MUTED,
        ha="right",
    )


def _people_and_systems(
    axes: Axes,
    findings: ExperienceFindings,
    systems: Sequence[Estimate],
    line: NDArray[np.float64],
) -> None:
    """Mark everybody, and name them where no name meets another or a mark."""
    function = findings.function
    points = [np.column_stack([function.x, function.y])]
    labels = []
    for system, color in zip(systems, colors(), strict=False):
        mark = _mark_system(axes, system, color, guides=len(systems) <= _MOST_GUIDES)
        points.append(mark)
        name = short(system_name(findings, system.system))
        lead = {"above": " at least", "below": " at most"}.get(system.side, "")
        value = format_number(system.bound if lead else system.experience)
        texts = (f"{name}:{lead} {value}", name, short(name, 8))
        labels.append(Label(float(mark[0][0]), float(mark[0][1]), texts, color, "bold"))
    axes.plot(function.x, function.y, "o", color=MUTED, markersize=7.5, zorder=3)
    names = [findings.averages.solvers[i] for i in findings.averages.of_kind("subject")]
    if len(names) <= MOST_LABELS:
        for name, x, y in zip(names, function.x, function.y, strict=True):
            labels.append(Label(float(x), float(y), (short(name), short(name, 6))))
    place_labels(axes, labels, points=np.concatenate(points), line=line)


def _mark_system(axes: Axes, system: Estimate, color: str, *, guides: bool) -> NDArray[np.float64]:
    """A diamond on the line, or a bar from a bound; give what labels must not cover."""
    x, (_, top) = system.average_rank, axes.get_ylim()
    if system.side in ("above", "below"):
        from_, step = max(system.bound, 0.0), 0.16 * top
        to = min(from_ + step, top) if system.side == "above" else max(from_ - step, 0.0)
        axes.annotate(
            "",
            (x, to),
            (x, from_),
            arrowprops={"arrowstyle": "->", "color": color, "linewidth": 2, "shrinkA": 0,
                        "shrinkB": 0, "mutation_scale": 16},
        )  # fmt: skip
        axes.plot([x], [from_], "_", color=color, markersize=14, markeredgewidth=2.4, zorder=4)
        return np.column_stack([np.full(5, x), np.linspace(from_, to, 5)])
    y = system.experience
    if guides:
        left, bottom = axes.get_xlim()[0], axes.get_ylim()[0]
        axes.plot([x, x, left], [bottom, y, y], color=color, linewidth=0.9, linestyle=(0, (4, 4)))
    axes.plot([x], [y], "D", color=color, markersize=9, zorder=4, clip_on=False)
    return np.array([[x, y]])


def ranks(findings: ExperienceFindings) -> Figure | None:
    """Draw how often each solver got each rank; the larger the dot, the more often."""
    if findings.cells is None or not findings.cells.has_ranks:
        return None
    averages = findings.averages
    shown = [i for i in range(len(averages.solvers)) if np.isfinite(averages.average[i])]
    shown = sorted(shown, key=lambda i: averages.average[i])
    shown = [i for i in shown if averages.kinds[i] != "withheld"][: 2 * MOST_ROWS]
    labels = [_solver_label(findings, i) for i in shown]
    with with_style():
        left = label_inches(labels)
        figure, axes = one_axes(left + 4.7, 0.9 + 0.24 * len(shown), left=left)
        columns = [
            np.unique(findings.cells.adjusted[findings.cells.solver == solver], return_counts=True)
            for solver in shown
        ]
        most = max((int(counts.max()) for _, counts in columns), default=1)
        of_system = dict(zip([e.system for e in findings.estimates], colors(), strict=False))
        for row, (solver, (values, counts)) in enumerate(zip(shown, columns, strict=True)):
            color = of_system.get(averages.solvers[solver], LINE)
            axes.scatter(
                values,
                [row] * len(values),
                s=12 + 110 * counts / most,
                color=color,
                alpha=0.45,
                linewidths=0,
            )
            mean = float(np.average(values, weights=counts))
            axes.plot([mean, mean], [row - 0.36, row + 0.36], color=INK, linewidth=2)
        axes.set_yticks(range(len(shown)), labels)
        axes.set_ylim(-0.6, len(shown) - 0.4)
        within = " within blocks" if findings.cells.is_blocked else ""
        axes.set_title(f"Ranks of each solver{within}; the bar is the mean")
        tidy(axes, x=f"adjusted rank{within} (1 = worst)", grid="x")
        axes.tick_params(axis="y", length=0)
        axes.axhline(-0.6, color=GRID, linewidth=0.6)
    return figure


def _solver_label(findings: ExperienceFindings, index: int) -> str:
    averages = findings.averages
    name = averages.solvers[index]
    if averages.kinds[index] == "subject":
        return f"{short(name)} ({averages.experience[index]:g})"
    return short(system_name(findings, name))


# For narrow pages.
NARROW: Mapping[str, Callable[[ExperienceFindings], Figure | None]] = {
    "estimate": partial(estimate, narrow=True),
    "skill-function": partial(skill_function, narrow=True),
}
# By file stem.
FIGURES: Mapping[str, Callable[[ExperienceFindings], Figure | None]] = {
    "scale": scale,
    "estimate": estimate,
    "skill-function": skill_function,
    "ranks": ranks,
}
