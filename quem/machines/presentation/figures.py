"""The figures of an audit: agreement by problem, and what the machine judge likes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from quem.machines.presentation.tracks import ends_of, findings_name, years_of
from quem.report.drawing import GRID, INK, MUTED, PAPER, SYSTEMS, colors, one_axes, tidy, with_style
from quem.report.labels import Label, place_labels
from quem.wording import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from quem.machines.auditing import AuditFindings
    from quem.machines.tracking import TrackFindings, Version
    from quem.report.result import Drawers

    Floats = NDArray[np.float64]

_MOST_NAMES = 12
# Inches: two figures are side by side on a screen, and one is as wide as a phone.
_WIDTH, _HEIGHT = 3.7, 2.7
_APART = 0.1


def agreement(findings: AuditFindings) -> Figure | None:
    """Draw tau-b by problem; None where there is none."""
    mine, pairs = findings.agreement.with_experts, findings.agreement.of_pairs
    if not np.isfinite(mine).any():
        return None
    theirs = pairs if len(pairs) else findings.agreement.among_experts[np.newaxis]
    with with_style():
        figure, axes = one_axes(_WIDTH, _HEIGHT)
        places = np.arange(len(mine))
        # Beside each other, since they are often nearly the same.
        for one in theirs:
            axes.plot(places - _APART, one, "o", color=MUTED, markersize=4.5, alpha=0.7)
        axes.plot(places + _APART, mine, "D", color=INK, markersize=6, linestyle="none")
        names = [findings.experts.problems[p] for p in findings.labeled]
        axes.set_xticks(places if len(places) <= _MOST_NAMES else [])
        if len(places) <= _MOST_NAMES:
            axes.set_xticklabels([short(name, 10) for name in names])
        axes.set_xlim(-0.5, len(places) - 0.5)
        shown = np.concatenate([mine, theirs.ravel()])
        low = float(np.nanmin(np.append(shown, 0.5)))
        axes.set_ylim(low - 0.08, 1.04)
        tidy(axes, x="problem", y="tau-b")
    return figure


def liking(findings: AuditFindings) -> Figure | None:
    """Draw the liking of each solver; None where there is none."""
    years = _years(findings)
    people = np.flatnonzero(np.isfinite(years) & np.isfinite(findings.differences))
    if len(people) < 3:  # noqa: PLR2004  no line
        return None
    average = np.array([_mean(column) for column in findings.experts.means[findings.labeled].T])
    slope, start = np.polyfit(average[people], years[people], 1)
    unit = findings.study.spec.experience_unit
    points = [*zip(years[people], findings.differences[people], strict=True)]
    labels = []
    with with_style():
        figure, axes = one_axes(_WIDTH, _HEIGHT)
        axes.axhline(0, color=GRID, linewidth=1.2)
        axes.plot(*np.array(points).T, "o", color=MUTED, markersize=4.5, alpha=0.7)
        for one, color in zip(findings.likings, colors(), strict=False):
            at = findings.experts.solvers.index(one.solver)
            x = float(start + slope * average[at])
            axes.plot([x, x], one.interval, color=color, linewidth=1.4)
            axes.plot(x, one.years, "D", color=color, markersize=6)
            points += [(x, y) for y in np.linspace(*one.interval, 12)]
            names = tuple(dict.fromkeys(short(one.solver, most) for most in (16, 8)))
            labels.append(Label(x, one.years, names, color))
        tidy(axes, x=f"experience ({short(unit, 20)})", y=f"liking ({short(unit, 20)})")
        _label(axes, labels, np.array(points))
    return figure


def place(findings: AuditFindings) -> Figure | None:
    """Draw how far ranks are from a solver's mean over orders, by place; None for one order."""
    ranks = findings.machine.ranks
    by_place: dict[int, list[float]] = {}
    for call in findings.run.calls:
        if call.status != "ok" or call.problem not in findings.machine.problems:
            continue
        problem = findings.machine.problems.index(call.problem)
        for at, solver in enumerate(call.order, 1):
            if solver in findings.machine.solvers:
                own = ranks[:, problem, findings.machine.solvers.index(solver)]
                if np.isfinite(own[call.repeat]) and np.isfinite(own).sum() > 1:
                    by_place.setdefault(at, []).append(float(own[call.repeat] - _mean(own)))
    if not by_place:
        return None
    places = sorted(by_place)
    means = [float(np.mean(by_place[at])) for at in places]
    with with_style():
        figure, axes = one_axes(_WIDTH, _HEIGHT)
        axes.axhline(0, color=GRID, linewidth=1.2)
        axes.plot(places, means, "D-", color=INK, markersize=4.5, linewidth=1)
        # What looks large in a figure of its own scale can be nothing.
        largest = max(1.0, 1.15 * float(np.abs(means).max()))
        axes.set_ylim(-largest, largest)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        tidy(axes, x="place, 1 shown first", y="rank, from own mean")
    return figure


def length(findings: AuditFindings) -> Figure | None:
    """Draw how ranks differ from the experts' by the length of solutions; None without lengths."""
    at = findings.labeled
    more = (findings.machine.means - findings.experts.means)[at]
    words = np.array(
        [
            [
                findings.run.words.get(findings.experts.problems[p], {}).get(solver, 0)
                for solver in findings.experts.solvers
            ]
            for p in at
        ],
        dtype=float,
    )
    known = np.isfinite(more) & (words > 0)
    y = np.array([_mean(column) for column in np.where(known, more, np.nan).T])
    logs = np.where(known, np.log2(np.where(known, words, 1.0)), np.nan)
    x = np.exp2([_mean(column) for column in logs.T])
    is_person = np.isfinite(_years(findings))
    drawn = np.isfinite(x) & np.isfinite(y)
    if not (drawn & is_person).any():
        return None
    with with_style():
        figure, axes = one_axes(_WIDTH, _HEIGHT)
        axes.axhline(0, color=GRID, linewidth=1.2)
        axes.plot(x[drawn & is_person], y[drawn & is_person], "o", color=MUTED, markersize=4.5)
        labels = []
        for one, color in zip(findings.likings, colors(), strict=False):
            solver = findings.experts.solvers.index(one.solver)
            if drawn[solver]:
                axes.plot(x[solver], y[solver], "D", color=color, markersize=6)
                names = tuple(dict.fromkeys(short(one.solver, most) for most in (16, 8)))
                labels.append(Label(x[solver], y[solver], names, color))
        axes.margins(x=0.08, y=0.12)
        tidy(axes, x="words per solution, geometric mean", y="rank, less experts'")
        _label(axes, labels, np.column_stack([x[drawn], y[drawn]]))
    return figure


def _label(axes: Axes, labels: list[Label], points: Floats) -> None:
    """Name the systems beside their points."""
    # What places labels needs to know how large the axes are in the end.
    axes.set_xlim(axes.get_xlim())
    axes.set_ylim(axes.get_ylim())
    place_labels(axes, labels, points=points, radius=3.0)


def _years(findings: AuditFindings) -> Floats:
    """Give the experience of each solver, NaN for all but people."""
    known = {s.id: s.experience for s in findings.study.spec.subjects}
    return np.array([known.get(solver, np.nan) for solver in findings.experts.solvers])


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan


FIGURES: Drawers[AuditFindings] = {
    "agreement": agreement,
    "liking": liking,
    "place": place,
    "length": length,
}


def course(findings: TrackFindings) -> Figure | None:
    """Draw the versions in their order; None where none has years."""
    return _course(findings, max(8.4, 1.0 * len(findings.versions)), 3.3, dated=True)


def narrow_course(findings: TrackFindings) -> Figure | None:
    """Draw the versions for a phone."""
    return _course(findings, 3.6, 3.1, dated=False)


def _course(findings: TrackFindings, width: float, height: float, *, dated: bool) -> Figure | None:
    ends = np.array([ends_of(version) for version in findings.versions])
    before = [end for said in findings.said for end in (said.low, said.high)]
    finite = np.append(ends[np.isfinite(ends)], np.array(before)[np.isfinite(before)])
    if not len(finite):
        return None
    dates = [version.system.date for version in findings.versions]
    places = np.arange(len(dates), dtype=float)
    if all(dates) and len(set(dates)) == len(dates):
        places = np.array([date.toordinal() for date in dates if date], dtype=float)
    margin = 0.12 * (float(np.ptp(finite)) or 1.0)
    names = [short(findings_name(version), 14 if dated else 10) for version in findings.versions]
    turned: dict[str, Any] = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"}
    if dated:
        turned = {}
        names = [f"{name}\n{date or ''}" for name, date in zip(names, dates, strict=True)]
    with with_style():
        figure, axes = one_axes(width, height, bottom=0.6 if dated else 0.75)
        axes.set_ylim(float(finite.min()) - margin, float(finite.max()) + margin)
        for place, version, own in zip(places, findings.versions, ends, strict=True):
            _draw_version(axes, place, version, own)
        _draw_said(axes, findings, places)
        axes.set_xticks(places, names, **turned)
        room = 0.08 * (float(np.ptp(places)) or 1.0)
        axes.set_xlim(float(places.min()) - room, float(places.max()) + room)
        tidy(axes, y=f"experience ({short(findings.study.spec.experience_unit, 20)})")
    return figure


def _draw_version(axes: Axes, place: float, version: Version, ends: Floats) -> None:
    """Draw a version's interval, with an arrow where it has one end."""
    if np.isnan(ends).all():
        return
    low, high = axes.get_ylim()
    bottom, top = ends
    color = INK if version.estimate else SYSTEMS[0]
    axes.plot([place] * 2, np.clip(ends, low, high), color=color, linewidth=1.6)
    for beyond, end, arrow in ((top == np.inf, high, "^"), (bottom == -np.inf, low, "v")):
        if beyond:
            axes.plot(place, end, arrow, color=color, markersize=6, clip_on=False)
    if np.isfinite(years_of(version)):
        axes.plot(place, years_of(version), "D", color=color, markersize=6)


def _draw_said(axes: Axes, findings: TrackFindings, places: Floats) -> None:
    """Draw what was said before experts ranked, beside what they found."""
    at = {v.system.id: place for place, v in zip(places, findings.versions, strict=True)}
    aside = 0.02 * (float(np.ptp(places)) or 1.0)
    for said in findings.said:
        if said.system in at and np.isfinite(said.years):
            x, color = at[said.system] + aside, SYSTEMS[0]
            axes.plot([x, x], [said.low, said.high], "--", color=color, linewidth=1.2)
            axes.plot(x, said.years, "D", color=color, markerfacecolor=PAPER, markersize=5)


TRACK_FIGURES: Drawers[TrackFindings] = {"course": course}
NARROW_TRACK_FIGURES: Drawers[TrackFindings] = {"course": narrow_course}
