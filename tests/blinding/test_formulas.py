"""Formulas, notebooks and drawings as judges receive them."""

from __future__ import annotations

import json
import re
import socket
from contextlib import suppress
from html import escape, unescape
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quem.blinding.drawings import drawing_text
from quem.blinding.images import clean_file
from quem.blinding.pages import image_of
from quem.blinding.rendering import read_as_judge
from quem.errors import FileError
from quem.solutions.files import metadata_of
from quem.solutions.losses import losses_of
from tests.blinding.made import opened, patterns, shown, written
from tests.blinding.planted_images import SECRET, picture, secret
from tests.blinding.planted_notebooks import drawing, planted_notebook, with_attachment
from tests.blinding.searching import everything_in

if TYPE_CHECKING:
    from pathlib import Path

MATH = re.compile(r'<span class="math"( data-display="true")?>([^<]*)</span>')


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
    html = shown(written(tmp_path, name, text))
    assert [("d" if display else "", unescape(tex)) for display, tex in MATH.findall(html)] == (
        formulas
    )


def test_markdown_leaves_formulas_alone(tmp_path: Path) -> None:
    """Lines of a formula that look like a list, a heading or emphasis belong to it."""
    tex = "a_1 *b* c_1\n- d\n= e \\\\\n# f"
    text = f"Before\n$$\n{tex}\n$$\nafter `$x$` and\n\n- item $y$\n"
    html = shown(written(tmp_path, "a.md", text))
    assert [unescape(one) for _, one in MATH.findall(html)] == [tex, "y"]
    assert "<em>" not in html
    assert "Before" in html
    assert "after" in html


@given(st.text(alphabet="$\\()[]{}<>&\"'`ab 1_*\n", max_size=40))
@example("$<script>x</script>$")
@example('$"><img src=x onerror=y>$')
def test_formulas_bring_no_markup(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    html = shown(written(tmp_path_factory.mktemp("m"), "a.md", f"x {text}"))
    for _, tex in MATH.findall(html):
        assert escape(unescape(tex)) == tex
    assert not re.search(r"<(script|img|svg|style)\b|<[^>]*\son\w+=", html)


def test_a_notebook_is_read(tmp_path: Path) -> None:
    """Text, code, what was printed, tables and pictures are shown; nothing else."""
    file = written(
        tmp_path, "a.ipynb", json.dumps(with_attachment(planted_notebook(secret), secret))
    )
    html = shown(file)
    for part in ("Findings</h3>", "hello", "ZeroDivisionError: division", "<td>7</td>", "\\vec{v}"):
        assert part in html
    assert html.count("<img") == 2
    received = [read_as_judge(file, [file]).encode(), html.encode()]
    received += [image_of(file, number)[0] for number in (1, 2)]
    assert SECRET.encode() not in b"\n".join(map(everything_in, received))
    with pytest.raises(IndexError):
        image_of(file, 3)
    assert SECRET in " ".join(metadata_of(file).values())
    [loss] = losses_of([file])
    assert loss.warning.message.startswith("1 raw cell is not shown")


def drawn(folder: Path, more: str, *words: str) -> tuple[str, bytes]:
    """The text of a drawing and its pixels, without some words."""
    path = folder / "a.svg"
    path.write_text(drawing(secret, more))
    content, mimetype = clean_file(path, patterns(*words))
    assert mimetype == "image/png"
    assert SECRET.encode() not in everything_in(content)
    return drawing_text(path, patterns(*words)), content


def test_words_of_drawings_are_redacted(tmp_path: Path) -> None:
    assert drawn(tmp_path, "")[0] == "plan"
    pieces = '<text y="15" x="2">by De<tspan dx="1" fill="#111">ep</tspan> Blunder</text>'
    (text, whole), (left, without) = (
        drawn(tmp_path, pieces, *words) for words in ((), ("Deep Blunder",))
    )
    assert (text, left) == ("plan\nby Deep Blunder", "plan\nby [removed]")
    one, other = opened(whole), opened(without)
    assert one.size == (160, 80)
    below = (0, 44, 160, 80)
    assert one.crop(below).tobytes() == other.crop(below).tobytes()
    assert one.tobytes() != other.tobytes()


@pytest.mark.parametrize("family", ["", "No Such Font", "serif", "sans-serif", "monospace"])
def test_texts_of_drawings_are_drawn(tmp_path: Path, family: str) -> None:
    """Whatever fonts the drawing asks for and the machine has."""
    text = f'<text y="30" x="2" font-family="{family}">{{}}</text>'
    assert drawn(tmp_path, text.format("Hello"))[1] != drawn(tmp_path, text.format(" "))[1]


def test_drawings_fetch_nothing(tmp_path: Path) -> None:
    local = tmp_path / "secret.png"
    picture(size=(10, 10)).save(local)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/x.png"
        images = "".join(
            f'<image width="80" height="40" {key}="{target}"/>'
            for key in ("href", "xlink:href")
            for target in (address, local.as_uri(), str(local), "secret.png")
        )
        style = f"<style>@import url({address});</style><rect style='fill:url({address})'/>"
        assert drawn(tmp_path, images + style)[1] == drawn(tmp_path, "")[1]
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(
    "content",
    [
        "<svg",
        "not a drawing",
        '<!DOCTYPE s [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + drawing(secret, "&b;"),
        drawing(secret, '<rect width="1e9" height="1e9"/>').replace('width="80"', 'width="1e12"'),
    ],
    ids=["broken", "text", "entities", "huge"],
)
def test_hostile_drawings(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.svg"
    path.write_text(content)
    with suppress(FileError):
        assert max(opened(clean_file(path)[0]).size) <= 4096
