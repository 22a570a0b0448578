"""Redacted words are in nothing that judges receive; texts look alike, and keep every word."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ImageChops

from quem.blinding.formulas import Formulas
from quem.blinding.markup import markdown_html, sanitize, text_html
from quem.blinding.pdf import page_image, read_pdf
from quem.blinding.redacting import TAG, flat, highlight_html, redact_html, redact_text
from quem.blinding.rendering import read_as_judge
from quem.blinding.same_look import level_html, level_text
from quem.blinding.spans import MARK
from quem.solutions.model import Redaction
from tests.blinding.made import opened, patterns, shown, written
from tests.blinding.planted import document

if TYPE_CHECKING:
    from pathlib import Path


def redacted(html: str, *words: str) -> str:
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
)
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


PIECES = (
    "Claude cl aude gpt - 4 <b> </b> &amp; ` * ** _ $ $$ \u00ad \u200b e\u0301 é a "
    "[x](http://claude.de) <p> <td> <table> ' \""
)
PIECE = st.sampled_from(
    [*PIECES.split(" "), " ", "\n", "\n\n", "# ", "```\n", "<!-- ", "![gpt 4](y.png)"]
)


@given(st.lists(PIECE, max_size=25).map("".join))
def test_nothing_is_found_after_redacting(text: str) -> None:
    """Whatever a text is made of, the search finds none of the words in what is left of it."""
    known = patterns("Claude", "gpt-4", "é", "clé")
    html, code = markdown_html(text, "CODE", formulas := Formulas("MATH"))
    whole = formulas.put_back(sanitize(html, lambda _: None)) + "".join(code)
    left = redact_html(whole, known)
    shown = unescape(re.sub(r'<(?:[^>"]|"[^"]*")*>', "\n", flat(left)))
    shown += "\n".join(re.findall(r' (?:alt|href)="([^"]*)"', left))
    found = [pattern.search(shown.translate({0xAD: "", 0x200B: ""})) for pattern in known]
    assert not any(found), left
    tags = re.compile(r"</?\w+")
    unmarked = left.replace('<span class="redacted">[removed]</span>', "")
    assert tags.findall(unmarked) == tags.findall(whole)
    assert redact_text(text, known).count("\n") == text.count("\n")
    assert redact_html(whole, ()) == whole


def test_the_same_mark_for_all_words() -> None:
    marks = {redact_text(word, patterns(word)) for word in ("I", "Bartholomew", "two words")}
    assert marks == {MARK}
    assert redact_text("may May", patterns("May", exact=True)) == f"may {MARK}"


def test_words_are_marked_in_their_place() -> None:
    marked = highlight_html(text_html("By Claude & co"), patterns("claude"), 'class="hit"')
    assert '<mark class="hit">Claude</mark> &amp; co' in marked
    split = highlight_html("<p><b>Cl</b>aude</p>", patterns("claude"), 'class="hit"')
    assert split == '<p><b><mark class="hit">Cl</mark></b><mark class="hit">aude</mark></p>'


def test_pages_are_covered(tmp_path: Path) -> None:
    """The image has a box where the words were, and the text below it the mark."""
    path = tmp_path / "S1.pdf"
    text = b"BT /F1 14 Tf 20 160 Td (A plan by Deep Blunder, today) Tj ET"
    text += b" BT /F1 14 Tf 20 120 Td (and nobody else) Tj ET"
    document(text, 2).save(path)
    known = patterns("deep blunder")
    for some, words in (((), "Deep Blunder"), (known, MARK)):
        kept = f"A plan by {words}, today\nand nobody else"
        assert [page.text for page in read_pdf(path, some).pages] == [kept] * 2
    before, after = (opened(page_image(path, 2, some)[0], "L") for some in ((), known))
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
    assert MARK in read_pdf(path, patterns("nobody")).pages[0].text


MARKDOWN = """# 🚀 Plan — the way

* **Don’t** “wait” for 10–20 days…
* `x — “y”` and *then* ✅ act

***

| “a” | **b** |
|-----|-------|
| —   | 🎉    |

```
print(“*x*”)  # — 🎉
```

Let $x — y$ be.
"""
PLAIN = """Big Title
=========

+ **first** – “soon” 🎉
• second: *.py,*.txt and __init__
2) third
This is a long line that an editor wrapped at about seventy signs
  or so, and it goes on here.
Short.
Next.

    * “code” — 🎉
a — | “b” | c
```
* “code” — 🎉
```
"""


def words_of(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


def test_markdown_loses_accidents_of_format(tmp_path: Path) -> None:
    """Headings and emphasis are plain; code, tables, and formulas are what they were."""
    before, after = (
        shown(written(tmp_path, "a.md", MARKDOWN, same_look=same)) for same in (False, True)
    )
    assert "<h3>" in before
    assert after.startswith("<p>Plan - the way</p>")
    assert '<li>Don\'t "wait" for 10-20 days...</li>' in after
    assert "<li><code>x — “y”</code> and then ✓ act</li>" in after
    for kept in (r"<table>.*</table>", r"<pre.*</pre>", r'<span class="math".*?</span>'):
        [same] = re.findall(kept, before, re.DOTALL)
        assert same in after
    assert "<hr" not in after


def test_plain_text_loses_accidents_of_format(tmp_path: Path) -> None:
    """Line ends inside sentences too; code and rows of tables stay."""
    file = written(tmp_path, "a.txt", PLAIN, same_look=True)
    text = read_as_judge(file, ())
    assert text.startswith(
        'Big Title\n\n\n- first - "soon"\n- second: *.py,*.txt and __init__\n2. '
    )
    assert "seventy signs or so, and it goes on here.\nShort.\nNext.\n" in text
    assert text.endswith(PLAIN[PLAIN.index("    * ") :])
    assert words_of(unescape(TAG.sub("", shown(file)))) == words_of(text)


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
@pytest.mark.parametrize("words", ["O’Brien", "O'Brien"])
def test_redacted_words_are_found_in_either_form(tmp_path: Path, name: str, words: str) -> None:
    """As the file has them, and as judges would receive them."""
    marks = (Redaction(words),)
    file = written(tmp_path, name, "By O’Brien.\n", redactions=marks, same_look=True)
    assert "Brien" not in shown(file)


SIGNS = st.lists(
    st.sampled_from([*"ab1 \n#*_-–—+`~“”’…=|.()&<>\u00a0🎉✅❌\ufe0f\u20e3\t", "ab", "**", "\n\n"])
).map("".join)
TAGS = st.sampled_from(["<p>", "</p>", "<b>", "</b>", "<h3>", "</h3>", "<hr>", "<pre>", "</pre>"])


@given(SIGNS | st.text())
def test_every_word_of_plain_text_stays(text: str) -> None:
    assert words_of(level_text(text)) == words_of(text)


@given(st.lists(TAGS | SIGNS.map(escape)))
def test_every_word_of_html_stays(pieces: list[str]) -> None:
    html = "".join(pieces)
    before, after = (unescape(TAG.sub("\n", flat(one))) for one in (html, level_html(html)))
    assert words_of(after) == words_of(before)
