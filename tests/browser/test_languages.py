"""All states of judges' pages: accessible, all in reach, translated, and mirrored."""

from __future__ import annotations

import os
from itertools import product
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.judging import (
    Visit,
    accessible,
    begin,
    choose,
    drag,
    escape,
    follow,
    open_menu,
    shown,
    submit,
)
from tests.browser.states import states, write_states_study
from tests.browser.views import EVERY_VIEW, NARROW, WIDE, look
from tests.languages.pseudo import LEFT, PROGRAM, RIGHT
from tests.served import Served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page

# Of the design: laptop, tablet, phones; and a laptop at 200%, a phone on its side, and the least.
SIZES = [(1280, 800), (820, 1180), (390, 844), (360, 740), (640, 400), (844, 390), (320, 256)]
VIEWS = list(product(SIZES, ["light", "dark"]))
# Each state is seen in so many views, of other sizes than the state before.
FEW = 2
LANGUAGES = [LEFT, "en", "de", "ja", RIGHT] if EVERY_VIEW in os.environ else [LEFT]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A study with everything, in languages that are made up."""
    with Served(write_states_study(tmp_path_factory.mktemp("states")), program=PROGRAM) as server:
        yield server


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_state_is_accessible(visit: Callable[..., Visit], language: str) -> None:
    """In some windows and schemes each, by turns; `nox -s trials -- views` looks at all."""
    come = visit(locale=language)
    page = come.page
    is_all = EVERY_VIEW in os.environ
    for turn, state in enumerate(states(come)):
        if language == LEFT:
            for window in (NARROW, WIDE):
                page.set_viewport_size(window)  # type: ignore[arg-type]
                look(page, f"{state}, {window}")
        # The second view is of another size, and the other scheme.
        seen = VIEWS if is_all else [VIEWS[(5 * turn + 3 * n) % len(VIEWS)] for n in range(FEW)]
        for number, ((width, height), scheme) in enumerate(seen):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.set_viewport_size({"width": width, "height": height})
            what = f"{state}, {width} x {height}, {scheme}, {language}"
            # Colors are the same in windows of all sizes: by turns in the one scheme or the other.
            accessible(page, what, colors=is_all or number == 0)
            if height < 500 and state.startswith("comparing"):
                can_be_answered(page, what)
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    assert page.locator("html").get_attribute("lang") == language


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


def test_all_is_mirrored(visit: Callable[..., Visit]) -> None:
    """The ladder is on the right; best stays on top; dragging works; axe finds nothing."""
    come = visit()
    page = come.page
    page.goto(come.served.links[come.judge])
    page.locator(".language-menu summary").click()
    follow(page.locator(f"[name=language][value={RIGHT}]"))
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    accessible(page, "first page")
    follow(page.locator("[name=consent][value=yes]"))
    begin(page, "Θέμα 1")
    accessible(page, "problem")
    left, right = (page.locator(part).bounding_box() for part in ("#main", "#ladder"))
    assert left
    assert right
    assert left["x"] < right["x"]
    drag(page, "A", page.locator("#ranked"))
    rungs = page.locator("#ranked .rung")
    for label, onto, share, order in (
        ("B", rungs.last, 0.95, "A B"),
        ("C", rungs.last, 0.95, "A B C"),
        ("C", rungs.first, 0.05, "C A B"),
        ("B", rungs.first, 0.5, "CB A"),
    ):
        drag(page, label, onto, share)
        assert shown(page) == order
    accessible(page, "ranked")
    menu = open_menu(page, "A").bounding_box()
    assert menu
    assert 0 <= menu["x"] <= WIDE["width"] - menu["width"]
    accessible(page, "menu")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    accessible(page, "help")
    escape(page)
    for label in "DEFG":
        choose(page, label, "worst")
    accessible(page, "review")
    submit(page)
    expect(page.locator("#receipt")).to_be_visible()
    accessible(page, "receipt")
