"""A text that is not saved yet, as judges will see it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from quem.blinding.rendering import render_page_text
from quem.solutions.files import kind_of
from quem.solutions.model import Sheet, SolutionFile

if TYPE_CHECKING:
    from markupsafe import Markup


def render_unsaved(text: str) -> Markup:
    """Render a text; its images show their descriptions."""
    with tempfile.TemporaryDirectory(prefix="quem-text-") as folder:
        path = Path(folder, "text.md")
        path.write_text(text, encoding="utf-8")
        return render_page_text(Sheet((SolutionFile(path, kind_of(path), path.name, path.name),)))
