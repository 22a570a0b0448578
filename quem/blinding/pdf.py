"""PDFs as judges receive them: an image of each page with its visible text."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import count
from typing import TYPE_CHECKING, Any

from quem.blinding.cache import SizedCache, cache_folder, trim, write_whole
from quem.blinding.workers import Worker, sources_of
from quem.errors import FileError, readable
from quem.solutions.model import file_digest, signature

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence
    from pathlib import Path

    Patterns = Sequence[re.Pattern[str]]

PDF_ADVICE = "is a PDF, whose pages quem draws by pikepdf and pypdfium2; pip install 'quem[pdf]'"
# Part of the cache's key: a change of the rendering invalidates cached pages.
_RECIPE = 1
_DPI = 144
_CLEANED = "cleaned.pdf"
_SECONDS = 20  # in addition to those per page
_SECONDS_A_PAGE = 2
_MOST_KEPT = 16_000_000
_DRAWN_BEFORE_TRIM = 32
_MIMETYPES = {"png": "image/png", "jpg": "image/jpeg"}
_TOO_SLOW = "is a PDF that takes too long to draw; make it simpler, or print it to a new PDF"
_CRASHED = "is a PDF that cannot be drawn: the program that draws it crashed; print it to a new PDF"
_worker = Worker("quem.blinding.pdf_worker", slow=_TOO_SLOW, crashed=_CRASHED)


@dataclass(frozen=True)
class PdfPage:
    """A page of a PDF."""

    # Pixels of its image
    width: int
    height: int
    text: str  # visible text, in lines


@dataclass(frozen=True)
class PdfDocument:
    """A PDF as judges receive it."""

    pages: tuple[PdfPage, ...]
    entries: dict[str, str]  # metadata, which is not shown


_cache: SizedCache[object, PdfDocument] = SizedCache(_MOST_KEPT)
# Files that timed out or crashed the worker, which are not tried again.
_failed: SizedCache[str, str] = SizedCache(1_000)
_drawn = count(1)


@cache
def can_draw() -> bool:
    """Whether the libraries of the extra ``pdf`` are installed."""
    return all(find_spec(name) for name in ("pikepdf", "pypdfium2"))


def read_pdf(path: Path, patterns: Patterns = ()) -> PdfDocument:
    """The pages of a PDF, cached where possible."""
    with readable(path):
        key = path, signature(path), tuple(patterns)
        if known := _cache.get(key):
            return known
        document = _read(_Pages(path, file_digest(path), tuple(patterns)))
    _cache.put(key, document, sum(len(page.text) + 100 for page in document.pages))
    return document


def page_image(path: Path, number: int, patterns: Patterns = ()) -> tuple[bytes, str]:
    if not 1 <= number <= len(read_pdf(path, patterns).pages):
        raise IndexError(number)
    with readable(path):
        pages = _Pages(path, file_digest(path), tuple(patterns))
        for ending, mimetype in _MIMETYPES.items():
            image = pages.entry / f"{number}.{ending}"
            if image.is_file():
                return image.read_bytes(), mimetype
        answer, content = _response(pages, "image", page=number)
        mimetype = _MIMETYPES[answer["ending"]]
        write_whole(pages.entry / f"{number}.{answer['ending']}", content)
        _note_use(pages.entry, trims=not next(_drawn) % _DRAWN_BEFORE_TRIM)
    return content, mimetype


@dataclass(frozen=True)
class _Pages:
    """The pages of a file with these bytes, redacted."""

    path: Path
    sha256: str
    patterns: tuple[re.Pattern[str], ...] = ()

    @property
    def entry(self) -> Path:
        """The cache folder."""
        name = f"{self.sha256}-{_DPI}-{_version()}"
        if self.patterns:
            name += f"-{hashlib.sha256(repr(sorted(self.sources)).encode()).hexdigest()[:16]}"
        return cache_folder("pages") / name

    @property
    def sources(self) -> list[tuple[str, int]]:
        """The patterns in the worker's format."""
        return sources_of(self.patterns)


@cache
def _version() -> str:
    versions = "-".join(version(name) for name in ("pypdfium2", "pikepdf", "pillow"))
    return f"{_RECIPE}-{versions}"


def _read(pages: _Pages) -> PdfDocument:
    if not can_draw():
        raise FileError(pages.path, PDF_ADVICE)
    try:
        contents = json.loads((pages.entry / "pages.json").read_text(encoding="utf-8"))
        _note_use(pages.entry, trims=False)
    except (OSError, ValueError):
        contents = _contents(pages)
    rows = zip(contents["sizes"], contents["texts"], strict=True)
    shown = tuple(PdfPage(width, height, text) for (width, height), text in rows)
    return PdfDocument(shown, contents["entries"])


def _contents(pages: _Pages) -> dict[str, Any]:
    """Clean a PDF, read its pages, and cache both."""
    begun = time.monotonic()
    cleaned = _clean(pages)
    sizes = [(int(width), int(height)) for width, height in cleaned["sizes"]]
    texts = []
    for number in range(1, len(sizes) + 1):
        texts.append(str(_response(pages, "text", page=number)[0]["text"]))
        if time.monotonic() - begun > _SECONDS + number * _SECONDS_A_PAGE:
            _failed.put(pages.sha256, _TOO_SLOW, 1)
            raise FileError(pages.path, _TOO_SLOW)
    contents = {"sizes": sizes, "texts": texts, "entries": cleaned["entries"]}
    write_whole(pages.entry / "pages.json", json.dumps(contents).encode())
    _note_use(pages.entry, trims=True)
    return contents


def _note_use(entry: Path, *, trims: bool) -> None:
    os.utime(entry)
    if trims:
        trim(entry.parent, entry.name)


def _clean(pages: _Pages) -> dict[str, Any]:
    """Clean a PDF and cache it."""
    content = pages.path.read_bytes()
    if hashlib.sha256(content).hexdigest() != pages.sha256:
        raise FileError(pages.path, "changed while it was read; try again")
    answer, cleaned = _ask(pages, "clean", content)
    pages.entry.mkdir(mode=0o700, exist_ok=True)
    write_whole(pages.entry / _CLEANED, cleaned)
    return answer


def _response(pages: _Pages, do: str, page: int) -> tuple[dict[str, Any], bytes]:
    """Send the worker a request for a page; lost cache entries are recreated first."""
    cleaned = pages.entry / _CLEANED
    if not cleaned.is_file():
        _clean(pages)
    answer, made = _ask(pages, do, page=page)
    return _ask(pages, do, cleaned.read_bytes(), page=page) if "gone" in answer else (answer, made)


def _ask(
    pages: _Pages, do: str, content: bytes = b"", **request: int
) -> tuple[dict[str, Any], bytes]:
    if known := _failed.get(pages.sha256):
        raise FileError(pages.path, known)
    task = {"key": pages.entry.name, "dpi": _DPI, "redacted": pages.sources}
    answer, made = _worker.ask(do, content, **task, **request)
    if "problem" not in answer:
        return answer, made
    if answer.get("fatal"):
        _failed.put(pages.sha256, answer["problem"], 1)
    raise FileError(pages.path, answer["problem"])
