"""What a filter costs and what it saves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.report.drawing import GRID, MUTED, SYSTEMS, tidy, with_style
from quem.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quem.retrieval.findings import Findings, MacFacFound, MacFacPair

__all__ = ["trade_off"]

_WIDTH, _HEIGHT = 3.3, 3.1


def trade_off(found: Findings) -> Figure | None:
    """Draw quality against time, a line a k; against the size of the filter without times.

    Parameters
    ----------
    found : Findings
    """
    mac_fac = found.mac_fac
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
        colour = SYSTEMS[number % len(SYSTEMS)]
        x = np.array([pair.share.median if timed else pair.filter for pair in pairs])
        y = np.array([pair.means.mean[at] for pair in pairs])
        low = np.array([pair.means.low[at] for pair in pairs])
        high = np.array([pair.means.high[at] for pair in pairs])
        held = np.isfinite(low)
        axes.vlines(x[held], low[held], high[held], color=colour, linewidth=1.2, alpha=0.5)
        label = "" if single else f"k = {k:,}"
        axes.plot(x, y, "o-", color=colour, markersize=4.5, linewidth=1.4, label=label)
        if number == 0:
            for pair, place, value in zip(pairs, x.tolist(), y.tolist(), strict=True):
                told = f"{pair.filter:,}" + (f" (k {pair.k:,})" if single else "")
                _label(axes, told, place, value)
    axes.axhline(1, color=GRID, linewidth=1, zorder=0)
    if timed:
        axes.axvline(1, color=MUTED, linewidth=0.9, linestyle="--")
        axes.xaxis.set_major_formatter(lambda value, _: percent(round(value, 3)))
    axes.margins(x=0.12)
    axes.set_ylim(min(axes.get_ylim()[0], 0.98), 1.02)
    axes.locator_params(axis="x", nbins=6)
    if last and len(lines) > 1:
        axes.legend(loc="lower right")


def _label(axes: Axes, told: str, x: float, y: float) -> None:
    if np.isfinite(x) and np.isfinite(y):
        axes.annotate(
            told,
            (x, y),
            textcoords="offset points",
            xytext=(4, -11),
            fontsize=7,
            color=MUTED,
        )
