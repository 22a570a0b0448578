"""Of PDFs judges receive images of pages and the text that can be seen, and nothing else."""

from __future__ import annotations

import os
import shutil
import stat
import zlib
from typing import TYPE_CHECKING, Any

import pikepdf
import pytest
from pikepdf import Array, Name
from pikepdf import Dictionary as Keys

from quem.blinding import cache, pdf
from quem.blinding.pdf import page_image, read_pdf
from quem.errors import FileError
from quem.solutions import check_solutions
from quem.solutions.checking import unasked
from quem.studyfile.reading import draft_study
from tests.blinding.made import opened, patterns
from tests.blinding.planted import document
from tests.webjudge.sites import SUBJECTS, write_site

if TYPE_CHECKING:
    from pathlib import Path


def saved(path: Path, made: pikepdf.Pdf, **options: Any) -> Path:  # noqa: ANN401  of pikepdf
    made.save(path, **options)
    return path


def signed(path: Path) -> Path:
    """A document whose third page names somebody in text, in a field and in a stamp."""
    doc = document(n_pages=3)
    page = doc.pages[2]
    text = b"BT /F1 14 Tf 20 160 Td (written by Zebu) Tj ET BT /F1 14 Tf 116 160 Td (lon) Tj ET"
    page.obj.Contents = doc.make_stream(text)
    fonts = Keys(Font=page.obj.Resources.Font)
    look = doc.make_stream(b"BT /F1 14 Tf 2 5 Td (seen by Quark) Tj ET", Subtype=Name.Form)
    look.BBox, look.Resources = [0, 0, 200, 20], fonts
    stamp = Keys(Subtype=Name.Stamp, Rect=[20, 20, 220, 40], AP=Keys(N=look))
    field = Keys(Subtype=Name.Widget, FT=Name.Tx, T="f", V="Wolper", Rect=[20, 60, 200, 90])
    field.DA = "/F1 14 Tf 0 g"
    page.obj.Annots = Array([doc.make_indirect(stamp), doc.make_indirect(field)])
    doc.Root.AcroForm = Keys(Fields=[page.obj.Annots[1]], DR=fonts, NeedAppearances=True)
    return saved(path, doc)


def test_a_visible_name_is_found_with_its_page(tmp_path: Path) -> None:
    words = "{identity_words: [Zebulon, Quark, Wolper]}"
    study = write_site(tmp_path, problems=1, judging=words)
    (tmp_path / "solutions" / "P1" / f"{SUBJECTS[0]}.md").unlink()
    path = signed(tmp_path / "solutions" / "P1" / f"{SUBJECTS[0]}.pdf")
    _, mistakes, warnings = check_solutions(draft_study(study), complete=True)
    assert mistakes == []
    messages = [doubt.message for doubt in warnings if doubt.code == "identity"]
    assert sorted(messages) == [
        f'{path}: page 3: "{word}", an identity word' for word in ("Quark", "Wolper", "Zebulon")
    ]
    assert page_image(path, 3) != page_image(path, 2)


@pytest.mark.parametrize(
    ("content", "text", "rest"),
    [
        (
            "(of the Zebulon-) Tj 0 -24 Td (method) Tj",
            "of the Zebulonmethod",
            "of the [removed]method",
        ),
        ("(by Zebu-) Tj 0 -24 Td (lon today) Tj", "by Zebulon today", "by [removed] today"),
        (".95 g (Zebulon) Tj 0 g ( says) Tj", "says", "[removed] says"),
        (".99 g (Zebulon) Tj 0 g ( says) Tj", "says", "[removed] says"),
        ("(Zeb) Tj .95 g (x) Tj 0 g (ulon says) Tj", "Zebulon says", "[removed] says"),
    ],
    ids=["before a hyphen", "broken", "gray", "hardly gray", "gray between"],
)
def test_all_readings_of_a_page_are_searched(
    tmp_path: Path, content: str, text: str, rest: str
) -> None:
    """Judges can copy the clear one; what is redacted is covered in the image as well."""
    study = write_site(tmp_path, problems=1, judging="{identity_words: [Zebulon]}")
    (tmp_path / "solutions" / "P1" / f"{SUBJECTS[0]}.md").unlink()
    made = document(f"BT /F1 14 Tf 20 160 Td {content} ET".encode())
    path = saved(tmp_path / "solutions" / "P1" / f"{SUBJECTS[0]}.pdf", made)
    _, _, warnings = check_solutions(draft_study(study), complete=True)
    found = [doubt.message for doubt in warnings if doubt.code == "identity"]
    assert found == [f'{path}: page 1: "Zebulon", an identity word']
    (page,), (redacted,) = read_pdf(path).pages, read_pdf(path, patterns("Zebulon")).pages
    assert (page.text, redacted.text) == (text, rest)
    assert not any("ulon" in reading for reading in redacted.texts)
    image = opened(page_image(path, 1, patterns("Zebulon"))[0]).convert("L")
    assert image.tobytes().count(128) > 1000


def test_pages_without_text_are_told(tmp_path: Path) -> None:
    study = write_site(tmp_path, problems=1)
    folder = tmp_path / "solutions" / "P1"
    (folder / f"{SUBJECTS[0]}.md").unlink()
    scan = document(n_pages=3)
    scan.pages[1].obj.Contents = scan.make_stream(b"9 9 99 99 re f")
    path = saved(folder / f"{SUBJECTS[0]}.pdf", scan)
    draft = draft_study(study)
    solutions, *_ = check_solutions(draft, complete=True)
    assert draft.spec
    assert unasked(solutions, draft.spec).unsearched == [f"{path}: page 2"]


def test_text_is_read_as_it_stands(tmp_path: Path) -> None:
    text = b"BT /F1 10 Tf 30 150 Td (Well, gpt-4_x costs 5.0; I think!) Tj 0 -20 Td (Next) Tj ET\n"
    text += b"BT /F1 60 Tf 30 30 Td (IllI) Tj ET 0 0 1 rg 0 0 300 20 re f\n"
    text += b"BT 1 g /F1 10 Tf 30 5 Td (light on dark) Tj ET"
    doc = document(text, n_pages=3)
    doc.pages[1].obj.Rotate = 90
    doc.pages[2].obj.CropBox = [20, 0, 300, 190]
    path = saved(tmp_path / "a.pdf", doc)
    pages = read_pdf(path).pages
    lines = ["Well, gpt-4_x costs 5.0; I think!", "Next", "IllI", "light on dark"]
    assert [page.text.split("\n") for page in (pages[0], pages[2])] == [lines] * 2
    assert sorted(pages[1].text.split("\n")) == sorted(lines)
    assert [(page.width, page.height) for page in pages] == [(600, 400), (400, 600), (560, 380)]
    assert opened(page_image(path, 2)[0]).size == (400, 600)


def bomb() -> pikepdf.Pdf:
    """A few kilobytes that become more than a gigabyte."""
    block = bytes(1 << 24)
    packer = zlib.compressobj(9)
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    # The same block again and again: its sum of zeros is known.
    again = zlib.compressobj(9, wbits=-15)
    part = again.compress(block) + again.flush(zlib.Z_FULL_FLUSH)
    packed += part * 79 + zlib.compressobj(9, wbits=-15).flush()
    packed += ((80 * len(block) % 65521) << 16 | 1).to_bytes(4, "big")
    doc = document()
    doc.pages[0].obj.Contents = content = doc.make_stream(zlib.compress(packed, 9))
    content.Filter = Array([Name.FlateDecode, Name.FlateDecode])
    return doc


def endless() -> pikepdf.Pdf:
    """A page whose color is computed in a million steps for each pixel, in little memory."""
    doc = document()
    steps = doc.make_stream(b"{ pop " + b"sin cos " * 500_000 + b"}", FunctionType=4)
    steps.Domain, steps.Range = [0, 1, 0, 1], [0, 1]
    shading = Keys(ShadingType=1, ColorSpace=Name.DeviceGray, Function=steps)
    shading.Matrix = [300, 0, 0, 200, 0, 0]
    doc.pages[0].obj.Resources.Shading = Keys(S=shading)
    doc.pages[0].obj.Contents = doc.make_stream(b"/S sh")
    return doc


PACKED = {"compress_streams": False, "stream_decode_level": pikepdf.StreamDecodeLevel.none}
REFUSED: dict[str, tuple[Any, dict[str, Any]]] = {
    # On a busy machine the time may be over first.
    "too much memory|too long to draw": (bomb, PACKED),
    "too long to draw": (endless, {}),
    "without pages": (pikepdf.new, {}),
    "has 501 pages": (lambda: document(n_pages=501), {}),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_drawn_is_one_clear_error(
    message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hostile file is refused by itself: the next one is drawn, and it is not tried again."""
    make, options = REFUSED[message]
    path = tmp_path / "bad.pdf"
    saved(path, make(), **options)
    with monkeypatch.context() as patch:
        if make is endless:
            patch.setattr("quem.blinding.workers._SECONDS", 3)
        with pytest.raises(FileError, match=message) as error:
            read_pdf(path)
    assert error.value.mistakes[0].path == str(path)
    with monkeypatch.context() as patch:
        if make is endless:
            patch.setattr("quem.blinding.pdf._worker.ask", lambda _: pytest.fail("tried again"))
        with pytest.raises(FileError, match=message):
            read_pdf(path)
    good = saved(tmp_path / "good.pdf", document(f"% {message}\n".encode()))
    assert len(read_pdf(good).pages) == 1


def test_a_crash_is_the_fault_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that dies while it draws is replaced, and so is one that died before."""
    path, other = (saved(tmp_path / f"{n}.pdf", document(f"% crash {n}".encode())) for n in (1, 2))
    started = pdf._worker._started  # noqa: SLF001  the process itself has to end

    def dead() -> object:
        process = started()
        process.kill()
        process.wait()
        return process

    with monkeypatch.context() as patch:
        patch.setattr(pdf._worker, "_started", dead)  # noqa: SLF001
        with pytest.raises(FileError, match="crashed"):
            read_pdf(path)
    assert len(read_pdf(other).pages) == 1
    dead()
    assert page_image(other, 1)[1] == "image/png"


def test_pages_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path / "a.pdf", document(b"% kept", n_pages=2))
    before, first = read_pdf(path), page_image(path, 1)
    folder = cache.cache_folder("pages")
    if os.name == "posix":
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with monkeypatch.context() as patch:
        patch.setattr("quem.blinding.pdf._worker.ask", pytest.fail)
        pdf._cache._values.clear()  # noqa: SLF001  as after a restart
        assert read_pdf(path) == before
        assert page_image(path, 1) == first
    cache.trim(folder, "nothing", 0)
    assert list(folder.iterdir()) == []
    assert page_image(path, 1) == first
    (entry,) = folder.iterdir()
    assert {file.name for file in entry.iterdir()} >= {"1.png", "cleaned.pdf"}
    cache.trim(folder, entry.name, 0)
    assert entry.is_dir()
    # The folder itself may be deleted at any time, too.
    shutil.rmtree(folder.parent)
    assert page_image(path, 1) == first
    assert page_image(saved(tmp_path / "b.pdf", document(b"% new")), 1)[1] == "image/png"
