"""Formulas, notebooks and drawings as judges receive them."""

from __future__ import annotations

import base64
import io
import json
import re
import socket
from contextlib import suppress
from html import escape, unescape
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from quem.blinding.drawings import drawing_text
from quem.blinding.images import clean_file
from quem.blinding.pages import image_of
from quem.blinding.rendering import read_as_judge, render_solution
from quem.errors import FileError, QuemError
from quem.solutions.files import inspect, metadata_of
from quem.solutions.losses import losses_of
from quem.solutions.model import Solution
from tests.blinding.searching import everything_in

if TYPE_CHECKING:
    from pathlib import Path

MATH = re.compile(r'<span class="math"( data-display="true")?>([^<]*)</span>')
WORD = "ZORNNOTE"


def shown(folder: Path, name: str, text: str) -> str:
    """The HTML of a solution of one file."""
    (folder / name).write_text(text, encoding="utf-8")
    file = inspect(folder / name, name, name)
    rendered = render_solution(Solution("P", "S", (file,)), lambda *n: f"/file/{n}")
    return str(rendered.parts[0].html)


@pytest.mark.parametrize("name", ["a.md", "a.html"])
@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("Let $x^2 + 1$ be", [("", "x^2 + 1")]),
        ("$$\n\\sum_i x_i\n$$", [("d", "\\sum_i x_i")]),
        ("It is \\(a+b\\) here", [("", "a+b")]),
        ("x\n\n\\[ \\vec{v} \\]", [("d", "\\vec{v}")]),
        ("costs $5, and $E = mc^2$", [("", "E = mc^2")]),
        ("a $x_1 * y_1$ and $x_2 * y_2$", [("", "x_1 * y_1"), ("", "x_2 * y_2")]),
        ("It costs $5 and $6.", []),
        ("US$5/US$6, from $5 to 10$ each, $5-$10, $ x $, run $A, then $B", []),
        ("$HOME and $PATH", []),
        ("<code>$x^2$</code> <pre>\\(a\\)</pre>", []),
    ],
)
def test_formulas_are_marked(tmp_path: Path, name: str, text: str, formulas: list[Any]) -> None:
    """The page holds the TeX of each formula as text, in Markdown and HTML; prices stay."""
    html = shown(tmp_path, name, text)
    marked = [("d" if display else "", unescape(tex)) for display, tex in MATH.findall(html)]
    assert marked == formulas


def test_markdown_leaves_formulas_alone(tmp_path: Path) -> None:
    """Lines of a formula that look like a list, a heading or emphasis belong to it."""
    tex = "a_1 *b* c_1\n- d\n= e \\\\\n# f"
    html = shown(tmp_path, "a.md", f"Before\n$$\n{tex}\n$$\nafter `$x$` and\n\n- item $y$\n")
    assert [unescape(one) for _, one in MATH.findall(html)] == [tex, "y"]
    assert "<em>" not in html
    assert "Before" in html
    assert "after" in html


@given(st.text(alphabet="$\\()[]{}<>&\"'`ab 1_*\n", max_size=40))
@example("$<script>x</script>$")
@example('$"><img src=x onerror=y>$')
def test_formulas_bring_no_markup(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Whatever is between the signs, it is text."""
    html = shown(tmp_path_factory.mktemp("m"), "a.md", f"x {text}")
    for _, tex in MATH.findall(html):
        assert escape(unescape(tex)) == tex
    assert not re.search(r"<(script|img|svg|style)\b|<[^>]*\son\w+=", html)


def picture(text: str = "") -> bytes:
    """A PNG that names somebody."""
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("Author", text)
    raw = io.BytesIO()
    Image.new("RGB", (30, 12), "teal").save(raw, "PNG", pnginfo=info)
    return raw.getvalue()


# Where a notebook can name who made it.
HIDDEN = (
    *("authors", "title", "kernel", "path", "colab", "cell id", "cell tag", "cell metadata"),
    *("output metadata", "widget", "raw cell", "script", "picture", "attachment", "comment"),
)


def notebook(word: str = WORD) -> dict[str, Any]:
    """A notebook that names its author in every hidden place, each with its own number."""
    names = {place: f"{word}{n}" for n, place in enumerate(HIDDEN)}

    def encoded(place: str) -> str:
        return base64.b64encode(picture(names[place])).decode()

    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "authors": [{"name": names["authors"]}],
            "title": names["title"],
            "kernelspec": {"display_name": names["kernel"], "name": "python3"},
            "vscode": {"path": names["path"]},
            "colab": {"user": names["colab"]},
            "language_info": {"name": "python"},
            "widgets": {"state": names["widget"]},
        },
        "cells": [
            {
                "cell_type": "markdown",
                "id": names["cell id"],
                "metadata": {"tags": [names["cell tag"]], "who": names["cell metadata"]},
                "source": [
                    "# Findings\n",
                    f"With $\\vec{{v}}$ <!-- {names['comment']} --> ![plot](attachment:a.png)",
                ],
                "attachments": {"a.png": {"image/png": encoded("attachment")}},
            },
            {
                "cell_type": "code",
                "metadata": {},
                "source": "1 / 0",
                "outputs": [
                    {"output_type": "stream", "name": "stdout", "text": ["hello\n"]},
                    {
                        "output_type": "display_data",
                        "metadata": {"who": names["output metadata"]},
                        "data": {"image/png": encoded("picture"), "text/plain": "<Figure>"},
                    },
                    {
                        "output_type": "execute_result",
                        "data": {
                            "text/html": f"<script>{names['script']}</script><table><tr><td>7",
                            "text/plain": "7",
                        },
                    },
                    {
                        "output_type": "error",
                        "traceback": ["\x1b[0;31mZeroDivisionError\x1b[0m: division"],
                    },
                ],
            },
            {"cell_type": "raw", "source": names["raw cell"]},
        ],
    }


def test_a_notebook_is_read(tmp_path: Path) -> None:
    """Text, code, what was printed, tables and pictures are shown; nothing else."""
    html = shown(tmp_path, "a.ipynb", json.dumps(notebook()))
    for part in ("Findings</h3>", "hello", "ZeroDivisionError: division", "<td>7</td>", "\\vec{v}"):
        assert part in html
    assert html.count("<img") == 2
    file = inspect(tmp_path / "a.ipynb", "a.ipynb", "a.ipynb")
    received = [read_as_judge(file, [file]).encode(), html.encode()]
    received += [image_of(file, number)[0] for number in (1, 2)]
    assert WORD.encode() not in b"\n".join(map(everything_in, received))
    with pytest.raises(IndexError):
        image_of(file, 3)
    assert WORD in " ".join(metadata_of(file).values())
    [loss] = losses_of([file])
    assert loss.warning.message.startswith("1 raw cell is not shown")
    # The file itself gives each of them away.
    raw = everything_in((tmp_path / "a.ipynb").read_bytes())
    assert sum(f"{WORD}{n}".encode() in raw for n in range(len(HIDDEN))) >= 12


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{}", "is not a notebook"),
        ("x", "is not a notebook"),
        ('{"worksheets": []}', "in an old format"),
        ('{"nbformat": 3, "cells": []}', "in an old format"),
        ('{"nbformat": 4, "cells": [1]}', "is not a notebook"),
        ('{"nbformat": 4, "cells": []}', "is an empty notebook"),
    ],
)
def test_notebooks_that_are_none(tmp_path: Path, content: str, reason: str) -> None:
    """They are refused with a remedy."""
    (tmp_path / "a.ipynb").write_text(content)
    with pytest.raises(QuemError, match=reason):
        inspect(tmp_path / "a.ipynb", "a.ipynb", "a.ipynb")


SVG = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
 width="80" height="40"><title>ZORNNOTE</title><metadata>ZORNNOTE</metadata><!-- ZORNNOTE -->
 <script>ZORNNOTE</script><rect width="80" height="40" fill="#0a0"/>
 <text x="2" y="30" font-size="20">plan</text>{more}</svg>"""


def test_drawings_become_pictures(tmp_path: Path) -> None:
    """A drawing is sent as pixels; its words are searched."""
    path = tmp_path / "a.svg"
    path.write_text(SVG.format(more=""))
    content, mimetype = clean_file(path)
    assert mimetype == "image/png"
    with Image.open(io.BytesIO(content)) as image:
        assert image.size == (160, 80)
        assert image.convert("RGB").getpixel((150, 5)) == (0, 170, 0)
    assert b"ZORNNOTE" not in everything_in(content)
    assert drawing_text(path) == "plan"


def test_drawings_fetch_nothing(tmp_path: Path) -> None:
    """Neither an address nor a file of the machine is read."""
    secret = tmp_path / "secret.png"
    Image.new("RGB", (10, 10), "red").save(secret)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/x.png"
        images = "".join(
            f'<image width="80" height="40" {key}="{target}"/>'
            for key in ("href", "xlink:href")
            for target in (address, secret.as_uri(), str(secret), "secret.png")
        )
        style = f"<style>@import url({address});</style><rect style='fill:url({address})'/>"
        (tmp_path / "a.svg").write_text(SVG.format(more=images + style))
        content, _ = clean_file(tmp_path / "a.svg")
        with pytest.raises(TimeoutError):
            server.accept()
    with Image.open(io.BytesIO(content)) as image:
        assert image.convert("RGB").getpixel((150, 5)) == (0, 170, 0)


@pytest.mark.parametrize(
    "content",
    [
        "<svg",
        "not a drawing",
        '<!DOCTYPE s [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + SVG.format(more="&b;"),
        SVG.format(more='<rect width="1e9" height="1e9"/>').replace('width="80"', 'width="1e12"'),
    ],
    ids=["broken", "text", "entities", "huge"],
)
def test_hostile_drawings(tmp_path: Path, content: str) -> None:
    """They are drawn within limits, or refused with a remedy."""
    path = tmp_path / "a.svg"
    path.write_text(content)
    drawn = b""
    with suppress(FileError):
        drawn, _ = clean_file(path)
    if drawn:
        with Image.open(io.BytesIO(drawn)) as image:
            assert max(image.size) <= 4096


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drawing is refused with the command that installs what draws it."""
    monkeypatch.setattr("quem.blinding.drawings.can_draw_svg", lambda: False)
    (tmp_path / "a.svg").write_text(SVG.format(more="<g/>"))
    with pytest.raises(QuemError, match=r"pip install 'quem\[svg\]'"):
        inspect(tmp_path / "a.svg", "a.svg", "a.svg")
