"""Whatever HTML comes in, what goes out can neither run, nor load, nor style anything.

nh3 (ammonia) parses as browsers do and rewrites the tree, so that what follows here works
on well-formed HTML: attributes are in double quotes, and outside of tags there is no "<".
Inside attributes there may be one, so tags are always taken whole.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING

import nh3

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TOP_HEADING", "sanitize"]

# The page's own headings end at 2.
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
# Of these not even the text inside is kept.
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
    # Language, script and region; longer parts could hold anything, and nobody sees them.
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
    """Keep of HTML what is text, structure and known images.

    Parameters
    ----------
    html : str
        Anything.
    image_url : callable
        What an image's source becomes; None takes the image away and leaves its text.

    Returns
    -------
    str
        Without scripts, styles, forms, frames, classes, ids and event handlers. Links lead to
        http(s) only. Headings begin at `TOP_HEADING` and skip no level.
    """

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
    """What is done to tags after sanitizing, all in one pass."""

    def __init__(self, html: str) -> None:
        self._html = html
        found = {tag[2] for tag in _TAG.finditer(html)}
        used = [level for name, level in _HEADINGS.items() if name in found]
        self._levels = {level: TOP_HEADING + index for index, level in enumerate(used)}
        self._last = TOP_HEADING - 1
        self._opened: list[int] = []

    def run(self) -> str:
        return _TAG.sub(self._tag, self._html)

    def _tag(self, found: re.Match[str]) -> str:
        closes, name, attributes = found.groups()
        if name in _HEADINGS:
            return self._heading(_HEADINGS[name], attributes, closes=bool(closes))
        if closes:
            return "</table></div>" if name == "table" else found[0]
        finish = _FINISHES.get(name)
        return finish(attributes) if finish else found[0]

    def _heading(self, level: int, attributes: str, *, closes: bool) -> str:
        """Put a heading below those of the page, without a gap between levels."""
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
    return f'<img{others} alt="{text or "Image"}" loading="lazy">'


def _link(attributes: str) -> str:
    return f"<a{attributes} {_OUTSIDE}>" if ' href="' in attributes else "<a>"


def _pre(attributes: str) -> str:
    # What may scroll sideways has to be within reach of the keyboard.
    return f'<pre{attributes} tabindex="0">'


def _table(attributes: str) -> str:
    return f'<div class="table-scroll" tabindex="0"><table{attributes}>'


_FINISHES = {"a": _link, "img": _image, "pre": _pre, "table": _table}
