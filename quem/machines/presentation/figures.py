"""The figures of an audit: agreement by problem, and what the machine judge likes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quem.machines.presentation.tracks import ends_of, findings_name, years_of
from quem.report.drawing import GRID, INK, MUTED, SYSTEMS, one_axes, tidy, with_style
from quem.wording import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from quem.machines.auditing import AuditFindings
    from quem.machines.tracking import TrackFindings
    from quem.report.result import Drawers

__all__ = ["FIGURES", "TRACK_FIGURES"]

_MOST_NAMES = 12


def agreement(findings: AuditFindings) -> Figure | None:
    """Draw tau-b by problem; None where there is none."""
    mine, theirs = findings.agreement.with_experts, findings.agreement.among_experts
    if not np.isfinite(mine).any():
        return None
    with with_style():
        figure, axes = one_axes(6.2, 2.9)
        places = np.arange(len(mine))
        for values, color, marker in ((theirs, MUTED, "o"), (mine, INK, "D")):
            if np.isfinite(values).any():
                axes.axhline(float(np.nanmean(values)), color=color, linewidth=0.8, alpha=0.6)
                axes.plot(places, values, marker, color=color, markersize=6, linestyle="none")
        names = [findings.experts.problems[p] for p in findings.labeled]
        axes.set_xticks(places if len(places) <= _MOST_NAMES else [])
        if len(places) <= _MOST_NAMES:
            axes.set_xticklabels([short(name, 10) for name in names])
        axes.set_xlim(-0.5, len(places) - 0.5)
        low = float(np.nanmin(np.concatenate([mine, theirs, [0.0]])))
        axes.set_ylim(low - 0.1, 1.08)
        tidy(axes, x="problem", y="tau-b")
    return figure


def liking(findings: AuditFindings) -> Figure | None:
    """Draw the liking of each solver; None where there is none."""
    known = {s.id: s.experience for s in findings.study.spec.subjects}
    years = np.array([known.get(solver, np.nan) for solver in findings.experts.solvers])
    people = np.flatnonzero(np.isfinite(years) & np.isfinite(findings.differences))
    if len(people) < 3:  # noqa: PLR2004  no line
        return None
    average = np.array([_mean(column) for column in findings.experts.means[findings.labeled].T])
    slope, start = np.polyfit(average[people], years[people], 1)
    unit = findings.study.spec.experience_unit
    with with_style():
        figure, axes = one_axes(6.2, 3.1)
        axes.axhline(0, color=GRID, linewidth=1.2)
        axes.plot(years[people], findings.differences[people], "o", color=MUTED, markersize=5)
        for number, one in enumerate(findings.likings):
            at = findings.experts.solvers.index(one.solver)
            x, color = start + slope * average[at], SYSTEMS[number % len(SYSTEMS)]
            low, high = one.interval
            axes.plot([x, x], [low, high], color=color, linewidth=1.4)
            axes.plot(x, one.years, "D", color=color, markersize=7)
            axes.annotate(
                short(one.solver, 16),
                (x, one.years),
                xytext=(8, 4),
                textcoords="offset points",
                color=color,
            )
        tidy(axes, x=f"experience ({unit})", y=f"liking ({unit})")
    return figure


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan


FIGURES: Drawers[AuditFindings] = {"agreement": agreement, "liking": liking}


def course(findings: TrackFindings) -> Figure | None:
    """Draw the versions in their order; None where none has years."""
    ends = np.array([ends_of(version) for version in findings.versions])
    finite = ends[np.isfinite(ends)]
    if not len(finite):
        return None
    dates = [version.system.date for version in findings.versions]
    places = np.arange(len(dates), dtype=float)
    if all(dates) and len(set(dates)) == len(dates):
        places = np.array([date.toordinal() for date in dates if date], dtype=float)
    margin = 0.12 * (float(np.ptp(finite)) or 1.0)
    low, high = float(finite.min()) - margin, float(finite.max()) + margin
    with with_style():
        figure, axes = one_axes(max(6.2, 1.0 * len(places)), 3.2, bottom=0.8)
        for place, version, (bottom, top) in zip(places, findings.versions, ends, strict=True):
            if np.isnan([bottom, top]).all():
                continue
            color = INK if version.estimate else SYSTEMS[0]
            axes.plot([place] * 2, np.clip([bottom, top], low, high), color=color, linewidth=1.6)
            for beyond, end, arrow in ((top == np.inf, high, "^"), (bottom == -np.inf, low, "v")):
                if beyond:
                    axes.plot(place, end, arrow, color=color, markersize=6)
            if np.isfinite(years_of(version)):
                axes.plot(place, years_of(version), "D", color=color, markersize=6)
        names = [
            "\n".join(filter(None, [short(findings_name(v), 14), str(v.system.date or "")]))
            for v in findings.versions
        ]
        axes.set_xticks(places, names)
        room = 0.08 * (float(np.ptp(places)) or 1.0)
        axes.set_xlim(float(places.min()) - room, float(places.max()) + room)
        axes.set_ylim(low, high)
        tidy(axes, y=f"experience ({findings.study.spec.experience_unit})")
    return figure


TRACK_FIGURES: Drawers[TrackFindings] = {"course": course}
