"""SVG drawings as pictures, by resvg (MPL-2.0, extra ``svg``) in a confined process."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from quem.blinding.workers import RefusedError, Worker, sources_of
from quem.errors import FileError, readable

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence
    from pathlib import Path

SVG_ADVICE = "is SVG, which quem draws by resvg; pip install 'quem[svg]', or save it as PNG"
_MOST_BYTES = 10_000_000
_worker = Worker(
    "quem.blinding.drawing_worker",
    slow="is an SVG that takes too long to draw; make it simpler, or save it as PNG",
    crashed="is an SVG that cannot be drawn; save it as PNG",
)


@cache
def can_draw_svg() -> bool:
    """Whether the libraries of the extra ``svg`` are installed."""
    return all(find_spec(name) for name in ("lxml", "resvg_py"))


@cache
def drawing_version() -> str:
    """The versions of the drawing libraries, for the key of a cache."""
    return f"{version('resvg-py')} with fonts" if can_draw_svg() else "none"


def rasterized(path: Path, patterns: Sequence[re.Pattern[str]] = ()) -> bytes:
    """An SVG as PNG, without external references."""
    _, drawn = _parsed(path, "draw", patterns)
    return drawn


def drawing_text(path: Path, patterns: Sequence[re.Pattern[str]] = ()) -> str:
    """The words in a drawing, one line per text element."""
    answer, _ = _parsed(path, "text", patterns)
    return str(answer["text"])


def _parsed(
    path: Path, do: str, patterns: Sequence[re.Pattern[str]]
) -> tuple[dict[str, Any], bytes]:
    if not can_draw_svg():
        raise FileError(path, SVG_ADVICE)
    with readable(path):
        content = path.read_bytes()
    if len(content) > _MOST_BYTES:
        raise FileError(path, "is an SVG larger than 10 MB; save it as PNG")
    try:
        return _worker.parsed(do, content, redacted=sources_of(patterns))
    except RefusedError as error:
        raise FileError(path, str(error)) from None
