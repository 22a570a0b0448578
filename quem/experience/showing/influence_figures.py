"""How much the answer depends on judges, subjects, problems and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.experience.showing.canvas import MOST_LABELS, MOST_ROWS, colours, short
from quem.experience.showing.summary import system_name
from quem.report.drawing import BAND, INK, LINE, MUTED, tidy, with_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quem.experience.findings import Findings

__all__ = ["influence", "sensitivity", "sensitivity_rows"]

_PANELS = 3


def sensitivity(found: Findings) -> Figure:
    """Draw the estimates without each judge, subject and problem, and by other settings."""
    rows = sensitivity_rows(found)
    n_systems = max(len(found.estimates), 1)
    across = min(n_systems, _PANELS)
    down = -(-n_systems // across)
    with with_style():
        width, height = max(4.6, 1.6 + 2.4 * across), down * (0.75 + 0.185 * len(rows))
        figure = Figure(figsize=(width, height))
        figure.patch.set_alpha(0)
        panels = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
        figure.subplots_adjust(
            left=1.55 / width,
            right=1 - 0.12 / width,
            top=1 - 0.3 / height,
            bottom=0.42 / height,
            hspace=0.75 / (0.185 * len(rows)),
        )
        for index, axes in enumerate(panels):
            axes.patch.set_alpha(0)
            axes.set_ylim(len(rows) - 0.4, -0.6)
            tidy(axes, x=found.study.spec.experience_unit, grid="x")
            axes.set_yticks(range(len(rows)), [short(label) for label, _ in rows])
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
            if index < len(found.estimates):
                _forest(axes, found, rows, index)
            elif index:
                axes.set_visible(False)
    return figure


def _forest(
    axes: Axes,
    found: Findings,
    rows: list[tuple[str, dict[str, tuple[float, float, float]]]],
    index: int,
) -> None:
    """One system's column: a point and its interval in each row, the headline behind."""
    system = found.estimates[index].system
    colour = colours()[index]
    points = np.array([values.get(system, (np.nan,) * 3) for _, values in rows])
    axes.axvline(points[0, 0], color=colour, linewidth=0.8, linestyle="--")
    for at, (middle, low, high) in enumerate(points):
        ink = colour if at == 0 else INK
        if np.isfinite(low):
            axes.plot([low, high], [at, at], color=ink, linewidth=2.2 if at == 0 else 1.1)
        axes.plot([middle], [at], "D" if at == 0 else "o", color=ink, markersize=5 - (at > 0))
    axes.set_title(short(system_name(found, system)), color=colour)
    known = points[np.isfinite(points)]
    width = points[0, 2] - points[0, 1]
    # An unruly variant must not squeeze all others into a line.
    low, high = points[0, 0] - 2.5 * width, points[0, 0] + 2.5 * width
    axes.set_xlim(
        max(float(known.min()), low) - 0.05 * width, min(float(known.max()), high) + 0.05 * width
    )


def sensitivity_rows(
    found: Findings,
) -> list[tuple[str, dict[str, tuple[float, float, float]]]]:
    """Rows of the sensitivity figure: a label, and by system the estimate and its ends."""
    rows = [("headline", {e.system: (e.experience, *e.prediction) for e in found.estimates})]
    for left_out in (found.judges, found.subjects, found.problems):
        group: dict[str, dict[str, tuple[float, float, float]]] = {}
        for left in left_out:
            row = group.setdefault(f"without {left.id}", {})
            row[left.system] = (left.estimate, left.low, left.high)
        # Of very many, those that move an estimate most.
        change = {
            f"without {left.id}": max(
                abs(other.change) for other in left_out if other.id == left.id
            )
            for left in (left_out if len(group) > MOST_ROWS // 2 else ())
        }
        if change:
            most = sorted(change, key=lambda label: -change[label])[: MOST_ROWS // 4]
            group = {label: row for label, row in group.items() if label in most}
        rows += group.items()
    settings: dict[str, dict[str, tuple[float, float, float]]] = {}
    for variant in found.variants:
        settings.setdefault(variant.label, {})[variant.system] = (
            variant.estimate,
            variant.low,
            variant.high,
        )
    rows += settings.items()
    if found.bootstrap:
        middle = {e.system: e.experience for e in found.estimates}
        ends = found.bootstrap.intervals.items()
        rows.append(("bootstrap", {system: (middle[system], *end) for system, end in ends}))
    return rows


def influence(found: Findings) -> Figure:
    """Draw the subjects' studentised residuals and Cook's distances."""
    subjects = found.diagnostics
    with with_style():
        figure = Figure(figsize=(7.4, 3.1))
        figure.patch.set_alpha(0)
        residual, cook = figure.subplots(1, 2)
        figure.subplots_adjust(left=0.075, right=0.99, top=0.9, bottom=0.15, wspace=0.22)
        fitted = [subject.fitted for subject in subjects]
        student = [subject.studentized for subject in subjects]
        residual.axhspan(-2, 2, color=BAND, linewidth=0)
        residual.axhline(0, color=MUTED, linewidth=0.8)
        residual.plot(fitted, student, "o", color=INK, markersize=5)
        residual.set_title("Studentised residuals")
        unit = found.study.spec.experience_unit
        tidy(residual, x=f"fitted experience ({unit})", grid="both")
        shown = sorted(subjects, key=lambda s: -np.nan_to_num(s.cooks_distance))[:MOST_LABELS]
        for subject in shown:
            if np.isfinite(subject.studentized):
                residual.annotate(
                    subject.subject,
                    (subject.fitted, subject.studentized),
                    (5, 4),
                    textcoords="offset points",
                    color=MUTED,
                )
        distances = [subject.cooks_distance for subject in shown]
        cook.barh(range(len(shown)), distances, color=LINE, height=0.65)
        cook.set_yticks(range(len(shown)), [subject.subject for subject in shown])
        cook.invert_yaxis()
        cook.set_title("Cook's distance")
        tidy(cook, grid="x")
        for axes in (residual, cook):
            axes.patch.set_alpha(0)
    return figure
