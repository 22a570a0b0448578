"""How much the answer depends on judges, subjects, problems and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.experience.showing.summary import system_name
from quem.experience.wording import number
from quem.report.canvas import (
    MOST_LABELS,
    MOST_ROWS,
    colours,
    label_inches,
    short,
)
from quem.report.drawing import BAND, INK, LINE, MUTED, tidy, with_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from quem.experience.findings import Findings
    from quem.experience.influence import LeftOut

__all__ = ["influence", "sensitivity", "sensitivity_rows"]

_ACROSS = 3
_MOST_PANELS = 6
_ROW = 0.185  # inches

Row = tuple[str, dict[str, tuple[float, float, float]]]


def sensitivity(found: Findings) -> Figure | None:
    """Draw the estimates without each judge, subject and problem, and by other settings.

    None where there is no system.
    """
    n_panels = min(len(found.estimates), _MOST_PANELS)
    if not n_panels:
        return None
    across = min(n_panels, _ACROSS)
    down = -(-n_panels // across)
    rows, notes = sensitivity_rows(found, MOST_ROWS if down == 1 else MOST_ROWS // 3)
    if n_panels < len(found.estimates):
        notes.append(f"the first {n_panels} of {len(found.estimates)} systems")
    labels = [short(label, 30) for label, _ in rows]
    with with_style():
        left, below = label_inches(labels), 0.45 + 0.19 * len(notes)
        width = left + max(3.0, 2.3 * across) + 0.12
        height = down * (0.75 + _ROW * len(rows)) + 0.19 * len(notes)
        figure = Figure(figsize=(width, height))
        panels = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
        figure.subplots_adjust(
            left=left / width,
            right=1 - 0.12 / width,
            top=1 - 0.3 / height,
            bottom=below / height,
            hspace=0.75 / (_ROW * len(rows)),
        )
        for axes in panels[n_panels:]:
            axes.set_visible(False)
        for index, (axes, colour) in enumerate(zip(panels[:n_panels], colours(), strict=False)):
            axes.set_yticks(range(len(rows)), labels)
            axes.set_ylim(len(rows) - 0.4, -0.6)
            tidy(axes, x=found.study.spec.experience_unit, grid="x")
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
            _forest(axes, found, rows, index, colour)
        for line, note in enumerate(reversed(notes)):
            figure.text(0.08 / width, (0.06 + 0.19 * line) / height, f"Shown: {note}.", color=MUTED)
    return figure


def _forest(axes: Axes, found: Findings, rows: list[Row], index: int, colour: str) -> None:
    """One system's column: a point and its interval in each row, the headline behind."""
    system = found.estimates[index].system
    points = np.array([values.get(system, (np.nan,) * 3) for _, values in rows])
    left, right = _limits(points)
    axes.set_xlim(left, right)
    axes.axvline(points[0, 0], color=colour, linewidth=0.8, linestyle="--")
    for at, (middle, *ends) in enumerate(points):
        ink = colour if at == 0 else INK
        if not np.isfinite(middle):
            axes.text((left + right) / 2, at, "no estimate", color=MUTED, ha="center", va="center")
            continue
        bounded = bool(np.isfinite(ends).all())
        low, high = ends if bounded else (-np.inf, np.inf)
        style = "-" if bounded else ":"
        axes.plot(
            np.clip([low, high], left, right),
            [at, at],
            style,
            color=ink,
            linewidth=2.2 if at == 0 else 1.1,
        )
        # An arrow where the interval goes on beyond the axis.
        for beyond, end, arrow in ((low < left, left, "<"), (high > right, right, ">")):
            if beyond:
                axes.plot([end], [at], arrow, color=ink, markersize=5, clip_on=False)
        axes.plot([middle], [at], "D" if at == 0 else "o", color=ink, markersize=5 - (at > 0))
        off = middle < left or middle > right
        if off or not bounded:
            _remark(axes, at, f"{number(middle)}" if off else "unbounded", low_side=middle > left)
    axes.set_title(short(system_name(found, system)), color=colour)


def _limits(points: NDArray[np.float64]) -> tuple[float, float]:
    """The ends of the axis: an unruly row must not squeeze all others into a line."""
    known = points[np.isfinite(points)]
    middle, low, high = points[0]
    width = high - low if high - low > 0 else float(np.ptp(known)) or 1.0
    left, right = max(known.min(), middle - 2.5 * width), min(known.max(), middle + 2.5 * width)
    return float(left - 0.05 * width), float(right + 0.05 * width)


def _remark(axes: Axes, at: int, text: str, *, low_side: bool) -> None:
    """Write into a row, near an end of the axis."""
    axes.text(
        0.97 if low_side else 0.03,
        at - 0.05,
        text,
        transform=axes.get_yaxis_transform(),
        color=MUTED,
        fontsize=7,
        ha="right" if low_side else "left",
        va="bottom",
    )


def sensitivity_rows(found: Findings, most: int = MOST_ROWS) -> tuple[list[Row], list[str]]:
    """Rows of the sensitivity figure, and notes on what was left out of them.

    Parameters
    ----------
    found : Findings
    most : int
        Of the judges, subjects and problems; where there are more than half of this, only a
        quarter of it is shown of each.

    Returns
    -------
    rows : list of (str, dict)
        A label, and by system the estimate and its ends.
    notes : list of str
    """
    rows: list[Row] = [
        ("headline", {e.system: (e.experience, *e.prediction) for e in found.estimates})
    ]
    notes = []
    for what, left_out in (
        ("judges", found.judges),
        ("subjects", found.subjects),
        ("problems", found.problems),
    ):
        group = _group(left_out)
        if len(group) > most // 2:
            notes.append(f"the {most // 4} of {len(group):,} {what} that matter most")
            group = _weightiest(group, left_out, most // 4)
        rows += [(f"without {name}", row) for name, row in group.items()]
    if found.recognised:
        group = _group(found.recognised.estimates)
        rows += [(f"without {name}", row) for name, row in group.items()]
    settings: dict[str, dict[str, tuple[float, float, float]]] = {}
    for v in found.variants:
        settings.setdefault(v.label, {})[v.system] = (v.estimate, v.low, v.high)
    rows += settings.items()
    if found.bootstrap:
        middle = {e.system: e.experience for e in found.estimates}
        ends = found.bootstrap.intervals.items()
        rows.append(("bootstrap", {system: (middle[system], *end) for system, end in ends}))
    return rows, notes


def _group(left_out: tuple[LeftOut, ...]) -> dict[str, dict[str, tuple[float, float, float]]]:
    group: dict[str, dict[str, tuple[float, float, float]]] = {}
    for left in left_out:
        group.setdefault(left.id, {})[left.system] = (left.estimate, left.low, left.high)
    return group


def _weightiest(
    group: dict[str, dict[str, tuple[float, float, float]]],
    left_out: tuple[LeftOut, ...],
    most: int,
) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Those whose absence moves an estimate most, or leaves none."""
    change = dict.fromkeys(group, 0.0)
    for left in left_out:
        moved = abs(left.change) if np.isfinite(left.change) else np.inf
        change[left.id] = max(change[left.id], moved)
    kept = sorted(change, key=lambda name: -change[name])[:most]
    return {name: row for name, row in group.items() if name in kept}


def influence(found: Findings) -> Figure:
    """Draw the subjects' studentised residuals and Cook's distances."""
    subjects = found.diagnostics
    shown = sorted(subjects, key=lambda s: -np.nan_to_num(s.cooks_distance))[:MOST_LABELS]
    names = [short(subject.subject, 16) for subject in shown]
    with with_style():
        figure = Figure(figsize=(7.4, 3.1))
        residual, cook = figure.subplots(1, 2)
        figure.subplots_adjust(left=0.075, right=0.99, top=0.9, bottom=0.15)
        figure.subplots_adjust(wspace=(0.35 + label_inches(names)) / 3.0)
        residual.axhspan(-2, 2, color=BAND, linewidth=0)
        residual.axhline(0, color=MUTED, linewidth=0.8)
        student = [subject.studentized for subject in subjects]
        residual.plot([s.fitted for s in subjects], student, "o", color=INK, markersize=5)
        residual.set_title("Studentised residuals")
        tidy(residual, x=f"fitted experience ({found.study.spec.experience_unit})", grid="both")
        for subject, name in zip(shown, names, strict=True):
            if np.isfinite(subject.studentized):
                at = (subject.fitted, subject.studentized)
                residual.annotate(name, at, (5, 4), textcoords="offset points", color=MUTED)
        cook.barh(range(len(shown)), [s.cooks_distance for s in shown], color=LINE, height=0.65)
        cook.set_yticks(range(len(shown)), names)
        cook.invert_yaxis()
        cook.set_title("Cook's distance")
        tidy(cook, grid="x")
    return figure
