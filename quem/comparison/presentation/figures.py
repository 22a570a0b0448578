"""The figures of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from quem.comparison.presentation.phrases import estimate_text, names_of, rank_interval
from quem.report.drawing import (
    BAND,
    HALO,
    INK,
    LINE,
    MOST_ROWS,
    MUTED,
    PAPER,
    colors,
    label_inches,
    one_axes,
    tidy,
    with_style,
)
from quem.wording import (
    format_bare_p,
    format_interval,
    format_p,
    format_percent,
    format_signed,
    short,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from quem.comparison.assistance import AssistanceGain, PersonUplift
    from quem.comparison.independent import SystemEstimate
    from quem.comparison.pairs import Pair
    from quem.comparison.result import ComparisonFindings
    from quem.comparison.versions import Progression
    from quem.experience.estimate import Interval

_ROW = 0.3  # inches


def estimates(comparison: ComparisonFindings) -> Figure | None:
    """Draw every system's estimate and interval, over the range of its study's subjects."""
    shown = [*filter(comparison.allows_years, comparison.system_estimates)][:MOST_ROWS]
    if not shown:
        return None
    labels = [short(comparison.name_of(entry), 34) for entry in shown]
    texts = [_interval_text(entry) for entry in shown]
    with with_style():
        left, right = label_inches(labels), label_inches(texts)
        height = 0.85 + _ROW * len(shown)
        figure, axes = one_axes(left + 4.4 + right, height, left=left, right=right)
        low, high = _limits(comparison, shown)
        axes.set_xlim(low, high)
        for row, (entry, color, text) in enumerate(zip(shown, colors(), texts, strict=False)):
            axes.plot(_range(comparison, entry), [row, row], color=BAND, linewidth=13, zorder=1)
            _bar(axes, entry, row, color)
            axes.text(1.015, row, text, transform=axes.get_yaxis_transform(), va="center")
        axes.set_yticks(range(len(shown)), labels)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        title = (
            f"Estimates, {format_percent(comparison.level)} prediction intervals; shaded: the "
            "subjects"
        )
        axes.set_title(title, fontweight="normal")
        tidy(axes, x=f"experience ({short(comparison.unit, 40)})", grid="x")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
    return figure


def _interval_text(entry: SystemEstimate) -> str:
    text = estimate_text(entry)
    if entry.estimate.side in ("above", "below"):
        return text
    return f"{text} ({format_interval(entry.estimate.prediction)})"


def _range(comparison: ComparisonFindings, entry: SystemEstimate) -> Interval:
    years = comparison.studies[entry.study].function.y
    return float(years.min()), float(years.max())


def ends_of(entry: SystemEstimate) -> Interval:
    """Give the interval, or all that a one-sided bound leaves."""
    estimate = entry.estimate
    one_sided = {"above": (estimate.bound, np.inf), "below": (-np.inf, estimate.bound)}
    return one_sided.get(estimate.side, estimate.prediction)


def _limits(comparison: ComparisonFindings, shown: list[SystemEstimate]) -> Interval:
    """Wide enough for every range and estimate; the widest intervals continue beyond."""
    ranges = np.array([_range(comparison, entry) for entry in shown])
    points = np.array([entry.estimate.experience for entry in shown])
    low = min(0.0, float(ranges.min()), float(points.min()))
    high = max(float(ranges.max()), float(points.max()))
    span = high - low
    ends = np.array([ends_of(entry) for entry in shown])
    ends = np.clip(ends[np.isfinite(ends)], low - span, high + span)
    low, high = min([low, *ends]), max([high, *ends])
    return low - 0.02 * (high - low), high + 0.04 * (high - low)


def _bar(axes: Axes, entry: SystemEstimate, row: float, color: str) -> None:
    """A point on its interval, with an arrow where that continues beyond the axis."""
    left, right = axes.get_xlim()
    low, high = ends_of(entry)
    axes.plot(np.clip([low, high], left, right), [row, row], color=color, linewidth=2.4)
    for beyond, end, arrow in ((low < left, left, "<"), (high > right, right, ">")):
        if beyond:
            axes.plot([end], [row], arrow, color=color, markersize=6, clip_on=False)
    inside = entry.estimate.side not in ("above", "below")
    middle = entry.estimate.experience if inside else entry.estimate.bound
    axes.plot([middle], [row], "D" if inside else "|", color=color, markersize=6 if inside else 11)


_ROW_PAIR_FIGURES = 0.27  # inches
_NONE = float("nan")
Point = tuple[float, float, float]


def differences(comparison: ComparisonFindings) -> Figure | None:
    """Draw the difference of each two systems with its interval.

    Of systems of one study in average rank and, beside, in years; of systems of several
    studies in years. No years where these are not defined, or not allowed. Where there are more
    pairs than rows, those of the smallest p values.
    """
    if comparison.mode == "studies":
        return _of_studies(comparison)
    pairs = _weightiest(comparison)
    if not pairs:
        return None
    labels = _pair_labels(comparison, pairs)
    ranks = [(pair.paired.mean, *pair.interval) for pair in pairs]
    none = (_NONE, _NONE)
    years = [(pair.years.years, *(pair.years.interval or none)) for pair in pairs]
    with_years = comparison.states_years and bool(np.isfinite(years).any())
    p_values = [pair.p_holm for pair in pairs]
    level = format_percent(comparison.level)
    with with_style():
        figure, panels = _panels(labels, 2 if with_years else 1)
        _forest(panels[0], ranks, f"Average rank, {level} intervals")
        if with_years:
            unit = short(comparison.unit.capitalize(), 16)
            _forest(panels[1], years, f"{unit}, {level} intervals")
        _p_column(panels[-1], p_values)
    return figure


def _of_studies(comparison: ComparisonFindings) -> Figure | None:
    allowed = [of for of in comparison.differences if comparison.allows_years(of.a, of.b)]
    shown = sorted(allowed, key=lambda a: np.nan_to_num(a.p, nan=2.0))[:MOST_ROWS]
    if not shown:
        return None
    labels = [
        f"{short(comparison.name_of(a.b), 30)} − {short(comparison.name_of(a.a), 30)}"
        for a in shown
    ]
    points: list[Point] = []
    for a in shown:
        low = a.lower if np.isfinite(a.lower) else a.interval[0]
        high = a.upper if np.isfinite(a.upper) else a.interval[1]
        low = -np.inf if np.isnan(low) and np.isfinite(high) else low
        high = np.inf if np.isnan(high) and np.isfinite(low) else high
        points.append((a.years, low, high))
    with with_style():
        figure, (axes,) = _panels(labels, 1)
        _forest(
            axes,
            points,
            f"{short(comparison.unit.capitalize(), 24)}, {format_percent(comparison.level)} "
            "intervals",
        )
        _p_column(axes, [a.p_holm for a in shown])
    return figure


def _weightiest(comparison: ComparisonFindings) -> list[Pair]:
    pairs = [pair for pair in comparison.pairs if pair.paired.n_cells]
    if len(pairs) > MOST_ROWS:
        pairs = sorted(pairs, key=lambda pair: np.nan_to_num(pair.test.p, nan=2.0))[:MOST_ROWS]
    return pairs


def _pair_labels(comparison: ComparisonFindings, pairs: list[Pair]) -> list[str]:
    names = names_of(comparison)
    return [f"{short(names[pair.b])} − {short(names[pair.a])}" for pair in pairs]


def _panels(labels: list[str], count: int) -> tuple[Figure, list[Axes]]:
    left, right = label_inches(labels), 0.75
    width, height = left + 2.9 * count + right, 0.95 + _ROW_PAIR_FIGURES * len(labels)
    figure = Figure(figsize=(width, height))
    panels = figure.subplots(1, count, sharey=True, squeeze=False).ravel().tolist()
    figure.subplots_adjust(
        left=left / width,
        right=1 - right / width,
        top=1 - 0.4 / height,
        bottom=0.5 / height,
        wspace=0.12,
    )
    panels[0].set_yticks(range(len(labels)), labels)
    panels[0].set_ylim(len(labels) - 0.4, -0.6)
    return figure, panels


def _forest(axes: Axes, points: list[Point], title: str) -> None:
    """A point and its interval in each row; intervals without an end go to the axis' end."""
    values = np.array(points)
    known = np.concatenate([values[np.isfinite(values)], [0.0]])
    margin = 0.06 * (float(np.ptp(known)) or 1.0)
    left, right = float(known.min()) - margin, float(known.max()) + margin
    axes.set_xlim(left, right)
    axes.axvline(0, color=MUTED, linewidth=0.9)
    for row, (middle, low, high) in enumerate(points):
        if np.isnan(middle):
            continue
        clear = not low <= 0 <= high and not np.isnan(low)
        color = LINE if clear else INK
        if not np.isnan(low):
            ends: NDArray[np.float64] = np.clip([low, high], left, right)
            axes.plot(ends, [row, row], color=color, linewidth=1.8)
        for beyond, end, arrow in ((low == -np.inf, left, "<"), (high == np.inf, right, ">")):
            if beyond:
                axes.plot([end], [row], arrow, color=color, markersize=5, clip_on=False)
        axes.plot([middle], [row], "D", color=color, markersize=5)
    axes.set_title(title, fontweight="normal")
    tidy(axes, x="difference", grid="x")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _p_column(axes: Axes, p_values: list[float]) -> None:
    """Adjusted p values at the right."""
    place = axes.get_yaxis_transform()
    axes.text(1.04, 1.02, "adjusted p", transform=axes.transAxes, va="bottom", color=MUTED)
    for row, p in enumerate(p_values):
        axes.text(1.04, row, format_bare_p(p), transform=place, va="center")


_MOST_PANELS = 4
# In inches: what a version and its step take, a panel above its labels, margins, a line of a
# label, and how far apart labels and steps have to be.
_EACH, _HEIGHT, _LEFT, _RIGHT, _LINE = 1.7, 2.9, 0.7, 0.2, 0.15
_LABEL, _STEP = 1.2, 1.3
_REACH = 0.16  # of the versions' span, on both sides of it
_OPAQUE = {**HALO, "alpha": 1.0}


def progression(comparison: ComparisonFindings) -> Figure | None:
    """Draw the versions of each system in order; None without versions, or without years."""
    allowed = [p for p in comparison.progressions if comparison.allows_years(*p.versions)]
    shown = allowed[:_MOST_PANELS]
    if not shown:
        return None
    with with_style():
        width = max(6.6, 1.0 + _EACH * max(len(progress.versions) for progress in shown))
        labels = [_labels(comparison, progress, width) for progress in shown]
        below = [0.2 + _LINE * max(label.count("\n") + 1 for label in own) for own in labels]
        height = sum(_HEIGHT + room for room in below)
        figure, top = Figure(figsize=(width, height)), height
        for progress, own, room, color in zip(shown, labels, below, colors(), strict=False):
            top -= _HEIGHT + room
            place = (_LEFT / width, (top + room) / height)
            size = (1 - (_LEFT + _RIGHT) / width, (_HEIGHT - 0.35) / height)
            axes = figure.add_axes((*place, *size))
            _course(axes, comparison, progress, color)
            axes.set_xticks(_positions(progress), own)
    return figure


def _course(axes: Axes, comparison: ComparisonFindings, progress: Progression, color: str) -> None:
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
    axes.plot(at, years, color=color, linewidth=1.2, linestyle="--")
    for x, (bottom, top) in zip(at, bars, strict=True):
        axes.plot([x, x], np.clip([bottom, top], low, high), color=LINE, linewidth=2.2)
        for beyond, end, arrow in ((top == np.inf, high, "^"), (bottom == -np.inf, low, "v")):
            if beyond:
                axes.plot([x], [end], arrow, color=LINE, markersize=6, clip_on=False)
    axes.plot(at, years, "D", color=color, markersize=6)
    _write(axes, progress, at, years, color)
    axes.set_title(f"Versions of {short(progress.of, 40)}")
    tidy(axes, y=f"experience ({short(comparison.unit, 30)})")


def _write(
    axes: Axes,
    progress: Progression,
    at: NDArray[np.float64],
    years: NDArray[np.float64],
    color: str,
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
        p = format_bare_p(change.p_holm)
        gained = f"{format_signed(change.years)}, " if np.isfinite(change.years) else ""
        text = f"{gained}p {p if p.startswith(('<', '–')) else f'= {p}'}"
        _near(axes, middle, text, (0, 0), color)


def _near(axes: Axes, at: tuple[float, float], text: str, off: tuple[int, int], color: str) -> None:
    axes.annotate(
        text,
        at,
        off,
        textcoords="offset points",
        ha={-1: "right", 0: "center", 1: "left"}[int(np.sign(off[0]))],
        va="center",
        bbox=_OPAQUE,
        color=color,
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


def _labels(comparison: ComparisonFindings, progress: Progression, width: float) -> list[str]:
    """Version, date and study; below those before it where it would cover them."""
    at = _positions(progress)
    least = _LABEL * float(np.ptp(at)) / _inches(width)
    last: list[float] = []  # where each level was last written on
    labels = []
    for x, version in zip(at, progress.versions, strict=True):
        lines = [short(version.version or version.name, 18), str(version.date or "")]
        if len(comparison.studies) > 1:
            lines.append(short(comparison.study_of(version), 18))
        lines = [line for line in lines if line]
        free = (level for level, before in enumerate(last) if x - before >= least)
        level = next(free, len(last))
        last[level : level + 1] = [x]
        labels.append("\n" * (level * len(lines)) + "\n".join(lines))
    return labels


_ROW_UPLIFT_FIGURE = 0.26  # inches
_MOST_PANELS_UPLIFT_FIGURE = 4


def uplift(comparison: ComparisonFindings) -> Figure | None:
    """Draw each person's average rank alone and with help, the least experienced below."""
    shown = comparison.uplifts[:_MOST_PANELS_UPLIFT_FIGURE]
    if not shown:
        return None
    years = {s.id: s.experience for s in comparison.studies[0].study.spec.subjects}

    def experience(person: PersonUplift) -> float:
        return years[person.person]

    people = [sorted(one.people, key=experience)[-MOST_ROWS:] for one in shown]
    labels = [
        [f"{short(person.person, 18)} ({experience(person):g})" for person in group]
        for group in people
    ]
    with with_style():
        left = label_inches([label for group in labels for label in group])
        heights = [1.0 + _ROW_UPLIFT_FIGURE * len(group) for group in people]
        width, height = left + 4.9, sum(heights)
        figure = Figure(figsize=(width, height))
        top = height
        for one, group, names, inches, color in zip(
            shown, people, labels, heights, colors(), strict=False
        ):
            place = (left / width, (top - inches + 0.5) / height)
            size = (1 - (left + 0.75) / width, (inches - 0.9) / height)
            axes = figure.add_axes((*place, *size))
            _people(axes, group, names, color)
            axes.set_title(_title(comparison, one), fontweight="normal")
            top -= inches
    return figure


def _title(comparison: ComparisonFindings, one: AssistanceGain) -> str:
    name = short(comparison.studies[0].name_of(one.system), 26)
    interval = rank_interval(one.test.interval)
    more = (
        f" ({format_percent(comparison.level)} {interval}; {format_p(one.test.p)})"
        if not one.test.reason
        else ""
    )
    return f"With {name}: {format_signed(one.gain, 2)}{more}"


def _people(axes: Axes, people: list[PersonUplift], names: list[str], color: str) -> None:
    place = axes.get_yaxis_transform()
    for row, person in enumerate(people):
        axes.annotate(
            "",
            (person.assisted_rank, row),
            (person.unassisted_rank, row),
            arrowprops={"arrowstyle": "-|>", "color": color, "shrinkA": 4, "shrinkB": 4},
        )
        axes.plot(
            [person.unassisted_rank], [row], "o", color=MUTED, markerfacecolor=PAPER, markersize=6
        )
        axes.plot([person.assisted_rank], [row], "D", color=color, markersize=5)
        axes.text(1.02, row, format_signed(person.gain, 2), transform=place, va="center")
    axes.set_yticks(range(len(people)), names)
    axes.set_ylim(-0.7, len(people) - 0.3)
    axes.margins(x=0.08)
    tidy(axes, x="average rank among those who worked alone: ○ alone, ◆ with help", grid="x")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


# By file stem.
FIGURES: Mapping[str, Callable[[ComparisonFindings], Figure | None]] = {
    "estimates": estimates,
    "differences": differences,
    "progression": progression,
    "uplift": uplift,
}
