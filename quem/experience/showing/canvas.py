"""What the figures of an analysis share: the canvas, colours and short names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from quem.report.drawing import PAPER, SYSTEMS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["HALO", "MOST_LABELS", "MOST_ROWS", "colours", "one_axes", "short"]

MOST_LABELS = 24
MOST_ROWS = 40
LONGEST_NAME = 22
HALO = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.75}


def one_axes(width: float, height: float) -> tuple[Figure, Axes]:
    """Make a figure of one Axes, its size in inches."""
    figure = Figure(figsize=(width, height))
    figure.patch.set_alpha(0)
    axes = figure.add_axes((0.55 / width, 0.5 / height, 1 - 0.7 / width, 1 - 0.85 / height))
    axes.patch.set_alpha(0)
    return figure, axes


def short(name: str) -> str:
    """A name that fits into a figure."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def colours() -> list[str]:
    """Give each system its colour, in the order of the study."""
    return [*SYSTEMS] * 20
