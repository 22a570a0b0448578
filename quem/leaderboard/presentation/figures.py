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
    colors,
    heat_map,
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


def _shown_measures(findings: LeaderboardFindings, most: int) -> list[int]:
    """The headline and the measures after it that rank two systems at least."""
    count = len(findings.table.measures)
    ranking = (~np.isnan(findings.oriented)).sum(axis=0) >= _PAIR
    order = dict.fromkeys([findings.headline, *range(count)])
    return [at for at in order if ranking[at]][:most]


def _measures(findings: LeaderboardFindings) -> Figure | None:
    """The place of each system by each measure."""
    measures = _shown_measures(findings, _MOST_COLUMNS)
    systems = findings.order(findings.headline)[:_MOST_LINES]
    if len(measures) < _PAIR or len(systems) < _FEW:
        return None
    labels = [short(findings.names[system], 28) for system in systems]
    titles = [short(findings.measure(at), 22) for at in measures]
    turned = max(map(len, titles)) > 8 or len(titles) > 8  # noqa: PLR2004  would touch
    left = label_inches(labels)
    top = 0.1 + 0.87 * label_inches(titles) if turned else 0.35
    plot, body = 0.62 * len(measures), 0.3 * len(systems)
    # Turned titles lean over to the right.
    right = max(left + 0.1, 0.72 * label_inches(titles[-1:])) if turned else left + 0.1
    width, height = left + plot + right, top + body + 0.15
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((left / width, 0.1 / height, plot / width, body / height))
    # By other measures the same systems, placed among each other.
    places = _places_among(findings, systems, measures)
    for number, (row, color) in enumerate(zip(places, colors(), strict=False)):
        style = "-" if number < len(SYSTEMS) else "--"
        x = np.arange(len(measures))
        axes.plot(x, row, color=color, linewidth=1.6, linestyle=style)
        axes.plot(x, row, "o", color=color, markersize=5.5)
        for side, at in (("right", 0), ("left", -1)):
            if np.isfinite(row[at]):
                beside = (-0.28 if at == 0 else len(measures) - 0.72, float(row[at]))
                axes.text(*beside, labels[number], color=color, ha=side, va="center")
    axes.set_xlim(-0.2, len(measures) - 0.8)
    axes.set_ylim(np.nanmax(places) + 0.5, 0.5)
    angle: dict[str, Any] = {"rotation": 50, "ha": "left", "rotation_mode": "anchor"}
    axes.set_xticks(range(len(measures)), titles, **(angle if turned else {}))
    axes.xaxis.tick_top()
    axes.set_yticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure


def _places_among(
    findings: LeaderboardFindings, systems: list[int], measures: list[int]
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Places from 1, equal ones drawn in the order of the headline; NaN where not ranked."""
    places = np.full((len(systems), len(measures)), np.nan)
    for column, at in enumerate(measures):
        ranked = [row for row, s in enumerate(systems) if not np.isnan(findings.oriented[s, at])]
        ranked.sort(key=lambda row: -findings.oriented[systems[row], at])
        places[ranked, column] = np.arange(1, len(ranked) + 1)
    return places


def _agreement(findings: LeaderboardFindings) -> Figure | None:
    """Kendall's tau between the orders by each two measures."""
    measures = _shown_measures(findings, _MOST_CELLS)
    if len(measures) < _FEW or len(findings.names) < _FEW:
        return None
    tau = findings.agreement[np.ix_(measures, measures)]
    others = np.where(np.eye(len(measures), dtype=bool), np.nan, tau)
    known = ~np.isnan(others)
    count = known.sum(axis=1)
    mean = np.where(count, np.nansum(others, axis=1) / np.maximum(count, 1), np.nan)
    names = [short(findings.measure(at), 22) for at in measures]
    title = "Kendall's tau between orders"
    return heat_map(names, [*names, "mean"], np.column_stack([others, mean]), title)


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
    "measures": _styled(_measures),
    "agreement": _styled(_agreement),
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
