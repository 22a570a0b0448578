"""A table of numbers as colors: blue for one end, red for the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quem.report.drawing import LINE, PAPER, SYSTEMS, label_inches, one_axes, with_style
from quem.wording import format_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["heat_map"]

_MOST_NUMBERS = 20  # columns into which numbers fit
_DARK = 0.55  # of the way from the middle to an end, where letters have to be light


def heat_map(
    rows: list[str],
    columns: list[str],
    values: NDArray[np.float64],
    title: str,
    *,
    ends: tuple[float, float] = (-1.0, 1.0),
) -> Figure:
    """Draw a heat map whose last column sums the others up.

    Parameters
    ----------
    rows, columns : list of str
        Labels.
    values : array of float, shape (n_rows, n_columns)
        NaN stays blank.
    ends : (float, float)
        The values of the reddest red and the bluest blue.
    """
    with with_style():
        figure, axes = _canvas(rows, columns, title)
        axes.imshow(values, cmap=_diverging(), vmin=ends[0], vmax=ends[1], aspect="auto")
        axes.axvline(len(columns) - 1.5, color=PAPER, linewidth=3)
        if len(columns) <= _MOST_NUMBERS:
            _write_numbers(axes, values, ends)
        else:
            _colour_scale(figure, ends)
        axes.set_title(title)
    return figure


def _canvas(labels: list[str], columns: list[str], title: str) -> tuple[Figure, Axes]:
    """Make the canvas, with the labels of its rows and columns."""
    rotated = len(columns) > 12 or max(map(len, columns)) > 8  # noqa: PLR2004  would touch
    left, below = label_inches(labels), 0.1 + 0.87 * label_inches(columns) if rotated else 0.35
    scale = 0.0 if len(columns) <= _MOST_NUMBERS else 0.4
    width = left + max(1.15 * label_inches([title]), min(9.5, 0.62 * len(columns))) + 0.15
    height = 0.35 + 0.26 * len(labels) + below + scale
    figure, axes = one_axes(width, height, left=left, bottom=below + scale)
    step = -(-len(columns) // 60)
    ticks = [*range(0, len(columns) - step, step), len(columns) - 1]
    turned: dict[str, Any] = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(ticks, [columns[i] for i in ticks], **(turned if rotated else {}))
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure, axes


def _write_numbers(axes: Axes, values: NDArray[np.float64], ends: tuple[float, float]) -> None:
    middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    for row, column in np.argwhere(np.isfinite(values)):
        value = values[row, column]
        # Fixed colors: the cells are as light or dark in either scheme.
        color = "#fefefe" if abs(value - middle) > _DARK * half else "#1b1f25"
        text = format_number(value, 2)
        axes.text(column, row, text, color=color, ha="center", va="center", fontsize=7.5)


def _colour_scale(figure: Figure, ends: tuple[float, float]) -> None:
    """Say below the map what its colors mean."""
    width, height = figure.get_size_inches()
    scale = figure.add_axes((1 - 1.75 / width, 0.22 / height, 1.5 / width, 0.1 / height))
    colors = np.linspace(*ends, 41)[None, :]
    scale.imshow(colors, cmap=_diverging(), vmin=ends[0], vmax=ends[1], aspect="auto")
    scale.set_yticks([])
    labels = [f"{end:g}".replace("-", "−") for end in (ends[0], sum(ends) / 2, ends[1])]
    scale.set_xticks([0, 20, 40], labels)
    scale.tick_params(length=0)
    for spine in scale.spines.values():
        spine.set_visible(False)


def _diverging() -> LinearSegmentedColormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("agreement", [SYSTEMS[0], "#f1efe9", LINE])
