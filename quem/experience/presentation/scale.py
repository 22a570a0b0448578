"""The scale of years: each system's estimate and interval, with the people as marks.

One function computes all marks, in percent of the width and in pixels of the height; two drawers
use them: SVG for the page, whose text keeps its size at any width, and matplotlib for files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.experience.presentation.verdict import best_first, short_value
from quem.wording import format_number, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quem.experience.estimate import Estimate
    from quem.experience.result import ExperienceFindings

MOST_SYSTEMS = 40
# Systems; with more, numbers go beside their bars.
_FEW = 3
# Pixels: the least width of the drawing for a phone, and of the other one.
NARROW, WIDE = 280, 520
# The width of a letter as a share of its size; that of a wide font, such as DejaVu Sans.
_LETTER = 0.61
_LABEL, _TEXT = 16, 13
# Per cent of the width; closer to an end, a text begins or ends at its place.
_START, _END = 34.0, 66.0
_FINE = (1, 2, 5)
_MOST_STEPS = 6

Anchor = Literal["start", "middle", "end"]
Role = Literal["zone", "grid", "axis", "person", "outer", "inner", "mark", "hole", "label", "text"]


@dataclass(frozen=True)
class Rectangle:
    """A bar: from and to in per cent, the rest in pixels; 0 per cent wide is `width` wide."""

    start: float
    end: float
    y: float
    height: float
    role: Role
    system: int = -1
    width: float = 0.0


@dataclass(frozen=True)
class Dot:
    """A round mark."""

    x: float
    y: float
    radius: float
    role: Role
    system: int = -1


@dataclass(frozen=True)
class Line:
    """A horizontal or vertical line."""

    start: float
    end: float
    top: float
    bottom: float
    role: Role


@dataclass(frozen=True)
class Text:
    """A text at its baseline, `shift` pixels beside its place."""

    x: float
    y: float
    text: str
    anchor: Anchor = "middle"
    size: int = _TEXT
    role: Role = "text"
    system: int = -1
    shift: float = 0.0


Mark = Rectangle | Dot | Line | Text


@dataclass
class Scale:
    """A drawing of marks."""

    label: str  # what it shows, for readers who do not see it
    room: int  # the least width at which all texts have room, in pixels
    height: float = 0.0  # in pixels
    marks: list[Mark] = field(default_factory=list)

    def share(self, text: str, size: int = _TEXT) -> float:
        """Say what per cent of the least width a text needs, with a little air."""
        return 100 * (len(text) * _LETTER * size + 8) / self.room

    def fit(
        self,
        x: float,
        y: float,
        text: str,
        *,
        span: tuple[float, float] | None = None,
        system: int = -1,
    ) -> None:
        """Add a text, a label where it is of a system, anchored so that it stays inside."""
        size, role = (_TEXT, "text") if system < 0 else (_LABEL, "label")
        need = self.share(text, size)
        start, end = span or (x, x)
        if x < _START:
            place, anchor, fits = start, "start", start + need <= 100  # noqa: PLR2004
        elif x > _END:
            place, anchor, fits = end, "end", end >= need
        else:
            place, anchor, fits = x, "middle", need / 2 <= min(x, 100 - x)
        if not fits:
            place, anchor = (0.0, "start") if x < 50 else (100.0, "end")  # noqa: PLR2004
        self.marks.append(Text(place, y, text, anchor, size, role, system))  # type: ignore[arg-type]


def scale_of(findings: ExperienceFindings, room: int = WIDE) -> Scale | None:
    """Compute the marks; None where no system has ranks."""
    systems = best_first(findings)[:MOST_SYSTEMS]
    if not systems:
        return None
    draw = _years if findings.gate.passed else _shares
    return draw(findings, systems, room)


def legend(findings: ExperienceFindings) -> str:
    """Say what the marks mean."""
    if not findings.gate.passed:
        return (
            "Each dot is a person. A system’s dot shows the share of the other solutions that it "
            "was ranked above, on average."
        )
    level = f"{100 * findings.settings.level:.10g}%"
    kind = findings.settings.interval
    sides = {estimate.side for estimate in findings.estimates}
    parts = []
    if "inside" in sides or kind == "hierarchical":
        parts.append(
            {
                "prediction": f"Dark: 50%, light: {level} prediction interval for one further "
                "person.",
                "mean": f"Bar: {level} confidence interval for the mean.",
                "calibration": f"Bar: {level} calibration interval.",
                "hierarchical": f"Bar: {level} interval by the model of persons, problems, and "
                "judges.",
            }[kind]
        )
    if sides & {"above", "below"} and kind != "hierarchical":
        parts.append(f"A bar without an end: one-sided {level} prediction bound.")
    parts.append("Shaded: the range of the people, each a dot.")
    if hidden := len(findings.estimates) - MOST_SYSTEMS:
        parts.append(f"{hidden} more systems are in the table." if hidden > 0 else "")
    return " ".join(filter(None, parts))


def _years(findings: ExperienceFindings, systems: Sequence[Estimate], room: int) -> Scale:
    people, unit = findings.function.y, findings.study.spec.experience_unit
    step, top = _axis(findings, systems)
    scale = Scale("; ".join(_spoken(findings, system) for system in systems), room)
    low, high = float(people.min()), float(people.max())
    zone = (_place(low, top), _place(high, top))
    begin = 46 + _people(scale, [_place(y, top) for y in people])
    each = 84 if len(systems) <= _FEW else 54
    bottom = begin + each * len(systems) + 20
    ticks = [(_place(y, top), f"{y:,g}") for y in np.arange(0, top + step / 2, step)]
    _ground(scale, zone, ticks, bottom)
    head = f"the {len(people)} people, {low:g} to {high:g} {unit}"
    scale.fit(sum(zone) / 2, 17, head, span=zone)
    for at, estimate in enumerate(systems):
        _row(scale, findings, estimate, top, begin + at * each, is_dense=len(systems) > _FEW)
    scale.marks.append(Text(50, bottom + 42, f"{short(unit, 30)} of experience"))
    scale.height = bottom + 54
    return scale


def _shares(findings: ExperienceFindings, systems: Sequence[Estimate], room: int) -> Scale:
    """Without years: the share of the other solutions that each solver was ranked above."""
    share = 100 * _beaten(findings)
    at = {solver: i for i, solver in enumerate(findings.averages.solvers)}
    people = [float(share[i]) for i in findings.averages.of_kind("subject")]
    spoken = [
        f"{findings.name_of(s.system)}: beats {share[at[s.system]]:.0f}% of the others"
        for s in systems
    ]
    scale = Scale("; ".join(spoken), room)
    begin = 46 + _people(scale, people)
    bottom = begin + 46 * len(systems) + 12
    ticks = [(0.0, "beats none"), (25.0, ""), (50.0, "half"), (75.0, ""), (100.0, "beats all")]
    _ground(scale, None, ticks, bottom)
    scale.marks.append(Text(0, 17, f"the {len(people)} people", "start"))
    for row, estimate in enumerate(systems):
        y, x = begin + 46 * row, float(share[at[estimate.system]])
        system = findings.estimates.index(estimate)
        name = _named(scale, findings, estimate, f": beats {x:.0f}%")
        scale.fit(x, y + 20, name, system=system)
        scale.marks.append(Dot(x, y + 36, 8, "mark", system))
    scale.height = bottom + 30
    return scale


def _beaten(findings: ExperienceFindings) -> NDArray[np.float64]:
    """The mean share of the others that each solver was ranked above: (r - 1)/(n - 1)."""
    cells, averages = findings.cells, findings.averages
    n_solvers = len(averages.solvers)
    if cells is None or findings.pooled:
        others = max(int(np.isfinite(averages.average).sum()) - 1, 1)
        return np.clip((averages.average - 1) / others, 0, 1)
    size = np.bincount(cells.group, minlength=cells.n_groups)[cells.group]
    share = (cells.adjusted - 1) / np.maximum(size - 1, 1)
    count = np.bincount(cells.solver, minlength=n_solvers)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(cells.solver, share, minlength=n_solvers) / count)


def _axis(findings: ExperienceFindings, systems: Sequence[Estimate]) -> tuple[float, float]:
    """The step and the end of the axis, which begins at 0."""
    most = float(findings.function.y.max())
    need = [most]
    for estimate in systems:
        if _bounded(findings, estimate):
            need.append(1.35 * max(estimate.bound, most))
        else:
            ends = estimate.interval(findings.settings.interval)
            known = [y for y in ends if np.isfinite(y)]
            value = estimate.headline(findings.settings.interval)
            need.append(min(max([*known, value]), 1.6 * most))
    end = max(need)
    power = 10.0 ** np.floor(np.log10(end / _MOST_STEPS))
    step = next(s * power for s in (*_FINE, 10) if np.ceil(end / (s * power)) <= _MOST_STEPS)
    return step, float(step * np.ceil(end / step - 1e-9))


def _place(years: float, top: float) -> float:
    return float(np.clip(100 * years / top, 0, 100))


def _bounded(findings: ExperienceFindings, estimate: Estimate) -> bool:
    return estimate.side in ("above", "below") and findings.settings.interval != "hierarchical"


def _spoken(findings: ExperienceFindings, estimate: Estimate) -> str:
    ends = estimate.interval(findings.settings.interval)
    text = f"{findings.name_of(estimate.system)}: {short_value(findings, estimate)}"
    if _bounded(findings, estimate) or not np.isfinite(ends).all():
        return text
    return f"{text}, interval {format_number(ends[0])} to {format_number(ends[1])}"


def _named(scale: Scale, findings: ExperienceFindings, estimate: Estimate, value: str) -> str:
    """A system's name with its result, short enough for the drawing."""
    letters = int(scale.room / (_LETTER * _LABEL)) - len(value)
    return f"{short(findings.name_of(estimate.system), max(letters, 6))}{value}"


def _people(scale: Scale, places: Sequence[float]) -> float:
    """Add a dot for each person, stacked where they would meet; give the height of the stacks."""
    width = 100 * 11 / scale.room
    last: list[float] = []
    stacked = []
    for x in sorted(places):
        level = next((i for i, other in enumerate(last) if x - other >= width), len(last))
        last[level : level + 1] = [x]
        stacked.append((x, level))
    step = min(12.0, 72.0 / len(last))
    scale.marks += [Dot(x, 34 + step * level, 5, "person") for x, level in stacked]
    return step * (len(last) - 1)


def _ground(
    scale: Scale,
    zone: tuple[float, float] | None,
    ticks: Sequence[tuple[float, str]],
    bottom: float,
) -> None:
    """Put the people's range and the axis behind all other marks."""
    behind: list[Mark] = [Line(x, x, 26, bottom, "grid") for x, _ in ticks]
    scale.marks[:0] = [Rectangle(*zone, 0, bottom, "zone"), *behind] if zone else behind
    scale.marks.append(Line(0, 100, bottom, bottom, "axis"))
    for x, text in ticks:
        if text:
            anchor: Anchor = "start" if x == 0 else "end" if x == 100 else "middle"  # noqa: PLR2004
            scale.marks.append(Text(x, bottom + 20, text, anchor))


def _row(
    scale: Scale,
    findings: ExperienceFindings,
    estimate: Estimate,
    top: float,
    y: float,
    *,
    is_dense: bool,
) -> None:
    """Add a system's label, bar, mark, and the numbers of its ends."""
    system, bar = findings.estimates.index(estimate), y + 36
    is_bound = _bounded(findings, estimate)
    value = estimate.bound if is_bound else estimate.headline(findings.settings.interval)
    x = _place(value, top)
    profile = findings.profiles.get(estimate.system)
    average = " on average" if profile is not None and profile.is_jagged else ""
    text = f": {short_value(findings, estimate)}{average}"
    scale.fit(x, y + 26, _named(scale, findings, estimate, text), system=system)
    if is_bound:
        _bound(scale, estimate, x, bar, system, is_dense=is_dense)
        return
    low, high = estimate.interval(findings.settings.interval)
    if np.isfinite([low, high]).any():
        start, end = _place(low, top) if np.isfinite(low) else 0.0, _place(min(high, top), top)
        scale.marks.append(Rectangle(start, end, bar, 18, "outer", system))
        if findings.settings.interval == "prediction":
            inner = [_place(end, top) for end in estimate.likely]
            scale.marks.append(Rectangle(inner[0], inner[1], bar, 18, "inner", system))
        left = f"{'◂ ' if low < 0 else ''}{format_number(low)}" if np.isfinite(low) else "◂"
        right = f"{format_number(high)}{' ▸' if high > top else ''}" if np.isfinite(high) else "▸"
        (_beside if is_dense else _below)(scale, start, end, left, right, bar)
    scale.marks += [Dot(x, bar + 9, 8, "mark", system), Dot(x, bar + 9, 3, "hole", system)]


def _bound(
    scale: Scale, estimate: Estimate, x: float, bar: float, system: int, *, is_dense: bool
) -> None:
    """Add a bar from a bound to the edge, with an arrow."""
    above = estimate.side == "above"
    edge, anchor, turn = (100.0, "end", -1) if above else (0.0, "start", 1)
    words = f"{format_number(estimate.bound)} or {'more' if above else 'less'}"
    scale.marks += [
        Rectangle(min(x, edge), max(x, edge), bar, 18, "outer", system),
        Rectangle(x, x, bar - 4, 26, "mark", system, width=4),
        Text(edge, bar + 15, "→" if above else "←", anchor, _LABEL, "label", system, 4 * turn),  # type: ignore[arg-type]
    ]
    if not is_dense:
        scale.marks.append(Text(edge, bar + 36, words, anchor))  # type: ignore[arg-type]
    elif abs(100 - edge - x) >= scale.share(words):
        scale.marks.append(Text(x, bar + 13, words, anchor, shift=8 * turn))  # type: ignore[arg-type]
    else:
        scale.marks.append(Text(50, bar + 13, words))


def _below(scale: Scale, start: float, end: float, left: str, right: str, bar: float) -> None:
    """Add the numbers of the ends under a bar; as one text where the bar is short."""
    if end - start < scale.share(f"{left}  {right}"):
        scale.fit((start + end) / 2, bar + 36, f"{left} to {right}")
    else:
        scale.marks += [Text(start, bar + 36, left, "start"), Text(end, bar + 36, right, "end")]


def _beside(scale: Scale, start: float, end: float, left: str, right: str, bar: float) -> None:
    """Add the numbers of the ends left and right of a bar, or where there is room."""
    y, both = bar + 13, f"{left} to {right}"
    if start >= scale.share(left) and end <= 100 - scale.share(right):
        scale.marks.append(Text(start, y, left, "end", shift=-6))
        scale.marks.append(Text(end, y, right, "start", shift=6))
    elif end <= 100 - scale.share(both):
        scale.marks.append(Text(end, y, both, "start", shift=6))
    elif start >= scale.share(both):
        scale.marks.append(Text(start, y, both, "end", shift=-6))
    else:
        scale.marks.append(Text(start, y, left, "start", shift=4))
        scale.marks.append(Text(end, y, right, "end", shift=-4))


def scale_svg(findings: ExperienceFindings, room: int) -> str:
    """Draw the scale for a page, without a viewBox: it is as wide as its place.

    Empty where no system has ranks.
    """
    from html import escape

    scale = scale_of(findings, room)
    if scale is None:
        return ""
    parts = [
        f'<svg class="scale" height="{scale.height:g}" width="100%" role="img" '
        f'aria-label="{escape(scale.label)}">'
    ]
    for mark in scale.marks:
        system = getattr(mark, "system", -1)
        kind = f'class="{mark.role}{f" s{system % 6 + 1}" if system >= 0 else ""}"'
        if isinstance(mark, Rectangle):
            size = f"{mark.end - mark.start:.2f}%" if not mark.width else f"{mark.width:g}"
            parts.append(
                f'<rect {kind} x="{mark.start:.2f}%" width="{size}" y="{mark.y:g}" '
                f'height="{mark.height:g}"/>'
            )
        elif isinstance(mark, Dot):
            parts.append(f'<circle {kind} cx="{mark.x:.2f}%" cy="{mark.y:g}" r="{mark.radius:g}"/>')
        elif isinstance(mark, Line):
            parts.append(
                f'<line {kind} x1="{mark.start:.2f}%" x2="{mark.end:.2f}%" y1="{mark.top:g}" '
                f'y2="{mark.bottom:g}"/>'
            )
        else:
            shift = f' dx="{mark.shift:g}"' if mark.shift else ""
            parts.append(
                f'<text {kind} x="{mark.x:.2f}%"{shift} y="{mark.y:g}" font-size="{mark.size}" '
                f'text-anchor="{mark.anchor}">{escape(mark.text)}</text>'
            )
    return "".join([*parts, "</svg>"])
