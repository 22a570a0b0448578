"""What judges do not see of a text is told to who runs the study."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from openpyxl import Workbook
from openpyxl.styles import Font

from quem.blinding.workbooks import tables_of
from quem.solutions import SolutionFile, check_solutions
from quem.solutions.files import kind_of
from quem.solutions.losses import losses_of
from quem.studyfile.reading import draft_study
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


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (PARAGRAPH + CHART, 3, "the element 'chart' stays empty"),
        (WRITES, 1, "most of its text comes from the script"),
        ("<div></div><script src='plan.js'></script>", 1, "nothing is left without it"),
        ("<p id=sum>-</p><button onclick='show(\"sum\")'></button>", 1, "'sum' stays empty"),
        (PARAGRAPH + "<p id=a></p><p id=b></p><script>f('#a', `b`)</script>", 2, "'a' and 1 more"),
    ],
)
def test_scripts_that_would_show_something(
    text: str, line: int, message: str, tmp_path: Path
) -> None:
    """A page that is empty or partly empty without its script is told with its first line."""
    scripts = [loss for loss in losses(tmp_path, "a.html", text) if loss[0] == "html-script"]
    assert [(code, at) for code, at, _ in scripts] == [("html-script", line)]
    assert message in scripts[0][2]
    assert "hand it in as PDF or pictures" in scripts[0][2]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("<p>x</p>\n<p style='display: none'>my notes</p>", 2, "my notes"),
        ("<style>.draft, p.old {visibility:hidden}</style><p class='a draft'>my notes", 1, "my "),
        ("<style>#n {display:none !important}</style>\n<div id=n><b>my notes</b>", 2, "my notes"),
        ("<div hidden>\n\nmy notes</div>", 3, "my notes"),
        ("x\n\n<span style='font-size:0'>my notes</span>", 3, "my notes"),
        ("<p style='color: #FFF'>my notes", 1, "my notes"),
        ("<p style='background-color:white; color:rgb(255, 255, 255)'>my notes", 1, "my notes"),
        ("<font color=white>my notes</font>", 1, "my notes"),
        ("<style>p.a {color: white}</style>\n<p class=a>my notes", 2, "my notes"),
        ("<p style='color:transparent'>my notes", 1, "my notes"),
        ("<p style='color:rgba(9, 9, 9, 0)'>my notes", 1, "my notes"),
        ("<p style='position:absolute; left:-9999px'>my notes", 1, "my notes"),
        ("<p style='text-indent: -999em'>my notes", 1, "my notes"),
        ("<p style='clip: rect(0 0 0 0)'>my notes", 1, "my notes"),
        ("<p style='clip-path: inset(50%)'>my notes", 1, "my notes"),
        ("<p style='height:0; overflow:hidden'>my notes", 1, "my notes"),
        ("<p style='overflow: hidden; width: 1px'>my notes", 1, "my notes"),
        ("<p style='transform: scale(0)'>my notes", 1, "my notes"),
    ],
)
def test_styles_that_hide_something(text: str, line: int, words: str, tmp_path: Path) -> None:
    """Styles are removed, so what they hide is seen by judges."""
    for name in ("a.html", "a.md"):
        ((code, at, message),) = losses(tmp_path, name, text)
        assert (code, at) == ("hidden-text", line)
        assert words in message


@pytest.mark.parametrize(
    "text",
    [
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
    """White letters on a painted ground, and small margins, are not asked about."""
    assert losses(tmp_path, "a.html", text) == []


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("<p>x</p>\n<svg><text>a</text></svg><canvas></canvas>", "2 drawings are not shown"),
        ("x\n\n<iframe src=a.html></iframe>", "1 frame is not shown"),
        ("x\n<video></video><input type=text><input type=hidden>", "1 recording, 1 form field"),
    ],
)
def test_elements_that_are_not_shown(text: str, start: str, tmp_path: Path) -> None:
    """Drawings, frames, recordings and fields are counted, each kind by itself."""
    ((code, line, message),) = losses(tmp_path, "a.html", text)
    assert (code, message.startswith(start)) == ("not-shown", True)
    assert line == 2 + text.startswith("x\n\n")


@pytest.mark.parametrize(
    ("text", "line", "count"),
    [
        ("```mermaid\ngraph TD\n```", 1, "a Mermaid diagram is"),
        ("a\n\n~~~ Mermaid\nx\n~~~\n```mermaid\n```", 3, "2 Mermaid diagrams are"),
    ],
)
def test_diagrams_are_told(text: str, line: int, count: str, tmp_path: Path) -> None:
    """A diagram's source is shown as code, and the organizer knows."""
    ((code, at, message),) = losses(tmp_path, "a.md", text)
    assert (code, at) == ("not-shown", line)
    assert message.startswith(f"{count} shown as code")


def test_losses_are_told_by_check_and_in_the_preview(tmp_path: Path) -> None:
    """The organizer sees what is lost beside the solution, and judges do not."""
    study = write_site(tmp_path, problems=1, judging="{}")
    folder = tmp_path / "solutions" / "P1"
    for subject in SUBJECTS:
        (folder / f"{subject}.md").write_text("```mermaid\nx\n```\n")
    (folder / f"{SUBJECTS[0]}.md").write_text(f"x\n\n{CHART}\n")
    _, mistakes, warnings = check_solutions(draft_study(study), complete=True)
    assert mistakes == []
    counts = [doubt.code for doubt in warnings]
    assert sorted(counts) == ["html-script", *["not-shown"] * 3]
    assert f"{SUBJECTS[0]}.md:4: its script is not run" in next(
        w.message for w in warnings if w.code == "html-script"
    )
    site = open_site(study)
    try:
        app = create_app(site)
        page = enter_dashboard(app, site).get("/dashboard/preview/g/0").text
        assert page.count('class="loss"') == 4
        assert not [subject for subject in SUBJECTS if subject in page]
        judge = enter_as(app, site, "J1")
        (gid,) = set(re.findall(r"/judge/g/([\w-]+)", judge.get("/judge").text))
        assert 'class="loss"' not in judge.get(f"/judge/g/{gid}").text
    finally:
        site.store.close()


def test_what_notebooks_and_workbooks_hide(tmp_path: Path) -> None:
    """Styles of outputs and formats of cells hide nothing from judges, and that is reported."""
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "fine <b hidden>by Ada</b>"},
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": 1,
            "source": "x",
            "outputs": [
                {
                    "output_type": "display_data",
                    "metadata": {},
                    "data": {"text/html": "<p>x</p><p style='display:none'>by Bob</p>"},
                }
            ],
        },
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    found = losses(tmp_path, "a.ipynb", json.dumps(notebook))
    assert [code for code, _, _ in found] == ["hidden-text", "hidden-text"]
    assert ["Ada" in found[0][2], "Bob" in found[1][2]] == [True, True]
    book = Workbook()
    sheet = book["Sheet"]
    for row, (text, font, code) in enumerate(
        [
            ("seen", Font(), "General"),
            ("white", Font(color="FFFFFF"), "General"),
            ("none", Font(), ";;;"),
            ("tiny", Font(size=1), "General"),
        ],
        1,
    ):
        cell = sheet.cell(row, 1, text)
        cell.font, cell.number_format = font, code
    book.save(tmp_path / "b.xlsx")
    tables = tables_of(tmp_path / "b.xlsx", (tmp_path / "b.xlsx").read_bytes())
    assert [text for table in tables for _, text in table.hidden] == ["white", "none", "tiny"]
