"""The figures of an evaluation beside its scores: times, and quality against time."""

from __future__ import annotations

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


def _times(findings: Scored) -> Figure | None:
    of: Evaluation = findings.found
    names = {one.id: one.name or one.id for one in of.study.spec.retrievers}
    timed = [name for name, run in of.runs.items() if len(run.timed)][:MOST_ROWS]
    if not timed:
        return None
    labels = [short(names[name], 30) for name in timed]
    left = label_inches(labels)
    width, height = left + 5.2, 0.85 + 0.34 * len(labels)
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((left / width, 0.5 / height, 5.0 / width, 1 - 0.6 / height))
    rng = np.random.default_rng(0)
    for row, name in enumerate(timed):
        run = of.runs[name]
        seconds = run.seconds * 1000
        if len(seconds) > 300:  # noqa: PLR2004  more dots say no more
            seconds = np.quantile(seconds, np.linspace(0, 1, 300))
        spread = rng.uniform(-0.16, 0.16, len(seconds))
        color = MUTED if run is of.truth_run else LINE
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


_WIDTH, _HEIGHT, _ACROSS = 3.3, 3.1, 3


def _trade_off(findings: Scored) -> Figure | None:
    """Quality against time, a line per k; against the size of the filter without times."""
    mac_fac: MacFac | None = findings.found.mac_fac
    if mac_fac is None:
        return None
    timed = all(np.isfinite(pair.share.median) for pair in mac_fac.pairs)
    measures = mac_fac.pairs[0].measures
    shown = [at for at, one in enumerate(measures) if one.definition.high == 1][:_ACROSS]
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


def _panel(axes: Axes, mac_fac: MacFac, at: int, *, timed: bool, last: bool) -> None:
    by_k: dict[int, list[Pair]] = {}
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


FIGURES: Drawers[Scored] = {"times": _times, "mac-fac": _trade_off}
