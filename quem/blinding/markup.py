"""Markdown and code as HTML, which is not safe yet."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict
    from pygments.lexer import Lexer

__all__ = ["code_html", "markdown_html", "text_html"]

# Longer code is shown without colors, which would take seconds.
_MOST_COLOURED = 100_000
# What programs put above a text: title, author, date.
_FRONT_MATTER = re.compile(r"\A---\n(?:(?:[\w.-]+:|[ \t]|- |#).*\n)*(?:---|\.\.\.)[ \t]*(?:\n|\Z)")


def markdown_html(text: str, stand_in: str) -> tuple[str, list[str]]:
    """Turn Markdown (CommonMark, tables, strikethrough) into HTML.

    Parameters
    ----------
    stand_in : str
        What no text holds. Code is left out of the HTML, as ``<pre>{stand_in}{index}</pre>``,
        since its colors are classes, which no sanitized text may bring along.

    Returns
    -------
    html : str
        Not safe.
    code : list of str
        Safe HTML of each piece of code.
    """
    env: dict[str, Any] = {"code": [], "stand_in": stand_in}
    html = _parser().render(_FRONT_MATTER.sub("", text), env)
    return html, env["code"]


def code_html(text: str, *, filename: str = "", language: str = "") -> str:
    """Color code by classes that ``static/code.css`` knows.

    Parameters
    ----------
    filename, language : str
        Either says how to read it; what is unknown stays uncolored.

    Returns
    -------
    str
        Safe HTML.
    """
    lexer = _lexer(filename, language) if len(text) <= _MOST_COLOURED else None
    if lexer is None:
        inner = escape(text.rstrip("\n"))
    else:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter

        inner = highlight(text, lexer, HtmlFormatter(nowrap=True)).rstrip("\n")
    return f'<pre class="code" tabindex="0"><code>{inner}</code></pre>'


def text_html(text: str) -> str:
    """Show plain text as it is; lines that are too long are wrapped by the style sheet."""
    return f'<pre class="plain">{escape(text.strip(chr(10)))}</pre>'


def _lexer(filename: str, language: str) -> Lexer | None:
    from pygments.lexers import get_all_lexers, get_lexer_by_name
    from pygments.util import ClassNotFound

    names = [language]
    if not language:
        # Pygments' own search looks for plugins, which takes 5 MB of memory.
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
    """A cell whose alignment is an attribute: pages allow no inline styles."""
    token = tokens[index]
    style = str(token.attrGet("style") or "")
    align = style.partition("text-align:")[2]
    return f'<{token.tag} align="{align}">' if align else f"<{token.tag}>"
