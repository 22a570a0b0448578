"""Workbooks as HTML tables of the visible values."""

from __future__ import annotations

import io
import posixpath
import re
import warnings
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from quem.blinding.packages import Package, local, serialize, value_of, written
from quem.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lxml.etree import _Element

_MOST_ROWS, _MOST_COLUMNS, _MOST_CELLS = 1_000, 50, 50_000
_LONGEST_CELL = 5_000
_LAST_COLUMN = 16_384
# Rows that are searched for column names.
_LAST_HEAD = 5
_MOST_MERGED = 2_000
# Placeholder for a cell without a stored result.
FORMULA = "\ue000formula\ue000"
_OFF = (None, "0", "false")
_REFERENCE = re.compile(r"([A-Z]{1,3})[0-9]{1,7}")
_SECTIONS = re.compile(r';(?=(?:[^"]*"[^"]*")*[^"]*$)')
# Tokens of a number format: literal text, hidden parts, and the place of the value.
_PART = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].'
    r"|(?P<place>[#?0][#?0,]*(?:\.[#?0]*)?|General|@)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"\[[<>=]")
_DATE, _TIME = re.compile(r"[ymdhs]", re.IGNORECASE), re.compile(r"[hs]", re.IGNORECASE)
_BLACK, _WHITE, _USUAL_SIZE, _MOST_HIDDEN = "000000", "FFFFFF", 11, 10
_LONGEST_FORMAT, _LARGEST, _EXACT = 255, 10**15, Context(prec=1_000)


@dataclass(frozen=True)
class Table:
    """A visible sheet."""

    name: str
    html: str  # table of its values, to be sanitized; empty without values
    rows: int = 0  # omitted rows
    columns: int = 0
    formulas: int = 0  # cells without a stored result
    drawn: bool = False  # whether it has charts or pictures
    # Cells whose format hides their text: place and text.
    hidden: list[list[str]] = field(default_factory=list)


@dataclass
class _Grid:
    """The visible cells of a sheet, counted from 1."""

    rows: list[int]
    columns: list[int]
    more_rows: int
    more_columns: int
    lacking: set[tuple[int, int]]  # cells without a stored result
    spans: dict[tuple[int, int], tuple[int, int]]  # rows and columns of merged cells
    covered: set[tuple[int, int]]

    def merge(self, left: int, top: int, right: int, bottom: int) -> None:
        """Merge the visible cells of a range, unless another range overlaps."""
        rows = [n for n in self.rows if top <= n <= bottom]
        columns = [n for n in self.columns if left <= n <= right]
        cells = {(row, column) for row in rows for column in columns}
        if cells and cells.isdisjoint(self.covered):
            self.spans[rows[0], columns[0]] = len(rows), len(columns)
            self.covered |= cells - {(rows[0], columns[0])}


def tables_of(path: Path, content: bytes) -> list[Table]:
    """Read a cleaned XLSX workbook, up to a number of rows, columns, and cells."""
    from openpyxl import load_workbook

    tables, left = [], _MOST_CELLS
    try:
        with Package(path, content) as package, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            for name, part, is_hidden in sheets_of(package):
                if not is_hidden and part in package:
                    root = package.tree(part)
                    grid = _grid(root, left)
                    left -= len(grid.rows) * len(grid.columns)
                    drawn = any(local(one) == "drawing" for one in root)
                    tables.append(_table(book[name], grid, drawn=drawn))
    except FileError:
        raise
    except Exception:  # noqa: BLE001  openpyxl raises whatever it stumbles over
        message = "is a broken workbook; open it in the program that wrote it, and save it again"
        raise FileError(path, message) from None
    return tables


def sheets_of(package: Package) -> Iterator[tuple[str, str, bool]]:
    """Each sheet: its name, its part, and whether it is hidden."""
    targets = {
        one.get("Id", ""): posixpath.normpath(posixpath.join("/xl", one.get("Target", "")))
        for one in package.tree("xl/_rels/workbook.xml.rels")
    }
    for sheet in package.tree("xl/workbook.xml").iter("{*}sheet"):
        part = targets.get(value_of(sheet, "id"), "").lstrip("/")
        yield sheet.get("name", ""), part, sheet.get("state", "visible") != "visible"


def _grid(root: _Element, left: int) -> _Grid:
    """The visible rows and columns with values, up to a number of cells."""
    from openpyxl.utils import column_index_from_string, range_boundaries

    gone, hidden, lacking = set[int](), set[int](), set[tuple[int, int]]()
    for one in root.iter("{*}col"):
        if one.get("hidden") not in _OFF or one.get("width") in ("0", "0.0"):
            # A range of columns is one entry.
            last = min(int(one.get("max", "0")), _LAST_COLUMN)
            hidden |= {*range(int(one.get("min", "0")), last + 1)}
    used, number = dict[int, set[int]](), 0
    for row in root.iter("{*}row"):
        number, column = int(row.get("r") or number + 1), 0
        if row.get("hidden") not in _OFF or row.get("ht") in ("0", "0.0"):
            gone.add(number)
            continue
        for cell in row:
            place = _REFERENCE.fullmatch(cell.get("r", ""))
            column = column_index_from_string(place[1]) if place else column + 1
            parts = {local(one): "".join(map(str, one.itertext())) for one in cell}
            if column not in hidden and ("f" in parts or any(parts.values())):
                used.setdefault(number, set()).add(column)
                is_text = cell.get("t") in ("str", "inlineStr")
                if "f" in parts and not parts.get("v") and not is_text:
                    lacking.add((number, column))
    every = set[int]().union(*used.values())
    columns = sorted({*range(min(every, default=1), max(every, default=0) + 1)} - hidden)
    shown = columns[:_MOST_COLUMNS]
    rows = sorted(used)[: min(_MOST_ROWS, max(left, 0) // max(len(shown), 1))]
    more = len(used) - len(rows), len(columns) - len(shown)
    if rows and rows[-1] - rows[0] < _MOST_ROWS:
        # Blank rows between others mark groups.
        rows = [n for n in range(rows[0], rows[-1] + 1) if n not in gone]
    grid = _Grid(rows, shown, *more, lacking, {}, set())
    for one in islice(root.iter("{*}mergeCell"), _MOST_MERGED):
        grid.merge(*range_boundaries(one.get("ref", "")))
    return grid


def _table(sheet: Any, grid: _Grid, *, drawn: bool) -> Table:  # noqa: ANN401  of openpyxl
    """A sheet as a table, from its first to its last row with a value."""
    more = grid.more_rows, grid.more_columns
    if not grid.rows:
        return Table(sheet.title, "", *more, drawn=drawn)
    sides = grid.rows[0], grid.rows[-1], grid.columns[0], grid.columns[-1]
    wanted, lines, formulas = {*grid.rows}, [], 0
    rows = [
        (number, [cells[column - sides[2]] for column in grid.columns])
        for number, cells in enumerate(sheet.iter_rows(*sides), sides[0])
        if number in wanted
    ]
    for index, (number, cells) in enumerate(rows):
        is_head = len(cells) > 1 and index < _LAST_HEAD and all(map(_is_bold, cells))
        # Column names are aligned like their numbers.
        below = rows[index + 1][1] if is_head and index + 1 < len(rows) else cells
        shown = []
        for column, cell, other in zip(grid.columns, cells, below, strict=True):
            place = number, column
            if place in grid.covered:
                continue
            formulas += place in grid.lacking
            text = formatted(cell.value, cell.number_format or "General")
            text = text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"
            html = FORMULA if place in grid.lacking else escape(text).replace("\n", "<br>")
            name, attributes = ("th", ' scope="col"') if is_head else ("td", "")
            align = (cell.alignment and cell.alignment.horizontal) or "general"
            if align == "general" and not isinstance(other.value, str | None):
                align = "right"
            attributes += f' align="{align}"' if align in ("right", "center") else ""
            for key, count in zip(("rowspan", "colspan"), grid.spans.get(place, ()), strict=False):
                attributes += f' {key}="{count}"' if count > 1 else ""
            if html and not is_head and _is_bold(cell):
                html = f"<strong>{html}</strong>"
            shown.append(f"<{name}{attributes}>{html}</{name}>")
        lines.append(f"<tr>{''.join(shown)}</tr>")
    html = f"<table><tbody>{''.join(lines)}</tbody></table>"
    hidden = [
        [f"{sheet.title}!{cell.coordinate}", str(cell.value)]
        for _, cells in rows
        for cell in cells
        if cell.value is not None and _is_unseen(cell)
    ]
    return Table(sheet.title, html, *more, formulas, drawn, hidden[:_MOST_HIDDEN])


def _is_unseen(cell: Any) -> bool:  # noqa: ANN401  a cell of openpyxl
    """Whether a format hides a value: ink like paper, no section for it, or zero size."""
    code = (cell.number_format or "").replace(" ", "").replace('""', "")
    if code == ";;;" or (cell.font and (cell.font.sz or _USUAL_SIZE) <= 1):
        return True
    return _color(cell.font and cell.font.color, _BLACK) == _paper(cell.fill)


def _paper(fill: Any) -> str:  # noqa: ANN401  a fill of openpyxl
    is_solid = fill and fill.fill_type == "solid"
    return _color(fill.fgColor, "") if is_solid else _WHITE


def _color(color: Any, usual: str) -> str:  # noqa: ANN401  a color of openpyxl
    if color is None:
        return usual
    if color.type == "theme":
        return {0: _WHITE, 1: _BLACK}.get(color.theme, f"theme {color.theme} {color.tint}")
    return str(color.rgb)[-6:].upper() if color.type == "rgb" else f"color {color.indexed}"


def _is_bold(cell: Any) -> bool:  # noqa: ANN401  a cell of openpyxl
    return bool(cell.font and cell.font.b) and cell.value is not None


def formatted(value: object, code: str) -> str:
    """A value as its cell shows it: text, number, or percentage; dates in ISO 8601."""
    sections = _SECTIONS.split(code[:_LONGEST_FORMAT])
    if isinstance(value, str):
        # Only the fourth section, or a first one with its sign, applies to text.
        section = [*sections[3:], sections[0] if "@" in sections[0] else "@"][0]
        return _filled(section, value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _moment(value, _PART.sub("", sections[0])) if sections[0].strip() else ""
    which = 1 if value < 0 else 2 if value == 0 else 0
    section = sections[which if which < len(sections) else 0]
    number, rest = Decimal(str(value)), _PART.sub("", section)
    places = [one["place"] for one in _PART.finditer(section) if one["place"]]
    # Powers, fractions, thousands, and conditions are shown as plain numbers.
    is_odd = len(places) > 1 or any(place.endswith(",") for place in places)
    if is_odd or _CONDITION.search(code) or (not places and _DATE.search(rest)):
        return _digits(number, "General")
    shown = _filled(section, _digits(abs(number).scaleb(2 * rest.count("%")), "".join(places)))
    is_signed = value < 0 and section is sections[0] and re.search("[1-9]", shown)
    return f"-{shown}" if is_signed else shown


def _filled(section: str, text: str) -> str:
    """A section of a number format, filled in."""

    def part(match: re.Match[str]) -> str:
        literal = match["quoted"] or match["escaped"] or match["currency"] or ""
        return text if match["place"] else literal

    return _PART.sub(part, section).strip()


def _digits(number: Decimal, place: str) -> str:
    """A number with the decimals of its format, or in general format."""
    whole, _, decimals = place.partition(".")
    if whole.strip("#?0,") or not number.is_finite():
        is_whole = number == number.to_integral_value() and abs(number) < _LARGEST
        return str(int(number)) if is_whole else f"{float(number):.10g}".replace("e", "E")
    rounded = number.quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP, _EXACT)
    text = f"{rounded:,f}" if "," in whole else f"{rounded:f}"
    for _ in decimals.lstrip("0"):
        text = text.removesuffix("0")
    return text.removesuffix(".")


def _moment(value: object, code: str) -> str:
    """A date or time in ISO 8601, a duration in hours, or a boolean."""
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02d}" + (f":{seconds:02d}" if seconds else "")
    if isinstance(value, datetime) and not _TIME.search(code):
        return str(value.date())
    if isinstance(value, datetime | time):
        precision = "seconds" if value.second else "minutes"
        return value.isoformat(timespec=precision).replace("T", " ")
    return "" if value is None else str(value).upper()


def sheets_to_print(path: Path, content: bytes, names: list[str]) -> bytes:
    """The cleaned XLSX workbook with only some sheets visible."""
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
    # The active sheet is shown even if it is hidden.
    opened = next(n for n, sheet in enumerate(sheets) if sheet.get("name") in names)
    space = str(book.tag).rpartition("}")[0]
    views = book.makeelement(f"{space}}}bookViews")
    etree.SubElement(views, f"{space}}}workbookView", activeTab=str(opened))
    next(one for one in book if local(one) == "sheets").addprevious(views)
    parts["xl/workbook.xml"] = serialize(book)
    return written(parts)


def _fitted(root: _Element) -> _Element:
    """The sheet, scaled to one page width."""
    from lxml import etree

    etree.strip_elements(root, "{*}sheetPr", "{*}pageSetup")
    space = str(root.tag).rpartition("}")[0]
    properties = root.makeelement(f"{space}}}sheetPr")
    etree.SubElement(properties, f"{space}}}pageSetUpPr", fitToPage="1")
    root.insert(0, properties)
    setup = {"orientation": "landscape", "paperSize": "9", "fitToWidth": "1", "fitToHeight": "0"}
    etree.SubElement(root, f"{space}}}pageSetup", setup)
    return root
