"""The figures of a leaderboard."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from quem.report.drawing import (
    INK,
    LINE,
    MOST_ROWS,
    MUTED,
    label_inches,
    one_axes,
    tidy,
    with_style,
)
from quem.wording import format_percent, short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from quem.leaderboard.result import LeaderboardFindings

_ROW = 0.29  # inches
_GROUP = 0.17
_MOST_GROUPS = 26


def _leaderboard(
    findings: LeaderboardFindings, letters: int = 34, plot: float = 4.0
) -> Figure | None:
    """Means with intervals, best first, and a bar for each group."""
    at = findings.headline
    rows = findings.order(at)[:MOST_ROWS]
    if np.isnan(findings.mean[rows, at]).all():
        return None
    labels = [short(findings.names[row], letters) for row in rows]
    place = {system: row for row, system in enumerate(rows)}
    groups = [
        [place[system] for system in group if system in place] for group in findings.groups[at]
    ][:_MOST_GROUPS]
    groups = [group for group in groups if group]
    left, right = label_inches(labels), 0.25 + _GROUP * len(groups)
    height = 0.85 + _ROW * len(rows)
    figure, axes = one_axes(left + plot + right, height, left=left, right=right)
    for row, system in enumerate(rows):
        ranked = not np.isnan(findings.oriented[system, at])
        color = LINE if ranked else MUTED
        ends = findings.low[system, at], findings.high[system, at]
        if np.isfinite(ends).all():
            axes.plot(ends, [row, row], color=color, linewidth=2.0)
        axes.plot([findings.mean[system, at]], [row], "D", color=color, markersize=5)
    for number, group in enumerate(groups):
        _group_bar(axes, figure, number, group)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    title = f"{findings.measure(at)}, {format_percent(findings.settings.level)} intervals"
    if label_inches([title]) > plot:
        title = short(findings.measure(at), 20)
    axes.set_title(title, fontweight="normal")
    better = findings.table.measures[at].better
    tidy(axes, x=f"{better} is better", grid="x")
    axes.xaxis.label.set_color(MUTED)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return figure


def _group_bar(axes: Axes, figure: Figure, number: int, group: list[int]) -> None:
    """Draw a bar beside the axes, with a dot for each member of a group."""
    width = figure.get_size_inches()[0]
    inside = axes.get_position().width * width
    x = 1 + (0.15 + _GROUP * number) / inside
    place = axes.get_yaxis_transform()
    shown: dict[str, Any] = {"transform": place, "clip_on": False, "color": INK}
    axes.plot([x, x], [min(group), max(group)], linewidth=1.3, solid_capstyle="round", **shown)
    axes.plot(list(repeat(x, len(group))), group, "o", markersize=3.6, **shown)
    letter = chr(ord("a") + number)
    axes.text(x, -0.72, letter, transform=place, ha="center", va="bottom", color=INK)


def _styled(
    draw: Callable[[LeaderboardFindings], Figure | None],
) -> Callable[[LeaderboardFindings], Figure | None]:
    def drawn(findings: LeaderboardFindings) -> Figure | None:
        with with_style():
            return draw(findings)

    return drawn


# By file stem.
FIGURES: Mapping[str, Callable[[LeaderboardFindings], Figure | None]] = {
    "leaderboard": _styled(_leaderboard),
}


def _narrow_board(findings: LeaderboardFindings) -> Figure | None:
    return _leaderboard(findings, 18, 1.7)


# For the page on a phone.
NARROW: Mapping[str, Callable[[LeaderboardFindings], Figure | None]] = {
    "leaderboard": _styled(_narrow_board),
}
