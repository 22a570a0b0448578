"""The figure of a comparison: years of a system's versions over their dates."""

from __future__ import annotations

from datetime import date
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
            days: list[Any] = [date.fromisoformat(one.row.date) for one in family]
            known = [one.of.reference for one in family]
            years = [of.interval[0] if of.open else of.experience for of in known]
            axes.plot(days, years, "--", color=color, linewidth=1)
            for day, middle, one in zip(days, years, family, strict=True):
                low, high = one.of.reference.interval
                end = one.trial.core.population.high if high is None else high
                axes.plot([day, day], [low, end], color=color, linewidth=2)
                if high is None:
                    axes.plot([day], [end], "^", color=color, markersize=7)
                axes.plot([day], [middle], "D", color=color, markersize=6)
                text = f"{short(one.of.name)}\n{'≥ ' * (high is None)}{format_number(middle)}"
                off: Any = {"xytext": (8, -12), "textcoords": "offset points", "va": "center"}
                axes.annotate(text, (day, middle), bbox=HALO, **off)
        dates: list[Any] = sorted(one.row.date for of in families.values() for one in of)
        dates = [date.fromisoformat(day) for day in dates]
        shown = dates[:1]
        for day in dates:
            if day - shown[-1] > (dates[-1] - dates[0]) * 1.4 / width:
                shown.append(day)
        axes.set_xticks(shown, [str(day) for day in shown])
        axes.margins(x=0.18)
        axes.set_ylim(bottom=0)
        tidy(axes, y=f"experience ({short(found.unit, 30)})")
    return figure


FIGURES = {"versions": versions}
NARROW = {"versions": partial(versions, width=3.7)}
