"""The figures of a leaderboard."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from quem.leaderboard.presentation.columns import changes_of
from quem.report.drawing import (
    BAND,
    INK,
    LINE,
    MOST_ROWS,
    MUTED,
    SYSTEMS,
    label_inches,
    one_axes,
    tidy,
    with_style,
)
from quem.wording import format_percent, short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes

    from quem.leaderboard.result import LeaderboardFindings

_ROW = 0.29  # inches
_GROUP = 0.17
_PAIR, _FEW = 2, 3
_MOST_GROUPS = 26
_MOST_STEPS = 4
_MOST_LINES, _MOST_COLUMNS = 14, 12
_MOST_CELLS = 24
# More bars are drawn as an area.
_MOST_BARS = 400


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


def _changes(findings: LeaderboardFindings, width: float = 5.6) -> Figure | None:
    """The change on each query, from the largest gain to the largest loss."""
    steps = [step for step in findings.steps if changes_of(findings, step)][:_MOST_STEPS]
    if not steps:
        return None
    height = 0.3 + 2.25 * len(steps)
    figure = Figure(figsize=(width, height))
    left = 0.65 / width
    for number, step in enumerate(steps):
        axes = figure.add_axes(
            (left, 1 - (0.3 + 2.25 * number + 1.6) / height, 0.98 - left, 1.55 / height)
        )
        _change_bars(axes, findings, step)
    return figure


def _change_bars(axes: Axes, findings: LeaderboardFindings, step: tuple[int, int]) -> None:
    higher = findings.table.measures[findings.headline].better == "higher"
    gains = np.array(sorted((gain for _, gain in changes_of(findings, step)), reverse=True))
    shown = gains if higher else -gains
    one = findings.contrast(*step, findings.headline)
    x = np.arange(len(gains))
    if np.isfinite(one.interval).all():
        axes.axhspan(*one.interval, color=BAND, zorder=0)
    axes.axhline(one.difference, color=LINE, linewidth=1.2, linestyle="--")
    for some, color in ((gains > 0, LINE), (gains < 0, SYSTEMS[0])):
        if len(gains) <= _MOST_BARS:
            axes.bar(x[some], shown[some], width=0.85, color=color)
        else:
            axes.fill_between(x, np.where(some, shown, 0.0), step="mid", color=color, linewidth=0)
    axes.axhline(0, color=MUTED, linewidth=0.9)
    axes.set_xticks([])
    axes.set_xlim(-0.6, len(gains) - 0.4)
    first, second = (short(findings.names[at], 26) for at in step)
    axes.set_title(f"{second} − {first}", fontweight="normal")
    query = findings.table.nouns[1]
    text = f"a bar per {query}: {one.better:,} better, {one.worse:,} worse, {one.equal:,} equal"
    tidy(axes, x=text, y=short(findings.measure(findings.headline), 24))


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
    "changes": _styled(_changes),
}


def _narrow_board(findings: LeaderboardFindings) -> Figure | None:
    return _leaderboard(findings, 18, 1.7)


def _narrow_changes(findings: LeaderboardFindings) -> Figure | None:
    return _changes(findings, 3.6)


# For the page on a phone.
NARROW: Mapping[str, Callable[[LeaderboardFindings], Figure | None]] = {
    "leaderboard": _styled(_narrow_board),
    "changes": _styled(_narrow_changes),
}
