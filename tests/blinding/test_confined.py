"""Parsers of strangers' files reach nothing else, and give what they give without a sandbox."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import TYPE_CHECKING

import pypdfium2
import pytest

from quem.blinding import drawing_worker, pdf_worker, workbooks
from quem.blinding.cleaning import clean_package
from quem.blinding.drawings import drawing_text, rasterized
from quem.blinding.images import clean_image, encode_image
from quem.blinding.office import prepare, read_office
from quem.blinding.pdf import page_image, read_pdf
from quem.blinding.workers import held
from quem.solutions.files import inspect
from tests.blinding.hostile import (
    ATTEMPTS,
    LANDLOCK,
    NEEDED,
    SECCOMP,
    attempt,
    in_container,
    surroundings,
)
from tests.blinding.planted import document
from tests.blinding.planted_images import METADATA
from tests.solutions.made import write_judged
from tests.webjudge.solving_sites import write_solving_study

if TYPE_CHECKING:
    from pathlib import Path

    Files = dict[str, str | bytes | None]

SVG = (
    "<svg xmlns='http://www.w3.org/2000/svg' width='90' height='30'><text y='20'>Seen</text></svg>"
)
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of Linux alone")


@linux
def test_a_worker_that_was_taken_over_reaches_nothing(tmp_path: Path) -> None:
    """What succeeds in an ordinary process fails in a confined one, which can still work."""
    if not (held()["landlock"] and held()["seccomp"]):
        pytest.skip("; ".join(held()["why"]))
    with surroundings(tmp_path) as around:
        assert [name for name, code in ATTEMPTS.items() if attempt(code, around)] == []
        assert [name for name, code in NEEDED.items() if not attempt(code, around)] == []
        free = {name for name, code in ATTEMPTS.items() if attempt(code, around, confined=False)}
        assert len(free) > 20  # not all are allowed to ordinary users


def test_pdfs_look_the_same(tmp_path: Path) -> None:
    """Pages and their texts are those that the libraries give in this process."""
    path = tmp_path / "a.pdf"
    document(b"BT /F1 14 Tf 20 160 Td (Same as ever) Tj ET", 2).save(path)
    pages = read_pdf(path).pages
    image, _ = page_image(path, 2)
    free = pypdfium2.PdfDocument(path)
    assert pages[1].text == pdf_worker.visible_text(free, 2, 144) == "Same as ever"
    assert image == pdf_worker.encoded(free, 2, 144)[0]


def test_drawings_and_images_look_the_same(tmp_path: Path) -> None:
    """Their pixels and texts are those that the libraries give in this process."""
    (tmp_path / "a.svg").write_text(SVG)
    drawn = rasterized(tmp_path / "a.svg")
    assert drawn == drawing_worker.draw({"redacted": []}, SVG.encode())[1]
    assert drawing_text(tmp_path / "a.svg") == "Seen"
    for raw in (METADATA["photo.jpg"](), METADATA["plot.png"](), METADATA["web.webp"]()):
        assert clean_image(raw)[0] == encode_image(raw)[0]


def test_workbooks_are_the_same(tmp_path: Path) -> None:
    """Tables are those that the libraries give in this process."""
    import openpyxl

    book = openpyxl.Workbook()
    book["Sheet"].append(["Heat pump", 12.5])
    out = io.BytesIO()
    book.save(out)
    path = tmp_path / "a.xlsx"
    path.write_bytes(out.getvalue())
    file = inspect(path, "a.xlsx", "a.xlsx")
    assert prepare([file]) == []
    free = workbooks.tables_of(path, clean_package(path).content)
    assert list(read_office(file).tables) == free


def test_nothing_is_parsed_outside(tmp_path: Path) -> None:
    """What parses strangers' files is loaded by workers alone."""
    study = write_judged(tmp_path, {"P1/S1.png": METADATA["plot.png"](), "P1/S2.svg": SVG})
    for name in ("S1", "S2"):
        (tmp_path / f"solutions/P1/{name}.md").unlink()
    code = (
        "import sys; from quem.studyfile.reading import draft_study; "
        "from quem.solutions import check_solutions; "
        f"check_solutions(draft_study({str(study)!r}), complete=True); print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert not loaded & {"PIL", "lxml", "openpyxl", "pikepdf", "pypdfium2", "resvg_py"}


@linux
@pytest.mark.parametrize("refused", [LANDLOCK, SECCOMP], ids=["Landlock", "seccomp"])
def test_check_says_where_there_is_no_sandbox(refused: str, tmp_path: Path) -> None:
    """A study with pictures is checked all the same, with one sentence."""
    files: Files = {"P1/S1.md": None, "P1/S1.png": METADATA["plot.png"]()}
    study = write_judged(tmp_path, files)
    command = in_container(refused, "-m", "quem", "check", str(study))
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "\nPDFs and drawings are parsed without a sandbox here: " in run.stdout
    free = subprocess.run(
        [sys.executable, "-m", "quem", "check", str(study)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "sandbox" not in free.stdout


@linux
def test_without_landlock_drawings_are_refused(tmp_path: Path) -> None:
    """A drawing would lose its text; a PDF is drawn."""
    pdf = io.BytesIO()
    document(b"BT /F1 14 Tf 20 160 Td (As ever) Tj ET").save(pdf)
    files: Files = {"P1/S1.md": None, "P1/S1.svg": SVG}
    files |= {"P1/S2.md": None, "P1/S2.pdf": pdf.getvalue()}
    study = write_judged(tmp_path, files)
    command = in_container(LANDLOCK, "-m", "quem", "check", str(study))
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"XDG_CACHE_HOME": str(tmp_path)}
    )
    assert run.returncode == 1
    assert "S1.svg: is an SVG, whose fonts" in run.stderr
    assert "S2.pdf" not in run.stderr


@linux
def test_no_uploads_without_a_sandbox(tmp_path: Path) -> None:
    """A session in which strangers upload files is not served, unless somebody trusts them."""
    study = write_solving_study(tmp_path)
    ask = (
        "import sys; from webjudge import open_site\n"
        "open_site(sys.argv[1], sandboxed=sys.argv[2] == 'yes').store.close()"
    )
    serve = in_container(SECCOMP, "-m", "quem", "serve", str(study), "--port", "0")
    run = subprocess.run(serve, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 1
    assert "lets subjects upload files" in run.stderr
    trusting = in_container(SECCOMP, "-c", ask, str(study), "no")
    subprocess.run(trusting, check=True, timeout=60)
