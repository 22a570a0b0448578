"""Texts, slides, and workbooks of OpenDocument without what reveals who made them."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from quem.blinding.packages import (
    Cleaned,
    Package,
    clean_drawing,
    drop,
    drop_attributes,
    local,
    parse,
    serialize,
    text_of,
    unwrap,
    written,
)

if TYPE_CHECKING:
    from pathlib import Path

    from lxml.etree import _Element

_KEPT = re.compile(
    r"(?:content|styles|settings)\.xml|(?:Pictures|media)/[^/]+|ObjectReplacements/[^/]+"
    r"|Object \d+(?:/(?:content|styles)\.xml|/Pictures/[^/]+)?",
    re.IGNORECASE,
)
_MANIFEST = "META-INF/manifest.xml"
_MIMETYPE = "mimetype"
_DROPPED = {
    *("annotation", "annotation-end", "tracked-changes", "change", "change-start", "change-end"),
    *("scripts", "event-listeners", "dde-source", "dde-connection-decls", "dde-connection"),
    *("title", "desc", "bookmark", "bookmark-start", "bookmark-end", "reference-mark"),
    *("reference-mark-start", "reference-mark-end", "notes", "section-source", "table-source"),
    *("cell-range-source", "hidden-text", "hidden-paragraph", "meta-field", "forms"),
    *("user-field-decls", "alphabetical-index-auto-mark-file", "applet", "plugin", "script"),
    *("content-validations", "label-ranges", "print-ranges"),
}
# Titles of charts and of indexes are seen.
_SEEN_TITLES = ("urn:oasis:names:tc:opendocument:xmlns:chart:1.0",)
_FIELDS = {
    *("author-name", "author-initials", "creator", "initial-creator", "printed-by", "editor"),
    *("sender-firstname", "sender-lastname", "sender-initials", "sender-title", "sender-company"),
    *("sender-position", "sender-email", "sender-street", "sender-city", "sender-country"),
    *("file-name", "template-name", "title", "subject", "keywords", "description"),
    *("user-defined", "user-field-get", "user-field-input", "date", "time", "creation-date"),
    *("creation-time", "modification-date", "modification-time", "print-date", "print-time"),
    *("editing-duration", "editing-cycles", "database-display", "a"),
}
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_HEADERS = {
    *("header", "header-left", "header-first", "footer", "footer-left", "footer-first"),
    *("header-decl", "footer-decl", "date-time-decl"),
}
_SETTINGS = re.compile(r"Printer|Database|Rsid|Author|Password|Redline|Change|Link", re.IGNORECASE)
_LEADS_OUT = re.compile(r"://|WEBSERVICE|\bDDE\s*\(|'file:", re.IGNORECASE)
_PROPERTIES = {
    "initial-creator": "author",
    "creator": "last modified by",
    "printed-by": "printed by",
    **{name: name for name in ("title", "subject", "keyword", "description", "generator")},
}


def clean_opendocument(path: Path, *, keep_headers: bool = False) -> Cleaned:
    """Clean a package."""
    cleaned = Cleaned()
    with Package(path) as package:
        _note_properties(package, cleaned)
        parts: dict[str, bytes] = {}
        for name in package.names:
            if not _KEPT.fullmatch(name):
                continue
            content = package.read(name)
            if posixpath.basename(name).casefold() in ("content.xml", "styles.xml", "settings.xml"):
                root = parse(path, content)
                _Cleaning(cleaned, is_main="/" not in name, keep_headers=keep_headers).run(root)
                content = serialize(root)
            elif content.lstrip(b"\xef\xbb\xbf \r\n\t")[:5] in (b"<?xml", b"<svg "):
                content = clean_drawing(path, content)
            parts[name] = content
        kept = set(parts)
        parts[_MIMETYPE] = package.read(_MIMETYPE)
        parts[_MANIFEST] = _manifest(package.tree(_MANIFEST), kept)
    cleaned.content = written(parts, _MIMETYPE)
    return cleaned


def _note_properties(package: Package, cleaned: Cleaned) -> None:
    """Read what the file says of its authors."""
    if "meta.xml" not in package:
        return
    for element in package.tree("meta.xml").iter():
        name = local(element)
        if name in _PROPERTIES:
            cleaned.say(_PROPERTIES[name], text_of(element))
        elif name == "user-defined":
            names = (str(v) for k, v in element.attrib.items() if str(k).endswith("}name"))
            cleaned.say(f"property {next(names, '')}", text_of(element))


def _manifest(root: _Element, kept: set[str]) -> bytes:
    """The list of parts, of those that are kept."""
    for entry in list(root):
        paths = [str(v) for k, v in entry.attrib.items() if str(k).endswith("full-path")]
        name = next(iter(paths), "")
        is_folder = name.endswith("/") and any(one.startswith(name) for one in kept)
        if name != "/" and name not in kept and not is_folder:
            drop(entry)
    return serialize(root)


class _Cleaning:
    """Cleans one part."""

    def __init__(self, cleaned: Cleaned, *, is_main: bool, keep_headers: bool) -> None:
        self.cleaned = cleaned
        self.is_main = is_main
        self.keep_headers = keep_headers

    def run(self, root: _Element) -> None:
        """Take from a part what is not to be seen."""
        hidden = _hidden_pages(root)
        for element in list(root.iter()):
            name, namespace = local(element), str(element.tag).rpartition("}")[0].lstrip("{")
            if name == "page" and _value(element, "style-name") in hidden:
                self.cleaned.lose("hidden slide")
                drop(element)
            elif name == "config-item" and _SETTINGS.search(_value(element, "name")):
                drop(element)
            elif name in _FIELDS and namespace == _TEXT:
                # A field would say what the file no longer does, or the date of today.
                unwrap(element)
            elif name in _DROPPED and namespace not in _SEEN_TITLES:
                self._lose(name, element)
                drop(element)
            elif name in _HEADERS and not self.keep_headers:
                self._empty(element)
            else:
                _clean_attributes(element)

    def _lose(self, name: str, element: _Element) -> None:
        if not self.is_main:
            return
        if name == "annotation":
            self.cleaned.lose("comment")
            for one in element:
                if local(one) == "creator":
                    self.cleaned.say("authors of comments", text_of(one))
        elif name == "notes":
            texts = (one for one in element.iter() if local(one) == "text-box")
            self.cleaned.lose("speaker note", any(text_of(one) for one in texts))

    def _empty(self, element: _Element) -> None:
        is_text = any(map(str.isalpha, text_of(element)))
        self.cleaned.lose("header or footer", is_text)
        for child in list(element):
            drop(child)
        element.text = None


def _hidden_pages(root: _Element) -> set[str]:
    """The styles of slides that are not shown."""
    return {
        _value(style, "name")
        for style in root.iter()
        if local(style) == "style"
        and any(
            local(one) == "drawing-page-properties" and _value(one, "visibility") == "hidden"
            for one in style
        )
    }


def _value(element: _Element, name: str) -> str:
    """An attribute, whatever its namespace; nothing where it is missing."""
    found = (str(v) for k, v in element.attrib.items() if str(k).rpartition("}")[2] == name)
    return next(found, "")


def _clean_attributes(element: _Element) -> None:
    drop_attributes(element, _is_unwanted)
    if local(element) in ("frame", "custom-shape", "shape", "g", "page", "object", "image"):
        drop_attributes(element, lambda name, _: name == "name")


def _is_unwanted(name: str, value: str) -> bool:
    if name == "href":
        return not _is_inside(value)
    if name in ("formula", "condition", "source-name", "connection-name", "expression"):
        return bool(_LEADS_OUT.search(value))
    return name in ("creator", "author", "protection-key", "target-frame-name")


def _is_inside(target: str) -> bool:
    """Whether a link leads to a part of the package."""
    if target.startswith("#"):
        return True
    path = posixpath.normpath(target)
    return ":" not in target and not path.startswith(("/", "..", "\\"))
