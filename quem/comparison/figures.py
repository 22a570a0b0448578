"""The figure of a comparison: years of the versions of a system over their dates."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num

from quem.comparison.statement import center
from quem.comparison.systems import dated
from quem.report.drawing import HALO, colors, one_axes, tidy, with_style
from quem.wording import format_number, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from quem.comparison.result import ComparisonFindings


def versions(found: ComparisonFindings, width: float = 7.2) -> Figure | None:
    """Draw the years of each version, with its interval, at its date."""
    families = dated(found.systems)
    if not families:
        return None
    with with_style():
        figure, axes = one_axes(width, 3.6, left=0.6, right=0.2)
        for family, color in zip(families.values(), colors(), strict=False):
            days, years = (
                date2num([one.declared.date for one in family]),
                [center(one) for one in family],
            )
            axes.plot(days, years, "--", color=color, linewidth=1)
            for day, one, middle in zip(days, family, years, strict=True):
                low, high = one.reference.interval
                if high is None:
                    arrow = {"arrowstyle": "->", "color": color, "linewidth": 2}
                    top = one.core.population.high
                    axes.annotate("", (day, top), (day, low), arrowprops=arrow)
                    high = top
                axes.plot([day, day], [low, high], color=color, linewidth=2)
                axes.plot([day], [middle], "D", color=color, markersize=6)
                least = "≥ " if one.reference.open else ""
                text = f"{short(one.of.name)}\n{least}{format_number(middle)}"
                axes.annotate(
                    text, (day, middle), (8, 0), textcoords="offset points", va="center", bbox=HALO
                )
        axes.margins(x=0.18)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(locator := AutoDateLocator())
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        tidy(axes, y=f"experience ({short(found.unit, 30)})")
    return figure


FIGURES = {"versions": versions}
NARROW = {"versions": partial(versions, width=3.7)}
