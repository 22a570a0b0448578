"""Labels of points that do not overlap each other or a point, inside the axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

from quem.report.drawing import HALO, MUTED, missing_glyphs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from numpy.typing import NDArray

# Points: distance from a mark to a near label, and to a far one with a leader line.
_NEAR = 7.0
_FAR = (20.0, 34.0, 50.0, 70.0)
# To the right first, in reading direction.
_DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
# Margin around a point and between labels, in pixels.
_AIR = 2.0


@dataclass(frozen=True)
class Label:
    """A label of a point."""

    # The point, in data units
    x: float
    y: float
    texts: tuple[str, ...]  # text, and shorter forms for lack of space
    color: str = MUTED
    weight: str = "normal"


def place_labels(
    axes: Axes,
    labels: Sequence[Label],
    *,
    points: NDArray[np.float64],
    radius: float = 5.0,
    line: NDArray[np.float64] | None = None,
) -> list[Text]:
    """Write each label at the first free place; labels without one are left out.

    Shapes: `points` (n, 2); `line` (m, 2), optional.
    """
    figure = axes.figure
    canvas = FigureCanvasAgg(figure)  # type: ignore[arg-type]
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    scale = figure.dpi / 72
    room = axes.get_window_extent(renderer)
    marks = axes.transData.transform(points) if len(points) else np.empty((0, 2))
    reach = radius * scale + _AIR
    taken = [Bbox([mark - reach, mark + reach]) for mark in marks]
    curve = axes.transData.transform(line) if line is not None else np.empty((0, 2))
    placed: list[Text] = []
    for label in labels:
        best = None
        for text, (dx, dy), is_far in _candidates(label):
            shown = _write(axes, label, text, dx, dy)
            box = _extent(shown, renderer)
            free = _inside(box, room) and not any(box.overlaps(other) for other in taken)
            if free and not _meets(box, curve):
                if best:
                    best[0].remove()
                best = shown, box
                break
            if free and best is None and not is_far:
                best = shown, box
            else:
                shown.remove()
            # A near place that the curve crosses is better than a far one.
            if is_far and best:
                break
        if best:
            taken.append(best[1].padded(_AIR))
            placed.append(best[0])
            _lead(axes, label, best[1])
    return placed


def _candidates(label: Label) -> Iterator[tuple[str, tuple[float, float], bool]]:
    for text in label.texts:
        for right, up in _DIRECTIONS:
            # Diagonals are closer, since a corner is nearest to the point.
            off = _NEAR if not (right and up) else 0.7 * _NEAR
            yield text, (right * off, up * off), False
        for far in _FAR:
            for right, up in _DIRECTIONS[4:] + _DIRECTIONS[:4]:
                yield text, (right * far, up * far), True


def _write(axes: Axes, label: Label, text: str, dx: float, dy: float) -> Annotation:
    return axes.annotate(
        text,
        (label.x, label.y),
        (dx, dy),
        textcoords="offset points",
        color=label.color,
        fontweight=label.weight,
        ha="left" if dx > 0 else "right" if dx < 0 else "center",
        va="bottom" if dy > 0 else "top" if dy < 0 else "center_baseline",
        bbox=HALO,
        zorder=5,
        annotation_clip=False,
    )


def _lead(axes: Axes, label: Label, box: Bbox) -> None:
    """Draw a leader line from a point to a far label, behind all labels."""
    x, y = axes.transData.transform((label.x, label.y))
    end = (min(max(x, box.x0), box.x1), min(max(y, box.y0), box.y1))
    if np.hypot(end[0] - x, end[1] - y) > 0.9 * _FAR[0] * axes.figure.dpi / 72:
        to = axes.transData.inverted().transform(end)
        line = [label.x, to[0]], [label.y, to[1]]
        axes.plot(*line, color=label.color, linewidth=0.8, zorder=2.5)


def _extent(shown: Annotation, renderer: RendererBase) -> Bbox:
    """The extent of a text at its place."""
    with missing_glyphs():
        shown.update_positions(renderer)
        return Text.get_window_extent(shown, renderer)


def _inside(box: Bbox, room: Bbox) -> bool:
    return bool(box.x0 >= room.x0 and box.x1 <= room.x1 and box.y0 >= room.y0 and box.y1 <= room.y1)


def _meets(box: Bbox, curve: NDArray[np.float64]) -> bool:
    """Whether a curve of close points crosses a box."""
    if not len(curve):
        return False
    x, y = curve.T
    return bool(((x > box.x0) & (x < box.x1) & (y > box.y0) & (y < box.y1)).any())
