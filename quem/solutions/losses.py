"""Content that judges do not see, or see unintentionally: scripts, styles, formulas."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from quem.errors import QuemError, StudyWarning
from quem.io.text import read_text, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from quem.solutions.model import SolutionFile

_REMEDY = "hand it in as PDF or pictures"
# Unsupported content: its name, and the element.
_DROPPED = {
    **dict.fromkeys(("svg", "canvas"), "drawing"),
    **dict.fromkeys(("iframe", "embed", "object", "frameset", "applet"), "frame"),
    **dict.fromkeys(("audio", "video"), "recording"),
    **dict.fromkeys(("select", "textarea", "input", "button", "datalist"), "form field"),
}
_UNREAD = {"script", "style", "template", "title", "noscript", "head", *_DROPPED} - {"input"}
_EMPTY_TAGS = {"img", "br", "hr", "input", "meta", "link", "wbr", "embed", "source", "col"}
_PLACEHOLDER = re.compile(
    r"\W*(?:(?:loading|please wait|wait|rendering|n/?a|tbd|-+)\W*)*", re.IGNORECASE
)
_HIDES = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])"
    r"|(?<![\w-])color\s*:\s*(?:transparent|rgba\((?:[^,()]+,){3}\s*0(?:\.0*)?\s*\))"
    r"|(?:left|top|text-indent)\s*:\s*-\d{3}|transform\s*:\s*scale\(0\)"
    r"|clip\s*:\s*rect\([01]|clip-path\s*:\s*inset\((?:50|100)%",
    re.IGNORECASE,
)
# Hides its content with "overflow: hidden".
_TINY = re.compile(
    r"(?<![\w-])(?:max-)?(?:height|width)\s*:\s*[01](?:px)?(?![\w.%])", re.IGNORECASE
)
_OVERFLOW = re.compile(r"overflow\s*:\s*(?:hidden|clip)", re.IGNORECASE)
# White text is hidden unless it has a background.
_WHITE = r"(?:white|#fff(?:fff)?|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\))(?!\w)"
_WHITE_LETTERS = re.compile(rf"(?<![\w-])color\s*:\s*{_WHITE}", re.IGNORECASE)
_PAINTED = re.compile(
    rf"background(?:-color|-image)?\s*:\s*(?!\s|transparent|none|{_WHITE})|bgcolor\s*=",
    re.IGNORECASE,
)
_STYLES = re.compile(
    r"<style[^<>]*>([^<]*)</style|\sstyle\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]*)|<[a-z][^<>]*(bgcolor\s*=)",
    re.DOTALL | re.IGNORECASE,
)
_AT_PRINT = re.compile(
    r"@media[^{@]*\bprint\b[^{@]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}|/\*.*?(?:\*/|\Z)", re.DOTALL
)
_RULE = re.compile(r"(?<![^{}])([^{}]+)\{([^{}]*)\}")
_SIMPLE = re.compile(r"(?:[\w-]+)?(?:[.#][\w-]+)?")
_LITERAL = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`")
_TAGS = re.compile(r"<[^>]*>")
# The smallest visible share of a page's possible content.
_LEAST_SHARE = 0.6
_LEAST_WRITTEN = 40
_MOST_SHOWN = 40
# A text without any of these is not parsed, for speed.
_SUSPECT = re.compile(
    rf"<(?:script|style|math|font|{'|'.join(_DROPPED)})\b|<[^<>]*\s(?:on[a-z]+|style|hidden)\b",
    re.IGNORECASE,
)
_CODE_SPAN = re.compile(
    r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)|<(code|kbd|samp)\b(?:(?!<\3\b).)*?</\3>",
    re.DOTALL | re.IGNORECASE,
)
_DIAGRAM = re.compile(r"^ {0,3}(?:`{3,}|~{3,})[ \t]*mermaid\b", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Loss:
    """Content of a file that judges do not see as intended."""

    warning: StudyWarning  # the loss and its remedy
    name: str  # as a user would name it
    line: int  # of the first occurrence; 0 in a file without lines


def losses_of(files: Iterable[SolutionFile]) -> list[Loss]:
    """Content lost from the texts of a solution, or shown although hidden."""
    losses: list[Loss] = []
    for file in files:
        if file.kind in ("office", "workbook"):
            losses += [Loss(warning, file.name, 0) for warning in _office_losses(file)]
        if file.kind == "notebook":
            losses += [Loss(warning, file.name, 0) for warning in _notebook_losses(file)]
        if file.kind not in ("markdown", "html"):
            continue
        try:
            text = read_text(file.path, file.name, what="solution")
        except QuemError:
            # Deleted meanwhile; finding the solutions reports unreadable files.
            continue
        diagrams = _diagrams(text) if file.kind == "markdown" else ()
        warnings = (*diagrams, *_html_losses(text, file.kind))
        losses += [Loss(warning, file.name, line) for line, warning in warnings]
    return losses


def _office_losses(file: SolutionFile) -> Iterator[StudyWarning]:
    """Warnings on content of documents and workbooks that judges do not see."""
    from quem.blinding.office import read_office

    try:
        made = read_office(file)
    except QuemError:
        # The error is reported elsewhere.
        return
    for place, words in (one for table in made.tables for one in table.hidden):
        message = f"the format of {place} hides {shown(words[:_MOST_SHOWN])}, and judges see it"
        yield StudyWarning("hidden-text", f"{message}; delete it")
    if made.lost:
        are = "is" if sum(made.lost.values()) == 1 else "are"
        message = f"{_listing(made.lost)} {are} not shown; put what matters into the text"
        yield StudyWarning("not-shown", message)
    drawn = [table.name for table in made.tables if table.drawn]
    if drawn and made.pdf is None:
        sheets = ", ".join(map(shown, drawn))
        message = f"charts and pictures of {sheets} are not shown; {_REMEDY}"
        yield StudyWarning("not-shown", message)
    if count := sum(table.formulas for table in made.tables):
        are = "formula has" if count == 1 else "formulas have"
        message = (
            f"{count:,} {are} no stored result, and judges see that instead of a number; install "
            "LibreOffice, or open and save it in a spreadsheet program"
        )
        yield StudyWarning("formula-without-result", message)


def _listing(counts: Mapping[str, int]) -> str:
    """Counts of things in words: "1 comment, 2 hidden slides"."""
    return ", ".join(f"{n:,} {_plural(name) if n > 1 else name}" for name, n in counts.items())


def _plural(name: str) -> str:
    first, of, rest = name.partition(" of ")
    return " or ".join(f"{word}s" for word in first.split(" or ")) + of + rest


def _notebook_losses(file: SolutionFile) -> Iterator[StudyWarning]:
    """Warnings on content of notebooks that judges do not see."""
    from quem.blinding.notebooks import read_notebook

    try:
        notebook = read_notebook(file.path)
    except QuemError:
        # The error is reported elsewhere.
        return
    for block in notebook.blocks:
        if block.kind in ("html", "markdown"):
            hidden = _html_losses(block.text, block.kind)
            yield from (warning for _, warning in hidden if warning.code == "hidden-text")
    lost = notebook.lost
    if lost:
        are = "is" if sum(lost.values()) == 1 else "are"
        message = f"{_listing(lost)} {are} not shown; save what matters as a picture or text"
        yield StudyWarning("not-shown", message)


def _diagrams(text: str) -> Iterator[tuple[int, StudyWarning]]:
    """Warnings on diagrams that are shown as source."""
    places = [text.count("\n", 0, match.start()) + 1 for match in _DIAGRAM.finditer(text)]
    if places:
        count = len(places)
        what = "a Mermaid diagram is" if count == 1 else f"{count} Mermaid diagrams are"
        message = f"{what} shown as code; save it as SVG or PNG to have it drawn"
        yield places[0], StudyWarning("not-shown", message)


def _html_losses(text: str, kind: str) -> Iterator[tuple[int, StudyWarning]]:
    """Warnings on HTML that needs scripts, styles, or drawings."""
    if not _SUSPECT.search(text):
        return
    if kind == "markdown":
        text = _without_code(text)
    page = _read(text)
    if lost := _lost_to_scripts(page):
        message = f"its script is not run, {lost}; {_REMEDY}"
        yield page.first_script, StudyWarning("html-script", message)
    if page.hidden:
        line, words = page.hidden[0]
        more = f" and {len(page.hidden) - 1} more" if len(page.hidden) > 1 else ""
        message = (
            f"a style hides {shown(words[:_MOST_SHOWN])}{more}, and judges see it, since styles "
            f"are removed; delete the text, or {_REMEDY}"
        )
        yield line, StudyWarning("hidden-text", message)
    if page.dropped:
        counts = Counter(name for _, name in page.dropped)
        listing = _listing(counts)
        is_one = len(page.dropped) == 1
        message = f"{listing} {'is' if is_one else 'are'} not shown; {_REMEDY}"
        yield page.dropped[0][0], StudyWarning("not-shown", message)
    if page.mathml:
        message = f"a formula in MathML is not shown; {_REMEDY}, or write it in words"
        yield page.mathml, StudyWarning("not-shown", message)


def _without_code(text: str) -> str:
    """Markdown with its code replaced by empty lines."""
    from markdown_it import MarkdownIt

    lines = text.split("\n")
    for token in MarkdownIt("commonmark").parse(text):
        if token.type in ("fence", "code_block") and token.map:
            start, end = token.map
            lines[start:end] = [""] * (end - start)
    return _CODE_SPAN.sub(lambda match: "\n" * match[0].count("\n"), "\n".join(lines))


def _lost_to_scripts(page: _Page) -> str:
    """The content that only a script would show."""
    if not page.first_script:
        return ""
    code = "\n".join(page.scripts)
    literals = [next(filter(None, groups), "") for groups in _LITERAL.findall(code)]
    named = {literal.lstrip("#") for literal in literals}
    empty = [
        name
        for name, words in page.by_id.items()
        if name in named and _PLACEHOLDER.fullmatch("".join(words))
    ]
    if empty:
        more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
        return f"and the element {shown(empty[0])}{more} stays empty"
    written = sum(len(_TAGS.sub("", text)) for text in literals if " " in text or "<" in text)
    if written >= _LEAST_WRITTEN and page.seen < _LEAST_SHARE * (page.seen + written):
        return "and most of its text comes from the script"
    return "" if page.seen else "and nothing is left without it"


@dataclass
class _Open:
    """An element that is not closed yet."""

    tag: str
    id: str
    hides: bool
    unread: bool


@dataclass
class _Page:
    """Findings in HTML."""

    first_script: int = 0
    scripts: list[str] = field(default_factory=list)
    by_id: dict[str, list[str]] = field(default_factory=dict)
    hidden: list[tuple[int, str]] = field(default_factory=list)
    dropped: list[tuple[int, str]] = field(default_factory=list)
    mathml: int = 0
    seen: int = 0


def _read(text: str) -> _Page:
    reader = _Reader(text)
    reader.feed(text)
    reader.close()
    return reader.page


class _Hiding:
    """The styles of a page that hide something on a screen."""

    def __init__(self, text: str) -> None:
        styles = ["".join(groups) for groups in _STYLES.findall(text)]
        self._is_painted = any(map(_PAINTED.search, styles))
        rules = [rule for one in styles for rule in _RULE.findall(_AT_PRINT.sub("", one))]
        found = {one.strip() for names, body in rules if self.by(body) for one in names.split(",")}
        self.selectors = {name for name in found if name and _SIMPLE.fullmatch(name)}

    def by(self, style: str) -> bool:
        """Whether a style hides its content."""
        is_tiny = _TINY.search(style) and _OVERFLOW.search(style)
        is_white = not self._is_painted and _WHITE_LETTERS.search(style)
        return bool(_HIDES.search(style) or is_tiny or is_white)


class _Reader(HTMLParser):
    """Parses HTML for its visible content."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.page = _Page()
        self._hiding = _Hiding(text)
        self._open: list[_Open] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        line = self.getpos()[0]
        attributes = {name: value or "" for name, value in attrs}
        if tag == "script" or any(name.startswith("on") for name in attributes):
            self.page.first_script = self.page.first_script or line
            self.page.scripts += [
                value for name, value in attributes.items() if name.startswith("on")
            ]
        if tag == "math":
            self.page.mathml = self.page.mathml or line
        is_inside = any(element.tag in _DROPPED for element in self._open)
        if tag in _DROPPED and not is_inside and attributes.get("type") != "hidden":
            self.page.dropped.append((line, _DROPPED[tag]))
        if tag in _EMPTY_TAGS:
            return
        if attributes.get("id") and not is_inside:
            self.page.by_id.setdefault(attributes["id"], [])
        self._open.append(
            _Open(tag, attributes.get("id", ""), self._hides(tag, attributes), tag in _UNREAD)
        )

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if any(element.tag == tag for element in self._open):
            while self._open.pop().tag != tag:
                continue

    def handle_data(self, data: str) -> None:
        if any(element.tag == "script" for element in self._open):
            self.page.scripts.append(data)
            return
        if any(element.unread for element in self._open) or not data.strip():
            return
        line = self.getpos()[0] + len(data) - len(data.lstrip("\n"))
        self.page.seen += len("".join(data.split()))
        if any(element.hides for element in self._open):
            self.page.hidden.append((line, " ".join(data.split())))
        for element in self._open:
            if element.id:
                self.page.by_id[element.id].append(data)

    def _hides(self, tag: str, attributes: dict[str, str]) -> bool:
        color = f"; color: {attributes['color']}" if tag == "font" and "color" in attributes else ""
        if "hidden" in attributes or self._hiding.by(attributes.get("style", "") + color):
            return True
        names = ["", *(f".{name}" for name in attributes.get("class", "").split())]
        names += [f"#{attributes['id']}"] if attributes.get("id") else []
        hidden = self._hiding.selectors
        return any(name in hidden or f"{tag}{name}" in hidden for name in names)
