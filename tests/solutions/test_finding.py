"""Finding solutions: which file is whose, and what is wrong, all at once."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import unicodedata
from typing import TYPE_CHECKING

import pikepdf
import pytest

from tests.examples import PROBLEMS, SOLVERS, study_with
from tests.solutions.made import found_in, image, messages, write_judged

if TYPE_CHECKING:
    from pathlib import Path

Files = dict[str, str | bytes | None]
SUBJECTS = study_with()["subjects"]


def pdf(password: str = "") -> bytes:
    """Give the bytes of a PDF with one page."""
    document = pikepdf.new()
    document.add_blank_page()
    out = io.BytesIO()
    locked = pikepdf.Encryption(owner=password, user=password) if password else False
    document.save(out, encryption=locked)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("S1.md", "x", "markdown"),
        ("S1.MARKDOWN", "x", "markdown"),
        ("S1.txt", "x", "text"),
        ("S1", "x", "text"),
        ("S1.py", "x", "code"),
        ("S1.csv", "a,b", "code"),
        ("S1.whatever", "x", "code"),
        ("S1.html", "<p>x", "html"),
        ("S1.png", image(), "image"),
        ("S1.JPG", image("JPEG"), "image"),
        ("S1.gif", image("GIF"), "image"),
        ("S1.webp", image("WEBP"), "image"),
        ("S1.pdf", pdf(), "pdf"),
        ("S1.txt", "é".encode("utf-16"), "text"),
    ],
)
def test_formats(name: str, content: str | bytes, kind: str, tmp_path: Path) -> None:
    """A file's kind is told by its ending; any other text is code."""
    solutions, mistakes, _ = found_in(
        write_judged(tmp_path, {"P1/S1.md": None, f"P1/{name}": content})
    )
    assert mistakes == []
    assert [file.kind for file in solutions.group("P1")["S1"].files] == [kind]


@pytest.mark.parametrize(
    ("solver", "name"),
    [
        ("gpt-4.1", "gpt-4.1.md"),
        ("gpt-4.1", "gpt-4.1"),
        ("gpt-4.1", "gpt-4.1/answer.md"),
        ("S1+sys", "S1+sys.md"),
        ("a b", "a b.txt"),
        ("Zoë", unicodedata.normalize("NFD", "Zoë.md")),
        ("v1.md", "v1.md"),
    ],
)
def test_ids_of_any_kind(solver: str, name: str, tmp_path: Path) -> None:
    """Dots, spaces, signs and accents in an id are no matter."""
    study = write_judged(
        tmp_path,
        {f"{problem}/{name}": "x" for problem in PROBLEMS},
        systems=[{"id": "sys"}, {"id": "gpt-4"}, {"id": solver}],
        missing=[{"problem": problem, "solver": "gpt-4"} for problem in PROBLEMS],
    )
    solutions, mistakes, warnings = found_in(study)
    assert (mistakes, warnings) == ([], [])
    assert solver in solutions.group("P1")
    assert "gpt-4" not in solutions.group("P1")


def test_a_folder_is_one_solution(tmp_path: Path) -> None:
    """A folder's files are one solution, in the order in which people count."""
    files: Files = {
        "P1/S1.md": None,
        "P1/S1/10 end.md": "x",
        "P1/S1/2 middle.py": "x",
        "P1/S1/1 start.md": "x",
        "P1/S1/plots/a.png": image(),
        "P1/S1/.DS_Store": b"\0",
        "P1/S1/plots/Thumbs.db": b"\0",
        "P1/S1/2 middle.py~": "old",
        "P1/~$S1.docx": b"\0",
        ".git/config": "x",
        "__MACOSX/P1/S1.md": "x",
    }
    solutions, mistakes, warnings = found_in(write_judged(tmp_path, files))
    assert (mistakes, warnings) == ([], [])
    inner = [file.inner for file in solutions.group("P1")["S1"].files]
    assert inner == ["1 start.md", "2 middle.py", "10 end.md", "plots/a.png"]


CUT_PHOTO = image("JPEG", (400, 400))[:700]
MISTAKES: dict[str, tuple[Files, str]] = {
    "lacking": (
        {"P1/S1.md": None},
        "solutions/P1: there is no solution of S1; put it here as S1.md",
    ),
    "two files": (
        {"P1/S1.txt": "x"},
        "solutions/P1/S1.md: S1 has solutions/P1/S1.txt too; keep one, or put all into a folder",
    ),
    "file and folder": ({"P1/S1/a.md": "x"}, "solutions/P1/S1: S1 has solutions/P1/S1.md too"),
    "empty": ({"P1/S1.md": ""}, "solutions/P1/S1.md: is empty; put the solution into it"),
    "blank": ({"P1/S1.md": " \n\ufeff\n"}, "solutions/P1/S1.md: is empty"),
    "empty folder": ({"P1/S1.md": None, "P1/S1/.keep": ""}, "solutions/P1/S1: is an empty folder"),
    "svg": (
        {"P1/S1.md": None, "P1/S1.svg": "<svg"},
        "solutions/P1/S1.svg: is a broken file",
    ),
    "word": (
        {"P1/S1.md": None, "P1/S1.doc": b"PK"},
        "S1.doc: is a document in an old format; save it",
    ),
    "workbook": (
        {"P1/S1.md": None, "P1/S1.ods": b"PK"},
        "S1.ods: is a broken file; open it in the",
    ),
    "archive": ({"P1/S1.md": None, "P1/S1.zip": b"PK"}, "S1.zip: is an archive; unpack it here"),
    "notebook": (
        {"P1/S1.md": None, "P1/S1.ipynb": "{}"},
        "S1.ipynb: is not a notebook; save it again",
    ),
    "tiff": ({"P1/S1.md": None, "P1/S1.tiff": b"II*"}, "S1.tiff: is a picture that browsers may"),
    "binary": (
        {"P1/S1.md": None, "P1/S1.bin": bytes(range(256))},
        "solutions/P1/S1.bin: is in no format that can be shown; save it as Markdown",
    ),
    "image as text": ({"P1/S1.md": image()}, "S1.md: is in no format that can be shown"),
    "latin": (
        {"P1/S1.md": "\n\né".encode("latin-1")},
        "S1.md:3: is not UTF-8 text; save the solution",
    ),
    "text as image": (
        {"P1/S1.md": None, "P1/S1.png": "x"},
        "S1.png: is named as an image but is no",
    ),
    "broken image": (
        {"P1/S1.md": None, "P1/S1.png": image()[:40]},
        "S1.png: is a broken image; save",
    ),
    "cut photo": ({"P1/S1.md": None, "P1/S1.jpg": CUT_PHOTO}, "S1.jpg: is a broken image; save"),
    "text as pdf": ({"P1/S1.md": None, "P1/S1.pdf": "x"}, "S1.pdf: is named as a PDF but is none"),
    "broken pdf": ({"P1/S1.md": None, "P1/S1.pdf": "%PDF-1.7"}, "S1.pdf: is a broken PDF; save it"),
    "locked pdf": (
        {"P1/S1.md": None, "P1/S1.pdf": pdf("secret")},
        "S1.pdf: is a PDF with a password; save it without one",
    ),
    "long": (
        {"P1/S1.md": "x" * 1_000_001},
        "solutions/P1/S1.md: is larger than 1 MB; make it smaller",
    ),
    "many": (
        {"P1/S1.md": None, **{f"P1/S1/{i}.md": "x" for i in range(51)}},
        "solutions/P1/S1: holds 51 files; a judge can look at 50 at most",
    ),
    "deep": ({"P1/S1.md": None, "P1/S1/a/b/c/d/e/f/g/h.md": "x"}, "lies too deep; put its files"),
    "no problem": (
        {f"P2/{solver}.md": None for solver in SOLVERS},
        "problems[2]: there is no folder solutions/P2; make it, with a file for each solver",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_name_place_and_remedy(case: str, tmp_path: Path) -> None:
    """What cannot be shown is told once, with its path and what to do."""
    files, part = MISTAKES[case]
    (message,) = messages(write_judged(tmp_path, files))
    assert part in message


def test_a_pdf_needs_what_draws_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, a PDF is refused with the advice to install it."""
    monkeypatch.setattr("quem.blinding.pdf.can_draw", lambda: False)
    unknown = pdf().replace(b"%%EOF", b"% never drawn before\n%%EOF")
    (message,) = messages(write_judged(tmp_path, {"P1/S1.md": None, "P1/S1.pdf": unknown}))
    assert message.endswith("pip install 'quem[pdf]'")


def test_missing_solutions_are_declared(tmp_path: Path) -> None:
    """What is declared missing may lack, and must not be there."""
    missing = [
        {"problem": "P1", "solver": "S1", "reason": "failed"},
        {"problem": "P2", "solver": "S2"},
    ]
    study = write_judged(tmp_path, {"P1/S1.md": None, "P2/S2.md": None}, missing=missing)
    solutions, mistakes, _ = found_in(study)
    assert mistakes == []
    assert "S1" not in solutions.group("P1")
    (tmp_path / "solutions/P1/S1.md").write_text("x", encoding="utf-8")
    for complete in (True, False):
        (message,) = messages(study, complete=complete)
        assert "declares the solution of S1 missing, and here it is; remove one" in message


@pytest.mark.parametrize(
    ("folder", "part"),
    [
        (
            "elsewhere",
            "there is no folder 'elsewhere'; make one that holds a folder for each problem",
        ),
        ("../outside", "'../outside' is not below the study's folder"),
        ("/etc", "'/etc' is not below the study's folder"),
        ("study.yaml", "'study.yaml' is a file; name the solutions' folder"),
    ],
)
def test_the_folder_lies_below_the_study(folder: str, part: str, tmp_path: Path) -> None:
    """The folder of solutions is one of the study's own."""
    (message,) = messages(write_judged(tmp_path, solutions=folder))
    assert message.startswith("study.yaml:")
    assert part in message


@pytest.mark.parametrize("solver", ["../S1", "/etc/passwd", "a/b", "a\\b", "..", ".hidden", "S1~"])
def test_ids_that_are_no_names_of_files(solver: str, tmp_path: Path) -> None:
    """An id leads nowhere: where judging needs a file of that name, it is a mistake."""
    subjects = [*SUBJECTS, {"id": solver, "experience": 3}]
    study = write_judged(tmp_path, {"/secret.md": "x"}, subjects=subjects)
    (message,) = messages(study)
    assert "subjects[7].id: no file of solutions can be named" in message
    assert messages(study, complete=False) == []


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_links_stay_inside(tmp_path: Path) -> None:
    """A link may lead to another file of the solutions, and nowhere else."""
    study = write_judged(tmp_path, {"P1/S1.md": None, "/secret.md": "x", "P1/S2.md": None})
    folder = tmp_path / "solutions" / "P1"
    (folder / "S1.md").symlink_to("S3.md")
    (folder / "S2.md").symlink_to(tmp_path / "secret.md")
    (folder / "S9").symlink_to(tmp_path / "solutions")
    (folder / "S8.md").symlink_to("gone.md")
    solutions, mistakes, _ = found_in(study)
    assert "S1" in solutions.group("P1")
    assert "S2" not in solutions.group("P1")
    text = " ".join(map(str, mistakes))
    assert "S2.md: is a link out of the folder of solutions" in text
    assert "S9: is a link out of the folder of solutions" in text
    assert "S8.md: is a link that leads nowhere" in text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_a_pipe_is_no_solution(tmp_path: Path) -> None:
    """What might never end is refused, and not waited for."""
    study = write_judged(tmp_path, {"P1/S1.md": None, "P1/S2.md": None})
    os.mkfifo(tmp_path / "solutions/P1/S1.md")
    os.mkfifo(tmp_path / "solutions/P1/S2.png")
    assert ["not a regular file" in message for message in messages(study)] == [True, True]


def test_strange_files_are_told(tmp_path: Path) -> None:
    """A file that fits nobody is a doubt, with the solver that was probably meant."""
    files = {
        "P1/sysm.md": "x",
        "P1/S1.draft.md": "x",
        "P3/S1.md": "x",
        "README.md": "x",
        "P2/new\nline\x1b[1m.md": "x",
    }
    _, mistakes, warnings = found_in(write_judged(tmp_path, files))
    assert mistakes == []
    assert {doubt.code for doubt in warnings} == {"unknown-solution"}
    places = [doubt.message.partition("solutions/")[2] for doubt in warnings]
    assert places == [
        "P3 fits no declared problem and is not shown",
        "P1/S1.draft.md fits no declared solver and is not shown",
        "P1/sysm.md fits no declared solver and is not shown; did you mean sys?",
        "P2/new line [1m.md fits no declared solver and is not shown",
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
    files: Files = {
        "/texts/p1.md": statement,
        "/texts/maps/a b.png": image(),
        "/texts/c.gif": image("GIF"),
        "/texts/d.png": image(),
        "/e.png": image(),
        "/texts/unused.png": image(),
        "/briefing.html": "<p>Hello",
        "/consent.txt": "Yes",
    }
    study = write_judged(
        tmp_path,
        files,
        problems=[{"id": "P1", "statement": "texts/p1.md"}, {"id": "P2"}],
        judging={"briefing": "briefing.html", "consent": "consent.txt"},
    )
    solutions, mistakes, _ = found_in(study)
    assert mistakes == []
    names = [file.inner for file in solutions.statements["P1"].files]
    assert names == ["p1.md", "maps/a b.png", "c.gif", "d.png"]
    assert list(solutions.statements) == ["P1"]
    assert solutions.briefing
    assert solutions.consent
    assert [sheet.files[0].kind for sheet in (solutions.briefing, solutions.consent)] == [
        "html",
        "text",
    ]


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
)  # fmt: skip
def test_texts_have_to_be_there(
    name: str, content: str | bytes | None, part: str, tmp_path: Path
) -> None:
    """A statement that does not exist or is no text is a mistake, for any study."""
    files: Files = {"/p1.md": "x", f"/{name}": content}
    study = write_judged(tmp_path, files, problems=[{"id": "P1", "statement": name}, {"id": "P2"}])
    for complete in (True, False):
        (message,) = messages(study, complete=complete)
        assert part in message


def test_stays_light(tmp_path: Path) -> None:
    """Finding solutions in text loads nothing that a judging server should not hold."""
    study = write_judged(tmp_path)
    code = (
        "import sys; from quem.studyfile.reading import draft_study; "
        "from quem.solutions import find_solutions; "
        f"find_solutions(draft_study({str(study)!r}), complete=True); "
        "print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert loaded & {"numpy", "pandas", "flask", "PIL", "pikepdf", "sqlalchemy"} == set()
