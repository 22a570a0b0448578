"""Organizers are warned of content that judges do not see."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from openpyxl import Workbook
from openpyxl.styles import Font

from quem.blinding.office import prepare
from quem.solutions import SolutionFile
from quem.solutions.files import kind_of
from quem.solutions.losses import losses_of
from tests.webjudge.sites import SUBJECTS, enter_as, enter_dashboard, write_site
from webjudge import create_app, open_site

if TYPE_CHECKING:
    from pathlib import Path

PARAGRAPH = "<p>" + "An ordinary plan in some words. " * 8 + "</p>\n"
CHART = "<div id='chart'>Loading...</div>\n<script>draw(document.getElementById('chart'))</script>"
WRITES = "<script>\nb.innerHTML = '<p>First do this, then do that, and wait a day.</p>'</script>"


def losses(folder: Path, name: str, text: str) -> list[tuple[str, int, str]]:
    """List code, line and message of what is lost of a file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    file = SolutionFile(path, kind_of(path), name, name)
    return [(loss.warning.code, loss.line, loss.warning.message) for loss in losses_of([file])]


LOST = [
    # A page that is empty or partly empty without its script.
    ("html-script", PARAGRAPH + CHART, 3, "the element 'chart' stays empty"),
    ("html-script", WRITES, 1, "most of its text comes from the script"),
    ("html-script", "<div></div><script src='plan.js'></script>", 1, "nothing is left without it"),
    ("html-script", "<p id=sum>-</p><b onclick='show(\"sum\")'></b>", 1, "'sum' stays empty"),
    ("html-script", "<p id=a></p>\n<p id=b></p><script>f('#a', `b`)</script>", 2, "'a' and 1 more"),
    # Styles are removed, so what they hide is seen by judges.
    ("hidden-text", "<p>x</p>\n<p style='display: none'>my notes</p>", 2, "my notes"),
    ("hidden-text", "<style>.b, p.old {visibility:hidden}</style><p class='a b'>notes", 1, "notes"),
    ("hidden-text", "<style>#n {display:none !important}</style>\n<b id=n><b>notes</b>", 2, "note"),
    ("hidden-text", "<div hidden>\n\nmy notes</div>", 3, "my notes"),
    ("hidden-text", "<font color=white>my notes</font>", 1, "my notes"),
    ("hidden-text", "<style>p.a {color: white}</style>\n<p class=a>my notes", 2, "my notes"),
    *(
        ("hidden-text", f"x\n\n<span style='{style}'>my notes</span>", 3, "my notes")
        for style in (
            *("font-size:0", "color: #FFF", "color:transparent", "color:rgba(9, 9, 9, 0)"),
            *("background-color:white; color:rgb(255, 255, 255)", "clip: rect(0 0 0 0)"),
            *("position:absolute; left:-9999px", "text-indent: -999em", "transform: scale(0)"),
            *("clip-path: inset(50%)", "height:0; overflow:hidden", "overflow: hidden; width: 1px"),
        )
    ),
    ("not-shown", "<p>x</p>\n<svg><text>a</text></svg><canvas></canvas>", 2, "2 drawings are not"),
    ("not-shown", "x\n<math><mi>x</mi></math>", 2, "a formula in MathML is not shown"),
    ("not-shown", "x\n\n<iframe src=a.html></iframe>", 3, "1 frame is not shown"),
    ("not-shown", "x\n<video></video><input><input type=hidden>", 2, "1 recording, 1 form field"),
]


@pytest.mark.parametrize(("code", "text", "line", "words"), LOST)
def test_what_is_lost_of_a_page_is_told(
    code: str, text: str, line: int, words: str, tmp_path: Path
) -> None:
    found = losses(tmp_path, "a.html", text)
    found = [loss for loss in found if loss[0] == code]
    ((_, at, message),) = found
    assert at == line
    assert words in message
    if code == "hidden-text":
        assert losses(tmp_path, "a.md", text) == [(code, line, message)]


@pytest.mark.parametrize(
    "text",
    [
        # White letters on a painted ground, and small margins, are not asked about.
        "<style>th {background: navy; color: white}</style><table><tr><th>seen</th></table>",
        "<div style='background-color:#123'><p style='color:#fff'>seen</p></div>",
        "<table bgcolor=navy><tr><td style='color:white'>seen</td></tr></table>",
        "<p style='color:rgb(0, 0, 0)'>seen</p>",
        "<p style='background-color:transparent; border-color:white'>seen</p>",
        "<p style='width:100%; height:1.5em; overflow:hidden; margin-left:-10px'>seen</p>",
        "<p style='width:1px'>seen</p>",
        "<p style='transform:scale(0.9)'>seen</p>",
    ],
)
def test_styles_that_hide_nothing(text: str, tmp_path: Path) -> None:
    assert losses(tmp_path, "a.html", text) == []


def test_diagrams_are_told(tmp_path: Path) -> None:
    text = "a\n\n~~~ Mermaid\nx\n~~~\n```mermaid\n```"
    ((code, line, message),) = losses(tmp_path, "a.md", text)
    assert (code, line) == ("not-shown", 3)
    assert message.startswith("2 Mermaid diagrams are shown as code")


def test_losses_are_told_in_the_preview_alone(tmp_path: Path) -> None:
    study = write_site(tmp_path, problems=1, judging="{}")
    for subject, text in zip(SUBJECTS, ("```mermaid\nx\n```\n", f"x\n\n{CHART}\n"), strict=False):
        (tmp_path / "solutions" / "P1" / f"{subject}.md").write_text(text)
    site = open_site(study)
    app = create_app(site)
    told = sorted(doubt.code for doubt in site.warnings)
    page = enter_dashboard(app, site).get("/dashboard/preview/g/0").text
    judge = enter_as(app, site, "J1")
    (gid,) = set(re.findall(r"/judge/g/([\w-]+)", judge.get("/judge").text))
    seen = judge.get(f"/judge/g/{gid}").text
    site.store.close()
    assert told == ["html-script", "not-shown"]
    assert [text.count('class="loss"') for text in (page, seen)] == [2, 0]
    assert not [subject for subject in SUBJECTS if subject in page]


def test_what_notebooks_and_workbooks_hide(tmp_path: Path) -> None:
    """Styles of outputs and formats of cells hide nothing from judges, and that is reported."""
    output = {"output_type": "display_data", "metadata": {}}
    output["data"] = {"text/html": "<p>x</p><p style='display:none'>by Bob</p>"}
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "fine <b hidden>by Ada</b>"},
        {"cell_type": "code", "metadata": {}, "source": "x", "outputs": [output]},
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (first, _, ada), (second, _, bob) = losses(tmp_path, "a.ipynb", json.dumps(notebook))
    assert first == second == "hidden-text"
    assert "Ada" in ada
    assert "Bob" in bob
    book, path = Workbook(), tmp_path / "b.xlsx"
    for row, font, code in (
        (1, Font(), "General"),
        (2, Font(color="FFFFFF"), "General"),
        (3, Font(), ";;;"),
        (4, Font(size=1), "General"),
    ):
        cell = book["Sheet"].cell(row, 1, f"in row {row}")
        cell.font, cell.number_format = font, code
    book.save(path)
    file = SolutionFile(path, kind_of(path), path.name, path.name)
    assert prepare([file]) == []
    told = [loss.warning.message for loss in losses_of([file])]
    assert [re.findall(r"in row \d", message) for message in told] == [
        [f"in row {row}"] for row in (2, 3, 4)
    ]
