"""The figure of a comparison: years of the versions of a system over their dates."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

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
            days: list[Any] = [one.declared.date for one in family]
            of = [one.reference for one in family]
            years = [one.interval[0] if one.open else one.experience for one in of]
            axes.plot(days, years, "--", color=color, linewidth=1)
            for day, middle, one in zip(days, years, family, strict=True):
                low, high = one.reference.interval
                end = one.core.population.high if high is None else high
                axes.plot([day, day], [low, end], color=color, linewidth=2)
                if high is None:
                    axes.plot([day], [end], "^", color=color, markersize=7)
                axes.plot([day], [middle], "D", color=color, markersize=6)
                years_text = f"{'≥ ' if high is None else ''}{format_number(middle)}"
                axes.annotate(
                    f"{short(one.of.name)}\n{years_text}",
                    (day, middle),
                    (8, 0),
                    textcoords="offset points",
                    va="center",
                    bbox=HALO,
                )
        axes.margins(x=0.18)
        axes.set_ylim(bottom=0)
        tidy(axes, y=f"experience ({short(found.unit, 30)})")
    return figure


FIGURES = {"versions": versions}
NARROW = {"versions": partial(versions, width=3.7)}
