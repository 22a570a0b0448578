"""Static files: bundled and compressed scripts and styles."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Response, abort, request
from werkzeug.security import safe_join

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).with_name("static")
# Style sheets bundled per kind of page.
_SHEETS = {
    "judge.css": ("fonts.css", "pages.css", "workspace.css", "code.css"),
    "solve.css": ("fonts.css", "pages.css", "code.css", "solving.css"),
    "organize.css": ("fonts.css", "pages.css", "dashboard.css", "code.css"),
}
_IMPORT = re.compile(
    r'^import (\* as \w+|\{[^}]*\}) from "\./((?:vendor/)?[\w-]+\.js)";\n', re.MULTILINE
)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const) ([\w$]+))", re.MULTILINE)
# Export syntax of npm packages: `export{b as html,A as nothing};`
_EXPORTED = re.compile(r"\bexport\{([^}]*)\};")
_COMMENT = re.compile(
    r"^ *(?://.*|/\*\*(?!\s*\* @license)[^*]*(?:\*(?!/)[^*]*)*\*/)\n|^ +", re.MULTILINE
)
_NOT_SHOWN = re.compile(rb"/\*.*?\*/\n|^ +", re.MULTILINE | re.DOTALL)
_SECONDS = 60 * 60 * 24


def version() -> str:
    """Short digest of all static files."""
    total = hashlib.sha256()
    for path in sorted(path for path in FOLDER.rglob("*") if path.is_file()):
        total.update(path.read_bytes())
    return total.hexdigest()[:12]


def send_static(filename: str) -> Response:
    """Send a file, compressed if smaller and accepted by the browser."""
    try:
        content, compressed = _contents(filename)
    except OSError:
        abort(404)
    kind = mimetypes.guess_type(filename)[0] or "application/octet-stream"
    # With the charset where it is a text.
    response = Response(content, mimetype="text/javascript" if kind[-4:] == "ript" else kind)
    response.cache_control.public = True
    response.cache_control.max_age = _SECONDS
    if compressed:
        response.vary.add("Accept-Encoding")
        if request.accept_encodings["gzip"]:
            response.set_data(compressed)
            response.content_encoding = "gzip"
    response.add_etag()
    response.make_conditional(request)
    return response


@cache
def _contents(name: str) -> tuple[bytes, bytes]:
    """A file's bytes, raw and gzipped; the latter empty if not smaller."""
    path = safe_join(str(FOLDER), name)
    if name in _SHEETS:
        sheets = b"".join((FOLDER / part).read_bytes() for part in _SHEETS[name])
        content = _NOT_SHOWN.sub(b"", sheets)
    elif path is None:
        raise FileNotFoundError(name)
    elif name.endswith(".js") and "/" not in name:
        content = bundle(name).encode()
    else:
        content = Path(path).read_bytes()
    is_text = name.endswith((".js", ".css", ".svg", ".txt", ".json"))
    return content, gzip.compress(content, mtime=0) if is_text else b""


def bundle(name: str) -> str:
    """Bundle a module with its imports, each in a separate scope."""
    return "".join(_scopes(name, []))


def _scopes(name: str, done: list[str]) -> Iterator[str]:
    """Module scopes in topological order of imports."""
    done.append(name)
    text = (FOLDER / name).read_text(encoding="utf-8")
    for _, other in _IMPORT.findall(text):
        if other not in done:
            yield from _scopes(other, done)
    text = _IMPORT.sub(lambda found: _import(*found.groups()), text)
    names = [found[2] for found in _EXPORT.finditer(text)]
    for found in _EXPORTED.finditer(text):
        pairs = (pair.split(" as ") for pair in found[1].split(","))
        names += (f"{public}: {private}" for private, public in pairs)
    body = _COMMENT.sub("", _EXPORTED.sub("", _EXPORT.sub(r"\1", text)))
    exports = ", ".join(names)
    if left := re.search(r"^(?:import|export)\b.*", body, re.MULTILINE):
        raise ValueError(f"{name}: cannot be bundled: {left[0]}")
    yield f"const {_scope(name)} = (() => {{\n{body}return {{ {exports} }};\n}})();\n"


def _import(names: str, module: str) -> str:
    if names.startswith("*"):
        return f"const {names[5:]} = {_scope(module)};\n"
    return f"const {names.replace(' as ', ': ')} = {_scope(module)};\n"


def _scope(name: str) -> str:
    return "module_" + re.sub(r"\W", "_", name.removesuffix(".js"))
