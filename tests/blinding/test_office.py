"""Of documents and workbooks judges receive what is meant to be seen, and nothing of makers."""

from __future__ import annotations

import io
import random
import re
import stat
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from quem.blinding import libreoffice, office, packages
from quem.blinding.libreoffice import convert
from quem.blinding.office import await_conversion, clean, prepare, read_office
from quem.blinding.pages import image_of, pages_of
from quem.errors import FileError, QuemError
from quem.solutions import SolutionFile, check_solutions
from quem.solutions.files import inspect
from quem.solutions.losses import losses_of
from quem.studyfile.reading import draft_study
from tests.blinding.planted import document
from tests.blinding.planted_office import BEGINNING, END, planted_office, simple_docx, zipped
from tests.blinding.searching import everything_in
from tests.office import lacking_office
from tests.trials.crawl import Names, count_without_cleaning
from tests.webjudge.sites import SUBJECTS, write_site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# What cleaning leaves in a package, though no judge sees it: pictures are drawn, hidden cells are
# needed to compute others, and what is beside a slide is no part of its page.
LEFT = {
    "docx": "EXIF",
    "pptx": "EXIF|beside the slide",
    "xlsx": "EXIF|hidden|formula|defined name|constant",
    "ods": "hidden",
    "rtf": ".*",
}


def solution(path: Path, content: bytes) -> SolutionFile:
    """Write a file, and check it as `quem check` does."""
    path.write_bytes(content)
    return inspect(path, str(path), path.name)


@pytest.mark.parametrize("form", ["docx", "pptx", "xlsx", "odt", "odp", "ods", "rtf"])
def test_a_cleaned_package_names_nobody(form: str, tmp_path: Path) -> None:
    """Neither properties nor comments, changes, links, or pictures in a package tell a maker."""
    names = Names(random.Random(7))
    raw = planted_office(names)[form]
    planted = {name for name, kind in names.meanings.items() if kind.startswith(f"{form} ")}
    assert names.found_in(raw) == planted
    left = names.found_in(clean(solution(tmp_path / f"x.{form}", raw)).content)
    kinds = {names.meanings[name] for name in left}
    assert {kind for kind in kinds if not re.search(LEFT.get(form, "$."), kind)} == set()


def test_enough_is_planted() -> None:
    """As many names as were counted when the formats were chosen, and more."""
    names = Names(random.Random(1))
    planted_office(names)
    kinds = names.meanings.values()
    counts = {form: sum(kind.startswith(f"{form} ") for kind in kinds) for form in LEFT}
    assert counts["xlsx"] >= 29
    assert counts["pptx"] >= 24
    assert sum(kind.startswith("docx ") for kind in kinds) >= 38
    assert sum(kind.startswith("odt ") for kind in kinds) >= 8


def test_without_cleaning_the_search_finds_names(tmp_path: Path) -> None:
    """The search that finds nothing on judges' pages finds what cleaning takes away."""
    if reason := lacking_office():
        pytest.skip(reason)
    assert count_without_cleaning(random.Random(0), tmp_path) >= 40


def _sheets(path: Path, fill: Callable[[Any], None]) -> SolutionFile:
    """A workbook of openpyxl, whose formulas have no results."""
    import openpyxl

    book: Any = openpyxl.Workbook()
    book.active.title = "Zebulon"
    fill(book)
    book.save(path)
    return inspect(path, str(path), path.name)


def _budget(book: Any) -> None:  # noqa: ANN401  of openpyxl
    from openpyxl.chart import BarChart, Reference

    sheet = book.active
    sheet.append(["Item", "Cost", "Share", "When"])
    for number in range(4):
        sheet.append([f"Item {number}", 1000.5 * number, f"=B{number + 2}/B6", 45_000])
        sheet.cell(number + 2, 2).number_format = "#,##0.00"
        sheet.cell(number + 2, 3).number_format = "0%"
        sheet.cell(number + 2, 4).number_format = "yyyy-mm-dd"
    sheet["A6"], sheet["B6"] = "Total", "=SUM(B2:B5)+Deep!A1"
    deep = book.create_sheet("Deep")
    deep["A1"], deep.sheet_state = 8, "veryHidden"
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=5), titles_from_data=True)
    sheet.add_chart(chart, "F2")


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401  what is unpacked
    """The one conversion of this module: a study, its solutions, mistakes, and warnings."""
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
    _sheets(group / f"{SUBJECTS[1]}.xlsx", _budget)
    broken = zipped({"[Content_Types].xml": "<a/>", "word/document.xml": "<a"})
    (group / f"{SUBJECTS[2]}.docx").write_bytes(broken)
    (group / f"{SUBJECTS[3]}.pptx").write_bytes(planted_office(str)["pptx"])
    reported: list[tuple[int, int]] = []
    solutions, mistakes, warnings = check_solutions(
        draft_study(study), complete=True, tell=lambda *counts: reported.append(counts)
    )
    files = {one.files[0].path.name: one.files[0] for one in solutions}
    return files, mistakes, warnings, reported


def test_one_bad_file_does_not_hide_the_others(checked: Any) -> None:  # noqa: ANN401
    """A file that cannot be read is one mistake; the others are converted, and that is told."""
    files, mistakes, _, reported = checked
    assert [(one.path.rpartition("/")[2], one.message) for one in mistakes] == [
        (f"{SUBJECTS[2]}.docx", packages.Package.broken)
    ]
    assert len(pages_of(files[f"{SUBJECTS[0]}.docx"])) == 3
    assert reported[0] == (0, 4)
    assert reported[-1] == (4, 4)
    assert reported == sorted(set(reported))


def test_visible_names_are_found_with_page_or_sheet(checked: Any) -> None:  # noqa: ANN401
    """A name in a text, in a header that is kept, and in the name of a sheet is told."""
    files, _, warnings, _ = checked
    pages, sheets = (
        str(files[f"{SUBJECTS[n]}.{end}"].path) for n, end in ((0, "docx"), (1, "xlsx"))
    )
    messages = [warning.message for warning in warnings if warning.code == "identity"]
    assert f'{pages}: page 1: "Quark", an identity word' in messages
    assert f"{sheets}: sheet 'Zebulon': \"Zebulon\", an identity word" in messages
    codes = {warning.code for warning in warnings}
    assert codes == {"identity", "formats-differ", "not-shown"}
    lost = [one.message for one in warnings if one.code == "not-shown"]
    assert any("1 hidden sheet is not shown" in message for message in lost)
    assert any("1 speaker note" in message and "1 hidden slide" in message for message in lost)


def test_workbooks_are_computed(checked: Any) -> None:  # noqa: ANN401
    """Formulas without results get them, also from hidden sheets, and values their formats."""
    files, *_ = checked
    (table,) = read_office(files[f"{SUBJECTS[1]}.xlsx"]).tables
    rows = re.findall(r"<tr>(.*?)</tr>", table.html)
    cells = [re.findall(r">([^<]*)</t[dh]>", row) for row in rows]
    assert cells[0] == ["Item", "Cost", "Share", "When"]
    assert cells[2] == ["Item 1", "1,000.50", "17%", "2023-03-15"]
    assert cells[5][:2] == ["Total", "6011"]
    assert table.formulas == 0
    # Its chart is on the image of a page.
    (page, *_) = pages_of(files[f"{SUBJECTS[1]}.xlsx"])
    assert page.width > page.height
    assert losses_of([files[f"{SUBJECTS[0]}.docx"]]) == []


def test_a_second_start_converts_nothing(checked: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    """What was converted is read from the cache, with its images."""
    files, *_ = checked
    office._cache._values.clear()  # noqa: SLF001  as after a restart
    monkeypatch.setattr(libreoffice, "convert", pytest.fail)
    good = [file for name, file in files.items() if SUBJECTS[2] not in name]
    assert prepare(good, tell=lambda *_: pytest.fail("it was converted again")) == []
    assert not await_conversion(good)
    assert image_of(files[f"{SUBJECTS[0]}.docx"], 2)[1] == "image/png"
    with pytest.raises(IndexError):
        image_of(files[f"{SUBJECTS[0]}.docx"], 4)


_FAKE = """#!{python}
import pathlib, signal, sys, time, os
if "--version" in sys.argv:
    print("LibreOffice 1.2.3"); sys.exit()
work = pathlib.Path(sys.argv[1].partition("file://")[2]).parent
with (work.parent / "runs").open("a") as runs:
    runs.write("x")
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


@pytest.fixture
def fake_office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in the place of LibreOffice that does what its files say."""
    program = tmp_path / "soffice"
    program.write_text(_FAKE.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(libreoffice, "find_office", lambda: str(program))


@pytest.mark.usefixtures("fake_office")
@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
def test_each_failure_is_that_of_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document without end, and one that crashes the converter, fail alone."""
    monkeypatch.setattr(libreoffice, "_SECONDS", 2)
    monkeypatch.setattr(libreoffice, "_SECONDS_A_FILE", 0)
    texts = ("good", "crash", "fine", "endless", "well", "unreadable", "nice")
    contents = {f"{n}.docx": text.encode() for n, text in enumerate(texts)}
    told: list[int] = []
    results = convert(contents, "pdf", sandboxed=False, tell=told.append)
    assert {texts[int(name[0])]: result for name, result in results.items()} == {
        **{text: text.encode() for text in ("good", "fine", "well", "nice")},
        "crash": libreoffice._CRASHED,  # noqa: SLF001  the sentence itself
        "endless": libreoffice._TOO_SLOW,  # noqa: SLF001
        "unreadable": libreoffice._UNREADABLE,  # noqa: SLF001
    }
    assert told[-1] == len(texts)


def _forged(content: bytes) -> bytes:
    """A package whose directory says that its parts are small."""
    out = bytearray(content)
    at = out.find(b"PK\x01\x02")
    while at >= 0:
        out[at + 24 : at + 28] = (10).to_bytes(4, "little")
        at = out.find(b"PK\x01\x02", at + 4)
    return bytes(out)


@pytest.mark.parametrize("forged", [False, True])
def test_bombs_are_refused(*, forged: bool, tmp_path: Path) -> None:
    """A file that unpacks to too much is refused by its directory, or while it is read."""
    raw = zipped({"word/document.xml": bytes(300_000_000)})
    assert len(raw) < 1_000_000
    path = tmp_path / "x.docx"
    if not forged:
        with pytest.raises(QuemError, match="unpacks to more than 200 MB"):
            solution(path, raw)
        return
    file = solution(path, _forged(raw))
    # A directory that lies ends reading early, which is a broken file.
    with pytest.raises(FileError, match=r"broken file|unpacks to"):
        clean(file)


def test_parts_are_counted(tmp_path: Path) -> None:
    """More parts than any program writes are a bomb; of two with one name the first counts."""
    parts: dict[str, str | bytes] = {f"word/{n}.xml": "" for n in range(5_001)}
    with pytest.raises(QuemError, match="5,000 parts"):
        solution(tmp_path / "many.docx", zipped(parts))
    out = io.BytesIO(simple_docx("kept text"))
    with zipfile.ZipFile(out, "a") as package, pytest.warns(UserWarning, match="Duplicate"):
        package.writestr("word/document.xml", "<a>Zebulon</a>")
    cleaned = everything_in(clean(solution(tmp_path / "x.docx", out.getvalue())).content)
    assert b"kept text" in cleaned
    assert b"Zebulon" not in cleaned


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.docx", b"\xd0\xcf\x11\xe0" + bytes(600), "has a password, or is in an older format"),
        ("a.docx", b"PK\x03\x04broken", "is a broken file"),
        ("a.docx", zipped({"xl/workbook.xml": "<a/>"}), "is named as DOCX but is none"),
        ("a.rtf", b"no rtf", "is named as RTF but is none"),
        (
            "a.odt",
            zipped({"content.xml": "", "META-INF/manifest.xml": "<encryption-data/>"}),
            "save it without a password as ODT",
        ),
        ("a.doc", b"x", "save it as DOCX"),
        ("a.xlsm", b"x", "save it as XLSX"),
        ("a.key", b"x", "export it as PPTX or PDF"),
    ],
)
def test_what_cannot_be_shown_has_a_remedy(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    """Old formats, passwords, and other files under the name of one are refused."""
    with pytest.raises(QuemError, match=message):
        solution(tmp_path / name, content)


def _some(folder: Path) -> list[SolutionFile]:
    files = [solution(folder / f"{n}.docx", simple_docx(f"text {n}")) for n in range(3)]
    files.append(solution(folder / "a.odt", planted_office(str)["odt"]))
    files.append(_sheets(folder / "w.xlsx", _budget))
    return files


def test_a_missing_program_is_one_error_for_each_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names command and packages; workbooks are shown, as far as results are stored."""
    monkeypatch.setattr(libreoffice, "find_office", str)
    files = _some(tmp_path)
    mistakes = prepare(files)
    assert len(mistakes) == 2
    assert mistakes[0].path.endswith("0.docx (and 2 more .docx files)")
    for word in ("soffice", "apt-get install", "libreoffice-math-nogui", "brew", "winget"):
        assert word in mistakes[0].message
    (table,) = read_office(files[-1]).tables
    assert table.formulas == 5
    warnings = {loss.warning.code: loss.warning.message for loss in losses_of(files[-1:])}
    assert "5 formulas have no stored result" in warnings["formula-without-result"]
    assert "charts and pictures of 'Zebulon'" in warnings["not-shown"]
    with pytest.raises(FileError, match="not converted yet"):
        read_office(files[0])


def test_without_a_closed_network_nothing_is_converted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes a word of the organizer, and RTF, which is not cleaned first, not even that."""
    monkeypatch.setattr(libreoffice, "find_office", lambda: "/bin/false")
    monkeypatch.setattr(libreoffice, "office_version", lambda: "9")
    monkeypatch.setattr(libreoffice, "is_sandboxed", lambda: False)
    files = _some(tmp_path)
    mistakes = prepare(files)
    assert len(mistakes) == 3
    assert all("--unsandboxed" in mistake.message for mistake in mistakes)
    rtf = solution(tmp_path / "a.rtf", planted_office(str)["rtf"])
    (mistake,) = prepare([rtf], sandboxed=False)
    assert "save it as DOCX" in mistake.message


def test_missing_libraries_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that installs them is in the message."""
    monkeypatch.setattr(office, "find_spec", lambda _: None)
    (mistake,) = prepare([solution(tmp_path / "a.docx", simple_docx("x"))])
    assert "pip install 'quem[office]'" in mistake.message


def test_hidden_things_stay_hidden_in_texts(tmp_path: Path) -> None:
    """A field without an end does not hide the rest; a header goes unless it is kept."""
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
    raw = simple_docx(BEGINNING, begin, END, header="Quark")
    file = solution(tmp_path / "x.docx", raw)
    cleaned = clean(file)
    content = everything_in(cleaned.content)
    assert BEGINNING.encode() in content
    assert END.encode() in content
    assert b"Quark" not in content
    assert cleaned.lost == {"header or footer": 1}
    kept = SolutionFile(file.path, file.kind, file.name, file.inner, keep_headers=True)
    assert b"Quark" in everything_in(clean(kept).content)


def test_drawings_lead_nowhere(tmp_path: Path) -> None:
    """Of a picture in SVG all goes that leads out of it."""
    raw = (
        b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink">'
        b'<script>a</script><title>Zebulon</title><image x:href="http://h.example/a.png"/>'
        b'<style>@import "http://h.example"</style><rect fill="url(http://h.example#a)"/>'
        b'<use href="#a"/><image href="data:image/png;base64,AA"/></svg>'
    )
    cleaned = packages.clean_drawing(tmp_path, raw)
    assert b"h.example" not in cleaned
    assert b"Zebulon" not in cleaned
    assert b'href="#a"' in cleaned
    assert b"data:image/png" in cleaned


def test_a_pdf_of_too_many_pages_is_told_of_its_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes wrong behind the conversion names the file that was handed in."""
    out = io.BytesIO()
    document(n_pages=501).save(out)
    file = solution(tmp_path / "a.docx", simple_docx("very long"))
    monkeypatch.setattr(libreoffice, "find_office", lambda: "/bin/true")
    monkeypatch.setattr(libreoffice, "office_version", lambda: "9")
    monkeypatch.setattr(libreoffice, "is_sandboxed", lambda: True)

    def made(contents: Any, *_: object, **__: object) -> dict[str, bytes]:  # noqa: ANN401
        return dict.fromkeys(contents, out.getvalue())

    monkeypatch.setattr(libreoffice, "convert", made)
    (mistake,) = prepare([file])
    assert (mistake.path, mistake.message[:13]) == (str(file.path), "has 501 pages")
    # It is known from then on.
    monkeypatch.setattr(libreoffice, "convert", pytest.fail)
    assert prepare([file]) == [mistake]
