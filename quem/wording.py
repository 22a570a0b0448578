"""Formats of numbers, lists, and warnings, the same in every kind."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from quem.errors import StudyWarning

# Width of text on a terminal.
WIDTH = 96

# Length of a name in a figure.
_LONGEST_NAME = 22
# Scores below this are rounding errors.
_ZERO = 1e-12


def format_count(count: int, noun: str) -> str:
    """A count with its noun: "1 judge", "1,260 judges", "2 queries"."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """The plural of a noun: "judges", "queries"."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def format_number(value: float, digits: int = 1) -> str:
    """A number with a fixed number of decimals and a true minus; "–" for NaN."""
    if not np.isfinite(value):
        return "–"
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def measured(value: float, digits: int = 3, *, sign: bool = False) -> str:
    """A score or mean score to its precision: "0.812", "500", "0.00042", "0".

    Counts have no decimals, numbers from 100 have one at most, and numbers that would round to 0
    have two significant digits; "–" for NaN.
    """
    size = abs(value)
    if not np.isfinite(value):
        return "–"
    if size < _ZERO:
        return "0"
    if size < 10.0**-digits:
        text = f"{size:.2g}"
    elif size >= 2 and float(value).is_integer():  # noqa: PLR2004  1 is the end of a scale
        text = f"{size:,.0f}"
    else:
        text = f"{size:.{digits if size < 100 else 1}f}"  # noqa: PLR2004  four digits say enough
    return f"{'−' if value < 0 else '+' if sign else ''}{text}"


def format_signed(value: float, digits: int = 1) -> str:
    """A difference with its sign: "+1.2", "−0.3"; "–" for NaN."""
    text = format_number(value, digits)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def format_p(p: float) -> str:
    """A p value: "p = .0035", "p < .0001"."""
    if not np.isfinite(p):
        return "p unknown"
    if p < 0.0001:  # noqa: PLR2004  no more is read off a p value
        return "p < .0001"
    digits = 4 if p < 0.01 else 3 if p < 0.1 else 2  # noqa: PLR2004
    text = f"{p:.{digits}f}"
    return f"p = {text.removeprefix('0')}"


def format_bare_p(p: float) -> str:
    """A p value for a table: ".0035", "< .0001"; "–" for NaN."""
    return format_p(p).removeprefix("p ").removeprefix("= ") if np.isfinite(p) else "–"


def format_probability(p: float) -> str:
    """A probability as a percentage that is never rounded to certainty."""
    if p < 0.005:  # noqa: PLR2004  rounds to 0
        return "<1%"
    if p > 0.995:  # noqa: PLR2004  rounds to 100
        return ">99%"
    return f"{100 * p:.0f}%"


def format_percent(share: float) -> str:
    """A share as a percentage, with decimals only if it has some: "95%"."""
    return f"{100 * share:.10g}%"


def format_interval(interval: tuple[float, float], digits: int = 1) -> str:
    """An interval: "3.6 to 10.9"; "unbounded" without ends."""
    low, high = interval
    if not (np.isfinite(low) and np.isfinite(high)):
        return "unbounded"
    return f"{format_number(low, digits)} to {format_number(high, digits)}"


def join_words(words: Iterable[str], most: int = 6) -> str:
    """A list of words in a sentence: "a, b, and c", at most `most` of them."""
    listed = list(words)
    if len(listed) > most:
        listed[most:] = [f"{len(listed) - most} more"]
    if len(listed) > 2:  # noqa: PLR2004  two need no comma
        listed[-1] = f"and {listed[-1]}"
        return ", ".join(listed)
    return " and ".join(listed)


def wrap(text: str) -> list[str]:
    """The indented lines of a wrapped line of a summary."""
    return textwrap.wrap(
        text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False
    )


def align_columns(rows: Sequence[Sequence[str]], words: Collection[int] = (0,)) -> list[str]:
    """Rows in aligned columns: words left, all others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if at in words else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def warnings_text(warnings: Sequence[StudyWarning]) -> str:
    """Warnings with their codes."""
    lines = [format_count(len(warnings), "warning")]
    for warning in warnings:
        lines += wrap(f"{warning.code}: {warning.message}")
    return "\n".join(lines)


def short(name: str, longest: int = _LONGEST_NAME) -> str:
    """A name that fits into a figure, shortened in the middle to keep a version."""
    if count_letters(name) <= longest:
        return name
    *_, last = name.rsplit(maxsplit=1)
    end = f" {last}" if count_letters(last) <= longest // 3 else name[-(longest // 4) :]
    start = name
    while count_letters(start) + 1 + count_letters(end) > longest:
        start = start[:-1]
    return f"{start.rstrip()}…{end}"


def count_letters(text: str) -> int:
    """The width of a text in letters; Chinese and other wide ones count as two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


# In one step, so that nothing is escaped twice. Beyond ASCII, characters that pdfLaTeX lacks.
LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "[": "{[}",  # after \\ it would be a length
        "]": "{]}",
        "–": "--",
        "−": "$-$",
        "±": r"$\pm$",
        "×": r"$\times$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "≠": r"$\neq$",
        "≈": r"$\approx$",
        "→": r"$\rightarrow$",
        "∞": r"$\infty$",
        "√": r"$\surd$",
        "²": r"\textsuperscript{2}",
        "³": r"\textsuperscript{3}",
        "…": r"\ldots{}",
        "·": r"$\cdot$",
        "α": r"$\alpha$",
        "δ": r"$\delta$",
        "θ": r"$\theta$",
        "λ": r"$\lambda$",
        "ρ": r"$\rho$",
        "σ": r"$\sigma$",
        "τ": r"$\tau$",
        "χ": r"$\chi$",
        "\u00a0": "~",
        "\u2009": r"\,",
        "\u202f": r"\,",
    }
)


def latex_escaped(text: str) -> str:
    """A text escaped for LaTeX."""
    return " ".join(text.split()).translate(LATEX)
