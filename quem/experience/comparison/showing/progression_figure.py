"""The versions of each system in order, with the steps between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.experience.comparison.showing.estimate_figures import ends_of
from quem.experience.comparison.showing.phrases import bare_p, estimate_text
from quem.experience.wording import signed
from quem.report.canvas import HALO, colours, short
from quem.report.drawing import LINE, MUTED, tidy, with_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from quem.experience.comparison.findings import Comparison
    from quem.experience.comparison.versions import Progression

__all__ = ["progression"]

_MOST_PANELS = 4
# In inches: what a version and its step take, a panel above its labels, margins, a line of a
# label, and how far apart labels and steps have to be.
_EACH, _HEIGHT, _LEFT, _RIGHT, _LINE = 1.7, 2.9, 0.7, 0.2, 0.15
_LABEL, _STEP = 1.2, 1.3
_REACH = 0.16  # of the versions' span, on both sides of it
_OPAQUE = {**HALO, "alpha": 1.0}


def progression(found: Comparison) -> Figure | None:
    """Draw the versions of each system in order; None without versions."""
    shown = found.progressions[:_MOST_PANELS]
    if not shown:
        return None
    with with_style():
        width = max(6.6, 1.0 + _EACH * max(len(progress.versions) for progress in shown))
        labels = [_labels(found, progress, width) for progress in shown]
        below = [0.2 + _LINE * max(label.count("\n") + 1 for label in own) for own in labels]
        height = sum(_HEIGHT + room for room in below)
        figure, top = Figure(figsize=(width, height)), height
        for progress, own, room, colour in zip(shown, labels, below, colours(), strict=False):
            top -= _HEIGHT + room
            place = (_LEFT / width, (top + room) / height)
            size = (1 - (_LEFT + _RIGHT) / width, (_HEIGHT - 0.35) / height)
            axes = figure.add_axes((*place, *size))
            _course(axes, found, progress, colour)
            axes.set_xticks(_positions(progress), own)
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
    reach = _REACH * float(np.ptp(at))
    axes.set_xlim(float(at.min()) - reach, float(at.max()) + reach)
    axes.plot(at, years, color=colour, linewidth=1.2, linestyle="--")
    for x, (bottom, top) in zip(at, bars, strict=True):
        axes.plot([x, x], np.clip([bottom, top], low, high), color=LINE, linewidth=2.2)
        for beyond, end, arrow in ((top == np.inf, high, "^"), (bottom == -np.inf, low, "v")):
            if beyond:
                axes.plot([x], [end], arrow, color=LINE, markersize=6, clip_on=False)
    axes.plot(at, years, "D", color=colour, markersize=6)
    _write(axes, progress, at, years, colour)
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
    wide = _STEP * float(np.ptp(at)) / _inches(axes.get_figure().get_figwidth())  # type: ignore[union-attr]
    for middle, change, gap in zip(middles, progress.steps, np.diff(at), strict=True):
        if gap < wide:
            continue
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


def _inches(width: float) -> float:
    """How much of a figure's width the versions span."""
    return (width - _LEFT - _RIGHT) / (1 + 2 * _REACH)


def _positions(progress: Progression) -> NDArray[np.float64]:
    """By days where all versions have dates, which differ; else at equal distances."""
    days = np.array([v.date.toordinal() for v in progress.versions if v.date], dtype=float)
    if len(days) < len(progress.versions) or np.ptp(days) == 0:
        return np.arange(len(progress.versions), dtype=float)
    return days


def _labels(found: Comparison, progress: Progression, width: float) -> list[str]:
    """Version, date and study; below those before it where it would cover them."""
    at = _positions(progress)
    least = _LABEL * float(np.ptp(at)) / _inches(width)
    last: list[float] = []  # where each level was last written on
    labels = []
    for x, version in zip(at, progress.versions, strict=True):
        lines = [short(version.version or version.name, 18), str(version.date or "")]
        if len(found.studies) > 1:
            lines.append(short(found.study_of(version), 18))
        lines = [line for line in lines if line]
        free = (level for level, before in enumerate(last) if x - before >= least)
        level = next(free, len(last))
        last[level : level + 1] = [x]
        labels.append("\n" * (level * len(lines)) + "\n".join(lines))
    return labels
