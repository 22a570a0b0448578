"""The figures of a plan: where the width is reached, and what more of something gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from quem.report.drawing import INK, INNER_BAND, LINE, MUTED, PAPER, SYSTEMS, tidy, with_style
from quem.wording import format_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.contour import QuadContourSet
    from numpy.typing import NDArray

    from quem.planning.designs import StudyDesign
    from quem.planning.result import PlanFindings

_MOST_PANELS = 6
_COLUMNS = 3
_WANTED = SYSTEMS[0]
_LEVELS = 6

CAPTIONS = {
    "reach": "Half-width of the prediction interval by the closed form, over numbers of subjects "
    "and problems, a panel for each number of judges. Where the ground is blue the wanted "
    "half-width is reached; dots are the designs of the table, the diamond is the first to take.",
    "growth": "Half-width by the closed form when one number changes and the other two stay. "
    "Dashed: what is wanted; dotted: what no number of anything goes below. A circle is the "
    "simulated half-width.",
}


def reach(plan: PlanFindings) -> Figure | None:
    """Draw contours of the half-width, a panel for each number of judges.

    None where only one number of subjects or of problems was looked at.
    """
    designs = plan.designs
    if len(designs.subjects) == 1 or len(designs.problems) == 1:
        return None
    panels = _panels(plan)
    columns = min(_COLUMNS, len(panels)) if len(panels) != 4 else 2  # noqa: PLR2004  two by two
    n_rows = -(-len(panels) // columns)
    with with_style():
        width, height = 0.75 + 2.75 * columns, 0.55 + 2.35 * n_rows
        figure = Figure(figsize=(width, height))
        axes = figure.subplots(n_rows, columns, sharex=True, sharey=True, squeeze=False)
        figure.subplots_adjust(
            left=0.6 / width,
            right=1 - 0.15 / width,
            bottom=0.5 / height,
            top=1 - 0.35 / height,
            wspace=0.12,
            hspace=0.22,
        )
        for place, panel in enumerate(panels):
            at = axes.flat[place]
            _contours(at, plan, panel)
            _designs_shown(at, plan, panel)
            judges = int(designs.judges[panel])
            at.set_title(f"{judges} judge{'s' if judges != 1 else ''}")
            last = place + columns >= len(panels)
            tidy(
                at,
                x="subjects" if last else "",
                y="problems" if place % columns == 0 else "",
                grid="both",
            )
            at.tick_params(labelbottom=last)
            at.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
            at.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
        for empty in axes.flat[len(panels) :]:
            empty.set_axis_off()
    return figure


def _panels(plan: PlanFindings) -> list[int]:
    """Which numbers of judges are drawn: evenly chosen, the one to begin with among them."""
    judges = plan.designs.judges
    if len(judges) <= _MOST_PANELS:
        return list(range(len(judges)))
    chosen = np.linspace(0, len(judges) - 1, _MOST_PANELS).round().astype(int).tolist()
    wanted = int(np.searchsorted(judges, plan.design(plan.suggested_index).judges))
    nearest = min(range(_MOST_PANELS), key=lambda i: abs(chosen[i] - wanted))
    chosen[nearest] = wanted
    return sorted(chosen)


def _contours(axes: Axes, plan: PlanFindings, panel: int) -> None:
    designs, width = plan.designs, plan.settings.width
    # Rows are problems, columns subjects.
    values = designs.half_width[panel].T
    where = (designs.subjects, designs.problems, values)
    if width is not None and values.min() < width:
        axes.contourf(*where, levels=[0, width], colors=[INNER_BAND])
    levels = [level for level in _levels(designs.half_width) if level != width]
    lines = axes.contour(*where, levels=levels, colors=[LINE], linewidths=0.8)
    _label(axes, lines, LINE)
    if width is not None and values.min() < width < values.max():
        wanted = axes.contour(*where, levels=[width], colors=[_WANTED], linewidths=2)
        _label(axes, wanted, _WANTED)


def _label(axes: Axes, lines: QuadContourSet, color: str) -> None:
    axes.clabel(lines, fmt=lambda level: f"± {level:g}", fontsize=7.5, colors=color)


def _levels(values: NDArray[np.float64]) -> list[float]:
    """Round values, closer where the designs are: most of them are narrow."""
    low, high = float(values.min()), float(np.quantile(values, 0.97))
    steps = np.array(MaxNLocator(nbins=_LEVELS, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))
    fine = (steps[:-1] + steps[1:]) / 2
    lower = [level for level in fine if level < np.median(values)]
    return sorted({round(float(level), 6) for level in (*steps, *lower) if low < level < high}) or [
        low
    ]


def _designs_shown(axes: Axes, plan: PlanFindings, panel: int) -> None:
    judges = int(plan.designs.judges[panel])
    for index in plan.shown:
        design = plan.design(index)
        if design.judges == judges:
            first = index == plan.recommended
            axes.plot(
                design.subjects,
                design.problems,
                "D" if first else "o",
                color=_WANTED if first else INK,
                markersize=8 if first else 4.5,
                markeredgecolor=PAPER,
                markeredgewidth=0.8,
                clip_on=False,
                zorder=4,
            )


def growth(plan: PlanFindings) -> Figure:
    """Draw the half-width as subjects, problems or judges change and the others stay."""
    design = plan.design(plan.suggested_index)
    with with_style():
        figure = Figure(figsize=(7.4, 2.75))
        axes = figure.subplots(1, 3, sharey=True)
        figure.subplots_adjust(left=0.085, right=0.985, bottom=0.19, top=0.87, wspace=0.1)
        top = 0.0
        for at, name in zip(axes, ("subjects", "problems", "judges"), strict=True):
            curve, now = _curve(plan, design, name)
            at.plot(curve[0], curve[1], color=LINE, linewidth=2)
            at.plot([now], [plan.formula(design)], "D", color=_WANTED, markersize=6.5)
            _lines(at, plan)
            trial = plan.trials.get(plan.suggested_index)
            if trial:
                at.plot([now], [trial.half_width], "o", color="none", markeredgecolor=INK)
            others = [f"{v} {k}" for k, v in design._asdict().items() if k != name]
            at.set_title(" and ".join(others), fontweight="normal")
            at.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
            tidy(at, x=name, grid="both")
            top = max(top, float(curve[1].max()))
        height = _height(plan, design)
        axes[0].set_ylim(0, min(top, max(2 * plan.formula(design), height)) * 1.08 or 1)
        axes[0].set_ylabel(f"half-width, ± {plan.unit}")
    return figure


def _curve(
    plan: PlanFindings, design: StudyDesign, name: str
) -> tuple[tuple[NDArray[np.int64], NDArray[np.float64]], int]:
    """Half-widths over one number, from few to twice and more what the design has."""
    now = int(getattr(design, name))
    first = 4 if name == "subjects" else 1
    counts = np.unique(np.linspace(min(first, now), max(2 * now, now + 6), 60).round().astype(int))
    widths = [plan.formula(design._replace(**{name: int(count)})) for count in counts]
    return (counts, np.array(widths)), now


def _height(plan: PlanFindings, design: StudyDesign) -> float:
    """How high the curves are drawn: a little above the wanted width, if that is near."""
    drawn = plan.formula(design)
    return 1.5 * max(drawn, min(plan.settings.width or 0.0, 2 * drawn))


def _lines(axes: Axes, plan: PlanFindings) -> None:
    """What is wanted, and what no number of anything goes below, each with its value."""
    limit, width = plan.half_width_limit, plan.settings.width or 0.0
    for value, style, color, text in (
        (width, "--", _WANTED, "wanted"),
        (limit, ":", MUTED, "limit"),
    ):
        # What lies far above all that is drawn is not looked for there.
        if value and value <= _height(plan, plan.design(plan.suggested_index)):
            axes.axhline(value, linestyle=style, color=color, linewidth=1.2)
            axes.annotate(
                f"{text} ± {format_number(value, 2)}",
                (1, value),
                (-2, 3 if value == max(limit, width) else -9),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                color=color,
                fontsize=7.5,
                ha="right",
            )


# By file stem.
FIGURES: Mapping[str, Callable[[PlanFindings], Figure | None]] = {"reach": reach, "growth": growth}
