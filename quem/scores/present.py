"""A table of cells as text, Markdown, LaTeX, and HTML."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from quem.wording import WIDTH, align_columns, format_percent, latex_escaped, plural, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from quem.report.files import TextTable
    from quem.scores.table import ScoreTable

Shown = Literal["none", "headline", "all"]
_LETTERS = 26
_MOST_MEASURES = 8  # side by side in a file
_UNKNOWN = "–"  # as in rows


class _Format(NamedTuple):
    """The format of cells."""

    best: str
    marks: str  # letters of the significantly worse systems
    interval: str = " ({} to {})"
    other: str = "{}"  # a mean that is not the best
    none: str = "-"
    escape: Callable[[str], str] = str


_TEXT = _Format("{}*", " {}", other="{} ")
_MARKDOWN = _Format("**{}**", "<sup>{}</sup>", escape=lambda text: text.replace("|", r"\|"))
_LATEX = _Format(
    r"\textbf{{{}}}", "$^{{{}}}$", r" {{\scriptsize({}--{})}}", none="--", escape=latex_escaped
)
_HTML = _Format("<b>{}</b>", "<sup>{}</sup>", " <small>({} to {})</small>")


def letters(n: int) -> list[str]:
    """A letter per system; numbers if there are too many."""
    return [chr(ord("a") + at) if n <= _LETTERS else str(at + 1) for at in range(n)]


def _cells(table: ScoreTable, form: _Format, digits: int, intervals: Shown) -> list[list[str]]:
    """The means of the systems, one row each."""
    names = letters(len(table.systems))
    between = "" if len(names) <= _LETTERS else ","
    means = table.means

    def cell(at: int, layer: int) -> str:
        mean, low, high = (one[at, layer] for one in (means.mean, means.low, means.high))
        if np.isnan(mean):
            return form.other.format(form.none)
        text = (form.best if table.best[at, layer] else form.other).format(f"{mean:.{digits}f}")
        if beaten := table.beaten(at, layer):
            text += form.marks.format(between.join(names[one] for one in beaten))
        if (intervals == "all" or (intervals == "headline" and not layer)) and not np.isnan(low):
            text += form.interval.format(f"{low:.{digits}f}", f"{high:.{digits}f}")
        return text

    return [[cell(at, layer) for layer in range(len(table.measures))] for at in range(len(names))]


def note(table: ScoreTable, best: str = "bold") -> str:
    """The meaning of cells and marks."""
    systems, inference = len(table.systems), table.inference
    n = len(table.queries)
    text = f"{n:,} {table.nouns.query if n == 1 else table.nouns.queries}"
    if not inference.samples or n == 1:
        return text
    text += f"; {format_percent(inference.level)} bootstrap intervals, each alone"
    if systems > 1:
        pairs = systems * (systems - 1) // 2
        test = "paired randomization test"
        if pairs > 1:
            test = f"joint randomization test of all {pairs} pairs by each measure"
        text += (
            f"; {best}: best; letters: significantly better than these "
            f"{plural(table.nouns.system)} "
            f"({test}, p <= {1 - inference.level:.2g})"
        )
    return text


def _details(table: ScoreTable) -> tuple[list[str], list[tuple[str, ...]]]:
    """Details of a kind besides scores: headings, and a row per system without its name.

    Details that are unknown for all systems are left out.
    """
    if not table.details:
        return [], [()] * len(table.systems)
    headings = [field.title or "" for field in type(table.details[0]).shown().values()]
    rows = [row.cells() for row in table.details]
    known = [at for at in range(1, len(headings)) if {row[at] for row in rows} != {_UNKNOWN}]
    return [headings[at] for at in known], [tuple(row[at] for at in known) for row in rows]


@dataclass(frozen=True)
class _Grid:
    """The table as texts: columns of names, then numbers, then words."""

    heading: list[str]
    body: list[list[str]]
    names: int
    numbers: int

    def columns(self, names: str, numbers: str) -> list[str]:
        """The type of each column, numbers or words."""
        words = len(self.heading) - self.names - self.numbers
        return [names] * self.names + [numbers] * self.numbers + [names] * words

    @property
    def turned(self) -> _Grid:
        """The transposed table: one row per measure, one column per system."""
        columns = [*zip(*self.body, strict=True)]
        systems = [f"{letter} {label}" for letter, label, *_ in self.body]
        rows = zip(self.heading[self.names :], columns[self.names :], strict=True)
        return _Grid(["", *systems], [[first, *row] for first, row in rows], 1, len(systems))


def _grid(table: ScoreTable, form: _Format, digits: int, intervals: Shown) -> _Grid:
    """Letter, system, measures, details."""
    plain = form.escape
    headings, details = _details(table)
    body = [
        [letter, plain(label), *row, *map(plain, more)]
        for letter, label, row, more in zip(
            letters(len(table.systems)),
            table.labels,
            _cells(table, form, digits, intervals),
            details,
            strict=True,
        )
    ]
    heading = ["", *map(plain, (table.nouns.system, *table.headings, *headings))]
    return _Grid(heading, body, 2, len(table.measures))


def _filed(table: ScoreTable, form: _Format, digits: int, intervals: Shown) -> _Grid:
    """The table, transposed if there are many measures."""
    grid = _grid(table, form, digits, intervals)
    return grid.turned if _MOST_MEASURES < len(table.measures) > len(table.systems) else grid


def text(table: ScoreTable, digits: int = 3, intervals: Shown = "headline") -> str:
    """The table for a terminal; transposed if the systems' lines would be too long."""
    grid = _grid(table, _TEXT, digits, intervals)
    lines = _aligned(grid)
    if max(map(len, lines)) > WIDTH:
        lines = min(lines, _aligned(grid.turned), key=lambda one: max(map(len, one)))
    return "\n".join([*lines, *textwrap.wrap(note(table, "*"), WIDTH)])


def _aligned(grid: _Grid) -> list[str]:
    return align_columns([grid.heading, *grid.body], range(len(grid.heading)))


def sections_text(table: ScoreTable, shown: Collection[str] | None = None) -> list[str]:
    """The tables of sections for a terminal: of all, or of some ids."""
    return [
        line
        for section in table.sections
        if shown is None or section.id in shown
        for one in section.tables
        for line in ("", *section_text(one), *wrap(one.note))
    ]


def section_text(table: TextTable) -> list[str]:
    """A table of a section of a kind for a terminal."""
    lines = align_columns([table.columns, *table.rows], {0, *table.words})
    return [table.caption, *(f"  {line}" for line in lines)]


def markdown(table: ScoreTable, digits: int = 3, intervals: Shown = "headline") -> str:
    """The table in Markdown."""
    grid = _filed(table, _MARKDOWN, digits, intervals)
    head, *rows = (f"| {' | '.join(one)} |" for one in (grid.heading, *grid.body))
    rule = f"|{'|'.join(grid.columns('---', '--:'))}|"
    return "\n".join([head, rule, *rows, "", note(table)])


def latex(table: ScoreTable, digits: int = 3, intervals: Shown = "none") -> str:
    """The table in LaTeX, with the rules of booktabs."""
    grid = _filed(table, _LATEX, digits, intervals)
    head, *rows = (" & ".join(one) + r" \\" for one in (grid.heading, *grid.body))
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            rf"\begin{{tabular}}{{{''.join(grid.columns('l', 'r'))}}}",
            r"\toprule",
            head,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            f"% {note(table)}",
        ]
    )


def _side(cell: str) -> str:
    """Numbers are right-aligned."""
    return ' class="n"' if cell[:1].isdigit() or cell == _UNKNOWN else ""


def html(
    table: ScoreTable, digits: int = 3, intervals: Shown = "headline", *, noted: bool = True
) -> str:
    """The table in HTML, with the meaning of cells and marks unless given elsewhere."""
    from html import escape

    grid = _filed(table, _HTML._replace(escape=escape), digits, intervals)
    last = grid.names + grid.numbers
    head = "".join(
        f"""<th scope="col"{' class="n"' if grid.names <= at < last else ""}>{one}</th>"""
        if one
        else "<td></td>"
        for at, one in enumerate(grid.heading)
    )
    rows = "".join(
        f"<tr>{'<td>' + row[0] + '</td>' if grid.names > 1 else ''}"
        f'<th scope="row">{row[grid.names - 1]}</th>'
        + "".join(f'<td class="n">{one}</td>' for one in row[grid.names : last])
        + "".join(f"<td{_side(one)}>{one}</td>" for one in row[last:])
        + "</tr>"
        for row in grid.body
    )
    caption = f"<caption>{escape(note(table))}</caption>" if noted else ""
    content = f"{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return f'<table class="scores">{content}</table>'
