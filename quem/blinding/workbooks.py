"""Workbooks as tables in HTML: what a reader of the visible sheets sees of values."""

from __future__ import annotations

import io
import posixpath
import re
import warnings
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from quem.blinding.number_formats import formatted
from quem.blinding.packages import Package, drop, local, serialize, written
from quem.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from lxml.etree import _Element

_MOST_ROWS = 1_000
_MOST_COLUMNS = 50
_MOST_CELLS = 50_000
_LONGEST_CELL = 5_000
_HIGHEST_SPAN = 999
_LAST_COLUMN = 16_384
# Rows in which names of columns are looked for.
_LAST_HEAD = 5
_MOST_MERGED = 2_000
# What a cell says whose result is not stored; a page puts words in its place.
FORMULA = "\ue000formula\ue000"
_OFF = (None, "0", "false")
# Parts that tables do without: charts, pictures, and what leads to them.
_DRAWN = re.compile(r"xl/(?:worksheets/_rels|drawings|charts|media|diagrams)/", re.IGNORECASE)
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")


@dataclass(frozen=True)
class Table:
    """A visible sheet."""

    name: str  # of the sheet, which judges see
    html: str  # a table of what has values, to be sanitized; empty where no cell has any
    # How many more there are that are not shown
    rows: int = 0
    columns: int = 0
    formulas: int = 0  # how many cells hold a formula without a result


@dataclass
class _Extent:
    """Which cells of a sheet are shown, counted from 1."""

    hidden_columns: set[int] = field(default_factory=set)
    hidden_rows: set[int] = field(default_factory=set)
    rows: list[int] = field(default_factory=list)
    columns: set[int] = field(default_factory=set)
    more_rows: int = 0
    more_columns: int = 0
    formulas: set[str] = field(default_factory=set)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)

    @property
    def shown_rows(self) -> set[int]:
        """The rows that are shown, as a set."""
        return set(self.rows)


def lacks_results(path: Path, content: bytes) -> bool:
    """Whether a workbook has formulas whose results are not stored in it."""
    with Package(path, content) as package:
        for name in package.names:
            if posixpath.basename(posixpath.dirname(name)) == "worksheets":
                cells = (one for one in package.tree(name).iter() if local(one) == "c")
                if any(_lacks_result(cell) for cell in cells):
                    return True
    return False


def _lacks_result(cell: _Element) -> bool:
    kinds = {local(one): one for one in cell}
    if "f" not in kinds or cell.get("t") in ("str", "inlineStr"):
        return False
    return "v" not in kinds or not kinds["v"].text


def drawn_sheets(path: Path, content: bytes) -> list[str]:
    """Name the visible sheets that hold charts or pictures."""
    with Package(path, content) as package:
        return [
            name
            for name, part, is_hidden in _sheets(package)
            if not is_hidden and part in package and _is_drawn(package.tree(part))
        ]


def hidden_sheets(path: Path, content: bytes) -> int:
    """Count the sheets of a workbook in XLSX that are not shown."""
    with Package(path, content) as package:
        return sum(is_hidden for *_, is_hidden in _sheets(package))


def _is_drawn(root: _Element) -> bool:
    return any(local(child) == "drawing" for child in root)


def sheets_to_print(path: Path, content: bytes, names: list[str]) -> bytes:
    """Give a workbook whose other sheets are hidden, each sheet as wide as a page."""
    with Package(path, content) as package:
        parts = {name: package.read(name) for name in package.names}
        book = package.tree("xl/workbook.xml")
        sheets = [one for one in book.iter() if local(one) == "sheet"]
        for sheet in sheets:
            sheet.set("state", "visible" if sheet.get("name") in names else "hidden")
        # A sheet that is open is shown even if it is hidden.
        opened = next(n for n, sheet in enumerate(sheets) if sheet.get("name") in names)
        for one in [child for child in book if local(child) in ("bookViews", "definedNames")]:
            if local(one) == "bookViews":
                drop(one)
            for defined in [inner for inner in one if "Print_" in inner.get("name", "")]:
                # Printed areas may leave out charts.
                drop(defined)
            if not len(one):
                drop(one)
        namespace = str(book.tag).rpartition("}")[0]
        views = book.makeelement(f"{namespace}}}bookViews")
        views.append(book.makeelement(f"{namespace}}}workbookView", {"activeTab": str(opened)}))
        next(one for one in book if local(one) == "sheets").addprevious(views)
        parts["xl/workbook.xml"] = serialize(book)
        for name, part, _ in _sheets(package):
            if name in names and part in parts:
                parts[part] = serialize(_fitted(package.tree(part)))
    return written(parts)


def _fitted(root: _Element) -> _Element:
    """A sheet that is printed one page wide, and without empty lines of its grid."""
    namespace = str(root.tag).rpartition("}")[0]
    for one in [one for one in root if local(one) in ("sheetPr", "pageSetup")]:
        drop(one)
    properties = root.makeelement(f"{namespace}}}sheetPr")
    properties.append(root.makeelement(f"{namespace}}}pageSetUpPr", {"fitToPage": "1"}))
    root.insert(0, properties)
    setup = {"orientation": "landscape", "fitToWidth": "1", "fitToHeight": "0", "paperSize": "9"}
    last = [one for one in root if local(one) in _BEFORE_SETUP][-1]
    last.addnext(root.makeelement(f"{namespace}}}pageSetup", setup))
    return root


_BEFORE_SETUP = {
    *("sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData", "autoFilter"),
    *("sheetCalcPr", "sheetProtection", "sortState", "mergeCells", "phoneticPr"),
    *("conditionalFormatting", "printOptions", "pageMargins"),
}


def tables_of(path: Path, content: bytes) -> list[Table]:
    """Read a workbook."""
    from openpyxl import load_workbook

    try:
        content, extents = _trimmed(path, content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = load_workbook(io.BytesIO(content), data_only=True)
            return [_table(book[name], extent) for name, extent in extents.items()]
    except FileError:
        raise
    except Exception:  # noqa: BLE001  openpyxl raises whatever it stumbles over
        raise FileError(
            path, "is a broken workbook; open it in the program that wrote it, and save it again"
        ) from None


def _trimmed(path: Path, content: bytes) -> tuple[bytes, dict[str, _Extent]]:
    """The workbook without the cells that are not shown, and what is shown of each sheet."""
    extents: dict[str, _Extent] = {}
    left = _MOST_CELLS
    with Package(path, content) as package:
        names = [name for name in package.names if not _DRAWN.match(name)]
        parts = {name: package.read(name) for name in names}
        for title, part, is_hidden in _sheets(package):
            if part not in parts:
                continue
            root = package.tree(part)
            _number_cells(root)
            extent = _Extent() if is_hidden else _shown(root, left)
            _trim(root, extent)
            left -= len(extent.rows) * len(extent.columns)
            parts[part] = serialize(root)
            if not is_hidden:
                extents[title] = extent
    return written(parts), extents


def _sheets(package: Package) -> Iterator[tuple[str, str, bool]]:
    """Name, part, and whether it is hidden, of each sheet."""
    targets = {}
    for one in package.tree("xl/_rels/workbook.xml.rels"):
        target = posixpath.normpath(posixpath.join("/xl", one.get("Target", ""))).lstrip("/")
        targets[one.get("Id")] = target
    for sheet in package.tree("xl/workbook.xml").iter():
        if local(sheet) == "sheet":
            key = next((v for k, v in sheet.attrib.items() if str(k).endswith("}id")), None)
            is_hidden = sheet.get("state", "visible") != "visible"
            yield sheet.get("name", ""), targets.get(str(key), ""), is_hidden


def _trim(root: _Element, extent: _Extent) -> None:
    """Take from a sheet all but the cells that are shown."""
    keep = extent.shown_rows
    for child in list(root):
        if local(child) == "sheetData":
            for row in list(child):
                if _number(row) not in keep:
                    child.remove(row)
                    continue
                for column, cell in list(_cells(row)):
                    if column not in extent.columns:
                        row.remove(cell)
        elif local(child) != "sheetPr":
            drop(child)


def _number(row: _Element) -> int:
    number = row.get("r", "")
    return int(number) if number.isdecimal() else 0


def _number_cells(root: _Element) -> None:
    """Give rows and cells that do not say where they are the place behind those before them."""
    row_number = 0
    for row in (one for one in root.iter() if local(one) == "row"):
        row_number = _number(row) or row_number + 1
        row.set("r", str(row_number))
        column = 0
        for cell in row:
            match = _REFERENCE.fullmatch(cell.get("r", ""))
            column = _column(match[1]) if match else column + 1
            cell.set("r", f"{_letters(column)}{row_number}")


def _shown(root: _Element, left: int) -> _Extent:
    """Which rows and columns of a sheet are shown, and what more it has."""
    extent = _Extent()
    for column in (one for one in root.iter() if local(one) == "col"):
        if column.get("hidden") not in _OFF or column.get("width") in ("0", "0.0"):
            # A range of columns is one entry.
            first, last = (int(column.get(name, "0")) for name in ("min", "max"))
            extent.hidden_columns |= {*range(first, min(last, _LAST_COLUMN) + 1)}
    columns: set[int] = set()
    rows: list[int] = []
    for row in (one for one in root.iter() if local(one) == "row"):
        if row.get("hidden") not in _OFF or row.get("ht") in ("0", "0.0"):
            extent.hidden_rows.add(_number(row))
            continue
        used = {n for n, cell in _cells(row) if _holds(cell)} - extent.hidden_columns
        if used:
            rows.append(_number(row))
            columns |= used
    first = min(columns, default=1)
    every = sorted({*range(first, max(columns, default=0) + 1)} - extent.hidden_columns)
    extent.columns = set(every[:_MOST_COLUMNS])
    most = min(_MOST_ROWS, max(left, 0) // max(len(extent.columns), 1))
    extent.rows = sorted(set(rows[:most]))
    extent.more_rows = len(set(rows)) - len(extent.rows)
    extent.more_columns = len(every) - len(extent.columns)
    keep = extent.shown_rows
    extent.merged = list(_merged_ranges(root))
    for row in (one for one in root.iter() if local(one) == "row" and _number(one) in keep):
        lacking = (cell for _, cell in _cells(row) if _lacks_result(cell))
        extent.formulas |= {cell.get("r", "") for cell in lacking}
    return extent


def _merged_ranges(root: _Element) -> Iterator[tuple[int, int, int, int]]:
    """First and last row, first and last column of each merged range."""
    for merged in (one for one in root.iter() if local(one) == "mergeCell"):
        corners = [_REFERENCE.fullmatch(ref) for ref in merged.get("ref", "").split(":")]
        if len(corners) == 2 and corners[0] and corners[1]:  # noqa: PLR2004  a range
            (left, top), (right, bottom) = corners[0].groups(), corners[1].groups()
            yield int(top), int(bottom), _column(left), _column(right)


def _cells(row: _Element) -> Iterator[tuple[int, _Element]]:
    """The column of each cell of a row, counted from 1, and the cell."""
    for cell in row:
        if local(cell) == "c" and (match := _REFERENCE.fullmatch(cell.get("r", ""))):
            yield _column(match[1]), cell


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def _letters(column: int) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _holds(cell: _Element) -> bool:
    return any(local(one) == "f" or "".join(map(str, one.itertext())) for one in cell)


def _table(sheet: Any, extent: _Extent) -> Table:  # noqa: ANN401  a worksheet of openpyxl
    """A sheet as a table, from its first to its last row with a value."""
    rows = extent.rows
    if rows and rows[-1] - rows[0] < _MOST_ROWS:
        # Rows without values between others say what belongs together.
        rows = [n for n in range(rows[0], rows[-1] + 1) if n not in extent.hidden_rows]
    columns = sorted(extent.columns)
    spans, covered = _merged(extent, rows, columns)
    lines, formulas = [], 0
    for index, row in enumerate(rows):
        cells = [sheet.cell(row, column) for column in columns if (row, column) not in covered]
        shown = []
        is_head = len(cells) > 1 and index < _LAST_HEAD and all(map(_is_bold, cells))
        for cell in cells:
            lacking = cell.coordinate in extent.formulas
            formulas += lacking
            text = FORMULA if lacking else _text(cell)
            # The name of a column is where its numbers are.
            below = rows[index + 1] if is_head and index + 1 < len(rows) else row
            is_number = _is_number(sheet.cell(below, cell.column).value)
            span = spans.get((row, cell.column), (1, 1))
            shown.append(_cell(cell, text, span, is_head=is_head, is_number=is_number))
        lines.append(f"<tr>{''.join(shown)}</tr>")
    html = f"<table><tbody>{''.join(lines)}</tbody></table>" if lines else ""
    return Table(sheet.title, html, extent.more_rows, extent.more_columns, formulas)


def _is_bold(cell: Any) -> bool:  # noqa: ANN401  a cell of openpyxl
    return bool(cell.font and cell.font.b) and cell.value is not None


def _text(cell: Any) -> str:  # noqa: ANN401  a cell of openpyxl
    text = formatted(cell.value, cell.number_format or "General")
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"


def _is_number(value: object) -> bool:
    return not isinstance(value, str | None)


def _cell(
    cell: Any,  # noqa: ANN401  a cell of openpyxl
    text: str,
    span: tuple[int, int],
    *,
    is_head: bool,
    is_number: bool,
) -> str:
    name = "th" if is_head else "td"
    attributes = ' scope="col"' if is_head else ""
    sides = {"right": "right", "center": "center", "centerContinuous": "center"}
    horizontal = str(cell.alignment.horizontal or "general") if cell.alignment else "general"
    align = sides.get(horizontal, "right" if is_number and horizontal == "general" else "")
    attributes += f' align="{align}"' if align else ""
    for key, count in zip(("rowspan", "colspan"), span, strict=True):
        attributes += f' {key}="{min(count, _HIGHEST_SPAN)}"' if count > 1 else ""
    html = escape(text).replace("\n", "<br>")
    if html and not is_head and _is_bold(cell):
        html = f"<strong>{html}</strong>"
    return f"<{name}{attributes}>{html}</{name}>"


def _merged(
    extent: _Extent, rows: list[int], columns: list[int]
) -> tuple[Mapping[tuple[int, int], tuple[int, int]], set[tuple[int, int]]]:
    """How many shown rows and columns the first cell of each merged range spans, and the rest."""
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    covered: set[tuple[int, int]] = set()
    for top, bottom, left, right in extent.merged[:_MOST_MERGED]:
        inner_rows = rows[bisect_left(rows, top) : bisect_right(rows, bottom)]
        inner_columns = columns[bisect_left(columns, left) : bisect_right(columns, right)]
        cells = {(row, column) for row in inner_rows for column in inner_columns}
        if cells and not cells & covered:
            first = inner_rows[0], inner_columns[0]
            spans[first] = len(inner_rows), len(inner_columns)
            covered |= cells - {first}
    return spans, covered
