"""Draws one SVG from stdin as PNG to stdout, with limits on memory and time."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_MEMORY = 1_000_000_000
_SECONDS = 20
_LONGEST_SIDE = 4096
_ZOOM = 2.0
_LENGTH = re.compile(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)", re.IGNORECASE)


def main() -> None:
    """Draw it; any failure ends the process with an error."""
    _limit()
    import resvg_py

    svg = sys.stdin.buffer.read().decode("utf-8")
    width, height = _size(svg)
    zoom = min(_ZOOM, _LONGEST_SIDE / max(width, height, 1.0))
    png = resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom, background="#ffffff", **_fonts())
    sys.stdout.buffer.write(bytes(png))


def _fonts() -> dict[str, Any]:
    """The fonts that come with matplotlib: resvg leaves out texts whose font a machine lacks."""
    package = find_spec("matplotlib")
    folder = Path(package.origin if package and package.origin else "").parent
    files = sorted(map(str, (folder / "mpl-data" / "fonts" / "ttf").glob("DejaVuS*.ttf")))
    sans = dict.fromkeys(("sans_serif_family", "cursive_family", "fantasy_family"), "DejaVu Sans")
    serif = dict.fromkeys(("font_family", "serif_family"), "DejaVu Serif")
    return {"font_files": files, **sans, **serif, "monospace_family": "DejaVu Sans Mono"}


def _limit() -> None:
    try:
        import resource
    except ImportError:
        # Windows has none; the time limit of whoever waits holds there.
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))


def _size(svg: str) -> tuple[float, float]:
    """The size that a drawing has by its root element."""
    root = re.search(r"<svg\b[^>]*>", svg)
    attributes = dict(re.findall(r'\b(width|height|viewBox)="([^"]*)"', root[0])) if root else {}
    box = [
        float(x) for x in re.findall(r"-?[0-9.]+(?:e[+-]?[0-9]+)?", attributes.get("viewBox", ""))
    ]
    sides = box[2:4] if len(box) == 4 else [300.0, 150.0]  # noqa: PLR2004  x, y, width, height
    for at, name in enumerate(("width", "height")):
        match = _LENGTH.match(attributes.get(name, ""))
        if match and "%" not in attributes[name]:
            sides[at] = float(match[1])
    return sides[0], sides[1]


if __name__ == "__main__":
    main()
