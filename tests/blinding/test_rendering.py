"""Solutions become safe HTML, and clean copies, that do not identify their solvers."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quem.blinding.copies import clean_copy
from quem.blinding.formulas import Formulas
from quem.blinding.markup import code_html, markdown_html, sanitize
from quem.solutions.model import Redaction, Solution
from quem.solutions.sheets import inner_path
from tests.blinding.made import rendered, shown, written
from tests.blinding.planted import PLANTS, planted
from tests.blinding.planted_images import SECRET, picture, planted_images, secret
from tests.blinding.planted_notebooks import planted_notebook
from tests.blinding.planted_texts import FRONT_MATTER, HTML, MARKDOWN
from tests.blinding.searching import everything_in
from tests.solutions.made import image

if TYPE_CHECKING:
    from pathlib import Path

VALUES = {
    "align": r"left|right|center",
    "alt": r"(?s).*",
    "data-display": "true",
    "class": r"table-scroll|no-image|code|line|plain|plain output|math|[a-z0-9]{1,3}",
    "colspan": r"\d+",
    "dir": r"ltr|rtl|auto",
    "href": r"(?is)https?://.+",
    "lang": r"[A-Za-z0-9-]+",
    "loading": r"lazy",
    "open": r"",
    "rel": r"noopener noreferrer nofollow",
    "reversed": r"",
    "rowspan": r"\d+",
    "scope": r"row|col|rowgroup|colgroup",
    "src": r"/asset/\d+",
    "start": r"-?\d+",
    "tabindex": r"0",
    "target": r"_blank",
    "value": r"-?\d+",
}
TAGS = set(
    re.findall(
        r"\w+",
        "a abbr b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em "
        "figcaption figure h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp "
        "small span strong sub summary sup table tbody td tfoot th thead tr u ul var wbr",
    )
)


class Reader(HTMLParser):
    """Reads HTML as it comes, and complains of what may not be there."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in VALUES, (tag, name)
            assert re.fullmatch(VALUES[name], value or ""), (tag, name, value)
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Reader:
    """Check HTML against the list of what is allowed, and give what it holds."""
    assert not re.search(r"<[!?]", html)  # comments, declarations, and instructions
    reader = Reader()
    reader.feed(str(html))
    reader.close()
    last = 2
    for tag, attributes in reader.tags:
        assert tag != "img" or "alt" in attributes
        assert "href" not in attributes or "rel" in attributes
        if re.fullmatch("h[1-6]", tag):
            assert 3 <= int(tag[1]) <= last + 1, reader.tags
            last = int(tag[1])
    return reader


ATTACKS = (
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href=' java\tscript:alert(1)'>x</a>",
    "<a href='data:text/html,x'>x</a>",
    "<a href='//evil.example'>x</a>",
    "<iframe srcdoc='<script>1</script>'></iframe>",
    "<form action=https://evil.example><input name=a><button>go</button></form>",
    "<style>*{background:url(https://evil.example)}</style>",
    "<p style='background:url(https://evil.example)' class=secret id=x onclick=alert(1)>t</p>",
    "<img src=https://evil.example/x.png srcset='https://evil.example/y.png 2x' alt=kept>",
    "<link rel=stylesheet href=https://evil.example><meta http-equiv=refresh content=0>",
    "<base href=https://evil.example><object data=x></object><embed src=x>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<!--><img src=x onerror=alert(1)>--><!-- <b>comment</b> -->",
    "<template><img src=x onerror=alert(1)></template>",
    "<textarea></textarea><title><img src=x onerror=alert(1)></title>",
    "<video poster=https://evil.example><source src=x></video><audio src=x></audio>",
    "<h1><h2><div><h6 onclick=x>a</h6></div></h2></h1><h5>b",
    "![x](https://evil.example/x.png) ![y](javascript:alert(1)) [z](javascript:alert(1))",
    "<https://example.org> [a]: data:text/html,x",
    "```html\n<script>alert(1)</script>\n```\n\n    <script>indented</script>\n",
    "|a|\n|:-:|\n|<img src=x onerror=alert(1)>|",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<details open ontoggle=alert(1)><summary>s</summary>x</details>",
    "<div>" * 3000,
    "> " * 3000,
    "<a lang='\" href=\"x' href='https://example.org'>\" href=\"</a>",
    "<img alt='\"><script>' src='plot.png'>",
    "<pre class=code>code-0000-0</pre>",
    "<img alt='<table><script>alert(1)</script>' src=plot.png>",
    "<td align='<h1>'><a href='https://x.example/<table><h1>'>x</a>",
    "<img alt='&lt;script&gt;alert(1)&lt;/script&gt;'>",
)
PIECES = r"""< > ' " & = / ` * [ ]( ) # | - <p onclick= style= <a javascript: src= </p>"""
MARKUP = st.lists(
    st.sampled_from([*ATTACKS[:28], *re.findall(r"\S+", PIECES), " ", "\n", "\n\n", "\0"])
    | st.text(max_size=8),
    max_size=14,
).map("".join)


@given(MARKUP)
def test_html_cannot_do_anything(text: str) -> None:
    read(sanitize(text, lambda _: None))


@given(MARKUP)
@example("```<script>\nx\n```")
@example("# a\n\n### b\n\n# c\n")
def test_markdown_cannot_do_anything(text: str) -> None:
    formulas = Formulas("FORMULA-")
    html, code = markdown_html(text, "STAND-IN", formulas)
    read(formulas.put_back(sanitize(html, lambda _: "/asset/1")))
    for piece in code:
        read(piece)


@given(st.text(alphabet="./\\\\%2eEfF:?#ab \0") | st.text(), st.sampled_from(["a.md", "x/a.md"]))
def test_references_stay_inside(target: str, base: str) -> None:
    inner = inner_path(target, base)
    assert not inner.startswith(("/", "\\\\"))
    assert ".." not in inner.split("/")
    assert inner == "" or inner.isprintable()


@given(st.text(), st.sampled_from(["x.py", "x.html", "x.c", "x.unknown", "x.php", "Makefile"]))
def test_code_cannot_do_anything(text: str, name: str) -> None:
    """Code is shown as text, character by character, whatever language it is in."""
    reader = read(code_html(text, filename=name))
    assert {tag for tag, _ in reader.tags} <= {"pre", "code", "span"}


@pytest.mark.parametrize("name", ["S1.md", "S1.html", "S1.txt", "S1.js"])
def test_attacks_do_nothing(name: str, tmp_path: Path) -> None:
    for attack in ATTACKS:
        reader = read(shown(written(tmp_path, name, attack)))
        assert "evil.example" not in str(reader.tags)


OUTSIDE = {"rel": "noopener noreferrer nofollow", "target": "_blank"}


def test_markdown_is_shown_as_written(tmp_path: Path) -> None:
    text = (
        "# Plan\n\nSome *good* text.\n\n#### Deep\n\n|a|b|\n|--|-:|\n|1|2|\n\n"
        "```python\nif x < 1:\n    pass\n```\n\n- one\n- "
        "~~two~~\n\n[l](https://example.org/?a=1&b)\n"
    )
    made = rendered(written(tmp_path, "S1.md", text))
    reader = read(made.parts[0].html)
    assert {"h3", "h4", "em", "s", "li"} <= {tag for tag, _ in reader.tags}
    assert ("td", {"align": "right"}) in reader.tags
    assert ("span", {"class": "k"}) in reader.tags
    assert "if x < 1:\n    pass" in reader.text
    assert ("a", {"href": "https://example.org/?a=1&b", **OUTSIDE}) in reader.tags
    assert made.n_words == len(reader.text.split())
    japanese = rendered(written(tmp_path, "S2.md", "これは計画です。Plan B\n"))
    assert japanese.n_words == 7 + 2  # each sign of a language without spaces


ABOVE = "---\ntitle: Plan\nauthor:\n  - Ada Smith\n# x\n---\n"
RULE = "---\n\nJust a line: here\n\n---\n\nMore"
RULED = "<hr>\n<p>Just a line: here</p>\n<hr>\n<p>More</p>\n"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        # Front matter by a program is not part of the text; a line above it is.
        (f"{ABOVE}The plan.", "<p>The plan.</p>\n"),
        (RULE, RULED),
        ("[mine](home.html) <a href='#x'>here</a>", "<p><a>mine</a> <a>here</a></p>\n"),
    ],
    ids=["front matter", "rules", "links to own files"],
)
def test_what_is_left_of_markdown(text: str, html: str, tmp_path: Path) -> None:
    assert shown(written(tmp_path, "S1.md", text)) == html


@pytest.mark.parametrize("name", ["S1.txt", "S1.py", "S1.unknown", "S1"])
def test_text_and_code_keep_every_character(name: str, tmp_path: Path) -> None:
    text = "a < b && c\n\n  <b>indented</b>\n\ttab"
    assert read(shown(written(tmp_path, name, text))).text == text


def test_files_have_blind_names(tmp_path: Path) -> None:
    """No name of a file is in what is shown, neither that of a text nor that of an image."""
    pages = planted({"exif": PLANTS["exif"], "xmp": PLANTS["xmp"]})
    made = rendered(
        written(tmp_path, "ACME report.md", "text"),
        written(tmp_path, "ACME.png", image()),
        written(tmp_path, "ACME.pdf", pages),
        written(tmp_path, "x/ACME.py", "1"),
    )
    assert [(part.name, part.kind, part.url) for part in made.parts] == [
        ("File 1 of 4", "html", ""),
        ("File 2 of 4", "image", "/asset/2"),
        ("File 3 of 4", "pdf", ""),
        ("File 4 of 4", "html", ""),
    ]
    assert [(page.url, page.text) for page in made.parts[2].pages] == [
        (f"/asset/3/{number}", "An ordinary plan") for number in (1, 2)
    ]
    assert (made.n_words, made.n_lines) == (1 + 2 * 3, 1)
    assert (made.n_pages, made.n_pictures, made.snippet) == (2, 1, "text")
    assert "ACME" not in repr(made)


def test_images_are_shown_where_the_text_shows_them(tmp_path: Path) -> None:
    texts = {
        "1 text.md": "![A plot](plots/one%20a.png) ![](<plots/Two.PNG>) ![not](other.png)",
        "more/2.html": "<img src='../plots/three.gif'><img src='../../secret.png' alt='out'>",
    }
    files = [written(tmp_path, name, text) for name, text in texts.items()]
    for name in ("four.png", "one a.png", "three.gif", "two.png"):
        files += [written(tmp_path, f"plots/{name}", image(name[-3:].upper()))]
    made = rendered(*files)
    assert [part.kind for part in made.parts] == ["html", "html", "image"]
    assert (made.parts[2].url, made.parts[2].name) == ("/asset/3", "File 3 of 3")
    first, second = (read(part.html) for part in made.parts[:2])
    sources = [[attrs["src"] for tag, attrs in one.tags if tag == "img"] for one in (first, second)]
    assert sources == [["/asset/4", "/asset/6"], ["/asset/5"]]
    assert ("img", {"src": "/asset/4", "alt": "A plot", "loading": "lazy"}) in first.tags
    assert "not" in first.text
    assert "out" in second.text


def test_a_changed_file_is_shown_anew(tmp_path: Path) -> None:
    file = written(tmp_path, "S1.md", "first")
    assert "first" in shown(file)
    file.path.write_text("another text", encoding="utf-8")
    assert "another" in shown(file)


@pytest.mark.parametrize("broken", [None, b"\xff\x00\x9d", b"%PDF-1.7\nbroken"])
def test_a_broken_file_does_not_break_the_page(
    broken: bytes | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    is_pdf = b"%PDF" in (broken or b"")
    good = written(tmp_path, "S1.pdf", planted({"xmp": PLANTS["xmp"]})) if is_pdf else None
    files = good or written(tmp_path, "S1.md", "text"), written(tmp_path, "b.md", "more")
    files[0].path.unlink()
    if broken:
        files[0].path.write_bytes(broken)
    first, second = rendered(*files, gone="Not now <sorry>.").parts
    assert first.html == "<p>Not now &lt;sorry&gt;.</p>"
    assert "more" in second.html
    assert "S1." in caplog.text


FILES: dict[str, str | bytes] = {
    "a.md": FRONT_MATTER + "\n\n".join(["A plan", *MARKDOWN.values()]),
    "a.html": "\n".join(["<p>A plan</p>", *HTML.values()]),
    "redacted.md": f"A plan\n\n{SECRET} *made* it.\n",
    "a.ipynb": json.dumps(planted_notebook(secret)),
    **planted_images(secret),
}


@pytest.mark.parametrize("name", FILES)
def test_what_judges_do_not_see_is_not_copied(tmp_path: Path, name: str) -> None:
    content = FILES[name]
    raw = content.replace("?", SECRET).encode() if isinstance(content, str) else content
    marks = (Redaction(SECRET),) if name == "redacted.md" else ()
    copies = clean_copy(Solution("P1", "S1", (written(tmp_path, name, raw, redactions=marks),)))
    assert len(copies) == (2 if name.endswith("ipynb") else 1)
    for path, copy in copies.items():
        assert path.startswith("0")
        assert isinstance(content, bytes) or path.endswith("png") or b"plan" in copy
        assert SECRET.lower().encode() not in everything_in(copy).lower()


def test_markdown_stays_markdown_and_looks_the_same(tmp_path: Path) -> None:
    """Formulas, code, tables, and images are shown as in the original."""
    text = (
        "---\nauthor: Amy\n---\n# Plan\n\nSo $a^2$ and *more*.\n\n```python\nx = 1\n```\n\n"
        "| a | b |\n|---|---|\n| one | two |\n\n![a plot](plots/amy.png)\n"
    )
    (tmp_path / "plots").mkdir()
    picture().save(tmp_path / "plots/amy.png")
    plot = (tmp_path / "plots/amy.png").read_bytes()
    files = written(tmp_path, "a.md", text), written(tmp_path, "plots/amy.png", plot)
    copies = clean_copy(Solution("P1", "S1", files))
    assert list(copies) == ["01.md", "02.png"]
    copied = [written(tmp_path / "copied", *copy) for copy in copies.items()]
    first, second = (str(rendered(*some).parts[0].html).split() for some in (files, copied))
    assert first == second
