"""The process that parses PDFs: limited in memory and time, without secrets, one page at a time.

It reads a request a line and answers each with a line, both JSON; `quem.blinding.pdf` asks.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pikepdf
import pypdfium2

from quem.blinding.cache import write_whole
from quem.blinding.pdf_cleaning import clean, entries_of
from quem.blinding.pdf_drawing import encoded, size_of, visible_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []

MOST_PAGES = 500
_MOST_MEMORY = 1 << 30
_MOST_WRITTEN = 400_000_000
# The asker ends a slow worker sooner; this one ends where the asker is gone.
_SECONDS = 25


class _RefusedError(Exception):
    """A PDF that is not drawn, with the reason."""


class _Worker:
    """Answers requests; keeps the document open that was asked for last."""

    def __init__(self) -> None:
        self._open: tuple[str, pypdfium2.PdfDocument] | None = None

    def clean(self, request: dict[str, Any]) -> dict[str, Any]:
        """Write the document as it is drawn, and say how large its pages are."""
        content = Path(request["path"]).read_bytes()
        if hashlib.sha256(content).hexdigest() != request["sha256"]:
            message = "changed while it was read; try again"
            raise _RefusedError(message)
        self.close()
        with pikepdf.open(request["path"]) as pdf:
            if not len(pdf.pages):
                message = "is a PDF without pages; save it again"
                raise _RefusedError(message)
            if len(pdf.pages) > MOST_PAGES:
                message = f"has {len(pdf.pages)} pages; a judge can look at {MOST_PAGES} at most"
                raise _RefusedError(message)
            entries = dict(entries_of(pdf))
            clean(pdf)
            pdf.save(request["cleaned"], deterministic_id=True)
        drawn = self._document(request["cleaned"])
        sizes = [size_of(drawn, n + 1, request["dpi"]) for n in range(len(drawn))]
        return {"sizes": sizes, "entries": entries}

    def text(self, request: dict[str, Any]) -> dict[str, Any]:
        """Give what can be read on a page."""
        drawn = self._document(request["cleaned"])
        return {"text": visible_text(drawn, request["page"], request["dpi"])}

    def image(self, request: dict[str, Any]) -> dict[str, Any]:
        """Write the image of a page, and give how its name ends."""
        drawn = self._document(request["cleaned"])
        content, ending = encoded(drawn, request["page"], request["dpi"])
        write_whole(Path(f"{request['image']}.{ending}"), content)
        return {"ending": ending}

    def _document(self, path: str) -> pypdfium2.PdfDocument:
        if self._open is None or self._open[0] != path:
            self.close()
            self._open = path, pypdfium2.PdfDocument(path)
        return self._open[1]

    def close(self) -> None:
        """Let go of the document."""
        if self._open:
            self._open[1].close()
        self._open = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what is asked, or say what is wrong with the document."""
        does: dict[str, Callable[[dict[str, Any]], dict[str, Any]]]
        does = {"clean": self.clean, "text": self.text, "image": self.image}
        try:
            return does[request["do"]](request)
        except FileNotFoundError:
            return {"gone": True}
        except Exception as error:  # noqa: BLE001  whatever is wrong with it, it cannot be drawn
            return {"problem": _problem(error)}


def _problem(error: Exception) -> str:
    if isinstance(error, _RefusedError):
        return str(error)
    if isinstance(error, MemoryError) or "bad_alloc" in str(error):  # as qpdf tells it
        return "is a PDF that needs too much memory to be drawn; make it simpler"
    if isinstance(error, pikepdf.PasswordError):
        return "is a PDF with a password; save it without one"
    return "is a broken PDF; save it again"


def _limit() -> None:
    """Give up what a parser does not need, where the system knows limits."""
    try:
        import resource
    except ImportError:
        return
    limits = {"AS": _MOST_MEMORY, "CORE": 0, "FSIZE": _MOST_WRITTEN, "NPROC": 0, "NOFILE": 64}
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (allowed, allowed))


def _main() -> None:
    # Whatever the libraries print is no answer.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        _limit()
        worker = _Worker()
        for line in sys.stdin:
            if hasattr(signal, "alarm"):
                signal.alarm(_SECONDS)
            answer = worker.answer(json.loads(line))
            if hasattr(signal, "alarm"):
                signal.alarm(0)
            print(json.dumps(answer), file=answers, flush=True)
        worker.close()


if __name__ == "__main__":
    _main()
