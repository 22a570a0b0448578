"""One table of cells as text, Markdown, LaTeX, and HTML."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Literal

import numpy as np

from quem.wording import WIDTH, align_columns, format_percent, latex_escaped, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from quem.scores.table import ScoreTable

Shown = Literal["none", "headline", "all"]
_LETTERS = 26


@dataclass(frozen=True)
class Cell:
    """A mean, ready to be printed."""

    text: str = "-"
    is_best: bool = False
    marks: str = ""  # letters of the systems that are significantly worse
    interval: str = ""


def letters(n: int) -> list[str]:
    """A letter for each system; numbers where there are more than letters."""
    return [chr(ord("a") + at) if n <= _LETTERS else str(at + 1) for at in range(n)]


def cells(table: ScoreTable, digits: int = 3, intervals: Shown = "headline") -> list[list[Cell]]:
    """The means of the systems, a row each."""
    names = letters(len(table.systems))
    between = "" if len(names) <= _LETTERS else ","
    means = table.means

    def cell(at: int, layer: int) -> Cell:
        if np.isnan(means.mean[at, layer]):
            return Cell()
        low, high = means.low[at, layer], means.high[at, layer]
        shown = intervals == "all" or (intervals == "headline" and not layer)
        return Cell(
            f"{means.mean[at, layer]:.{digits}f}",
            bool(table.best[at, layer]),
            between.join(names[one] for one in table.beaten(at, layer)),
            f"{low:.{digits}f} to {high:.{digits}f}" if shown and not np.isnan(low) else "",
        )

    return [[cell(at, layer) for layer in range(len(table.measures))] for at in range(len(names))]


def note(table: ScoreTable, best: str = "bold") -> str:
    """What the cells and marks mean."""
    systems, inference = len(table.systems), table.inference
    n = len(table.queries)
    text = f"{n:,} {table.nouns.query if n == 1 else table.nouns.queries}"
    if not inference.samples:
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
    """What a kind says beside the scores: headings, and a row a system without its name."""
    if not table.details:
        return [], [()] * len(table.systems)
    headings = [field.title or "" for field in type(table.details[0]).shown().values()]
    return headings[1:], [row.cells()[1:] for row in table.details]


def _grid(
    table: ScoreTable, show: Callable[[Cell], str], digits: int, intervals: Shown
) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: letter, system, measures, details."""
    headings, details = _details(table)
    body = [
        [letter, label, *map(show, row), *more]
        for letter, label, row, more in zip(
            letters(len(table.systems)),
            table.labels,
            cells(table, digits, intervals),
            details,
            strict=True,
        )
    ]
    return ["", table.nouns.system, *table.columns, *headings], body


def text(table: ScoreTable, digits: int = 3, intervals: Shown = "headline") -> str:
    """The table for a terminal; a measure a line where the systems' lines would be too long."""

    def show(cell: Cell) -> str:
        marked = f"{cell.text}{'*' if cell.is_best else ' '}"
        return (
            marked
            + (f" {cell.marks}" if cell.marks else "")
            + (f" ({cell.interval})" if cell.interval else "")
        )

    heading, body = _grid(table, show, digits, intervals)
    lines = _aligned([heading, *body])
    if max(map(len, lines)) > WIDTH:
        names = [f"{letter} {label}" for letter, label, *_ in body]
        columns = [names, *zip(*(row[2:] for row in body), strict=True)]
        turned = _aligned(
            [[first, *row] for first, row in zip(["", *heading[2:]], columns, strict=True)]
        )
        lines = min(lines, turned, key=lambda one: max(map(len, one)))
    return "\n".join([*lines, *textwrap.wrap(note(table, "*"), WIDTH)])


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    return align_columns(rows, range(len(rows[0])))


def section_text(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A section of a kind for a terminal."""
    return [title, *(f"  {line}" for line in align_columns([columns, *rows]))]


def markdown(table: ScoreTable, digits: int = 3, intervals: Shown = "headline") -> str:
    """The table in Markdown."""

    def show(cell: Cell) -> str:
        value = f"**{cell.text}**" if cell.is_best else cell.text
        return (
            value
            + (f"<sup>{cell.marks}</sup>" if cell.marks else "")
            + (f" ({cell.interval})" if cell.interval else "")
        )

    heading, body = _grid(table, show, digits, intervals)
    more = len(heading) - 2 - len(table.measures)
    rows = ["| " + " | ".join(one.replace("|", r"\|") for one in row) + " |" for row in body]
    head = "| " + " | ".join(one.replace("|", r"\|") for one in heading) + " |"
    rule = "|---|---" + "|--:" * len(table.measures) + "|---" * more + "|"
    return "\n".join([head, rule, *rows, "", note(table)])


def latex(table: ScoreTable, digits: int = 3, intervals: Shown = "none") -> str:
    """The table in LaTeX, with the rules of booktabs."""

    def show(cell: Cell) -> str:
        value = "--" if cell.text == "-" else cell.text
        value = rf"\textbf{{{value}}}" if cell.is_best else value
        interval = cell.interval.replace(" to ", "--")
        return (
            value
            + (f"$^{{{cell.marks}}}$" if cell.marks else "")
            + (rf" {{\scriptsize({interval})}}" if interval else "")
        )

    heading, body = _grid(table, show, digits, intervals)
    last = 2 + len(table.measures)
    rows = [
        [row[0], latex_escaped(row[1]), *row[2:last], *map(latex_escaped, row[last:])]
        for row in body
    ]
    sides = "ll" + "r" * len(table.measures) + "l" * (len(heading) - last)
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            rf"\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            " & ".join(map(latex_escaped, heading)) + r" \\",
            r"\midrule",
            *(" & ".join(row) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            f"% {note(table)}",
        ]
    )


def html(table: ScoreTable, digits: int = 3, intervals: Shown = "headline") -> str:
    """The table in HTML."""

    def show(cell: Cell) -> str:
        value = f"<b>{cell.text}</b>" if cell.is_best else cell.text
        return (
            value
            + (f"<sup>{cell.marks}</sup>" if cell.marks else "")
            + (f" <small>({cell.interval})</small>" if cell.interval else "")
        )

    heading, body = _grid(table, show, digits, intervals)
    last = 2 + len(table.measures)
    head = "".join(f'<th scope="col">{escape(one)}</th>' if one else "<td></td>" for one in heading)
    rows = "".join(
        f'<tr><td>{row[0]}</td><th scope="row">{escape(row[1])}</th>'
        + "".join(f'<td class="n">{one}</td>' for one in row[2:last])
        + "".join(f"<td>{escape(one)}</td>" for one in row[last:])
        + "</tr>"
        for row in body
    )
    return (
        f'<table class="scores"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody>'
        f"<caption>{escape(note(table))}</caption></table>"
    )
