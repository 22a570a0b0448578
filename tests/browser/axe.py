"""Violations that axe finds on a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from axe_playwright_python.base import AXE_FILE_PATH

if TYPE_CHECKING:
    from playwright.sync_api import Page

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
