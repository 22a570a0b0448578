"""Safe HTML: from Markdown and code, or sanitized."""

from __future__ import annotations

import re
from functools import cache
from html import escape, unescape
from typing import TYPE_CHECKING, Any

import nh3

from quem.blinding.formulas import Formulas, add_formulas

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict
    from pygments.lexer import Lexer


# The page's own headings end at level 2.
TOP_HEADING = 3
_LOWEST_HEADING = 6
_TAGS = {
    *("a", "abbr", "b", "bdi", "bdo", "blockquote", "br", "caption", "cite", "code", "dd"),
    *("del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark"),
    *("ol", "p", "pre", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strong"),
    *("sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u"),
    *("ul", "var", "wbr"),
}
# Elements that are removed with their text.
_EMPTIED = {
    *("applet", "audio", "button", "canvas", "datalist", "embed", "frameset", "iframe"),
    *("math", "noembed", "noframes", "noscript", "object", "script", "select", "style"),
    *("svg", "template", "textarea", "title", "video"),
}
_ATTRIBUTES = {
    "*": {"dir", "lang"},
    "a": {"href"},
    "img": {"alt", "src"},
    "li": {"value"},
    "ol": {"reversed", "start"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan", "scope"},
}
_VALUES = {
    "align": re.compile(r"left|right|center"),
    "colspan": re.compile(r"[0-9]{1,3}"),
    "dir": re.compile(r"ltr|rtl|auto"),
    "href": re.compile(r"https?://.+", re.IGNORECASE | re.DOTALL),
    # Language, script, and region; longer tags could hold invisible text.
    "lang": re.compile(r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?"),
    "rowspan": re.compile(r"[0-9]{1,3}"),
    "scope": re.compile(r"row|col|rowgroup|colgroup"),
    "start": re.compile(r"-?[0-9]{1,6}"),
    "value": re.compile(r"-?[0-9]{1,6}"),
}
_TAG = re.compile(r'<(/?)([a-z][a-z0-9]*)((?: [a-z]+="[^"]*")*)>')
_ALT = re.compile(r' alt="([^"]*)"')
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_OUTSIDE = 'rel="noopener noreferrer nofollow" target="_blank"'


def sanitize(html: str, image_url: Callable[[str], str | None]) -> str:
    """Reduce HTML to text, structure, and known images."""

    def checked(tag: str, name: str, value: str) -> str | None:
        if tag == "img" and name == "src":
            return image_url(value)
        allowed = _VALUES.get(name)
        return value if allowed is None or allowed.fullmatch(value) else None

    clean = nh3.clean(
        html,
        tags=_TAGS,
        clean_content_tags=_EMPTIED,
        attributes=_ATTRIBUTES,
        attribute_filter=checked,
        url_schemes={"http", "https"},
        link_rel=None,
    )
    return _Finish(clean).run()


class _Finish:
    """Changes to tags after sanitizing, in one pass."""

    def __init__(self, html: str) -> None:
        self._html = html
        names = {tag[2] for tag in _TAG.finditer(html)}
        used = [level for name, level in _HEADINGS.items() if name in names]
        self._levels = {level: TOP_HEADING + index for index, level in enumerate(used)}
        self._last = TOP_HEADING - 1
        self._opened: list[int] = []

    def run(self) -> str:
        return _TAG.sub(self._tag, self._html)

    def _tag(self, match: re.Match[str]) -> str:
        closes, name, attributes = match.groups()
        if name in _HEADINGS:
            return self._heading(_HEADINGS[name], attributes, closes=bool(closes))
        if closes:
            return "</table></div>" if name == "table" else match[0]
        finish = _FINISHES.get(name)
        return finish(attributes) if finish else match[0]

    def _heading(self, level: int, attributes: str, *, closes: bool) -> str:
        """Put a heading below those of the page, without gaps between levels."""
        if closes:
            return f"</h{self._opened.pop()}>" if self._opened else ""
        self._last = min(self._levels[level], self._last + 1, _LOWEST_HEADING)
        self._opened.append(self._last)
        return f"<h{self._last}{attributes}>"


def _image(attributes: str) -> str:
    alt = _ALT.search(attributes)
    text = escape(unescape(alt[1])).strip() if alt else ""
    if ' src="' not in attributes:
        return f'<span class="no-image">{text}</span>' if text else ""
    others = _ALT.sub("", attributes)
    return f'<img{others} alt="{text}" loading="lazy">'


def _link(attributes: str) -> str:
    return f"<a{attributes} {_OUTSIDE}>" if ' href="' in attributes else "<a>"


def _pre(attributes: str) -> str:
    # Scrollable elements must be reachable by keyboard.
    return f'<pre{attributes} tabindex="0">'


def _table(attributes: str) -> str:
    return f'<div class="table-scroll" tabindex="0"><table{attributes}>'


_FINISHES = {"a": _link, "img": _image, "pre": _pre, "table": _table}
# Longer code is shown without colors, which would take seconds.
_MOST_COLOURED = 100_000
# Front matter: title, author, date.
_FRONT_MATTER = re.compile(r"\A---\n(?:(?:[\w.-]+:|[ \t]|- |#).*\n)*(?:---|\.\.\.)[ \t]*(?:\n|\Z)")


def markdown_html(
    text: str, stand_in: str, formulas: Formulas, code: list[str] | None = None
) -> tuple[str, list[str]]:
    """Turn Markdown (CommonMark, tables, strikethrough) into HTML."""
    kept = [] if code is None else code
    env: dict[str, Any] = {"code": kept, "stand_in": stand_in, "formulas": formulas}
    html = _parser().render(_FRONT_MATTER.sub("", text), env)
    return html, env["code"]


def code_html(text: str, *, filename: str = "", language: str = "") -> str:
    """Highlight code with the classes of ``static/code.css``."""
    lexer = _lexer(filename, language) if len(text) <= _MOST_COLOURED else None
    if lexer is None:
        inner = escape(text.rstrip("\n"))
    else:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter

        inner = highlight(text, lexer, HtmlFormatter(nowrap=True)).rstrip("\n")
    # Pygments ends spans at line ends, so each line can be an element, which the style sheet
    # numbers. The line break stays inside it, for copying and counting.
    lines = inner.replace("\n", '\n</span><span class="line">')
    return f'<pre class="code" tabindex="0"><code><span class="line">{lines}</span></code></pre>'


def text_html(text: str) -> str:
    """Plain text as HTML; the style sheet wraps long lines."""
    return f'<pre class="plain">{escape(text.strip(chr(10)))}</pre>'


def _lexer(filename: str, language: str) -> Lexer | None:
    from pygments.lexers import get_all_lexers, get_lexer_by_name
    from pygments.util import ClassNotFound

    names = [language]
    if not language:
        # Pygments' own lookup loads plugins, which takes 5 MB of memory.
        names = [
            aliases[0]
            for _, aliases, patterns, _ in get_all_lexers(plugins=False)
            if aliases and any(_fits(filename, pattern) for pattern in patterns)
        ]
    try:
        lexers = [get_lexer_by_name(name, stripnl=False) for name in names]
    except (ClassNotFound, ValueError):
        return None
    return max(lexers, key=lambda lexer: lexer.priority, default=None)


def _fits(filename: str, pattern: str) -> bool:
    return filename == pattern or (pattern[:2] == "*." and filename.endswith(pattern[1:]))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _code)
    add_formulas(parser)
    for cell in ("td_open", "th_open"):
        parser.add_render_rule(cell, _cell)
    return parser


def _code(
    _self: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, env: EnvType
) -> str:
    token = tokens[index]
    words = token.info.split()
    code = env["code"]
    code.append(code_html(token.content, language=words[0] if words else ""))
    return f"<pre>{env['stand_in']}{len(code) - 1}</pre>\n"


def _cell(
    _self: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    """A cell with its alignment as an attribute: pages allow no inline styles."""
    token = tokens[index]
    style = str(token.attrGet("style") or "")
    align = style.partition("text-align:")[2]
    return f'<{token.tag} align="{align}">' if align else f"<{token.tag}>"
