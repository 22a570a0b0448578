"""The keyboard's focus: after each change and dialog it is where a judge goes on."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.judging import (
    choose,
    drag,
    is_ready,
    is_saved,
    press,
    rank_by_keys,
    row,
    shown_ranking,
    title,
)
from tests.browser.views import PHONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page

    from tests.browser.judging import Visit

TABLET = {"width": 820, "height": 1180}


def button(page: Page, name: str) -> Locator:
    """A button by its whole name."""
    return page.get_by_role("button", name=name, exact=True)


def enter_on(page: Page, name: str) -> None:
    """Go to a button and press Enter."""
    button(page, name).first.focus()
    page.keyboard.press("Enter")


def is_somewhere(page: Page) -> None:
    """Something that is shown has the focus, and it is not the page as a whole."""
    # Browsers take the focus from what is hidden a moment later: in the next frame.
    page.evaluate("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")
    assert page.evaluate("document.activeElement !== document.body")
    assert page.locator(":focus").is_visible()


@pytest.mark.parametrize("view", [TABLET, PHONE], ids=["tablet", "phone"])
def test_after_each_placement(visit: Callable[..., Visit], view: dict[str, Any]) -> None:
    """Window and reader are at their top, and the title of the next solution has the focus."""
    page = visit(viewport=view).enter()
    page.get_by_role("button", name="Read the first solution").click()
    ways: list[Callable[[], object]] = [
        lambda: press_and_answer(page),
        lambda: press_and_answer(page),
        lambda: choose(page, "C", "Add at top"),
        lambda: press(page, "D", "Alt+ArrowUp"),
        lambda: drag(page, "E", page.locator("#ranked .rung").first, 0.9),
    ]
    for way, after in zip(ways, "BCDE-", strict=True):
        page.evaluate("document.querySelector('#reader').scrollTop = 400")
        way()
        expected = "All ranked. Is this your order?" if after == "-" else f"Solution {after}"
        expect(title(page)).to_have_text(expected)
        expect(title(page)).to_be_focused()
        assert page.evaluate("[scrollY, document.querySelector('#reader').scrollTop]") == [0, 0]


def press_and_answer(page: Page) -> None:
    """Place the solution in hand; the first one without an answer."""
    page.keyboard.press("c")
    if page.locator(".compare").count():
        page.locator("[data-verdict=worse]").click()


# What is chosen for which solution of A, B = C, D, and what is where then.
MOVES = [
    ("B", "Move up", [["A"], ["B"], ["C"], ["D"]]),
    ("D", "Move up", [["A"], ["D"], ["B", "C"]]),
    ("C", "Move down", [["A"], ["B"], ["C"], ["D"]]),
    ("D", "Tie with above", [["A"], ["B", "C", "D"]]),
    ("B", "Untie", [["A"], ["C"], ["B"], ["D"]]),
    ("D", "Unrank", [["A"], ["B", "C"]]),
]


def test_after_each_item_of_a_menu(visit: Callable[..., Visit]) -> None:
    """The button of the menu has the focus again, wherever its row is now."""
    page = visit().enter(ranked="ABCD")
    choose(page, "C", "Tie with above")
    for label, item, ranking in MOVES:
        choose(page, label, item)
        assert shown_ranking(page) == ranking, item
        expect(page.locator(f"#ladder [data-more={label}]"), item).to_be_focused()
        page.keyboard.press("Control+z")
        is_somewhere(page)
        assert shown_ranking(page) == [["A"], ["B", "C"], ["D"]]


def test_after_each_key_on_a_row(visit: Callable[..., Visit]) -> None:
    """The row goes with its solution, and is in sight; after the last undo redo has the focus."""
    page = visit().enter(ranked="ABCDE")
    row(page, "E").focus()
    for key in ("Alt+ArrowUp", "Alt+ArrowUp", "Alt+ArrowDown", "Control+z", "Control+Shift+z"):
        page.keyboard.press(key)
        expect(row(page, "E"), key).to_be_focused()
        expect(row(page, "E"), key).to_be_in_viewport()
    page.keyboard.press("ArrowUp")
    expect(row(page, "C")).to_be_focused()
    page.keyboard.press("Control+z")
    # Where there is no more to undo, redo has the focus, and the other way round.
    enter_on(page, "Undo")
    expect(button(page, "Undo").first).to_be_focused()
    page.keyboard.press("Enter")
    for name in ("Redo", "Redo", "Redo"):
        expect(button(page, name).first).to_be_focused()
        page.keyboard.press("Enter")
    expect(button(page, "Undo").first).to_be_focused()


def test_after_saying_that_a_solution_cannot_be_judged(visit: Callable[..., Visit]) -> None:
    """Canceled: on the menu's button. Said: on its row, or the title of the next one."""
    page = visit().enter(ranked="AB")
    more = page.locator("#ladder [data-more=B]")
    choose(page, "B", "Cannot judge")
    page.keyboard.press("Escape")
    expect(more).to_be_focused()
    choose(page, "B", "Cannot judge")
    enter_on(page, "Mark as “cannot judge”")
    expect(page.locator("#cannot .chip")).to_have_count(1)
    is_somewhere(page)
    choose(page, "C", "Cannot judge")
    enter_on(page, "Mark as “cannot judge”")
    expect(title(page)).to_have_text("Solution D")
    is_somewhere(page)


def test_after_what_only_shows(visit: Callable[..., Visit]) -> None:
    """Help and contents give the focus back to what opened them."""
    page = visit(viewport=TABLET).enter()
    page.locator("#tray .chip", has_text="Long").locator(".open-it").click()
    for name, close in product(("How to rank, and keys", "Contents"), ("Escape", "Close")):
        enter_on(page, name)
        expect(page.get_by_role("dialog")).to_have_count(1)
        if close == "Escape":
            page.keyboard.press("Escape")
        else:
            page.get_by_role("dialog").get_by_role("button", name="Close").first.press("Enter")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(button(page, name)).to_be_focused()
    rank_by_keys(page, "AB")
    page.keyboard.press("c")
    enter_on(page, "Problem")
    expect(page.get_by_role("dialog")).to_contain_text("What is to be done")
    page.keyboard.press("Escape")
    expect(button(page, "Problem").first).to_be_focused()


def test_single_keys_can_be_switched_off(visit: Callable[..., Visit]) -> None:
    """Those who dictate may say one by chance (WCAG 2.1.4); it is remembered in this browser."""
    page = visit().enter(ranked="AB")
    page.keyboard.press("?")
    page.get_by_label("Use single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    for reload in (False, True):
        if reload:
            page.reload()
            is_ready(page)
        for key in ("c", "?", "p", "j", "."):
            page.keyboard.press(key)
        expect(title(page)).to_have_text("Solution C")
        expect(page.get_by_role("dialog")).to_have_count(0)
    button(page, "Compare and place").first.click()
    for key in ("ArrowLeft", "=", "ArrowRight"):
        page.keyboard.press(key)
    expect(title(page)).to_contain_text("Which is better")
    page.keyboard.press("Escape")
    expect(title(page)).to_have_text("Solution C")


def test_single_keys_do_nothing_in_fields_and_dialogs(visit: Callable[..., Visit]) -> None:
    """A letter in a comment is a letter."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    page.get_by_label("Comment on this task").press_sequentially("cjkn.p?=")
    assert come.equals_store()["state"]["comment"] == "cjkn.p?="
    expect(title(page)).to_have_text("All ranked. Is this your order?")


def test_after_a_conflict(visit: Callable[..., Visit]) -> None:
    """Whatever is chosen, the row that was moved last still has the focus."""
    come = visit()
    page = come.enter(ranked="ABCDE")
    other = come.new_page()
    for choice in ("Load the newer version", "Decide later"):
        other.goto(page.url)
        is_ready(other)
        press(other, "D", "Alt+ArrowUp")
        is_saved(other)
        page.bring_to_front()
        press(page, "A", "Alt+ArrowDown")
        press(page, "A", "Alt+ArrowDown")
        expect(page.get_by_role("dialog")).to_have_count(1)
        enter_on(page, choice)
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(row(page, "A")).to_be_focused()
    enter_on(page, "Resolve conflict")
    page.keyboard.press("Escape")
    is_somewhere(page)
    enter_on(page, "Resolve conflict")
    enter_on(page, "Keep this version")
    is_somewhere(page)


def test_after_a_question_that_comes_with_the_page(visit: Callable[..., Visit]) -> None:
    """Nothing had the focus when an order that was left was asked about: something has it now."""
    come = visit()
    page = come.enter()
    rank_by_keys(page, "AB")
    come.equals_store()
    other = come.new_page()
    other.goto(page.url)
    is_ready(other)
    # This page is left as it is, as after a crash: one that is closed would try once more.
    page.route("**/state", lambda route: route.abort())
    rank_by_keys(page, "C")
    expect(page.locator("#save-status")).to_contain_text("Offline")
    rank_by_keys(other, "D")
    is_saved(other)
    come.page = other
    other.reload()
    expect(other.get_by_role("dialog")).to_have_count(1)
    enter_on(other, "Load the newer version")
    is_somewhere(other)


def test_after_the_study_was_closed(visit: Callable[..., Visit]) -> None:
    """What could be changed is gone then; reading goes on."""
    come = visit()
    page = come.enter()
    answer = json.dumps({"error": "closed", "message": "The study is closed."})
    page.route("**/state", lambda route: route.fulfill(status=403, body=answer))
    rank_by_keys(page, "B")
    expect(page.get_by_role("dialog")).to_contain_text("The study is closed")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    is_somewhere(page)
    expect(page.locator("#ladder [data-more], .grip, #main [data-do=place]")).to_have_count(0)
    row(page, "C").click()
    expect(title(page)).to_have_text("Solution C")
