"""The figure of a plan: what more of something gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from quem.report.drawing import INK, LINE, MUTED, SYSTEMS, tidy, with_style
from quem.wording import format_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from quem.planning.designs import StudyDesign
    from quem.planning.result import PlanFindings

_WANTED = SYSTEMS[0]

CAPTIONS = {
    "growth": "Half-width by the closed form when one number changes and the other two stay. "
    "Dashed: what is wanted; dotted: what no number of anything goes below. A circle is the "
    "simulated half-width.",
}


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
FIGURES: Mapping[str, Callable[[PlanFindings], Figure | None]] = {"growth": growth}
