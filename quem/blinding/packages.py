"""Packages of office formats: zip files of XML parts, read within limits and rewritten."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from quem.errors import FileError
from quem.io import packages

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lxml.etree import _Element

# A tree takes about six times as much memory as its text.
_MOST_XML = 60_000_000
_LOCKED = "has a password, or is in an older format; save it without a password as {}"
_COMPOUND = b"\xd0\xcf\x11\xe0"
# Tag of elements that are removed at the end.
GONE = "gone"
TYPES, MANIFEST, MIMETYPE = "[Content_Types].xml", "META-INF/manifest.xml", "mimetype"
# Attributes of a drawing that refer to itself or hold pixels.
_INSIDE = ("#", "data:image/png", "data:image/jpeg", "data:image/gif")
_UNSEEN = ("script", "foreignObject", "title", "desc", "metadata")
_REMOTE = re.compile(r"url\s*\(\s*[\"']?(?!#)|@import", re.IGNORECASE)


@dataclass
class Cleaned:
    """A cleaned file and what was removed."""

    content: bytes = b""  # ready for conversion
    # The file's metadata, which is removed.
    entries: dict[str, str] = field(default_factory=dict)
    # Content that a reader of the file may see and judges do not: its name and count.
    lost: dict[str, int] = field(default_factory=dict)

    def lose(self, what: str, count: int = 1) -> None:
        """Count removed content."""
        if count:
            self.lost[what] = self.lost.get(what, 0) + count

    def say(self, name: str, text: str) -> None:
        """Note a property; a second value of the same name is appended to the first."""
        text, known = " ".join(text.split()), self.entries.get(name, "")
        if text and text not in known.split(", "):
            self.entries[name] = f"{known}, {text}" if known else text


class Package(packages.Package):
    """The parts of an office file; names are case-insensitive."""

    broken = "is a broken file; open it in the program that wrote it, and save it again"

    @staticmethod
    def _key(name: str) -> str:
        # As on Windows.
        return posixpath.normpath(name).casefold()

    @property
    def names(self) -> list[str]:
        """The names of all parts, without folders."""
        return [posixpath.normpath(name) for name in super().names]

    def tree(self, name: str) -> _Element:
        """The parsed XML of a part; see `parse`."""
        return parse(self.path, self.read(name))


def package_problem(path: Path, holds: str, form: str) -> str:
    """Why a file is not a readable package of its format; empty where it is."""
    try:
        with path.open("rb") as file:
            if file.read(4) == _COMPOUND:
                return _LOCKED.format(form)
        with Package(path) as package:
            if not any(name.casefold().startswith(holds) for name in package.names):
                return f"is named as {form} but is none; save it again"
            if MANIFEST in package and b"encryption-data" in package.read(MANIFEST):
                return _LOCKED.format(form)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    except FileError as error:
        return error.message
    return ""


def parse(path: Path, content: bytes) -> _Element:
    """Parse XML without fetching, entities, and comments."""
    from lxml import etree

    if len(content) > _MOST_XML:
        raise FileError(path, "is too large to be shown; make it smaller")
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError):
        raise FileError(path, Package.broken) from None
    if root is None:
        raise FileError(path, Package.broken)
    etree.strip_elements(root, etree.Entity, with_tail=False)
    return root


def serialize(root: _Element) -> bytes:
    """Serialize a tree without the text around its root."""
    from lxml import etree

    return etree.tostring(root, encoding="UTF-8", xml_declaration=True, with_tail=False)


def written(parts: Mapping[str, bytes]) -> bytes:
    """Write parts as a zip file of nothing else; the type of OpenDocument comes first."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as package:
        for name in sorted(parts, key=lambda name: (name != MIMETYPE, name)):
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_STORED if name == MIMETYPE else zipfile.ZIP_DEFLATED
            package.writestr(info, parts[name])
    return out.getvalue()


def local(element: _Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def text_of(element: _Element) -> str:
    """The text inside an element."""
    return " ".join("".join(map(str, element.itertext())).split())


def value_of(element: _Element, name: str) -> str:
    """An attribute, whatever its namespace; empty where it is missing."""
    found = (str(v) for k, v in element.attrib.items() if str(k).rpartition("}")[2] == name)
    return next(found, "")


def clean_drawing(path: Path, content: bytes) -> bytes:
    """Remove scripts and external references from an SVG drawing."""
    from lxml import etree

    root = parse(path, content)
    for element in list(root.iter()):
        name = local(element)
        is_unseen = name in _UNSEEN or element.get("display") == "none"
        is_unseen |= name == "style" and bool(_REMOTE.search(text_of(element)))
        if is_unseen and element is not root:
            element.tag = GONE
        for key, value in list(element.attrib.items()):
            if _leads_out(str(key).rpartition("}")[2], str(value)):
                del element.attrib[key]
    etree.strip_elements(root, GONE, with_tail=False)
    return serialize(root)


def _leads_out(name: str, value: str) -> bool:
    if name == "href":
        return not value.strip().startswith(_INSIDE)
    return name.startswith("on") or bool(_REMOTE.search(value))
