"""Packages of office formats: zip files of parts, read within limits and written again.

A cleaned package is written from what was read and kept, so nothing that is not listed as kept
can be in it, whatever the file holds.
"""

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
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from lxml.etree import _Element

# A tree takes about six times as much memory as the text it was read from.
_MOST_XML = 60_000_000
_LOCKED = "has a password, or is in an older format; save it without a password as {}"
_COMPOUND = b"\xd0\xcf\x11\xe0"
# Of a drawing: itself, and pixels.
_INSIDE = ("#", "data:image/png", "data:image/jpeg", "data:image/gif")
_UNSEEN = ("script", "foreignObject", "title", "desc", "metadata")
_REMOTE = re.compile(r"url\s*\(\s*[\"']?(?!#)|@import", re.IGNORECASE)


@dataclass
class Cleaned:
    """What is left of a file, and what was taken from it."""

    content: bytes = b""  # as it is converted
    # What the file says of itself and its authors, which is removed.
    entries: dict[str, str] = field(default_factory=dict)
    # What judges do not see though a reader of the file may: its name, and how many there are.
    lost: dict[str, int] = field(default_factory=dict)

    def lose(self, what: str, count: int = 1) -> None:
        """Count something that judges do not see."""
        if count:
            self.lost[what] = self.lost.get(what, 0) + count

    def say(self, name: str, text: str | None) -> None:
        """Note what a property says; a second value of the same name is put behind the first."""
        text = " ".join((text or "").split())
        known = self.entries.get(name, "")
        if text and text not in known.split(", "):
            self.entries[name] = f"{known}, {text}" if known else text


class Package(packages.Package):
    """The parts of an office file; their names are found in small and in capital letters."""

    broken = "is a broken file; open it in the program that wrote it, and save it again"

    @staticmethod
    def _key(name: str) -> str:
        # Windows has no other case.
        return posixpath.normpath(name).casefold()

    @property
    def names(self) -> list[str]:
        """The names of all parts, folders left out."""
        return [posixpath.normpath(name) for name in super().names]

    def tree(self, name: str) -> _Element:
        """Give the tree of a part in XML; see `parse`."""
        return parse(self.path, self.read(name))


def package_problem(path: Path, holds: str, form: str) -> str:
    """Say why a file is not a package of a format that can be read; nothing where it is."""
    try:
        with path.open("rb") as file:
            if file.read(4) == _COMPOUND:
                return _LOCKED.format(form)
        with Package(path) as package:
            if not any(name.casefold().startswith(holds) for name in package.names):
                return f"is named as {form} but is none; save it again"
            if _is_locked(package):
                return _LOCKED.format(form)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    except FileError as error:
        return error.message
    return ""


def _is_locked(package: Package) -> bool:
    manifest = "META-INF/manifest.xml"
    return manifest in package and b"encryption-data" in package.read(manifest)


def parse(path: Path, content: bytes) -> _Element:
    """Read XML: nothing is fetched, no entity is replaced, and comments are left out."""
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
    """Write a tree, without what was before and behind its root."""
    from lxml import etree

    return etree.tostring(root, encoding="UTF-8", xml_declaration=True, with_tail=False)


def written(parts: Mapping[str, bytes], first: str = "") -> bytes:
    """Write parts as a zip file that holds nothing else."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as package:
        for name in sorted(parts, key=lambda name: (name != first, name)):
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_STORED if name == first else zipfile.ZIP_DEFLATED
            package.writestr(info, parts[name])
    return out.getvalue()


def local(element: _Element) -> str:
    """Give the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def text_of(element: _Element) -> str:
    """Give all text inside an element."""
    return " ".join("".join(map(str, element.itertext())).split())


def drop(element: _Element) -> None:
    """Take an element and all it holds out of its tree; the text behind it stays."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        _put_before(element, element.tail)
    parent.remove(element)


def unwrap(element: _Element) -> None:
    """Put what an element holds in its place."""
    if element.getparent() is None:
        return
    if element.text:
        _put_before(element, element.text)
    for child in list(element):
        element.addprevious(child)
    drop(element)


def _put_before(element: _Element, text: str) -> None:
    """Put text before an element."""
    before, parent = element.getprevious(), element.getparent()
    if before is not None:
        before.tail = (before.tail or "") + text
    elif parent is not None:
        parent.text = (parent.text or "") + text


def drop_attributes(element: _Element, unwanted: Callable[[str, str], bool]) -> None:
    """Take attributes from an element."""
    for name, value in list(element.attrib.items()):
        if unwanted(str(name).rpartition("}")[2], str(value)):
            del element.attrib[name]


def clean_drawing(path: Path, content: bytes) -> bytes:
    """Take from a drawing in SVG whatever leads out of it, and its scripts."""
    root = parse(path, content)
    for element in list(root.iter()):
        name = local(element)
        is_unseen = name in _UNSEEN or element.get("display") == "none"
        if is_unseen or (name == "style" and _REMOTE.search(text_of(element))):
            drop(element)
        else:
            drop_attributes(element, _leads_out)
    return serialize(root)


def _leads_out(name: str, value: str) -> bool:
    if name == "href":
        return not value.strip().startswith(_INSIDE)
    return name.startswith("on") or bool(_REMOTE.search(value))
