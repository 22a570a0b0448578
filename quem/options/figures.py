"""The figures of an analysis of option lists, by file stem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.report.drawing import BAND, GRID, MUTED, colors, tidy
from quem.wording import short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeVar

    from matplotlib.axes import Axes

    from quem.options.lists import Length
    from quem.options.result import Found
    from quem.report.result import Drawers
    from quem.report.rows import Interval
    from quem.scores.result import Scored

    Of = TypeVar("Of")

_MOST_SYSTEMS, _MOST_BARS, _ACROSS = 6, 30, 3


def _by_system(rows: Iterable[Of]) -> list[list[Of]]:
    """The rows of each of the first systems."""
    groups: dict[str, list[Of]] = {}
    for row in rows:
        groups.setdefault(row.system, []).append(row)  # type: ignore[attr-defined]
    return list(groups.values())[:_MOST_SYSTEMS]


def _lengths(of: Scored) -> Figure:
    """A panel a system: lists with a correct option below, those without it above."""
    found: Found = of.found
    shown = _by_system(found.lengths)
    height = 0.75 + 1.75 * len(shown)
    figure = Figure(figsize=(5.2, height))
    panels = figure.subplots(len(shown), 1, squeeze=False, sharex=True).ravel().tolist()
    figure.subplots_adjust(
        left=0.12, right=0.98, top=1 - 0.3 / height, bottom=0.5 / height, hspace=0.35
    )
    for axes, rows, color in zip(panels, shown, colors(), strict=False):
        _bars(axes, rows, color, found.longest)
        axes.set_title(short(rows[0].name, 40))
        tidy(axes, y="lists")
    panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.1)
    panels[-1].set_xlabel("options in the list")
    return figure


def _bars(axes: Axes, rows: Sequence[Length], color: str, longest: int) -> None:
    """A bar a length; several lengths together where there are many."""
    step = -(-(longest + 1) // _MOST_BARS)
    at = [row.length // step for row in rows]
    every = np.bincount(at, weights=[row.lists for row in rows])
    correct = np.bincount(at, weights=[row.correct for row in rows])
    middle = np.arange(len(every)) * step + (step - 1) / 2
    axes.bar(middle, correct, 0.8 * step, color=color, label="with a correct option")
    axes.bar(
        middle,
        every - correct,
        0.8 * step,
        bottom=correct,
        color=GRID,
        edgecolor=MUTED,
        linewidth=0.5,
        label="without",
    )
    if step == 1:
        axes.set_xticks(range(longest + 1))


def _thresholds(of: Scored) -> Figure | None:
    """A panel a system: the headline by threshold, and beside it how long the lists are."""
    shown = _by_system(of.found.thresholds)
    if not shown:
        return None
    names = dict(zip(of.table.systems, of.table.labels, strict=True))
    headline = of.table.columns[0]
    height = 0.55 + 2.3 * len(shown)
    figure = Figure(figsize=(8.2, height))
    panels = figure.subplots(len(shown), 2, squeeze=False, sharex="row")
    figure.subplots_adjust(
        left=0.08, right=0.99, top=1 - 0.3 / height, bottom=0.5 / height, hspace=0.45, wspace=0.22
    )
    for (scores, lengths), rows, color in zip(panels, shown, colors(), strict=False):
        at = [row.threshold for row in rows]
        low, high = _ends(row.interval for row in rows)
        scores.fill_between(at, low, high, color=BAND, linewidth=0)
        means = [np.nan if row.mean is None else row.mean for row in rows]
        scores.plot(at, means, color=color, linewidth=1.6)
        scores.set_title(f"{short(names[rows[0].system], 28)}: {headline}")
        tidy(scores, y=headline)
        lengths.step(at, [row.length for row in rows], where="pre", color=color)
        lengths.set_title("Mean length of the lists")
        lengths.set_ylim(bottom=0)
        tidy(lengths, y="options")
    for axes in panels[-1]:
        axes.set_xlabel("threshold of confidence")
    return figure


def _ends(intervals: Iterable[Interval | None]) -> tuple[list[float], list[float]]:
    """Lower and upper ends; NaN where there is no interval."""
    low, high = zip(*((np.nan, np.nan) if one is None else one for one in intervals), strict=True)
    return list(low), list(high)


def _reliability(of: Scored) -> Figure | None:
    """A panel a system: share of correct options by confidence."""
    found: Found = of.found
    shown = _by_system(found.reliability)
    if not shown:
        return None
    names = dict(zip(of.table.systems, of.table.labels, strict=True))
    across = min(len(shown), _ACROSS)
    down = -(-len(shown) // across)
    width, height = 0.75 + 2.5 * across, 0.65 + 2.55 * down
    figure = Figure(figsize=(width, height))
    panels = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
    figure.subplots_adjust(
        left=0.6 / width,
        right=1 - 0.1 / width,
        top=1 - 0.3 / height,
        bottom=0.5 / height,
        wspace=0.12,
        hspace=0.3,
    )
    for axes in panels.ravel()[len(shown) :]:
        axes.set_axis_off()
    for axes, rows, color in zip(panels.ravel(), shown, colors(), strict=False):
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.9, linestyle="--")
        confidence = [row.confidence for row in rows]
        axes.vlines(confidence, *_ends(row.interval for row in rows), color=color, linewidth=1.4)
        axes.plot(confidence, [row.correct for row in rows], "o-", color=color, markersize=4)
        axes.set_title(short(names[rows[0].system], 26))
        axes.set_aspect("equal")
        tidy(axes)
    for axes in panels[:, 0]:
        axes.set_ylabel("share correct")
    for axes in panels[-1]:
        axes.set_xlabel("confidence")
    panels[0, 0].set_xlim(-0.02, 1.02)
    panels[0, 0].set_ylim(-0.02, 1.02)
    return figure


FIGURES: Drawers[Scored] = {
    "lengths": _lengths,
    "thresholds": _thresholds,
    "reliability": _reliability,
}
