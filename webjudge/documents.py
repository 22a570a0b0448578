"""Background conversion of documents that change while the server runs."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING

from quem.blinding.office import await_conversion, prepare

if TYPE_CHECKING:
    from webjudge.site import Site

_KEY = "documents"


class Documents:
    """Converts changed documents; until then judges read that a part cannot be displayed."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._thread: Thread | None = None
        self._files = [file for solution in site.solutions for file in solution.files]

    def look(self) -> None:
        """Start converting changed documents, unless a conversion is running."""
        if self._thread and self._thread.is_alive():
            return
        if await_conversion(self._files):
            # LibreOffice takes seconds and must not block other requests.
            self._thread = Thread(target=self._convert, name=_KEY, daemon=True)
            self._thread.start()

    def _convert(self) -> None:
        mistakes = prepare(self._files, sandboxed=self._site.sandboxed)
        if mistakes:
            self._site.troubles[_KEY] = "; ".join(map(str, mistakes))
        else:
            self._site.troubles.pop(_KEY, None)
