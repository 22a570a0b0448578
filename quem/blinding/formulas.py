r"""Formulas in texts: finding them and passing them to pages.

Pages get the TeX of a formula as an element's text, which ``static/formulas.js`` renders by KaTeX.
``$$...$$``, ``\[...\]`` and ``\(...\)`` are formulas, and ``$...$`` where no blank follows or
precedes the signs inside and no digit follows: "costs $5 and $6" stays text. Code holds none.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

CLASS = "math"
_FORMULA = re.compile(
    r"(?<![\\$])\$\$(?!\$)(?P<block>[^$]+?)\$\$"
    r"|\\\[(?P<brackets>.+?)\\\]|\\\((?P<parentheses>.+?)\\\)"
    r"|(?<![\\$])\$(?![\s$])(?P<inline>(?:[^$\n\\]|\\.|\n(?!\s*\n))*?)(?<![\s\\$])\$(?![\d$])",
    re.DOTALL,
)
_DISPLAYED = ("block", "brackets")
_ENDS = {"$$": "$$", "\\[": "\\]"}
# Text between these is code, or no text at all.
_PARTS = re.compile(
    r"(<!--.*?-->|<(pre|code|kbd|samp|script|style|textarea|svg|math)\b.*?</\2\s*>|<[^>]*>)",
    re.DOTALL | re.IGNORECASE,
)
# "from $5 to 10$ each" is prose: words, without a mathematical sign.
_SIGNS = re.compile(r"[\\^_={}<>+*/|]")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CODE_TAG = re.compile(r"<(/?)(?:pre|code|kbd|samp)\b", re.IGNORECASE)
_SHOWN = re.compile(rf'<span class="{CLASS}"[^>]*>[^<]*</span>')


class Formulas:
    """The formulas of one text, each replaced by a placeholder during sanitizing."""

    def __init__(self, holder: str) -> None:
        self._holder = holder
        self._number = re.compile(rf"{holder}(\d+)-")
        self._elements: list[str] = []

    def keep(self, tex: str, *, displayed: bool) -> str:
        """Keep a formula and return its placeholder."""
        display = ' data-display="true"' if displayed else ""
        self._elements.append(f'<span class="{CLASS}"{display}>{escape(tex.strip())}</span>')
        return f"{self._holder}{len(self._elements) - 1}-"

    def keep_all(self, html: str) -> str:
        """Keep the formulas in the text of HTML that is not sanitized yet."""
        pieces = _PARTS.split(html)
        # The split yields triples of text, markup, and tag name.
        pieces[::3] = [_FORMULA.sub(self._kept, piece) for piece in pieces[::3]]
        return "".join(piece for at, piece in enumerate(pieces) if at % 3 != 2 and piece)  # noqa: PLR2004

    def _kept(self, match: re.Match[str]) -> str:
        name = match.lastgroup or ""
        if _is_prose(match):
            return match[0]
        return self.keep(unescape(match[name]), displayed=name in _DISPLAYED)

    def put_back(self, html: str) -> str:
        """Put the formulas back into sanitized HTML."""
        if not self._elements:
            return html
        return self._number.sub(lambda match: self._elements[int(match[1])], html)


def _is_prose(match: re.Match[str]) -> bool:
    """Whether two dollar signs enclose words by chance."""
    text = match["inline"]
    return bool(text and " " in text and not _SIGNS.search(text) and _WORD.search(text))


def without_formulas(html: str) -> str:
    """HTML with an ellipsis for each formula, for counting and quoting words."""
    return _SHOWN.sub("…", html)


def add_formulas(parser: MarkdownIt) -> None:
    """Add formulas to a Markdown parser; ``env["formulas"]`` keeps those of a text."""
    parser.inline.ruler.before("escape", "formula", _inline)
    parser.block.ruler.before(
        "fence", "formula_block", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    parser.add_render_rule("formula", _rendered)
    parser.add_render_rule("formula_block", _rendered)
    parser.add_render_rule("html_block", _rendered_html)


def _inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  of markdown-it
    if state.src[state.pos] not in "$\\":
        return False
    match = _FORMULA.match(state.src, state.pos)
    if match is None or _is_prose(match) or _is_in_code(state):
        return False
    if not silent:
        token = state.push("formula", "", 0)
        name = match.lastgroup or ""
        token.content = match[name]
        token.meta = {"displayed": name in _DISPLAYED}
    state.pos = match.end()
    return True


def _is_in_code(state: StateInline) -> bool:
    """Whether a tag is inside an element of code."""
    tags = (_CODE_TAG.match(t.content) for t in state.tokens if t.type == "html_inline")
    return sum(-1 if tag[1] else 1 for tag in tags if tag) > 0


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """A formula on separate lines, which may look like a list or a heading."""
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]].strip()
    closing = _ENDS.get(first[:2])
    if closing is None or state.sCount[start] - state.blkIndent >= 4:  # noqa: PLR2004  code
        return False
    lines = [first[2:]]
    last = start
    while not lines[-1].rstrip().endswith(closing):
        last += 1
        if last >= end or state.isEmpty(last) or state.sCount[last] < state.blkIndent:
            return False
        lines.append(state.src[state.bMarks[last] + state.tShift[last] : state.eMarks[last]])
    tex = "\n".join(lines).rstrip()[: -len(closing)]
    if closing in tex or not tex.strip():
        return False
    if not silent:
        token = state.push("formula_block", "", 0)
        token.content = tex
        token.map = [start, last + 1]
        token.meta = {"displayed": True}
        state.line = last + 1
    return True


def _rendered(
    _self: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, env: EnvType
) -> str:
    token = tokens[index]
    kept = env["formulas"].keep(token.content, displayed=token.meta["displayed"])
    return f"<p>{kept}</p>\n" if token.type == "formula_block" else str(kept)


def _rendered_html(
    _self: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, env: EnvType
) -> str:
    html: Any = env["formulas"].keep_all(tokens[index].content)
    return str(html)
