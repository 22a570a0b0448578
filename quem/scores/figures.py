"""The figure of a score table: means with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.report.drawing import MOST_ROWS, MUTED, SYSTEMS, label_inches, tidy
from quem.wording import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quem.report.result import Drawers
    from quem.scores.result import Scored
    from quem.scores.table import ScoreTable

_ROW = 0.27  # inches
_PANEL, _GAP, _ACROSS, _MOST = 2.15, 0.2, 3, 6


def means_figure(table: ScoreTable) -> Figure | None:
    """The means of up to six measures, the best systems first."""
    layers = [at for at in range(len(table.measures)) if np.isfinite(table.means.mean[:, at]).any()]
    systems = table.order[:MOST_ROWS]
    if not layers or (len(systems) == 1 and np.isnan(table.means.low).all()):
        return None  # a single point is not informative
    figure, panels = _grid([short(table.labels[at], 30) for at in systems], len(layers[:_MOST]))
    for panel, layer in zip(panels, layers, strict=False):
        for row, at in enumerate(systems):
            color = SYSTEMS[row % len(SYSTEMS)] if table.ranked[at, layer] else MUTED
            ends = table.means.low[at, layer], table.means.high[at, layer]
            if np.isfinite(ends).all():
                panel.plot(ends, [row, row], color=color, linewidth=1.8)
            panel.plot([table.means.mean[at, layer]], [row], "D", color=color, markersize=5)
        panel.set_title(table.headings[layer], fontweight="normal")
        panel.margins(x=0.06)
        tidy(panel, x=f"{table.measures[layer].better} is better", grid="x")
        panel.tick_params(axis="y", length=0)
        panel.xaxis.label.set_color(MUTED)
    return figure


def _grid(labels: list[str], count: int) -> tuple[Figure, list[Axes]]:
    """Panels with shared rows, at most three side by side."""
    across = min(count, _ACROSS)
    left, each = label_inches(labels), 0.95 + _ROW * len(labels)
    width = left + (_PANEL + _GAP) * across + 0.15
    height = each * -(-count // across)
    figure = Figure(figsize=(width, height))
    panels = []
    for number in range(count):
        row, column = divmod(number, across)
        place = (
            (left + column * (_PANEL + _GAP)) / width,
            1 - (row * each + 0.35 + _ROW * len(labels)) / height,
            _PANEL / width,
            _ROW * len(labels) / height,
        )
        panel = figure.add_axes(place)
        panel.set_ylim(len(labels) - 0.4, -0.6)
        panel.set_yticks(range(len(labels)), labels if column == 0 else [""] * len(labels))
        panel.spines["left"].set_visible(False)
        panel.locator_params(axis="x", nbins=5)
        panels.append(panel)
    return figure, panels


def _scores(findings: Scored) -> Figure | None:
    return means_figure(findings.table)


FIGURES: Drawers[Scored] = {"scores": _scores}
