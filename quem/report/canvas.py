"""What the figures of an analysis share: the canvas, colours and short names."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from matplotlib.figure import Figure

from quem.report.drawing import PAPER, SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from matplotlib.axes import Axes

__all__ = [
    "HALO",
    "MOST_LABELS",
    "MOST_ROWS",
    "colours",
    "label_inches",
    "one_axes",
    "short",
]

MOST_LABELS = 24
MOST_ROWS = 40
LONGEST_NAME = 22
HALO = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.75}

_LETTER = 0.072  # inches, of the style's font size


def one_axes(
    width: float,
    height: float,
    *,
    left: float = 0.55,
    right: float = 0.15,
    bottom: float = 0.5,
) -> tuple[Figure, Axes]:
    """Make a figure of one Axes, its size and margins in inches."""
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes(
        (
            left / width,
            bottom / height,
            1 - (left + right) / width,
            1 - (bottom + 0.35) / height,
        )
    )
    return figure, axes


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """Give a name that fits into a figure: shortened in the middle, so that a version survives."""
    if _letters(name) <= longest:
        return name
    *_, last = name.rsplit(maxsplit=1)
    end = f" {last}" if _letters(last) <= longest // 3 else name[-(longest // 4) :]
    start = name
    while _letters(start) + 1 + _letters(end) > longest:
        start = start[:-1]
    return f"{start.rstrip()}…{end}"


def label_inches(labels: Iterable[str]) -> float:
    """Give about the width of the widest of these labels, with a little air."""
    return 0.15 + _LETTER * max(map(_letters, labels), default=0)


def _letters(text: str) -> int:
    """Count letters, Chinese and other wide ones as two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def colours() -> Iterator[str]:
    """Give each system its colour, in the order of the study, over and over."""
    return cycle(SYSTEMS)
