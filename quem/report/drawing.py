"""Figures without pyplot: one palette, SVG that follows light and dark, PNG."""

from __future__ import annotations

import io
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BAND",
    "GRID",
    "INK",
    "INNER_BAND",
    "LINE",
    "MUTED",
    "PAPER",
    "SYSTEMS",
    "inline_svg",
    "png_bytes",
    "svg_text",
    "tidy",
    "with_style",
]

INK, MUTED, GRID, PAPER = "#1b1f24", "#5b6470", "#d9dee4", "#ffffff"
LINE, BAND, INNER_BAND = "#1f5f99", "#e3edf7", "#bcd5ec"
SYSTEMS = ("#b4381f", "#7a4aa0", "#18794e", "#9a6700", "#0e7490", "#a2296b")

# What each colour becomes on a dark screen. The hue stays, the lightness turns.
_DARK = {
    INK: "#e8eaed",
    MUTED: "#a9b2bd",
    GRID: "#39414b",
    PAPER: "#14181d",
    LINE: "#7db7ea",
    BAND: "#1f2e3e",
    INNER_BAND: "#2c4864",
    "#b4381f": "#ff8a6b",
    "#7a4aa0": "#c9a3ea",
    "#18794e": "#5fd39a",
    "#9a6700": "#e0b34c",
    "#0e7490": "#5cc8e0",
    "#a2296b": "#f08cc0",
}

# matplotlib types the keys of its settings, which differ between its versions.
_STYLE: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "figure.dpi": 100,
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
}


@contextmanager
def with_style() -> Iterator[None]:
    """Draw in the project's style, whatever the user's own settings are."""
    with mpl.rc_context(_STYLE):
        yield


def tidy(axes: Axes, *, x: str = "", y: str = "", grid: str = "y") -> None:
    """Label an Axes and give it a light grid."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(visible=True, axis=grid)  # type: ignore[arg-type]
    axes.tick_params(length=3)


def svg_text(figure: Figure, name: str) -> str:
    """Draw a figure as SVG, the same bytes each time.

    Text stays text. Viewers that follow the reader's preference show it light or dark; all
    others show it light.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    name : str
        Goes into the ids, so that several figures can stand in one page.
    """
    buffer = io.StringIO()
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": name}
    with mpl.rc_context(settings):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    return svg.replace("<defs>", f"<style>{_dark_rules()}</style>\n <defs>", 1)


def png_bytes(figure: Figure) -> bytes:
    """Draw a figure as PNG on white, the same bytes each time.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    """
    buffer = io.BytesIO()
    figure.savefig(
        buffer,
        format="png",
        dpi=160,
        facecolor=PAPER,
        metadata={"Software": None},
        pil_kwargs={"compress_level": 4},
    )
    return buffer.getvalue()


def inline_svg(svg: str, name: str, label: str) -> str:
    """Make an SVG fit to stand inside an HTML page.

    Parameters
    ----------
    svg : str
        As from `svg_text`.
    name : str
        Made part of every id, so that ids of several figures do not meet.
    label : str
        What the figure shows, for readers who do not see it.
    """
    from html import escape

    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    size = re.search(r'width="([\d.]+)pt"', svg)
    width = f"{float(size[1]) * 4 / 3:.0f}" if size else "600"
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', rf'\1 width="{width}"', svg, count=1)
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1)


def dark_rules(prefix: str = "") -> str:
    """CSS rules that turn the palette dark, each selector after `prefix`."""
    return "\n".join(
        f'{prefix}[style*="{what}: {light}"] {{ {what}: {dark} !important; }}'
        for light, dark in _DARK.items()
        for what in ("fill", "stroke")
    )


def _dark_rules() -> str:
    return f"@media screen and (prefers-color-scheme: dark) {{\n{dark_rules()}\n}}"
