"""The keyboard's focus: after each change and dialog it is where a judge goes on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.judging import center, drag, handle, labels_in, rank_by_keys
from tests.browser.views import PHONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page

    from tests.browser.judging import Visit


def button(page: Page, name: str) -> Locator:
    """A button by its whole name."""
    return page.get_by_role("button", name=name, exact=True)


def press(page: Page, name: str) -> None:
    """Go to a button and press Enter."""
    button(page, name).focus()
    page.keyboard.press("Enter")


def is_somewhere(page: Page) -> None:
    """Something that is shown has the focus, and it is not the page as a whole."""
    # Browsers take the focus from what is hidden a moment later: in the next frame.
    page.evaluate("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")
    assert page.evaluate("document.activeElement !== document.body")
    assert page.locator(":focus").is_visible()


# What is pressed on which solution of A, B = C, D, and where the focus is then.
MOVES = [
    ("Solution E: add at top", "handle"),
    ("Solution E: add at bottom", "handle"),
    ("Solution B: move up", "move up"),
    ("Solution D: move up", "move up"),
    ("Solution C: move down", "move down"),
    ("Solution A: move down", "move down"),
    ("Solution D: tie with above", "tie with above"),
    ("Solution B: tie with above", "handle"),
    ("Solution B: untie", "handle"),
    ("Solution D: unrank", "handle"),
]


def test_after_each_button_of_a_card(visit: Callable[..., Visit]) -> None:
    """The button keeps the focus; where it is gone or of no use, the card's handle has it."""
    page = visit().enter()
    rank_by_keys(page, "ABCD")
    press(page, "Solution C: tie with above")
    for name, expected in MOVES:
        press(page, name)
        label = name.split()[1].strip(":")
        where = handle(page, label)
        if expected != "handle":
            where = button(page, f"Solution {label}: {expected}")
        expect(where, name).to_be_focused()
        page.keyboard.press("Control+z")
        is_somewhere(page)


def test_after_each_key_on_a_handle(visit: Callable[..., Visit]) -> None:
    """The handle goes with its card, and is in sight."""
    page = visit().enter()
    for key in ("Enter", "Delete", "Home", "Delete", "End"):
        handle(page, "A").press(key)
        expect(handle(page, "A"), key).to_be_focused()
    rank_by_keys(page, "BCDE")
    for key in ("Home", "ArrowDown", "t", "u", "ArrowUp", "Control+z", "Control+Shift+z", "Delete"):
        handle(page, "E").press(key)
        expect(handle(page, "E"), key).to_be_focused()
        expect(handle(page, "E"), key).to_be_in_viewport()


def test_the_header_of_a_phone_hides_no_focus(visit: Callable[..., Visit]) -> None:
    """What has the focus stands below the header, also where that has much to say."""
    come = visit(viewport=PHONE)
    page = come.enter()
    rank_by_keys(page, "ABCDE")
    come.equals_store()
    come.context.set_offline(True)
    press(page, "Submit ranking")
    for key in ("Home", "ArrowDown", "Home", "End", "Home"):
        handle(page, "E").press(key)
        expect(page.locator("#save-status")).to_contain_text("submit it again")
        top, bottom = (
            page.locator(name).evaluate(
                "(element, side) => element.getBoundingClientRect()[side]", side
            )
            for name, side in (("#card-E .handle", "top"), ("header.top", "bottom"))
        )
        assert top >= bottom, key
    come.context.set_offline(False)
    expect(page.locator("#save-status")).to_contain_text("Saved")


def test_after_the_last_undo_and_redo(visit: Callable[..., Visit]) -> None:
    """Where there is no more to undo, redo has the focus, and the other way round."""
    page = visit().enter()
    rank_by_keys(page, "AB")
    press(page, "Undo")
    expect(button(page, "Undo")).to_be_focused()
    press(page, "Undo")
    expect(button(page, "Redo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(button(page, "Redo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(button(page, "Undo")).to_be_focused()


def test_after_saying_that_a_solution_cannot_be_judged(visit: Callable[..., Visit]) -> None:
    """Cancelled: on the button; said: on the handle, where the card is now, and back."""
    page = visit().enter()
    press(page, "Solution B: cannot judge")
    page.keyboard.press("Escape")
    expect(button(page, "Solution B: cannot judge")).to_be_focused()
    page.keyboard.press("Enter")
    press(page, "Cancel")
    expect(button(page, "Solution B: cannot judge")).to_be_focused()
    page.keyboard.press("Enter")
    press(page, "Mark as “cannot judge”")
    expect(page.locator("#cannot .card")).to_have_count(1)
    expect(handle(page, "B")).to_be_focused()
    press(page, "Solution B: unrank")
    expect(handle(page, "B")).to_be_focused()
    press(page, "Undo")
    press(page, "Undo")
    expect(button(page, "Redo")).to_be_focused()


@pytest.mark.parametrize("close", ["Escape", "Close"])
def test_after_what_only_shows(visit: Callable[..., Visit], close: str) -> None:
    """Help, problem, comparison and messages give the focus back to what opened them."""
    page = visit().enter()
    openers = [
        "How to rank",
        "Problem",
        "Compare",
        "Solution C: compare with another solution",
        "Submit ranking",
    ]
    for name in openers:
        press(page, name)
        expect(page.get_by_role("dialog")).to_have_count(1)
        if close == "Escape":
            page.keyboard.press("Escape")
        else:
            press(page, "OK" if name.startswith("Submit") else "Close")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(button(page, name)).to_be_focused()


def test_a_letter_or_sign_alone_works_on_handles_only(visit: Callable[..., Visit]) -> None:
    """Elsewhere none does anything (WCAG 2.1.4): those who dictate may say it by chance."""
    page = visit().enter()
    rank_by_keys(page, "ABC")
    before = labels_in(page, "ranked")
    for away in (page.locator("main"), button(page, "Undo"), button(page, "Solution C: move up")):
        away.focus()
        for key in ("?", "t", "u"):
            page.keyboard.press(key)
        expect(page.get_by_role("dialog")).to_have_count(0)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert labels_in(page, "ranked") == before
    handle(page, "C").press("?")
    expect(page.get_by_role("dialog")).to_contain_text("How to rank")
    page.keyboard.press("Escape")
    expect(handle(page, "C")).to_be_focused()


@pytest.mark.parametrize(
    "choice", ["Load the newer version", "Keep this version", "Decide later", ""]
)
def test_after_a_conflict(visit: Callable[..., Visit], choice: str) -> None:
    """Whatever is chosen, the card that was moved last still has the focus."""
    come = visit()
    page = come.enter()
    rank_by_keys(page, "ABCD")
    come.equals_store()
    other = come.new_page()
    other.goto(page.url)
    handle(other, "B").press("Home")
    handle(other, "D").press("Home")
    expect(other.locator("#save-status")).to_have_text("Saved")
    page.bring_to_front()
    handle(page, "A").press("End")
    expect(page.get_by_role("dialog")).to_have_count(1)
    if choice:
        press(page, choice)
    else:
        page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(handle(page, "A")).to_be_focused()
    if choice in ("Decide later", ""):
        press(page, "Resolve conflict")
        press(page, "Keep this version")
        is_somewhere(page)


def test_after_a_question_that_comes_with_the_page(visit: Callable[..., Visit]) -> None:
    """Nothing had the focus when an order that was left was asked about: something has it now."""
    come = visit()
    page = come.enter()
    rank_by_keys(page, "AB")
    come.equals_store()
    other = come.new_page()
    other.goto(page.url)
    # This page is left as it is, as after a crash: one that is closed would try once more.
    page.route("**/state", lambda route: route.abort())
    rank_by_keys(page, "C")
    expect(page.locator("#save-status")).to_contain_text("Offline")
    rank_by_keys(other, "D")
    expect(other.locator("#save-status")).to_have_text("Saved")
    come.page = other
    other.reload()
    expect(other.get_by_role("dialog")).to_have_count(1)
    press(other, "Load the newer version")
    is_somewhere(other)


def test_after_reopening(visit: Callable[..., Visit]) -> None:
    """The button is gone; the best solution's handle has the focus, so that ranking goes on."""
    come = visit()
    page = come.enter()
    url = page.url
    rank_by_keys(page, "ABCDE")
    press(page, "Submit ranking")
    page.wait_for_url(lambda now: now != url)
    page.goto(url)
    press(page, "Reopen ranking")
    expect(button(page, "Submit ranking")).to_be_visible()
    expect(handle(page, "A")).to_be_focused()


def test_after_the_study_was_closed(visit: Callable[..., Visit]) -> None:
    """Handles are gone then: the card that was moved last still has the focus."""
    come = visit()
    page = come.enter()
    answer = json.dumps({"error": "closed", "message": "The study is closed."})
    page.route("**/state", lambda route: route.fulfill(status=403, body=answer))
    handle(page, "B").press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("The study is closed")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    is_somewhere(page)
    assert page.locator("#card-B :focus").count() == 1


def test_after_dragging(visit: Callable[..., Visit]) -> None:
    """The handle that was dragged has the focus, so that keys go on from there."""
    page = visit().enter()
    rank_by_keys(page, "AB")
    drag(
        page,
        "C",
        lambda: center(page.locator("#card-A"), 0.05),
        lambda: labels_in(page, "ranked")[0] == "C",
    )
    expect(handle(page, "C")).to_be_focused()
