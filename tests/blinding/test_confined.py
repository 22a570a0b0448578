"""Parsers of strangers' files reach nothing else, and give what they give without a sandbox."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import TYPE_CHECKING

import openpyxl
import pikepdf
import pypdfium2
import pytest

from quem.blinding import drawing_worker, pdf_worker, workbooks
from quem.blinding.cleaning import clean_package
from quem.blinding.drawings import drawing_text, rasterized
from quem.blinding.images import clean_image, encode_image
from quem.blinding.office import prepare, read_office
from quem.blinding.pdf import page_image, read_pdf
from quem.blinding.workers import held
from quem.errors import QuemError
from quem.solutions.files import image_problem, inspect
from tests.blinding import hostile
from tests.blinding.made import patterns
from tests.blinding.planted import HIDDEN, PLANTS, document, planted
from tests.blinding.planted_images import METADATA
from tests.solutions.made import write_judged
from tests.webjudge.solving_sites import write_solving_study
from webjudge import open_site

if TYPE_CHECKING:
    from pathlib import Path

SVG = (
    "<svg xmlns='http://www.w3.org/2000/svg' width='90' height='30'><text y='20'>Seen</text></svg>"
)
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of Linux alone")


@linux
def test_a_worker_that_was_taken_over_reaches_nothing(tmp_path: Path) -> None:
    """Attacks that succeed in an ordinary process fail in a confined one, which still works."""
    if not (held()["landlock"] and held()["seccomp"]):
        pytest.skip("; ".join(held()["why"]))
    with hostile.surroundings(tmp_path) as around:
        assert hostile.succeeding(hostile.ATTEMPTS, around) == set()
        assert hostile.succeeding(hostile.NEEDED, around) == set(hostile.NEEDED)
        # Not all are allowed to ordinary users.
        assert len(hostile.succeeding(hostile.ATTEMPTS, around, confined=False)) > 20


def test_workers_give_what_the_libraries_give_here(tmp_path: Path) -> None:
    path, out = tmp_path / "a.pdf", io.BytesIO()
    path.write_bytes(planted({**PLANTS, **HIDDEN}))
    with pikepdf.open(path) as pdf:
        entries = dict(pdf_worker.entries_of(pdf))
        pdf_worker.clean(pdf)
        pdf.save(out)
    free, known = pypdfium2.PdfDocument(out.getvalue()), patterns("ordinary")
    assert read_pdf(path).entries == entries
    for number, page in enumerate(read_pdf(path, known).pages, 1):
        assert page.texts == pdf_worker.visible_texts(free, number, 144, known)
        assert page.text in ("An [removed] plan", "An [removed] plan\nSeen")
    assert page_image(path, 2, known)[0] == pdf_worker.encoded(free, 2, 144, known)[0]
    path = tmp_path / "a.svg"
    path.write_text(SVG)
    assert rasterized(path) == drawing_worker.draw({"redacted": []}, SVG.encode())[1]
    assert drawing_text(path) == "Seen"
    for name in ("photo.jpg", "plot.png", "web.webp"):
        raw = METADATA[name]()
        assert clean_image(raw)[0] == encode_image(raw)[0]
        assert [bool(image_problem(some)) for some in (raw, raw[:60])] == [False, True]
    book, path = openpyxl.Workbook(), tmp_path / "a.xlsx"
    book["Sheet"].append(["Heat pump", 12.5])
    book.save(path)
    file = inspect(path, "a.xlsx", "a.xlsx")
    assert prepare([file]) == []
    assert list(read_office(file).tables) == workbooks.tables_of(path, clean_package(path).content)


@linux
@pytest.mark.parametrize(
    "refused", [hostile.LANDLOCK, hostile.SECCOMP], ids=["Landlock", "seccomp"]
)
def test_check_says_where_there_is_no_sandbox(refused: str, tmp_path: Path) -> None:
    """PDFs are drawn all the same; a drawing would lose its text where fonts cannot be opened."""
    pdf = io.BytesIO()
    document(b"BT /F1 14 Tf 20 160 Td (As ever) Tj ET").save(pdf)
    files = {"P1/S1.md": None, "P1/S1.svg": SVG, "P1/S2.md": None, "P1/S2.pdf": pdf.getvalue()}
    study = write_judged(tmp_path, files)
    command = hostile.in_container(refused, "-m", "quem", "check", str(study))
    own = {"XDG_CACHE_HOME": str(tmp_path)}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=own)
    assert ("S1.svg: is an SVG, whose fonts" in run.stderr) == (refused == hostile.LANDLOCK)
    assert "S2.pdf" not in run.stderr
    assert run.returncode == (refused == hostile.LANDLOCK)
    said = "\nPDFs and drawings are parsed without a sandbox here: " in run.stdout
    assert said == (refused == hostile.SECCOMP)


def test_no_uploads_without_a_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = write_solving_study(tmp_path)
    without = {"landlock": False, "seccomp": False, "why": ["of a test"]}
    monkeypatch.setattr("webjudge.site.held", lambda: without)
    with pytest.raises(QuemError, match="lets subjects upload files"):
        open_site(study)
    open_site(study, sandboxed=False).store.close()
