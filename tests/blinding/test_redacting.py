"""Redacted words are in nothing that is made for judges, whatever they are written in."""

from __future__ import annotations

import io
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageChops

from quem.blinding.formulas import Formulas
from quem.blinding.markup import markdown_html, sanitize, text_html
from quem.blinding.pdf import page_image, read_pdf
from quem.blinding.redacting import flat, highlight_html, redact_html, redact_text
from quem.blinding.rendering import read_as_judge, render_solution
from quem.blinding.spans import MARK
from quem.solutions import Solution, SolutionFile
from quem.solutions.files import kind_of
from quem.solutions.model import Redaction
from quem.solutions.patterns import word_pattern
from tests.blinding.planted import document

if TYPE_CHECKING:
    from pathlib import Path


def patterns(*words: str, exact: bool = False) -> list[re.Pattern[str]]:
    """What finds some words."""
    made = (word_pattern(word, exact=exact) for word in words)
    return [pattern for pattern in made if pattern]


def redacted(html: str, *words: str) -> str:
    """What is left of HTML as judges receive it."""
    return redact_html(sanitize(html, lambda _: "/asset/1"), patterns(*words))


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ("<p>By Claude, of course.</p>", "By [removed], of course."),
        ("<p>By <b>Cl</b>au<i>de</i>!</p>", "By [removed]!"),
        ("<p>By CLAUDE and claude's friend</p>", "By [removed] and [removed]'s friend"),
        ("<p>Cl\u00adau\u200bde</p>", "[removed]"),
        ("<p>GPT&nbsp;4, gpt-4 &amp; gpt4</p>", "[removed], [removed] & [removed]"),
        ("<p>GPT</p><p>4</p>", "[removed]"),
        ("<p>Zoe\u0308, Zo\u00eb</p>", "[removed], [removed]"),
        ("<p>AT&amp;T</p>", "[removed]"),
        ("<p>Claudette, Cla ude</p>", "Claudette, Cla ude"),
        ("<p>克劳德写的</p>", "[removed]写的"),
        ("<p>Claude<br>GPT-4</p>", "[removed] [removed]"),
    ],
)  # fmt: skip
def test_words_are_found_across_tags_and_entities(html: str, left: str) -> None:
    """As the search for names finds them; the tags stay."""
    made = redacted(html, "Claude", "gpt-4", "zoë", "AT&T", "克劳德")
    text = re.sub(r"</?(?:b|i|span)( [^>]*)?>", "", made)
    assert " ".join(unescape(re.sub(r"<br>|</?p>", " ", text)).split()) == left
    assert re.findall(r"</?(?:b|i|p)>", made) == re.findall(r"</?(?:b|i|p)>", html)


def test_descriptions_and_addresses() -> None:
    """A description keeps its other words; a link with the words in its address leads nowhere."""
    made = redacted(
        '<p><img src="x.png" alt="Claude &amp; I"><a href="https://claude.example/x">A link</a>'
        '<a href="https://x.example/cl%61ude">one more</a><a href="https://x.example">good</a>',
        "Claude",
    )
    assert f'alt="{MARK} &amp; I"' in made
    assert made.count("href=") == 1
    assert "claude" not in made.casefold()


@given(
    st.lists(
        st.sampled_from(
            ["Claude", "cl", "aude", "gpt", "-", "4", " ", "\n", "<b>", "</b>", "&amp;", "`", "*",
             "**", "_", "$", "$$", "\u00ad", "\u200b", "e\u0301", "é", "# ", "a", "[x](http://claude.de)",
             "![gpt 4](y.png)", "<!-- ", "<p>", "<td>", "<table>", "'", '"', "\n\n", "```\n"]
        ),
        max_size=25,
    )
)  # fmt: skip
def test_nothing_is_found_after_redacting(pieces: list[str]) -> None:
    """Whatever a text is made of, the search finds none of the words in what is left of it."""
    known = patterns("Claude", "gpt-4", "é", "clé")
    html, code = markdown_html("".join(pieces), "CODE", formulas := Formulas("MATH"))
    whole = formulas.put_back(sanitize(html, lambda _: None)) + "".join(code)
    left = redact_html(whole, known)
    shown = unescape(re.sub(r'<(?:[^>"]|"[^"]*")*>', "\n", flat(left)))
    shown += "\n".join(re.findall(r' (?:alt|href)="([^"]*)"', left))
    found = [pattern.search(shown.translate({0xAD: "", 0x200B: ""})) for pattern in known]
    assert not any(found), left
    tags = re.compile(r"</?\w+")
    assert tags.findall(
        left.replace('<span class="redacted">[removed]</span>', "")
    ) == tags.findall(whole)
    plain = redact_text("".join(pieces), known)
    assert plain.count("\n") == "".join(pieces).count("\n")
    assert redact_html(whole, []) == whole


def test_the_same_mark_for_all_words() -> None:
    """It tells neither the word nor its length."""
    marks = {redact_text(word, patterns(word)) for word in ("I", "Bartholomew", "two words")}
    assert marks == {MARK}
    assert redact_text("may May", patterns("May", exact=True)) == f"may {MARK}"


def test_words_are_marked_in_their_place() -> None:
    """For the organizer, and with all tags."""
    marked = highlight_html(text_html("By Claude & co"), patterns("claude"), 'class="hit"')
    assert '<mark class="hit">Claude</mark> &amp; co' in marked
    split = highlight_html("<p><b>Cl</b>aude</p>", patterns("claude"), 'class="hit"')
    assert split == '<p><b><mark class="hit">Cl</mark></b><mark class="hit">aude</mark></p>'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "S1.md",
            "# Plan by Claude\n\nSee **Cl**aude and `by_Claude`.\n\n```py\nclaude = 1\n```\n",
        ),
        ("S1.txt", "claude says: act.\nOnly CLAUDE.\n"),
        ("S1.py", "# written by Claude\nclaude = 'Claude'\n"),
        ("S1.html", "<h1>Claude</h1><p>By <em>Claude</em>"),
    ],
)
def test_every_format_of_text(tmp_path: Path, name: str, content: str) -> None:
    """Neither the text nor how it begins has the words; the bytes of the file are as they were."""
    (tmp_path / name).write_text(content)
    before, after = (
        SolutionFile(tmp_path / name, kind_of(tmp_path / name), name, name, redactions=redactions)
        for redactions in ((), (Redaction("Claude"),))
    )
    shown = {}
    for file in (before, after, before):
        rendered = render_solution(Solution("P1", "S1", (file,)), lambda n: f"/{n}")
        shown[file] = (
            rendered.snippet + rendered.parts[0].html + read_as_judge(file, [file])
        ).casefold()
    plain = {file: re.sub(r"<[^>]*>", "", text) for file, text in shown.items()}
    assert "claude" in plain[before]
    assert "claude" not in plain[after]
    assert MARK in plain[after]
    assert before.digest != after.digest


def test_pages_are_covered(tmp_path: Path) -> None:
    """The image has a box where the words were, and the text below it the mark."""
    path = tmp_path / "S1.pdf"
    text = b"BT /F1 14 Tf 20 160 Td (A plan by Deep Blunder, today) Tj ET"
    text += b" BT /F1 14 Tf 20 120 Td (and nobody else) Tj ET"
    document(text, 2).save(path)
    known = patterns("deep blunder")
    assert [page.text for page in read_pdf(path).pages] == [
        "A plan by Deep Blunder, today\nand nobody else"
    ] * 2
    pages = read_pdf(path, known).pages
    assert [page.text for page in pages] == [f"A plan by {MARK}, today\nand nobody else"] * 2
    before, after = (
        Image.open(io.BytesIO(page_image(path, 2, some)[0])).convert("L") for some in ((), known)
    )
    box = ImageChops.difference(before, after).getbbox()
    assert box
    left, top, right, bottom = box
    # The words are at 20 + "A plan by" to "der" of a page of 300 x 200 points, drawn at 144 dpi.
    assert 150 < left < 190
    assert 320 < right < 350
    assert 50 < top < bottom < 95
    covered = after.crop((left + 2, top + 2, right - 2, bottom - 2))
    assert covered.getextrema() == (128, 128)
    # Undone, all is as it was; other words are other pages.
    assert read_pdf(path).pages[0].text.startswith("A plan by Deep")
    assert page_image(path, 2)[0] != page_image(path, 2, known)[0]
    assert MARK in read_pdf(path, patterns("nobody")).pages[0].text
