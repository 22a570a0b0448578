"""Of documents and workbooks judges receive what is meant to be seen, and nothing of makers."""

from __future__ import annotations

import io
import random
import re
import stat
import sys
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference

from quem.blinding import libreoffice, office, packages
from quem.blinding.cleaning import clean_package
from quem.blinding.copies import clean_copy
from quem.blinding.libreoffice import convert
from quem.blinding.office import await_conversion, clean, prepare, read_office
from quem.blinding.pages import image_of, pages_of
from quem.errors import FileError, QuemError
from quem.solutions import Solution, SolutionFile, check_solutions
from quem.solutions.losses import losses_of
from quem.studyfile.reading import draft_study
from tests.blinding.made import written
from tests.blinding.planted import document
from tests.blinding.planted_office import BEGINNING, END, planted_office, simple_docx, zipped
from tests.blinding.searching import everything_in
from tests.office import lacking_office
from tests.trials.crawl import Names
from tests.webjudge.sites import SUBJECTS, write_site

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# How many names are planted at least, and what cleaning leaves in a package, though no judge sees
# it: pictures are drawn, hidden cells are needed to compute others, and what is beside a slide is
# no part of its page.
PLANTED = {
    "docx": (38, "EXIF"),
    "pptx": (24, "EXIF|beside the slide"),
    "xlsx": (29, "EXIF|hidden|formula|defined name|constant"),
    "odt": (15, "$."),
    "odp": (8, "$."),
    "ods": (9, "hidden"),
    "rtf": (8, ".*"),
}


@pytest.mark.parametrize("form", PLANTED)
def test_a_cleaned_package_names_nobody(form: str, tmp_path: Path) -> None:
    names = Names(random.Random(7))
    raw = planted_office(names)[form]
    planted = {name for name, kind in names.meanings.items() if kind.startswith(f"{form} ")}
    assert names.found_in(raw) == planted
    least, left = PLANTED[form]
    assert len(planted) >= least
    file = written(tmp_path, f"x.{form}", raw)
    # The worker's steps on a package run in this process.
    cleaned = clean(file) if form == "rtf" else clean_package(file.path)
    found = names.found_in(cleaned.content)
    kinds = {names.meanings[name] for name in found}
    assert {kind for kind in kinds if not re.search(left, kind)} == set()


def budget(folder: Path, name: str) -> SolutionFile:
    book: Any = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Zebulon"
    sheet.append(["Item", "Cost", "Share", "When"])
    for row in range(2, 6):
        sheet.append([f"Item {row - 2}", 1000.5 * (row - 2), f"=B{row}/B6", 45_000])
        for column, code in enumerate(("#,##0.00", "0%", "yyyy-mm-dd"), 2):
            sheet.cell(row, column).number_format = code
    sheet["A6"], sheet["B6"] = "Total", "=SUM(B2:B5)+Deep!A1"
    deep = book.create_sheet("Deep")
    deep["A1"], deep.sheet_state = 8, "veryHidden"
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=5), titles_from_data=True)
    sheet.add_chart(chart, "F2")
    out = io.BytesIO()
    book.save(out)
    return written(folder, name, out.getvalue())


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401  what is unpacked
    """The one conversion of this module: a study's files, mistakes, warnings, and progress."""
    if reason := lacking_office():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("office")
    judging = "{identity_words: [Zebulon, Quark, Wolper], keep_headers: true}"
    study = write_site(folder, problems=1, judging=judging)
    group = folder / "solutions" / "P1"
    for subject in SUBJECTS:
        (group / f"{subject}.md").unlink()
    pages = simple_docx("First", "\fSecond", "\fThird by Wolper", header="Made by Quark")
    (group / f"{SUBJECTS[0]}.docx").write_bytes(pages)
    budget(group, f"{SUBJECTS[1]}.xlsx")
    broken = zipped({"[Content_Types].xml": "<a/>", "word/document.xml": "<a"})
    (group / f"{SUBJECTS[2]}.docx").write_bytes(broken)
    (group / f"{SUBJECTS[3]}.pptx").write_bytes(planted_office(str)["pptx"])
    told: list[tuple[int, int]] = []
    solutions, mistakes, warnings = check_solutions(
        draft_study(study), complete=True, tell=lambda *counts: told.append(counts)
    )
    files = {one.files[0].path.name: one.files[0] for one in solutions}
    endings = ("docx", "xlsx", "docx", "pptx")
    made = [files[f"{SUBJECTS[n]}.{ending}"] for n, ending in enumerate(endings) if n != 2]
    return made, mistakes, warnings, told


def test_one_bad_file_does_not_hide_the_others(checked: Any) -> None:  # noqa: ANN401
    (pages, *_), mistakes, _, told = checked
    assert [(one.path.rpartition("/")[2], one.message) for one in mistakes] == [
        (f"{SUBJECTS[2]}.docx", packages.Package.broken)
    ]
    assert len(pages_of(pages)) == 3
    assert (told[0], told[-1]) == ((0, 4), (4, 4))
    assert told == sorted(set(told))
    copies = clean_copy(Solution("P1", "S1", (pages,)))
    assert list(copies) == [f"01-page-00{n}.png" for n in (1, 2, 3)]
    assert copies["01-page-001.png"] == image_of(pages, 1)[0]


def test_visible_names_are_found_with_page_or_sheet(checked: Any) -> None:  # noqa: ANN401
    (pages, sheets, *_), _, warnings, _ = checked
    told = {(one.code, one.message) for one in warnings}
    assert {code for code, _ in told} == {"identity", "formats-differ", "not-shown"}
    assert ("identity", f'{pages.path}: page 1: "Quark", an identity word') in told
    sheet = f"{sheets.path}: sheet 'Zebulon': \"Zebulon\", an identity word"
    assert ("identity", sheet) in told
    lost = " ".join(message for code, message in told if code == "not-shown")
    for what in ("1 hidden sheet is not shown", "1 speaker note", "1 hidden slide"):
        assert what in lost


def test_workbooks_are_computed(checked: Any) -> None:  # noqa: ANN401
    (pages, sheets, *_), *_ = checked
    (table,) = read_office(sheets).tables
    rows = re.findall(r"<tr>(.*?)</tr>", table.html)
    cells = [re.findall(r">([^<]*)</t[dh]>", row) for row in rows]
    assert cells[0] == ["Item", "Cost", "Share", "When"]
    assert cells[2] == ["Item 1", "1,000.50", "17%", "2023-03-15"]
    assert cells[5][:2] == ["Total", "6011"]
    assert table.formulas == 0
    # Its chart is on the image of a page.
    (page, *_) = pages_of(sheets)
    assert page.width > page.height
    assert losses_of([pages]) == []


def test_a_second_start_converts_nothing(checked: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    files, *_ = checked
    office._cache._values.clear()  # noqa: SLF001  as after a restart
    monkeypatch.setattr(libreoffice, "convert", pytest.fail)
    assert prepare(files, tell=lambda *_: pytest.fail("it was converted again")) == []
    assert not await_conversion(files)
    assert image_of(files[0], 2)[1] == "image/png"
    with pytest.raises(IndexError):
        image_of(files[0], 4)


_FAKE = """#!{python}
import pathlib, signal, sys, time, os
if "--version" in sys.argv:
    print("LibreOffice 1.2.3"); sys.exit()
work = pathlib.Path(sys.argv[1].partition("file://")[2]).parent
if not (work / "profile" / "made").exists():
    (work / "profile" / "made").write_text("")
    sys.exit(81)
out = pathlib.Path(sys.argv[sys.argv.index("--outdir") + 1])
for path in map(pathlib.Path, sys.argv[sys.argv.index("--outdir") + 2:]):
    text = path.read_bytes()
    target = out / (path.stem + ".pdf")
    if b"endless" in text:
        target.write_bytes(b"half")
        time.sleep(60)
    if b"crash" in text:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"unreadable" not in text:
        target.write_bytes(text)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
def test_each_failure_is_that_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "soffice"
    program.write_text(_FAKE.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(libreoffice, "find_office", lambda: str(program))
    monkeypatch.setattr(libreoffice, "_SECONDS", 2)
    monkeypatch.setattr(libreoffice, "_SECONDS_A_FILE", 0)
    texts = ("good", "crash", "fine", "endless", "well", "unreadable", "nice")
    contents = {f"{n}.docx": text.encode() for n, text in enumerate(texts)}
    told: list[int] = []
    results = convert(contents, "pdf", sandboxed=False, tell=told.append)
    made = {texts[int(name[0])]: result for name, result in results.items()}
    failed = [made.pop(text) for text in ("crash", "endless", "unreadable")]
    assert made == {text: text.encode() for text in ("good", "fine", "well", "nice")}
    assert len({str(reason) for reason in failed}) == 3
    assert all(isinstance(reason, str) for reason in failed)
    assert told[-1] == len(texts)


def forged(content: bytes) -> bytes:
    return re.sub(rb"(?s)(PK\x01\x02.{20}).{4}", rb"\1" + (10).to_bytes(4, "little"), content)


def test_bombs_are_refused(tmp_path: Path) -> None:
    raw = zipped({"word/document.xml": bytes(210_000_000)})
    assert len(raw) < 1_000_000
    with pytest.raises(QuemError, match="unpacks to more than 200 MB"):
        written(tmp_path, "x.docx", raw)
    # A directory that lies ends reading early, which is a broken file.
    with pytest.raises(FileError, match=r"broken file|unpacks to"):
        clean(written(tmp_path, "x.docx", forged(raw)))


def test_parts_are_counted(tmp_path: Path) -> None:
    """More parts than any program writes are a bomb; of two with one name the first counts."""
    with pytest.raises(QuemError, match="5,000 parts"):
        written(tmp_path, "many.docx", zipped({f"word/{n}.xml": "" for n in range(5_001)}))
    out = io.BytesIO(simple_docx("kept text"))
    with zipfile.ZipFile(out, "a") as package, pytest.warns(UserWarning, match="Duplicate"):
        package.writestr("word/document.xml", "<a>Zebulon</a>")
    cleaned = everything_in(clean(written(tmp_path, "x.docx", out.getvalue())).content)
    assert b"kept text" in cleaned
    assert b"Zebulon" not in cleaned


@pytest.fixture
def some(tmp_path: Path) -> list[SolutionFile]:
    files = [written(tmp_path, f"{n}.docx", simple_docx(f"text {n}")) for n in range(3)]
    files.append(written(tmp_path, "a.odt", planted_office(str)["odt"]))
    return [*files, budget(tmp_path, "w.xlsx")]


def test_a_missing_program_is_one_error_for_each_format(
    some: list[SolutionFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names command and packages; workbooks are shown, as far as results are stored."""
    monkeypatch.setattr(libreoffice, "find_office", str)
    mistake, other = prepare(some)
    assert mistake.path.endswith("0.docx (and 2 more .docx files)")
    assert other.path.endswith("a.odt")
    for word in ("soffice", "apt-get install", "libreoffice-math-nogui", "brew", "winget"):
        assert word in mistake.message
    (table,) = read_office(some[-1]).tables
    assert table.formulas == 5
    warnings = {loss.warning.code: loss.warning.message for loss in losses_of(some[-1:])}
    assert "5 formulas have no stored result" in warnings["formula-without-result"]
    assert "charts and pictures of 'Zebulon'" in warnings["not-shown"]
    with pytest.raises(FileError, match="not converted yet"):
        read_office(some[0])


def with_office(monkeypatch: pytest.MonkeyPatch, *, sandboxed: bool) -> None:
    monkeypatch.setattr(libreoffice, "find_office", lambda: "/bin/false")
    monkeypatch.setattr(libreoffice, "office_version", lambda: "9")
    monkeypatch.setattr(libreoffice, "is_sandboxed", lambda: sandboxed)


def test_without_a_closed_network_nothing_is_converted(
    some: list[SolutionFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes a word of the organizer, and RTF, which is not cleaned first, not even that."""
    with_office(monkeypatch, sandboxed=False)
    assert ["--unsandboxed" in mistake.message for mistake in prepare(some)] == [True] * 3
    rtf = written(tmp_path, "a.rtf", planted_office(str)["rtf"])
    (mistake,) = prepare([rtf], sandboxed=False)
    assert "save it as DOCX" in mistake.message
    monkeypatch.setattr(office, "find_spec", lambda _: None)
    assert "pip install 'quem[office]'" in prepare(some[:1])[0].message


def test_hidden_things_stay_hidden_in_texts(tmp_path: Path) -> None:
    """A field without an end does not hide the rest; a header goes unless it is kept."""
    begin = '<r><fldChar w:fldCharType="begin"/></r>'
    file = written(tmp_path, "x.docx", simple_docx(BEGINNING, begin, END, header="Quark"))
    cleaned = clean(file)
    content = everything_in(cleaned.content)
    words = [word in content for word in (BEGINNING.encode(), END.encode(), b"Quark")]
    assert words == [True, True, False]
    assert cleaned.lost == {"header or footer": 1}
    assert b"Quark" in everything_in(clean(replace(file, keep_headers=True)).content)


def test_drawings_lead_nowhere(tmp_path: Path) -> None:
    raw = (
        b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink">'
        b'<script>a</script><title>Zebulon</title><image x:href="http://h.example/a.png"/>'
        b'<style>@import "http://h.example"</style><rect fill="url(http://h.example#a)"/>'
        b'<use href="#a"/><image href="data:image/png;base64,AA"/></svg>'
    )
    cleaned = packages.clean_drawing(tmp_path, raw)
    words = (b"h.example", b"Zebulon", b'href="#a"', b"data:image/png")
    assert [word in cleaned for word in words] == [False, False, True, True]


def test_a_pdf_of_too_many_pages_is_told_of_its_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors after the conversion name the original file."""
    out = io.BytesIO()
    document(n_pages=501).save(out)
    file = written(tmp_path, "a.docx", simple_docx("very long"))
    with_office(monkeypatch, sandboxed=True)

    def made(contents: Mapping[str, bytes], *_: object, **__: object) -> dict[str, bytes]:
        return dict.fromkeys(contents, out.getvalue())

    monkeypatch.setattr(libreoffice, "convert", made)
    (mistake,) = prepare([file])
    assert (mistake.path, mistake.message[:13]) == ("a.docx", "has 501 pages")
    # It is known from then on.
    monkeypatch.setattr(libreoffice, "convert", pytest.fail)
    assert prepare([file]) == [mistake]
