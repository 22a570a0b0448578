"""Workbooks as LibreOffice prints them: only some sheets, each as wide as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quem.blinding.packages import Package, local, serialize, written
from quem.blinding.workbooks import sheets_of

if TYPE_CHECKING:
    from pathlib import Path

    from lxml.etree import _Element


def sheets_to_print(path: Path, content: bytes, names: list[str]) -> bytes:
    """Give a workbook in XLSX, cleaned, whose other sheets are hidden."""
    from lxml import etree

    with Package(path, content) as package:
        parts = {name: package.read(name) for name in package.names}
        for name, part, _ in sheets_of(package):
            if name in names and part in parts:
                parts[part] = serialize(_fitted(package.tree(part)))
        book = package.tree("xl/workbook.xml")
    etree.strip_elements(book, "{*}bookViews")
    sheets = [one for one in book.iter() if local(one) == "sheet"]
    for sheet in sheets:
        sheet.set("state", "visible" if sheet.get("name") in names else "hidden")
    # A sheet that is open is shown even if it is hidden.
    opened = next(n for n, sheet in enumerate(sheets) if sheet.get("name") in names)
    space = str(book.tag).rpartition("}")[0]
    views = book.makeelement(f"{space}}}bookViews")
    etree.SubElement(views, f"{space}}}workbookView", activeTab=str(opened))
    next(one for one in book if local(one) == "sheets").addprevious(views)
    parts["xl/workbook.xml"] = serialize(book)
    return written(parts)


def _fitted(root: _Element) -> _Element:
    """A sheet that is printed one page wide."""
    from lxml import etree

    etree.strip_elements(root, "{*}sheetPr", "{*}pageSetup")
    space = str(root.tag).rpartition("}")[0]
    properties = root.makeelement(f"{space}}}sheetPr")
    etree.SubElement(properties, f"{space}}}pageSetUpPr", fitToPage="1")
    root.insert(0, properties)
    setup = {"orientation": "landscape", "paperSize": "9", "fitToWidth": "1", "fitToHeight": "0"}
    etree.SubElement(root, f"{space}}}pageSetup", setup)
    return root
