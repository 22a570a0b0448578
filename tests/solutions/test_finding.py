"""Finding solutions: which file is whose, and what is wrong, all at once."""

from __future__ import annotations

import io
import os
import unicodedata
from typing import TYPE_CHECKING

import pikepdf
import pytest

from tests.blinding.planted_office import zipped
from tests.examples import SOLVERS, study_with
from tests.solutions.made import found_in, image, messages, write_judged

if TYPE_CHECKING:
    from pathlib import Path

Files = dict[str, str | bytes | None]
Patch = pytest.MonkeyPatch
SVG = "<svg xmlns='http://www.w3.org/2000/svg' width='11' height='13'/>"  # drawn nowhere else


def pdf(password: str = "") -> bytes:
    document, out = pikepdf.new(), io.BytesIO()
    document.add_blank_page()
    locked = pikepdf.Encryption(owner=password, user=password) if password else False
    document.save(out, encryption=locked)
    return out.getvalue()


KINDS: dict[str, tuple[str | bytes, str]] = {
    "a.md": ("x", "markdown"),
    "b.MARKDOWN": ("x", "markdown"),
    "c.txt": ("é".encode("utf-16"), "text"),
    "d": ("x", "text"),
    "e.py": ("x", "code"),
    "f.csv": ("a,b", "code"),
    "g.whatever": ("x", "code"),
    "h.html": ("<p>x", "html"),
    "i.png": (image(), "image"),
    "j.JPG": (image("JPEG"), "image"),
    "k.gif": (image("GIF"), "image"),
    "l.webp": (image("WEBP"), "image"),
    "m.pdf": (pdf(), "pdf"),
}


def test_formats(tmp_path: Path) -> None:
    """A file's kind is told by its ending; any other text is code."""
    files: Files = {f"P1/S1/{name}": content for name, (content, _) in KINDS.items()}
    solutions, mistakes, _ = found_in(write_judged(tmp_path, {"P1/S1.md": None, **files}))
    assert mistakes == []
    kinds = {file.inner: file.kind for file in solutions.group("P1")["S1"].files}
    assert kinds == {name: kind for name, (_, kind) in KINDS.items()}


def test_ids_of_any_kind(tmp_path: Path) -> None:
    names = {"sys": "sys.md", "S1+sys": "S1+sys.md", "a b": "a b.txt", "v1.md": "v1.md"}
    names |= {"Zoë": unicodedata.normalize("NFD", "Zoë.md")}
    files: Files = {f"{one}/{name}": "x" for name in names.values() for one in ("P1", "P2")}
    files |= {"P1/gpt-4.1.md": "x", "P2/gpt-4.1/answer.md": "x"}
    files |= {"P1/gpt-4.2": "x", "P2/gpt-4.2.txt": "x"}
    ids = [*names, "gpt-4", "gpt-4.1", "gpt-4.2"]
    missing = [{"problem": problem, "solver": "gpt-4"} for problem in ("P1", "P2")]
    study = write_judged(tmp_path, files, systems=[{"id": one} for one in ids], missing=missing)
    solutions, mistakes, warnings = found_in(study)
    assert (mistakes, warnings) == ([], [])
    assert {*SOLVERS, *ids} - set(solutions.group("P1")) == {"gpt-4"}


def test_a_folder_is_one_solution(tmp_path: Path) -> None:
    inner = ["1 start.md", "2 middle.py", "10 end.md", "plots/a.png"]
    hidden = ("P1/S1/.DS_Store", "P1/S1/plots/Thumbs.db", "P1/S1/2 middle.py~", "P1/~$S1.docx")
    files: Files = {
        "P1/S1.md": None,
        **{f"P1/S1/{name}": image() if name.endswith("png") else "x" for name in reversed(inner)},
        **dict.fromkeys((*hidden, ".git/config", "__MACOSX/P1/S1.md"), b"\0"),
    }
    solutions, mistakes, warnings = found_in(write_judged(tmp_path, files))
    assert (mistakes, warnings) == ([], [])
    assert [file.inner for file in solutions.group("P1")["S1"].files] == inner


ENCRYPTED = {"content.xml": "", "META-INF/manifest.xml": "<encryption-data/>"}
# Of a solution that is one file.
REFUSED: list[tuple[str, str | bytes, str]] = [
    ("S1.md", "", ": is empty; put the solution into it"),
    ("S1.md", " \n\ufeff\n", ": is empty"),
    ("S1.md", image(), ": is in no format that can be shown"),
    ("S1.md", "\n\né".encode("latin-1"), ":3: is not UTF-8 text; save the solution"),
    ("S1.md", "x" * 1_000_001, ": is larger than 1 MB; make it smaller"),
    ("S1.svg", "<svg", ": is a broken file"),
    ("S1.doc", b"PK", ": is a document in an old format; save it"),
    ("S1.xlsm", b"x", ": can hold macros or templates; save it as XLSX"),
    ("S1.key", b"x", ": is a Keynote presentation; export it as PPTX or PDF"),
    ("S1.ods", b"PK", ": is a broken file; open it in the"),
    ("S1.docx", b"PK\x03\x04broken", ": is a broken file"),
    ("S1.docx", b"\xd0\xcf\x11\xe0" + bytes(600), ": has a password, or is in an older format"),
    ("S1.docx", zipped({"xl/workbook.xml": "<a/>"}), ": is named as DOCX but is none"),
    ("S1.odt", zipped(ENCRYPTED), ": has a password, or is in an older format"),
    ("S1.rtf", b"no rtf", ": is named as RTF but is none"),
    ("S1.zip", b"PK", ": is an archive; unpack it here"),
    ("S1.ipynb", "x", ": is not a notebook; save it again"),
    ("S1.ipynb", "{}", ": is not a notebook"),
    ("S1.ipynb", '{"nbformat": 4, "cells": [1]}', ": is not a notebook"),
    ("S1.ipynb", '{"worksheets": []}', ": is a notebook in an old format"),
    ("S1.ipynb", '{"nbformat": 3, "cells": []}', ": is a notebook in an old format"),
    ("S1.ipynb", '{"nbformat": 4, "cells": []}', ": is an empty notebook"),
    ("S1.tiff", b"II*", ": is a picture that browsers may"),
    ("S1.bin", bytes(range(256)), ": is in no format that can be shown; save it as Markdown"),
    ("S1.png", "x", ": is named as an image but is no"),
    ("S1.png", image()[:40], ": is a broken image; save"),
    ("S1.jpg", image("JPEG", (400, 400))[:700], ": is a broken image; save"),
    ("S1.pdf", "x", ": is named as a PDF but is none"),
    ("S1.pdf", "%PDF-1.7", ": is a broken PDF; save it"),
    ("S1.pdf", pdf("secret"), ": is a PDF with a password; save it without one"),
]
MISTAKES: list[tuple[Files, str]] = [
    *(({"P1/S1.md": None, f"P1/{name}": raw}, f"/P1/{name}{say}") for name, raw, say in REFUSED),
    ({"P1/S1.md": None}, "/P1: there is no solution of S1; put it here as S1.md"),
    ({"P1/S1.txt": "x"}, "/P1/S1.md: S1 has solutions/P1/S1.txt too; keep one"),
    ({"P1/S1/a.md": "x"}, "/P1/S1: S1 has solutions/P1/S1.md too"),
    ({"P1/S1.md": None, "P1/S1/.keep": ""}, "/P1/S1: is an empty folder"),
    ({"P1/S1.md": None, **{f"P1/S1/{i}": "x" for i in range(51)}}, "/P1/S1: holds 51 files; a"),
    ({"P1/S1.md": None, "P1/S1/a/b/c/d/e/f/g/h.md": "x"}, ": lies too deep; put its files"),
    ({f"P2/{one}.md": None for one in SOLVERS}, "problems[2]: there is no folder solutions/P2;"),
]


@pytest.mark.parametrize(("files", "part"), MISTAKES, ids=[part for _, part in MISTAKES])
def test_mistakes_name_place_and_remedy(files: Files, part: str, tmp_path: Path) -> None:
    (message,) = messages(write_judged(tmp_path, files))
    assert part in message


UNKNOWN = pdf().replace(b"%%EOF", b"% never drawn before\n%%EOF")


@pytest.mark.parametrize(
    ("able", "name", "content", "extra"),
    [
        ("pdf.can_draw", "S1.pdf", UNKNOWN, "pip install 'quem[pdf]'"),
        ("drawings.can_draw_svg", "S1.svg", SVG, "pip install 'quem[svg]'"),
    ],
)
def test_some_formats_need_an_extra(
    able: str, name: str, content: str | bytes, extra: str, tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(f"quem.blinding.{able}", lambda: False)
    (message,) = messages(write_judged(tmp_path, {"P1/S1.md": None, f"P1/{name}": content}))
    assert extra in message


def test_missing_solutions_are_declared(tmp_path: Path) -> None:
    missing = [{"problem": f"P{n}", "solver": f"S{n}"} for n in (1, 2)]
    study = write_judged(tmp_path, {"P1/S1.md": None, "P2/S2.md": None}, missing=missing)
    solutions, mistakes, _ = found_in(study)
    assert mistakes == []
    assert "S1" not in solutions.group("P1")
    (tmp_path / "solutions/P1/S1.md").write_text("x", encoding="utf-8")
    for complete in (True, False):
        (message,) = messages(study, complete=complete)
        assert "declares the solution of S1 missing, and here it is" in message


@pytest.mark.parametrize(
    ("folder", "part"),
    [
        ("elsewhere", "there is no folder 'elsewhere'; make one"),
        ("../outside", "'../outside' is not below the study's folder"),
        ("/etc", "'/etc' is not below the study's folder"),
        ("study.yaml", "'study.yaml' is a file; name the solutions' folder"),
    ],
)
def test_the_folder_lies_below_the_study(folder: str, part: str, tmp_path: Path) -> None:
    (message,) = messages(write_judged(tmp_path, solutions=folder))
    assert message.startswith("study.yaml:")
    assert part in message


def test_ids_that_are_no_names_of_files(tmp_path: Path) -> None:
    """An id leads nowhere: where judging needs a file of that name, it is a mistake."""
    ids = ["../S1", "/etc/passwd", "a/b", "a\\b", "..", ".hidden", "S1~"]
    subjects = study_with()["subjects"] + [{"id": one, "experience": 3} for one in ids]
    study = write_judged(tmp_path, {"/secret.md": "x"}, subjects=subjects)
    found = messages(study)
    for number, message in enumerate(found, 7):
        assert f"subjects[{number}].id: no file of solutions can be named" in message
    assert len(found) == len(ids)
    assert messages(study, complete=False) == []


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_links_stay_inside(tmp_path: Path) -> None:
    """A link may lead to another file of the solutions, and nowhere else; a pipe is none."""
    lacking: Files = {f"P1/S{n}.md": None for n in (1, 2, 4)}
    study = write_judged(tmp_path, {"/secret.md": "x", **lacking})
    folder = tmp_path / "solutions" / "P1"
    links = {"S1.md": "S3.md", "S2.md": "../../secret.md", "S9": "../../solutions"}
    for name, target in {**links, "S8.md": "gone.md"}.items():
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "S4.md")
    solutions, mistakes, _ = found_in(study)
    assert ("S1" in solutions.group("P1"), "S2" in solutions.group("P1")) == (True, False)
    text = " ".join(map(str, mistakes))
    assert "S2.md: is a link out of the folder of solutions" in text
    assert "S9: is a link out of the folder of solutions" in text
    assert "S8.md: is a link that leads nowhere" in text
    assert "S4.md: is not a regular file" in text


def test_strange_files_are_told(tmp_path: Path) -> None:
    """A file that fits nobody is a doubt, with the solver that was probably meant."""
    names = ("P1/sysm.md", "P1/S1.draft.md", "P3/S1.md", "README.md", "P2/new\nline\x1b[1m.md")
    _, mistakes, warnings = found_in(write_judged(tmp_path, dict.fromkeys(names, "x")))
    assert mistakes == []
    assert {doubt.code for doubt in warnings} == {"unknown-solution"}
    fits = "fits no declared"
    assert [doubt.message.partition("solutions/")[2] for doubt in warnings] == [
        f"P3 {fits} problem and is not shown",
        f"P1/S1.draft.md {fits} solver and is not shown",
        f"P1/sysm.md {fits} solver and is not shown; did you mean sys?",
        f"P2/new line [1m.md {fits} solver and is not shown",
    ]


def test_practice_is_by_anybody(tmp_path: Path) -> None:
    """Solvers of the practice problem need not be declared, and it is no ordinary problem."""
    files: Files = {"P0/one.md": "x", "P0/two/a.md": "x", "P0/two/b.png": image()}
    study = write_judged(tmp_path, files, judging={"practice": "P0"})
    solutions, mistakes, warnings = found_in(study)
    assert (mistakes, warnings) == ([], [])
    assert list(solutions.group("P0")) == list(solutions.practice) == ["one", "two"]
    assert "P0" not in solutions.by_problem
    (tmp_path / "solutions/P0/one.txt").write_text("x", encoding="utf-8")
    assert "one has" in messages(study)[0]


def test_texts_for_judges(tmp_path: Path) -> None:
    """Statements, briefing and consent are found, with the images that they show."""
    statement = "![a](maps/a%20b.png) <img src='c.gif'>\n\n[d]: d.png\n![e](../e.png) ![f](f.png)"
    pictures = ("texts/maps/a b.png", "texts/c.gif", "texts/d.png", "e.png", "texts/unused.png")
    files: Files = {f"/{name}": image(name[-3:].upper()) for name in pictures}
    files |= {"/texts/p1.md": statement, "/briefing.html": "<p>Hello", "/consent.txt": "Yes"}
    study = write_judged(
        tmp_path,
        files,
        problems=[{"id": "P1", "statement": "texts/p1.md"}, {"id": "P2"}],
        judging={"briefing": "briefing.html", "consent": "consent.txt"},
    )
    solutions, mistakes, _ = found_in(study)
    assert mistakes == []
    assert list(solutions.statements) == ["P1"]
    names = [file.inner for file in solutions.statements["P1"].files]
    assert names == ["p1.md", "maps/a b.png", "c.gif", "d.png"]
    sheets = [sheet for sheet in (solutions.briefing, solutions.consent) if sheet]
    assert [sheet.files[0].kind for sheet in sheets] == ["html", "text"]


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("gone.md", None, "there is no file 'gone.md'"),
        ("p.md", None, "there is no file 'p.md'; did you mean p1.md?"),
        ("p1.md", "", "p1.md: is empty; put the statement into it"),
        ("p1.md", b"\xe9", "p1.md:1: is not UTF-8 text; save the statement as UTF-8"),
        ("p1.pdf", b"%PDF-", "p1.pdf: is no statement in Markdown, plain text, or HTML"),
        ("solutions", None, "is a folder; name the statement inside it"),
        ("x" * 300 + ".md", None, "cannot be read: File name too long"),
    ],
)
def test_texts_have_to_be_there(
    name: str, content: str | bytes | None, part: str, tmp_path: Path
) -> None:
    problems = [{"id": "P1", "statement": name}, {"id": "P2"}]
    study = write_judged(tmp_path, {"/p1.md": "x", f"/{name}": content}, problems=problems)
    for complete in (True, False):
        (message,) = messages(study, complete=complete)
        assert part in message
