"""The versions of each system in order, with the steps between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.experience.comparison.showing.estimate_figures import ends_of
from quem.experience.comparison.showing.phrases import bare_p, estimate_text
from quem.experience.showing.canvas import HALO, colours, short
from quem.experience.wording import signed
from quem.report.drawing import LINE, MUTED, tidy, with_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from quem.experience.comparison.findings import Comparison
    from quem.experience.comparison.standing import Standing
    from quem.experience.comparison.versions import Progression

__all__ = ["progression"]

_MOST_PANELS = 4
_EACH = 1.7  # inches that a version and its step take
_OPAQUE = {**HALO, "alpha": 1.0}


def progression(found: Comparison) -> Figure | None:
    """Draw the versions of each system in order; None without versions."""
    shown = found.progressions[:_MOST_PANELS]
    if not shown:
        return None
    with with_style():
        width = max(6.6, 1.0 + _EACH * max(len(progress.versions) for progress in shown))
        figure = Figure(figsize=(width, 3.3 * len(shown)))
        panels = figure.subplots(len(shown), 1, squeeze=False).ravel()
        figure.subplots_adjust(
            left=0.7 / width,
            right=1 - 0.2 / width,
            top=1 - 0.09 / len(shown),
            bottom=0.17 / len(shown),
            hspace=0.42,
        )
        for axes, progress, colour in zip(panels, shown, colours(), strict=False):
            _course(axes, found, progress, colour)
    return figure


def _course(axes: Axes, found: Comparison, progress: Progression, colour: str) -> None:
    """One system: its versions, their intervals, and what each step gained."""
    at = _positions(progress)
    years = np.array([version.estimate.experience for version in progress.versions])
    bars = np.array([ends_of(version) for version in progress.versions])
    known = np.concatenate([years, bars[np.isfinite(bars)]])
    margin = 0.12 * (float(np.ptp(known)) or 1.0)
    low, high = float(known.min()) - margin, float(known.max()) + 1.6 * margin
    axes.set_ylim(low, high)
    reach = 0.16 * (float(np.ptp(at)) or 1.0)
    axes.set_xlim(float(at.min()) - reach, float(at.max()) + reach)
    axes.plot(at, years, color=colour, linewidth=1.2, linestyle="--")
    for x, (bottom, top) in zip(at, bars, strict=True):
        axes.plot([x, x], np.clip([bottom, top], low, high), color=LINE, linewidth=2.2)
        for beyond, end, arrow in ((top == np.inf, high, "^"), (bottom == -np.inf, low, "v")):
            if beyond:
                axes.plot([x], [end], arrow, color=LINE, markersize=6, clip_on=False)
    axes.plot(at, years, "D", color=colour, markersize=6)
    _write(axes, progress, at, years, colour)
    axes.set_xticks(at, [_label(found, version) for version in progress.versions])
    axes.set_title(f"Versions of {short(progress.of, 40)}")
    tidy(axes, y=f"experience ({short(found.unit, 30)})")


def _write(
    axes: Axes,
    progress: Progression,
    at: NDArray[np.float64],
    years: NDArray[np.float64],
    colour: str,
) -> None:
    """The estimates, on the side of their bars that the line leaves free, and the steps."""
    steps = np.diff(years)
    for x, y, version, step in zip(at, years, progress.versions, [*steps, steps[-1]], strict=True):
        side = -1 if step >= 0 else 1
        _near(axes, (x, y), estimate_text(version), (9 * side, 9), MUTED)
    middles = zip((at[:-1] + at[1:]) / 2, (years[:-1] + years[1:]) / 2, strict=True)
    for middle, change in zip(middles, progress.steps, strict=True):
        p = bare_p(change.p_holm)
        text = f"{signed(change.years)}, p {p if p.startswith(('<', '–')) else f'= {p}'}"
        _near(axes, middle, text, (0, 0), colour)


def _near(
    axes: Axes, at: tuple[float, float], text: str, off: tuple[int, int], colour: str
) -> None:
    axes.annotate(
        text,
        at,
        off,
        textcoords="offset points",
        ha={-1: "right", 0: "center", 1: "left"}[int(np.sign(off[0]))],
        va="center",
        bbox=_OPAQUE,
        color=colour,
    )


def _positions(progress: Progression) -> NDArray[np.float64]:
    """By days where all versions have dates, which differ; else at equal distances."""
    days = np.array([v.date.toordinal() for v in progress.versions if v.date], dtype=float)
    if len(days) < len(progress.versions) or np.ptp(days) == 0:
        return np.arange(len(progress.versions), dtype=float)
    # Labels of versions that came soon after each other must not cover one another.
    least = float(np.ptp(days)) / (1.6 * len(days))
    return np.concatenate([days[:1], days[0] + np.cumsum(np.maximum(np.diff(days), least))])


def _label(found: Comparison, version: Standing) -> str:
    lines = [short(version.version or version.name, 18), str(version.date or "")]
    if len(found.studies) > 1:
        lines.append(short(found.study_of(version), 22))
    return "\n".join(filter(None, lines))
