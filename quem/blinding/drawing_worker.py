"""The confined process that parses SVG drawings for `quem.blinding.drawings`."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import resvg_py
from lxml import etree

from quem.blinding.packages import clean_drawing, local, parse, serialize
from quem.blinding.redacting import redact_text
from quem.blinding.workers import RefusedError, patterns_of, serve
from quem.errors import FileError

if TYPE_CHECKING:
    from lxml.etree import _Element

_LONGEST_SIDE = 4096
_ZOOM = 2.0
_LENGTH = re.compile(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)", re.IGNORECASE)
_DRAWING = Path("drawing.svg")  # for messages that are not shown
_BROKEN = "is an SVG that cannot be drawn; save it as PNG"
_NO_FONTS = (
    "is an SVG, whose fonts could be read here only without a sandbox: the kernel has no Landlock, "
    "or a container forbids it; save it as PNG"
)


def draw(request: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    """Draw an SVG as PNG."""
    svg = serialize(_cleaned(request, content)).decode()
    fonts = _fonts()
    try:
        for font in fonts["font_files"][:1]:
            Path(font).open("rb").close()
    except PermissionError:
        raise RefusedError(_NO_FONTS) from None
    width, height = _size(svg)
    zoom = min(_ZOOM, _LONGEST_SIDE / max(width, height, 1.0))
    return {}, bytes(
        resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom, background="#ffffff", **fonts)
    )


def text(request: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    """The words of an SVG."""
    root = _cleaned(request, content)
    return {"text": "\n".join(_line(one) for one in root.iter() if local(one) == "text")}, b""


def _cleaned(request: dict[str, Any], content: bytes) -> _Element:
    drawing = parse(_DRAWING, clean_drawing(_DRAWING, content))
    patterns = patterns_of(request["redacted"])
    for one in [element for element in drawing.iter() if local(element) == "text"]:
        line = _line(one)
        if (redacted := redact_text(line, patterns)) != line:
            # Elements inside it have positions of their own, across which words may run.
            for part in list(one):
                one.remove(part)
            one.text = redacted
    return drawing


def _line(element: _Element) -> str:
    return " ".join("".join(map(str, element.itertext())).split())


def _fonts() -> dict[str, Any]:
    """The fonts of matplotlib: resvg omits texts whose font is not installed."""
    sans = dict.fromkeys(("sans_serif_family", "cursive_family", "fantasy_family"), "DejaVu Sans")
    serif = dict.fromkeys(("font_family", "serif_family"), "DejaVu Serif")
    return {"font_files": _FONTS, **sans, **serif, "monospace_family": "DejaVu Sans Mono"}


def _font_files() -> list[str]:
    package = find_spec("matplotlib")
    folder = Path(package.origin if package and package.origin else "").parent
    return sorted(map(str, (folder / "mpl-data" / "fonts" / "ttf").glob("DejaVuS*.ttf")))


def _size(svg: str) -> tuple[float, float]:
    """The size in the root element of a drawing."""
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


def _problem(error: Exception) -> str:
    return error.message if isinstance(error, FileError) else _BROKEN


# Computed before the process is confined.
_FONTS = _font_files()

if __name__ == "__main__":
    etree.fromstring("<svg/>", etree.XMLParser(resolve_entities=False))
    serve({"draw": draw, "text": text}, _problem)
