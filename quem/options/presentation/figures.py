"""The figures of an analysis of option lists, by file stem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.report.drawing import (
    BAND,
    GRID,
    MUTED,
    colors,
    label_inches,
    one_axes,
    tidy,
)
from quem.wording import format_percent, short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes

    from quem.options.result import OptionsFindings
    from quem.options.thresholds import Sweep

_MOST_SYSTEMS = 6
_MOST_LENGTHS = 30


def _scores(findings: OptionsFindings) -> Figure:
    """Each measure a row, each system a color."""
    names = findings.scorer.names
    shown = findings.system_scores[:_MOST_SYSTEMS]
    step = 0.8 / max(len(shown), 2)
    left = label_inches(names)
    height = 0.95 + max(0.27, 0.13 * len(shown)) * len(names)
    legend = 0.25 + label_inches(short(findings.name_of(s.system)) for s in shown)
    right = legend if len(shown) > 1 else 0.15
    figure, axes = one_axes(left + 4.2 + right, height, left=left, right=right)
    for index, (entry, color) in enumerate(zip(shown, colors(), strict=False)):
        rows = np.arange(len(names)) + (index - (len(shown) - 1) / 2) * step
        ends = np.array(entry.intervals)
        axes.hlines(rows, ends[:, 0], ends[:, 1], color=color, linewidth=1.6)
        axes.plot(
            entry.scores,
            rows,
            "D",
            color=color,
            markersize=4.5,
            label=short(findings.name_of(entry.system)),
        )
    axes.set_yticks(range(len(names)), names)
    axes.get_yticklabels()[findings.scorer.headline].set_fontweight("bold")
    axes.set_ylim(len(names) - 0.4, -0.6)
    intervals = f", {format_percent(findings.settings.level)} intervals"
    axes.set_title(f"Means{intervals if findings.settings.bootstrap else ''}")
    tidy(axes, x="score", grid="x")
    axes.tick_params(axis="y", length=0)
    if len(shown) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    return figure


def _lengths(findings: OptionsFindings) -> Figure:
    """A panel a system: lists with a correct option below, those without it above."""
    shown = findings.system_scores[:_MOST_SYSTEMS]
    figure, panels = _stacked(len(shown), 1.75)
    longest = max((group.length for group in findings.groups), default=0)
    for axes, entry, color in zip(panels, shown, colors(), strict=False):
        groups = [group for group in findings.groups if group.system == entry.system]
        at, has, lacks = _binned(
            [(group.length, group.correct, group.count - group.correct) for group in groups],
            longest,
        )
        width = 0.8 * (at[1] - at[0] if len(at) > 1 else 1)
        axes.bar(at, has, width, color=color, label="with a correct option")
        axes.bar(
            at,
            lacks,
            width,
            bottom=has,
            color=GRID,
            edgecolor=MUTED,
            linewidth=0.5,
            label="without",
        )
        if longest <= _MOST_LENGTHS:
            axes.set_xticks(range(longest + 1))
        axes.set_title(short(findings.name_of(entry.system), 40))
        tidy(axes, y="lists")
    panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.1)
    panels[-1].set_xlabel("options in the list")
    return figure


def _binned(
    counts: list[tuple[int, int, int]], longest: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts by length, several lengths together where there are many."""
    width = max(1, -(-(longest + 1) // (2 * _MOST_LENGTHS))) if longest > _MOST_LENGTHS else 1
    n = longest // width + 1
    has, lacks = np.zeros(n), np.zeros(n)
    for length, correct, wrong in counts:
        has[length // width] += correct
        lacks[length // width] += wrong
    return np.arange(n) * width + (width - 1) / 2, has, lacks


def _thresholds(findings: OptionsFindings) -> Figure | None:
    """A panel a system: the headline by threshold, and beside it how long the lists are."""
    shown = findings.sweeps[:_MOST_SYSTEMS]
    if not shown:
        return None
    height = 0.55 + 2.3 * len(shown)
    figure = Figure(figsize=(8.2, height))
    panels = figure.subplots(len(shown), 2, squeeze=False, sharex="row")
    figure.subplots_adjust(
        left=0.08, right=0.99, top=1 - 0.3 / height, bottom=0.5 / height, hspace=0.45, wspace=0.22
    )
    for (scores, lengths), sweep, color in zip(panels, shown, colors(), strict=False):
        _curve(findings, scores, sweep, color)
        lengths.step(sweep.threshold, sweep.mean_length, where="pre", color=color)
        lengths.set_title("Mean length of the lists")
        lengths.set_ylim(bottom=0)
        tidy(lengths, y="options")
    for axes in panels[-1]:
        axes.set_xlabel("threshold of confidence")
    return figure


def _curve(findings: OptionsFindings, axes: Axes, sweep: Sweep, color: str) -> None:
    axes.fill_between(sweep.threshold, sweep.low, sweep.high, color=BAND, linewidth=0)
    values = sweep.scores[:, findings.scorer.headline]
    axes.plot(sweep.threshold, values, color=color, linewidth=1.6)
    axes.set_title(f"{short(findings.name_of(sweep.system), 28)}: {findings.headline}")
    tidy(axes, y=findings.headline)


_ACROSS = 3


def _reliability(findings: OptionsFindings) -> Figure | None:
    """A panel a system: share of correct options by confidence, and options in each bin."""
    shown = findings.calibrations[:_MOST_SYSTEMS]
    if not shown:
        return None
    across = min(len(shown), _ACROSS)
    down = -(-len(shown) // across)
    figure = Figure(figsize=(0.75 + 2.5 * across, 0.65 + 2.55 * down))
    width, height = figure.get_size_inches()
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
    for axes, one, color in zip(panels.ravel(), shown, colors(), strict=False):
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.9, linestyle="--")
        mean = np.array([part.mean for part in one.bins])
        ends = np.array([part.share_interval for part in one.bins])
        axes.vlines(mean, ends[:, 0], ends[:, 1], color=color, linewidth=1.4)
        axes.plot(mean, [part.share for part in one.bins], "o-", color=color, markersize=4)
        axes.set_title(short(findings.name_of(one.system), 26))
        axes.set_aspect("equal")
        tidy(axes)
    for axes in panels[:, 0]:
        axes.set_ylabel("share correct")
    for axes in panels[-1]:
        axes.set_xlabel("confidence")
    panels[0, 0].set_xlim(-0.02, 1.02)
    panels[0, 0].set_ylim(-0.02, 1.02)
    return figure


def _stacked(count: int, each: float) -> tuple[Figure, list[Axes]]:
    """Panels one below the other, with one x axis."""
    height = 0.75 + each * count
    figure = Figure(figsize=(5.2, height))
    panels = figure.subplots(count, 1, squeeze=False, sharex=True).ravel().tolist()
    figure.subplots_adjust(
        left=0.12, right=0.98, top=1 - 0.3 / height, bottom=0.5 / height, hspace=0.35
    )
    return figure, panels


# By file stem.
FIGURES: Mapping[str, Callable[[OptionsFindings], Figure | None]] = {
    "scores": _scores,
    "lengths": _lengths,
    "thresholds": _thresholds,
    "reliability": _reliability,
}
