"""Each person with and without help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from quem.experience.comparison.showing.phrases import rank_interval
from quem.experience.wording import p_text, percent, signed
from quem.report.canvas import MOST_ROWS, colours, label_inches, short
from quem.report.drawing import MUTED, PAPER, tidy, with_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quem.experience.comparison.findings import Comparison
    from quem.experience.comparison.uplift import PersonUplift, Uplift

__all__ = ["uplift"]

_ROW = 0.26  # inches
_MOST_PANELS = 4


def uplift(found: Comparison) -> Figure | None:
    """Draw each person's average rank alone and with help, the least experienced below."""
    shown = found.uplifts[:_MOST_PANELS]
    if not shown:
        return None
    years = {s.id: s.experience for s in found.studies[0].study.spec.subjects}

    def experience(person: PersonUplift) -> float:
        return years[person.person]

    people = [sorted(one.people, key=experience)[-MOST_ROWS:] for one in shown]
    labels = [
        [f"{short(person.person, 18)} ({experience(person):g})" for person in group]
        for group in people
    ]
    with with_style():
        left = label_inches([label for group in labels for label in group])
        heights = [1.0 + _ROW * len(group) for group in people]
        width, height = left + 4.9, sum(heights)
        figure = Figure(figsize=(width, height))
        top = height
        for one, group, names, inches, colour in zip(
            shown, people, labels, heights, colours(), strict=False
        ):
            place = (left / width, (top - inches + 0.5) / height)
            size = (1 - (left + 0.75) / width, (inches - 0.9) / height)
            axes = figure.add_axes((*place, *size))
            _people(axes, group, names, colour)
            axes.set_title(_title(found, one), fontweight="normal")
            top -= inches
    return figure


def _title(found: Comparison, one: Uplift) -> str:
    name = short(found.studies[0].name_of(one.system), 26)
    interval = rank_interval(one.test.interval)
    more = (
        f" ({percent(found.level)} {interval}; {p_text(one.test.p)})" if not one.test.reason else ""
    )
    return f"With {name}: {signed(one.gain, 2)}{more}"


def _people(axes: Axes, people: list[PersonUplift], names: list[str], colour: str) -> None:
    place = axes.get_yaxis_transform()
    for row, person in enumerate(people):
        axes.annotate(
            "",
            (person.aided, row),
            (person.unaided, row),
            arrowprops={"arrowstyle": "-|>", "color": colour, "shrinkA": 4, "shrinkB": 4},
        )
        axes.plot([person.unaided], [row], "o", color=MUTED, markerfacecolor=PAPER, markersize=6)
        axes.plot([person.aided], [row], "D", color=colour, markersize=5)
        axes.text(1.02, row, signed(person.gain, 2), transform=place, va="center")
    axes.set_yticks(range(len(people)), names)
    axes.set_ylim(-0.7, len(people) - 0.3)
    axes.margins(x=0.08)
    tidy(axes, x="average rank among those who worked alone: ○ alone, ◆ with help", grid="x")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
