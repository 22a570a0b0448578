"""All states of judges' pages: nothing that axe knows of, nothing out of reach."""

from __future__ import annotations

import os
from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.browser.judging import Visit, accessible
from tests.browser.states import states, write_states_study
from tests.browser.views import EVERY_VIEW
from tests.languages.pseudo import PROGRAM, RIGHT
from tests.served import Served

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

# Of the design: laptop, tablet, phones; and a laptop at 200%, a phone on its side, and the least.
SIZES = [(1280, 800), (820, 1180), (390, 844), (360, 740), (640, 400), (844, 390), (320, 256)]
SCHEMES = ["light", "dark"]
VIEWS = list(product(SIZES, SCHEMES))
# Each state is seen in so many views, of other sizes than the state before.
FEW = 2


# The last one is made up, and written from the right.
LANGUAGES = ["en", "de", "ja", RIGHT] if EVERY_VIEW in os.environ else ["en"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_state_is_accessible(browser: Browser, tmp_path: Path, language: str) -> None:
    """In some windows and schemes each, by turns; `nox -s trials -- views` looks at all."""
    with Served(write_states_study(tmp_path), program=PROGRAM) as served:
        look_at_all(Visit(browser, served, "J0", locale=language), language)


def look_at_all(come: Visit, language: str) -> None:
    """Go through all states."""
    page, turn = come.page, 0
    for state in states(come):
        is_all = EVERY_VIEW in os.environ
        # The second view is of another size, and the other scheme.
        seen = VIEWS if is_all else [VIEWS[(turn + 3 * n) % len(VIEWS)] for n in range(FEW)]
        for number, ((width, height), scheme) in enumerate(seen):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.set_viewport_size({"width": width, "height": height})
            what = f"{state}, {width} x {height}, {scheme}, {language}"
            # Colors are the same in windows of all sizes: by turns in the one scheme or the other.
            accessible(page, what, colors=is_all or number == 0)
            if height < 500 and state.startswith("comparing"):
                can_be_answered(page, what)
        turn += 5
        page.set_viewport_size({"width": 1280, "height": 800})
    assert page.locator("html").get_attribute("lang") == language
    come.close()


def can_be_answered(page: Page, what: str) -> None:
    """In a low window too, verdicts and the button to stop can be reached and seen."""
    for name in ("[data-verdict=equal]", ".compare-head [data-do=stop]"):
        button = page.locator(name)
        button.focus()
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box, what
        height = page.viewport_size["height"]  # type: ignore[index]
        assert -1 <= box["y"] <= height - box["height"] + 1, f"{what}: {name} at {box}"
        top = page.evaluate(
            "({x, y}) => document.elementFromPoint(x, y)?.closest('button')?.textContent",
            {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2},
        )
        assert top == button.text_content(), f"{what}: {name} is covered by {top}"
