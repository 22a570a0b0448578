"""``--tables`` and ``--figures``: in which formats tables and figures of a report are written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from tests.examples import study_with

if TYPE_CHECKING:
    from collections.abc import Callable

STUDY = Path(__file__).resolve().parents[2] / "studies" / "p3-1997" / "study.yaml"


def test_the_command_takes_several_or_none(
    make_study: Callable[..., Path],
    quem_command: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
) -> None:
    """Formats come with commas or one by one; what an earlier report left is removed."""
    study = make_study(study_with())
    out = tmp_path / "out"
    for words, expected in (
        ([], {"csv", "py", "R"}),
        (["--tables", "markdown,latex"], {"md", "tex"}),
        (["--tables", "csv", "--tables", "markdown"], {"csv", "md", "py", "R"}),
        (["--tables", "none"], set()),
    ):
        code, _, err = quem_command("analyze", study, "--out", out, *words)
        assert code == 0, err
        endings = {path.suffix[1:] for path in out.iterdir()} - {"svg", "png", "json", "html"}
        assert endings == expected
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "All numbers are in analysis.json in the same folder." in page


def test_figures_for_print(
    make_study: Callable[..., Path],
    quem_command: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
) -> None:
    """As PDF with its fonts, and as PNG of the wanted density; the page keeps its own."""
    study, out = make_study(study_with()), tmp_path / "out"
    words = ("--figures", "pdf,png", "--dpi", "300", "--tables", "none")
    code, _, err = quem_command("analyze", study, "--out", out, *words)
    assert code == 0, err
    stems = {path.stem for path in out.glob("*.pdf")}
    assert "line" in stems
    assert stems == {path.stem for path in out.glob("*.png")}
    assert not list(out.glob("*.svg"))
    pdf = (out / "line.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert b"/FontFile2" in pdf
    with Image.open(out / "line.png") as picture:
        # 760 pixels of the drawing at 96 to the inch.
        assert picture.width == 2375
    assert quem_command("analyze", study, "--out", out, *words)[0] == 0
    assert (out / "line.pdf").read_bytes() == pdf
    assert quem_command("analyze", study, "--out", out, "--figures", "none")[0] == 0
    assert not [path for path in out.iterdir() if path.suffix in {".pdf", ".png", ".svg"}]
    assert "<svg" in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tables", "xlsx"], "'xlsx' is not one of csv, markdown, latex, none"),
        (["--tables", "none,csv"], "none leaves no other format"),
        (["--tables", "csv", "--json"], "--json writes nothing, so it takes no --tables"),
        (["--figures", "jpeg"], "'jpeg' is not one of svg, png, pdf, none"),
        (["--figures", "svg", "--dpi", "300"], "--dpi is for figures as png"),
    ],
)
def test_what_contradicts_itself_is_refused(
    quem_command: Callable[..., tuple[int, str, str]], words: list[str], message: str
) -> None:
    """One sentence says which format cannot be."""
    code, _, err = quem_command("analyze", STUDY, *words)
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("given", "threads"),
    [({}, "1"), ({"OMP_NUM_THREADS": "3"}, "3"), ({"MKL_NUM_THREADS": "2"}, None)],
)
def test_linear_algebra_uses_one_thread(
    quem_command: Callable[..., tuple[int, str, str]],
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, str],
    threads: str | None,
) -> None:
    """Threads of small matrices only wait for each other; who sets a number keeps it."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert quem_command("--version")[0] == 0
    assert os.environ.get("OMP_NUM_THREADS") == threads
