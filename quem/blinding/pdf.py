"""PDFs as judges receive them: an image of each page, and the text that can be seen on it."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import count
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any

from quem.blinding.cache import SizedCache, cache_folder, trim, write_whole
from quem.errors import FileError
from quem.solutions.model import file_digest, signature

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence
    from pathlib import Path

    Patterns = Sequence[re.Pattern[str]]

PDF_ADVICE = "is a PDF, whose pages quem draws by pikepdf and pypdfium2; pip install 'quem[pdf]'"
# Part of the cache's key: a change of how pages are made makes them anew.
_RECIPE = 1
_DPI = 144
_SECONDS = 20
_SECONDS_A_PAGE = 2
_MOST_KEPT = 16_000_000
_DRAWN_BEFORE_TRIM = 32
_MIMETYPES = {"png": "image/png", "jpg": "image/jpeg"}
_TOO_SLOW = "is a PDF that takes too long to draw; make it simpler, or print it to a new PDF"
_CRASHED = "is a PDF that cannot be drawn: the program that draws it crashed; print it to a new PDF"
# All that a parser may know of its surroundings: no address of a database, for one.
_ENVIRONMENT = ("PATH", "PYTHONPATH", "PYTHONHOME", "SYSTEMROOT", "LD_LIBRARY_PATH", "LANG", "TEMP")


@dataclass(frozen=True)
class PdfPage:
    """A page of a PDF."""

    # Pixels of its image
    width: int
    height: int
    text: str  # what can be seen, in lines


@dataclass(frozen=True)
class PdfDocument:
    """A PDF as it is shown."""

    pages: tuple[PdfPage, ...]
    entries: dict[str, str]  # what the file says of itself beside its pages, which is not shown


_cache: SizedCache[object, PdfDocument] = SizedCache(_MOST_KEPT)
# Files that took too long or crashed the worker, which they do not do twice.
_failed: SizedCache[str, str] = SizedCache(1_000)
_drawn = count(1)


@cache
def can_draw() -> bool:
    """Whether the libraries of the extra ``pdf`` are there."""
    return all(find_spec(name) for name in ("pikepdf", "pypdfium2"))


def read_pdf(path: Path, patterns: Patterns = ()) -> PdfDocument:
    """Read the pages of a PDF, from the cache where they are known."""
    try:
        key = path, signature(path), tuple(patterns)
        if known := _cache.get(key):
            return known
        document = _read(_Pages(path, file_digest(path), tuple(patterns)))
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from None
    _cache.put(key, document, sum(len(page.text) + 100 for page in document.pages))
    return document


def page_image(path: Path, number: int, patterns: Patterns = ()) -> tuple[bytes, str]:
    if not 1 <= number <= len(read_pdf(path, patterns).pages):
        raise IndexError(number)
    try:
        pages = _Pages(path, file_digest(path), tuple(patterns))
        for ending, mimetype in _MIMETYPES.items():
            image = pages.entry / f"{number}.{ending}"
            if image.is_file():
                return image.read_bytes(), mimetype
        request = {"do": "image", "page": number, "image": str(pages.entry / str(number))}
        ending = _response(pages, request)["ending"]
        mimetype = _MIMETYPES[ending]
        content = (pages.entry / f"{number}.{ending}").read_bytes()
        _note_use(pages.entry, trims=not next(_drawn) % _DRAWN_BEFORE_TRIM)
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from None
    return content, mimetype


@dataclass(frozen=True)
class _Pages:
    """The pages of a file with these bytes, without some words."""

    path: Path
    sha256: str
    patterns: tuple[re.Pattern[str], ...] = ()

    @property
    def entry(self) -> Path:
        """The folder of what was made of them."""
        name = f"{self.sha256}-{_DPI}-{_version()}"
        if self.patterns:
            name += f"-{hashlib.sha256(repr(sorted(self.sources)).encode()).hexdigest()[:16]}"
        return cache_folder("pages") / name

    @property
    def sources(self) -> list[tuple[str, int]]:
        """The patterns as the worker takes them."""
        return [(pattern.pattern, pattern.flags) for pattern in self.patterns]


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
    """Clean a PDF and read its pages, which is known from then on."""
    pages.entry.mkdir(mode=0o700, exist_ok=True)
    begun = time.monotonic()
    cleaned = _response(pages, {"do": "clean"})
    texts = []
    for number in range(1, len(cleaned["sizes"]) + 1):
        texts.append(_response(pages, {"do": "text", "page": number})["text"])
        if time.monotonic() - begun > _SECONDS + number * _SECONDS_A_PAGE:
            _failed.put(pages.sha256, _TOO_SLOW, 1)
            raise FileError(pages.path, _TOO_SLOW)
    contents = {"sizes": cleaned["sizes"], "texts": texts, "entries": cleaned["entries"]}
    write_whole(pages.entry / "pages.json", json.dumps(contents).encode())
    _note_use(pages.entry, trims=True)
    return contents


def _note_use(entry: Path, *, trims: bool) -> None:
    os.utime(entry)
    if trims:
        trim(entry.parent, entry.name)


def _response(pages: _Pages, request: dict[str, Any]) -> dict[str, Any]:
    """Have the worker do something with a file; what the cache lost is made again first."""
    path, entry = pages.path, pages.entry
    if known := _failed.get(pages.sha256):
        raise FileError(path, known)
    task: dict[str, Any] = {"path": str(path.resolve()), "sha256": pages.sha256, "dpi": _DPI}
    task |= {"cleaned": str(entry / "cleaned.pdf"), "redacted": pages.sources}
    answer = _worker.ask(task | request)
    if "gone" in answer and request["do"] != "clean":
        entry.mkdir(mode=0o700, exist_ok=True)
        answer = _worker.ask(task | {"do": "clean"})
        if "problem" not in answer:
            answer = _worker.ask(task | request)
    if "gone" in answer:
        raise FileError(path, "cannot be read; put it back")
    if "problem" in answer:
        if answer.get("fatal"):
            _failed.put(pages.sha256, answer["problem"], 1)
        raise FileError(path, answer["problem"])
    return answer


class _Asker:
    """Keeps one worker alive and asks it one thing at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None
        self._owner = 0

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Give the worker's answer, or what is wrong where it crashed or took too long."""
        with self._lock:
            process = self._started()
            assert process.stdin is not None  # noqa: S101  both are pipes
            assert process.stdout is not None  # noqa: S101
            timer = Timer(_SECONDS, process.kill)
            timer.daemon = True
            begun = time.monotonic()
            timer.start()
            try:
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except OSError:
                line = ""
            finally:
                timer.cancel()
            if line:
                answer: dict[str, Any] = json.loads(line)
                return answer
            self._end()
            slow = time.monotonic() - begun >= _SECONDS
            return {"problem": _TOO_SLOW if slow else _CRASHED, "fatal": True}

    def _started(self) -> subprocess.Popen[str]:
        # A server that forks leaves the worker to the process that started it.
        if self._process and self._owner == os.getpid() and self._process.poll() is None:
            return self._process
        if self._owner == os.getpid():
            self._end()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "quem.blinding.pdf_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            encoding="utf-8",
        )
        self._owner = os.getpid()
        return self._process

    def _end(self) -> None:
        if self._process is None or self._owner != os.getpid():
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                try:
                    pipe.close()
                except OSError:
                    # What was never sent is of no use to it now.
                    continue
        self._process = None

    def close(self) -> None:
        """End the worker, which another request would start again."""
        self._end()


_worker = _Asker()
atexit.register(_worker.close)
