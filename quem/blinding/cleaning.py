"""Office files without metadata, as LibreOffice receives them.

Only what is listed here is kept, so properties, comments, people, notes, custom XML, and macros
are removed.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from quem.blinding.packages import (
    GONE,
    MANIFEST,
    MIMETYPE,
    TYPES,
    Cleaned,
    Package,
    clean_drawing,
    local,
    parse,
    serialize,
    text_of,
    value_of,
    written,
)
from quem.errors import FileError

if TYPE_CHECKING:
    from pathlib import Path

    from lxml.etree import _Element

# Relationships of Office Open XML, and parts of OpenDocument.
_KEPT = {
    *("officeDocument", "theme", "image", "chart", "chartUserShapes", "drawing", "font"),
    *("diagramData", "diagramLayout", "diagramColors", "diagramQuickStyle", "diagramDrawing"),
    *("styles", "settings", "numbering", "fontTable", "footnotes", "endnotes", "header", "footer"),
    *("slide", "slideLayout", "slideMaster", "presProps", "tableStyles"),
    *("worksheet", "sharedStrings", "table", "sheetMetadata"),
}
_KEPT_OPEN = re.compile(
    r"(?:content|styles|settings)\.xml|(?:Pictures|media|ObjectReplacements)/[^/]+"
    r"|Object \d+(?:/(?:content|styles)\.xml|/Pictures/[^/]+)?",
    re.IGNORECASE,
)
# Elements that are removed with their contents: of documents, workbooks, and OpenDocument.
_DROPPED = {
    *("del", "moveFrom", "delText", "delInstrText", "instrText", "fldChar", "sdtPr", "docVars"),
    *("commentRangeStart", "commentRangeEnd", "commentReference", "bookmarkStart", "bookmarkEnd"),
    *("cellDel", "cellIns", "cellMerge", "smartTagPr", "customXmlPr", "pPrChange", "rPrChange"),
    *("sectPrChange", "tblPrChange", "tblPrExChange", "tblGridChange", "trPrChange", "tcPrChange"),
    *("numberingChange", "headerFooter", "protectedRanges", "dataValidations", "scenarios"),
    *("annotation", "annotation-end", "tracked-changes", "change", "change-start", "change-end"),
    *("scripts", "script", "event-listeners", "dde-source", "dde-connection-decls", "plugin"),
    *("dde-connection", "bookmark", "bookmark-start", "bookmark-end", "reference-mark", "notes"),
    *("reference-mark-start", "reference-mark-end", "section-source", "table-source", "forms"),
    *("cell-range-source", "hidden-text", "hidden-paragraph", "meta-field", "user-field-decls"),
    *("alphabetical-index-auto-mark-file", "applet", "content-validations", "rsids", "hyperlinks"),
}
# Fields of OpenDocument whose text stays; they would be computed from the cleaned file.
_FIELDS = {
    *("author-name", "author-initials", "creator", "initial-creator", "printed-by", "editor"),
    *("sender-firstname", "sender-lastname", "sender-initials", "sender-title", "sender-company"),
    *("sender-position", "sender-email", "sender-street", "sender-city", "sender-country"),
    *("file-name", "template-name", "title", "subject", "keywords", "description", "date", "time"),
    *("user-defined", "user-field-get", "user-field-input", "creation-date", "creation-time"),
    *("modification-date", "modification-time", "print-date", "print-time", "editing-duration"),
    *("editing-cycles", "database-display", "a"),
}
_OPEN = "{{urn:oasis:names:tc:opendocument:xmlns:{}:1.0}}{}"


def _tags(vocabulary: str, *names: str) -> list[str]:
    """Elements of Office Open XML, in both its namespaces."""
    spaces = (f"schemas.openxmlformats.org/{vocabulary}/2006", f"purl.oclc.org/ooxml/{vocabulary}")
    return [f"{{http://{space}/main}}{name}" for space in spaces for name in names]


_DROPPED_TAGS = [
    *(GONE, *(f"{{*}}{name}" for name in sorted(_DROPPED))),
    *(*_tags("presentationml", "extLst"), *_tags("spreadsheetml", "extLst")),
    *(_OPEN.format("svg-compatible", name) for name in ("title", "desc")),
]
_UNWRAPPED_TAGS = [
    *_tags("wordprocessingml", "ins", "moveTo", "sdt", "sdtContent", "smartTag", "customXml"),
    *_tags("wordprocessingml", "fldSimple"),
    *(_OPEN.format("text", name) for name in sorted(_FIELDS)),
]
_HEADERS = {
    *("header", "header-left", "header-first", "footer", "footer-left", "footer-first"),
    *("header-decl", "footer-decl", "date-time-decl"),
}
_COMMENT = _OPEN.format("office", "annotation")
_ATTRIBUTES = {
    *("tooltip", "alt", "gfxdata", "codeName", "author", "creator", "descr", "protection-key"),
}
# Elements whose names and titles are free text.
_NAMED = {
    *("docPr", "cNvPr", "cSld", "frame", "custom-shape", "shape", "g", "page", "object", "image")
}
_FORMULAS = {"formula", "condition", "expression"}
# Formulas that read other files or hosts; their last result stays.
_LEADS_OUT = re.compile(r"\[\d+\]|://|WEBSERVICE|\b(?:RTD|DDE)\s*\(|\|\s*'|'?file:", re.IGNORECASE)
_SETTINGS = re.compile(r"Printer|Database|Rsid|Author|Password|Redline|Change|Link", re.IGNORECASE)
_OFF = {"0", "false", "off"}
_PROPERTIES = {
    "creator": "author",
    "initial-creator": "author",
    "lastModifiedBy": "last modified by",
    "printed-by": "printed by",
    **{name: name for name in ("title", "subject", "keywords", "keyword", "description")},
    **{name: name.lower() for name in ("category", "generator", "Company", "Manager", "Template")},
}
# Comments and their authors, and speakers' notes.
_BESIDE = re.compile(
    r".*/(?:modern)?(?:comment|authors|people|person)[^/]*\.xml|.*/notesSlides/[^/]*\.xml",
    re.IGNORECASE,
)
_RECORDING = re.compile(r".*\.(?:mp[34]|m4[av]|wav|wm[va]|avi|mov|webm)", re.IGNORECASE)


def clean_package(
    path: Path, content: bytes | None = None, *, keep_headers: bool = False
) -> Cleaned:
    """Clean a file of Office Open XML or OpenDocument, or a package converted from it."""
    cleaned, parts = Cleaned(), dict[str, bytes]()
    with Package(path, content) as package:
        listing = TYPES if TYPES in package else MANIFEST
        if listing == TYPES:
            kept = _linked(package, parts, cleaned, keep_headers=keep_headers)
        else:
            parts[MIMETYPE] = package.read(MIMETYPE)
            names = [name for name in package.names if _KEPT_OPEN.fullmatch(name)]
            kept = {name: _Part("xml" if name.endswith(".xml") else "image") for name in names}
        for name, part in kept.items():
            raw = package.read(name)
            if part.kind not in ("image", "font"):
                root = parse(path, raw)
                _clean(root, part, cleaned, keep_headers=keep_headers)
                raw = serialize(root)
            elif name.endswith(".svg") or raw.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
                raw = clean_drawing(path, raw)
            parts[name] = raw
        parts[listing] = _listed(package.tree(listing), kept)
        _note(package, cleaned)
    cleaned.content = written(parts)
    return cleaned


@dataclass
class _Part:
    """A kept part: its kind, and the ids of its dead relationships."""

    kind: str
    gone: set[str] = field(default_factory=set)


def _linked(
    package: Package, parts: dict[str, bytes], cleaned: Cleaned, *, keep_headers: bool
) -> dict[str, _Part]:
    """The visible parts of Office Open XML; adds lists of relationships to `parts`."""
    kept, hidden, waiting = dict[str, _Part](), set[str](), [("", "")]
    while waiting:
        name, kind = waiting.pop()
        folder, file = posixpath.split(name)
        relationships = posixpath.join(folder, "_rels", f"{file}.rels")
        if name in kept:
            continue
        part = kept[name] = _Part(kind)
        if relationships not in package:
            continue
        root = package.tree(relationships)
        for one in list(root):
            kind, target = one.get("Type", "").rpartition("/")[2], one.get("Target", "")
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            if one.get("TargetMode") == "External" and kind == "hyperlink":
                one.set("Target", "about:blank")
                continue
            is_inside = one.get("TargetMode") != "External" and target in package
            if is_inside and kind in _KEPT and target not in hidden:
                is_header = kind in ("header", "footer") and not keep_headers
                shown = package.tree(target) if is_header or kind == "slide" else None
                if shown is None or not (is_header or shown.get("show") in _OFF):
                    waiting.append((target, kind))
                    continue
                hidden.add(target)
                what = "header or footer" if is_header else "hidden slide"
                cleaned.lose(what, not is_header or any(map(str.isalpha, text_of(shown))))
            part.gone.add(one.get("Id", ""))
            root.remove(one)
        parts[relationships] = serialize(root)
    if "officeDocument" not in {part.kind for part in kept.values()}:
        raise FileError(package.path, Package.broken)
    del kept[""]
    return kept


def _listed(root: _Element, kept: dict[str, _Part]) -> bytes:
    """The manifest of the kept parts and their folders."""
    names = {one.casefold() for name in kept for one in ("", posixpath.dirname(name), name)}
    for one in list(root):
        name = value_of(one, "PartName") or value_of(one, "full-path")
        if name.strip("/").casefold() not in names:
            root.remove(one)
    return serialize(root)


def _clean(root: _Element, part: _Part, cleaned: Cleaned, *, keep_headers: bool) -> None:
    """Remove hidden content and metadata from a part."""
    from lxml import etree

    pages = [one for one in root.iter() if local(one) == "drawing-page-properties"]
    styles = [one.getparent() for one in pages if value_of(one, "visibility") == "hidden"]
    hidden = {value_of(style, "name") for style in styles if style is not None}
    _mark_removed_cells(root)
    for element in _unseen_of_fields(root):
        element.tag = GONE
    for element in list(root.iter()):
        name = local(element)
        _count(element, cleaned)
        if name == "page" and value_of(element, "style-name") in hidden:
            cleaned.lose("hidden slide")
            element.tag = GONE
        elif name in _HEADERS and not keep_headers:
            cleaned.lose("header or footer", any(map(str.isalpha, text_of(element))))
            del element[:]
            element.text = None
        elif name == "sp" and not keep_headers and _is_placeholder(element, "ftr", "dt", "hdr"):
            is_text = part.kind == "slide" and any(map(str.isalpha, text_of(element)))
            cleaned.lose("footer of a slide", is_text)
            element.tag = GONE
        elif name == "fld" and element.get("type") != "slidenum":
            # A date field would show today's date, so its text stays as it was written.
            element.tag = f"{str(element.tag).rpartition('}')[0]}}}r"
        elif _is_unseen(element):
            element.tag = GONE
        _clean_attributes(element, part.gone)
    etree.strip_elements(root, *_DROPPED_TAGS, with_tail=False)
    etree.strip_tags(root, *_UNWRAPPED_TAGS)


def _unseen_of_fields(root: _Element) -> list[_Element]:
    """The codes of a document's fields: all between begin and separator."""
    inside, states = [], list[str]()
    for element in root.iter():
        name = local(element)
        kind = value_of(element, "fldCharType") if name == "fldChar" else ""
        if kind == "begin":
            states.append(kind)
        elif kind == "separate" and states:
            states[-1] = kind
        elif kind == "end" and states:
            states.pop()
        elif "begin" in states and name in ("t", "tab", "br", "sym", "drawing", "pict", "object"):
            inside.append(element)
    # A field without an end would hide the rest of the document.
    return [] if states else inside


def _mark_removed_cells(root: _Element) -> None:
    """Mark rows and cells with a tracked deletion, and those that it leaves empty."""
    for mark in list(root.iter("{*}del", "{*}cellDel")):
        properties = mark.getparent()
        if properties is None or local(properties) not in ("trPr", "tcPr"):
            continue
        element = properties.getparent()
        while element is not None and local(element) in ("tr", "tc", "tbl"):
            name, element.tag = local(element), GONE
            parent = element.getparent()
            if name == "tbl" or parent is None or any(local(one) == name for one in parent):
                break
            element = parent


def _count(element: _Element, cleaned: Cleaned) -> None:
    """Count a hidden sheet, or a comment or speaker's note of OpenDocument."""
    if local(element) == "sheet" and element.get("state", "visible") != "visible":
        cleaned.lose("hidden sheet")
    elif element.tag == _COMMENT:
        cleaned.lose("comment")
        for one in element:
            if local(one) == "creator":
                cleaned.say("authors of comments", text_of(one))
    elif local(element) == "notes" and (page := element.getparent()) is not None:
        boxes = [one for one in element.iter() if local(one) == "text-box"]
        cleaned.lose("speaker note", local(page) == "page" and any(map(text_of, boxes)))


def _is_placeholder(shape: _Element, *kinds: str) -> bool:
    return any(local(one) == "ph" and one.get("type") in kinds for one in shape.iter())


def _is_unseen(element: _Element) -> bool:
    """Whether text is hidden, a formula reads other files, or a setting may name somebody."""
    name = local(element)
    if name == "r":
        marks = [one for properties in element for one in properties if local(one) == "vanish"]
        return any(value_of(one, "val") not in _OFF for one in marks)
    if name in ("f", "definedName"):
        is_printed = "Print_" in element.get("name", "")
        return is_printed or bool(_LEADS_OUT.search(element.text or ""))
    return name == "config-item" and bool(_SETTINGS.search(value_of(element, "name")))


def _clean_attributes(element: _Element, gone: set[str]) -> None:
    """Remove names, links, and dangling references from an element, or drop the element."""
    for key, value in list(element.attrib.items()):
        name = str(key).rpartition("}")[2]
        if "relationships}" in str(key) and value in gone:
            # An embedded object keeps its preview picture.
            if name == "id" and local(element) != "oleObj":
                element.tag = GONE
            del element.attrib[key]
        elif (
            (name in _ATTRIBUTES or name.startswith("rsid"))
            or (name in ("name", "title") and local(element) in _NAMED)
            or (name == "href" and not _is_inside(str(value)))
            or (name in _FORMULAS and _LEADS_OUT.search(str(value)))
        ):
            del element.attrib[key]


def _is_inside(target: str) -> bool:
    """Whether a link leads to a part of the package."""
    path = posixpath.normpath(target)
    return target.startswith("#") or (":" not in target and not path.startswith(("/", "..", "\\")))


def _note(package: Package, cleaned: Cleaned) -> None:
    """Read a file's metadata, and count content that only its readers see."""
    for name in package.names:
        cleaned.lose("recording", bool(_RECORDING.fullmatch(name)))
        is_about = name == "meta.xml" or (name.startswith("docProps/") and name.endswith(".xml"))
        for element in package.tree(name).iter() if is_about or _BESIDE.fullmatch(name) else ():
            kind, text = local(element), text_of(element)
            if is_about and kind in ("property", "user-defined"):
                cleaned.say(f"property {value_of(element, 'name')}", text)
            elif is_about and kind in _PROPERTIES:
                is_last = name == "meta.xml" and kind == "creator"
                cleaned.say("last modified by" if is_last else _PROPERTIES[kind], text)
            elif kind == "sp" and _is_placeholder(element, "body"):
                cleaned.lose("speaker note", bool(text))
            elif not is_about and kind in ("author", "cmAuthor", "person", "comment", "cm"):
                cleaned.lose("comment", kind in ("comment", "cm"))
                for key in ("author", "name", "displayName"):
                    cleaned.say("authors of comments", value_of(element, key))
                cleaned.say("authors of comments", text if kind == "author" else "")
