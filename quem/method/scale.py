"""The scale drawing: each system's years and interval, or its place, with subjects as marks.

SVG for the page, with text of constant size at any width.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.wording import format_count, format_number, format_percent, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from quem.method.result import ExperienceFindings
    from quem.method.statement import Statement

_MOST_SYSTEMS = 40
# Greatest number of systems with labels above their bars; with more, numbers go beside.
_FEW = 3
# Pixels: the smallest widths of the drawing for a phone, and of the other one.
NARROW, WIDE = 280, 520
# Width of a letter relative to its size, in a wide font such as DejaVu Sans.
_LETTER = 0.61
_LABEL, _TEXT = 16, 13
# Percent of the width; closer to an end, a text is anchored there.
_START, _END = 34.0, 66.0
_FINE = (1, 2, 5)
_MOST_STEPS = 6

Anchor = Literal["start", "middle", "end"]


@dataclass
class Scale:
    """A drawing: x in percent of the width, y and letters in pixels."""

    label: str  # alternative text
    room: int  # smallest width in pixels that fits all texts
    height: float = 0.0  # in pixels
    marks: list[str] = field(default_factory=list)

    def bar(
        self, start: float, end: float, y: float, height: float, kind: str, width: str = ""
    ) -> None:
        """Add a bar between two positions in percent, or with a width in pixels."""
        self.marks.append(
            f'<rect class="{kind}" x="{start:.2f}%" width="{width or f"{end - start:.2f}%"}" '
            f'y="{y:g}" height="{height:g}"/>'
        )

    def dot(self, x: float, y: float, radius: float, kind: str) -> None:
        """Add a round mark."""
        self.marks.append(f'<circle class="{kind}" cx="{x:.2f}%" cy="{y:g}" r="{radius:g}"/>')

    def line(self, start: float, end: float, top: float, bottom: float, kind: str) -> None:
        """Add a horizontal or vertical line."""
        self.marks.append(
            f'<line class="{kind}" x1="{start:.2f}%" x2="{end:.2f}%" y1="{top:g}" y2="{bottom:g}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        anchor: Anchor = "middle",
        size: int = _TEXT,
        kind: str = "text",
        shift: float = 0.0,
    ) -> None:
        """Add a text at its baseline, `shift` pixels beside its place."""
        beside = f' dx="{shift:g}"' if shift else ""
        self.marks.append(
            f'<text class="{kind}" x="{x:.2f}%"{beside} y="{y:g}" font-size="{size}" '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )

    def svg(self) -> str:
        """The drawing for a page, without a viewBox: it fills the available width."""
        return (
            f'<svg class="scale" height="{self.height:g}" width="100%" role="img" '
            f'aria-label="{escape(self.label)}">{"".join(self.marks)}</svg>'
        )

    def share(self, text: str, size: int = _TEXT) -> float:
        """The width of a text with a margin, in percent of the smallest width."""
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
        """Add a text, or the label of a system, anchored so that it stays inside."""
        size, kind = (_TEXT, "text") if system < 0 else (_LABEL, _of(system, "label"))
        need = self.share(text, size)
        start, end = span or (x, x)
        anchor: Anchor
        if x < _START:
            place, anchor, fits = start, "start", start + need <= 100  # noqa: PLR2004
        elif x > _END:
            place, anchor, fits = end, "end", end >= need
        else:
            place, anchor, fits = x, "middle", need / 2 <= min(x, 100 - x)
        if not fits:
            place, anchor = (0.0, "start") if x < 50 else (100.0, "end")  # noqa: PLR2004
        self.text(place, y, text, anchor, size, kind)


def scale_svg(findings: ExperienceFindings, room: int) -> str:
    """The scale as SVG; empty if no system has ranks."""
    if not findings.statements:
        return ""
    return (_years if findings.core.states_years else _places)(findings, room).svg()


def _of(system: int, kind: str) -> str:
    """The classes of a system's mark, including that of its color."""
    return f"{kind} s{system % 6 + 1}"


def legend(findings: ExperienceFindings) -> str:
    """The legend, for marks that are not labeled."""
    core, n = findings.core, len(findings.statements)
    parts = []
    if core.states_years and n > _FEW:
        leads = {of.leads for of in core.estimates}
        kinds = {"paper": "prediction interval", "reference": "credible interval of the population"}
        level = format_percent(core.settings.level)
        bars = " or ".join(f"{level} {kind}" for lead, kind in kinds.items() if lead in leads)
        parts.append(f"Bar: {bars}.")
    if core.states_years and n > _MOST_SYSTEMS:
        parts.append(f"{n - _MOST_SYSTEMS} more systems are in the table.")
    return " ".join(parts)


def _years(findings: ExperienceFindings, room: int) -> Scale:
    core, statements = findings.core, findings.statements[:_MOST_SYSTEMS]
    people, unit = core.line.y, core.unit
    step, top = _axis(people, statements)
    scale = Scale("; ".join(map(_spoken, statements)), room)
    low, high = float(people.min()), float(people.max())
    zone = (_place(low, top), _place(high, top))
    begin = 46 + _people(scale, [(_place(y, top), "") for y in people])
    each = 84 if len(statements) <= _FEW else 54
    bottom = begin + each * len(statements) + 20
    ticks = [(_place(y, top), f"{y:,g}") for y in np.arange(0, top + step / 2, step)]
    _ground(scale, zone, ticks, bottom)
    head = f"the {len(people)} people, {low:g} to {high:g} {unit}"
    scale.fit(sum(zone) / 2, 17, head, span=zone)
    is_dense = len(statements) > _FEW
    for at, (statement, of) in enumerate(zip(statements, core.best_first, strict=False)):
        y = begin + at * each
        _add_system(scale, statement, core.estimates.index(of), y, top, is_dense=is_dense)
    scale.text(50, bottom + 42, f"{short(unit, 30)} of experience")
    scale.height = bottom + 54
    return scale


def _places(findings: ExperienceFindings, room: int) -> Scale:
    """Without years: each solver's place; each subject's dot has their years."""
    core, statements = findings.core, findings.statements[:_MOST_SYSTEMS]
    place, of = 100 * core.averages.place, core.averages
    people = [(float(place[i]), f"{of.years[i]:g}") for i in of.of_kind("subject")]
    scale = Scale("; ".join(f"{one.name}: {one.rank_among}" for one in statements), room)
    begin = 58 + _people(scale, people)
    bottom = begin + 46 * len(statements) + 12
    ticks = [(0.0, "always last"), (50.0, "middle"), (100.0, "always first")]
    _ground(scale, None, ticks, bottom)
    who = format_count(len(people), "person").replace("persons", "people")
    scale.text(0, 17, f"the {who}, each with {core.unit} of experience", "start")
    for row, (statement, estimate) in enumerate(zip(statements, core.best_first, strict=False)):
        y, x = begin + 46 * row, float(place[estimate.at])
        system = core.estimates.index(estimate)
        name = _named(scale, statement.name, f": {statement.rank_among}")
        scale.fit(x, y + 20, name, system=system)
        scale.dot(x, y + 36, 8, _of(system, "mark"))
    scale.height = bottom + 30
    return scale


def _axis(people: NDArray[np.float64], statements: Sequence[Statement]) -> tuple[float, float]:
    """The step and the end of the axis, which begins at 0."""
    most = float(people.max())
    need = [most]
    for one in statements:
        low, high = one.interval
        if one.value and high is None:
            need.append(1.35 * max(low, most))
        elif one.value and high is not None:
            need.append(min(max(high, one.center), 1.6 * most))
    end = max(need)
    power = 10.0 ** np.floor(np.log10(end / _MOST_STEPS))
    step = next(s * power for s in (*_FINE, 10) if np.ceil(end / (s * power)) <= _MOST_STEPS)
    return step, float(step * np.ceil(end / step - 1e-9))


def _place(years: float, top: float) -> float:
    return float(np.clip(100 * years / top, 0, 100))


def _spoken(of: Statement) -> str:
    return f"{of.name}: {of.value}, {of.qualifier}" if of.value else f"{of.name}: no years"


def _named(scale: Scale, name: str, value: str) -> str:
    """A system's name with its result, short enough for the drawing."""
    letters = int(scale.room / (_LETTER * _LABEL)) - len(value)
    return f"{short(name, max(letters, 6))}{value}"


def _people(scale: Scale, people: Sequence[tuple[float, str]]) -> float:
    """Add a dot for each subject, stacked where they would overlap; returns the height.

    Their texts are above the dots.
    """
    widths = [100 * max(11, 9 * len(text) + 4) / scale.room for _, text in people]
    last: list[float] = []
    stacked = []
    for x, width, text in sorted((x, w, text) for (x, text), w in zip(people, widths, strict=True)):
        level = next((i for i, other in enumerate(last) if x - other >= width), len(last))
        last[level : level + 1] = [x]
        stacked.append((x, level, text))
    named = any(text for *_, text in stacked)
    step = min(28.0 if named else 12.0, (140.0 if named else 72.0) / len(last))
    first = 50 if named else 34
    for x, level, text in stacked:
        y = first + step * level
        scale.dot(x, y, 5, "person")
        if text:
            scale.text(x, y - 9, text)
    return step * (len(last) - 1)


def _ground(
    scale: Scale,
    zone: tuple[float, float] | None,
    ticks: Sequence[tuple[float, str]],
    bottom: float,
) -> None:
    """Put the subjects' range and the axis behind all other marks."""
    before, scale.marks = scale.marks, []
    if zone:
        scale.bar(*zone, 0, bottom, "zone")
    for x, _ in ticks:
        scale.line(x, x, 26, bottom, "grid")
    scale.marks += before
    scale.line(0, 100, bottom, bottom, "axis")
    for x, text in ticks:
        anchor: Anchor = "start" if x == 0 else "end" if x == 100 else "middle"  # noqa: PLR2004
        scale.text(x, bottom + 20, text, anchor)


def _add_system(
    scale: Scale, of: Statement, system: int, y: float, top: float, *, is_dense: bool
) -> None:
    """Add a system's label, bar, mark, and the numbers of its ends, on an axis up to `top`."""
    if not of.value:
        scale.fit(0, y + 26, _named(scale, of.name, ": no years"), system=system)
        return
    low, high = of.interval
    x, bar = _place(low if high is None else of.center, top), y + 36
    scale.fit(x, y + 26, _named(scale, of.name, f": {of.value}"), system=system)
    start, end = _place(low, top), 100.0 if high is None else _place(high, top)
    scale.bar(start, end, bar, 18, _of(system, "outer"))
    if high is None:
        scale.bar(x, x, bar - 4, 26, _of(system, "mark"), width="4")
        scale.text(100, bar + 15, "→", "end", _LABEL, _of(system, "label"), -4)
        if not is_dense:
            scale.fit(x, bar + 36, of.qualifier, span=(x, 100.0))
        return
    left = f"{'◂ ' if low < 0 else ''}{format_number(low)}"
    right = f"{format_number(high)}{' ▸' if high > top else ''}"
    if is_dense:
        _beside(scale, start, end, left, right, bar)
    else:
        kind = f"{of.qualifier.partition(' interval ')[0]} interval"
        _below(scale, start, end, left, right, kind, bar)
    scale.dot(x, bar + 9, 8, _of(system, "mark"))
    scale.dot(x, bar + 9, 3, _of(system, "hole"))


def _below(
    scale: Scale, start: float, end: float, left: str, right: str, kind: str, bar: float
) -> None:
    """Add the numbers of the ends under a bar, with the interval's name between."""
    middle, y = (start + end) / 2, bar + 36
    if end - start >= scale.share(f"{left}   {kind}   {right}"):
        scale.text(start, y, left, "start")
        scale.text(middle, y, kind)
        scale.text(end, y, right, "end")
        return
    whole = f"{kind} {left} to {right}"
    scale.fit(middle, y, whole if scale.share(whole) <= 100 else f"{left} to {right}")  # noqa: PLR2004


def _beside(scale: Scale, start: float, end: float, left: str, right: str, bar: float) -> None:
    """Add the numbers of the ends left and right of a bar, or where they fit."""
    y, both = bar + 13, f"{left} to {right}"
    if start >= scale.share(left) and end <= 100 - scale.share(right):
        scale.text(start, y, left, "end", shift=-6)
        scale.text(end, y, right, "start", shift=6)
    elif end <= 100 - scale.share(both):
        scale.text(end, y, both, "start", shift=6)
    elif start >= scale.share(both):
        scale.text(start, y, both, "end", shift=-6)
    else:
        scale.text(start, y, left, "start", shift=4)
        scale.text(end, y, right, "end", shift=-4)
