"""Notebooks as judges receive them: text, code, and outputs.

A notebook's metadata (authors, paths, times, identifiers) are never shown.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from quem.errors import FileError, readable

if TYPE_CHECKING:
    from pathlib import Path

# Precedes the number of a notebook's picture in Markdown.
EMBEDDED = "picture:\ue000"
_FORMAT = 4
_MOST_BYTES = 50_000_000
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]|[\x00-\x08\x0b-\x1f]")
_ATTACHMENT = re.compile(r"attachment:([^)\s\"'>]+)")
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_BROKEN = "is not a notebook; save it again in Jupyter"
_OLD = "is a notebook in an old format; open it in Jupyter, and save it again"
# Metadata that can identify the author, and where the file was opened.
_ENTRIES = ("authors", "author", "title", "kernelspec", "colab", "vscode")


@dataclass(frozen=True)
class Block:
    """A piece of a notebook."""

    kind: str
    # Of an image its number in `Notebook.images`, from 1, which also follows `EMBEDDED` in
    # Markdown.
    text: str


@dataclass
class Notebook:
    """A notebook as judges receive it."""

    language: str  # of its code
    blocks: list[Block] = field(default_factory=list)
    images: list[bytes] = field(default_factory=list)  # as stored, not cleaned
    lost: Counter[str] = field(default_factory=Counter)  # outputs that cannot be shown


def read_notebook(path: Path) -> Notebook:
    """Read the cells of a notebook."""
    content = _content(path)
    about = _part(_part(content, "metadata"), "language_info")
    notebook = Notebook(str(about.get("name") or "python"))
    for cell in content["cells"]:
        if not isinstance(cell, dict):
            raise FileError(path, _BROKEN)
        _add_cell(notebook, cell)
    return notebook


def notebook_entries(path: Path) -> dict[str, str]:
    """The metadata of a notebook, which is not shown."""
    metadata = _part(_content(path), "metadata")
    entries = {name: metadata[name] for name in _ENTRIES if metadata.get(name)}
    return {name: _plain(value) for name, value in entries.items()}


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(_plain(part) for part in value.values())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return str(value)


def _content(path: Path) -> dict[str, Any]:
    with readable(path):
        raw = path.read_bytes()
    if len(raw) > _MOST_BYTES:
        raise FileError(path, "is larger than 50 MB; make it smaller")
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        raise FileError(path, _BROKEN) from None
    if not isinstance(content, dict):
        raise FileError(path, _BROKEN)
    if "worksheets" in content or content.get("nbformat", _FORMAT) != _FORMAT:
        raise FileError(path, _OLD)
    if not isinstance(content.get("cells"), list):
        raise FileError(path, _BROKEN)
    return content


def _add_cell(notebook: Notebook, cell: dict[str, Any]) -> None:
    source = _joined(cell.get("source"))
    kind = cell.get("cell_type")
    if kind == "markdown":
        attachments = _part(cell, "attachments")

        def number(match: re.Match[str]) -> str:
            pictures = attachments.get(match[1])
            at = _add_image(notebook, pictures) if isinstance(pictures, dict) else None
            return match[0] if at is None else f"{EMBEDDED}{at}"

        notebook.blocks.append(Block("markdown", _ATTACHMENT.sub(number, source)))
    elif kind == "code":
        if source.strip():
            notebook.blocks.append(Block("code", source))
        for output in cell.get("outputs") or []:
            if isinstance(output, dict):
                _add_output(notebook, output)
    elif source.strip():
        notebook.lost["raw cell"] += 1


def _add_output(notebook: Notebook, output: dict[str, Any]) -> None:
    kind = output.get("output_type")
    if kind == "stream":
        _add_text(notebook, _joined(output.get("text")))
    elif kind == "error":
        trace = output.get("traceback")
        lines = [str(line) for line in trace] if isinstance(trace, list) else []
        _add_text(notebook, "\n".join(lines) or f"{output.get('ename')}: {output.get('evalue')}")
    else:
        _add_data(notebook, _part(output, "data"))


def _add_data(notebook: Notebook, data: dict[str, Any]) -> None:
    """Add the richest form of an output that can be shown."""
    if (at := _add_image(notebook, data)) is not None:
        notebook.blocks.append(Block("image", str(at)))
        return
    html = _joined(data.get("text/html"))
    # Such a page is empty without its script.
    if html and re.sub(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", "", html, flags=re.DOTALL).strip():
        notebook.blocks.append(Block("html", html))
    elif text := _joined(data.get("text/markdown")):
        notebook.blocks.append(Block("markdown", text))
    elif text := _joined(data.get("text/latex")):
        notebook.blocks.append(Block("tex", text.strip().strip("$")))
    elif text := _joined(data.get("text/plain")):
        _add_text(notebook, text)
        if html or set(data) - {"text/plain", "image/svg+xml"}:
            notebook.lost["interactive output"] += 1
        elif "image/svg+xml" in data:
            notebook.lost["drawing"] += 1
    elif data:
        notebook.lost["interactive output"] += 1


def _add_text(notebook: Notebook, text: str) -> None:
    """Add printed text, without terminal color codes."""
    if plain := _ANSI.sub("", text).strip("\n"):
        notebook.blocks.append(Block("output", plain))


def _add_image(notebook: Notebook, data: dict[str, Any]) -> int | None:
    for form in _PICTURES:
        encoded = _joined(data.get(form))
        try:
            raw = base64.b64decode(encoded, validate=False) if encoded else b""
        except (binascii.Error, ValueError):
            continue
        if raw:
            notebook.images.append(raw)
            return len(notebook.images)
    return None


def _joined(value: object) -> str:
    """A text, which may be stored as a list of its lines."""
    if isinstance(value, list):
        return "".join(str(line) for line in value)
    return value if isinstance(value, str) else ""


def _part(content: object, key: str) -> dict[str, Any]:
    part = content.get(key) if isinstance(content, dict) else None
    return part if isinstance(part, dict) else {}


def output_html(text: str) -> str:
    """Printed output as HTML."""
    return f'<pre class="plain output" tabindex="0">{escape(text)}</pre>'
