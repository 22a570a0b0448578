"""The tables of a report as files: CSV for programs, Markdown and LaTeX for papers.

CSV holds the declared tables with all digits. Markdown and LaTeX hold the tables of the
report with its headings, decimals, and captions, all in one file.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from quem.errors import QuemError
from quem.report.files import Section, TextTable
from quem.wording import LATEX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from quem.report.result import BaseResult


FORMATS = ("csv", "markdown", "latex")
_PAPER = {"markdown": "tables.md", "latex": "tables.tex"}

_MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|~$#&"})


def table_names(stems: Iterable[str]) -> Iterator[str]:
    """Every possible file of tables."""
    yield from (f"{stem}.csv" for stem in stems)
    yield from _PAPER.values()


def table_files(result: BaseResult[Any], formats: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The table files of a result: names and contents."""
    if unknown := [name for name in formats if name not in FORMATS]:
        raise QuemError(f"tables: there is no format {unknown[0]!r}; use {', '.join(FORMATS)}")
    if "csv" in formats:
        for stem, frame in result.tables().items():
            yield f"{stem}.csv", csv_bytes(frame)
    if set(formats) & set(_PAPER):
        context = result.context()
        shown = list(_tables_in(context.values()))
        for name, text_of in (("markdown", markdown_text), ("latex", latex_text)):
            if name in formats:
                yield _PAPER[name], text_of(shown).encode()


def _tables_in(values: Iterable[object]) -> Iterator[TextTable]:
    """The tables in a template's variables, in the order of the page."""
    for value in values:
        if isinstance(value, TextTable):
            yield value
        elif isinstance(value, Section):
            yield from value.tables
        elif isinstance(value, list | tuple):
            yield from _tables_in(value)


def markdown_text(tables: Iterable[TextTable]) -> str:
    """Tables in GitHub's Markdown, each below its caption."""
    parts = []
    for table in tables:
        body = _frame(table, _MARKDOWN).to_markdown(
            index=False,
            tablefmt="pipe",
            headers=[_one_line(heading).translate(_MARKDOWN) for heading in table.columns],
            colalign=_sides(table),
            disable_numparse=True,
        )
        texts = [f"**{_one_line(table.caption).translate(_MARKDOWN)}**", body]
        parts += [*texts, _one_line(table.note).translate(_MARKDOWN)]
    return "\n\n".join(filter(None, parts)) + "\n"


def latex_text(tables: Iterable[TextTable]) -> str:
    r"""Tables in LaTeX, with the rules of booktabs.

    Each is a float with a caption and a label, ``tab:1`` and so on.
    """
    parts = [
        "% \\usepackage{booktabs} in the preamble. Names in other scripts than Latin need XeLaTeX "
        "or LuaLaTeX."
    ]
    for number, table in enumerate(tables, 1):
        caption = f"{table.caption.rstrip('.')}. {table.note}" if table.note else table.caption
        frame = _frame(table, LATEX)
        headings: dict[object, str] = {
            at: _one_line(heading).translate(LATEX) for at, heading in enumerate(table.columns)
        }
        shown = frame.style.hide(axis="index").format_index(headings.__getitem__, axis="columns")
        parts.append(
            shown.to_latex(
                column_format="".join(side[0] for side in _sides(table)),
                position="htbp",
                position_float="centering",
                hrules=True,
                caption=_one_line(caption).translate(LATEX),
                label=f"tab:{number}",
            )
        )
    return "\n".join(parts)


def _frame(table: TextTable, signs: dict[int, str]) -> pd.DataFrame:
    """The escaped texts; columns are numbered, since headings may repeat."""
    rows = [[_one_line(cell).translate(signs) for cell in row] for row in table.rows]
    return pd.DataFrame(rows, columns=range(len(table.columns)), dtype=object)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _sides(table: TextTable) -> list[str]:
    """The alignment of each column: words left, numbers right."""
    return ["left" if at in {0, *table.words} else "right" for at in range(len(table.columns))]


_DIGITS = "%.12g"
# From here on, deduplication saves more than it costs.
_LARGE = 10_000
_ROWS_AT_ONCE = 1 << 17


def csv_bytes(table: pd.DataFrame) -> bytes:
    """A table as CSV, numbers with 12 significant digits."""
    return b"".join(csv_parts(table))


def csv_parts(table: pd.DataFrame) -> Iterator[bytes]:
    """A table as by `csv_bytes`, in parts.

    A table of ranks repeats its values: a million rows have some thousand beginnings (judge,
    problem, block) and as many ends. Adjacent columns are joined as long as that holds.
    """
    if len(table) < _LARGE:
        yield table.to_csv(index=False, float_format=_DIGITS, lineterminator="\n").encode()
        return
    yield table.iloc[:0].to_csv(index=False, lineterminator="\n").encode()
    joined: list[_Texts] = []
    for at, name in enumerate(table.columns):
        right = _texts(table[name])
        left = joined[-1].before(right, len(table) // 8) if at else None
        if left is None:
            joined.append(right)
        else:
            joined[-1] = left
    ends = [","] * (len(joined) - 1) + ["\n"]
    texts = [
        np.array([text + end for text in part.texts], dtype=object)
        for part, end in zip(joined, ends, strict=True)
    ]
    for start in range(0, len(table), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        lines = texts[0][joined[0].codes[rows]]
        for text, part in zip(texts[1:], joined[1:], strict=True):
            lines = lines + text[part.codes[rows]]
        yield "".join(lines.tolist()).encode()


@dataclass(frozen=True)
class _Texts:
    """One or several columns: the distinct texts, and the index of each row."""

    codes: NDArray[np.int64]
    texts: list[str]

    def before(self, other: _Texts, most: int) -> _Texts | None:
        """Append another column, unless that makes more than this many texts."""
        both = self.codes * len(other.texts) + other.codes
        codes, distinct = pd.factorize(both)
        if len(distinct) > most:
            return None
        left, right = np.divmod(distinct, len(other.texts))
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return _Texts(codes, [f"{self.texts[a]},{other.texts[b]}" for a, b in pairs])


def _texts(column: pd.Series[Any]) -> _Texts:
    """The distinct values of a column as pandas writes them; a missing one is empty."""
    if column.dtype == np.float64:
        # By their bits, because -0 and 0 are equal but written differently.
        codes, bits = pd.factorize(column.to_numpy().view(np.int64))
        distinct = bits.view(np.float64)
        return _Texts(codes, ["" if np.isnan(one) else _DIGITS % one for one in distinct])
    codes, values = pd.factorize(column)
    return _Texts(codes + 1, ["", *map(_text, values)])


def _text(value: object) -> str:
    if isinstance(value, float | np.floating):
        return _DIGITS % value
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([value, ""])
    return line.getvalue().removesuffix(",\n")
