"""The windows and color schemes in which pages are looked at, and what is wrong with a page."""

from __future__ import annotations

import os
import re
from itertools import count, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axe_playwright_python.base import AXE_FILE_PATH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
# WCAG 1.4.10: as wide as a window of 1280 px at 400%.
NARROW = {"width": 320, "height": 640}
# Set it to look at every view, as ``nox -s trials -- views`` does.
EVERY_VIEW = "QUEM_EVERY_VIEW"
_SIZES = {"wide": WIDE, "phone": PHONE}
_USUAL = {("wide", "light"), ("phone", "dark")}


# All that a page says, also where it is hidden or only read out, but for names of keys, code, and
# what is in another language.
TEXTS = """() => {
  const out = [document.title];
  const skip = "script, style, template, kbd, code, [lang]:not(html)";
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.closest(skip)) out.push(node.textContent);
  }
  for (const name of ["aria-label", "title", "alt", "placeholder"]) {
    for (const one of document.querySelectorAll(`[${name}]`)) out.push(one.getAttribute(name));
  }
  return out;
}"""
# Overflowing or clipped elements, except for the beginnings of solutions.
CLIPPED = """() => {
  const out = [];
  const mayEnd = ".snippet, .bar h1, #strip-order, .reader .meta, .pane .meta, .unseen, .skip"
    + (innerWidth < 704 ? ", .compare-head .who, .compare-head .name" : "");  // for screen readers
  for (const one of document.querySelectorAll("body *")) {
    const hasText = [...one.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!hasText || !one.checkVisibility() || one.closest(mayEnd)) continue;
    const box = one.getBoundingClientRect();
    const isIn = one.closest("pre, .table-scroll, textarea");
    const isOut = box.left < -1 || box.right > innerWidth + 1;
    if (!isIn && isOut) out.push(["outside", one.outerHTML]);
    for (let o = one; o && o !== document.body; o = o.parentElement) {
      const style = getComputedStyle(o);
      const isFull = o.scrollWidth > o.clientWidth + 1;
      const cuts = o.matches(".btn") || ["hidden", "clip"].includes(style.overflowX);
      if (isFull && cuts) out.push(["cut", o.outerHTML]);
    }
  }
  return out;
}"""
# Latin text on pages of all languages.
_KNOWN = re.compile(r"\b(?:UTC|a@example\.org|An ordinary plan|[0-9a-f]{10})\b")

# Counts checked pages.
_PAGES = count()


def each_view(page: Page) -> Iterator[tuple[str, bool]]:
    """Show a page, which moves nothing, in one view after the other.

    Gives the name of each, and whether to look at colors, which takes longest: of each page in
    one view, by turns light and dark, unless every view is wanted.
    """
    is_all = EVERY_VIEW in os.environ
    views = list(product(_SIZES, ("light", "dark")))
    shown = [view for view in views if is_all or view in _USUAL]
    turn = next(_PAGES) % len(shown)
    for number, (size, scheme) in enumerate(shown):
        page.set_viewport_size(_SIZES[size])  # type: ignore[arg-type]
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        yield f"{size}-{scheme}", is_all or number == turn
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="light")


def look(page: Page, what: str) -> None:
    texts = [_KNOWN.sub("", text) for text in page.evaluate(TEXTS)]
    assert [text for text in texts if re.search("[A-Za-z]{2}", text)] == [], what
    assert page.evaluate(CLIPPED) == [], what
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"], what  # type: ignore[index]


_SCRIPT = Path(AXE_FILE_PATH).read_text(encoding="utf-8")
_RUN = "options => axe.run(document, options).then(results => results.violations)"
# Four fifths of the time of axe; windows of all sizes have the same colors.
_COLORS = {"rules": {"color-contrast": {"enabled": False}}}


def objections(page: Page, *, colors: bool = True) -> list[tuple[str, list[Any]]]:
    """List the rules that a page breaks, and where; without colors, all but their contrast."""
    # The script stays as long as the page; reading it takes as long as most rules do.
    if page.evaluate("!window.axe"):
        page.evaluate(_SCRIPT)
    options = {"resultTypes": ["violations"], **({} if colors else _COLORS)}
    found = page.evaluate(_RUN, options)
    return [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found]
