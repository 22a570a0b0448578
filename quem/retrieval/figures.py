"""The figures of an evaluation besides its scores: times, and quality against time."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.report.drawing import GRID, LINE, MOST_ROWS, MUTED, SYSTEMS, label_inches, tidy
from quem.wording import format_percent, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quem.report.result import Drawers
    from quem.retrieval.analysis import Evaluation
    from quem.retrieval.mac_fac import MacFac, Pair
    from quem.scores.result import Scored

_MOST_DOTS = 300


def _times(findings: Scored) -> Figure | None:
    of: Evaluation = findings.found
    names = {one.id: one.name or one.id for one in of.study.spec.retrievers}
    timed = [name for name, run in of.runs.items() if len(run.timed)][:MOST_ROWS]
    labels = [short(names[name], 30) for name in timed]
    if not timed:
        return None
    left = label_inches(labels)
    width, height = left + 5.2, 0.85 + 0.34 * len(labels)
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((left / width, 0.5 / height, 5.0 / width, 1 - 0.6 / height))
    rng = np.random.default_rng(0)
    for row, run in enumerate(of.runs[name] for name in timed):
        ms = run.seconds * 1000
        if len(ms) > _MOST_DOTS:
            ms = np.quantile(ms, np.linspace(0, 1, _MOST_DOTS))
        color = MUTED if run is of.truth_run else LINE
        spread = rng.uniform(-0.16, 0.16, len(ms))
        axes.plot(ms, row + spread, "o", color=color, markersize=3, alpha=0.45)
        axes.vlines(np.median(ms), row - 0.3, row + 0.3, color=SYSTEMS[0], linewidth=2)
    axes.set_xscale("log")
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    tidy(axes, x="milliseconds per query", grid="x")
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(lambda *_: "")
    return figure


_WIDTH, _HEIGHT, _ACROSS = 3.65, 3.1, 3


def _trade_off(findings: Scored) -> Figure | None:
    """Quality against time, one line per k; without times against the size of the filter."""
    mac_fac: MacFac | None = findings.found.mac_fac
    if mac_fac is None:
        return None
    timed = all(np.isfinite(pair.share.median) for pair in mac_fac.pairs)
    measures = mac_fac.pairs[0].measures
    drawn = [at for at, one in enumerate(measures) if one.definition.high == 1][:_ACROSS]
    if not drawn:
        return None
    figure = Figure(figsize=(_WIDTH * len(drawn), _HEIGHT), layout="constrained")
    panels = figure.subplots(1, len(drawn), squeeze=False)[0]
    for axes, at in zip(panels, drawn, strict=True):
        _panel(axes, mac_fac, at, timed=timed)
        axes.set_title(f"{measures[at].definition.name} at k", fontweight="normal")
        x = f"time, as a share of {mac_fac.fac} alone" if timed else "cases in the filter"
        tidy(axes, x=x, grid="both")
    if panels[-1].get_legend_handles_labels()[0]:
        panels[-1].legend(loc="lower right")
    return figure


def _panel(axes: Axes, mac_fac: MacFac, at: int, *, timed: bool) -> None:
    by_k = groupby(sorted(mac_fac.pairs, key=attrgetter("k")), attrgetter("k"))
    lines: list[tuple[str, list[Pair]]] = [(f"k = {k:,}", list(pairs)) for k, pairs in by_k]
    single = all(len(pairs) == 1 for _, pairs in lines)
    if single:
        # Filters and k that increase together make one line.
        lines = [("", list(mac_fac.pairs))]
    for number, (label, pairs) in enumerate(lines):
        color = SYSTEMS[number % len(SYSTEMS)]
        x = np.array([pair.share.median if timed else pair.filter for pair in pairs])
        y, low, high = (
            np.array([getattr(pair.means, end)[at] for pair in pairs])
            for end in ("mean", "low", "high")
        )
        axes.vlines(x, low, high, color=color, linewidth=1.2, alpha=0.5)
        axes.plot(x, y, "o-", color=color, markersize=4.5, linewidth=1.4, label=label)
        for pair, place in zip(pairs, zip(x, y, strict=True), strict=True) if not number else ():
            text = f"{pair.filter:,}" + (f" (k {pair.k:,})" if single else "")
            if np.isfinite(place).all():
                axes.annotate(
                    text, place, (4, -11), textcoords="offset points", fontsize=7, color=MUTED
                )
    axes.axhline(1, color=GRID, linewidth=1, zorder=0)
    if timed:
        axes.axvline(1, color=MUTED, linewidth=0.9, linestyle="--")
        axes.xaxis.set_major_formatter(lambda value, _: format_percent(round(value, 3)))
    axes.margins(x=0.12)
    axes.set_ylim(min(axes.get_ylim()[0], 0.98), 1.02)
    axes.locator_params(axis="x", nbins=6)


FIGURES: Drawers[Scored] = {"times": _times, "mac-fac": _trade_off}
