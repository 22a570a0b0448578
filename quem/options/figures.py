"""The figures of an analysis of option lists, by file stem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from quem.report.drawing import BAND, MUTED, colors, tidy
from quem.wording import short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quem.report.result import Drawers
    from quem.report.rows import Interval
    from quem.scores.result import Scored

_MOST_SYSTEMS, _ACROSS = 6, 3


def _by_system(of: Scored, rows: Iterable[Any]) -> list[tuple[str, str, list[Any]]]:
    """Name, color, and rows of each of the first systems."""
    names = dict(zip(of.table.systems, of.table.labels, strict=True))
    groups: dict[str, list[Any]] = {}
    for row in rows:
        groups.setdefault(row.system, []).append(row)
    shown = zip(groups.items(), colors(), strict=False)
    return [(short(names[one], 26), color, own) for (one, own), color in shown][:_MOST_SYSTEMS]


def _ends(intervals: Iterable[Interval | None]) -> tuple[list[float], list[float]]:
    """Lower and upper ends; NaN without an interval."""
    low, high = zip(*((np.nan, np.nan) if one is None else one for one in intervals), strict=True)
    return list(low), list(high)


def _thresholds(of: Scored) -> Figure | None:
    """A panel per system: the headline by threshold, with the length of the lists."""
    shown = _by_system(of, of.found.thresholds)
    if not shown:
        return None
    headline = of.table.columns[0]
    figure = Figure(figsize=(8.2, 0.55 + 2.3 * len(shown)), layout="constrained")
    panels = figure.subplots(len(shown), 2, squeeze=False, sharex="row")
    for (scores, lengths), (name, color, rows) in zip(panels, shown, strict=True):
        at = [row.threshold for row in rows]
        low, high = _ends(row.interval for row in rows)
        scores.fill_between(at, low, high, color=BAND, linewidth=0)
        means = [np.nan if row.mean is None else row.mean for row in rows]
        scores.plot(at, means, color=color, linewidth=1.6)
        scores.set_title(f"{name}: {headline}")
        tidy(scores, y=headline)
        lengths.step(at, [row.length for row in rows], where="pre", color=color)
        lengths.set_title("Mean length of the lists")
        lengths.set_ylim(bottom=0)
        tidy(lengths, y="options")
    for axes in panels[-1]:
        axes.set_xlabel("threshold of confidence")
    return figure


def _reliability(of: Scored) -> Figure | None:
    """A panel per system: accuracy by confidence."""
    shown = _by_system(of, of.found.reliability)
    if not shown:
        return None
    across = min(len(shown), _ACROSS)
    down = -(-len(shown) // across)
    size = (0.75 + 2.5 * across, 0.65 + 2.55 * down)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
    for axes in panels.ravel()[len(shown) :]:
        axes.set_axis_off()
    for axes, (name, color, rows) in zip(panels.ravel(), shown, strict=False):
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.9, linestyle="--")
        confidence = [row.confidence for row in rows]
        axes.vlines(confidence, *_ends(row.interval for row in rows), color=color, linewidth=1.4)
        axes.plot(confidence, [row.correct for row in rows], "o-", color=color, markersize=4)
        axes.set_title(name)
        axes.set_aspect("equal")
        tidy(axes)
    figure.supxlabel("confidence")
    figure.supylabel("share correct")
    panels[0, 0].set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    return figure


FIGURES: Drawers[Scored] = {"thresholds": _thresholds, "reliability": _reliability}
