"""The windows and color schemes in which pages are looked at."""

from __future__ import annotations

import os
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

__all__ = ["EVERY_VIEW", "PHONE", "WIDE", "each_view"]

WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
# Set it to look at every view, as ``nox -s trials -- views`` does.
EVERY_VIEW = "QUEM_EVERY_VIEW"
_SIZES = {"wide": WIDE, "phone": PHONE}
_USUAL = {"wide-light", "phone-dark"}


def each_view(page: Page) -> Iterator[str]:
    """Show a page, which moves nothing, in one view after the other; gives their names."""
    for size, scheme in product(_SIZES, ("light", "dark")):
        name = f"{size}-{scheme}"
        if EVERY_VIEW in os.environ or name in _USUAL:
            page.set_viewport_size(_SIZES[size])  # type: ignore[arg-type]
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            yield name
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="light")
