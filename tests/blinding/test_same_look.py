"""One look for all texts: accidents of format go, and every word, code, and table stays."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quem.blinding.redacting import TAG, flat
from quem.blinding.rendering import read_as_judge
from quem.blinding.same_look import level_html, level_text
from quem.solutions.model import Redaction
from tests.blinding.made import shown, written

if TYPE_CHECKING:
    from pathlib import Path

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
