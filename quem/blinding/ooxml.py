"""Documents, slides, and workbooks of Office Open XML without what reveals who made them.

What is kept is listed by the types of relationships: a part that nothing kept leads to is not
written, so neither properties nor comments, people, notes, custom XML, or macros are.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

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
from quem.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lxml.etree import _Element

_SHARED = {
    *("theme", "image", "chart", "chartUserShapes", "drawing", "hyperlink", "diagramData"),
    *("diagramLayout", "diagramColors", "diagramQuickStyle", "diagramDrawing", "font"),
}
_KEPT = {
    "docx": _SHARED
    | {"styles", "settings", "numbering", "fontTable", "footnotes", "endnotes", "header", "footer"},
    "pptx": _SHARED | {"slide", "slideLayout", "slideMaster", "presProps", "tableStyles"},
    "xlsx": _SHARED | {"worksheet", "sharedStrings", "styles", "table", "sheetMetadata"},
}
_ROOT = "officeDocument"
_TYPES = "[Content_Types].xml"
_RELATIONSHIP = "http://schemas.openxmlformats.org/package/2006/relationships"
_CONTENT = "http://schemas.openxmlformats.org/package/2006/content-types"
_REFERENCES = "}/relationships}"
_NOWHERE = "about:blank"
# Of documents: what goes with all it holds, and of what only the marks go.
_DROPPED = {
    *("del", "moveFrom", "delText", "delInstrText", "instrText", "commentRangeStart"),
    *("commentRangeEnd", "commentReference", "annotationRef", "bookmarkStart", "bookmarkEnd"),
    *("docVars", "rsids", "alias", "tag", "ffData", "proofErr", "permStart", "permEnd"),
    *("moveFromRangeStart", "moveFromRangeEnd", "moveToRangeStart", "moveToRangeEnd"),
    *("attachedTemplate", "mailMerge", "saveThroughXslt", "documentProtection", "altChunk"),
    *("subDoc", "smartTagPr", "customXmlPr", "sdtPr", "sdtEndPr", "webPublishItems"),
    *("writeProtection", "trackRevisions", "captions", "activeWritingStyle", "cellDel"),
    *("cellIns", "cellMerge"),
}
_UNWRAPPED = {"ins", "moveTo", "sdt", "sdtContent", "smartTag", "customXml", "fldSimple"}
_PROPERTY_LISTS = {"trPr", "rPr", "pPr", "tcPr"}
_REMOVED_CELLS = {("trPr", "del"), ("tcPr", "cellDel")}
# Of slides and workbooks.
_DROPPED_OF_SLIDES = {
    *("timing", "transition", "custShowLst", "custDataLst", "kinsoku", "photoAlbum"),
    *("modifyVerifier", "extLst", "bldLst"),
}
_DROPPED_OF_SHEETS = {
    *("headerFooter", "legacyDrawing", "legacyDrawingHF", "oleObjects", "controls", "picture"),
    *("customSheetViews", "customWorkbookViews", "protectedRanges", "dataConsolidate", "extLst"),
    *("webPublishItems", "webPublishing", "fileSharing", "hyperlinks", "dataValidations"),
    *("fileRecoveryPr", "scenarios", "cellWatches", "smartTags", "workbookProtection"),
}
_UNSEEN = ("tooltip", "alt", "gfxdata", "codeName")
_FOOTERS_OF_SLIDES = {"ftr", "dt", "hdr"}
_NAMED = {"docPr", "cNvPr"}
_AUTHORS = re.compile(r"/(?:comments\d*|commentAuthors|authors|people|person)\.xml$")
_OFF = {"0", "false", "off"}
# Formulas that read other files or hosts; what they gave last stays.
_LEADS_OUT = re.compile(r"\[\d+\]|WEBSERVICE|\bRTD\s*\(|://|\|\s*'|'?file:", re.IGNORECASE)
_PROPERTIES = {
    "creator": "author",
    "lastModifiedBy": "last modified by",
    **{name: name for name in ("title", "subject", "keywords", "description", "category")},
    **{name: name.lower() for name in ("Company", "Manager", "Template")},
    "contentStatus": "status",
    "HyperlinkBase": "base of links",
}


@dataclass
class _Part:
    """A part that is kept: its tree or its bytes, and where its relationships lead."""

    name: str
    kind: str
    type: str = ""
    root: _Element | None = None
    content: bytes = b""
    targets: dict[str, _Target] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Target:
    """Where a relationship leads: to a part, or out, which becomes nowhere."""

    type: str
    name: str
    external: bool


def clean_ooxml(
    path: Path, form: str, *, content: bytes | None = None, keep_headers: bool = False
) -> Cleaned:
    """Clean a package."""
    with Package(path, content) as package:
        return _Cleaning(package, form, keep_headers=keep_headers).run()


class _Cleaning:
    """One walk from the root of a package through all that is kept."""

    def __init__(self, package: Package, form: str, *, keep_headers: bool) -> None:
        self.package = package
        self.form = form
        self.keep_headers = keep_headers
        self.cleaned = Cleaned()
        self.types, self.endings = self._content_types()
        self.parts: dict[str, _Part] = {}
        self.hidden: set[str] = set()

    def run(self) -> Cleaned:
        self._note_properties()
        root = self._relationships(_Part("", _ROOT))
        (start, *_) = [name for name, one in root.targets.items() if one.type == _ROOT] or [""]
        if not start:
            raise self._broken()
        root.targets = {start: root.targets[start]}
        self._collect(root)
        main = self.parts.get(root.targets[start].name)
        if main is None or main.root is None:
            raise self._broken()
        for part in self.parts.values():
            if part.root is not None:
                self._clean(part, part.root)
        self._note_lost()
        self.cleaned.content = self._written(root)
        return self.cleaned

    def _broken(self) -> FileError:
        return FileError(
            self.package.path,
            "is a broken file; open it in the program that wrote it, and save it again",
        )

    def _content_types(self) -> tuple[dict[str, str], dict[str, str]]:
        """The types of parts by their names, and by how they end."""
        types, endings = {}, {}
        for element in self.package.tree(_TYPES):
            kind = element.get("ContentType", "")
            if local(element) == "Override":
                types[element.get("PartName", "").lstrip("/").casefold()] = kind
            else:
                endings[element.get("Extension", "").casefold()] = kind
        return types, endings

    def _relationships(self, part: _Part) -> _Part:
        """Note where a part leads, as far as that is kept."""
        folder, name = posixpath.split(part.name)
        rels = posixpath.join(folder, "_rels", f"{name}.rels")
        if rels not in self.package:
            return part
        for one in self.package.tree(rels):
            key, kind = one.get("Id", ""), one.get("Type", "").rpartition("/")[2]
            target, external = one.get("Target", ""), one.get("TargetMode") == "External"
            is_kept = kind in _KEPT[self.form] or (kind == _ROOT and not part.name)
            if external:
                is_kept = kind == "hyperlink"
            elif is_kept:
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
                is_kept = target in self.package and kind != "hyperlink"
            if is_kept:
                part.targets[key] = _Target(kind, _NOWHERE if external else target, external)
            else:
                part.gone.add(key)
        return part

    def _collect(self, root: _Part) -> None:
        """Read all parts that can be reached."""
        waiting = [root]
        while waiting:
            part = waiting.pop()
            for key, target in list(part.targets.items()):
                if target.external or target.name in self.parts:
                    continue
                if target.name in self.hidden or (found := self._read(target)) is None:
                    self.hidden.add(target.name)
                    part.gone.add(key)
                    del part.targets[key]
                    continue
                self.parts[target.name] = found
                waiting.append(self._relationships(found))
        # A part can lead to what another one hides.
        for part in (root, *self.parts.values()):
            for key in [key for key, one in part.targets.items() if one.name in self.hidden]:
                part.gone.add(key)
                del part.targets[key]

    def _read(self, target: _Target) -> _Part | None:
        """A part, or None where it is not shown."""
        ending = target.name.rpartition(".")[2].casefold()
        kind = self.types.get(target.name.casefold()) or self.endings.get(ending, "")
        part = _Part(target.name, target.type, kind)
        content = self.package.read(target.name)
        if target.type == "image":
            starts = content.lstrip(b"\xef\xbb\xbf \r\n\t")[:5]
            is_svg = ending == "svg" or "svg" in kind or starts in (b"<?xml", b"<svg ")
            part.content = clean_drawing(self.package.path, content) if is_svg else content
        elif target.type == "font":
            part.content = content
        else:
            part.root = parse(self.package.path, content)
            if target.type == "slide" and part.root.get("show") in _OFF:
                self.cleaned.lose("hidden slide")
                return None
        return part

    def _clean(self, part: _Part, root: _Element) -> None:
        """Take from a part what is not to be seen."""
        for element in list(root.iter()):
            self._clean_references(part, element)
            if local(element) in _NAMED:
                drop_attributes(element, lambda name, _: name in ("descr", "title"))
                element.set("name", "")
            drop_attributes(element, lambda name, _: name in _UNSEEN)
        if self.form == "docx":
            self._clean_document(part, root)
        elif self.form == "pptx":
            self._clean_slide(part, root)
        else:
            _clean_sheet(root)

    @staticmethod
    def _clean_references(part: _Part, element: _Element) -> None:
        """Take away what refers to parts that are not kept."""
        for name, value in list(element.attrib.items()):
            if "relationships}" not in str(name) or value not in part.gone:
                continue
            # An embedded object keeps the picture that shows it.
            if str(name).endswith("}id") and local(element) != "oleObj":
                drop(element)
                return
            del element.attrib[name]

    def _clean_document(self, part: _Part, root: _Element) -> None:
        if part.kind in ("header", "footer") and not self.keep_headers:
            self.cleaned.lose("header or footer", any(map(str.isalpha, text_of(root))))
            self._empty(root)
            return
        for element in _instructions(root):
            drop(element)
        for element in list(root.iter()):
            _clean_element(element)

    @staticmethod
    def _empty(root: _Element) -> None:
        namespace = str(root.tag).rpartition("}")[0]
        for child in list(root):
            drop(child)
        root.text = None
        root.append(root.makeelement(f"{namespace}}}p"))

    def _clean_slide(self, part: _Part, root: _Element) -> None:
        for element in list(root.iter()):
            name = local(element)
            if name in _DROPPED_OF_SLIDES:
                drop(element)
            elif name == "cSld":
                drop_attributes(element, lambda key, _: key == "name")
            elif name == "fld" and element.get("type") != "slidenum":
                # A date would be that of today, so what was written stays as text.
                element.tag = f"{str(element.tag).rpartition('}')[0]}}}r"
                drop_attributes(element, lambda *_: True)
                for child in [one for one in element if local(one) == "pPr"]:
                    drop(child)
            elif name == "sp" and not self.keep_headers:
                kinds = {one.get("type") for one in element.iter() if local(one) == "ph"}
                if kinds & _FOOTERS_OF_SLIDES:
                    is_text = part.kind == "slide" and any(map(str.isalpha, text_of(element)))
                    self.cleaned.lose("footer of a slide", is_text)
                    drop(element)

    def _note_properties(self) -> None:
        """Read what the file says of its authors, wherever office programs write that."""
        for name in self.package.names:
            if not name.casefold().endswith(".xml"):
                continue
            if name.startswith("docProps/"):
                self._note_entries(self.package.tree(name))
            elif _AUTHORS.search(name):
                for text in _authors(self.package.tree(name)):
                    self.cleaned.say("authors of comments", text)

    def _note_entries(self, root: _Element) -> None:
        for element in root.iter():
            name = local(element)
            if name in _PROPERTIES:
                self.cleaned.say(_PROPERTIES[name], text_of(element))
            elif name == "property":
                self.cleaned.say(f"property {element.get('name', '')}", text_of(element))

    def _note_lost(self) -> None:
        """Count what readers of the file may see, and judges do not."""
        for name in self.package.names:
            folder, file = posixpath.split(name.casefold())
            if not file.endswith(".xml"):
                continue
            if folder.endswith("notesslides"):
                is_written = any(
                    "body" in {one.get("type") for one in shape.iter() if local(one) == "ph"}
                    and text_of(shape)
                    for shape in self.package.tree(name).iter()
                    if local(shape) == "sp"
                )
                self.cleaned.lose("speaker note", is_written)
            elif re.fullmatch(r"(?:comments?\d*|modernComment.*)\.xml", file, re.IGNORECASE):
                roots = self.package.tree(name).iter()
                self.cleaned.lose("comment", sum(local(one) in ("comment", "cm") for one in roots))
        media = [n for n in self.package.names if n.casefold().endswith(_RECORDINGS)]
        self.cleaned.lose("recording", len(media))

    def _written(self, root: _Part) -> bytes:
        from lxml import etree

        types = etree.Element(f"{{{_CONTENT}}}Types", nsmap=_as_default(_CONTENT))
        rels = "application/vnd.openxmlformats-package.relationships+xml"
        etree.SubElement(types, f"{{{_CONTENT}}}Default", Extension="rels", ContentType=rels)
        parts = {}
        for part in (root, *self.parts.values()):
            if part.name:
                attributes = {"PartName": f"/{part.name}", "ContentType": part.type}
                etree.SubElement(types, f"{{{_CONTENT}}}Override", attributes)
                parts[part.name] = part.content if part.root is None else serialize(part.root)
            if part.targets:
                folder, name = posixpath.split(part.name)
                parts[posixpath.join(folder, "_rels", f"{name}.rels")] = self._rels(part)
        parts[_TYPES] = serialize(types)
        return written(parts)

    def _rels(self, part: _Part) -> bytes:
        from lxml import etree

        root = etree.Element(f"{{{_RELATIONSHIP}}}Relationships", nsmap=_as_default(_RELATIONSHIP))
        for key, target in part.targets.items():
            attributes = {"Id": key, "Type": _type_of(target.type)}
            attributes["Target"] = target.name if target.external else f"/{target.name}"
            if target.external:
                attributes["TargetMode"] = "External"
            etree.SubElement(root, f"{{{_RELATIONSHIP}}}Relationship", attributes)
        return serialize(root)


_RECORDINGS = (".mp4", ".mp3", ".m4a", ".wav", ".wmv", ".avi", ".mov", ".wma", ".m4v", ".webm")


def _as_default(namespace: str) -> dict[str, str]:
    """A namespace without a prefix, which the types of the library do not know."""
    return {cast("str", None): namespace}


def _type_of(kind: str) -> str:
    if kind == "diagramDrawing":
        return "http://schemas.microsoft.com/office/2007/relationships/diagramDrawing"
    return f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}"


def _authors(root: _Element) -> Iterator[str]:
    """Everybody whom a list of comments, or of their authors, names."""
    for element in root.iter():
        if local(element) in ("author", "cmAuthor", "person", "comment"):
            for name, value in element.attrib.items():
                if str(name).rpartition("}")[2] in ("author", "name", "displayName"):
                    yield str(value)
            if local(element) == "author":
                yield text_of(element)


def _instructions(root: _Element) -> Iterator[_Element]:
    """What of fields is not a result: their marks, and all that is between begin and separator."""
    marks, inside = [], []
    states: list[str] = []
    for element in root.iter():
        name = local(element)
        if name == "fldChar":
            marks.append(element)
            kind = next((str(v) for k, v in element.attrib.items() if "fldCharType" in str(k)), "")
            if kind == "begin":
                states.append("begin")
            elif states and kind == "separate":
                states[-1] = "separate"
            elif states and kind == "end":
                states.pop()
        elif "begin" in states and name in ("t", "tab", "br", "sym", "drawing", "pict", "object"):
            inside.append(element)
    # A field without an end would hide the rest of the document.
    yield from (*marks, *inside) if not states else marks


def _clean_element(element: _Element) -> None:
    """Clean one element of a document."""
    parent = element.getparent()
    if parent is None:
        return
    name, within = local(element), local(parent)
    if (within, name) in _REMOVED_CELLS:
        _drop_cell(parent)
    elif name in _DROPPED or name.endswith("Change"):
        drop(element)
    elif name in _UNWRAPPED:
        if name == "ins" and within in _PROPERTY_LISTS:
            drop(element)
        else:
            unwrap(element)
    elif name == "r" and _is_hidden(element):
        drop(element)
    else:
        drop_attributes(element, lambda key, _: key.startswith("rsid") or key == "author")


def _drop_cell(properties: _Element) -> None:
    """Drop the row or cell of a table that some properties are of, and what it leaves empty."""
    element = properties.getparent()
    while element is not None and local(element) in ("tr", "tc", "tbl"):
        parent = element.getparent()
        name = local(element)
        drop(element)
        if parent is None or any(local(one) == name for one in parent) or name == "tbl":
            return
        element = parent


def _is_hidden(run: _Element) -> bool:
    for properties in run:
        if local(properties) == "rPr":
            for one in properties:
                if local(one) == "vanish":
                    values = [str(v) for k, v in one.attrib.items() if str(k).endswith("val")]
                    return not values or values[0] not in _OFF
    return False


def _clean_sheet(root: _Element) -> None:
    """Take from a part of a workbook what is not shown, and what reads other files."""
    shared = set()
    for element in list(root.iter()):
        name = local(element)
        leads_out = name in ("f", "definedName") and _LEADS_OUT.search(element.text or "")
        if leads_out and element.get("t") == "shared":
            shared.add(element.get("si"))
        if name in _DROPPED_OF_SHEETS or leads_out:
            drop(element)
    for element in list(root.iter()) if shared else ():
        if local(element) == "f" and element.get("si") in shared:
            drop(element)
