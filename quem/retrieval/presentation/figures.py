"""The figures of an evaluation: quality, differences and times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.report.drawing import (
    GRID,
    INK,
    LINE,
    MOST_ROWS,
    MUTED,
    SYSTEMS,
    label_inches,
    tidy,
    with_style,
)
from quem.wording import format_percent, short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes

    from quem.retrieval.result import Evaluated, MacFacFound, MacFacPair, RetrievalFindings

_ROW = 0.27  # inches
_PANEL, _PANELS = 2.15, 3
_MOST_PANELS = 6
# Counted, or all but the same as another.
_SECONDARY = {"hits", "MSE", "completeness"}


def drawn_measures(findings: RetrievalFindings) -> list[int]:
    """Choose up to six measures to draw: the headline, then each once, with k where it has one."""
    best = findings.measures[findings.headline].definition.name
    chosen: dict[str, int] = {}
    for at, measure in enumerate(findings.measures):
        name = measure.definition.name
        changed = dict(measure.values).get("k") is not None and name in chosen
        known = chosen.get(name)
        first_with_k = known is not None and dict(findings.measures[known].values).get("k") is None
        if name not in chosen or (changed and first_with_k):
            chosen[name] = at
    others = [at for name, at in chosen.items() if name not in {*_SECONDARY, best}]
    return [at for at in (findings.headline, *others) if _known(findings, at)][:_MOST_PANELS]


def _known(findings: RetrievalFindings, at: int) -> bool:
    return any(
        one.means is not None and bool(np.isfinite(one.means.mean[at])) for one in findings.scored
    )


def _quality(findings: RetrievalFindings) -> Figure | None:
    measures = drawn_measures(findings)
    rows: list[Evaluated] = list(findings.best_first)[:MOST_ROWS]
    if findings.judges is not None:
        rows.append(findings.judges)
    if not measures or not findings.scored:
        return None
    labels = [short(one.name, 30) for one in rows]
    with with_style():
        figure, panels = _grid(labels, len(measures))
        for panel, at in zip(panels, measures, strict=True):
            for row, one in enumerate(rows):
                if one.means is None:
                    continue
                color = SYSTEMS[row % len(SYSTEMS)]
                if one.source == "judges" or not findings.is_ranked(one.means, at):
                    color = MUTED
                ends = float(one.means.low[at]), float(one.means.high[at])
                _point(panel, row, float(one.means.mean[at]), ends, color)
            measure = findings.measures[at]
            panel.set_title(measure.name, fontweight="normal")
            low, high = measure.definition.low, measure.definition.high
            _limits(panel, low, high)
            better = (
                "higher is better" if measure.definition.better == "higher" else "lower is better"
            )
            tidy(panel, x=better, grid="x")
            panel.tick_params(axis="y", length=0)
            panel.xaxis.label.set_color(MUTED)
    return figure


def _limits(panel: Axes, low: float, high: float) -> None:
    """Where what is shown fills much of the range, show all of it."""
    left, right = panel.get_xlim()
    margin = 0.06 * ((right - left) or 1)
    left, right = left - margin, right + margin
    if np.isfinite(low) and np.isfinite(high) and right - left > 0.5 * (high - low):
        left, right = low - 0.03 * (high - low), high + 0.03 * (high - low)
    panel.set_xlim(left, right)


def _point(axes: Axes, row: int, middle: float, ends: tuple[float, float], color: str) -> None:
    if not np.isfinite(middle):
        return
    if np.isfinite(ends).all():
        axes.plot(ends, [row, row], color=color, linewidth=1.8)
    axes.plot([middle], [row], "D", color=color, markersize=5)


def _grid(labels: list[str], count: int) -> tuple[Figure, list[Axes]]:
    """Panels that share their rows, at most three beside each other."""
    across = min(count, _PANELS)
    down = -(-count // across)
    left, right = label_inches(labels), 0.15
    each = 0.95 + _ROW * len(labels)
    width, height = left + (_PANEL + 0.2) * across + right, each * down
    figure = Figure(figsize=(width, height))
    axes = []
    for number in range(count):
        row, column = divmod(number, across)
        panel = figure.add_axes(
            (
                (left + column * (_PANEL + 0.2)) / width,
                1 - (row * each + 0.35 + _ROW * len(labels)) / height,
                _PANEL / width,
                _ROW * len(labels) / height,
            )
        )
        panel.set_ylim(len(labels) - 0.4, -0.6)
        panel.set_yticks(range(len(labels)), labels if column == 0 else [""] * len(labels))
        panel.spines["left"].set_visible(False)
        panel.locator_params(axis="x", nbins=5)
        axes.append(panel)
    return figure, axes


def _differences(findings: RetrievalFindings) -> Figure | None:
    measures = [findings.headline] if _known(findings, findings.headline) else []
    pairs = [pair for pair in findings.differences if np.isfinite(pair.difference)]
    both = list(dict.fromkeys((pair.first, pair.second) for pair in pairs))[:MOST_ROWS]
    if not both or not measures:
        return None
    names = [one.name for one in findings.scored]
    labels = [f"{short(names[a], 20)} − {short(names[b], 20)}" for a, b in both]
    by_pair = {(pair.first, pair.second, pair.measure): pair for pair in pairs}
    with with_style():
        figure, panels = _grid(labels, len(measures))
        for panel, at in zip(panels, measures, strict=True):
            for row, (first, second) in enumerate(both):
                pair = by_pair.get((first, second, at))
                if pair is None:
                    continue
                clear = pair.p_holm <= 1 - findings.settings.level
                _point(panel, row, pair.difference, pair.interval, LINE if clear else INK)
            panel.axvline(0, color=MUTED, linewidth=0.9)
            panel.set_title(findings.measures[at].name, fontweight="normal")
            panel.margins(x=0.1)
            tidy(
                panel,
                x=f"difference, {format_percent(findings.settings.level)} intervals",
                grid="x",
            )
            panel.tick_params(axis="y", length=0)
    return figure


def _times(findings: RetrievalFindings) -> Figure | None:
    timed = [one for one in findings.evaluated if np.isfinite(one.seconds)][:MOST_ROWS]
    if not timed:
        return None
    labels = [short(one.name, 30) for one in timed]
    left = label_inches(labels)
    width, height = left + 5.2, 0.85 + 0.34 * len(labels)
    with with_style():
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes((left / width, 0.5 / height, 5.0 / width, 1 - 0.6 / height))
        rng = np.random.default_rng(0)
        for row, one in enumerate(timed):
            seconds = one.run.seconds[~np.isnan(one.run.seconds)] * 1000
            if len(seconds) > 300:  # noqa: PLR2004  more dots say no more
                seconds = np.quantile(seconds, np.linspace(0, 1, 300))
            spread = rng.uniform(-0.16, 0.16, len(seconds))
            color = MUTED if one.is_truth else LINE
            axes.plot(seconds, row + spread, "o", color=color, markersize=3, alpha=0.45)
            middle = float(np.median(seconds))
            axes.plot([middle] * 2, [row - 0.3, row + 0.3], color=SYSTEMS[0], linewidth=2)
        axes.set_xscale("log")
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.5, -0.5)
        tidy(axes, x="milliseconds per query", grid="x")
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_formatter(lambda *_: "")
    return figure


_WIDTH, _HEIGHT = 3.3, 3.1


def trade_off(findings: RetrievalFindings) -> Figure | None:
    """Draw quality against time, a line per k; against the size of the filter without times."""
    mac_fac = findings.mac_fac
    if mac_fac is None:
        return None
    timed = all(np.isfinite(pair.share.median) for pair in mac_fac.pairs)
    measures = mac_fac.pairs[0].measures
    shown = [at for at, measure in enumerate(measures) if measure.definition.name != "nDCG"]
    with with_style():
        width = 0.55 + (_WIDTH + 0.35) * len(shown)
        figure = Figure(figsize=(width, _HEIGHT))
        for column, at in enumerate(shown):
            axes = figure.add_axes(
                (
                    (0.5 + column * (_WIDTH + 0.35)) / width,
                    0.55 / _HEIGHT,
                    (_WIDTH - 0.1) / width,
                    1 - 0.95 / _HEIGHT,
                )
            )
            _panel(axes, mac_fac, at, timed=timed, last=column == len(shown) - 1)
            axes.set_title(f"{measures[at].definition.name} at k", fontweight="normal")
            x = f"time, as a share of {mac_fac.fac} alone" if timed else "cases in the filter"
            tidy(axes, x=x, grid="both")
    return figure


def _panel(axes: Axes, mac_fac: MacFacFound, at: int, *, timed: bool, last: bool) -> None:
    by_k: dict[int, list[MacFacPair]] = {}
    for pair in mac_fac.pairs:
        by_k.setdefault(pair.k, []).append(pair)
    # Pairs that go up together make one line.
    lines = list(by_k.items())
    single = all(len(pairs) == 1 for _, pairs in lines)
    if single:
        lines = [(0, list(mac_fac.pairs))]
    for number, (k, pairs) in enumerate(lines):
        color = SYSTEMS[number % len(SYSTEMS)]
        x = np.array([pair.share.median if timed else pair.filter for pair in pairs])
        y = np.array([pair.means.mean[at] for pair in pairs])
        low = np.array([pair.means.low[at] for pair in pairs])
        high = np.array([pair.means.high[at] for pair in pairs])
        mask = np.isfinite(low)
        axes.vlines(x[mask], low[mask], high[mask], color=color, linewidth=1.2, alpha=0.5)
        label = "" if single else f"k = {k:,}"
        axes.plot(x, y, "o-", color=color, markersize=4.5, linewidth=1.4, label=label)
        if number == 0:
            for pair, place, value in zip(pairs, x.tolist(), y.tolist(), strict=True):
                text = f"{pair.filter:,}" + (f" (k {pair.k:,})" if single else "")
                _label(axes, text, place, value)
    axes.axhline(1, color=GRID, linewidth=1, zorder=0)
    if timed:
        axes.axvline(1, color=MUTED, linewidth=0.9, linestyle="--")
        axes.xaxis.set_major_formatter(lambda value, _: format_percent(round(value, 3)))
    axes.margins(x=0.12)
    axes.set_ylim(min(axes.get_ylim()[0], 0.98), 1.02)
    axes.locator_params(axis="x", nbins=6)
    if last and len(lines) > 1:
        axes.legend(loc="lower right")


def _label(axes: Axes, text: str, x: float, y: float) -> None:
    if np.isfinite(x) and np.isfinite(y):
        axes.annotate(
            text,
            (x, y),
            textcoords="offset points",
            xytext=(4, -11),
            fontsize=7,
            color=MUTED,
        )


# By file stem.
FIGURES: Mapping[str, Callable[[RetrievalFindings], Figure | None]] = {
    "quality": _quality,
    "differences": _differences,
    "times": _times,
    "mac-fac": trade_off,
}
