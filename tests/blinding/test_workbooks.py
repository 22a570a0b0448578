"""Workbooks become tables of what is visible in them, formatted as in a spreadsheet program."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl.styles import Font

from quem.blinding.cleaning import clean_package
from quem.blinding.markup import sanitize
from quem.blinding.workbooks import FORMULA, Table, formatted, tables_of
from quem.errors import FileError
from tests.blinding.planted_office import zipped
from tests.blinding.test_rendering import read

if TYPE_CHECKING:
    from pathlib import Path

MOMENT = datetime(2024, 3, 5, 14, 7, 9)  # noqa: DTZ001  cells know no time zone


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (1234.5, "#,##0.00", "1,234.50"),
        (-1234.5, "#,##0.00", "-1,234.50"),
        (0.256, "0.0%", "25.6%"),
        (-5, "0;(0)", "(5)"),
        (0, '0;-0;"none"', "none"),
        (5, ";;;", ""),
        ("text", ";;;", ""),
        ("text", "General", "text"),
        ("x", '@" kg"', "x kg"),
        (12, '0" kg"', "12 kg"),
        (12.5, "[$€-407] #,##0.00", "€ 12.50"),
        (5, '_-* #,##0.00\\ "€"_-', "5.00 €"),
        (2.5, "0", "3"),
        (0.1 + 0.2, "General", "0.3"),
        (10_000_000, "General", "10000000"),
        (1e20, "General", "1E+20"),
        (-0.001, "0.00", "0.00"),
        (True, "General", "TRUE"),
        (None, "0.00", ""),
        (2.5, "0.##", "2.5"),
        (1234567, '#,##0,"k"', "1234567"),
        (1.5, "# ?/?", "1.5"),
        (-5, '[>=1000]0.0,"k";0', "-5"),
        (MOMENT, "mm-dd-yy", "2024-03-05"),
        (MOMENT, "d. mmmm yyyy", "2024-03-05"),
        (MOMENT, "ddd, hh:mm:ss", "2024-03-05 14:07:09"),
        (MOMENT, ";;;", ""),
        (date(2024, 3, 5), "General", "2024-03-05"),
        (time(3, 4, 5), "h:mm:ss", "03:04:05"),
        (timedelta(hours=26, minutes=3), "[h]:mm", "26:03"),
    ],
)
def test_values_are_formatted(value: object, code: str, shown: str) -> None:
    assert formatted(value, code) == shown


SIGNS = st.sampled_from([*'0#?.,%;@/ -_*\\"[]hmsdyE+$e', "General", "[h]", "[>5]", "AM/PM", "yyyy"])
VALUES = st.one_of(
    st.floats(), st.integers(), st.text(), st.datetimes(), st.dates(), st.times(), st.booleans()
)


@given(VALUES, st.lists(SIGNS, max_size=12).map("".join))
@example(1e300, "[h]")
@example(-1e9, "yyyy")
def test_any_format_shows_any_value(value: object, code: str) -> None:
    assert isinstance(formatted(value, code), str)


def tables(path: Path, book: Any, edit: tuple[bytes, bytes] = (b"", b"")) -> list[Table]:  # noqa: ANN401  of openpyxl
    """The rendered tables of a workbook, with optional changes of its bytes."""
    out = io.BytesIO()
    book.save(out)
    with zipfile.ZipFile(out) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    parts = {name: raw.replace(*edit) if edit[0] else raw for name, raw in parts.items()}
    return tables_of(path, clean_package(path, zipped(parts)).content)


def cells(table: Table) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", table.html)
    return [re.findall(r"<t[dh][^>]*>(?:<strong>)?([^<]*)", row) for row in rows]


def test_only_what_is_visible_is_shown(tmp_path: Path) -> None:
    """Hidden sheets, rows, and ranges of columns are left out; gaps and order stay."""
    book: Any = openpyxl.Workbook()
    sheet = book.active
    for row in (1, 2, 3, 5, 6):
        for column, letter in enumerate("ABCDEF", 1):
            sheet.cell(row, column, f"{row}{letter}")
    sheet.column_dimensions.group("B", "D", hidden=True)
    sheet.row_dimensions[2].hidden = True
    sheet["F6"].number_format = ";;;"
    for state in ("hidden", "veryHidden"):
        other = book.create_sheet(state)
        other["A1"], other.sheet_state = "secret", state
    book.create_sheet("Last")["B2"] = "x"
    first, last = tables(tmp_path, book)
    assert (first.name, last.name) == ("Sheet", "Last")
    assert cells(first)[:2] == [["1A", "1E", "1F"], ["3A", "3E", "3F"]]
    assert cells(first)[2:] == [["", "", ""], ["5A", "5E", "5F"], ["6A", "6E", ""]]
    assert cells(last) == [["x"]]


def test_merged_cells_stay_merged(tmp_path: Path) -> None:
    """They span what is visible of them; names of columns are where their numbers are."""
    book: Any = openpyxl.Workbook()
    sheet = book.active
    for row in (["Title", None, None], ["Name", "Hidden", "Cost"], ["a <b>\nc", "x", 7]):
        sheet.append(row)
    sheet.merge_cells("A1:C1")
    sheet.column_dimensions["B"].hidden = True
    for cell in (sheet["A2"], sheet["B2"], sheet["C2"]):
        cell.font = Font(bold=True)
    # Programs refuse to merge as much as this, and strangers do not.
    more = b'<mergeCell ref="A5:XFD1048576"/></mergeCells>'
    (table,) = tables(tmp_path, book, (b"</mergeCells>", more))
    assert table.html == (
        '<table><tbody><tr><td colspan="2">Title</td></tr>'
        '<tr><th scope="col">Name</th><th scope="col" align="right">Cost</th></tr>'
        '<tr><td>a &lt;b&gt;<br>c</td><td align="right">7</td></tr></tbody></table>'
    )
    safe = read(sanitize(table.html, lambda _: None))
    assert ("td", {"colspan": "2"}) in safe.tags


def test_long_sheets_are_cut_and_counted(tmp_path: Path) -> None:
    """At most 1,000 rows, 50 columns, and 50,000 cells in all are shown; the others counted."""
    book: Any = openpyxl.Workbook()
    sheets = book.active, book.create_sheet("Second")
    for row in range(1_100):
        sheets[0].append([row])
    for column in range(60):
        sheets[0].cell(1, column + 1, column)
    sheets[1].append([1, 2])
    first, second = tables(tmp_path, book)
    assert (first.rows, first.columns, len(cells(first))) == (100, 10, 1_000)
    assert len(cells(first)[0]) == 50
    assert (second.rows, second.html) == (1, "")


def test_formulas_without_results_are_known(tmp_path: Path) -> None:
    book: Any = openpyxl.Workbook()
    book.active.append([1, "=A1+1"])
    (table,) = tables(tmp_path, book)
    assert cells(table) == [["1", FORMULA]]
    assert (table.formulas, table.drawn) == (1, False)


def test_a_broken_workbook_is_one_error(tmp_path: Path) -> None:
    parts = {"xl/workbook.xml": "<a/>", "xl/_rels/workbook.xml.rels": "<a/>"}
    with pytest.raises(FileError, match="broken"):
        tables_of(tmp_path, zipped(parts))
