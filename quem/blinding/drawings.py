"""Drawings in SVG as pictures, by resvg (MPL-2.0, extra ``svg``) in a process with limits."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from quem.errors import FileError

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence
    from pathlib import Path

    from lxml.etree import _Element

SVG_ADVICE = "is SVG, which quem draws by resvg; pip install 'quem[svg]', or save it as PNG"
_SECONDS = 20
_MOST_BYTES = 10_000_000
_ENVIRONMENT = ("PATH", "PYTHONPATH", "PYTHONHOME", "SYSTEMROOT", "LD_LIBRARY_PATH", "LANG", "TEMP")
_BROKEN = "is an SVG that cannot be drawn; save it as PNG"
_SLOW = "is an SVG that takes too long to draw; make it simpler, or save it as PNG"


@cache
def can_draw_svg() -> bool:
    """Whether the libraries of the extra ``svg`` are there."""
    return all(find_spec(name) for name in ("lxml", "resvg_py"))


@cache
def drawing_version() -> str:
    """Name the versions of what draws, for the key of a cache."""
    return f"{version('resvg-py')} with fonts" if can_draw_svg() else "none"


def rasterized(path: Path, patterns: Sequence[re.Pattern[str]] = ()) -> bytes:
    """Draw an SVG as PNG, without what leads out of it."""
    if not can_draw_svg():
        raise FileError(path, SVG_ADVICE)
    cleaned = _cleaned(path, patterns)
    try:
        run = subprocess.run(
            [sys.executable, "-P", "-m", "quem.blinding.drawing_worker"],
            input=cleaned,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )
    except subprocess.TimeoutExpired:
        raise FileError(path, _SLOW) from None
    if run.returncode or not run.stdout.startswith(b"\x89PNG"):
        raise FileError(path, _BROKEN)
    return run.stdout


def drawing_text(path: Path, patterns: Sequence[re.Pattern[str]] = ()) -> str:
    """Give the words in a drawing, a line for each text."""
    if not can_draw_svg():
        raise FileError(path, SVG_ADVICE)
    from quem.blinding.packages import local, parse

    texts = (e for e in parse(path, _cleaned(path, patterns)).iter() if local(e) == "text")
    return "\n".join(map(_line, texts))


def _line(text: _Element) -> str:
    return " ".join("".join(map(str, text.itertext())).split())


def _cleaned(path: Path, patterns: Sequence[re.Pattern[str]]) -> bytes:
    from quem.blinding.packages import clean_drawing, local, parse, serialize

    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from None
    if len(content) > _MOST_BYTES:
        raise FileError(path, "is an SVG larger than 10 MB; save it as PNG")
    cleaned = clean_drawing(path, content)
    if not patterns:
        return cleaned
    from quem.blinding.redacting import redact_text

    drawing = parse(path, cleaned)
    for text in [element for element in drawing.iter() if local(element) == "text"]:
        line = _line(text)
        if (redacted := redact_text(line, patterns)) != line:
            # Its parts have places of their own, which the words may run across.
            for part in list(text):
                text.remove(part)
            text.text = redacted
    return serialize(drawing)
