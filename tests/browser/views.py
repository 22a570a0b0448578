"""The windows and color schemes in which pages are looked at."""

from __future__ import annotations

import os
from itertools import count, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
# Set it to look at every view, as ``nox -s trials -- views`` does.
EVERY_VIEW = "QUEM_EVERY_VIEW"
_SIZES = {"wide": WIDE, "phone": PHONE}
_USUAL = {("wide", "light"), ("phone", "dark")}


# Counts the pages that were looked at.
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
