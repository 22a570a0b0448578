"""Figures without pyplot: one palette, SVG and PNG on white, with dark-mode colors."""

from __future__ import annotations

import io
import re
import warnings
from contextlib import contextmanager
from itertools import cycle
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from quem.wording import count_letters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from matplotlib.axes import Axes

INK, MUTED, GRID, PAPER = "#191c22", "#4c525c", "#dcd9d1", "#ffffff"
LINE, BAND, INNER_BAND = "#1c4f8f", "#dbe6f3", "#b9cfe8"
SYSTEMS = ("#b23c17", "#6a3fa0", "#0b6b6b", "#8a5a00", "#a3246b", "#33691e")

# The color of each on a dark screen: same hue, inverted lightness.
_DARK = {
    INK: "#e9eaed",
    MUTED: "#a9b0bb",
    GRID: "#2e343e",
    PAPER: "#191d24",
    LINE: "#8db8f0",
    BAND: "#1d2a3a",
    INNER_BAND: "#2b4260",
    "#b23c17": "#ff9470",
    "#6a3fa0": "#c5a3f5",
    "#0b6b6b": "#66cfcf",
    "#8a5a00": "#e0b04f",
    "#a3246b": "#f48cc4",
    "#33691e": "#a5d06f",
}

# matplotlib types the keys of its settings, which differ between its versions.
_STYLE: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
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
    "figure.facecolor": PAPER,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.5,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.edgecolor": "none",
    "legend.facecolor": PAPER,
    "legend.fontsize": 8,
    "legend.framealpha": 0.8,
    "savefig.facecolor": "auto",
    "text.color": INK,
    "text.parse_math": False,  # a name may hold dollars
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
}

# Fonts for names that DejaVu Sans lacks letters for, in pictures; SVG leaves this to its viewer.
_FALLBACK_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
    "PingFang SC",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "SimHei",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Nirmala UI",
    "Noto Emoji",
    "Segoe UI Symbol",
    "Arial Unicode MS",
)


@contextmanager
def with_style() -> Iterator[None]:
    """Draw in the project's style, whatever the user's settings."""
    with mpl.rc_context():
        # A `matplotlibrc` in the current folder, possibly a stranger's, can set anything:
        # `text.usetex` would even run LaTeX.
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def tidy(axes: Axes, *, x: str = "", y: str = "", grid: str = "y") -> None:
    """Label an Axes and give it a light grid."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(visible=True, axis=grid)  # type: ignore[arg-type]
    axes.tick_params(length=3)


def svg_text(figure: Figure, name: str) -> str:
    """A figure as SVG on white, the same bytes each time. Text stays text."""
    buffer = io.StringIO()
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": name}
    title = name.replace("-", " ").capitalize()
    with _saving(settings):
        metadata = {"Date": None, "Creator": None, "Title": title}
        figure.savefig(buffer, format="svg", metadata=metadata)
    return buffer.getvalue()


def png_bytes(figure: Figure, dpi: int = 160) -> bytes:
    """A figure as PNG on white, the same bytes each time."""
    buffer = io.BytesIO()
    with _saving(_fonts()):
        figure.savefig(
            buffer,
            format="png",
            dpi=dpi,
            metadata={"Software": None},
            pil_kwargs={"compress_level": 4},
        )
    return buffer.getvalue()


def pdf_bytes(figure: Figure, name: str) -> bytes:
    """A figure as PDF on white, with its fonts, the same bytes each time."""
    buffer = io.BytesIO()
    metadata: Any = dict.fromkeys(("CreationDate", "Creator", "Producer"))
    metadata["Title"] = name.replace("-", " ").capitalize()
    # TrueType, which journals take; text can be searched and copied.
    with _saving({**_fonts(), "pdf.fonttype": 42}):
        figure.savefig(buffer, format="pdf", metadata=metadata)
    return buffer.getvalue()


def _fonts() -> dict[str, Any]:
    """The settings of fonts for more languages, if installed."""
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    return {
        "font.sans-serif": ["DejaVu Sans", *(font for font in _FALLBACK_FONTS if font in known)]
    }


@contextmanager
def _saving(settings: Any) -> Iterator[None]:  # noqa: ANN401  see _STYLE
    """Save in the style too, whatever fonts are installed."""
    with with_style(), mpl.rc_context(settings), missing_glyphs():
        yield


@contextmanager
def missing_glyphs() -> Iterator[None]:
    """Ignore warnings on letters without a font."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from|Matplotlib .* does not support")
        yield


def inline_svg(svg: str, name: str, label: str) -> str:
    """Make an SVG fit for an HTML page."""
    from html import escape

    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<title>.*?</title>", "", svg, count=1, flags=re.DOTALL)
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


FORMATS = ("svg", "png", "pdf")
MOST_LABELS = 24
MOST_ROWS = 40
HALO = {"boxstyle": "round,pad=0.05", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.7}
_LETTER = 0.072  # inches, width of a letter of that size


def one_axes(
    width: float,
    height: float,
    *,
    left: float = 0.55,
    right: float = 0.15,
    bottom: float = 0.5,
) -> tuple[Figure, Axes]:
    """A figure with one Axes, its size and margins in inches."""
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


def label_inches(labels: Iterable[str]) -> float:
    """The approximate width of the widest label, with a margin."""
    return 0.15 + _LETTER * max(map(count_letters, labels), default=0)


def colors() -> Iterator[str]:
    """The colors of the systems in the order of the study, cyclic."""
    return cycle(SYSTEMS)
